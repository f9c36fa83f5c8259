/**
 * A cache bounded in bytes, for what never changes or is dropped with its view. The least recently used entry goes
 * first. Sizes are the caller's estimates of the memory an entry holds.
 */

import type { CacheName } from '../cache.ts';

interface Entry<V> {
  readonly value: V;
  readonly sizeBytes: number;
}

/** How full a cache is. */
export interface CacheSize {
  readonly name: CacheName;
  readonly entries: number;
  /** Estimated. */
  readonly bytes: number;
}

/** What one entry costs beside its value: key, map slot, entry object. In bytes, estimated. */
const ENTRY_OVERHEAD_BYTES = 160;

export class BoundedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxBytes: number;
  #sizeBytes = 0;

  /** @param maxBytes most bytes of all entries together; entries larger than that are not kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of all entries, estimated. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** How full it is, under a name. */
  sizeAs(name: CacheName): CacheSize {
    return { name, entries: this.size, bytes: this.#sizeBytes };
  }

  /** The value of a key, which becomes the most recently used. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value that takes about `valueBytes`; drops the oldest entries until all fit. */
  set(key: string, value: V, valueBytes: number): void {
    this.delete(key);
    const sizeBytes = valueBytes + key.length * 2 + ENTRY_OVERHEAD_BYTES;
    if (sizeBytes > this.#maxBytes) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
    this.#entries.set(key, { value, sizeBytes });
    this.#sizeBytes += sizeBytes;
  }

  /** Drops one entry. */
  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#sizeBytes -= entry.sizeBytes;
  }

  /** Drops all entries. */
  clear(): void {
    this.#entries.clear();
    this.#sizeBytes = 0;
  }
}
