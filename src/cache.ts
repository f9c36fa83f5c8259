/**
 * The caches of answers and of what answers are made from, and the budgets of all caches of a process in one list. The
 * class holds values that never change and can be computed again, by a key that describes the value. So no cache is
 * needed for a correct answer, and none depends on object identity.
 *
 * Remembered elsewhere, and not in the list:
 * - the modules that one view has looked up (src/state/module-view.ts): dropped with the view, a few hundred at most;
 * - a few state keys that the newest view's code asked for lately (src/execution/ledger-world.ts), and the gas schedule
 *   (src/ledger/ledger-view.ts);
 * - what was read or written lately while a ledger is run again (src/execution/recent-state.ts, 32 MiB): only in
 *   the threads of `daybook verify --execute`;
 * - the pruner's addresses of primary stores of pinned accounts (src/ledger/balances/pinned-stores.ts, 100 MB): only in
 *   a process that prunes, and a row of the state does not name its owner;
 * - the types of the tables of the chain (src/indexer/chain-tables.ts, 50,000), some of which are not written yet: only
 *   where there is an indexer;
 * - what belongs to a cached value and is freed with it, such as the checked code of a module
 *   (src/vm/code/function-code.ts).
 */
import { andThen, type MaybePromise } from './maybe-promise.ts';

const MIB = 1024 * 1024;

interface CacheBudget {
  /** Maximum memory of each instance, estimated. */
  readonly bytes: number;
  /** How many of them a process has that serves, writes and has an indexer. */
  readonly instances: number;
}

/** All of them together take at most 128 MiB in a process: 126.75 now. */
export const CACHE_BUDGETS = {
  /**
   * Modules with their loaded form and their JSON. Half of it has room for the framework, 12 MiB by this estimate: a
   * cache drops its older half. Most reads need some modules, and loading one takes a millisecond. Owner:
   * src/state/module-view.ts.
   */
  modules: { bytes: 28 * MIB, instances: 1 },
  /**
   * The newest view's modules linked, with their types: a call would link the framework each time. Calls of every view
   * function of the framework need a tenth of it. Owner: src/vm/program/program.ts.
   */
  program: { bytes: 12 * MIB, instances: 1 },
  /**
   * Layouts of types and of the arguments of functions: events and resources (src/state/module-view.ts), transactions
   * and their calls (two instances, src/ledger/transactions/decoding.ts), calls that are encoded
   * (src/submission/encode/entry-function.ts). One of an event or a resource takes about 7 KB with its templates, so
   * that an instance holds about 500 of them. Making one takes longer than using it.
   */
  layouts: { bytes: 4 * MIB, instances: 4 },
  /**
   * What short texts and keys mean, in instances of some thousands each: types and function names of requests
   * (src/submission/encode/fields.ts), assets (src/api/endpoints/parameters.ts), keys of balances
   * (src/move/values/balance-values.ts), blocks for gas prices (src/ledger/gas-price.ts). The same few come again and
   * again, and parsing is a good part of a balance, of an encoded request and of a commit.
   */
  parsed: { bytes: MIB, instances: 5 },
  /** Rendered pages of event streams, about 1,900 of 25 events. Owner: src/ledger/events/stream-pages.ts. */
  event_pages: { bytes: 12 * MIB, instances: 1 },
  /** Committed transactions as JSON, about 750. Owner: src/ledger/transactions/renderer.ts. */
  transactions: { bytes: 8 * MIB, instances: 1 },
  /** Answers of the newest view, of up to 64 KiB, that are asked for again. Owner: src/api/http/caches.ts. */
  answers: { bytes: 8 * MIB, instances: 1 },
  /**
   * Bodies that are the same at many views, such as modules and the API document, and their compressed forms: to
   * compress takes longer than to make. Owner: src/api/http/caches.ts.
   */
  bodies: { bytes: 10 * MIB, instances: 1 },
  /** Hashes of keys that were asked for once: of event pages, transactions and answers. */
  asked_keys: { bytes: MIB / 4, instances: 3 },
  /** Coins by the assets that they are paired with, and the other way. Owner: src/indexer/processors/coin-pairs.ts. */
  indexed_coins: { bytes: MIB, instances: 2 },
  /** Events as they are sent to listeners that begin at the same place. Owner: src/api/push/push-hub.ts. */
  event_batches: { bytes: 2 * MIB, instances: 1 },
  /**
   * Blocks of SQLite's sorted runs: to read one and to compare its checksum takes ten times as long as to search it.
   * Owner: src/store/sqlite/runs/block.ts.
   */
  blocks: { bytes: 12 * MIB, instances: 1 },
  /** Pages of SQLite's connections, one that reads and one that commits. Owner: src/store/sqlite/sqlite-database.ts. */
  sqlite_pages: { bytes: 4 * MIB, instances: 2 },
  /**
   * Records that a reader of SQLite has walked over, until its transaction ends, for who reads other columns of the
   * same versions next. Owner: src/store/sqlite/version-records.ts.
   */
  walked_records: { bytes: 2 * MIB, instances: 1 },
  /** Values that the newest view's code reads at the chain's own addresses. Owner: src/execution/ledger-world.ts. */
  world: { bytes: MIB, instances: 1 },
} as const satisfies Record<string, CacheBudget>;

/** The name of a cache. Metrics show modules, layouts, event_pages and transactions. */
export type CacheName = keyof typeof CACHE_BUDGETS;

export interface CacheSize {
  readonly name: CacheName;
  readonly entries: number;
  /** Estimated. */
  readonly bytes: number;
}

interface Entry<V> {
  readonly value: V;
  readonly sizeBytes: number;
}

/** Memory of an entry besides key and value: map slot and entry object. In bytes, estimated. */
const ENTRY_OVERHEAD_BYTES = 160;

/** Keys that a cache remembers as asked for; a power of two. */
const ASKED_PLACES = CACHE_BUDGETS.asked_keys.bytes / Uint32Array.BYTES_PER_ELEMENT;

/**
 * Values by text keys, bounded in bytes. New entries go into the young generation, and so does an entry of the old one
 * that is used. When the young generation reaches half of the budget, it becomes the old one, and the previous old one
 * is dropped. A hit costs one lookup: there is no list in order of use.
 */
export class Cache<V> {
  readonly #name: CacheName;
  readonly #budgetBytes: number;
  #young = new Map<string, Entry<V>>();
  #youngBytes = 0;
  #old = new Map<string, Entry<V>>();
  #oldBytes = 0;
  /** Hashes of keys that were asked for lately; made when the first one is. */
  #asked: Uint32Array | undefined;

  /** @param budgetBytes maximum bytes of all entries together, for tests; default: from the list */
  constructor(name: CacheName, budgetBytes: number = CACHE_BUDGETS[name].bytes) {
    this.#name = name;
    this.#budgetBytes = budgetBytes;
  }

  get size(): CacheSize {
    return {
      name: this.#name,
      entries: this.#young.size + this.#old.size,
      bytes: this.#youngBytes + this.#oldBytes,
    };
  }

  /** The value of a key; a lookup renews the entry. */
  get(key: string): V | undefined {
    const entry = this.#young.get(key);
    if (entry !== undefined) return entry.value;
    const aged = this.#old.get(key);
    if (aged === undefined) return undefined;
    this.#removeOld(key, aged);
    this.#add(key, aged);
    return aged.value;
  }

  /**
   * Notes that a key is asked for. Where a value is made about as fast as it is cached, only what is asked for again is
   * worth caching. @returns whether it was asked for before, as far as is remembered
   */
  wasRequestedBefore(key: string): boolean {
    let hash = 0x811c_9dc5;
    for (let index = 0; index < key.length; index += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(index), 0x0100_0193);
    }
    hash >>>= 0;
    this.#asked ??= new Uint32Array(ASKED_PLACES);
    const place = hash & (ASKED_PLACES - 1);
    const isKnown = this.#asked[place] === hash;
    this.#asked[place] = hash;
    return isKnown;
  }

  /** Takes a value of about `valueBytes`, unless that is more than half of the budget. */
  set(key: string, value: V, valueBytes: number): void {
    this.delete(key);
    const sizeBytes = valueBytes + key.length * 2 + ENTRY_OVERHEAD_BYTES;
    if (sizeBytes <= this.#budgetBytes / 2) this.#add(key, { value, sizeBytes });
  }

  /**
   * The value of a key, made if it is missing. A failure to make it is the caller's and is not remembered.
   * @param sizeOf bytes that a value takes, estimated
   */
  getOrMake(
    key: string,
    make: () => MaybePromise<V>,
    sizeOf: (value: V) => number,
  ): MaybePromise<V> {
    const known = this.get(key);
    if (known !== undefined) return known;
    return andThen(make(), (value) => {
      this.set(key, value, sizeOf(value));
      return value;
    });
  }

  delete(key: string): void {
    const entry = this.#young.get(key);
    if (entry !== undefined) {
      this.#young.delete(key);
      this.#youngBytes -= entry.sizeBytes;
    }
    const aged = this.#old.get(key);
    if (aged !== undefined) this.#removeOld(key, aged);
  }

  clear(): void {
    this.#young = new Map();
    this.#youngBytes = 0;
    this.#old = new Map();
    this.#oldBytes = 0;
  }

  #add(key: string, entry: Entry<V>): void {
    if (this.#youngBytes + entry.sizeBytes > this.#budgetBytes / 2) {
      this.#old = this.#young;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, entry);
    this.#youngBytes += entry.sizeBytes;
  }

  #removeOld(key: string, { sizeBytes }: Entry<V>): void {
    this.#old.delete(key);
    this.#oldBytes -= sizeBytes;
  }
}

/** A copy of a text: a substring of a longer text, such as a request's body, would keep all of it in memory. */
export function copiedText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/**
 * Bytes with memory of their own, to be cached: part of a larger buffer would keep all of it in memory. A small Buffer
 * of Node's is part of 8 KiB that many share, what zlib gives is part of 16 KiB.
 */
export function copiedBytes<B extends Uint8Array>(bytes: B): B {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  // That of Buffer is a view; this one makes a Buffer of a Buffer.
  return Uint8Array.prototype.slice.call(bytes) as B;
}
