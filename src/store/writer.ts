/**
 * The one way into the store: chunks in, one durable commit each, rows first and the head last. One
 * writer at a time per store; it works on its chunks one after the other, however they are handed
 * in.
 */

import type { MaybePromise } from '../maybe-promise.ts';
import { andThen } from '../maybe-promise.ts';
import { putBalances } from './balance-index.ts';
import { Batch } from './batch.ts';
import { type Chunk, checkBlocks, checkChunk, headAfter, lastVersionOf } from './chunk.ts';
import { type ChunkKey, type ChunkRows, chunkRows, putNewKey, rowOfKey } from './chunk-rows.ts';
import type { Block } from './columns/block-column.ts';
import { type Column, TRANSACTION_INFOS } from './columns/columns.ts';
import { type Head, publishHead, readHead } from './columns/head.ts';
import {
  encodeLedgerIdentity,
  type LedgerIdentity,
  putLedgerIdentity,
  readLedgerIdentity,
} from './columns/identity-column.ts';
import { encodeBucketKey } from './columns/order-key.ts';
import { getAll, type RowKey, type Store, type StoreReader } from './store.ts';
import { ChunkError, RowDamagedError, StoreError } from './store-error.ts';

/** What became of a chunk. */
export interface AppendResult {
  /**
   * `already_there`: all of its versions were committed before, with the same infos; nothing was
   * written.
   */
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

  /** The store it writes, to read from. */
  get reader(): StoreReader {
    return this.#store;
  }

  /** What ledger this is; `undefined` before genesis. */
  get identity(): LedgerIdentity | undefined {
    return this.#identity;
  }

  /**
   * Commits a chunk that follows the head; the first one is genesis. Resolves when it is on disk
   * and visible. A chunk whose versions are all there already is compared by its infos and not
   * written again. After a failure the head is unchanged and the same chunk may be handed in again.
   * Handing in the next chunk before this one has resolved is worth while: its rows are made while
   * this one is being written.
   * @throws ChunkError when it does not fit; StoreFullError and the others of Store.commit.
   */
  async append(chunk: Chunk): Promise<AppendResult> {
    checkChunk(chunk);
    const rows = this.#rowsAhead(chunk);
    return this.#inTurn(() => this.#append(chunk, rows));
  }

  /**
   * Publishes that nothing below the beginning of `block` may be asked for any more. Deleting comes
   * afterwards.
   * @throws RangeError when that lies below what is published already, or above the head.
   */
  advanceOldest(block: Pick<Block, 'firstVersion' | 'height'>): Promise<Head> {
    return this.#inTurn(async () => {
      const head = this.#head;
      if (head === undefined) throw new StoreError('ledger_empty', 'there is nothing to prune');
      if (block.firstVersion < head.oldestVersion || block.firstVersion > head.version) {
        throw new RangeError(
          `oldest version ${block.firstVersion}, not ${head.oldestVersion} to ${head.version}`,
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

  /**
   * Runs other changes of this store between two chunks, never beside one: deleting what was
   * pruned. A function is called when it is their turn: what it reads then is as it will be when
   * its changes are made.
   */
  commitBetween(changes: Batch | (() => MaybePromise<Batch>)): Promise<void> {
    return this.#inTurn(async () => {
      const batch = typeof changes === 'function' ? await changes() : changes;
      await this.#store.commit(batch);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /**
   * Rows of a chunk that is not there yet, made before its turn; `undefined` while the ledger is
   * unknown.
   */
  #rowsAhead(chunk: Chunk): ChunkRows | undefined {
    const isThere = this.#head !== undefined && lastVersionOf(chunk) <= this.#head.version;
    if (this.#identity === undefined || isThere) return undefined;
    return chunkRows(chunk, this.#identity);
  }

  async #append(chunk: Chunk, rowsAhead: ChunkRows | undefined): Promise<AppendResult> {
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
    const { batch, keys, balances } = rowsAhead ?? chunkRows(chunk, identity);
    if (chunk.identity !== undefined) putLedgerIdentity(batch, chunk.identity);
    await this.#putNewKeys(batch, keys);
    await putBalances(batch, this.#store, balances, chunk.firstVersion);
    const next = headAfter(chunk, head);
    publishHead(batch, next);
    await this.#store.commit(batch);
    this.#head = next;
    this.#identity = identity;
    return { outcome: 'committed', head: next, rows: batch.size, bytes: batch.byteLength };
  }

  /** Files the keys that no earlier version wrote. */
  async #putNewKeys(batch: Batch, keys: readonly ChunkKey[]): Promise<void> {
    const byColumn = new Map<Column, { rows: RowKey[]; keys: ChunkKey[] }>();
    for (const key of keys) {
      const { column, partition, order } = rowOfKey(key);
      const asked = byColumn.get(column) ?? { rows: [], keys: [] };
      asked.rows.push({ partition, order });
      asked.keys.push(key);
      byColumn.set(column, asked);
    }
    for (const [column, asked] of byColumn) {
      const present = await getAll(this.#store, column, asked.rows);
      asked.keys.forEach((key, index) => {
        if (present[index] === undefined) putNewKey(batch, key);
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
