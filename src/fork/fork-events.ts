/**
 * Event streams of a fork. The interface has no version for events: the upstream answers with what it has now. Events
 * never change and their versions never fall, so the events up to the fork's version are the first ones of the stream.
 */
import { chunkEventOf } from '../ingest/version-parts.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import { MIN_EVENT_BYTES, readContractEvent } from '../move/transactions/event.ts';
import { formatAddress } from '../move/types/address.ts';
import type { Batch } from '../store/batch.ts';
import { EVENTS } from '../store/columns/columns.ts';
import { encodeStreamId, putEvent, type StreamId } from '../store/columns/event-column.ts';
import type { Head } from '../store/columns/head.ts';
import { decodeU64Key, encodeU64Key } from '../store/columns/order-key.ts';
import {
  type EventPage,
  type EventPageQuery,
  EventStreamView,
  firstOfNewest,
} from '../store/event-pages.ts';
import type { StoreReader } from '../store/store.ts';
import type { ForkClient } from './fork-client.ts';
import type { ForkSource } from './fork-recorder.ts';
import { decoded, pathOf, requireResult } from './history-answers.ts';
import { type AnswerCodec, putAnswer, recordedAnswer } from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

/** As many as a node gives by default at most. */
const EVENTS_PER_REQUEST = 100;
/** An event with the version before it. */
const MIN_ITEM_BYTES = 8 + MIN_EVENT_BYTES;

/** The last sequence number of a stream at the fork's version; `undefined` for a stream without events. */
const STREAM_END: AnswerCodec<bigint | undefined> = {
  write: (writer, last) => writer.option(last, (to, number) => to.u64(number)),
  read: (reader) => reader.option((inner) => inner.u64()),
};

interface AnsweredEvent {
  readonly version: bigint;
  readonly sequenceNumber: bigint;
  readonly body: { readonly typeTag: Uint8Array; readonly data: Uint8Array };
}

export class ForkEventStream extends EventStreamView {
  readonly #store: StoreReader;
  readonly #source: ForkSource;
  readonly #stream: StreamId;
  /** The fork's version. */
  readonly #version: bigint;

  constructor(store: StoreReader, head: Head, stream: StreamId, source: ForkSource) {
    super(store, head, stream);
    this.#store = store;
    this.#source = source;
    this.#stream = stream;
    this.#version = head.version;
  }

  override page(query: EventPageQuery): MaybePromise<EventPage> {
    return andThen(this.lastSequenceNumber(), (last) => {
      if (last === undefined) return NO_EVENTS;
      const { start = firstOfNewest(last, query.limit), limit } = query;
      if (start > last) return NO_EVENTS;
      const available = last - start + 1n;
      const count = available < BigInt(limit) ? Number(available) : limit;
      return andThen(this.#complete(start, count), () => super.page({ start, limit: count }));
    });
  }

  override lastSequenceNumber(): MaybePromise<bigint | undefined> {
    const question = `the end of ${this.#shown} at version ${this.#version}`;
    const known = recordedAnswer(this.#store, question, STREAM_END);
    return andThen(known, (found) => (found === undefined ? this.#askEnd(question) : found.answer));
  }

  get #shown(): string {
    const { address, creationNumber } = this.#stream;
    return `event stream ${creationNumber} of ${formatAddress(address)}`;
  }

  async #askEnd(question: string): Promise<bigint | undefined> {
    return await this.#source.record(question, async (client, batch) => {
      const newest = await this.#ask(client, batch, undefined, EVENTS_PER_REQUEST);
      const last = await this.#lastUpToVersion(client, batch, newest);
      putAnswer(batch, question, STREAM_END, last);
      return last;
    });
  }

  /** The last event up to the fork's version. @param newest the newest events of the upstream */
  async #lastUpToVersion(
    client: ForkClient,
    batch: Batch,
    newest: readonly AnsweredEvent[],
  ): Promise<bigint | undefined> {
    const found = this.#lastOf(newest);
    if (found !== undefined || newest.length === 0) return found;
    let low = 0n;
    let high = newest[0]!.sequenceNumber;
    let last: bigint | undefined;
    // Events from `high` on are above the version, those up to `last` are not.
    while (low < high) {
      const middle = (low + high) >> 1n;
      const page = await this.#askUnlessPruned(client, batch, middle);
      if (page === undefined) {
        low = middle + 1n;
        continue;
      }
      if (page.length === 0) throw badAnswer(this.#shown, `there is no event ${middle}`);
      const ofPage = this.#lastOf(page);
      if (ofPage === undefined) {
        high = middle;
        continue;
      }
      last = ofPage;
      if (ofPage < page.at(-1)!.sequenceNumber) return last;
      low = ofPage + 1n;
    }
    return last;
  }

  /** `undefined` for events that the upstream has pruned: they are older than the fork's version, which it has. */
  async #askUnlessPruned(
    client: ForkClient,
    batch: Batch,
    start: bigint,
  ): Promise<readonly AnsweredEvent[] | undefined> {
    try {
      return await this.#ask(client, batch, start, EVENTS_PER_REQUEST);
    } catch (error) {
      if (error instanceof LedgerError && error.code === 'version_pruned') return undefined;
      throw error;
    }
  }

  #lastOf(events: readonly AnsweredEvent[]): bigint | undefined {
    return events.findLast(({ version }) => version <= this.#version)?.sequenceNumber;
  }

  /** Asks for the events of a page that are not recorded. */
  #complete(start: bigint, count: number): MaybePromise<void> {
    const query = { from: encodeU64Key(start), limit: count };
    const rows = this.#store.range(EVENTS, encodeStreamId(this.#stream), query);
    return andThen(rows, (found) => {
      const gap = found.findIndex(({ order }, at) => decodeU64Key(order) !== start + BigInt(at));
      const known = gap === -1 ? found.length : gap;
      return known === count ? undefined : this.#askFrom(start + BigInt(known), count - known);
    });
  }

  async #askFrom(start: bigint, count: number): Promise<void> {
    const question = `${count} events from ${start} on of ${this.#shown}`;
    await this.#source.record(question, async (client, batch) => {
      for (let taken = 0; taken < count; ) {
        const limit = Math.min(count - taken, EVENTS_PER_REQUEST);
        const events = await this.#ask(client, batch, start + BigInt(taken), limit);
        taken += events.filter(({ version }) => version <= this.#version).length;
        if (events.length === 0 || events.at(-1)!.version > this.#version) {
          if (taken < count) throw badAnswer(question, `only ${taken} are there`);
        }
      }
    });
  }

  /** A page of the upstream, checked, of which what the fork may show is put into the batch. */
  async #ask(
    client: ForkClient,
    batch: Batch,
    start: bigint | undefined,
    limit: number,
  ): Promise<readonly AnsweredEvent[]> {
    const { address, creationNumber } = this.#stream;
    const what = `events of ${this.#shown}`;
    const path = pathOf('accounts', formatAddress(address), 'events', String(creationNumber));
    const query = { limit: String(limit), ...(start !== undefined && { start: String(start) }) };
    const { bytes } = requireResult(what, await client.ask({ path, query }));
    const events = decoded(what, () => this.#decode(bytes));
    if (events.length > limit) throw badAnswer(what, `${events.length} instead of ${limit}`);
    for (const [at, { version, sequenceNumber }] of events.entries()) {
      const before = events[at - 1];
      const expected = before === undefined ? start : before.sequenceNumber + 1n;
      if (expected !== undefined && sequenceNumber !== expected) {
        throw badAnswer(what, `event ${sequenceNumber} in place of ${expected}`);
      }
      if (before !== undefined && version < before.version) {
        throw badAnswer(
          what,
          `event ${sequenceNumber} is of an earlier version than the one before`,
        );
      }
    }
    for (const { version, sequenceNumber, body } of events) {
      if (version > this.#version) break;
      // The interface does not tell its place in the transaction.
      putEvent(batch, this.#stream, sequenceNumber, { version, index: 0 }, body);
    }
    return events;
  }

  #decode(bytes: Buffer): readonly AnsweredEvent[] {
    return decodeBcs(bytes, (reader) =>
      reader.vector(MIN_ITEM_BYTES, () => {
        const version = reader.u64();
        const start = reader.offset;
        readContractEvent(reader);
        const event = chunkEventOf(reader.buffer.subarray(start, reader.offset));
        const { address, creationNumber } = this.#stream;
        const isOfStream =
          event.kind === 'stream' &&
          event.address === address &&
          event.creationNumber === creationNumber;
        if (!isOfStream) throw reader.error('bad_value', 'an event of another stream', start);
        const { sequenceNumber, typeTag, data } = event;
        return { version, sequenceNumber, body: { typeTag, data } };
      }),
    );
  }
}

const NO_EVENTS: EventPage = { events: [], pruned: undefined };
