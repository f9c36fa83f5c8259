/** Makes a store equal to another one, row for row, whatever engines have them. */
import { Batch } from './batch.ts';
import { COLUMNS, HEAD, type RowKey, type ScannedRow } from './columns/columns.ts';
import { type ColumnDigest, RowsDigest } from './digest.ts';
import { type Store, type StoreSnapshot, scanPages } from './store.ts';

/** Bytes of keys and values after which changes are committed. */
const COMMIT_BYTES = 4 * 1024 * 1024;

/**
 * Makes a store, which nobody else reads or writes, equal to another one. What is there already is compared and not
 * written again: so a copy that was cut off is resumed, also when the other store has changed since.
 * @param onRows gets the number of rows read so far, all columns together
 * @returns digests of what was read
 */
export async function copyRows(
  from: StoreSnapshot,
  to: Store,
  onRows: (rows: number) => void,
): Promise<readonly ColumnDigest[]> {
  const digests: ColumnDigest[] = [];
  const changes = new Changes(to);
  let rows = 0;
  // The head last: a store with a head has everything.
  for (const column of [...COLUMNS.filter((column) => column !== HEAD), HEAD]) {
    const digest = new RowsDigest(column);
    const present = await PresentRows.open(scanPages(to, column));
    for await (const page of scanPages(from, column)) {
      for (const row of page) {
        while (present.compare(row) < 0) {
          const { partition, order } = present.row!;
          await changes.add((batch) => batch.delete(column, partition, order));
          await present.next();
        }
        const isPresent = present.compare(row) === 0;
        if (!isPresent || !present.row!.value.equals(row.value)) {
          await changes.add((batch) => batch.put(column, row.partition, row.order, row.value));
        }
        if (isPresent) await present.next();
      }
      digest.add(page);
      rows += page.length;
      onRows(rows);
    }
    for (; present.row !== undefined; await present.next()) {
      const { partition, order } = present.row;
      await changes.add((batch) => batch.delete(column, partition, order));
    }
    await changes.settle();
    digests.push(digest.finish());
  }
  return digests;
}

/** Rows of the store that is written, in the order of their keys. */
class PresentRows {
  readonly #pages: AsyncGenerator<readonly ScannedRow[]>;
  #page: readonly ScannedRow[] = [];
  #at = 0;

  private constructor(pages: AsyncGenerator<readonly ScannedRow[]>) {
    this.#pages = pages;
  }

  static async open(pages: AsyncGenerator<readonly ScannedRow[]>): Promise<PresentRows> {
    const rows = new PresentRows(pages);
    await rows.next();
    return rows;
  }

  get row(): ScannedRow | undefined {
    return this.#page[this.#at];
  }

  /** Whether the row comes before another key (below zero), has it, or comes after it, as the end does. */
  compare({ partition, order }: RowKey): number {
    const { row } = this;
    if (row === undefined) return 1;
    return Buffer.compare(row.partition, partition) || Buffer.compare(row.order, order);
  }

  async next(): Promise<void> {
    this.#at += 1;
    if (this.#at < this.#page.length) return;
    const { value } = await this.#pages.next();
    this.#page = value ?? [];
    this.#at = 0;
  }
}

/** Changes, committed in batches: while one is on its way the next is gathered. */
class Changes {
  readonly #store: Store;
  #batch = new Batch();
  #commit: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws StoreError of an earlier commit */
  async add(change: (batch: Batch) => unknown): Promise<void> {
    change(this.#batch);
    if (this.#batch.byteLength >= COMMIT_BYTES) await this.#send();
  }

  /** Waits until all changes are on disk. @throws StoreError */
  async settle(): Promise<void> {
    await this.#send();
    await this.#commit;
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = new Batch();
    await this.#commit;
    this.#commit = this.#store.commit(batch);
    // Awaited later: until then a failure is not "unhandled".
    this.#commit.catch(() => undefined);
  }
}
