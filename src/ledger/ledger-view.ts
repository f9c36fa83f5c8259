/** A ledger as one head shows it. A view never changes. Methods throw LedgerError. */

import { callView, type ViewAnswer } from '../execution/call-view.ts';
import { largestGasAmount } from '../execution/gas-checks.ts';
import { gasSchedule, viewPrices } from '../execution/gas-settings.ts';
import { openWorld, type VisibleModules } from '../execution/ledger-world.ts';
import { worldWithSeed } from '../execution/randomness-seed.ts';
import {
  runUserTransaction,
  type UserTransactionOutput,
} from '../execution/run-user-transaction.ts';
import { SharedProgram } from '../execution/shared-program.ts';
import {
  type GasEstimates,
  readSubmitted,
  type SimulatedItem,
  simulatedItem,
  withGas,
} from '../execution/simulated-transaction.ts';
import type { ViewRequest } from '../execution/view-request.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import { type Address, formatAddress } from '../move/types/address.ts';
import { APTOS_COIN_TAG } from '../move/types/framework-tag.ts';
import type { HashedStateKey } from '../move/types/state-key.ts';
import { TypeTag } from '../move/types/type-tag.ts';
import type { Layout } from '../move/values/layout.ts';
import { resolveArgumentLayout } from '../move/values/layout-resolver.ts';
import { LedgerError } from '../state/ledger-error.ts';
import { type ModuleCaches, ModuleView } from '../state/module-view.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { LedgerSource, OverrideReads } from '../state/source.ts';
import type { StoredModule } from '../state/stored-module.ts';
import type { Head } from '../store/columns/head.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { EmittedPart } from '../store/read/emitted-events.ts';
import type { InstructionPrices } from '../vm/gas/instruction-prices.ts';
import { LARGE_RUN_BYTES } from '../vm/machine/large-runs.ts';
import type { RunObserver } from '../vm/observer.ts';
import { Program } from '../vm/program/program.ts';
import type { World } from '../vm/world.ts';
import { YieldBudget } from '../yield-budget.ts';
import { Accounts } from './accounts/accounts.ts';
import { type Asset, balanceAt, CoinAsset } from './balances/balance.ts';
import {
  type BalanceHistoryPage,
  type BalanceHistoryRequest,
  balanceHistory,
} from './balances/balance-history.ts';
import {
  type BalanceListRequest,
  type BalancePage,
  listBalances,
} from './balances/balance-list.ts';
import { type EventPageCache, StreamPages } from './events/stream-pages.ts';
import { TypedEvents } from './events/typed-events.ts';
import { type BlockPriceCache, estimateGasPrices, type GasPrices } from './gas-price.ts';
import { History } from './history.ts';
import { StateItems } from './state/state-items.ts';
import { Traces } from './traces.ts';
import { type TransactionCaches, TransactionRenderer } from './transactions/renderer.ts';
import { transactionIndexes } from './transactions/transaction-index.ts';
import { type VersionAtTime, versionAtTime } from './version-times.ts';

/** The ledger's state as the response headers show it. */
export interface LedgerState extends Omit<Head, 'frozenRoots'>, Pick<LedgerIdentity, 'chainId'> {
  /** Present if an answer has read overridden data. */
  readonly isOverridden?: true;
}

export interface LedgerCaches extends ModuleCaches {
  readonly pages: EventPageCache;
  readonly transactions: TransactionCaches;
  readonly blockPrices: BlockPriceCache;
}

/**
 * The reads of the API. All results of one view come from one read of the head: a request opens one view at its start
 * and uses nothing else (docs/spec/http.md §3.1).
 */
export class LedgerView {
  readonly state: LedgerState;
  /** Whether the ledger never advances. */
  readonly isFrozen: boolean;
  readonly accounts: Accounts;
  readonly history: History;
  readonly pages: StreamPages;
  readonly typedEvents: TypedEvents;
  readonly stateItems: StateItems;
  readonly traces: Traces;
  readonly #source: LedgerSource;
  readonly #caches: LedgerCaches;
  readonly #guard: PruningGuard;
  readonly #modules: ModuleView;
  readonly #keepsTransactions: boolean;
  readonly #observer: RunObserver | undefined;
  #gasPrices: Promise<GasPrices> | undefined;
  #program: SharedProgram | undefined;
  #world: World | undefined;
  #viewPrices: InstructionPrices | undefined;

  constructor(
    source: LedgerSource,
    { chainId, keepsTransactions }: LedgerIdentity,
    caches: LedgerCaches,
    guard: PruningGuard,
    observer?: RunObserver,
  ) {
    this.#observer = observer;
    const { frozenRoots: _, ...state } = source.head;
    this.state = { chainId, ...state };
    this.isFrozen = source.isFrozen;
    this.#source = source;
    this.#caches = caches;
    this.#guard = guard;
    this.#keepsTransactions = keepsTransactions;
    const modules = new ModuleView(caches, guard, source.head.version);
    this.#modules = modules;
    this.pages = new StreamPages({ source, guard, modules, pages: caches.pages });
    const modulesAt = (at: bigint): ModuleView => this.#modulesAt(at);
    this.accounts = new Accounts({ source, guard, modulesAt });
    this.stateItems = new StateItems({ guard, modulesAt });
    const renderer = new TransactionRenderer({
      source,
      guard,
      modules,
      // A module that is the same before and after was the same for every transaction in between.
      modulesAt: (at) => this.#modulesAt(at, true),
      moduleCache: caches.modules,
      caches: caches.transactions,
    });
    this.history = new History(source, keepsTransactions, guard, renderer);
    this.typedEvents = new TypedEvents(source, guard, renderer);
    this.traces = new Traces({ source, guard, modulesAt, view: this });
  }

  /** Whether overridden data has been read so far; absent if nothing can be overridden. */
  get overrides(): OverrideReads | undefined {
    return this.#source.overrides;
  }

  /** The state for the headers of an answer from this view. */
  get headerState(): LedgerState {
    return this.overrides?.areOverridden === true
      ? { ...this.state, isOverridden: true }
      : this.state;
  }

  /** Modules of the latest state, loaded under the on-chain limits (docs/spec/move.md §4.2). */
  get lookupModule(): ModuleLookup {
    return this.#modules.lookup;
  }

  /**
   * The version to read at: the requested version, or the latest. Throws `version_not_found` above the latest and
   * `version_pruned` below the oldest; for a pinned account, below the version from which its history is complete.
   */
  resolveVersion(requestedVersion: bigint | undefined, account?: Address): bigint {
    return this.#guard.resolveVersion(requestedVersion, account);
  }

  /**
   * The layouts of a type in the newest state: one for showing values, one with the tags of structs. Rejects with
   * LayoutError.
   */
  async typeLayouts(type: TypeTag): Promise<{ readonly shown: Layout; readonly tagged: Layout }> {
    const { value } = await this.#modules.type(TypeTag.encode(type), type);
    const tagged = await resolveArgumentLayout(type, this.#modules.lookup);
    return { shown: value.layout, tagged };
  }

  /** Throws `module_not_found`, or rejects with it. */
  module(address: Address, name: string, version: bigint): MaybePromise<StoredModule> {
    return andThen(this.#modulesAt(version).module(address, name), (module) => {
      if (module !== undefined) return module;
      throw new LedgerError(
        'module_not_found',
        `Module not found by Address(${formatAddress(address)}), Module name(${name}) ` +
          `and Ledger version(${version})`,
      );
    });
  }

  balance(account: Address, asset: Asset, version: bigint): MaybePromise<bigint> {
    const guard = this.#guard;
    const sources = {
      index: this.#source.state,
      state: (key: HashedStateKey, at: bigint) => guard.state(account, key, at),
    };
    return balanceAt(sources, account, asset, version);
  }

  balances(request: BalanceListRequest): Promise<BalancePage> {
    return listBalances({ source: this.#source.state, guard: this.#guard }, request);
  }

  balanceHistory(request: BalanceHistoryRequest): Promise<BalanceHistoryPage> {
    return balanceHistory({ source: this.#source, guard: this.#guard }, request);
  }

  /**
   * The last version at or before a time in microseconds since 1970. Rejects with `version_pruned`, and with
   * `version_not_found` before the first version.
   */
  versionAtTime(timeUsecs: bigint): Promise<VersionAtTime> {
    return versionAtTime(this.#source, this.#guard, timeUsecs);
  }

  /** Calls a view function; the request is JSON or BCS. Throws ViewError. */
  callView(
    request: ViewRequest | Uint8Array,
    version: bigint,
    pace = new YieldBudget(),
    callObserver?: RunObserver,
  ): MaybePromise<ViewAnswer> {
    const observer = callObserver ?? this.#observer;
    pace.hold(LARGE_RUN_BYTES);
    const modules = this.#modulesAt(version);
    const openWorld = () => this.#worldOf(modules);
    const gasPrices = () => this.#viewPricesAt(version);
    const call = (program: Program) =>
      callView(request, { modules, program, pace, observer, openWorld, gasPrices });
    // The newest version's program may run a call twice, which `callObserver` would observe.
    if (callObserver !== undefined) return call(new Program(modules.lookup));
    return this.#newestProgram().useAt(modules, call);
  }

  /** Runs a transaction on the state at a version. Rejects with ViewError, LedgerError. */
  simulate(
    transaction: SignedTransaction,
    version: bigint,
    pace = new YieldBudget(),
    sizeBytes?: number,
    observer = this.#observer,
  ): Promise<UserTransactionOutput> {
    pace.hold(LARGE_RUN_BYTES);
    const modules = this.#modulesAt(version);
    return runUserTransaction(transaction, {
      modules,
      guard: this.#guard,
      program:
        modules === this.#modules ? this.#newestProgram().program : new Program(modules.lookup),
      places: new WeakMap(),
      ...{ pace, sizeBytes, observer },
      openWorld: (seen = modules) => andThen(this.#worldOf(seen), worldWithSeed),
    });
  }

  /** Simulates a signed transaction as if it were committed next. Rejects with ViewError, LedgerError. */
  async simulateSubmitted(
    signed: Buffer,
    estimates: GasEstimates,
    pace: YieldBudget,
  ): Promise<SimulatedItem> {
    const { version } = this.state;
    const submitted = readSubmitted(signed);
    const { sender, gasUnitPrice: requestedPrice } = submitted.transaction.raw;
    const prices = estimates.price === undefined ? undefined : await this.gasPrices();
    const gasUnitPrice = prices?.[estimates.price === 'prioritized' ? 'aggressive' : 'market'];
    const maxGasAmount = estimates.isMaxGasAmountLargest
      ? largestGasAmount(
          await gasSchedule(this.#guard, version),
          await this.balance(sender, new CoinAsset(APTOS_COIN_TAG), version),
          gasUnitPrice ?? requestedPrice,
        )
      : undefined;
    const changed = withGas(submitted, { maxGasAmount, gasUnitPrice });
    const sizeBytes = changed.rawBytes.length + changed.authenticatorBytes.length;
    return simulatedItem(changed, version, (transaction) =>
      this.simulate(transaction, version, pace, sizeBytes),
    );
  }

  /** The state that code sees at a version; all calls at the newest version share one. */
  #worldOf(modules: VisibleModules): MaybePromise<World> {
    if (modules !== this.#modules) return openWorld(this.#guard, modules);
    return (
      this.#world ??
      andThen(openWorld(this.#guard, modules), (world) => {
        this.#world = world;
        return world;
      })
    );
  }

  /** The gas prices of view calls, the largest value that these read. At the newest version they are read once. */
  #viewPricesAt(version: bigint): MaybePromise<InstructionPrices | undefined> {
    if (version !== this.state.version) return viewPrices(this.#guard, version);
    return (
      this.#viewPrices ??
      andThen(viewPrices(this.#guard, version), (prices) => {
        this.#viewPrices = prices;
        return prices;
      })
    );
  }

  #newestProgram(): SharedProgram {
    if (this.#program?.program.isOverBudget !== false)
      this.#program = new SharedProgram(this.#modules);
    return this.#program;
  }

  /** One part of the streams and types of events from version `first` on; `undefined` if they are unknown. */
  async emittedEvents(first: bigint): Promise<EmittedPart | undefined> {
    const part = await this.#source.history.emitted(first);
    return part === undefined || (await this.#guard.isPruned(first)) ? undefined : part;
  }

  /** The estimate of gas prices, computed once; rejects with `internal_error` for a chain without a gas schedule. */
  gasPrices(): Promise<GasPrices> {
    if (this.#gasPrices !== undefined) return this.#gasPrices;
    const estimate = estimateGasPrices({
      source: this.#source,
      guard: this.#guard,
      blocks: this.#caches.blockPrices,
      hasTransactions: this.#keepsTransactions,
    });
    this.#gasPrices = estimate;
    estimate.catch(() => {
      this.#gasPrices = undefined;
    });
    return estimate;
  }

  /**
   * The index in its block of each transaction from `start` on, `undefined` if the ledger does not tell it; fewer than
   * `limit` at the end of the ledger. Throws `invalid_input` above the latest version, `version_pruned`.
   */
  transactionIndexes(
    start: bigint,
    limit: number,
    pace?: YieldBudget,
  ): Promise<readonly (number | undefined)[]> {
    return transactionIndexes(this.#source, this.#guard, start, limit, pace);
  }

  #modulesAt(version: bigint, canInterpolate = false): ModuleView {
    if (version === this.state.version) return this.#modules;
    return new ModuleView(this.#caches, this.#guard, version, this.#modules, canInterpolate);
  }
}
