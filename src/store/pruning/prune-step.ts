/**
 * One bounded step of deleting what was pruned. Versions are cleared in ascending order, each whole
 * and in one commit with the progress: what a version wrote is what it superseded
 * (version-writes-column.ts, docs/spec/ledger.md §5.6).
 *
 * What stays is a function of the history and the oldest version alone, however many steps and runs
 * it took: of each key its newest write at or below the oldest version, unless that is a deletion;
 * of each stream its newest event below it, which says that there were events; and all of accounts
 * whose history is kept. So the rows of a key are always the end of its history: a row that is
 * found is right at any version, only absence can mean "pruned".
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { addressFromBytes } from '../../move/types/address.ts';
import { Batch } from '../batch.ts';
import { accountKeySegments } from '../columns/account-key-column.ts';
import { decodeBlock, EPOCHS_PARTITION } from '../columns/block-column.ts';
import {
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  type Column,
  EPOCHS,
  EVENTS,
  MODULE_EVENTS,
  STATE,
  STATE_KEYS,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import { encodeStreamId } from '../columns/event-column.ts';
import {
  BUCKET_INDEX_BYTES,
  type BucketKey,
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
  NO_ORDER,
} from '../columns/order-key.ts';
import {
  type KeptAccounts,
  type PruneProgress,
  putPruneProgress,
} from '../columns/pruning-column.ts';
import { decodeStateRow, type StateEntry } from '../columns/state-column.ts';
import { isAccountKey } from '../columns/state-key-column.ts';
import {
  decodeVersionWrites,
  type EmittedEvent,
  type WrittenKey,
} from '../columns/version-writes-column.ts';
import type { Row, StoreReader } from '../store.ts';
import { RowDamagedError } from '../store-error.ts';

/** How much one step does. */
export interface PruneBounds {
  /** The step ends with the version that reaches so many changes of rows. */
  readonly maxRows: number;
  /** The step ends with the version that is reached after so many milliseconds. */
  readonly maxMs: number;
}

/**
 * Says for which kept account a key is kept that lies under another address: the one store cannot
 * know what belongs to whom. Gives the version from which it is kept, `undefined` when it is not.
 * @param entries writes of the key, the newest first
 */
export type KeptObject = (key: WrittenKey, entries: readonly StateEntry[]) => bigint | undefined;

/** What is kept beside the newest versions. */
export interface Kept {
  readonly accounts: KeptAccounts;
  readonly objectSince: KeptObject;
}

/** What a step has done. */
export interface PruneStepResult {
  readonly batch: Batch;
  readonly progress: PruneProgress;
  /** Rows changed. */
  readonly rows: number;
}

/** Longest time between two turns of the event loop, in milliseconds. */
const MAX_TURN_MS = 5;
/** Rows of a key or stream that are read at once. */
const PAGE_ROWS = 64;

/**
 * Makes the changes of one step: at least one version, or the end of the work.
 * @param oldestVersion the head's: everything below goes
 * @throws RowDamagedError for rows that do not decode or are missing: nothing is deleted by guess
 */
export async function makePruneStep(
  store: StoreReader,
  progress: PruneProgress,
  oldestVersion: bigint,
  kept: Kept,
  bounds: PruneBounds,
): Promise<PruneStepResult> {
  const startedMs = performance.now();
  let turnMs = startedMs;
  const step = new PruneStep(store, progress, kept);
  while (step.nextVersion < oldestVersion) {
    await step.clearVersion();
    const nowMs = performance.now();
    const isFull = step.rows >= bounds.maxRows || nowMs - startedMs >= bounds.maxMs;
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
  readonly #kept: Kept;
  readonly #batch = new Batch();
  readonly #accumulator: MerkleAccumulator;
  /** By key hash, the newest version in this step that wrote the key: older rows are done with. */
  readonly #cleared = new Map<string, bigint>();
  /** By stream, the first event that this step has left. */
  readonly #clearedEvents = new Map<string, bigint>();
  /** Rows of account_keys and account_key_tails that this step deletes. */
  readonly #deletedSegments = new Set<string>();

  constructor(store: StoreReader, progress: PruneProgress, kept: Kept) {
    const { clearedBelow, frozenRoots } = progress;
    this.#store = store;
    this.#kept = kept;
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', clearedBelow, frozenRoots);
  }

  /** The lowest version that is not cleared. */
  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  get rows(): number {
    return this.#batch.size;
  }

  finish(): PruneStepResult {
    const progress = {
      clearedBelow: this.nextVersion,
      frozenRoots: this.#accumulator.frozenSubtreeRoots,
    };
    putPruneProgress(this.#batch, progress);
    return { batch: this.#batch, progress, rows: this.rows };
  }

  /** Deletes everything of the next version that nothing kept needs. */
  async clearVersion(): Promise<void> {
    const version = this.nextVersion;
    const key = encodeBucketKey(version);
    const { partition, order } = key;
    const info = await this.#store.get(TRANSACTION_INFOS, partition, order);
    if (info === undefined) {
      throw new RowDamagedError(TRANSACTION_INFOS.name, partition, order, 'it is missing');
    }
    const writes = await this.#writesOf(key);
    for (const written of writes?.keys ?? []) await this.#clearKey(written, version);
    for (const event of writes?.events ?? []) await this.#clearEventsBefore(event, version);
    if (writes !== undefined) this.#batch.delete(VERSION_WRITES, partition, order);
    await this.#clearModuleEvents(key);
    await this.#clearBlock(key);
    await this.#deleteIfThere(EPOCHS, EPOCHS_PARTITION, encodeU64Key(version));
    this.#batch.delete(TRANSACTIONS, partition, order);
    this.#batch.delete(TRANSACTION_INFOS, partition, order);
    this.#accumulator.append(transactionInfoHash(info));
  }

  /** Deletes the values that a version superseded, though itself it stays. */
  async clearSupersededAt(version: bigint): Promise<void> {
    const writes = await this.#writesOf(encodeBucketKey(version));
    for (const written of writes?.keys ?? []) await this.#clearKey(written, version);
  }

  async #writesOf({ partition, order }: BucketKey) {
    const value = await this.#store.get(VERSION_WRITES, partition, order);
    return value === undefined ? undefined : decodeVersionWrites(partition, order, value);
  }

  async #clearKey(key: WrittenKey, version: bigint): Promise<void> {
    if (this.#isKeptAt(key.owner, version)) return;
    const name = key.hash.toString('latin1');
    const rows = await this.#stateRows(key.hash, this.#cleared.get(name), version);
    const entries = rows.map((row) => decodeStateRow(key.hash, row)).reverse();
    if (this.#kept.accounts.size > 0) {
      const since = this.#kept.objectSince(key, entries);
      if (since !== undefined && version > since) return;
    }
    this.#cleared.set(name, version);
    const newest = entries[0];
    for (const row of rows) {
      const isNewest = row === rows[rows.length - 1];
      if (!isNewest || newest?.bytes === undefined) this.#batch.delete(STATE, key.hash, row.order);
    }
    if (newest?.deletedKey !== undefined) await this.#forgetKey(key.hash, newest, version);
  }

  /** Rows of a key up to a version, from one on that an earlier write of this step has left. */
  async #stateRows(hash: Buffer, from: bigint | undefined, to: bigint): Promise<readonly Row[]> {
    const rows: Row[] = [];
    const last = encodeU64Key(to);
    let next = from === undefined ? undefined : encodeU64Key(from);
    for (;;) {
      const page = await this.#store.range(STATE, hash, {
        from: next,
        to: last,
        limit: PAGE_ROWS,
      });
      rows.push(...page);
      if (page.length < PAGE_ROWS) return rows;
      next = encodeU64Key(decodeU64Key(page[page.length - 1]!.order) + 1n);
    }
  }

  /** A key whose last row goes is known no more, until it is written again. */
  async #forgetKey(hash: Buffer, deletion: StateEntry, version: bigint): Promise<void> {
    const from = encodeU64Key(version + 1n);
    const later = await this.#store.range(STATE, hash, { from, limit: 1 });
    if (later.length > 0) return;
    const physical = deletion.deletedKey!;
    if (isAccountKey(physical)) await this.#forgetAccountKey(physical);
    else this.#batch.delete(STATE_KEYS, hash, NO_ORDER);
  }

  /** Deletes the end of a long key, and its branches that nothing else hangs on. */
  async #forgetAccountKey(physical: Buffer): Promise<void> {
    for (const { column, partition, order } of accountKeySegments(physical).toReversed()) {
      this.#batch.delete(column, partition, order);
      this.#deletedSegments.add(segmentName(column, partition, order));
      if (await this.#hasSegments(column, partition)) return;
    }
  }

  /** Whether a partition of segments has rows besides those that this step deletes. */
  async #hasSegments(column: Column, partition: Uint8Array): Promise<boolean> {
    let from: Uint8Array | undefined;
    for (;;) {
      const page = await this.#store.range(column, partition, { from, limit: PAGE_ROWS });
      const stays = ({ order }: Row) =>
        !this.#deletedSegments.has(segmentName(column, partition, order));
      if (page.some(stays)) return true;
      if (page.length < PAGE_ROWS) return false;
      from = page[page.length - 1]!.order;
    }
  }

  /** Deletes what an event leaves behind it: the events of its stream before it. */
  async #clearEventsBefore(event: EmittedEvent, version: bigint): Promise<void> {
    const { address, sequenceNumber } = event;
    const since = this.#kept.accounts.get(address);
    // Not even those of the version that a history is whole from.
    if (sequenceNumber === 0n || (since !== undefined && version >= since)) return;
    const partition = encodeStreamId(event);
    const name = partition.toString('latin1');
    const to = encodeU64Key(sequenceNumber - 1n);
    let from = encodeU64Key(this.#clearedEvents.get(name) ?? 0n);
    this.#clearedEvents.set(name, sequenceNumber);
    for (;;) {
      const page = await this.#store.range(EVENTS, partition, { from, to, limit: PAGE_ROWS });
      for (const { order } of page) this.#batch.delete(EVENTS, partition, order);
      if (page.length < PAGE_ROWS) return;
      from = encodeU64Key(decodeU64Key(page[page.length - 1]!.order) + 1n);
    }
  }

  async #clearModuleEvents({ partition, order }: BucketKey): Promise<void> {
    const from = Buffer.concat([order, Buffer.alloc(BUCKET_INDEX_BYTES)]);
    const to = Buffer.concat([order, Buffer.alloc(BUCKET_INDEX_BYTES, 0xff)]);
    for (;;) {
      const page = await this.#store.range(MODULE_EVENTS, partition, {
        from,
        to,
        limit: PAGE_ROWS,
      });
      for (const row of page) this.#batch.delete(MODULE_EVENTS, partition, row.order);
      const last = page[page.length - 1];
      if (last === undefined || page.length < PAGE_ROWS) return;
      last.order.copy(from);
      from.writeUInt32BE(from.readUInt32BE(order.length) + 1, order.length);
    }
  }

  async #clearBlock({ partition, order }: BucketKey): Promise<void> {
    const value = await this.#store.get(BLOCKS_BY_VERSION, partition, order);
    if (value === undefined) return;
    const { height } = decodeBlock(BLOCKS_BY_VERSION, partition, order, value);
    const byHeight = encodeBucketKey(height);
    this.#batch.delete(BLOCKS_BY_VERSION, partition, order);
    this.#batch.delete(BLOCKS_BY_HEIGHT, byHeight.partition, byHeight.order);
  }

  async #deleteIfThere(column: Column, partition: Uint8Array, order: Uint8Array): Promise<void> {
    if ((await this.#store.get(column, partition, order)) === undefined) return;
    this.#batch.delete(column, partition, order);
  }

  /** What was superseded before a history is whole is no part of it. */
  #isKeptAt(owner: Buffer, version: bigint): boolean {
    if (this.#kept.accounts.size === 0) return false;
    const since = this.#kept.accounts.get(addressFromBytes(owner));
    return since !== undefined && version > since;
  }
}

function segmentName(column: Column, partition: Uint8Array, order: Uint8Array): string {
  const text = (bytes: Uint8Array) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return `${column.number} ${text(partition)} ${text(order)}`;
}
