/**
 * Adds to chunks the events that old streams go on with (docs/spec/ledger.md §5.8, docs/spec/http.md §7.6), as the
 * reference
 * does it, but for two things that a store whose rows never change asks for (docs/differences.md): a handle's state is
 * that after the event's own transaction, and a place in a stream is given out once.
 */

import { stateKeyHash } from '../../move/types/state-key.ts';
import type { Chunk, ChunkTransaction, TranslatedEvent } from '../../store/chunk.ts';
import { lastVersionOf } from '../../store/chunk.ts';
import { STATE } from '../../store/columns/columns.ts';
import { type Head, readHead } from '../../store/columns/head.ts';
import { encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { EventStreamView } from '../../store/event-pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { ChunkOverlay, streamName } from './chunk-overlay.ts';
import { type TranslatedBody, translationOf } from './event-translation.ts';

/** Translates the chunks of one ledger, in their order. */
export class ChunkTranslator {
  readonly #store: StoreReader;
  /** Chunks translated and not yet known to be committed, oldest first. */
  #underWay: ChunkOverlay[] = [];
  /** The store's head, as long as no other commit is known of: what lies above it is under way. */
  #head: Head | undefined;
  #commitsKnown = 0;

  constructor(store: StoreReader) {
    this.#store = store;
  }

  /**
   * The chunk with its translated events. Chunks come in order; the ones before may still be on their way into the
   * store, until `forget` says that they are not.
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
    this.#underWay.push(overlay);
    return isChanged ? { ...chunk, transactions } : chunk;
  }

  /** Says that chunks up to a version are committed: they are read from the store from now on. */
  forget(version: bigint): void {
    this.#underWay = this.#underWay.filter(({ chunk }) => lastVersionOf(chunk) > version);
    this.#head = undefined;
    this.#commitsKnown += 1;
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
      const data = Buffer.from(event.data.buffer, event.data.byteOffset, event.data.byteLength);
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
    for (const earlier of this.#underWay.toReversed()) {
      earlier.advanceToEnd();
      const value = earlier.value(name);
      if (value !== null) return value;
    }
    const hash = stateKeyHash(key);
    const row = await this.#store.seekLast(STATE, hash, encodeU64Key(version));
    return row === undefined ? undefined : decodeStateRow(hash, row).bytes;
  }

  /** One after the newest of the stream, of whatever kind; the handle's count in a stream without events. */
  async #nextSequenceNumber(overlay: ChunkOverlay, body: TranslatedBody): Promise<bigint> {
    const name = streamName(body);
    let last = overlay.lastSequenceNumber(name);
    for (const earlier of this.#underWay.toReversed()) {
      if (last !== undefined) break;
      earlier.advanceToEnd();
      last = earlier.lastSequenceNumber(name);
    }
    last ??= await this.#storedSequenceNumber(body);
    return last === undefined ? body.counter : last + 1n;
  }

  async #storedSequenceNumber(body: TranslatedBody): Promise<bigint | undefined> {
    const head = this.#head ?? (await this.#readHead());
    if (head === undefined) return undefined;
    return await new EventStreamView(this.#store, head, body).lastSequenceNumber();
  }

  async #readHead(): Promise<Head | undefined> {
    const commitsKnown = this.#commitsKnown;
    const head = await readHead(this.#store);
    // Chunks forgotten meanwhile may lie above it: good for this question, not for later ones.
    if (commitsKnown === this.#commitsKnown) this.#head = head;
    return head;
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
