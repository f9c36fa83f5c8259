/**
 * Adds to chunks the events that continue old streams (docs/spec/ledger.md §5.8, docs/spec/http.md §7.6), as the
 * reference does. It differs in two ways, because rows of the store never change (docs/differences.md): it reads a
 * handle's state after the event's own transaction, and it assigns each sequence number once.
 *
 * Translation needs the state and the streams at a version. It looks into chunks that are not committed yet, then into
 * the store, with two reads for a whole chunk: the state with the handles, then the ends of the streams.
 */
import { byteTools } from '../../move/bcs/bytes.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { STATE } from '../../store/columns/columns.ts';
import { encodeStreamId, type StreamId } from '../../store/columns/event-column.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { lastSequenceNumbers } from '../../store/read/event-pages.ts';
import {
  type Chunk,
  type ChunkStreamEvent,
  type ChunkTransaction,
  lastVersionOf,
  type StateWrite,
  type TranslatedEvent,
} from '../../store/write/chunk.ts';
import { keyNumber } from '../../store/write/key-number.ts';
import type { LedgerWriter } from '../../store/write/writer.ts';
import {
  type EventTranslation,
  type ModuleEvent,
  type TranslatedBody,
  translationOf,
} from './event-translation.ts';

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

function writtenValue({ value }: StateWrite): Buffer | undefined {
  return value && byteTools.asBuffer(value);
}

function streamName(stream: StreamId): string {
  return nameOf(encodeStreamId(stream));
}

/** An event of a stream in a chunk. */
interface StreamNumber {
  /** Index of its transaction. */
  readonly index: number;
  readonly stream: string;
  readonly sequenceNumber: bigint;
}

/**
 * State and streams after some of a chunk's transactions. The state is computed on demand: most chunks have no event to
 * translate, and most events belong to a value that their own transaction writes.
 */
class ChunkOverlay {
  readonly chunk: Chunk;
  /** The newest transaction so far that wrote a key with a number; see `keyNumber`. */
  readonly #writers = new Map<number, number>();
  readonly #streamNumbers: StreamNumber[] = [];
  readonly #lastSequenceNumbers = new Map<string, bigint>();
  #nextWrites = 0;
  #nextNumber = 0;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /**
   * The value under a physical key after a transaction: `null` if the chunk has not written it, `undefined` if it
   * deleted it. Calls must be in the order of transactions.
   */
  value(key: Buffer, index = this.chunk.transactions.length - 1): Buffer | undefined | null {
    const own = this.#writeOf(key, index);
    if (own !== undefined) return writtenValue(own);
    for (; this.#nextWrites <= index; this.#nextWrites += 1) {
      for (const write of this.chunk.transactions[this.#nextWrites]!.writes) {
        this.#writers.set(keyNumber(write.key), this.#nextWrites);
      }
    }
    for (let writer = this.#writers.get(keyNumber(key)) ?? -1; writer >= 0; writer -= 1) {
      const write = this.#writeOf(key, writer);
      if (write !== undefined) return writtenValue(write);
    }
    return null;
  }

  #writeOf(key: Buffer, index: number): StateWrite | undefined {
    return this.chunk.transactions[index]!.writes.find((write) => write.key.equals(key));
  }

  /** Records an event of a stream. Calls must be in the order of transactions. */
  addStreamEvent(index: number, event: ChunkStreamEvent): void {
    const { sequenceNumber } = event;
    this.#streamNumbers.push({ index, stream: streamName(event), sequenceNumber });
  }

  /**
   * The newest sequence number of a stream after the events of a transaction; `undefined` if the chunk has no event of
   * the stream. Calls must be in the order of transactions.
   */
  lastSequenceNumber(name: string, index = this.chunk.transactions.length - 1): bigint | undefined {
    const numbers = this.#streamNumbers;
    for (; this.#nextNumber < numbers.length; this.#nextNumber += 1) {
      const next = numbers[this.#nextNumber]!;
      if (next.index > index) break;
      this.#lastSequenceNumbers.set(next.stream, next.sequenceNumber);
    }
    return this.#lastSequenceNumbers.get(name);
  }

  addTranslated(name: string, sequenceNumber: bigint): void {
    this.#lastSequenceNumbers.set(name, sequenceNumber);
  }
}

interface Candidate {
  readonly index: number;
  readonly eventIndex: number;
  readonly translation: EventTranslation;
  readonly event: ModuleEvent;
  /**
   * For each state key of the translation, its value in the chunk after this transaction, as from `ChunkOverlay.value`.
   */
  readonly values: readonly (Buffer | undefined | null)[];
}

interface Unsequenced {
  readonly index: number;
  readonly eventIndex: number;
  readonly body: TranslatedBody;
  readonly stream: string;
}

export class ChunkTranslator {
  readonly #ledger: Pick<LedgerWriter, 'reader' | 'head'>;
  /** Chunks translated and not yet known to be committed, oldest first. */
  #pending: ChunkOverlay[] = [];

  constructor(ledger: Pick<LedgerWriter, 'reader' | 'head'>) {
    this.#ledger = ledger;
  }

  /**
   * Adds translated events to the transactions of a chunk. Chunks must come in order. Earlier ones may still be
   * pending, until `onCommitted`.
   * @returns the chunk
   * @throws RowDamagedError
   */
  async translate(chunk: Chunk): Promise<Chunk> {
    const overlay = new ChunkOverlay(chunk);
    const translated = await this.#translateAll(overlay, candidatesOf(overlay));
    for (const [index, events] of translated) chunk.transactions[index]!.translatedEvents = events;
    this.#pending.push(overlay);
    return chunk;
  }

  /** Called when chunks up to a version are committed. They are read from the store from then on. */
  onCommitted(version: bigint): void {
    this.#pending = this.#pending.filter(({ chunk }) => lastVersionOf(chunk) > version);
  }

  async #translateAll(
    overlay: ChunkOverlay,
    candidates: readonly Candidate[],
  ): Promise<ReadonlyMap<number, readonly TranslatedEvent[]>> {
    const translated = new Map<number, TranslatedEvent[]>();
    if (candidates.length === 0) return translated;
    const { chunk } = overlay;
    const unsequenced = unsequencedOf(
      chunk,
      candidates,
      await this.#valuesBefore(chunk, candidates),
    );
    const lastBefore = await this.#lastBefore(unsequenced);
    for (const { index, eventIndex, body, stream } of unsequenced) {
      const { address, creationNumber, typeTag, data } = body;
      const last = overlay.lastSequenceNumber(stream, index) ?? lastBefore.get(stream);
      // A stream without events begins with the handle's count.
      const sequenceNumber = last === undefined ? body.counter : last + 1n;
      overlay.addTranslated(stream, sequenceNumber);
      const event: TranslatedEvent = {
        kind: 'stream',
        ...{ address, creationNumber, sequenceNumber, typeTag, data },
        index: eventIndex,
      };
      const translatedEvents = translated.get(index);
      if (translatedEvents === undefined) translated.set(index, [event]);
      else translatedEvents.push(event);
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
        const pending = this.#findInPending((earlier) => earlier.value(key), null);
        values.set(name, pending ?? undefined);
        if (pending === null && firstVersion > 0n) stored.push({ name, hash: stateKeyHash(key) });
      }
    }
    const keys = stored.map(({ hash }) => ({
      partition: hash,
      order: encodeU64Key(firstVersion - 1n),
    }));
    const rows = await this.#ledger.reader.seekLastMany(STATE, keys);
    for (const [index, { name, hash }] of stored.entries()) {
      const row = rows[index];
      if (row !== undefined) values.set(name, decodeStateRow(hash, row).bytes);
    }
    return values;
  }

  /** The newest sequence numbers before a chunk, by stream; `undefined` for streams without events. */
  async #lastBefore(
    events: readonly Unsequenced[],
  ): Promise<ReadonlyMap<string, bigint | undefined>> {
    const last = new Map<string, bigint | undefined>();
    const stored: { readonly stream: string; readonly body: TranslatedBody }[] = [];
    for (const { stream, body } of events) {
      if (last.has(stream)) continue;
      const pending = this.#findInPending(
        (earlier) => earlier.lastSequenceNumber(stream),
        undefined,
      );
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

  /** The first result other than `absent`, beginning with the newest pending chunk. */
  #findInPending<T>(find: (earlier: ChunkOverlay) => T, absent: T): T {
    for (let index = this.#pending.length - 1; index >= 0; index -= 1) {
      const found = find(this.#pending[index]!);
      if (found !== absent) return found;
    }
    return absent;
  }
}

/** Records the stream events, and finds the module events that have a translation. */
function candidatesOf(overlay: ChunkOverlay): Candidate[] {
  const candidates: Candidate[] = [];
  for (const [index, transaction] of overlay.chunk.transactions.entries()) {
    for (const [eventIndex, chunkEvent] of transaction.events.entries()) {
      if (chunkEvent.kind === 'stream') {
        overlay.addStreamEvent(index, chunkEvent);
        continue;
      }
      const translation = translationOf(chunkEvent.typeTag);
      const event = translation?.read(byteTools.asBuffer(chunkEvent.data));
      if (translation === undefined || event === undefined) continue;
      const values = event.stateKeys.map((key) => overlay.value(key, index));
      candidates.push({ index, eventIndex, translation, event, values });
    }
  }
  return candidates;
}

function unsequencedOf(
  { transactions }: Chunk,
  candidates: readonly Candidate[],
  before: ReadonlyMap<string, Buffer | undefined>,
): Unsequenced[] {
  const found: Unsequenced[] = [];
  for (const { index, eventIndex, translation, event, values } of candidates) {
    const known = event.stateKeys.map((key, place) => {
      const own = values[place];
      return own === null ? before.get(nameOf(key)) : own;
    });
    const body = translation.translate(event, known);
    // Some frameworks emitted both forms at once. Then the stream already has its event.
    if (body === undefined || hasEventInStream(transactions[index]!, body)) continue;
    found.push({ index, eventIndex, body, stream: streamName(body) });
  }
  return found;
}

function hasEventInStream({ events }: ChunkTransaction, body: TranslatedBody): boolean {
  return events.some(
    (event) =>
      event.kind === 'stream' &&
      event.creationNumber === body.creationNumber &&
      event.address === body.address,
  );
}
