/**
 * What chunks that are on their way into the store have changed: translation reads the state and the streams as they
 * are at a version, wherever that version still is.
 */
import type { Chunk, TranslatedEvent } from '../../store/chunk.ts';
import { encodeStreamId, type StreamId } from '../../store/columns/event-column.ts';

/** A stream as a key of a map. */
export function streamName(stream: StreamId): string {
  return encodeStreamId(stream).toString('latin1');
}

/**
 * State and streams as one chunk changes them, up to a transaction of it. Filled when it is asked, and only so far:
 * most chunks of an old chain are never asked.
 */
export class ChunkOverlay {
  readonly chunk: Chunk;
  readonly #values = new Map<string, Buffer | undefined>();
  readonly #lastSequenceNumbers = new Map<string, bigint>();
  #nextIndex = 0;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** Takes in the writes and handle events of all transactions up to and with `index`. */
  advance(index: number): void {
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

  /** Takes in everything. */
  advanceToEnd(): void {
    this.advance(this.chunk.transactions.length - 1);
  }

  /** Takes in an event that translation adds. */
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
