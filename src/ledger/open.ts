/** Opens a stored ledger for questions. */

import type { MaybePromise } from '../maybe-promise.ts';
import type { Head } from '../store/columns/head.ts';
import { HeadReader } from '../store/columns/head.ts';
import { LEDGER_IDENTITY, type LedgerIdentity } from '../store/columns/identity-column.ts';
import { type PinnedAccounts, readPinnedAccounts } from '../store/columns/pruning-column.ts';
import type { KeptBytes } from '../store/kept-bytes.ts';
import type { StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { StoreView } from '../store/view.ts';
import type { LedgerReader, LedgerView } from './api-contract.ts';
import type { CacheSize } from './bounded-cache.ts';
import { KeptPages } from './kept-pages.ts';
import { LayoutCache } from './layout-cache.ts';
import { LedgerError } from './ledger-error.ts';
import { type SharedCaches, StoredLedgerView } from './ledger-view.ts';
import { ModuleReader } from './module-reader.ts';
import { PruningGuard } from './pruning-guard.ts';

/** A ledger over a store, with what it keeps in memory. */
export interface OpenLedger extends LedgerReader {
  /** How full its caches are. */
  cacheSizes(): readonly CacheSize[];
}

/** What a ledger may use beside its store. */
export interface LedgerOptions {
  /** Where rendered event pages are kept, the caller's to close; absent: they are made anew each time. */
  readonly pageBytes?: KeptBytes | undefined;
}

/** A ledger over a store; the store stays the caller's to close. */
export function openLedger(store: StoreReader, { pageBytes }: LedgerOptions = {}): OpenLedger {
  return new StoredLedger(store, pageBytes);
}

class StoredLedger implements OpenLedger {
  readonly #store: StoreReader;
  readonly #heads: HeadReader;
  readonly #caches: SharedCaches;
  #identity: LedgerIdentity | undefined;
  #view: StoredLedgerView | undefined;
  #head: Head | undefined;
  #guard: PruningGuard | undefined;
  /** The view that requests of this turn of the event loop get. */
  #current: StoredLedgerView | undefined;
  readonly #endTurn = (): void => {
    this.#current = undefined;
  };
  #kept: PinnedAccounts = new Map();

  constructor(store: StoreReader, pageBytes: KeptBytes | undefined) {
    this.#store = store;
    this.#heads = new HeadReader(store);
    this.#caches = {
      modules: new ModuleReader(),
      layouts: new LayoutCache(),
      pages: pageBytes && new KeptPages(pageBytes),
    };
  }

  cacheSizes(): readonly CacheSize[] {
    const { modules, layouts, pages } = this.#caches;
    return [modules.cacheSize, layouts.size, ...(pages === undefined ? [] : [pages.size])];
  }

  view(): MaybePromise<LedgerView> {
    return this.#current ?? this.#read();
  }

  /** Keeps a view for all requests of this turn of the event loop: LMDB would show them the same snapshot anyway. */
  #keepForThisTurn(view: StoredLedgerView): StoredLedgerView {
    this.#current = view;
    setImmediate(this.#endTurn);
    return view;
  }

  async #read(): Promise<LedgerView> {
    try {
      const head = await this.#heads.read();
      if (this.#view !== undefined && isSameHead(head, this.#head!)) {
        this.#guard!.confirm();
        return this.#keepForThisTurn(this.#view);
      }
      this.#identity ??= await LEDGER_IDENTITY.get(this.#store);
      if (this.#identity === undefined) throw new Error('a ledger without identity');
      // Who is kept matters below the oldest version only, and is on record before that moves.
      if (head.oldestVersion !== this.#head?.oldestVersion) {
        this.#kept = await readPinnedAccounts(this.#store);
      }
      this.#head = head;
      this.#guard = new PruningGuard(this.#store, head, this.#kept);
      this.#view = new StoredLedgerView(
        new StoreView(this.#store, head),
        this.#identity,
        this.#caches,
        this.#guard,
      );
      return this.#keepForThisTurn(this.#view);
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      const message = `Failed to retrieve latest ledger info: ${cause.message}`;
      throw new LedgerError('ledger_unavailable', message, { cause });
    }
  }
}

function isSameHead(left: Head, right: Head): boolean {
  return left.version === right.version && left.oldestVersion === right.oldestVersion;
}
