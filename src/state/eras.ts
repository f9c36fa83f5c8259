/**
 * Values derived from modules, by the versions at which they hold. A module does not change between two writes to it,
 * so a value derived at one version also holds back to the newest write of its modules. One value serves all versions
 * in between, without reading the modules.
 */
import { Cache, type CacheName } from '../cache.ts';
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import { MoveError } from '../move/errors.ts';
import type { Derived } from './derived.ts';
import type { ModuleView } from './module-view.ts';

interface ValidityRange<V> {
  readonly value: V;
  readonly sinceVersion: bigint;
  /** The last version at which the value is known to hold; it may hold longer. */
  readonly knownToVersion: bigint;
}

/** Maximum number of ranges of a key. Modules are rarely published again, and each range takes memory. */
const MAX_RANGES = 16;
const RANGE_BYTES = 128;

export class EraCache<V> {
  readonly #cache: Cache<readonly ValidityRange<V>[]>;
  readonly #sizeOf: (value: V) => number;

  /** @param sizeOf estimated bytes of a value */
  constructor(name: CacheName, sizeOf: (value: V) => number) {
    this.#cache = new Cache(name);
    this.#sizeOf = sizeOf;
  }

  find(key: string, version: bigint): V | undefined {
    return this.#find(key, version)?.value;
  }

  /**
   * The value of a key at the version of a view. The newest modules are tried first: they are usually the same, so one
   * value serves all versions.
   * @param make derives the value from the modules of a view, and from nothing else
   */
  get(
    key: string,
    at: ModuleView,
    make: (at: ModuleView) => MaybePromise<Derived<V>>,
  ): MaybePromise<V> {
    return andThen(this.#rangeAt(key, at, make), ({ value }) => value);
  }

  #rangeAt(
    key: string,
    at: ModuleView,
    make: (at: ModuleView) => MaybePromise<Derived<V>>,
  ): MaybePromise<ValidityRange<V>> {
    const known = this.#find(key, at.version);
    if (known !== undefined) return known;
    const { newer } = at;
    if (newer === undefined) return this.#make(key, at, make);
    return settle(
      () => this.#rangeAt(key, newer, make),
      (range) => (range.sinceVersion <= at.version ? range : this.#make(key, at, make)),
      (failure) => {
        if (!(failure instanceof MoveError)) throw failure;
        return this.#make(key, at, make);
      },
    );
  }

  #find(key: string, version: bigint): ValidityRange<V> | undefined {
    return this.#cache
      .get(key)
      ?.find((range) => range.sinceVersion <= version && version <= range.knownToVersion);
  }

  #make(
    key: string,
    at: ModuleView,
    make: (at: ModuleView) => MaybePromise<Derived<V>>,
  ): MaybePromise<ValidityRange<V>> {
    return andThen(make(at), ({ value, modules }) =>
      andThen(at.sinceVersionOf(modules.map(({ id }) => id)), (sinceVersion) => {
        const range = { value, sinceVersion, knownToVersion: at.version };
        this.#add(key, range);
        return range;
      }),
    );
  }

  #add(key: string, range: ValidityRange<V>): void {
    const others = this.#cache.get(key)?.filter((one) => one.sinceVersion !== range.sinceVersion);
    const ranges = [range, ...(others ?? [])].slice(0, MAX_RANGES);
    const sizeBytes = ranges.reduce((sum, { value }) => sum + this.#sizeOf(value) + RANGE_BYTES, 0);
    this.#cache.set(key, ranges, sizeBytes);
  }
}
