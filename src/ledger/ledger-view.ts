/** A ledger as one head shows it: the answers to the four operations. */

import type { MaybePromise } from '../maybe-promise.ts';
import type { CompiledModule, LoaderLimits } from '../move/modules/compiled.ts';
import { type ModuleLookup, rememberingIds } from '../move/modules/lookup.ts';
import { ADDRESS_ONE, type Address, formatAddress } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { StoreView } from '../store/view.ts';
import { StoredAccounts } from './accounts.ts';
import type {
  Asset,
  EventPageAnswer,
  EventPageForm,
  EventPageRequest,
  LedgerState,
  LedgerView,
  ModuleAnswer,
} from './api-contract.ts';
import { balanceAt } from './balance.ts';
import { StoredHistory } from './history.ts';
import type { KeptPages } from './kept-pages.ts';
import type { LayoutCache } from './layout-cache.ts';
import { LedgerError } from './ledger-error.ts';
import { loaderLimitsAt } from './loader-limits.ts';
import type { ModuleReader } from './module-reader.ts';
import type { PruningGuard } from './pruning-guard.ts';
import type { StateReader } from './state-reader.ts';
import type { StoredModule } from './stored-module.ts';
import { StreamPages } from './stream-pages.ts';

/** Most modules of the newest version that a view remembers by name; all are dropped together when there are more. */
const MAX_REMEMBERED_MODULES = 4_096;

/** What views of one ledger share. */
export interface SharedCaches {
  readonly modules: ModuleReader;
  readonly layouts: LayoutCache;
  /** Event pages; absent: they are made anew each time. */
  readonly pages: KeptPages | undefined;
}

export class StoredLedgerView implements LedgerView {
  readonly state: LedgerState;
  readonly lookupModule: ModuleLookup;
  readonly accounts: StoredAccounts;
  readonly history: StoredHistory;
  readonly #view: StoreView;
  readonly #caches: SharedCaches;
  readonly #guard: PruningGuard;
  readonly #pages: StreamPages;
  /** Modules at the newest version; absence is remembered too. */
  readonly #latestModules = new Map<string, StoredModule | undefined>();
  #limits: MaybePromise<LoaderLimits> | undefined;

  constructor(
    view: StoreView,
    identity: LedgerIdentity,
    caches: SharedCaches,
    guard: PruningGuard,
  ) {
    const { head } = view;
    this.state = {
      chainId: identity.chainId,
      version: head.version,
      oldestVersion: head.oldestVersion,
      timestampUsecs: head.timestampUsecs,
      epoch: head.epoch,
      blockHeight: head.blockHeight,
      oldestBlockHeight: head.oldestBlockHeight,
    };
    this.#view = view;
    this.#caches = caches;
    this.#guard = guard;
    this.lookupModule = rememberingIds((id) => this.#lookup(id));
    this.accounts = new StoredAccounts({
      store: view,
      guard,
      latestVersion: head.version,
      layouts: caches.layouts,
      moduleAt: (address, name, version) => this.#moduleAt(address, name, version),
      lookupAt: (version) => this.#lookupAt(version),
    });
    this.#pages = new StreamPages({
      ...{ store: view, guard, layouts: caches.layouts, kept: caches.pages },
      lookup: this.lookupModule,
    });
    this.history = new StoredHistory(view, this.state, identity.keepsTransactions, guard);
  }

  resolveVersion(asked: bigint | undefined, account?: Address): bigint {
    return this.#guard.resolveVersion(asked, account);
  }

  async module(address: Address, name: string, version: bigint): Promise<ModuleAnswer> {
    const module = await this.#moduleAt(address, name, version);
    if (module !== undefined) return module;
    throw new LedgerError(
      'module_not_found',
      `Module not found by Address(${formatAddress(address)}), Module name(${name}) ` +
        `and Ledger version(${version})`,
    );
  }

  balance(account: Address, asset: Asset, version: bigint): MaybePromise<bigint> {
    const state: StateReader = (hash, at) => this.#stateOf(account)(hash, at);
    return balanceAt({ state, view: this.#view }, account, asset, version);
  }

  eventPage(request: EventPageRequest, form: EventPageForm): Promise<EventPageAnswer> {
    return this.#pages.page(request, form);
  }

  #stateOf(account: Address): StateReader {
    return this.#guard.reader((hash, at) => this.#view.state(hash, at), account);
  }

  #moduleAt(
    address: Address,
    name: string,
    version: bigint,
  ): MaybePromise<StoredModule | undefined> {
    if (version !== this.state.version) return this.#readModule(address, name, version);
    const key = `${address}::${name}`;
    const known = this.#latestModules.get(key);
    if (known !== undefined || this.#latestModules.has(key)) return known;
    const found = this.#readModule(address, name, version);
    return found instanceof Promise
      ? found.then((module) => this.#remember(key, module))
      : this.#remember(key, found);
  }

  #readModule(
    address: Address,
    name: string,
    version: bigint,
  ): MaybePromise<StoredModule | undefined> {
    return this.#caches.modules.at(this.#stateOf(address), address, name, version);
  }

  #remember(key: string, module: StoredModule | undefined): StoredModule | undefined {
    if (this.#latestModules.size >= MAX_REMEMBERED_MODULES) this.#latestModules.clear();
    this.#latestModules.set(key, module);
    return module;
  }

  #lookup({ address, name }: ModuleId): MaybePromise<CompiledModule | undefined> {
    const module = this.#moduleAt(address, name, this.state.version);
    const limits = this.#loaderLimits();
    if (module instanceof Promise || limits instanceof Promise) {
      return Promise.all([module, limits]).then(([found, known]) => found?.load(known));
    }
    return module?.load(limits);
  }

  /** Modules as of a version, loaded under the limits of that version. */
  #lookupAt(version: bigint): ModuleLookup {
    if (version === this.state.version) return this.lookupModule;
    let limits: Promise<LoaderLimits> | undefined;
    return async ({ address, name }) => {
      const module = await this.#readModule(address, name, version);
      if (module === undefined) return undefined;
      limits ??= loaderLimitsAt(this.#stateOf(ADDRESS_ONE), version);
      return module.load(await limits);
    };
  }

  #loaderLimits(): MaybePromise<LoaderLimits> {
    if (this.#limits === undefined) {
      const promised = loaderLimitsAt(this.#stateOf(ADDRESS_ONE), this.state.version);
      this.#limits = promised;
      promised.then(
        (limits) => {
          this.#limits = limits;
        },
        () => {
          this.#limits = undefined;
        },
      );
    }
    return this.#limits;
  }
}
