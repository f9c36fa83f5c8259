/** Makes a store equal to another one, row for row, even across engines. */
import { nextTurn } from '../../yield-budget.ts';
import { Batch } from '../batch.ts';
import { COLUMNS, HEAD, type RowKey, type ScannedRow } from '../columns/columns.ts';
import { type ColumnDigest, RowsDigest } from '../read/digest.ts';
import { compareRowKeys, type Store, type StoreSnapshot, scanPages } from '../store.ts';

const COMMIT_BYTES = 4 * 1024 * 1024;

/**
 * Makes a store equal to another one. Nobody else may read or write it. Rows that exist already are compared and not
 * written again, so an interrupted copy can be resumed, even if the other store has changed since.
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
  // Copies the head last, because a store with a head must be complete.
  for (const column of [...COLUMNS.filter((column) => column !== HEAD), HEAD]) {
    const digest = new RowsDigest(column);
    const remove = ({ partition, order }: RowKey) =>
      changes.add((batch) => batch.delete(column, partition, order));
    const present = rowsOf(scanPages(to, column));
    const next = async (): Promise<ScannedRow | undefined> => (await present.next()).value;
    let there = await next();
    for await (const page of scanPages(from, column)) {
      for (const row of page) {
        for (; there !== undefined && compareRowKeys(there, row) < 0; there = await next()) {
          await remove(there);
        }
        const isPresent = there !== undefined && compareRowKeys(there, row) === 0;
        if (!isPresent || !there!.value.equals(row.value)) {
          await changes.add((batch) => batch.put(column, row.partition, row.order, row.value));
        }
        if (isPresent) there = await next();
      }
      digest.add(page);
      rows += page.length;
      onRows(rows);
      // Reading SQLite never yields, and the target's server would consider a silent writer dead.
      await nextTurn();
    }
    for (; there !== undefined; there = await next()) await remove(there);
    await changes.settle();
    digests.push(digest.finish());
  }
  return digests;
}

async function* rowsOf(pages: AsyncIterable<readonly ScannedRow[]>): AsyncGenerator<ScannedRow> {
  for await (const page of pages) yield* page;
}

/** Commits changes in batches. While one batch is being committed, the next one is filled. */
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

  async settle(): Promise<void> {
    await this.#send();
    await this.#commit;
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = new Batch();
    await this.#commit;
    this.#commit = this.#store.commit(batch);
    // It is awaited later. Until then this prevents an unhandled rejection.
    this.#commit.catch(() => undefined);
  }
}
