/** The state that code sees at one version (docs/spec/vm.md §5). */
import { CACHE_BUDGETS } from '../cache.ts';
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { type Address, isReservedAddress } from '../move/types/address.ts';
import { type HashedStateKey, hashedStateKey, stateKeyId } from '../move/types/state-key.ts';
import { formatStructTag, type StructTag, TypeTagDepthError } from '../move/types/type-tag.ts';
import { isFeatureEnabled } from '../move/values/framework-resource.ts';
import { featuresAt } from '../state/features.ts';
import type { ModuleView } from '../state/module-view.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import { type ResourcePlace, resourceIn, resourcePlace } from '../state/resource.ts';
import { VmError } from '../vm/status/status.ts';
import type { StoredGroup, World } from '../vm/world.ts';
import { nextTurn } from '../yield-budget.ts';

export type VisibleModules = Pick<ModuleView, 'lookup' | 'version'>;

/** Maximum memory of the resources that a world caches, in bytes. */
const MAX_CACHED_BYTES = CACHE_BUDGETS.world.bytes;

interface NamedPlace extends ResourcePlace {
  readonly text: string;
  /** The type of the resource group. */
  readonly groupText: string | undefined;
  /** Recently requested keys: a resource is read, and then it is written. */
  readonly recent: Map<Address, HashedStateKey>;
}

const MAX_RECENT_KEYS = 8;

/** Where resources of a type are, looked up in some modules unless it is known. */
export function placeIn(
  places: ResourcePlaces,
  tag: StructTag,
  lookup: ModuleLookup,
): MaybePromise<NamedPlace> {
  const known = places.get(tag);
  if (known !== undefined) return known;
  return settle(
    () => resourcePlace(tag, lookup),
    (found) => {
      const groupText = found.group && formatStructTag(found.group);
      const place = { ...found, text: formatStructTag(tag), groupText, recent: new Map() };
      places.set(tag, place);
      return place;
    },
    (error) => {
      if (error instanceof TypeTagDepthError) throw new VmError('VALUE_SERIALIZATION_ERROR');
      throw error;
    },
  );
}

export function keyOf(place: NamedPlace, address: Address): HashedStateKey {
  const { recent, keys } = place;
  let key = recent.get(address);
  if (key === undefined) {
    const hashed = keys.key(address);
    key = { ...hashed, id: stateKeyId(hashed) };
    if (recent.size === MAX_RECENT_KEYS) recent.clear();
    recent.set(address, key);
  }
  return key;
}

/**
 * Where resources are, by the tags of the machine's types, which are the same objects from one run to the next. The
 * places follow from the modules.
 */
export type ResourcePlaces = WeakMap<StructTag, NamedPlace>;

interface WorldParts {
  readonly stateUsage?: World['stateUsage'];
  /** Places from other versions with the same modules. */
  readonly places?: ResourcePlaces;
  /** Whether nothing is cached, because one run reads each resource once. */
  readonly isForOneRun?: boolean;
}

/** The group that was read last: its resources are read one after the other. */
interface ReadGroup extends StoredGroup {
  readonly address: Address;
  readonly text: string;
  readonly value: Buffer | undefined;
}

interface CachedResource {
  readonly bytes: Uint8Array | undefined;
  readonly group: StoredGroup | undefined;
}

/**
 * The state that calls at one version see. Resources at the chain's own addresses are cached: nearly every call reads
 * some of them, and they cannot change at a version.
 */
class LedgerWorld implements World {
  readonly modules: ModuleLookup;
  readonly nextTurn = nextTurn;
  readonly stateUsage: World['stateUsage'];
  readonly #guard: PruningGuard;
  readonly #modules: VisibleModules;
  readonly #features: Uint8Array | undefined;
  readonly #places: ResourcePlaces;
  readonly #remembered = new Map<string, Map<Address, CachedResource>>();
  readonly #isForOneRun: boolean;
  #cachedBytes = 0;
  #lastGroup: ReadGroup | undefined;

  constructor(
    guard: PruningGuard,
    modules: VisibleModules,
    features: Uint8Array | undefined,
    { stateUsage, places = new WeakMap(), isForOneRun = false }: WorldParts,
  ) {
    this.#isForOneRun = isForOneRun;
    this.stateUsage = stateUsage;
    this.#places = places;
    this.modules = modules.lookup;
    this.#guard = guard;
    this.#modules = modules;
    this.#features = features;
  }

  isFeatureEnabled(flag: number): boolean {
    return this.#features !== undefined && isFeatureEnabled(this.#features, flag);
  }

  resource(
    address: Address,
    tag: StructTag,
    onGroup?: (group: StoredGroup) => void,
  ): MaybePromise<Uint8Array | undefined> {
    return andThen(placeIn(this.#places, tag, this.#modules.lookup), (place) => {
      if (this.#isForOneRun || !isReservedAddress(address)) {
        return this.#read(address, place, onGroup);
      }
      const known = this.#remembered.get(place.text)?.get(address);
      if (known === undefined) return this.#readAndRemember(address, place, onGroup);
      if (known.group !== undefined) onGroup?.(known.group);
      return known.bytes;
    });
  }

  #read(
    address: Address,
    place: NamedPlace,
    onGroup: ((group: StoredGroup) => void) | undefined,
  ): MaybePromise<Uint8Array | undefined> {
    if (place.groupText === undefined) return this.#valueOf(address, this.#keyOf(place, address));
    return andThen(this.#groupAt(address, place, place.groupText), (group) => {
      onGroup?.(group);
      return resourceIn(group.value, address, place);
    });
  }

  #valueOf(address: Address, key: HashedStateKey): MaybePromise<Buffer | undefined> {
    return andThen(this.#guard.state(address, key, this.#modules.version), (entry) => entry?.bytes);
  }

  #groupAt(address: Address, place: NamedPlace, text: string): MaybePromise<ReadGroup> {
    const last = this.#lastGroup;
    if (last !== undefined && last.address === address && last.text === text) return last;
    const key = this.#keyOf(place, address);
    return andThen(this.#valueOf(address, key), (value) => {
      const group = { id: stateKeyId(key), bytes: value?.length ?? 0, address, text, value };
      this.#lastGroup = group;
      return group;
    });
  }

  /** A run may also write what it reads, so it requests the key again. */
  #keyOf(place: NamedPlace, address: Address): HashedStateKey {
    return this.#isForOneRun ? keyOf(place, address) : place.keys.key(address);
  }

  #readAndRemember(
    address: Address,
    place: NamedPlace,
    onGroup: ((group: StoredGroup) => void) | undefined,
  ): MaybePromise<Uint8Array | undefined> {
    let group: StoredGroup | undefined;
    const recordGroup = ({ id, bytes }: StoredGroup): void => {
      group = { id, bytes };
      onGroup?.(group);
    };
    return andThen(this.#read(address, place, recordGroup), (bytes) => {
      this.#remember(address, place.text, { bytes: bytes && Uint8Array.from(bytes), group });
      return bytes;
    });
  }

  #remember(address: Address, type: string, found: CachedResource): void {
    const sizeBytes = (address.length + type.length) * 2 + (found.bytes?.length ?? 0);
    if (this.#cachedBytes + sizeBytes > MAX_CACHED_BYTES) return;
    this.#cachedBytes += sizeBytes;
    const ofType = this.#remembered.get(type) ?? new Map<Address, CachedResource>();
    this.#remembered.set(type, ofType);
    ofType.set(address, found);
  }

  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined> {
    const stateKey = { kind: 'tableItem', handle, key: Buffer.from(key) } as const;
    return andThen(
      this.#guard.state(undefined, hashedStateKey(stateKey), this.#modules.version),
      (entry) => entry?.bytes,
    );
  }
}

/** The world at the version of some modules. Rejects with LedgerError if it is pruned. */
export function openWorld(
  guard: PruningGuard,
  modules: VisibleModules,
  parts: WorldParts = {},
): MaybePromise<World> {
  return andThen(
    featuresAt(guard, modules.version),
    (features) => new LedgerWorld(guard, modules, features, parts),
  );
}
