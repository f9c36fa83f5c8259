/**
 * Runs the transactions of a ledger in order, each on the state that the previous one has left. Versions after the
 * stored ones need not be stored yet.
 */
import { decodeBcs } from '../move/bcs/bcs-reader.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { type EncodedOnChainData, readOnChainData } from '../move/transactions/transaction.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { WriteSetEntry } from '../move/transactions/write-set.ts';
import { FEATURES_TAG } from '../move/types/framework-tag.ts';
import { encodePath, type HashedStateKey, isCodePath } from '../move/types/state-key.ts';
import { isFeatureEnabled } from '../move/values/framework-resource.ts';
import { featuresAt } from '../state/features.ts';
import { ModuleCache, ModuleView, TypeCache } from '../state/module-view.ts';
import { PruningGuard, TRUSTED_MS } from '../state/pruning-guard.ts';
import { type OpenSource, storedSource } from '../state/source.ts';
import { TRANSACTIONS } from '../store/columns/columns.ts';
import { type Head, readHead } from '../store/columns/head.ts';
import { encodeBucketKey } from '../store/columns/order-key.ts';
import { readPinnedAccounts } from '../store/columns/pruning-column.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { StoreReader } from '../store/store.ts';
import type { RunObserver } from '../vm/observer.ts';
import { Program } from '../vm/program/program.ts';
import type { StateUsage } from '../vm/world.ts';
import { YieldBudget } from '../yield-budget.ts';
import { type EncodedTransaction, execute, type TransactionOutput } from './execute.ts';
import { openWorld, type ResourcePlaces, type VisibleModules } from './ledger-world.ts';
import type { DiscardReason } from './outcome.ts';
import { RecentState } from './recent-state.ts';
import { type RunPlace, validate } from './run-user-transaction.ts';
import { type CountedState, stateUsageAt } from './state-usage.ts';
import { ViewError } from './view-error.ts';

/** How long a head counts as the newest, in milliseconds. */
const CONFIRM_AFTER_MS = TRUSTED_MS / 2;

/** The head of a store without a ledger: no state at version 0. */
const NO_STATE: Head = {
  ...{ version: 0n, timestampUsecs: 0n, epoch: 0n, blockHeight: 0n },
  ...{ oldestVersion: 0n, oldestBlockHeight: 0n, frozenRoots: [] },
};

const FEATURES_PATH = encodePath({ kind: 'resource', tag: FEATURES_TAG });

/**
 * Modules linked for execution, and the places of their resources. Valid until a version writes a module or the
 * feature flags.
 */
export class LinkedCode {
  readonly program = new Program((id) => this.lookup(id));
  readonly places: ResourcePlaces = new WeakMap();
  /** Finds modules that are not linked yet. */
  lookup: ModuleLookup;

  constructor(lookup: ModuleLookup) {
    this.lookup = lookup;
  }
}

/** What a run needs besides the transaction. */
type RunFacts = Pick<RunPlace, 'index' | 'sizeBytes'>;

export class Executor {
  readonly #store: StoreReader;
  readonly #guard: PruningGuard;
  readonly #state: RecentState;
  readonly #firstVersion: bigint;
  readonly #caches = { modules: new ModuleCache(), types: new TypeCache() };
  /** Writes of versions that are not stored yet, up to the present one, the oldest first. */
  readonly #unstored: (readonly WriteSetEntry[])[] = [];
  #code: LinkedCode | undefined;
  /** The newest count of the state; later counts only add what was written since. */
  #counted: CountedState | undefined;
  #confirmedMs = performance.now();
  /** Sees the code of transactions that are run from now on. */
  observer: RunObserver | undefined;

  private constructor(
    store: StoreReader,
    guard: PruningGuard,
    state: RecentState,
    firstVersion: bigint,
  ) {
    this.#store = store;
    this.#guard = guard;
    this.#state = state;
    this.#firstVersion = firstVersion;
  }

  /**
   * Starts after the head, or before genesis if there is no head.
   * @param openSource how the ledger is read
   * @param firstVersion the first one whose transaction is in the store
   * @param code of another executor at a version with the same modules
   */
  static async open(
    store: StoreReader,
    head: Head | undefined,
    openSource: OpenSource = storedSource,
    firstVersion = 0n,
    code?: LinkedCode,
  ): Promise<Executor> {
    const pinned = await readPinnedAccounts(store);
    const stored = head ?? NO_STATE;
    const sourceAt = (at: Head) => openSource(store, at);
    const state = new RecentState(sourceAt, stored, head === undefined);
    state.goTo(head?.version ?? -1n);
    const source = { ...state.source, state };
    const guard = new PruningGuard(store, source, pinned, performance.now());
    const executor = new Executor(store, guard, state, firstVersion);
    executor.#code = code;
    if (code !== undefined) code.lookup = executor.modules().lookup;
    return executor;
  }

  get code(): LinkedCode | undefined {
    return this.#code;
  }

  /** The version after which transactions are run. */
  get version(): bigint {
    return this.#state.version!;
  }

  /** Moves to another stored version, where modules may differ. */
  goTo(version: bigint): void {
    if (version === this.version) return;
    this.#unstored.length = 0;
    this.#state.goTo(version);
    this.#code = undefined;
    this.#counted = undefined;
  }

  /** Moves to the next version. @param isStored whether it is stored already */
  advance(writes: readonly WriteSetEntry[], isStored = true): void {
    if (!isStored) this.#unstored.push(writes);
    this.#state.advance(writes, isStored);
    if (writes.some(changesCode)) this.#code = undefined;
  }

  markStored(head: Head): void {
    const left = this.version - head.version;
    this.#unstored.splice(0, this.#unstored.length - Math.max(0, Number(left)));
    this.#state.markStored(head);
  }

  /** The stored transaction of a version. Rejects with ViewError if it is missing. */
  async itemOf(version: bigint): Promise<EncodedOnChainData> {
    const { partition, order } = encodeBucketKey(version);
    const bytes = await this.#store.get(TRANSACTIONS, partition, order);
    if (bytes === undefined)
      throw new ViewError(`the transaction of version ${version} is not stored`);
    return decodeBcs(bytes, readOnChainData);
  }

  /** Runs a transaction without moving to the next version. Rejects as `execute` does. */
  async run(transaction: EncodedTransaction, facts: RunFacts): Promise<TransactionOutput> {
    return execute(transaction, { ...(await this.#place(facts)), observer: this.observer });
  }

  /** Why a user's transaction would not be committed next, from the checks before it runs. */
  async validate(
    transaction: SignedTransaction,
    facts: RunFacts,
  ): Promise<DiscardReason | undefined> {
    return validate(transaction, await this.#place(facts));
  }

  /** The value of a state key; `undefined` if it has none. */
  async state(key: HashedStateKey): Promise<Uint8Array | undefined> {
    return (await this.entry(key))?.bytes;
  }

  /** The same, with the value's deposits. */
  async entry(key: HashedStateKey): Promise<StateEntry | undefined> {
    await this.#confirm();
    return await this.#guard.state(undefined, key, this.version);
  }

  /** The modules after the present version. */
  modules(): ModuleView {
    return new ModuleView(this.#caches, this.#guard, this.version);
  }

  async isFeatureEnabled(flag: number): Promise<boolean> {
    const features = await featuresAt(this.#guard, this.version);
    return features !== undefined && isFeatureEnabled(features, flag);
  }

  async #place(facts: RunFacts): Promise<RunPlace> {
    await this.#confirm();
    const { version } = this;
    if (this.#code?.program.isOverBudget !== false) {
      this.#code = new LinkedCode(this.modules().lookup);
    }
    const { program, places } = this.#code;
    const modules = { version, lookup: program.modules };
    const stateUsage = () => this.countState();
    return {
      ...facts,
      modules,
      guard: this.#guard,
      program,
      places,
      pace: new YieldBudget(),
      openWorld: (visible: VisibleModules = modules) => {
        const parts = { stateUsage, isForOneRun: true };
        return openWorld(this.#guard, visible, visible === modules ? { ...parts, places } : parts);
      },
    };
  }

  /** The size of the state. Rejects with ViewError if writes since the last count are not retained. */
  async countState(): Promise<StateUsage> {
    const { version } = this;
    const usage = await stateUsageAt(this.#guard, version, {
      writesOf: (written) => this.#writesOf(written),
      firstVersion: this.#firstVersion,
      counted: this.#counted,
    });
    this.#counted = { version, usage };
    return usage;
  }

  /** Sets a known count of the present state. */
  countFrom(usage: StateUsage): void {
    this.#counted = { version: this.version, usage };
  }

  /** Rejects with ViewError if they are not stored. */
  async #writesOf(version: bigint): Promise<readonly WriteSetEntry[]> {
    const firstUnstored = this.version - BigInt(this.#unstored.length) + 1n;
    if (version >= firstUnstored) return this.#unstored[Number(version - firstUnstored)]!;
    return (await this.itemOf(version)).data.changes.writes;
  }

  /** Reads the head from time to time, so that missing data is known not to be pruned. */
  async #confirm(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#confirmedMs < CONFIRM_AFTER_MS) return;
    const head = await readHead(this.#store);
    if (head !== undefined && head.oldestVersion !== this.#state.source.head.oldestVersion) return;
    this.#confirmedMs = nowMs;
    this.#guard.confirm(nowMs);
  }
}

/** Whether a write changes a module or the feature flags, so that modules must be linked again. */
function changesCode({ key }: WriteSetEntry): boolean {
  if (key.kind !== 'accessPath') return false;
  return isCodePath(key.path) || key.path.equals(FEATURES_PATH);
}
