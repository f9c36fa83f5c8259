/** Answers of the upstream that a fork has recorded, by operation and arguments. */

import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import type { Batch } from '../../store/batch.ts';
import type { Row } from '../../store/columns/columns.ts';
import { type AnswerName, answerKey, FORK_ANSWERS } from '../../store/columns/fork-columns.ts';
import { decodeRow } from '../../store/columns/row-codec.ts';
import { MAX_RANGE_ROWS, type StoreReader } from '../../store/store.ts';
import type { ForkClient } from './fork-client.ts';
import type { ForkSource } from './recorder.ts';
import { badAnswer } from './upstream-failure.ts';

export interface AnswerCodec<T> {
  write(writer: BcsWriter, answer: T): unknown;
  read(reader: BcsReader): T;
}

export interface RecordedQuery<T> {
  readonly description: string;
  readonly name: AnswerName;
  readonly codec: AnswerCodec<T>;
}

/** The rows of a fork, and the source of those that are missing. */
export interface Fork {
  readonly store: StoreReader;
  readonly source: ForkSource;
}

/** `undefined` if the query was never answered. @throws RowDamagedError */
export function recordedAnswer<T>(
  { store }: Fork,
  { name, codec }: RecordedQuery<T>,
): MaybePromise<{ readonly answer: T } | undefined> {
  const key = answerKey(name);
  return andThen(store.get(FORK_ANSWERS, key.partition, key.order), (value) => {
    if (value === undefined) return undefined;
    return { answer: decodeRow(FORK_ANSWERS, key, value, (reader) => codec.read(reader)) };
  });
}

export function putAnswer<T>(batch: Batch, { name, codec }: RecordedQuery<T>, answer: T): void {
  const { partition, order } = answerKey(name);
  const value = encodeBcs((writer) => codec.write(writer, answer));
  batch.put(FORK_ANSWERS, partition, order, value);
}

export function recordedOrFetched<T>(
  fork: Fork,
  query: RecordedQuery<T>,
  fetch: (client: ForkClient, batch: Batch) => Promise<T>,
): MaybePromise<T> {
  return andThen(recordedAnswer(fork, query), (known) => {
    if (known !== undefined) return known.answer;
    return fork.source.record(query.description, async (client, batch) => {
      const answer = await fetch(client, batch);
      putAnswer(batch, query, answer);
      return answer;
    });
  });
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next: Buffer | undefined;
}

/** A list of the upstream, ordered by the bytes of `orderOf`. */
interface ListQuery<T> extends RecordedQuery<T> {
  readonly codec: AnswerCodec<T>;
  orderOf(item: T): Buffer;
  /** Requests a page; `limit` is how many items the caller needs, and the page may have more or fewer. */
  fetchPage(client: ForkClient, batch: Batch, from: Buffer, limit: number): Promise<ListPage<T>>;
  /** Puts rows that depend on recorded ones. */
  put?(batch: Batch, items: readonly T[]): Promise<void>;
}

/** Recorded as pages that do not overlap. A page has all items from its start to its `next`. */
export class RecordedList<T> {
  readonly #fork: Fork;
  readonly #query: ListQuery<T>;

  constructor(fork: Fork, query: ListQuery<T>) {
    this.#fork = fork;
    this.#query = query;
  }

  /** At most `limit` items; may be fewer although the list continues. */
  page(from: Buffer, limit: number): MaybePromise<ListPage<T>> {
    return andThen(this.#recorded(from), (known) =>
      andThen(known ?? this.#fetchPage(from, limit), ({ items, next }) => {
        const { orderOf } = this.#query;
        const remaining = items.filter((item) => Buffer.compare(orderOf(item), from) >= 0);
        const after = remaining[limit];
        if (after === undefined) return { items: remaining, next };
        return { items: remaining.slice(0, limit), next: orderOf(after) };
      }),
    );
  }

  /** `limit` items; fewer if the list ends. */
  async all(from: Buffer, limit: number): Promise<readonly T[]> {
    const found: T[] = [];
    for (let next: Buffer | undefined = from; next !== undefined && found.length < limit; ) {
      const page: ListPage<T> = await this.page(next, limit - found.length);
      found.push(...page.items);
      next = page.next;
    }
    return found;
  }

  /** Puts a page. It replaces recorded pages within it, and is cut off where one begins that extends beyond it. */
  async putPage(batch: Batch, from: Buffer, { items, next: end }: ListPage<T>): Promise<void> {
    const { name, codec, orderOf } = this.#query;
    const { partition, order } = answerKey(name, from);
    const query = { from: order, limit: MAX_RANGE_ROWS };
    let next = end;
    for (const row of await this.#fork.store.range(FORK_ANSWERS, partition, query)) {
      if (Buffer.compare(row.order, order) <= 0) continue;
      const other = this.#decoded(partition, row);
      if (next !== undefined && Buffer.compare(other.start, next) >= 0) break;
      const isWithin =
        next === undefined || (other.next !== undefined && Buffer.compare(other.next, next) <= 0);
      if (isWithin) batch.delete(FORK_ANSWERS, partition, row.order);
      else next = other.start;
    }
    const retained = items.filter((item) => {
      return next === undefined || Buffer.compare(orderOf(item), next) < 0;
    });
    const value = encodeBcs((writer) =>
      writer
        .bytes(from)
        .option(next, (to, bytes) => to.bytes(bytes))
        .vector(retained, (to, item) => codec.write(to, item)),
    );
    batch.put(FORK_ANSWERS, partition, order, value);
  }

  #recorded(from: Buffer): MaybePromise<ListPage<T> | undefined> {
    const { partition, order } = answerKey(this.#query.name, from);
    return andThen(this.#fork.store.seekLast(FORK_ANSWERS, partition, order), (row) => {
      if (row === undefined) return undefined;
      const page = this.#decoded(partition, row);
      const isBeforeEnd = page.next === undefined || Buffer.compare(from, page.next) < 0;
      return Buffer.compare(page.start, from) <= 0 && isBeforeEnd ? page : undefined;
    });
  }

  #decoded(partition: Uint8Array, { order, value }: Row): ListPage<T> & { readonly start: Buffer } {
    const { codec } = this.#query;
    return decodeRow(FORK_ANSWERS, { partition, order }, value, (reader) => ({
      start: reader.bytes(),
      next: reader.option((inner) => inner.bytes()),
      items: reader.vector(1, (inner) => codec.read(inner)),
    }));
  }

  #fetchPage(from: Buffer, limit: number): Promise<ListPage<T>> {
    const { description, fetchPage, put } = this.#query;
    const pageDescription =
      from.length === 0 ? description : `${description} from ${formatHex(from)} on`;
    return this.#fork.source.record(
      pageDescription,
      async (client, batch) => {
        const page = await fetchPage(client, batch, from, limit);
        const makesNoProgress = page.next !== undefined && Buffer.compare(page.next, from) <= 0;
        if (makesNoProgress) throw badAnswer(pageDescription, 'a page that ends where it begins');
        return page;
      },
      async (page, batch) => {
        await put?.(batch, page.items);
        await this.putPage(batch, from, page);
      },
    );
  }
}
