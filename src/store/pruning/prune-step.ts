/**
 * One bounded step of deleting pruned rows. Versions are cleared in ascending order, each completely and in one commit
 * with the progress. The remaining rows depend only on the history and the oldest version (docs/data-layout.md,
 * "Pruning").
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { Batch } from '../batch.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION, EPOCH_END } from '../columns/block-column.ts';
import {
  BLOCKS_BY_VERSION,
  EPOCHS,
  EVENTS,
  MODULE_EVENTS,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import {
  decodeModuleEventRow,
  encodeStreamId,
  moduleEventBounds,
} from '../columns/event-column.ts';
import { bucketEnd, encodeBucketKey, encodeU64Key } from '../columns/order-key.ts';
import {
  type PinnedAccounts,
  PRUNE_PROGRESS,
  type PruneProgress,
} from '../columns/pruning-column.ts';
import { decoding } from '../columns/row-codec.ts';
import { indexRows } from '../columns/transaction-index-column.ts';
import { type VersionWrites, WRITES_OF_VERSION } from '../columns/version-writes-column.ts';
import { endOfVersions, versionRows } from '../read/version-rows.ts';
import { rowsBetween, type StoreReader } from '../store.ts';
import { RowDamagedError } from '../store-error.ts';
import { clearTypeWindows, EventTypeIndex } from '../write/event-type-index.ts';
import { type Retained, SupersededState } from './superseded-state.ts';

export interface PruneBounds {
  /** The step ends after the version with which the counted rows reach this number. */
  readonly maxRows: number;
  /** No more versions are read after this many milliseconds. */
  readonly maxMs: number;
}

interface PruneStepResult {
  readonly batch: Batch;
  readonly progress: PruneProgress;
}

/** Longest time between two turns of the event loop, in milliseconds. */
const MAX_TURN_MS = 5;

/**
 * Builds the changes of one step, which clears at least one version unless all are cleared. Each key, stream and bucket
 * has one range: on an engine that shows a commit part by part, an older row must not remain where newer ones are gone.
 * @param oldestVersion that of the head; everything below it is deleted
 * @throws RowDamagedError for rows that do not decode or are missing; nothing is deleted by guess
 */
export async function makePruneStep(
  store: StoreReader,
  progress: PruneProgress,
  oldestVersion: bigint,
  retained: Retained,
  bounds: PruneBounds,
): Promise<PruneStepResult> {
  const startedMs = performance.now();
  const step = new PruneStep(store, progress, oldestVersion, retained);
  while (step.nextVersion < oldestVersion) {
    await step.clearVersions(bounds.maxRows);
    if (step.rows >= bounds.maxRows || performance.now() - startedMs >= bounds.maxMs) break;
  }
  return step.finish();
}

const NO_WRITES: VersionWrites = { keys: [], events: [] };

class PruneStep {
  readonly #store: StoreReader;
  readonly #oldestVersion: bigint;
  readonly #accounts: PinnedAccounts;
  readonly #batch = new Batch();
  readonly #accumulator: MerkleAccumulator;
  readonly #state: SupersededState;
  readonly #first: bigint;
  readonly #firstEvents = new Map<string, bigint>();
  readonly #types = new EventTypeIndex();
  /** Number of cleared rows: one for each version, and those that it wrote. */
  #rows = 0;
  #turnMs = performance.now();

  constructor(
    store: StoreReader,
    progress: PruneProgress,
    oldestVersion: bigint,
    retained: Retained,
  ) {
    const { clearedBelow, frozenRoots } = progress;
    this.#store = store;
    this.#first = clearedBelow;
    this.#oldestVersion = oldestVersion;
    this.#accounts = retained.accounts;
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', clearedBelow, frozenRoots);
    this.#state = new SupersededState(store, this.#batch, retained);
  }

  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  get rows(): number {
    return this.#rows;
  }

  async finish(): Promise<PruneStepResult> {
    const { leafCount: clearedBelow, frozenSubtreeRoots: frozenRoots } = this.#accumulator;
    const progress = { clearedBelow, frozenRoots };
    this.#deleteVersions();
    for (const [name, first] of this.#firstEvents) {
      const to = encodeU64Key(first - 1n);
      this.#batch.deleteRange(EVENTS, Buffer.from(name, 'latin1'), { to });
    }
    this.#state.finish();
    await clearTypeWindows(this.#batch, this.#store, this.#types.windows, clearedBelow);
    PRUNE_PROGRESS.publish(this.#batch, undefined, progress);
    return { batch: this.#batch, progress };
  }

  /** Clears at least one of the next versions: deletes everything of it that nothing retained needs. */
  async clearVersions(maxRows: number): Promise<void> {
    const store = this.#store;
    const first = this.nextVersion;
    const end = endOfVersions(first, this.#oldestVersion);
    const [infos, writes, transactions, blocks, typed, oldest] = await Promise.all([
      versionRows(store, TRANSACTION_INFOS, first, end),
      versionRows(store, VERSION_WRITES, first, end),
      versionRows(store, TRANSACTIONS, first, end),
      versionRows(store, BLOCKS_BY_VERSION, first, end),
      typesByVersion(store, first, end),
      end === this.#oldestVersion ? WRITES_OF_VERSION.get(store, end) : undefined,
    ]);
    const cleared = new Map<bigint, VersionWrites>();
    while (this.nextVersion < end && (this.nextVersion === first || this.rows < maxRows)) {
      const version = this.nextVersion;
      const key = encodeBucketKey(version);
      const info = infos.get(version);
      if (info === undefined) throw new RowDamagedError(TRANSACTION_INFOS, key, 'it is missing');
      const row = writes.get(version);
      const written = row === undefined ? NO_WRITES : WRITES_OF_VERSION.decode(key, row);
      cleared.set(version, written);
      this.#clearTransaction(version, info, transactions.get(version));
      const block = blocks.get(version);
      if (block !== undefined) {
        BLOCK_BY_HEIGHT.delete(this.#batch, BLOCK_BY_VERSION.decode(key, block).height);
      }
      this.#rows += 1 + written.keys.length + written.events.length;
      this.#accumulator.append(transactionInfoHash(info));
    }
    this.#clearEvents(cleared);
    for (const [version, typeTag] of typed) {
      if (version < this.nextVersion) this.#types.add(version, typeTag);
    }
    // The oldest version itself is retained; what it superseded is deleted.
    if (this.nextVersion === this.#oldestVersion) cleared.set(end, oldest ?? NO_WRITES);
    await this.#pause();
    await this.#state.clear(cleared);
    await this.#pause();
  }

  /** Deletes the rows of columns by version, with one range for each bucket. */
  #deleteVersions(): void {
    const last = this.nextVersion - 1n;
    for (let first = this.#first; first <= last; first = bucketEnd(first) + 1n) {
      const end = bucketEnd(first);
      const from = encodeBucketKey(first);
      const to = encodeBucketKey(end < last ? end : last);
      const bounds = { from: from.order, to: to.order };
      for (const column of [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES, BLOCKS_BY_VERSION]) {
        this.#batch.deleteRange(column, from.partition, bounds);
      }
      this.#batch.deleteRange(MODULE_EVENTS, ...moduleEventBounds(from, to));
    }
    const { partition, order } = EPOCH_END.keyOf(last);
    this.#batch.deleteRange(EPOCHS, partition, { to: order });
  }

  #clearTransaction(version: bigint, info: Buffer, bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    const key = encodeBucketKey(version);
    const rows = decoding(TRANSACTIONS, key, () => indexRows(version, info, bytes));
    for (const { column, partition, order } of rows) this.#batch.delete(column, partition, order);
  }

  /** Notes what events supersede, which is all earlier events of their streams. */
  #clearEvents(writes: ReadonlyMap<bigint, VersionWrites>): void {
    for (const [version, { events }] of writes) {
      for (const event of events) {
        const since = this.#accounts.get(event.address);
        // Even the events of the version from which the history is complete do not supersede earlier ones.
        if (since !== undefined && version >= since) continue;
        if (event.sequenceNumber === 0n) continue;
        this.#firstEvents.set(encodeStreamId(event).toString('latin1'), event.sequenceNumber);
      }
    }
  }

  /** An embedded store responds synchronously. Without this, requests would wait for the whole step. */
  async #pause(): Promise<void> {
    if (performance.now() - this.#turnMs < MAX_TURN_MS) return;
    await nextTurn();
    this.#turnMs = performance.now();
  }
}

/** Version and type of the module events of several versions that share a bucket. @throws RowDamagedError */
async function typesByVersion(
  store: StoreReader,
  first: bigint,
  end: bigint,
): Promise<(readonly [version: bigint, typeTag: Buffer])[]> {
  const [partition, bounds] = moduleEventBounds(encodeBucketKey(first), encodeBucketKey(end - 1n));
  const types: (readonly [bigint, Buffer])[] = [];
  for await (const row of rowsBetween(store, MODULE_EVENTS, partition, bounds)) {
    const { version, typeTag } = decodeModuleEventRow({ partition, ...row });
    types.push([version, typeTag]);
  }
  return types;
}
