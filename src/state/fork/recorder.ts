/** Records answers of the upstream, each once. Their data is stored in one commit, and used only after it. */

import { Batch } from '../../store/batch.ts';
import type { Store } from '../../store/store.ts';
import { LedgerError } from '../ledger-error.ts';
import type { Expected, ForkClient } from './fork-client.ts';
import { askTransactions } from './history-answers.ts';
import { UpstreamFailure } from './upstream-failure.ts';

/** How long a check of the upstream's history is valid, in milliseconds. */
const HISTORY_INTERVAL_MS = 60_000;

type Take<T> = (client: ForkClient, batch: Batch) => Promise<T>;
type Put<T> = (taken: T, batch: Batch) => Promise<void>;

export interface ForkSource {
  /**
   * Requests data that is not recorded yet.
   * @param question readable text that identifies the data
   * @param take sends requests, checks the answers and puts rows into the batch
   * @param put puts rows that depend on recorded ones: no other `put` runs until this one is committed
   * @throws LedgerError `fork_upstream_failed`, `fork_not_recorded`, `version_pruned`, `block_pruned`
   */
  record<T>(question: string, take: Take<T>, put?: Put<T>): Promise<T>;
}

/** The source of an offline fork. @param shownData the fork's folder, for messages */
export function offlineSource(shownData: string): ForkSource {
  return {
    async record(question) {
      throw new LedgerError(
        'fork_not_recorded',
        `This fork has not recorded ${question}, and it is offline. To record it (a packed fork is unpacked ` +
          'first), send the same request to ' +
          `daybook serve --data ${shownData} --fork URL`,
      );
    },
  };
}

export interface ForkAnchor extends Expected {
  /** Root of the transaction accumulator after the version, 32 bytes. */
  readonly rootHash: Buffer;
}

export class ForkRecorder implements ForkSource {
  readonly #store: Store;
  readonly #client: ForkClient;
  readonly #anchor: ForkAnchor;
  readonly #historyIntervalMs: number;
  /** Questions that are not answered yet. */
  readonly #open = new Map<string, Promise<unknown>>();
  /** Resolves when the last `put` has been committed or has failed. */
  #puts: Promise<unknown> = Promise.resolve();
  #checkedMs = Number.NEGATIVE_INFINITY;
  #check: Promise<void> | undefined;

  /** @param historyIntervalMs how long a check of the upstream's history is valid */
  constructor(
    store: Store,
    client: ForkClient,
    anchor: ForkAnchor,
    historyIntervalMs = HISTORY_INTERVAL_MS,
  ) {
    this.#store = store;
    this.#client = client;
    this.#anchor = anchor;
    this.#historyIntervalMs = historyIntervalMs;
    client.expect(anchor);
  }

  async record<T>(question: string, take: Take<T>, put?: Put<T>): Promise<T> {
    const open = this.#open.get(question) as Promise<T> | undefined;
    if (open !== undefined) return await open;
    const begun = this.#record(take, put).finally(() => this.#open.delete(question));
    this.#open.set(question, begun);
    return await begun;
  }

  /**
   * Checks that the upstream has the history that the fork was made from: the accumulator's root covers all of it.
   * @throws UpstreamFailure; LedgerError `version_pruned` if the upstream no longer has the fork's version
   */
  async checkHistory(): Promise<void> {
    if (performance.now() - this.#checkedMs < this.#historyIntervalMs) return;
    this.#check ??= this.#compareRoots().finally(() => {
      this.#check = undefined;
    });
    await this.#check;
  }

  async #compareRoots(): Promise<void> {
    const { version, rootHash } = this.#anchor;
    const [item] = await askTransactions(this.#client, version, 1);
    if (!item!.data.accumulatorRootHash.equals(rootHash)) {
      throw new UpstreamFailure(
        'other_history',
        `its history up to version ${version} is not the one that this fork is of`,
      );
    }
    this.#checkedMs = performance.now();
  }

  async #record<T>(take: Take<T>, put?: Put<T>): Promise<T> {
    await this.checkHistory();
    const batch = new Batch();
    const taken = await take(this.#client, batch);
    const commit = async (): Promise<void> => {
      await put?.(taken, batch);
      // Nothing is left to put if other questions have recorded the whole answer.
      if (batch.size > 0) await this.#store.commit(batch);
    };
    const committed = put === undefined ? commit() : this.#puts.then(commit);
    if (put !== undefined) this.#puts = committed.catch(() => undefined);
    await committed;
    return taken;
  }
}
