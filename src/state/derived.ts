/**
 * Values derived from modules: layouts of types, entry functions with their parameters. They depend only on the
 * modules, not on the ledger version. So they are cached with a digest of each module, and reused while a lookup
 * returns modules with the same digests.
 */
import { Cache, type CacheName, type CacheSize, copiedText } from '../cache.ts';
import { andThen, type MaybePromise, settle, together } from '../maybe-promise.ts';
import { MoveError } from '../move/errors.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { ModuleId } from '../move/types/module-id.ts';

export interface ModuleStamp {
  readonly id: ModuleId;
  /** Absent for a module without a digest: values derived from it are not reused. */
  readonly digest: string | undefined;
}

export interface Derived<V> {
  readonly value: V;
  readonly modules: readonly ModuleStamp[];
}

const NOT_VERIFIED = -1;
/** Estimated cache memory for each module of a derived value, in bytes. */
const STAMP_BYTES = 400;

/** Whether a lookup still returns these modules. A module that no longer loads counts as changed. */
export function areUnchanged(
  modules: readonly ModuleStamp[],
  lookup: ModuleLookup,
): MaybePromise<boolean> {
  const checks = together(
    modules.map(
      ({ id, digest }) =>
        () =>
          settle(
            () => lookup(id),
            (module) => digest !== undefined && module?.digest === digest,
            (failure) => {
              if (failure instanceof MoveError) return false;
              throw failure;
            },
          ),
    ),
  );
  return andThen(checks, (results) => results.every((isSame) => isSame));
}

interface CachedValue<V> {
  readonly derived: Derived<V>;
  /** Number of the last single-version lookup that verified the value; NOT_VERIFIED if none has. */
  verifiedBy: number;
}

export class DerivedCache<V> {
  readonly #cache: Cache<CachedValue<V>>;
  readonly #sizeOf: (value: V) => number | undefined;
  /** The last single-version lookup, and its number: a value that it has verified is not verified again. */
  #lookup: ModuleLookup | undefined;
  #lookups = 0;

  /** @param sizeOf estimated bytes of a value; `undefined` for a value that must not be cached */
  constructor(name: CacheName, sizeOf: (value: V) => number | undefined) {
    this.#cache = new Cache(name);
    this.#sizeOf = sizeOf;
  }

  get size(): CacheSize {
    return this.#cache.size;
  }

  /**
   * The value of a key, from the modules of a lookup; synchronous if it is cached and the lookup is synchronous.
   * @param make derives the value from the modules that its lookup returns, and from nothing else
   */
  get(
    key: string,
    lookup: ModuleLookup,
    make: (lookup: ModuleLookup) => MaybePromise<V>,
  ): MaybePromise<Derived<V>> {
    const known = this.#cache.get(key);
    if (known === undefined) return this.#derive(key, lookup, make);
    if (lookup !== this.#lookup && lookup.isOfOneVersion === true) {
      this.#lookup = lookup;
      this.#lookups += 1;
    }
    const { derived, verifiedBy } = known;
    const number = lookup === this.#lookup ? this.#lookups : NOT_VERIFIED;
    if (verifiedBy === number && number !== NOT_VERIFIED) return derived;
    return andThen(areUnchanged(derived.modules, lookup), (isUnchanged) => {
      if (!isUnchanged) return this.#derive(key, lookup, make);
      known.verifiedBy = number;
      return derived;
    });
  }

  #derive(
    key: string,
    lookup: ModuleLookup,
    make: (lookup: ModuleLookup) => MaybePromise<V>,
  ): MaybePromise<Derived<V>> {
    return andThen(derive(lookup, make), (derived) => {
      const sizeBytes = this.#sizeOf(derived.value);
      if (sizeBytes !== undefined)
        this.#cache.set(
          key,
          { derived, verifiedBy: NOT_VERIFIED },
          sizeBytes + derived.modules.length * STAMP_BYTES,
        );
      return derived;
    });
  }
}

export function derive<V>(
  lookup: ModuleLookup,
  make: (lookup: ModuleLookup) => MaybePromise<V>,
): MaybePromise<Derived<V>> {
  const stamps = new Map<string, ModuleStamp>();
  const recordingLookup: ModuleLookup = (id) =>
    andThen(lookup(id), (module) => {
      if (module === undefined) return module;
      // The id may be a slice of a request's text, which would be retained as long as the stamp.
      const own = { address: copiedText(id.address), name: copiedText(id.name) };
      stamps.set(`${id.address}::${id.name}`, { id: own, digest: module.digest });
      return module;
    });
  return andThen(make(recordingLookup), (value) => ({ value, modules: [...stamps.values()] }));
}
