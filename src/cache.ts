/**
 * The caches of answers and of what answers are made from: all are instances of this class, and all budgets are in one
 * list. A cache holds values that never change and can be computed again, by a key that describes the value. So no
 * cache is needed for a correct answer, and none depends on object identity.
 *
 * Remembered elsewhere: the pruner's addresses of primary stores of pinned accounts
 * (src/ledger/balances/pinned-stores.ts, about 100 MB at its limit); the modules that one view has looked up
 * (src/ledger/modules/module-view.ts); what follows from the modules of the newest view when their code runs
 * (src/vm/program/program.ts, about 40 MB at its limit), and what it reads of the chain's own addresses
 * (src/ledger/views/ledger-world.ts, 1 MiB); what belongs to a cached value and is freed with it, such as
 * the tag bytes of a type (src/ledger/encode/parameters.ts) and the checked code of a module
 * (src/vm/code/function-code.ts).
 */
import { andThen, type MaybePromise } from './maybe-promise.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Maximum memory of each cache in bytes, estimated; each process of a node has all of them. */
export const CACHE_BUDGETS = {
  /** Modules with their loaded form and their JSON: many times the whole framework. */
  modules: 64 * MIB,
  /** Layouts of event and resource types: about ten thousand types. */
  layouts: 16 * MIB,
  /** Rendered pages of event streams: about 10,000 pages of 25 events. */
  event_pages: 64 * MIB,
  /** Entry functions with the layouts of their parameters: about a thousand functions. */
  functions: 8 * MIB,
  function_names: 2 * MIB,
  /** Layouts of the types in transactions, by versions: about five thousand types. */
  transaction_types: 8 * MIB,
  /** Layouts of the arguments of calls in transactions, by versions: about a thousand functions. */
  transaction_calls: 4 * MIB,
  /** Committed transactions as JSON: about three thousand. */
  transactions: 32 * MIB,
  type_texts: 4 * MIB,
  assets: 1 * MIB,
  /** Paths of state keys with the balance that they hold: about five thousand paths. */
  balance_paths: 2 * MIB,
  /** Forms of object groups, to find a balance without decoding: one for each length up to 1 KiB. */
  group_shapes: 4 * MIB,
  /** Whole answers of the newest view, each up to 64 KiB. */
  answers: 32 * MIB,
  /** Events as they are sent to listeners that begin at the same place. */
  event_batches: 8 * MIB,
  /** What blocks say about gas prices: about three thousand blocks. */
  block_prices: 1 * MIB,
  /** Bodies that are the same at many views: modules, the API document. */
  bodies: 32 * MIB,
  /** Compressed forms of such bodies and of the page's files. */
  compressed: 32 * MIB,
} as const;

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
const ASKED_PLACES = 64 * 1024;

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
  constructor(name: CacheName, budgetBytes: number = CACHE_BUDGETS[name]) {
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
  isAskedAgain(key: string): boolean {
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
