/**
 * Modules at a version, cached. What is given out for one stored version of a module is one object as long as it is
 * in the cache, so that whatever is computed of it (ABI, layouts, encoding plans) is computed once and can tell an
 * upgrade by identity.
 */

import type { MaybePromise } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import { moduleStateKey, physicalStateKey, stateKeyHash } from '../move/types/state-key.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import { BoundedCache, type CacheSize } from './bounded-cache.ts';
import type { StateReader } from './state-reader.ts';
import { MODULE_MEMORY_FACTOR, StoredModule } from './stored-module.ts';

/** Memory for modules, in bytes, estimated: all of the framework fits many times. */
const DEFAULT_MODULE_CACHE_BYTES = 64 * 1024 * 1024;

export class ModuleReader {
  /** By state key hash and version of the write. */
  readonly #stored: BoundedCache<StoredModule>;

  constructor(cacheBytes = DEFAULT_MODULE_CACHE_BYTES) {
    this.#stored = new BoundedCache(cacheBytes);
  }

  /** How full its cache is. */
  get cacheSize(): CacheSize {
    return this.#stored.sizeAs('modules');
  }

  /** The module as of a version; `undefined` when there is none. */
  at(
    state: StateReader,
    address: Address,
    name: string,
    version: bigint,
  ): MaybePromise<StoredModule | undefined> {
    const keyHash = stateKeyHash(physicalStateKey(moduleStateKey(address, name)));
    const entry = state(keyHash, version);
    return entry instanceof Promise
      ? entry.then((found) => this.#keep(keyHash, found))
      : this.#keep(keyHash, entry);
  }

  #keep(keyHash: Buffer, entry: StateEntry | undefined): StoredModule | undefined {
    if (entry?.bytes === undefined) return undefined;
    const key = `${keyHash.toString('latin1')}${entry.version}`;
    let module = this.#stored.get(key);
    if (module === undefined) {
      // A copy of its own: what a store gives may share a larger buffer, which would be kept with it.
      module = new StoredModule(Uint8Array.from(entry.bytes), entry.version);
      this.#stored.set(key, module, entry.bytes.length * MODULE_MEMORY_FACTOR);
    }
    return module;
  }
}
