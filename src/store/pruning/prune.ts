/**
 * Pruning deletes what is older than a policy retains, while others read and write.
 *
 * 1. The new oldest version, the first of a block, is published in the head.
 * 2. Readers that took a head before that get a grace period to finish, counted from the publication. Readers are not
 *    registered, in this process or another. A reader that took longer than half of the grace period reads the head
 *    again before it trusts that a row is missing (src/state/pruning-guard.ts).
 * 3. Rows that no retained version needs are deleted in bounded steps. Each step is one commit between two others,
 *    followed by a pause. A pruner that is stopped or killed resumes where it was (prune-step.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../move/types/address.ts';
import { Batch } from '../batch.ts';
import type { Block } from '../columns/block-column.ts';
import { BLOCKS_BY_HEIGHT } from '../columns/columns.ts';
import { type Head, isBareState } from '../columns/head.ts';
import { encodeBucketKey } from '../columns/order-key.ts';
import {
  MAX_PINNED_ACCOUNTS,
  PINNED_ACCOUNT,
  type PinnedAccounts,
  type PruneProgress,
  READER_GRACE_MS,
  readPinnedAccounts,
  readPruneProgress,
} from '../columns/pruning-column.ts';
import { firstBlockAfter } from '../read/block-search.ts';
import { StoreView } from '../read/view.ts';
import { RowDamagedError, StoreError } from '../store-error.ts';
import type { LedgerWriter } from '../write/writer.ts';
import { makePruneStep, type PruneBounds } from './prune-step.ts';
import type { PinnedObject } from './superseded-state.ts';

/**
 * Bounds of a step in a node that also commits. Other commits wait for the step, a few tenths of a second including its
 * own commit. Requests do not wait. Steps of 50 ms cleared a fifth as many versions, because most of their time was the
 * commit, whose cost depends on pages and not on rows.
 */
const DEFAULT_PRUNE_BOUNDS: PruneBounds = { maxRows: 20_000, maxMs: 250 };
/** Bounds when no other process waits. Rows of neighbouring keys share pages, so larger steps write fewer pages. */
export const OFFLINE_PRUNE_BOUNDS: PruneBounds = { maxRows: 50_000, maxMs: 1_000 };

/** How much history is retained: a version is pruned only if neither bound retains it. */
export interface PrunePolicy {
  readonly versions?: number | undefined;
  /** Seconds before the newest block to retain, by ledger time; 1 or more. */
  readonly seconds?: number | undefined;
}

const USECS_PER_SECOND = 1_000_000n;

interface PrunerOptions {
  /** Which objects belong to pinned accounts. Absent: none. */
  readonly objectsOf?: ((accounts: PinnedAccounts) => PinnedObject) | undefined;
  readonly bounds?: PruneBounds | undefined;
  /** Default READER_GRACE_MS. 0 only for a store that no other process reads. */
  readonly graceMs?: number | undefined;
  /** Pause after a step, as a multiple of the step's duration: 1 leaves half of the time to others. Default 0.5. */
  readonly restFactor?: number | undefined;
  readonly onProgress?: ((progress: PruneProgress, oldestVersion: bigint) => void) | undefined;
}

export interface PruneReport {
  readonly head: Head;
  readonly versions: bigint;
  readonly steps: number;
}

export class Pruner {
  readonly #writer: LedgerWriter;
  readonly #options: PrunerOptions;

  constructor(writer: LedgerWriter, options: PrunerOptions = {}) {
    this.#writer = writer;
    this.#options = options;
  }

  /**
   * Retains the history of accounts from now on; already pinned ones do not change. Pruned data is not restored, so
   * their history is complete from the current oldest version on.
   * @throws StoreError `too_many_kept_accounts`, `ledger_empty`
   */
  async pinAccounts(accounts: Iterable<Address>): Promise<PinnedAccounts> {
    const { reader } = this.#writer;
    const { pinned } = await this.#writer.commitBetween(async () => {
      const { oldestVersion } = this.#head();
      const pinned = new Map(await readPinnedAccounts(reader));
      const batch = new Batch();
      for (const account of accounts) {
        if (pinned.has(account)) continue;
        if (pinned.size === MAX_PINNED_ACCOUNTS) {
          const detail = `at most ${MAX_PINNED_ACCOUNTS} accounts can be pinned`;
          throw new StoreError('too_many_kept_accounts', detail);
        }
        pinned.set(account, oldestVersion);
        PINNED_ACCOUNT.put(batch, account, oldestVersion);
      }
      return { batch, pinned };
    });
    return pinned;
  }

  /**
   * Publishes the new oldest version if the policy allows one, waits, and deletes everything due, including leftovers
   * of earlier runs. Ends early, between two steps, when `signal` is aborted.
   * @throws StoreError `ledger_empty` and those of Store.commit; RowDamagedError
   */
  async run(policy: PrunePolicy, signal?: AbortSignal): Promise<PruneReport> {
    const head = this.#head();
    if (isBareState(head)) return { head, versions: 0n, steps: 0 };
    const target = await pruneTarget(new StoreView(this.#writer.reader, head), policy);
    if (target.firstVersion > this.#head().oldestVersion) {
      await this.#writer.advanceOldest(target);
    }
    return this.#clear(signal);
  }

  async #clear(signal: AbortSignal | undefined): Promise<PruneReport> {
    const { bounds = DEFAULT_PRUNE_BOUNDS, graceMs = READER_GRACE_MS } = this.#options;
    const { restFactor = 0.5, objectsOf, onProgress } = this.#options;
    const { reader } = this.#writer;
    const { oldestVersion } = this.#head();
    let { clearedBelow } = await readPruneProgress(reader);
    const firstVersion = clearedBelow;
    let steps = 0;
    // After a restart the time of publication is unknown, so this waits for the whole grace period again.
    if (clearedBelow < oldestVersion) await rest(graceMs, signal);
    // An account pinned later has a complete history from the oldest version on. Nothing from there on is deleted here.
    const accounts = await readPinnedAccounts(reader);
    const retained = { accounts, objectSince: objectsOf?.(accounts) ?? (() => undefined) };
    while (clearedBelow < oldestVersion && signal?.aborted !== true) {
      let turnBeganMs = 0;
      // Reads inside the commit queue: that a key has no more rows must still be true when its row is deleted.
      const { progress } = await this.#writer.commitBetween(async () => {
        turnBeganMs = performance.now();
        const before = await readPruneProgress(reader);
        return makePruneStep(reader, before, oldestVersion, retained, bounds);
      });
      ({ clearedBelow } = progress);
      steps += 1;
      onProgress?.(progress, oldestVersion);
      await rest((performance.now() - turnBeganMs) * restFactor, signal);
    }
    return { head: this.#head(), versions: clearedBelow - firstVersion, steps };
  }

  #head(): Head {
    const { head } = this.#writer;
    if (head === undefined) throw new StoreError('ledger_empty', 'there is nothing to prune');
    return head;
  }
}

async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/**
 * The block at which retained history would begin. For a number of versions, it is the last block that begins at or
 * before the bound, so that no fewer versions are retained. For a time, it is the first block from that time on. If
 * there is nothing to prune, the block begins at the oldest version.
 * @throws RangeError for a policy that retains nothing or everything; RowDamagedError
 */
async function pruneTarget(view: StoreView, policy: PrunePolicy): Promise<Block> {
  const { versions, seconds } = policy;
  if (versions === undefined && seconds === undefined) {
    throw new RangeError('a pruning policy without a bound prunes nothing');
  }
  for (const bound of [versions, seconds]) {
    if (bound !== undefined && !(Number.isSafeInteger(bound) && bound >= 1)) {
      throw new RangeError(`a bound of ${bound}: it must be a whole number of at least 1`);
    }
  }
  const targets: Block[] = [];
  if (versions !== undefined) targets.push(await blockForVersions(view, BigInt(versions)));
  if (seconds !== undefined) {
    const firstUsecs = view.head.timestampUsecs - BigInt(seconds) * USECS_PER_SECOND;
    const read = (height: bigint) => blockAt(view, height);
    targets.push(await firstBlockAfter(view.head, firstUsecs - 1n, read));
  }
  return targets.reduce((low, block) => (block.height < low.height ? block : low));
}

async function blockForVersions(view: StoreView, versions: bigint): Promise<Block> {
  const { blockHeight, oldestBlockHeight, version } = view.head;
  const first = version - versions + 1n;
  const next = await view.blockFromVersion(first < 0n ? 0n : first);
  if (next === undefined) return await blockAt(view, blockHeight);
  const startsBlock = next.firstVersion <= first || next.height === oldestBlockHeight;
  return startsBlock ? next : await blockAt(view, next.height - 1n);
}

async function blockAt(view: StoreView, height: bigint): Promise<Block> {
  const block = await view.blockByHeight(height);
  if (block !== undefined) return block;
  throw new RowDamagedError(BLOCKS_BY_HEIGHT, encodeBucketKey(height), 'it is missing');
}
