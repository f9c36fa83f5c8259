/** Records answers of the upstream, each once. Their data is stored in one commit, and used only after it. */

import { Batch } from '../../store/batch.ts';
import type { Store } from '../../store/store.ts';
import { LedgerError } from '../ledger-error.ts';
import type { Expected, ForkClient } from './fork-client.ts';
import { fetchTransactions } from './history-answers.ts';
import { UpstreamFailure } from './upstream-failure.ts';

/** How long a check of the upstream's history is valid, in milliseconds. */
const HISTORY_INTERVAL_MS = 60_000;

type Fetch<T> = (client: ForkClient, batch: Batch) => Promise<T>;
type Put<T> = (fetched: T, batch: Batch) => Promise<void>;

export interface ForkSource {
  /**
   * Requests data that is not recorded yet.
   * @param description readable text that identifies the data
   * @param fetch sends requests, checks the answers and puts rows into the batch
   * @param put puts rows that depend on recorded ones: no other `put` runs until this one is committed
   * @throws LedgerError `fork_upstream_failed`, `fork_not_recorded`, `version_pruned`, `block_pruned`
   */
  record<T>(description: string, fetch: Fetch<T>, put?: Put<T>): Promise<T>;
}

/** The source of an offline fork. @param dataPath the fork's folder, for messages */
export function offlineSource(dataPath: string): ForkSource {
  return {
    async record(description) {
      throw new LedgerError(
        'fork_not_recorded',
        `This fork has not recorded ${description}, and it is offline. To record it (a packed fork is unpacked ` +
          'first), send the same request to ' +
          `daybook serve --data ${dataPath} --fork URL`,
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
  /** Requests that are not answered yet. */
  readonly #inFlight = new Map<string, Promise<unknown>>();
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

  async record<T>(description: string, fetch: Fetch<T>, put?: Put<T>): Promise<T> {
    const inFlight = this.#inFlight.get(description) as Promise<T> | undefined;
    if (inFlight !== undefined) return await inFlight;
    const request = this.#record(fetch, put).finally(() => this.#inFlight.delete(description));
    this.#inFlight.set(description, request);
    return await request;
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
    const [item] = await fetchTransactions(this.#client, version, 1);
    if (!item!.data.accumulatorRootHash.equals(rootHash)) {
      throw new UpstreamFailure(
        'other_history',
        `its history up to version ${version} is not the one that this fork is of`,
      );
    }
    this.#checkedMs = performance.now();
  }

  async #record<T>(fetch: Fetch<T>, put?: Put<T>): Promise<T> {
    await this.checkHistory();
    const batch = new Batch();
    const fetched = await fetch(this.#client, batch);
    const commit = async (): Promise<void> => {
      await put?.(fetched, batch);
      // Nothing is left to put if other requests have recorded the whole answer.
      if (batch.size > 0) await this.#store.commit(batch);
    };
    const committed = put === undefined ? commit() : this.#puts.then(commit);
    if (put !== undefined) this.#puts = committed.catch(() => undefined);
    await committed;
    return fetched;
  }
}
