/**
 * Writes chunks to the store. Each chunk is one durable commit, with rows first and the head last. A store has one
 * writer at a time. It handles its chunks one after the other, even if the next one is appended early.
 */
import { isDeepStrictEqual } from 'node:util';
import { Batch } from '../batch.ts';
import type { Block } from '../columns/block-column.ts';
import { type Column, type RowKey, TRANSACTION_INFOS } from '../columns/columns.ts';
import { HEAD_ROW, type Head, readHead } from '../columns/head.ts';
import { LEDGER_IDENTITY, type LedgerIdentity } from '../columns/identity-column.ts';
import { encodeBucketKey } from '../columns/order-key.ts';
import { putKey, rowsOfKey } from '../columns/state-key-column.ts';
import type { Store, StoreReader } from '../store.ts';
import { chunkError, isStoreError, RowDamagedError, StoreError } from '../store-error.ts';
import { putBalances } from './balance-index.ts';
import { type Chunk, checkBlocks, checkChunk, headAfter, lastVersionOf } from './chunk.ts';
import { type ChunkKey, type ChunkRows, chunkRowsInTurns } from './chunk-rows.ts';
import { putEventTypes } from './event-type-index.ts';

interface AppendResult {
  /** `already_there`: all of its versions were committed before, with the same infos; nothing was written. */
  readonly outcome: 'committed' | 'already_there';
  readonly head: Head;
}

export class LedgerWriter {
  readonly #store: Store;
  #head: Head | undefined;
  #identity: LedgerIdentity | undefined;
  /** Whether the last commit failed. It may have been stored all the same. */
  #isUncertain = false;
  /** Settles when the work so far is done; never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, head: Head | undefined, identity: LedgerIdentity | undefined) {
    this.#store = store;
    this.#head = head;
    this.#identity = identity;
  }

  static async open(store: Store): Promise<LedgerWriter> {
    const head = await readHead(store);
    return new LedgerWriter(store, head, await LEDGER_IDENTITY.get(store));
  }

  /** The head of the last commit; `undefined` before genesis. */
  get head(): Head | undefined {
    return this.#head;
  }

  get reader(): StoreReader {
    return this.#store;
  }

  get identity(): LedgerIdentity | undefined {
    return this.#identity;
  }

  /**
   * Commits a chunk that follows the head; the first one is genesis. Resolves when it is on disk and visible. A chunk
   * whose versions all exist already is compared by its infos and not written again. After a failure the same chunk may
   * be appended again: the head is read first, because an engine may have stored what it did not acknowledge.
   * Appending the next chunk before this one has resolved saves time: its rows are built while this one is written.
   * @throws StoreError `chunk_…` when it does not fit, and those of Store.commit.
   */
  async append(chunk: Chunk): Promise<AppendResult> {
    checkChunk(chunk);
    const rows = this.#rowsAhead(chunk);
    // `#append` awaits it. Until then this prevents an unhandled rejection.
    rows?.catch(() => undefined);
    return this.#inTurn(() => this.#append(chunk, rows));
  }

  /** The head, which is read again if the last commit failed. @throws StoreError */
  refresh(): Promise<Head | undefined> {
    return this.#inTurn(() => this.#refresh());
  }

  /**
   * Publishes the first version of `block` as the oldest one that may be read. Rows are deleted afterwards.
   * @throws RangeError when it is below the published oldest version, or above the head.
   */
  advanceOldest(block: Pick<Block, 'firstVersion' | 'height'>): Promise<Head> {
    return this.#inTurn(async () => {
      const head = await this.#refresh();
      if (head === undefined) throw new StoreError('ledger_empty', 'there is nothing to prune');
      if (block.firstVersion < head.oldestVersion || block.firstVersion > head.version) {
        throw new RangeError(
          `oldest version ${block.firstVersion}, not ${head.oldestVersion} to ${head.version}`,
        );
      }
      const oldest = { oldestVersion: block.firstVersion, oldestBlockHeight: block.height };
      return this.#commit(new Batch(), { ...head, ...oldest });
    });
  }

  /**
   * Commits other changes to this store between two chunks, such as deletions of pruned rows. `changes` is called when
   * it is its turn, so what it reads does not change before its batch is committed.
   */
  commitBetween<T extends { readonly batch: Batch }>(changes: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const made = await changes();
      await this.#store.commit(made.batch);
      return made;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Builds rows before the chunk's turn; `undefined` if the chunk exists already or the identity is unknown. */
  #rowsAhead(chunk: Chunk): Promise<ChunkRows> | undefined {
    const isThere = this.#head !== undefined && lastVersionOf(chunk) <= this.#head.version;
    if (this.#identity === undefined || isThere) return undefined;
    return chunkRowsInTurns(chunk, this.#identity);
  }

  async #append(chunk: Chunk, rowsAhead: Promise<ChunkRows> | undefined): Promise<AppendResult> {
    const head = await this.#refresh();
    if (head !== undefined && lastVersionOf(chunk) <= head.version) {
      await this.#compare(chunk, head);
      return { outcome: 'already_there', head };
    }
    const expected = head === undefined ? 0n : head.version + 1n;
    if (chunk.firstVersion !== expected) {
      const detail = `the chunk does not continue the ledger, version ${expected} comes next`;
      throw chunkError('chunk_not_continuous', chunk.firstVersion, detail);
    }
    checkBlocks(chunk, head);
    const identity = chunk.identity ?? this.#identity;
    if (identity === undefined) throw new RangeError('a ledger without identity');
    const rows = await (rowsAhead ?? chunkRowsInTurns(chunk, identity));
    const { batch, keys, balances, typeWindows } = rows;
    if (chunk.identity !== undefined) LEDGER_IDENTITY.put(batch, undefined, chunk.identity);
    await Promise.all([
      this.#putNewKeys(batch, keys),
      putBalances(batch, this.#store, balances, chunk.firstVersion),
      putEventTypes(batch, this.#store, typeWindows, chunk.firstVersion),
    ]);
    const next = await this.#commit(batch, headAfter(chunk, head));
    this.#identity = identity;
    return { outcome: 'committed', head: next };
  }

  async #commit(batch: Batch, head: Head): Promise<Head> {
    HEAD_ROW.publish(batch, undefined, head);
    this.#isUncertain = true;
    await this.#store.commit(batch);
    this.#isUncertain = false;
    this.#head = head;
    return head;
  }

  async #refresh(): Promise<Head | undefined> {
    if (this.#isUncertain) {
      const head = await this.#storedHead();
      this.#identity = await LEDGER_IDENTITY.get(this.#store);
      // A commit that was not acknowledged may still be lost, until a later one is acknowledged.
      if (head !== undefined && !isDeepStrictEqual(head, this.#head)) {
        await this.#commit(new Batch(), head);
      }
      this.#head = head;
      this.#isUncertain = false;
    }
    return this.#head;
  }

  async #storedHead(): Promise<Head | undefined> {
    try {
      return await readHead(this.#store);
    } catch (cause) {
      if (!isStoreError(cause, 'store_behind')) throw cause;
      // A primary never catches up with another server, so the commits are lost.
      throw new StoreError('store_commits_lost', cause.message, { cause });
    }
  }

  async #putNewKeys(batch: Batch, keys: readonly ChunkKey[]): Promise<void> {
    const byColumn = new Map<Column, { ends: RowKey[]; keys: ChunkKey[] }>();
    for (const key of keys) {
      const { column, partition, order } = rowsOfKey(key.physical, key.hash).at(-1)!;
      const requested = byColumn.get(column) ?? { ends: [], keys: [] };
      requested.ends.push({ partition, order });
      requested.keys.push(key);
      byColumn.set(column, requested);
    }
    const columns = [...byColumn].map(async ([column, requested]) => {
      const present = await this.#store.getMany(column, requested.ends);
      for (const [index, { physical, hash, version }] of requested.keys.entries()) {
        if (present[index] !== undefined) continue;
        putKey(batch, rowsOfKey(physical, hash), physical, version);
      }
    });
    await Promise.all(columns);
  }

  /** Compares a chunk with the stored versions by the infos, whose hashes cover everything else. */
  async #compare(chunk: Chunk, head: Head): Promise<void> {
    const { firstVersion, transactions, identity } = chunk;
    if (identity !== undefined && !isDeepStrictEqual(identity, this.#identity)) {
      throw chunkError('chunk_identity', 0n, 'the chunk belongs to another ledger');
    }
    const keys = transactions.map((_, index) => encodeBucketKey(firstVersion + BigInt(index)));
    const stored = await this.#store.getMany(TRANSACTION_INFOS, keys);
    transactions.forEach(({ info }, index) => {
      const version = firstVersion + BigInt(index);
      const there = stored[index];
      if (there === undefined) throw missingInfo(version, head, keys[index]!);
      if (Buffer.compare(there, info) !== 0) {
        const detail = 'the chunk’s info differs from the one committed: another history';
        throw chunkError('chunk_contradicts', version, detail);
      }
    });
  }
}

function missingInfo(version: bigint, head: Head, key: RowKey): StoreError {
  if (version < head.oldestVersion) {
    const detail = 'pruned here, so the chunk cannot be compared';
    return chunkError('chunk_pruned', version, detail);
  }
  return new RowDamagedError(TRANSACTION_INFOS, key, 'it is missing');
}
