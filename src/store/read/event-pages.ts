/**
 * Pages of event streams at a head: the rules of docs/spec/http.md §7.1, and an error for pruned events
 * (docs/spec/decisions.md D4). Rows of a stream are contiguous and their versions never decrease.
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import { andThen } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { EVENTS, type Row } from '../columns/columns.ts';
import {
  decodeEventRow,
  encodeStreamId,
  type StoredEvent,
  type StreamId,
} from '../columns/event-column.ts';
import { type Head, oldestTransaction } from '../columns/head.ts';
import { encodeU64Key } from '../columns/order-key.ts';
import type { StoreReader } from '../store.ts';
import { EventGapError } from '../store-error.ts';

export interface EventPageQuery {
  /** First sequence number; absent: the newest `limit` events. */
  readonly start?: bigint | undefined;
  /** 1 to MAX_RANGE_ROWS. */
  readonly limit: number;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly pruned: PrunedEvents | undefined;
}

interface PrunedEvents {
  readonly start: bigint;
  /** The first retained event of the stream; one above the last if none is retained. */
  readonly firstRetained: bigint;
}

const NO_EVENTS: EventPage = { events: [], pruned: undefined };

/** The events of one stream that a head shows. Methods throw RowDamagedError and EventGapError. */
export class EventStreamView {
  readonly #store: StoreReader;
  readonly #head: Head;
  readonly #oldest: bigint;
  readonly #stream: StreamId;
  readonly #partition: Buffer;

  constructor(store: StoreReader, head: Head, stream: StreamId) {
    this.#store = store;
    this.#head = head;
    this.#oldest = oldestTransaction(head);
    this.#stream = stream;
    this.#partition = encodeStreamId(stream);
  }

  /**
   * A page, by the rules of docs/spec/http.md §7.1. One round trip unless the page reaches the head or pruned events.
   */
  page(query: EventPageQuery): MaybePromise<EventPage> {
    return query.start === undefined
      ? this.#newestPage(query.limit)
      : this.#pageFrom(query.start, query.limit);
  }

  /** The last sequence number at or below the head; `undefined` for a stream without events. */
  lastSequenceNumber(): MaybePromise<bigint | undefined> {
    const last = this.#store.seekLast(EVENTS, this.#partition, encodeU64Key(U64_MAX));
    return andThen(last, (row) => {
      if (row === undefined) return undefined;
      const event = this.#decode(row);
      if (this.#isVisible(event)) return event.sequenceNumber;
      return this.#lastVisibleBelow(event.sequenceNumber);
    });
  }

  /** The first retained sequence number; one above the last if none is retained, `undefined` without events. */
  firstRetainedSequenceNumber(): MaybePromise<bigint | undefined> {
    return andThen(this.lastSequenceNumber(), (last) =>
      last === undefined ? undefined : this.#firstAbove(this.#oldest - 1n, last),
    );
  }

  #pageFrom(start: bigint, limit: number): MaybePromise<EventPage> {
    // There is no upper bound: if an event is missing, the page includes the one after it, which reveals the gap.
    const rows = this.#store.range(EVENTS, this.#partition, { from: encodeU64Key(start), limit });
    return andThen(rows, (found) => this.#finish(start, limit, found));
  }

  #newestPage(limit: number): MaybePromise<EventPage> {
    const rows = this.#store.range(EVENTS, this.#partition, { limit, reverse: true });
    return andThen(rows, (found) => {
      const newest = found[0];
      if (newest === undefined) return NO_EVENTS;
      const last = this.#decode(newest);
      if (this.#isVisible(last)) {
        const first = firstOfNewest(last.sequenceNumber, limit);
        return this.#finish(first, limit, [...found].reverse());
      }
      // The newest events are above the head: their commit came after this head was read, or is in progress.
      return andThen(this.#lastVisibleBelow(last.sequenceNumber), (visible) =>
        visible === undefined
          ? this.#hiddenFrom(0n, last)
          : this.#pageFrom(firstOfNewest(visible, limit), limit),
      );
    });
  }

  /** Builds a page from the rows from `start` on. Leaves out events above the head and pruned ones; detects gaps. */
  #finish(start: bigint, limit: number, rows: readonly Row[]): MaybePromise<EventPage> {
    const first = rows[0] === undefined ? undefined : this.#decode(rows[0]);
    if (first === undefined) return NO_EVENTS;
    if (!this.#isVisible(first)) return this.#hiddenFrom(start, first);
    const visible = this.#decodeVisible(first, rows);
    // Versions never decrease: if the first is retained, all are.
    const events =
      first.version >= this.#oldest
        ? visible
        : visible.filter(({ version }) => version >= this.#oldest);
    let expected = events[0]?.sequenceNumber;
    for (const { sequenceNumber } of events) {
      if (sequenceNumber !== expected) throw this.#gap(expected!, sequenceNumber);
      expected += 1n;
    }
    if (events[0]?.sequenceNumber === start) return { events, pruned: undefined };
    if (this.#oldest === 0n) throw this.#gap(start, first.sequenceNumber);
    return andThen(this.firstRetainedSequenceNumber(), (firstRetained = 0n) => {
      // Its version is retained, yet it is missing: that is damage, not pruning.
      if (start >= firstRetained) throw this.#gap(start, first.sequenceNumber);
      const end = start + BigInt(limit);
      const ofPage = events.filter(({ sequenceNumber }) => sequenceNumber < end);
      return { events: ofPage, pruned: { start, firstRetained } };
    });
  }

  /**
   * The page of a stream whose events from a number on are all above the head. Pruning retains the newest event below
   * the oldest version, so events up to the head can be pruned only if the head itself is.
   */
  #hiddenFrom(start: bigint, { sequenceNumber: firstRetained }: StoredEvent): EventPage {
    if (this.#oldest <= this.#head.version || firstRetained === start) return NO_EVENTS;
    return { events: [], pruned: { start, firstRetained } };
  }

  /** The last event up to the head. Events above it may have gaps while their commit is in progress. */
  async #lastVisibleBelow(sequenceNumber: bigint): Promise<bigint | undefined> {
    const firstHidden = await this.#firstAbove(this.#head.version, sequenceNumber);
    if (firstHidden === 0n) return undefined;
    const order = encodeU64Key(firstHidden - 1n);
    const row = await this.#store.seekLast(EVENTS, this.#partition, order);
    return row && this.#decode(row).sequenceNumber;
  }

  /** The first sequence number up to `last` whose version is above `version`; `last + 1` when there is none. */
  async #firstAbove(version: bigint, last: bigint): Promise<bigint> {
    const first = await firstNumberAbove(version, last, async (sequenceNumber) => {
      const order = encodeU64Key(sequenceNumber);
      const row = await this.#store.seekLast(EVENTS, this.#partition, order);
      return row && this.#decode(row);
    });
    return first ?? last + 1n;
  }

  #decodeVisible(first: StoredEvent, rows: readonly Row[]): StoredEvent[] {
    const events: StoredEvent[] = [];
    for (const row of rows) {
      const event = row === rows[0] ? first : this.#decode(row);
      if (!this.#isVisible(event)) break;
      events.push(event);
    }
    return events;
  }

  #decode(row: Row): StoredEvent {
    return decodeEventRow(this.#partition, row);
  }

  #isVisible({ version }: StoredEvent): boolean {
    return version <= this.#head.version;
  }

  #gap(expected: bigint, actual: bigint): EventGapError {
    const { address, creationNumber } = this.#stream;
    return new EventGapError(`0x${address}/${creationNumber}`, expected, actual);
  }
}

/** Something with a sequence number. Higher sequence numbers never have lower versions. */
interface Numbered {
  readonly sequenceNumber: bigint;
  readonly version: bigint;
}

/**
 * The first sequence number up to `last` that has a version above `version`; `undefined` if none has.
 * @param lastUpTo finds the item with the highest sequence number up to a given one
 */
export async function firstNumberAbove(
  version: bigint,
  last: bigint,
  lastUpTo: (sequenceNumber: bigint) => Promise<Numbered | undefined>,
): Promise<bigint | undefined> {
  let low = 0n;
  let high = last;
  let answer: bigint | undefined;
  // Starts with the last one, which usually decides the search.
  for (let middle = last; low <= high; middle = (low + high) >> 1n) {
    const found = await lastUpTo(middle);
    if (found === undefined || found.version <= version) low = middle + 1n;
    else {
      answer = found.sequenceNumber;
      high = answer - 1n;
    }
  }
  return answer;
}

/** `lastSequenceNumber` of many streams. @throws RowDamagedError */
export async function lastSequenceNumbers(
  store: StoreReader,
  head: Head,
  streams: readonly StreamId[],
): Promise<(bigint | undefined)[]> {
  const order = encodeU64Key(U64_MAX);
  const keys = streams.map((stream) => ({ partition: encodeStreamId(stream), order }));
  const rows = await store.seekLastMany(EVENTS, keys);
  const numbers: (bigint | undefined)[] = [];
  for (const [index, stream] of streams.entries()) {
    const row = rows[index];
    const last = row && decodeEventRow(keys[index]!.partition, row);
    const isVisible = last === undefined || last.version <= head.version;
    const view = new EventStreamView(store, head, stream);
    numbers.push(isVisible ? last?.sequenceNumber : await view.lastSequenceNumber());
  }
  return numbers;
}

/** The first of the newest `limit` sequence numbers of a stream that ends with `last`. */
export function firstOfNewest(last: bigint, limit: number): bigint {
  const first = last - BigInt(limit) + 1n;
  return first > 0n ? first : 0n;
}
