/** Opens a stored ledger for reads. */
import { Cache, type CacheSize } from '../cache.ts';
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import { asLedgerFailure, LedgerError } from '../state/ledger-error.ts';
import { ModuleCache, TypeCache } from '../state/module-view.ts';
import { PruningGuard } from '../state/pruning-guard.ts';
import { type OpenSource, storedSource } from '../state/source.ts';
import { type Head, HeadReader } from '../store/columns/head.ts';
import { LEDGER_IDENTITY, type LedgerIdentity } from '../store/columns/identity-column.ts';
import { type PinnedAccounts, readPinnedAccounts } from '../store/columns/pruning-column.ts';
import type { StoreReader } from '../store/store.ts';
import { isTransient, StoreError } from '../store/store-error.ts';
import type { RunObserver } from '../vm/observer.ts';
import { BlockPriceCache } from './gas-price.ts';
import { type LedgerCaches, LedgerView } from './ledger-view.ts';
import { TransactionCaches } from './transactions/renderer.ts';

export interface LedgerReader {
  /** The current view. Throws `ledger_unavailable` if the store has no ledger, or rejects with it. */
  view(): MaybePromise<LedgerView>;
  /** Number of reads that the store has not answered yet; absent if reads never wait. */
  waitingReads?(): number;
}

interface OpenView {
  readonly view: LedgerView;
  readonly head: Head;
  readonly guard: PruningGuard;
  readonly pinned: PinnedAccounts;
}

export function newCaches(): LedgerCaches {
  return {
    modules: new ModuleCache(),
    types: new TypeCache(),
    pages: new Cache('event_pages'),
    transactions: new TransactionCaches(),
    blockPrices: new BlockPriceCache(),
  };
}

/**
 * Opens a ledger over a store, which the caller closes.
 * @param openSource how the store is read
 * @param observer observes the runs of views and simulations
 */
export function openLedger(
  store: StoreReader,
  caches = newCaches(),
  openSource = storedSource,
  observer?: RunObserver,
): StoredLedger {
  return new StoredLedger(store, caches, openSource, observer);
}

class StoredLedger implements LedgerReader {
  readonly #store: StoreReader;
  readonly #openSource: OpenSource;
  readonly #heads: HeadReader;
  readonly #caches: LedgerCaches;
  readonly #observer: RunObserver | undefined;
  #identity: LedgerIdentity | undefined;
  #newest: OpenView | undefined;
  /** The view for all requests of this turn of the event loop. */
  #viewThisTick: LedgerView | undefined;
  readonly #endTurn = (): void => {
    this.#viewThisTick = undefined;
  };

  constructor(
    store: StoreReader,
    caches: LedgerCaches,
    openSource: OpenSource,
    observer: RunObserver | undefined,
  ) {
    this.#observer = observer;
    this.#store = store;
    this.#openSource = openSource;
    this.#heads = new HeadReader(store);
    this.#caches = caches;
  }

  cacheSizes(): readonly CacheSize[] {
    const { modules, types, pages, transactions } = this.#caches;
    return [modules.size, types.size, pages.size, transactions.rendered.size];
  }

  waitingReads(): number {
    return this.#store.waitingReads?.() ?? 0;
  }

  view(): MaybePromise<LedgerView> {
    if (this.#viewThisTick !== undefined) return this.#viewThisTick;
    return settle(
      () => this.#open(),
      (view) => {
        this.#viewThisTick = view;
        setImmediate(this.#endTurn);
        return view;
      },
      (cause) => {
        if (!(cause instanceof StoreError) || isTransient(cause)) throw asLedgerFailure(cause);
        const message = `Failed to retrieve latest ledger info: ${cause.message}`;
        throw new LedgerError('ledger_unavailable', message, { cause });
      },
    );
  }

  #open(): MaybePromise<LedgerView> {
    const requestedAtMs = performance.now();
    return andThen(this.#heads.read(), (head) => {
      const newest = this.#newest;
      if (newest === undefined || isNewer(head, newest.head))
        return this.#openAt(head, requestedAtMs);
      // A slow read of the head may return an older head than the newest one seen since.
      if (!isNewer(newest.head, head)) newest.guard.confirm(this.#confirmedMs(requestedAtMs));
      return newest.view;
    });
  }

  /** The latest time when a head was certainly the newest. @param requestedAtMs when it was requested */
  #confirmedMs(requestedAtMs: number): number {
    const unconfirmedMs = this.#store.server?.unconfirmedMs ?? 0;
    return unconfirmedMs === 0 ? requestedAtMs : performance.now() - unconfirmedMs;
  }

  async #openAt(head: Head, requestedAtMs: number): Promise<LedgerView> {
    this.#identity ??= await LEDGER_IDENTITY.get(this.#store);
    if (this.#identity === undefined) throw new Error('a ledger without identity');
    const before = this.#newest;
    // Pinned accounts matter only below the oldest version, and are stored before that version changes.
    const pinned =
      before?.head.oldestVersion === head.oldestVersion
        ? before.pinned
        : await readPinnedAccounts(this.#store);
    // A view that took long to open never replaces a newer one.
    if (this.#newest !== undefined && !isNewer(head, this.#newest.head)) return this.#newest.view;
    const source = this.#openSource(this.#store, head);
    const guard = new PruningGuard(this.#store, source, pinned, this.#confirmedMs(requestedAtMs));
    const view = new LedgerView(source, this.#identity, this.#caches, guard, this.#observer);
    this.#newest = { view, head, guard, pinned };
    return view;
  }
}

function isNewer(head: Head, other: Head): boolean {
  return head.version > other.version || head.oldestVersion > other.oldestVersion;
}
