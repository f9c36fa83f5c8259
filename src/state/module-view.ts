/** The modules of a ledger at one version. */
import { Cache, copiedBytes, copiedText } from '../cache.ts';
import { andThen, type MaybePromise, prefetch, settle, together } from '../maybe-promise.ts';
import type { CompiledModule } from '../move/modules/compiled.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { Address } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import { hashedStateKey, moduleStateKey } from '../move/types/state-key.ts';
import { formatTypeTag, TypeTag } from '../move/types/type-tag.ts';
import type { Layout } from '../move/values/layout.ts';
import { layoutBytes } from '../move/values/layout.ts';
import { resolveLayout } from '../move/values/layout-resolver.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import { type Derived, DerivedCache } from './derived.ts';
import { loaderLimitsAt, type VersionedLimits } from './features.ts';
import type { PruningGuard } from './pruning-guard.ts';
import { MODULE_MEMORY_FACTOR, StoredModule } from './stored-module.ts';

/** Maximum number of modules that a view caches by name; at the limit, all are dropped together. */
const MAX_CACHED_MODULES = 4_096;

/** Modules by state key and version of their write; shared by all views of a ledger. */
export class ModuleCache extends Cache<StoredModule> {
  constructor() {
    super('modules');
  }

  moduleOf(
    keyHash: Buffer,
    entry: Pick<StateEntry, 'bytes' | 'version'> | undefined,
  ): StoredModule | undefined {
    if (entry?.bytes === undefined) return undefined;
    const key = `${keyHash.toString('latin1')}${entry.version}`;
    let module = this.get(key);
    if (module === undefined) {
      module = new StoredModule(copiedBytes(entry.bytes), entry.version);
      this.set(key, module, entry.bytes.length * MODULE_MEMORY_FACTOR);
    }
    return module;
  }
}

/** A type of stored values, such as events and resources, with what rendering them needs. */
export interface RenderedType {
  /** Estimated. */
  readonly memoryBytes: number;
  /** Canonical text, JSON-escaped and quoted. */
  readonly jsonText: string;
  /** UTF-8 of `jsonText`. */
  readonly jsonUtf8: Buffer;
  readonly layout: Layout;
}

/** Memory of a type's texts per byte of its tag: both forms of its name, and its key. */
const TEXT_BYTES_PER_TAG_BYTE = 8;

/** Types by their tags; shared by all views of a ledger. */
export class TypeCache extends DerivedCache<RenderedType> {
  constructor() {
    super('layouts', ({ memoryBytes }) => memoryBytes);
  }

  /**
   * The type whose tag's BCS is `tagBytes`, laid out with the modules that `lookup` returns.
   * @param decoded the tag of these bytes, if the caller has it: a resource's tag may nest one level deeper than a type
   *   tag may
   * @throws LayoutError; BcsError for bytes that are not a type tag; or rejects with them
   */
  resolve(
    tagBytes: Buffer,
    lookup: ModuleLookup,
    decoded?: TypeTag,
  ): MaybePromise<Derived<RenderedType>> {
    return this.get(tagBytes.toString('latin1'), lookup, (modules) =>
      renderedType(tagBytes, modules, decoded),
    );
  }
}

/** The type of some tag bytes. @throws LayoutError, BcsError */
export async function renderedType(
  tagBytes: Buffer,
  lookup: ModuleLookup,
  decoded?: TypeTag,
): Promise<RenderedType> {
  const tag = decoded ?? TypeTag.decode(tagBytes);
  const layout = await resolveLayout(tag, lookup);
  const jsonText = JSON.stringify(formatTypeTag(tag));
  const memoryBytes = tagBytes.length * TEXT_BYTES_PER_TAG_BYTE + layoutBytes([layout]);
  return { memoryBytes, jsonText, jsonUtf8: Buffer.from(jsonText), layout };
}

export interface ModuleCaches {
  readonly modules: ModuleCache;
  readonly types: TypeCache;
}

/** Longest module name that a view caches, in UTF-16 units: no current module has a longer one. */
export const MAX_CACHED_NAME_LENGTH = 255;

interface CachedModule {
  readonly stored: StoredModule | undefined;
  loaded?: CompiledModule;
}

export class ModuleView {
  readonly version: bigint;
  readonly newer: ModuleView | undefined;
  /** Finds a module and loads it under the chain's limits at this version (docs/spec/move.md §4.2). */
  readonly lookup: ModuleLookup;
  readonly #canInterpolate: boolean;
  readonly #caches: ModuleCaches;
  readonly #guard: PruningGuard;
  readonly #cached = new Map<Address, Map<string, CachedModule>>();
  #cachedCount = 0;
  #limits: MaybePromise<VersionedLimits> | undefined;

  /**
   * @param newer a view at a later version: modules written before both versions are read only once, there
   * @param canInterpolate see HashedStateKey
   */
  constructor(
    caches: ModuleCaches,
    guard: PruningGuard,
    version: bigint,
    newer?: ModuleView,
    canInterpolate = false,
  ) {
    this.#canInterpolate = canInterpolate;
    this.#caches = caches;
    this.#guard = guard;
    this.version = version;
    this.newer = newer;
    const lookup = ({ address, name }: ModuleId) => {
      const known = this.#cached.get(address)?.get(name)?.loaded;
      if (known !== undefined) return known;
      const found = this.#find(address, name);
      const limits = prefetch(found, () => this.#loaderLimits());
      return andThen(found, (module) => this.#load(module, limits));
    };
    this.lookup = Object.assign(lookup, { isOfOneVersion: true } as const);
  }

  module(address: Address, name: string): MaybePromise<StoredModule | undefined> {
    return andThen(this.#find(address, name), ({ stored }) => stored);
  }

  /** A type laid out with these modules; see TypeCache.resolve. */
  type(tagBytes: Buffer, decoded?: TypeTag): MaybePromise<Derived<RenderedType>> {
    return this.#caches.types.resolve(tagBytes, this.lookup, decoded);
  }

  /**
   * The version since which these modules and the limits for loading them have been as this view has them. Values
   * derived from both hold since then.
   */
  sinceVersionOf(modules: readonly ModuleId[]): MaybePromise<bigint> {
    return andThen(this.#loaderLimits(), ({ sinceVersion }) =>
      andThen(
        together(
          modules.map(
            ({ address, name }) =>
              () =>
                this.#find(address, name),
          ),
        ),
        (found) => {
          let since = sinceVersion;
          for (const { stored } of found) {
            const writtenAt = stored?.writtenAtVersion ?? this.version;
            if (writtenAt > since) since = writtenAt;
          }
          return since;
        },
      ),
    );
  }

  /** Whether both views load modules under the same limits: then equal modules load in the same way. */
  hasSameLimitsAs(other: ModuleView): MaybePromise<boolean> {
    return andThen(this.#loaderLimits(), ({ limits }) =>
      andThen(
        other.#loaderLimits(),
        ({ limits: others }) =>
          limits.maxVersion === others.maxVersion &&
          limits.maxIdentifierBytes === others.maxIdentifierBytes,
      ),
    );
  }

  #find(address: Address, name: string): MaybePromise<CachedModule> {
    const known = this.#cached.get(address)?.get(name);
    if (known !== undefined) return known;
    if (this.newer === undefined) return this.#read(address, name);
    return andThen(this.newer.#find(address, name), ({ stored }) => {
      if (stored === undefined || stored.writtenAtVersion > this.version) {
        return this.#read(address, name);
      }
      return this.#cache(address, name, { stored });
    });
  }

  #read(address: Address, name: string): MaybePromise<CachedModule> {
    const hashed = hashedStateKey(moduleStateKey(address, name));
    const key = this.#canInterpolate ? ({ ...hashed, canInterpolate: true } as const) : hashed;
    return andThen(this.#guard.state(address, key, this.version), (entry) =>
      this.#cache(address, name, { stored: this.#caches.modules.moduleOf(key.hash, entry) }),
    );
  }

  #cache(address: Address, name: string, found: CachedModule): CachedModule {
    if (name.length > MAX_CACHED_NAME_LENGTH) return found;
    if (this.#cachedCount >= MAX_CACHED_MODULES) {
      this.#cached.clear();
      this.#cachedCount = 0;
    }
    let byName = this.#cached.get(address);
    if (byName === undefined) {
      byName = new Map();
      this.#cached.set(copiedText(address), byName);
    }
    byName.set(copiedText(name), found);
    this.#cachedCount += 1;
    return found;
  }

  #load(
    found: CachedModule,
    loaderLimits: () => MaybePromise<VersionedLimits>,
  ): MaybePromise<CompiledModule | undefined> {
    const { stored, loaded } = found;
    if (loaded !== undefined || stored === undefined) return loaded;
    return andThen(loaderLimits(), ({ limits }) => {
      found.loaded = stored.load(limits);
      return found.loaded;
    });
  }

  #loaderLimits(): MaybePromise<VersionedLimits> {
    if (this.#limits !== undefined) return this.#limits;
    const { newer } = this;
    const limits = settle(
      () =>
        andThen(newer === undefined ? undefined : newer.#loaderLimits(), (known) =>
          known !== undefined && known.sinceVersion <= this.version
            ? known
            : loaderLimitsAt(this.#guard, this.version),
        ),
      (found) => {
        this.#limits = found;
        return found;
      },
      (failure) => {
        this.#limits = undefined;
        throw failure;
      },
    );
    this.#limits = limits;
    return limits;
  }
}
