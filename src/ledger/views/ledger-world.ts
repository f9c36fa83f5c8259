/** The state that code sees at one version (docs/spec/vm.md §5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type Address, isReservedAddress } from '../../move/types/address.ts';
import { hashedStateKey } from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { isFeatureEnabled } from '../../move/values/framework-resource.ts';
import type { World } from '../../vm/world.ts';
import { type ResourcePlace, resourceAt, resourcePlace } from '../accounts/resource.ts';
import { featuresAt } from '../modules/features.ts';
import type { ModuleView } from '../modules/module-view.ts';
import { nextTurn } from '../pace.ts';
import type { PruningGuard } from '../pruning-guard.ts';

/** Largest memory of the resources that a world remembers, in bytes. */
const MAX_REMEMBERED_BYTES = 1024 * 1024;

interface NamedPlace extends ResourcePlace {
  /** The type. */
  readonly text: string;
}

/**
 * What calls of one version see. Resources of the chain's own addresses are remembered: nearly every call reads some
 * of them, and they cannot change at a version.
 */
class LedgerWorld implements World {
  readonly modules: ModuleLookup;
  readonly nextTurn = nextTurn;
  readonly #guard: PruningGuard;
  readonly #modules: ModuleView;
  readonly #features: Uint8Array | undefined;
  /** By the tags of the machine's types, which are the same objects from one call to the next. */
  readonly #places = new WeakMap<StructTag, NamedPlace>();
  /** By the text of the type. */
  readonly #remembered = new Map<string, Map<Address, Uint8Array | undefined>>();
  #rememberedBytes = 0;

  constructor(guard: PruningGuard, modules: ModuleView, features: Uint8Array | undefined) {
    this.modules = modules.lookup;
    this.#guard = guard;
    this.#modules = modules;
    this.#features = features;
  }

  isFeatureEnabled(flag: number): boolean {
    return this.#features !== undefined && isFeatureEnabled(this.#features, flag);
  }

  resource(address: Address, tag: StructTag): MaybePromise<Uint8Array | undefined> {
    const known = this.#places.get(tag);
    if (known !== undefined) return this.#read(address, known);
    return andThen(resourcePlace(tag, this.#modules.lookup), (found) => {
      const place = { ...found, text: formatStructTag(tag) };
      this.#places.set(tag, place);
      return this.#read(address, place);
    });
  }

  #read(address: Address, place: NamedPlace): MaybePromise<Uint8Array | undefined> {
    const { version } = this.#modules;
    if (!isReservedAddress(address)) return resourceAt(this.#guard, version, address, place);
    const ofType = this.#remembered.get(place.text);
    const known = ofType?.get(address);
    if (known !== undefined || ofType?.has(address) === true) return known;
    return andThen(resourceAt(this.#guard, version, address, place), (bytes) => {
      this.#remember(address, place.text, bytes);
      return bytes;
    });
  }

  #remember(address: Address, type: string, bytes: Uint8Array | undefined): void {
    const sizeBytes = (address.length + type.length) * 2 + (bytes?.length ?? 0);
    if (this.#rememberedBytes + sizeBytes > MAX_REMEMBERED_BYTES) return;
    this.#rememberedBytes += sizeBytes;
    const ofType = this.#remembered.get(type) ?? new Map<Address, Uint8Array | undefined>();
    this.#remembered.set(type, ofType);
    ofType.set(address, bytes && Uint8Array.from(bytes));
  }

  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined> {
    const stateKey = { kind: 'tableItem', handle, key: Buffer.from(key) } as const;
    return andThen(
      this.#guard.state(undefined, hashedStateKey(stateKey), this.#modules.version),
      (entry) => entry?.bytes,
    );
  }
}

/** The world at the version of some modules. Rejects with LedgerError where it is pruned. */
export function openWorld(guard: PruningGuard, modules: ModuleView): MaybePromise<World> {
  return andThen(
    featuresAt(guard, modules.version),
    (features) => new LedgerWorld(guard, modules, features),
  );
}
