/**
 * Adds to chunks the events that continue old streams (docs/spec/ledger.md §5.8, docs/spec/http.md §7.6), as the
 * reference does it. It differs in two things, because rows of the store never change (docs/differences.md): a
 * handle's state is that after the event's own transaction, and a sequence number is assigned once.
 *
 * Chunks that are not committed yet are looked into before the store: translation needs the state and the streams as
 * they are at a version, wherever that version still is.
 */
import { stateKeyHash } from '../../move/types/state-key.ts';
import type { Chunk, ChunkTransaction, TranslatedEvent } from '../../store/chunk.ts';
import { lastVersionOf } from '../../store/chunk.ts';
import { STATE } from '../../store/columns/columns.ts';
import { encodeStreamId, type StreamId } from '../../store/columns/event-column.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { EventStreamView } from '../../store/event-pages.ts';
import type { LedgerWriter } from '../../store/writer.ts';
import { type TranslatedBody, translationOf } from './event-translation.ts';

function streamName(stream: StreamId): string {
  return encodeStreamId(stream).toString('latin1');
}

/**
 * State and streams as one chunk changes them, up to a transaction of it. Filled on demand, and only as far as needed:
 * most chunks of an old chain are never searched.
 */
class ChunkOverlay {
  readonly chunk: Chunk;
  readonly #values = new Map<string, Buffer | undefined>();
  readonly #lastSequenceNumbers = new Map<string, bigint>();
  #nextIndex = 0;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** Includes the writes and handle events of all transactions up to and with `index`. */
  advance(index = this.chunk.transactions.length - 1): void {
    const { transactions } = this.chunk;
    for (; this.#nextIndex <= index; this.#nextIndex += 1) {
      const { writes, events } = transactions[this.#nextIndex]!;
      for (const { key, value } of writes) {
        this.#values.set(key.toString('latin1'), value === undefined ? undefined : asBuffer(value));
      }
      for (const event of events) {
        if (event.kind === 'stream') {
          this.#lastSequenceNumbers.set(streamName(event), event.sequenceNumber);
        }
      }
    }
  }

  addTranslated(event: TranslatedEvent): void {
    this.#lastSequenceNumbers.set(streamName(event), event.sequenceNumber);
  }

  /** The value under a physical key: `null` when the chunk has not written it, `undefined` when it deleted it. */
  value(physicalKeyName: string): Buffer | undefined | null {
    const value = this.#values.get(physicalKeyName);
    return value === undefined && !this.#values.has(physicalKeyName) ? null : value;
  }

  /** The newest sequence number of a stream in the chunk; `undefined` when it has none of it. */
  lastSequenceNumber(name: string): bigint | undefined {
    return this.#lastSequenceNumbers.get(name);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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
    const transactions: ChunkTransaction[] = [];
    let isChanged = false;
    for (const [index, transaction] of chunk.transactions.entries()) {
      const translatedEvents = await this.#translateTransaction(overlay, index, transaction);
      if (translatedEvents.length > 0) isChanged = true;
      transactions.push(
        translatedEvents.length === 0 ? transaction : { ...transaction, translatedEvents },
      );
    }
    this.#pending.push(overlay);
    return isChanged ? { ...chunk, transactions } : chunk;
  }

  /** Called when chunks up to a version are committed: they are read from the store from now on. */
  forget(version: bigint): void {
    this.#pending = this.#pending.filter(({ chunk }) => lastVersionOf(chunk) > version);
  }

  async #translateTransaction(
    overlay: ChunkOverlay,
    index: number,
    transaction: ChunkTransaction,
  ): Promise<readonly TranslatedEvent[]> {
    const { events } = transaction;
    let translated: TranslatedEvent[] | undefined;
    for (const [eventIndex, event] of events.entries()) {
      if (event.kind !== 'module') continue;
      const translation = translationOf(event.typeTag);
      if (translation === undefined) continue;
      overlay.advance(index);
      const version = overlay.chunk.firstVersion + BigInt(index);
      const data = asBuffer(event.data);
      const body = await translation.translate(data, (key) => this.#state(overlay, key, version));
      // Some frameworks emitted both forms at once: then the stream has its event already.
      if (body === undefined || emitsInto(transaction, body)) continue;
      const sequenceNumber = await this.#nextSequenceNumber(overlay, body);
      const added: TranslatedEvent = {
        kind: 'stream',
        address: body.address,
        creationNumber: body.creationNumber,
        sequenceNumber,
        typeTag: body.typeTag,
        data: body.data,
        index: eventIndex,
      };
      overlay.addTranslated(added);
      translated ??= [];
      translated.push(added);
    }
    return translated ?? [];
  }

  /** The value under a key after a version of the chunk being translated. */
  async #state(overlay: ChunkOverlay, key: Buffer, version: bigint): Promise<Buffer | undefined> {
    const name = key.toString('latin1');
    const own = overlay.value(name);
    if (own !== null) return own;
    for (const earlier of this.#pending.toReversed()) {
      earlier.advance();
      const value = earlier.value(name);
      if (value !== null) return value;
    }
    const hash = stateKeyHash(key);
    const row = await this.#ledger.reader.seekLast(STATE, hash, encodeU64Key(version));
    return row === undefined ? undefined : decodeStateRow(hash, row).bytes;
  }

  /** One after the newest of the stream, of either kind; the handle's count in a stream without events. */
  async #nextSequenceNumber(overlay: ChunkOverlay, body: TranslatedBody): Promise<bigint> {
    const name = streamName(body);
    let last = overlay.lastSequenceNumber(name);
    for (const earlier of this.#pending.toReversed()) {
      if (last !== undefined) break;
      earlier.advance();
      last = earlier.lastSequenceNumber(name);
    }
    const { head, reader } = this.#ledger;
    if (last === undefined && head !== undefined) {
      last = await new EventStreamView(reader, head, body).lastSequenceNumber();
    }
    return last === undefined ? body.counter : last + 1n;
  }
}

function emitsInto({ events }: ChunkTransaction, body: TranslatedBody): boolean {
  return events.some(
    (event) =>
      event.kind === 'stream' &&
      event.creationNumber === body.creationNumber &&
      event.address === body.address,
  );
}
