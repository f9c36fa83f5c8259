/** A fork that can be overridden: each request sees one state of the overrides, and whether it has read them. */
import { Cache, type CacheSize } from '../cache.ts';
import type { LedgerCaches, LedgerView } from '../ledger/ledger-view.ts';
import { ModuleCache } from '../ledger/modules/module-view.ts';
import { type LedgerReader, newCaches, openLedger } from '../ledger/open.ts';
import { TransactionCaches } from '../ledger/transactions/renderer.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { StoreReader } from '../store/store.ts';
import { type ForkOverrides, MemoryOverrides } from './fork-overrides.ts';
import type { ForkSource } from './fork-recorder.ts';
import { OverriddenView } from './overridden-view.ts';
import type { OverrideState } from './override-state.ts';

export interface OverriddenFork {
  readonly ledger: OverriddenLedger;
  readonly overrides: ForkOverrides;
}

/** Opens a fork so that it can be overridden. */
export function openOverriddenFork(store: StoreReader, source: ForkSource): OverriddenFork {
  const caches = newCaches();
  const overrides = new MemoryOverrides(store, source, (state) => ledger.cachesAt(state));
  const ledger = new OverriddenLedger(store, source, overrides, caches);
  return { ledger, overrides };
}

class OverriddenLedger implements LedgerReader {
  readonly #store: StoreReader;
  readonly #source: ForkSource;
  readonly #overrides: Pick<MemoryOverrides, 'state'>;
  readonly #caches: LedgerCaches;
  /** Without overrides. */
  readonly #recorded: ReturnType<typeof openLedger>;
  /** By what states with the same modules have in common. */
  readonly #modules = new WeakMap<object, ModuleCache>();

  constructor(
    store: StoreReader,
    source: ForkSource,
    overrides: Pick<MemoryOverrides, 'state'>,
    caches: LedgerCaches,
  ) {
    this.#store = store;
    this.#source = source;
    this.#overrides = overrides;
    this.#caches = caches;
    this.#modules.set(overrides.state.modules, caches.modules);
    this.#recorded = this.#open(overrides.state, caches);
  }

  view(): MaybePromise<LedgerView> {
    const { state } = this.#overrides;
    // A view of its own for each request: it notes what the request has read.
    return state.isEmpty ? this.#recorded.view() : this.#open(state, this.cachesAt(state)).view();
  }

  cacheSizes(): readonly CacheSize[] {
    return this.#recorded.cacheSizes();
  }

  waitingReads(): number {
    return this.#recorded.waitingReads();
  }

  /**
   * The caches of a request: what is cached by its content or belongs to the ledger's history is shared, modules by
   * states with the same modules, and all else is the request's own.
   */
  cachesAt(state: OverrideState): LedgerCaches {
    const modules = this.#modules.get(state.modules) ?? new ModuleCache();
    this.#modules.set(state.modules, modules);
    return {
      ...this.#caches,
      modules,
      pages: new Cache('event_pages'),
      transactions: new TransactionCaches(),
    };
  }

  #open(state: OverrideState, caches: LedgerCaches): ReturnType<typeof openLedger> {
    return openLedger(
      this.#store,
      caches,
      (of, head) => new OverriddenView(of, head, this.#source, state),
    );
  }
}
