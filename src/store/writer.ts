/**
 * The one way into the store: chunks in, one durable commit each, rows first and the head last. One writer at a time
 * per store; it works on its chunks one after the other, however they are handed in.
 */
import { BcsError } from '../move/bcs-reader.ts';
import type { MaybePromise } from '../move/module/lookup.ts';
import { parsePhysicalStateKey, stateKeyHash } from '../move/state-key.ts';
import { accountKeySegments, putAccountKey } from './account-key-column.ts';
import { Batch } from './batch.ts';
import { type Block, putBlock, putEpochEnd } from './block-column.ts';
import {
  type Chunk,
  type ChunkTransaction,
  checkBlocks,
  checkChunk,
  headAfter,
  lastVersionOf,
  type StateWrite,
} from './chunk.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  type Column,
  STATE_KEYS,
  TRANSACTION_INFOS,
} from './columns.ts';
import { putEvent, putModuleEvent } from './event-column.ts';
import { type Head, publishHead, readHead } from './head.ts';
import {
  encodeLedgerIdentity,
  type LedgerIdentity,
  putLedgerIdentity,
  readLedgerIdentity,
} from './identity-column.ts';
import { andThen } from './maybe-promise.ts';
import { encodeBucketKey, NO_ORDER } from './order-key.ts';
import { putState } from './state-column.ts';
import { isAccountKey, MAX_STATE_KEY_BYTES, ownerOfKey, putStateKey } from './state-key-column.ts';
import { MAX_GET_MANY_KEYS, type RowKey, type Store, type StoreReader } from './store.ts';
import { ChunkError, RowDamagedError, StoreError } from './store-error.ts';
import { putTransaction, putTransactionInfo } from './transaction-column.ts';
import { type EmittedEvent, putVersionWrites, type WrittenKey } from './version-writes-column.ts';

/** What became of a chunk. */
export interface AppendResult {
  /** `already_there`: all of its versions were committed before, with the same infos; nothing was written. */
  readonly outcome: 'committed' | 'already_there';
  readonly head: Head;
  /** Rows and bytes of the commit. */
  readonly rows: number;
  readonly bytes: number;
}

/** Whether a store holds no ledger yet. */
export function isEmpty(store: StoreReader): MaybePromise<boolean> {
  return andThen(readHead(store), (head) => head === undefined);
}

/** A key that a chunk may bring for the first time. */
interface CandidateKey {
  readonly physical: Buffer;
  readonly hash: Buffer;
  readonly version: bigint;
}

/** Appends to the ledger of one store. */
export class LedgerWriter {
  readonly #store: Store;
  #head: Head | undefined;
  #identity: LedgerIdentity | undefined;
  /** Settles when the work handed in so far is done; never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, head: Head | undefined, identity: LedgerIdentity | undefined) {
    this.#store = store;
    this.#head = head;
    this.#identity = identity;
  }

  /** Reads where the ledger stands. @throws RowDamagedError */
  static async open(store: Store): Promise<LedgerWriter> {
    const head = await readHead(store);
    return new LedgerWriter(store, head, await readLedgerIdentity(store));
  }

  /** The head of the last commit; `undefined` before genesis. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** What ledger this is; `undefined` before genesis. */
  get identity(): LedgerIdentity | undefined {
    return this.#identity;
  }

  /**
   * Commits a chunk that follows the head; the first one is genesis. Resolves when it is on disk and visible. A chunk
   * whose versions are all there already is compared by its infos and not written again. After a failure the head
   * is unchanged and the same chunk may be handed in again.
   * @throws ChunkError when it does not fit; StoreFullError and the others of Store.commit.
   */
  append(chunk: Chunk): Promise<AppendResult> {
    return this.#inTurn(() => this.#append(chunk));
  }

  /**
   * Publishes that nothing below the beginning of `block` may be asked for any more. Deleting comes afterwards.
   * @throws RangeError when that lies below what is published already, or above the head.
   */
  advanceOldest(block: Pick<Block, 'firstVersion' | 'height'>): Promise<Head> {
    return this.#inTurn(async () => {
      const head = this.#head;
      if (head === undefined) throw new StoreError('ledger_empty', 'there is nothing to prune');
      if (block.firstVersion < head.oldestVersion || block.firstVersion > head.version) {
        throw new RangeError(
          `oldest version ${block.firstVersion} is outside ${head.oldestVersion} to ${head.version}`,
        );
      }
      const next = {
        ...head,
        oldestVersion: block.firstVersion,
        oldestBlockHeight: block.height,
      };
      const batch = new Batch();
      publishHead(batch, next);
      await this.#store.commit(batch);
      this.#head = next;
      return next;
    });
  }

  /** Runs other changes of this store between two chunks, never beside one: deleting what was pruned. */
  commitBetween(batch: Batch): Promise<void> {
    return this.#inTurn(() => this.#store.commit(batch));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #append(chunk: Chunk): Promise<AppendResult> {
    checkChunk(chunk);
    const head = this.#head;
    if (head !== undefined && lastVersionOf(chunk) <= head.version) {
      await this.#compare(chunk, head);
      return { outcome: 'already_there', head, rows: 0, bytes: 0 };
    }
    const expected = head === undefined ? 0n : head.version + 1n;
    if (chunk.firstVersion !== expected) {
      const detail = `the chunk does not continue the ledger, version ${expected} comes next`;
      throw new ChunkError('chunk_not_continuous', chunk.firstVersion, detail);
    }
    checkBlocks(chunk, head);
    const identity = chunk.identity ?? this.#identity;
    if (identity === undefined) throw new RangeError('a ledger without identity');
    const batch = new Batch();
    if (chunk.identity !== undefined) putLedgerIdentity(batch, chunk.identity);
    const next = headAfter(chunk, head);
    const keys = putTransactions(batch, chunk, identity);
    await this.#putNewKeys(batch, keys);
    for (const block of chunk.blocks) putBlock(batch, block);
    for (const epochEnd of chunk.epochEnds) putEpochEnd(batch, epochEnd);
    publishHead(batch, next);
    await this.#store.commit(batch);
    this.#head = next;
    this.#identity = identity;
    return { outcome: 'committed', head: next, rows: batch.size, bytes: batch.byteLength };
  }

  /** Files the keys that no earlier version wrote. */
  async #putNewKeys(batch: Batch, candidates: Iterable<CandidateKey>): Promise<void> {
    const byColumn = new Map<Column, { keys: RowKey[]; of: CandidateKey[] }>(
      [ACCOUNT_KEYS, ACCOUNT_KEY_TAILS, STATE_KEYS].map((column) => [column, { keys: [], of: [] }]),
    );
    for (const candidate of candidates) {
      const { column, partition, order } = rowOfKey(candidate);
      const list = byColumn.get(column)!;
      list.keys.push({ partition, order });
      list.of.push(candidate);
    }
    for (const [column, { keys, of }] of byColumn) {
      const present = await getAll(this.#store, column, keys);
      of.forEach((candidate, index) => {
        if (present[index] === undefined) putNewKey(batch, candidate);
      });
    }
  }

  /** Compares a chunk with what is there by the infos, which cover everything else by hashes. */
  async #compare(chunk: Chunk, head: Head): Promise<void> {
    const { firstVersion, transactions, identity } = chunk;
    if (identity !== undefined && !sameIdentity(identity, this.#identity)) {
      throw new ChunkError('chunk_identity', 0n, 'the chunk belongs to another ledger');
    }
    const keys = transactions.map((_, index) => encodeBucketKey(firstVersion + BigInt(index)));
    const stored = await getAll(this.#store, TRANSACTION_INFOS, keys);
    transactions.forEach(({ info }, index) => {
      const version = firstVersion + BigInt(index);
      const there = stored[index];
      if (there === undefined) throw missingInfo(version, head, keys[index]!);
      if (Buffer.compare(there, info) !== 0) {
        const detail = 'the chunk’s info differs from the one committed: another history';
        throw new ChunkError('chunk_contradicts', version, detail);
      }
    });
  }
}

/** Puts what belongs to single versions. @returns each state key written, with the first version that did. */
function putTransactions(
  batch: Batch,
  chunk: Chunk,
  identity: LedgerIdentity,
): Iterable<CandidateKey> {
  const candidates = new Map<string, CandidateKey>();
  chunk.transactions.forEach((transaction, index) => {
    const version = chunk.firstVersion + BigInt(index);
    putTransactionInfo(batch, version, transaction.info);
    if (identity.keepsTransactions) {
      if (transaction.transaction === undefined) {
        const detail = 'this ledger keeps transactions, the chunk has none here';
        throw new ChunkError('chunk_transaction_missing', version, detail);
      }
      putTransaction(batch, version, transaction.transaction);
    }
    const keys = putWrites(batch, version, transaction.writes, candidates);
    const events = putEvents(batch, version, transaction);
    putVersionWrites(batch, version, { keys, events });
  });
  return candidates.values();
}

function putWrites(
  batch: Batch,
  version: bigint,
  writes: readonly StateWrite[],
  candidates: Map<string, CandidateKey>,
): WrittenKey[] {
  return writes.map(({ key, value, metadata }) => {
    const name = key.toString('latin1');
    let candidate = candidates.get(name);
    if (candidate === undefined) {
      checkStateKey(key, version);
      candidate = { physical: key, hash: stateKeyHash(key), version };
      candidates.set(name, candidate);
    }
    putState(batch, candidate.hash, version, value, metadata);
    return { hash: candidate.hash, owner: ownerOfKey(key) };
  });
}

function putEvents(batch: Batch, version: bigint, transaction: ChunkTransaction): EmittedEvent[] {
  const emitted: EmittedEvent[] = [];
  transaction.events.forEach((event, index) => {
    if (event.kind === 'module') {
      putModuleEvent(batch, { version, index }, event);
    } else {
      putEvent(batch, event, event.sequenceNumber, { version, index }, event);
      emitted.push(event);
    }
  });
  for (const event of transaction.translatedEvents ?? []) {
    putEvent(batch, event, event.sequenceNumber, { version, index: event.index }, event);
    emitted.push(event);
  }
  return emitted;
}

/** @throws ChunkError when bytes are no physical state key: listings and `verify` could not read them back. */
function checkStateKey(key: Buffer, version: bigint): void {
  if (key.length > MAX_STATE_KEY_BYTES) {
    const detail = `a state key of ${key.length} bytes, at most ${MAX_STATE_KEY_BYTES} are stored`;
    throw new ChunkError('chunk_state_key', version, detail);
  }
  try {
    parsePhysicalStateKey(key);
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    throw new ChunkError('chunk_state_key', version, `a malformed state key: ${error.message}`);
  }
}

/** The row that is there exactly when a key is known. */
function rowOfKey({ physical, hash }: CandidateKey): RowKey & { readonly column: Column } {
  if (!isAccountKey(physical)) return { column: STATE_KEYS, partition: hash, order: NO_ORDER };
  const segments = accountKeySegments(physical);
  return segments[segments.length - 1]!;
}

function putNewKey(batch: Batch, { physical, hash, version }: CandidateKey): void {
  if (isAccountKey(physical)) putAccountKey(batch, physical, version);
  else putStateKey(batch, hash, physical);
}

/** `getMany` for any number of keys. */
async function getAll(
  store: StoreReader,
  column: Column,
  keys: readonly RowKey[],
): Promise<(Buffer | undefined)[]> {
  const found: (Buffer | undefined)[] = [];
  for (let at = 0; at < keys.length; at += MAX_GET_MANY_KEYS) {
    const part = await store.getMany(column, keys.slice(at, at + MAX_GET_MANY_KEYS));
    for (const value of part) found.push(value);
  }
  return found;
}

function sameIdentity(a: LedgerIdentity, b: LedgerIdentity | undefined): boolean {
  return b !== undefined && encodeLedgerIdentity(a).equals(encodeLedgerIdentity(b));
}

function missingInfo(version: bigint, head: Head, key: RowKey): StoreError {
  if (version < head.oldestVersion) {
    const detail = 'pruned here, so the chunk cannot be compared';
    return new ChunkError('chunk_pruned', version, detail);
  }
  return new RowDamagedError(TRANSACTION_INFOS.name, key.partition, key.order, 'it is missing');
}
