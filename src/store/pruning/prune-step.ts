/**
 * One bounded step of deleting pruned rows. Versions are cleared in ascending order, each completely and in one commit
 * with the progress: whatever a version wrote superseded an older row (version-writes-column.ts, docs/spec/ledger.md
 * §5.6).
 *
 * The remaining rows depend only on the history and the oldest version, not on the number of steps or runs: of each
 * key its newest write at or below the oldest version, unless that is a deletion; of each stream its newest event below
 * it, which shows that there were events; and all of pinned accounts. So the rows of a key are always the end of its
 * history: a row that is found is right at any version, only absence can mean "pruned".
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { addressFromBytes } from '../../move/types/address.ts';
import { Batch } from '../batch.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION, EPOCH_END } from '../columns/block-column.ts';
import {
  type Column,
  EPOCHS,
  EVENTS,
  MODULE_EVENTS,
  type Row,
  type RowKey,
  STATE,
  STATE_KEYS,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import { encodeStreamId, moduleEventBounds } from '../columns/event-column.ts';
import { encodeBucketKey, encodeU64Key } from '../columns/order-key.ts';
import {
  type PinnedAccounts,
  PRUNE_PROGRESS,
  type PruneProgress,
} from '../columns/pruning-column.ts';
import { decoding } from '../columns/row-codec.ts';
import { decodeStateRow, type StateEntry } from '../columns/state-column.ts';
import { rowsOfKey } from '../columns/state-key-column.ts';
import { indexRows } from '../columns/transaction-index-column.ts';
import {
  type EmittedEvent,
  WRITES_OF_VERSION,
  type WrittenKey,
} from '../columns/version-writes-column.ts';
import { rowsBetween, type StoreReader } from '../store.ts';
import { keyText, RowDamagedError } from '../store-error.ts';

export interface PruneBounds {
  readonly maxRows: number;
  /** The step ends with the version that is reached after this many milliseconds. */
  readonly maxMs: number;
}

/**
 * For a key under another address, the version from which a pinned account retains it, `undefined` if none does: the
 * store does not know the owners of objects.
 * @param entries writes of the key, the newest first
 */
export type PinnedObject = (key: WrittenKey, entries: readonly StateEntry[]) => bigint | undefined;

interface Retained {
  readonly accounts: PinnedAccounts;
  readonly objectSince: PinnedObject;
}

interface PruneStepResult {
  readonly batch: Batch;
  readonly progress: PruneProgress;
}

/** Longest time between two turns of the event loop, in milliseconds. */
const MAX_TURN_MS = 5;

/**
 * Makes the changes of one step: at least one version, or the end of the work.
 * @param oldestVersion the head's: everything below goes
 * @throws RowDamagedError for rows that do not decode or are missing: nothing is deleted by guess
 */
export async function makePruneStep(
  store: StoreReader,
  progress: PruneProgress,
  oldestVersion: bigint,
  retained: Retained,
  bounds: PruneBounds,
): Promise<PruneStepResult> {
  const startedMs = performance.now();
  let turnMs = startedMs;
  const step = new PruneStep(store, progress, retained);
  while (step.nextVersion < oldestVersion) {
    await step.clearVersion();
    const nowMs = performance.now();
    const isFull = step.batch.size >= bounds.maxRows || nowMs - startedMs >= bounds.maxMs;
    if (isFull && step.nextVersion < oldestVersion) return step.finish();
    // An embedded store answers at once: without this, requests would wait for the whole step.
    if (nowMs - turnMs >= MAX_TURN_MS) {
      await nextTurn();
      turnMs = performance.now();
    }
  }
  await step.clearSupersededAt(oldestVersion);
  return step.finish();
}

class PruneStep {
  readonly #store: StoreReader;
  readonly #retained: Retained;
  readonly batch = new Batch();
  readonly #accumulator: MerkleAccumulator;
  /** By key hash, the newest version in this step that wrote the key: older rows are done with. */
  readonly #cleared = new Map<string, bigint>();
  /** By stream, the first event that this step has left. */
  readonly #clearedEvents = new Map<string, bigint>();
  readonly #deletedKeyRows = new Set<string>();

  constructor(store: StoreReader, progress: PruneProgress, retained: Retained) {
    const { clearedBelow, frozenRoots } = progress;
    this.#store = store;
    this.#retained = retained;
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', clearedBelow, frozenRoots);
  }

  /** The lowest version that is not cleared. */
  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  finish(): PruneStepResult {
    const { leafCount: clearedBelow, frozenSubtreeRoots: frozenRoots } = this.#accumulator;
    const progress = { clearedBelow, frozenRoots };
    PRUNE_PROGRESS.publish(this.batch, undefined, progress);
    return { batch: this.batch, progress };
  }

  /** Deletes everything of the next version that nothing retained needs. */
  async clearVersion(): Promise<void> {
    const version = this.nextVersion;
    const key = encodeBucketKey(version);
    const { partition, order } = key;
    const info = await this.#store.get(TRANSACTION_INFOS, partition, order);
    if (info === undefined) throw new RowDamagedError(TRANSACTION_INFOS, key, 'it is missing');
    const writes = await WRITES_OF_VERSION.get(this.#store, version);
    for (const written of writes?.keys ?? []) await this.#clearKey(written, version);
    for (const event of writes?.events ?? []) await this.#clearEventsBefore(event, version);
    if (writes !== undefined) this.#delete(VERSION_WRITES, key);
    for await (const row of rowsBetween(this.#store, MODULE_EVENTS, ...moduleEventBounds(key))) {
      this.batch.delete(MODULE_EVENTS, partition, row.order);
    }
    const block = await BLOCK_BY_VERSION.get(this.#store, version);
    if (block !== undefined) {
      this.#delete(BLOCK_BY_VERSION.column, key);
      this.#delete(BLOCK_BY_HEIGHT.column, encodeBucketKey(block.height));
    }
    if ((await EPOCH_END.get(this.#store, version)) !== undefined) {
      this.#delete(EPOCHS, EPOCH_END.keyOf(version));
    }
    await this.#clearTransaction(version, key, info);
    this.#delete(TRANSACTION_INFOS, key);
    this.#accumulator.append(transactionInfoHash(info));
  }

  /** Deletes the values that a version superseded; the version itself stays. */
  async clearSupersededAt(version: bigint): Promise<void> {
    const writes = await WRITES_OF_VERSION.get(this.#store, version);
    for (const written of writes?.keys ?? []) await this.#clearKey(written, version);
  }

  /** Deletes a whole transaction, where it is stored, and its rows in the indexes. */
  async #clearTransaction(version: bigint, key: RowKey, info: Buffer): Promise<void> {
    const bytes = await this.#store.get(TRANSACTIONS, key.partition, key.order);
    if (bytes === undefined) return;
    this.#delete(TRANSACTIONS, key);
    for (const row of decoding(TRANSACTIONS, key, () => indexRows(version, info, bytes))) {
      this.#delete(row.column, row);
    }
  }

  #delete(column: Column, { partition, order }: RowKey): void {
    this.batch.delete(column, partition, order);
  }

  async #clearKey(key: WrittenKey, version: bigint): Promise<void> {
    if (this.#isRetainedAt(key.owner, version)) return;
    const name = key.hash.toString('latin1');
    const cleared = this.#cleared.get(name);
    const from = cleared === undefined ? undefined : encodeU64Key(cleared);
    const bounds = { from, to: encodeU64Key(version) };
    const rows: Row[] = [];
    for await (const row of rowsBetween(this.#store, STATE, key.hash, bounds)) rows.push(row);
    const entries = rows.map((row) => decodeStateRow(key.hash, row)).reverse();
    if (this.#retained.accounts.size > 0) {
      const since = this.#retained.objectSince(key, entries);
      if (since !== undefined && version > since) return;
    }
    this.#cleared.set(name, version);
    const newest = entries[0];
    for (const row of rows) {
      const isNewest = row === rows[rows.length - 1];
      if (!isNewest || newest?.bytes === undefined) this.batch.delete(STATE, key.hash, row.order);
    }
    if (newest?.deletedKey !== undefined) await this.#forgetKey(key.hash, newest, version);
  }

  /** A key whose last row is deleted is unknown until it is written again. */
  async #forgetKey(hash: Buffer, deletion: StateEntry, version: bigint): Promise<void> {
    const from = encodeU64Key(version + 1n);
    const later = await this.#store.range(STATE, hash, { from, limit: 1 });
    if (later.length > 0) return;
    // The end of a long key first, then the branches to which nothing else is attached.
    for (const row of rowsOfKey(deletion.deletedKey!, hash).toReversed()) {
      this.#delete(row.column, row);
      this.#deletedKeyRows.add(keyText(row));
      if (row.column === STATE_KEYS || (await this.#hasKeys(row))) return;
    }
  }

  /** Whether the partition of a key's row has rows that this step does not delete. */
  async #hasKeys({ column, partition }: RowKey & { readonly column: Column }): Promise<boolean> {
    for await (const { order } of rowsBetween(this.#store, column, partition, {})) {
      if (!this.#deletedKeyRows.has(keyText({ partition, order }))) return true;
    }
    return false;
  }

  /** Deletes what an event supersedes: the events of its stream before it. */
  async #clearEventsBefore(event: EmittedEvent, version: bigint): Promise<void> {
    const { address, sequenceNumber } = event;
    const since = this.#retained.accounts.get(address);
    // Not even those of the version from which a history is complete.
    if (sequenceNumber === 0n || (since !== undefined && version >= since)) return;
    const partition = encodeStreamId(event);
    const name = partition.toString('latin1');
    const to = encodeU64Key(sequenceNumber - 1n);
    const from = encodeU64Key(this.#clearedEvents.get(name) ?? 0n);
    this.#clearedEvents.set(name, sequenceNumber);
    for await (const { order } of rowsBetween(this.#store, EVENTS, partition, { from, to })) {
      this.batch.delete(EVENTS, partition, order);
    }
  }

  /** Rows superseded before the version from which a history is complete do not belong to it. */
  #isRetainedAt(owner: Buffer, version: bigint): boolean {
    if (this.#retained.accounts.size === 0) return false;
    const since = this.#retained.accounts.get(addressFromBytes(owner));
    return since !== undefined && version > since;
  }
}
