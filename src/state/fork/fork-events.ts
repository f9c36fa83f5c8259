/**
 * Event streams of a fork. Requests for events have no version: the upstream returns the stream as it is now. Events
 * never change and their versions never decrease, so the events up to the fork's version are the first of the stream.
 */

import { chunkEventOf } from '../../ingest/version-parts.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { ContractEvent } from '../../move/transactions/event.ts';
import { addressBytes, formatAddress } from '../../move/types/address.ts';
import type { Batch } from '../../store/batch.ts';
import type { StoredEvent, StreamId } from '../../store/columns/event-column.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import {
  type EventPage,
  type EventPageQuery,
  firstOfNewest,
} from '../../store/read/event-pages.ts';
import { isPruned } from '../ledger-error.ts';
import type { EventStream } from '../source.ts';
import type { ForkClient } from './fork-client.ts';
import { fetchDecoded, pathOf } from './history-answers.ts';
import {
  type Fork,
  RecordedList,
  type RecordedQuery,
  recordedOrFetched,
} from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

/** A node's default maximum page size. */
const EVENTS_PER_REQUEST = 100;
/** Minimum size of an item in bytes: a version, then an event. */
const MIN_ITEM_BYTES = 8 + ContractEvent.minBytes;

interface EncodedEvent {
  readonly event: StoredEvent;
  readonly bytes: Buffer;
}

export class ForkEventStream implements EventStream {
  readonly #fork: Fork;
  readonly #stream: StreamId;
  readonly #description: string;
  readonly #version: bigint;
  readonly #list: RecordedList<EncodedEvent>;

  constructor(fork: Fork, version: bigint, stream: StreamId) {
    const { address, creationNumber } = stream;
    this.#fork = fork;
    this.#stream = stream;
    this.#description = `event stream ${creationNumber} of ${formatAddress(address)}`;
    this.#version = version;
    this.#list = new RecordedList<EncodedEvent>(fork, {
      description: `events of ${this.#description}`,
      name: ['events', addressBytes(address), creationNumber],
      codec: {
        write: (writer, { bytes }) => writer.fixed(bytes),
        read: (reader) => this.#read(reader),
      },
      orderOf: ({ event }) => encodeU64Key(event.sequenceNumber),
      fetchPage: async (client, _, from, limit) => {
        const start = decodeU64Key(from);
        const page = this.#upToForkVersion(await this.#fetch(client, start, limit));
        if (page.length === 0) throw badAnswer(this.#description, `there is no event ${start}`);
        return { items: page, next: keyAfter(page) };
      },
    });
  }

  page({ start: requestedStart, limit }: EventPageQuery): MaybePromise<EventPage> {
    return andThen(this.lastSequenceNumber(), (last) => {
      const start = requestedStart ?? firstOfNewest(last ?? 0n, limit);
      if (last === undefined || start > last) return { events: [], pruned: undefined };
      const left = last - start + 1n;
      const count = left < BigInt(limit) ? Number(left) : limit;
      return this.#list.all(encodeU64Key(start), count).then((items) => {
        return { events: items.map(({ event }) => event), pruned: undefined };
      });
    });
  }

  lastSequenceNumber(): MaybePromise<bigint | undefined> {
    const { address, creationNumber } = this.#stream;
    const query: RecordedQuery<bigint | undefined> = {
      description: `the end of ${this.#description} at version ${this.#version}`,
      name: ['end of events', addressBytes(address), creationNumber],
      codec: {
        write: (writer, last) => writer.option(last, (to, number) => to.u64(number)),
        read: (reader) => reader.option((inner) => inner.u64()),
      },
    };
    return recordedOrFetched(this.#fork, query, async (client, batch) => {
      const newest = await this.#fetch(client, undefined, EVENTS_PER_REQUEST);
      await this.#put(batch, newest);
      return await this.#lastUpToVersion(client, batch, newest);
    });
  }

  /** The last event up to the fork's version. @param newest the newest events of the upstream */
  async #lastUpToVersion(
    client: ForkClient,
    batch: Batch,
    newest: readonly EncodedEvent[],
  ): Promise<bigint | undefined> {
    const found = this.#upToForkVersion(newest).at(-1);
    if (found !== undefined || newest.length === 0) return found?.event.sequenceNumber;
    let low = 0n;
    let high = newest[0]!.event.sequenceNumber;
    let last: bigint | undefined;
    // Events from `high` on are above the fork's version; those up to `last` are not.
    while (low < high) {
      const middle = (low + high) >> 1n;
      const page = await this.#fetchUnlessPruned(client, middle);
      if (page === undefined) {
        low = middle + 1n;
        continue;
      }
      if (page.length === 0) throw badAnswer(this.#description, `there is no event ${middle}`);
      await this.#put(batch, page);
      const visible = this.#upToForkVersion(page);
      if (visible.length === 0) {
        high = middle;
        continue;
      }
      last = visible.at(-1)!.event.sequenceNumber;
      if (visible.length < page.length) return last;
      low = last + 1n;
    }
    return last;
  }

  /** `undefined` for events that the upstream has pruned: the fork's version is not pruned, so they are older. */
  async #fetchUnlessPruned(
    client: ForkClient,
    start: bigint,
  ): Promise<readonly EncodedEvent[] | undefined> {
    try {
      return await this.#fetch(client, start, EVENTS_PER_REQUEST);
    } catch (error) {
      if (isPruned(error)) return undefined;
      throw error;
    }
  }

  #upToForkVersion(page: readonly EncodedEvent[]): readonly EncodedEvent[] {
    return page.filter(({ event }) => event.version <= this.#version);
  }

  async #put(batch: Batch, page: readonly EncodedEvent[]): Promise<void> {
    const items = this.#upToForkVersion(page);
    if (items.length === 0) return;
    const start = encodeU64Key(items[0]!.event.sequenceNumber);
    await this.#list.putPage(batch, start, { items, next: keyAfter(items) });
  }

  /** Requests a page and checks it. @param start absent for the newest events */
  async #fetch(
    client: ForkClient,
    start: bigint | undefined,
    maxEvents: number,
  ): Promise<readonly EncodedEvent[]> {
    const { address, creationNumber } = this.#stream;
    const what = `events of ${this.#description}`;
    const limit = Math.min(maxEvents, EVENTS_PER_REQUEST);
    const path = pathOf('accounts', formatAddress(address), 'events', String(creationNumber));
    const query = { limit: String(limit), ...(start !== undefined && { start: String(start) }) };
    const events = await fetchDecoded(client, what, { path, query }, (reader) =>
      reader.vector(MIN_ITEM_BYTES, () => this.#read(reader)),
    );
    if (events.length > limit) throw badAnswer(what, `${events.length} instead of ${limit}`);
    for (const [at, { event }] of events.entries()) {
      const { version, sequenceNumber } = event;
      const before = events[at - 1]?.event;
      const expected = before === undefined ? start : before.sequenceNumber + 1n;
      if (expected !== undefined && sequenceNumber !== expected) {
        throw badAnswer(what, `event ${sequenceNumber} in place of ${expected}`);
      }
      if (before !== undefined && version < before.version) {
        const detail = `event ${sequenceNumber} is of an earlier version than the one before`;
        throw badAnswer(what, detail);
      }
    }
    return events;
  }

  #read(reader: BcsReader): EncodedEvent {
    const start = reader.offset;
    const version = reader.u64();
    const eventAt = reader.offset;
    ContractEvent.read(reader);
    const bytes = reader.buffer.subarray(start, reader.offset);
    const event = chunkEventOf(reader.buffer.subarray(eventAt, reader.offset));
    const { address, creationNumber } = this.#stream;
    const isSameStream =
      event.kind === 'stream' &&
      event.address === address &&
      event.creationNumber === creationNumber;
    if (!isSameStream) throw reader.error('bad_value', 'an event of another stream', eventAt);
    const { sequenceNumber } = event;
    const [typeTag, data] = [event.typeTag as Buffer, event.data as Buffer];
    const encoded = bytes.subarray(typeTag.byteOffset - bytes.byteOffset);
    // The API does not return an event's index in its transaction.
    return { event: { sequenceNumber, version, index: 0, typeTag, data, encoded }, bytes };
  }
}

function keyAfter(events: readonly EncodedEvent[]): Buffer {
  return encodeU64Key(events.at(-1)!.event.sequenceNumber + 1n);
}
