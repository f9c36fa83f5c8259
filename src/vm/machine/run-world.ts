import type { MaybePromise } from '../../maybe-promise.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import type { Address } from '../../move/types/address.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { VmError } from '../status/status.ts';
import type { RunTurns, StoredGroup, World } from '../world.ts';

export class RunWorld implements World {
  inner: World;
  readonly #turns: Pick<RunTurns, 'nextTurn'>;
  #readsLeft: number;

  constructor(world: World, maxReads: number, turns: RunTurns | undefined) {
    this.inner = world;
    this.#turns = turns ?? world;
    this.#readsLeft = maxReads;
  }

  get modules(): ModuleLookup {
    return this.inner.modules;
  }

  nextTurn(): Promise<void> {
    return this.#turns.nextTurn();
  }

  isFeatureEnabled(flag: number): boolean {
    return this.inner.isFeatureEnabled(flag);
  }

  /** @throws VmError IO_LIMIT_REACHED */
  resource(
    address: Address,
    tag: StructTag,
    onGroup?: (group: StoredGroup) => void,
  ): MaybePromise<Uint8Array | undefined> {
    this.#countRead();
    return this.inner.resource(address, tag, onGroup);
  }

  /** @throws VmError IO_LIMIT_REACHED */
  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined> {
    this.#countRead();
    return this.inner.tableItem(handle, key);
  }

  get stateUsage(): World['stateUsage'] {
    return this.inner.stateUsage;
  }

  #countRead(): void {
    this.#readsLeft -= 1;
    if (this.#readsLeft < 0) throw new VmError('IO_LIMIT_REACHED', { isNodeLimit: true });
  }
}
