/**
 * The cache for answers and their intermediate results, and a list with the budgets of all caches of a process. A
 * cached value never changes, can be computed again, and is described by its key. So answers are correct without any
 * cache, and no cache depends on object identity.
 *
 * Cached elsewhere, and not in the list:
 * - the modules that one view has looked up (src/state/module-view.ts, 4,096): dropped with the view;
 * - up to 8 state keys for each resource type, while versions are executed (src/execution/ledger-world.ts), and the
 *   newest gas schedule (src/execution/gas-settings.ts, src/ledger/ledger-view.ts);
 * - recent reads and writes while versions are executed (src/execution/recent-state.ts, 32 MiB): only in the threads of
 *   `daybook verify --execute` and in a process that makes blocks;
 * - the pruner's addresses of primary stores of pinned accounts (src/ledger/balances/pinned-stores.ts, 100 MB): only in
 *   a process that prunes, because a row of the state does not name its owner;
 * - the types of the chain's tables (src/indexer/chain-tables.ts, 50,000), some of which are not written yet: only in a
 *   process with an indexer;
 * - data that belongs to a cached value and is freed with it, such as the checked code of a module
 *   (src/vm/code/function-code.ts).
 */
import { andThen, type MaybePromise } from './maybe-promise.ts';

const MIB = 1024 * 1024;

interface CacheBudget {
  /** Maximum memory of each instance, estimated. */
  readonly bytes: number;
  /** Number of instances in a process that serves, writes and has an indexer. */
  readonly instances: number;
}

/** Together they take at most 128 MiB in a process; 126.75 MiB now. */
export const CACHE_BUDGETS = {
  /**
   * Modules with their loaded form and their JSON. The framework, 12 MiB by this estimate, fits into one half, because
   * a cache drops its older half. Most reads need some modules, and loading one takes a millisecond. Owner:
   * src/state/module-view.ts.
   */
  modules: { bytes: 28 * MIB, instances: 1 },
  /**
   * The linked modules of the newest view, with their types. Otherwise each call would link the framework again.
   * Calling every view function of the framework uses a tenth of it. Owner: src/vm/program/program.ts.
   */
  program: { bytes: 12 * MIB, instances: 1 },
  /**
   * Layouts of types and of function arguments: events and resources (src/state/module-view.ts), transactions and
   * their calls (two instances, src/ledger/transactions/decoding.ts), calls to encode
   * (src/submission/encode/entry-function.ts). The layout of an event or a resource takes about 7 KB with its
   * templates, so an instance holds about 500. Making a layout takes longer than using it.
   */
  layouts: { bytes: 4 * MIB, instances: 4 },
  /**
   * Parsed short texts and keys, a few thousand in each instance: types and function names of requests
   * (src/submission/encode/fields.ts), assets (src/api/endpoints/parameters.ts), keys of balances
   * (src/move/values/balance-values.ts), blocks for gas prices (src/ledger/gas-price.ts). The same few occur again and
   * again, and parsing takes much of the time of a balance, of an encoded request and of a commit.
   */
  parsed: { bytes: MIB, instances: 5 },
  /** Rendered pages of event streams, about 1,900 of 25 events. Owner: src/ledger/events/stream-pages.ts. */
  event_pages: { bytes: 12 * MIB, instances: 1 },
  /** Committed transactions as JSON, about 750. Owner: src/ledger/transactions/renderer.ts. */
  transactions: { bytes: 8 * MIB, instances: 1 },
  /** Answers of the newest view, of up to 64 KiB, that are requested again. Owner: src/api/http/caches.ts. */
  answers: { bytes: 8 * MIB, instances: 1 },
  /**
   * Bodies that are the same at many views, such as modules and the API document, and their compressed forms, because
   * compressing takes longer than rendering. Owner: src/api/http/caches.ts.
   */
  bodies: { bytes: 10 * MIB, instances: 1 },
  /** Hashes of requested keys: of event pages, transactions and answers. */
  asked_keys: { bytes: MIB / 4, instances: 3 },
  /** Coins by the assets that they are paired with, and vice versa. Owner: src/indexer/processors/coin-pairs.ts. */
  indexed_coins: { bytes: MIB, instances: 2 },
  /** Rendered events, for listeners that start at the same place. Owner: src/api/push/push-hub.ts. */
  event_batches: { bytes: 2 * MIB, instances: 1 },
  /**
   * Blocks of SQLite's sorted runs: reading and verifying a block takes ten times as long as searching it. Owner:
   * src/store/sqlite/runs/block.ts.
   */
  blocks: { bytes: 12 * MIB, instances: 1 },
  /** Pages of SQLite's two connections: one reads, one commits. Owner: src/store/sqlite/sqlite-database.ts. */
  sqlite_pages: { bytes: 4 * MIB, instances: 2 },
  /**
   * Records that a reader of SQLite has scanned, until its transaction ends: other columns of the same versions are
   * often read next. Owner: src/store/sqlite/version-records.ts.
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

/** Number of requested keys that a cache remembers; a power of two. */
const REQUESTED_KEY_SLOTS = CACHE_BUDGETS.asked_keys.bytes / Uint32Array.BYTES_PER_ELEMENT;

/**
 * Values by text keys, bounded in bytes. New entries go into the young generation; an entry of the old generation moves
 * there when it is used. When the young generation reaches half of the budget, it becomes the old one, and the previous
 * old one is dropped. A hit costs one lookup, because no list in order of use is maintained.
 */
export class Cache<V> {
  readonly #name: CacheName;
  readonly #budgetBytes: number;
  #young = new Map<string, Entry<V>>();
  #youngBytes = 0;
  #old = new Map<string, Entry<V>>();
  #oldBytes = 0;
  /** Hashes of recently requested keys; allocated for the first one. */
  #requestedHashes: Uint32Array | undefined;

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
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#removeOld(key, old);
    this.#add(key, old);
    return old.value;
  }

  /**
   * Notes that a key is requested. If computing a value is about as fast as caching it, only values that are requested
   * again are worth caching. @returns whether it was requested before, as far as the cache remembers
   */
  wasRequestedBefore(key: string): boolean {
    let hash = 0x811c_9dc5;
    for (let index = 0; index < key.length; index += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(index), 0x0100_0193);
    }
    hash >>>= 0;
    this.#requestedHashes ??= new Uint32Array(REQUESTED_KEY_SLOTS);
    const slot = hash & (REQUESTED_KEY_SLOTS - 1);
    const isRepeated = this.#requestedHashes[slot] === hash;
    this.#requestedHashes[slot] = hash;
    return isRepeated;
  }

  /** Adds a value of about `valueBytes`, unless its entry would exceed half of the budget. */
  set(key: string, value: V, valueBytes: number): void {
    this.delete(key);
    const sizeBytes = valueBytes + key.length * 2 + ENTRY_OVERHEAD_BYTES;
    if (sizeBytes <= this.#budgetBytes / 2) this.#add(key, { value, sizeBytes });
  }

  /**
   * The value of a key, made if it is missing. A failure to make it is passed to the caller and not cached.
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
    const old = this.#old.get(key);
    if (old !== undefined) this.#removeOld(key, old);
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

/** A copy of a text. A substring of a longer text, such as a request's body, would keep all of it in memory. */
export function copiedText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/**
 * Bytes with their own memory, for a cache: a part of a larger buffer would keep all of it in memory. A small Buffer is
 * a part of Node's shared pool of 8 KiB, and zlib's output is a part of 16 KiB.
 */
export function copiedBytes<B extends Uint8Array>(bytes: B): B {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  // Buffer's own `slice` does not copy. This one does, and returns a Buffer for a Buffer.
  return Uint8Array.prototype.slice.call(bytes) as B;
}
