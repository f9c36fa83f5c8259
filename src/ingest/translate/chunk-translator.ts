/**
 * Adds to chunks the events that continue old streams (docs/spec/ledger.md §5.8, docs/spec/http.md §7.6), as the
 * reference does it. It differs in two things, because rows of the store never change (docs/differences.md): a
 * handle's state is that after the event's own transaction, and a sequence number is assigned once.
 *
 * Chunks that are not committed yet are looked into before the store: translation needs the state and the streams as
 * they are at a version, wherever that version still is. What is left to read is read for a whole chunk together: the
 * state with the handles, then the ends of the streams.
 */
import { stateKeyHash } from '../../move/types/state-key.ts';
import type { Chunk, ChunkTransaction, StateWrite, TranslatedEvent } from '../../store/chunk.ts';
import { lastVersionOf } from '../../store/chunk.ts';
import { STATE } from '../../store/columns/columns.ts';
import { encodeStreamId, type StreamId } from '../../store/columns/event-column.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { lastSequenceNumbers } from '../../store/event-pages.ts';
import { seekLastAll } from '../../store/store.ts';
import type { LedgerWriter } from '../../store/writer.ts';
import {
  type EventTranslation,
  type ModuleEvent,
  type TranslatedBody,
  translationOf,
} from './event-translation.ts';

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

function streamName(stream: StreamId): string {
  return nameOf(encodeStreamId(stream));
}

/**
 * State and streams as one chunk changes them, up to a transaction of it. Filled on demand, and only as far as needed:
 * most chunks of an old chain are never searched.
 */
class ChunkOverlay {
  readonly chunk: Chunk;
  readonly #values = new Map<string, Buffer | undefined>();
  readonly #lastSequenceNumbers = new Map<string, bigint>();
  #nextWrites = 0;
  #nextEvents = 0;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /**
   * The value under a physical key after a transaction: `null` when the chunk has not written it, `undefined` when it
   * deleted it. Transactions come in order.
   */
  value(
    physicalKeyName: string,
    index = this.chunk.transactions.length - 1,
  ): Buffer | undefined | null {
    for (; this.#nextWrites <= index; this.#nextWrites += 1) {
      for (const { key, value } of this.chunk.transactions[this.#nextWrites]!.writes) {
        this.#values.set(nameOf(key), value === undefined ? undefined : asBuffer(value));
      }
    }
    const value = this.#values.get(physicalKeyName);
    return value === undefined && !this.#values.has(physicalKeyName) ? null : value;
  }

  /**
   * The newest sequence number of a stream after the events of a transaction; `undefined` when the chunk has none of
   * it. Transactions come in order.
   */
  lastSequenceNumber(name: string, index = this.chunk.transactions.length - 1): bigint | undefined {
    for (; this.#nextEvents <= index; this.#nextEvents += 1) {
      for (const event of this.chunk.transactions[this.#nextEvents]!.events) {
        if (event.kind === 'stream') {
          this.#lastSequenceNumbers.set(streamName(event), event.sequenceNumber);
        }
      }
    }
    return this.#lastSequenceNumbers.get(name);
  }

  addTranslated(name: string, sequenceNumber: bigint): void {
    this.#lastSequenceNumbers.set(name, sequenceNumber);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A module event that may have a translation. */
interface Candidate {
  /** Of its transaction in the chunk. */
  readonly index: number;
  /** Its own, in the transaction. */
  readonly eventIndex: number;
  readonly translation: EventTranslation;
  readonly event: ModuleEvent;
  /** Values under its state keys as the chunk has written them so far, `null` where it has not. */
  readonly values: readonly (Buffer | undefined | null)[];
}

/** One that has, without its place in the stream. */
interface Placeless {
  readonly index: number;
  readonly eventIndex: number;
  readonly body: TranslatedBody;
  readonly stream: string;
}

/** A transaction of a chunk with its translated events. Its parts are made when they are asked for. */
class TranslatedTransaction implements ChunkTransaction {
  readonly #transaction: ChunkTransaction;
  readonly translatedEvents: readonly TranslatedEvent[];

  constructor(transaction: ChunkTransaction, translatedEvents: readonly TranslatedEvent[]) {
    this.#transaction = transaction;
    this.translatedEvents = translatedEvents;
  }

  get writes(): readonly StateWrite[] {
    return this.#transaction.writes;
  }

  get events(): ChunkTransaction['events'] {
    return this.#transaction.events;
  }

  get info(): Uint8Array {
    return this.#transaction.info;
  }

  get transaction(): Uint8Array | undefined {
    return this.#transaction.transaction;
  }
}

export class ChunkTranslator {
  readonly #ledger: Pick<LedgerWriter, 'reader' | 'head'>;
  /** Chunks translated and not yet known to be committed, oldest first. */
  #pending: ChunkOverlay[] = [];

  constructor(ledger: Pick<LedgerWriter, 'reader' | 'head'>) {
    this.#ledger = ledger;
  }

  /**
   * The chunk with its translated events. Chunks come in order; earlier ones may still be pending, until `forget`.
   * @throws RowDamagedError
   */
  async translate(chunk: Chunk): Promise<Chunk> {
    const overlay = new ChunkOverlay(chunk);
    const candidates = candidatesOf(overlay);
    const translated = await this.#translateAll(overlay, candidates);
    this.#pending.push(overlay);
    if (translated.size === 0) return chunk;
    const transactions = chunk.transactions.map((transaction, index): ChunkTransaction => {
      const translatedEvents = translated.get(index);
      if (translatedEvents === undefined) return transaction;
      return new TranslatedTransaction(transaction, translatedEvents);
    });
    return { ...chunk, transactions };
  }

  /** Called when chunks up to a version are committed: they are read from the store from now on. */
  forget(version: bigint): void {
    this.#pending = this.#pending.filter(({ chunk }) => lastVersionOf(chunk) > version);
  }

  /** Translated events by the index of their transaction. */
  async #translateAll(
    overlay: ChunkOverlay,
    candidates: readonly Candidate[],
  ): Promise<ReadonlyMap<number, readonly TranslatedEvent[]>> {
    const translated = new Map<number, TranslatedEvent[]>();
    if (candidates.length === 0) return translated;
    const { chunk } = overlay;
    const placeless = placelessOf(chunk, candidates, await this.#valuesBefore(chunk, candidates));
    const lastBefore = await this.#lastBefore(placeless);
    for (const { index, eventIndex, body, stream } of placeless) {
      const { address, creationNumber, typeTag, data } = body;
      const last = overlay.lastSequenceNumber(stream, index) ?? lastBefore.get(stream);
      // The handle's count in a stream without events.
      const sequenceNumber = last === undefined ? body.counter : last + 1n;
      overlay.addTranslated(stream, sequenceNumber);
      const event: TranslatedEvent = {
        kind: 'stream',
        ...{ address, creationNumber, sequenceNumber, typeTag, data },
        index: eventIndex,
      };
      const ofTransaction = translated.get(index);
      if (ofTransaction === undefined) translated.set(index, [event]);
      else ofTransaction.push(event);
    }
    return translated;
  }

  /** Values before a chunk, by physical key, of the keys that the chunk has not written so far. */
  async #valuesBefore(
    { firstVersion }: Chunk,
    candidates: readonly Candidate[],
  ): Promise<ReadonlyMap<string, Buffer | undefined>> {
    const values = new Map<string, Buffer | undefined>();
    const stored: { readonly name: string; readonly hash: Buffer }[] = [];
    for (const { event, values: own } of candidates) {
      for (const [index, key] of event.stateKeys.entries()) {
        const name = nameOf(key);
        if (own[index] !== null || values.has(name)) continue;
        const pending = this.#inPending((earlier) => earlier.value(name), null);
        values.set(name, pending ?? undefined);
        if (pending === null && firstVersion > 0n) stored.push({ name, hash: stateKeyHash(key) });
      }
    }
    const keys = stored.map(({ hash }) => ({
      partition: hash,
      order: encodeU64Key(firstVersion - 1n),
    }));
    const rows = await seekLastAll(this.#ledger.reader, STATE, keys);
    for (const [index, { name, hash }] of stored.entries()) {
      const row = rows[index];
      if (row !== undefined) values.set(name, decodeStateRow(hash, row).bytes);
    }
    return values;
  }

  /** The newest sequence numbers before a chunk, by stream; `undefined` for streams without events. */
  async #lastBefore(
    events: readonly Placeless[],
  ): Promise<ReadonlyMap<string, bigint | undefined>> {
    const last = new Map<string, bigint | undefined>();
    const stored: { readonly stream: string; readonly body: TranslatedBody }[] = [];
    for (const { stream, body } of events) {
      if (last.has(stream)) continue;
      const pending = this.#inPending((earlier) => earlier.lastSequenceNumber(stream), undefined);
      last.set(stream, pending);
      if (pending === undefined) stored.push({ stream, body });
    }
    const { head, reader } = this.#ledger;
    if (head === undefined) return last;
    const streams = stored.map(({ body }) => body);
    const numbers = await lastSequenceNumbers(reader, head, streams);
    for (const [index, { stream }] of stored.entries()) last.set(stream, numbers[index]);
    return last;
  }

  /** What the newest pending chunk says that says anything but `nothing`. */
  #inPending<T>(find: (earlier: ChunkOverlay) => T, nothing: T): T {
    for (let index = this.#pending.length - 1; index >= 0; index -= 1) {
      const found = find(this.#pending[index]!);
      if (found !== nothing) return found;
    }
    return nothing;
  }
}

function candidatesOf(overlay: ChunkOverlay): Candidate[] {
  const candidates: Candidate[] = [];
  for (const [index, transaction] of overlay.chunk.transactions.entries()) {
    let writes: readonly StateWrite[] | undefined;
    for (const [eventIndex, { kind, typeTag, data }] of transaction.events.entries()) {
      const translation = kind === 'module' ? translationOf(typeTag) : undefined;
      const event = translation?.read(asBuffer(data));
      if (translation === undefined || event === undefined) continue;
      writes ??= transaction.writes;
      const own = writes;
      const values = event.stateKeys.map((key) => {
        const value = valueIn(own, key);
        return value === null ? overlay.value(nameOf(key), index) : value;
      });
      candidates.push({ index, eventIndex, translation, event, values });
    }
  }
  return candidates;
}

/** The value that some writes leave under a key, `undefined` when they delete it; `null`: they do not write it. */
function valueIn(writes: readonly StateWrite[], key: Buffer): Buffer | undefined | null {
  for (let index = writes.length - 1; index >= 0; index -= 1) {
    const write = writes[index]!;
    if (write.key.length === key.length && write.key.equals(key)) {
      return write.value && asBuffer(write.value);
    }
  }
  return null;
}

function placelessOf(
  { transactions }: Chunk,
  candidates: readonly Candidate[],
  before: ReadonlyMap<string, Buffer | undefined>,
): Placeless[] {
  const found: Placeless[] = [];
  for (const { index, eventIndex, translation, event, values } of candidates) {
    const known = event.stateKeys.map((key, place) => {
      const own = values[place];
      return own === null ? before.get(nameOf(key)) : own;
    });
    const body = translation.translate(event, known);
    // Some frameworks emitted both forms at once: then the stream has its event already.
    if (body === undefined || emitsInto(transactions[index]!, body)) continue;
    found.push({ index, eventIndex, body, stream: streamName(body) });
  }
  return found;
}

function emitsInto({ events }: ChunkTransaction, body: TranslatedBody): boolean {
  return events.some(
    (event) =>
      event.kind === 'stream' &&
      event.creationNumber === body.creationNumber &&
      event.address === body.address,
  );
}
