/**
 * Pruning: deletes what is older than a policy retains, while others read and write.
 *
 * 1. The new oldest version, the first of a block, is published in the head.
 * 2. Readers that took a head before that get time to finish: a grace, counted from the publishing. Nothing tells which
 *    readers there are, in this process or another; a reader whose answer took longer than half of it looks at the head
 *    again before it trusts that something is absent (src/ledger/pruning-guard.ts).
 * 3. What nothing retained needs is deleted in bounded steps, each one commit between two others, with a rest after it.
 *    A pruner that is stopped or killed continues where it was (prune-step.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../move/types/address.ts';
import { Batch } from '../batch.ts';
import type { Head } from '../columns/head.ts';
import {
  MAX_PINNED_ACCOUNTS,
  PINNED_ACCOUNT,
  type PinnedAccounts,
  type PruneProgress,
  READER_GRACE_MS,
  readPinnedAccounts,
  readPruneProgress,
} from '../columns/pruning-column.ts';
import { StoreError } from '../store-error.ts';
import { StoreView } from '../view.ts';
import type { LedgerWriter } from '../writer.ts';
import {
  makePruneStep,
  type PinnedObject,
  type PruneBounds,
  type PruneStepResult,
  type Retained,
} from './prune-step.ts';
import { type PrunePolicy, pruneTarget } from './prune-target.ts';

/**
 * A step in a node that also commits: other commits wait for it, some tenths of a second with its own commit, and
 * requests do not. Steps of 50 ms cleared a fifth as many versions: most of their time was that of the commit, which
 * costs by the page and not by the row.
 */
const DEFAULT_PRUNE_BOUNDS: PruneBounds = { maxRows: 20_000, maxMs: 250 };
/** A step where nobody waits: rows of neighbouring keys share pages, so fewer are written. */
export const OFFLINE_PRUNE_BOUNDS: PruneBounds = { maxRows: 50_000, maxMs: 1_000 };

/** How a pruner works. */
export interface PrunerOptions {
  /** Which objects belong to pinned accounts. Absent: none do. */
  readonly objectsOf?: ((accounts: PinnedAccounts) => PinnedObject) | undefined;
  /** Default DEFAULT_PRUNE_BOUNDS. */
  readonly bounds?: PruneBounds | undefined;
  /** Default READER_GRACE_MS. 0 is for a store that nobody else reads. */
  readonly graceMs?: number | undefined;
  /**
   * Rest after a step, as a multiple of the time that the step took in its turn: 1 leaves half of
   * the time to others. Default 0.5.
   */
  readonly restFactor?: number | undefined;
  /** Called after each step. */
  readonly onProgress?: ((progress: PruneProgress, oldestVersion: bigint) => void) | undefined;
}

/** What a run did. */
export interface PruneReport {
  readonly head: Head;
  /** Versions cleared by this run. */
  readonly versions: bigint;
  /** Rows changed by this run. */
  readonly rows: number;
  readonly steps: number;
}

/** Prunes the ledger of one writer. One run at a time. */
export class Pruner {
  readonly #writer: LedgerWriter;
  readonly #options: PrunerOptions;

  constructor(writer: LedgerWriter, options: PrunerOptions = {}) {
    this.#writer = writer;
    this.#options = options;
  }

  /**
   * Retains the history of accounts from now on; those that are pinned already stay as they are. What was pruned before
   * is not brought back: their history is whole from the present oldest version.
   * @throws StoreError `too_many_kept_accounts`, `ledger_empty`
   */
  async pinAccounts(accounts: Iterable<Address>): Promise<PinnedAccounts> {
    const writer = this.#writer;
    await writer.commitBetween(async () => {
      const { oldestVersion } = this.#head();
      const pinned = new Map(await readPinnedAccounts(writer.reader));
      const batch = new Batch();
      for (const account of accounts) {
        if (pinned.has(account)) continue;
        if (pinned.size === MAX_PINNED_ACCOUNTS) {
          throw new StoreError(
            'too_many_kept_accounts',
            `the history of at most ${MAX_PINNED_ACCOUNTS} accounts is kept`,
          );
        }
        pinned.set(account, oldestVersion);
        PINNED_ACCOUNT.put(batch, account, oldestVersion);
      }
      return batch;
    });
    return readPinnedAccounts(writer.reader);
  }

  /**
   * Publishes the new oldest version if the policy allows one, waits, and deletes all that is due,
   * also what an earlier run has left. Ends early, between two steps, when `signal` is aborted.
   * @throws StoreError `ledger_empty` and those of Store.commit; RowDamagedError
   */
  async run(policy: PrunePolicy, signal?: AbortSignal): Promise<PruneReport> {
    const view = new StoreView(this.#writer.reader, this.#head());
    const target = await pruneTarget(view, policy);
    if (target.firstVersion > this.#head().oldestVersion) {
      await this.#writer.advanceOldest(target);
    }
    return this.#clear(signal);
  }

  async #clear(signal: AbortSignal | undefined): Promise<PruneReport> {
    const { graceMs = READER_GRACE_MS, restFactor = 0.5, objectsOf, onProgress } = this.#options;
    const { oldestVersion } = this.#head();
    let { clearedBelow } = await readPruneProgress(this.#writer.reader);
    const firstVersion = clearedBelow;
    let rows = 0;
    let steps = 0;
    // After a restart the time of publishing is unknown, so the whole grace is given again.
    if (clearedBelow < oldestVersion) await rest(graceMs, signal);
    // An account pinned later is whole from the oldest version on, and nothing from there on is deleted here.
    const accounts = await readPinnedAccounts(this.#writer.reader);
    const retained = { accounts, objectSince: objectsOf?.(accounts) ?? (() => undefined) };
    while (clearedBelow < oldestVersion && !isAborted(signal)) {
      const { done, turnMs } = await this.#step(oldestVersion, retained);
      ({ clearedBelow } = done.progress);
      rows += done.rows;
      steps += 1;
      onProgress?.(done.progress, oldestVersion);
      await rest(turnMs * restFactor, signal);
    }
    return { head: this.#head(), versions: clearedBelow - firstVersion, rows, steps };
  }

  /** One step, and how long others could not commit, in milliseconds. */
  async #step(
    oldestVersion: bigint,
    retained: Retained,
  ): Promise<{ readonly done: PruneStepResult; readonly turnMs: number }> {
    const { bounds = DEFAULT_PRUNE_BOUNDS } = this.#options;
    const { reader } = this.#writer;
    let done: PruneStepResult | undefined;
    let turnBeganMs = 0;
    // Read in its turn: whether a key is gone for good must still be so when its row is deleted.
    await this.#writer.commitBetween(async () => {
      turnBeganMs = performance.now();
      const progress = await readPruneProgress(reader);
      done = await makePruneStep(reader, progress, oldestVersion, retained, bounds);
      return done.batch;
    });
    return { done: done!, turnMs: performance.now() - turnBeganMs };
  }

  #head(): Head {
    const { head } = this.#writer;
    if (head === undefined) throw new StoreError('ledger_empty', 'there is nothing to prune');
    return head;
  }
}

/** Waits; ends at once when aborted. */
async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!isAborted(signal)) throw error;
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
