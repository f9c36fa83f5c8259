/** What a run changed in the state (docs/spec/vm.md §8.2). */
import type { Address } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import { changeResourceGroup, type MemberChange } from '../move/types/resource-group.ts';
import {
  AccessPathKey,
  type HashedStateKey,
  hashedStateKey,
  moduleStateKey,
  StateKey,
  stateKeyId,
} from '../move/types/state-key.ts';
import { decodeStored } from '../state/ledger-error.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { RunEffects } from '../vm/run-effects.ts';
import type { YieldBudget } from '../yield-budget.ts';
import { keyOf, placeIn, type ResourcePlaces, type VisibleModules } from './ledger-world.ts';

interface ChangedGroup {
  readonly key: AccessPathKey;
  readonly hashed: HashedStateKey;
  readonly members: (MemberChange & { readonly isAggregate: boolean })[];
}

/** A value of the state that differs from before. */
export interface StateChange {
  readonly key: StateKey;
  /** BCS of the key, by which a write set is sorted. */
  readonly keyBytes: Buffer;
  /** Has no bytes if there was no value. */
  readonly before: Pick<StateEntry, 'bytes' | 'metadata'>;
  /** `undefined` if it is deleted. */
  readonly after: Buffer | undefined;
  /** Whether the change is charged for; that of an aggregator that nobody has read is not. */
  readonly isCharged: boolean;
  /** Whether only aggregators changed, so that the metadata stays. */
  readonly isAggregate: boolean;
}

interface ChangedPlace {
  readonly guard: Pick<PruningGuard, 'state'>;
  readonly modules: VisibleModules;
  readonly places: ResourcePlaces;
  readonly pace: YieldBudget;
}

export interface NewModule {
  readonly id: ModuleId;
  readonly bytes: Buffer;
}

/** The changes in the order of a write set. Rejects with LedgerError. */
export async function stateChanges(
  { resources, items }: RunEffects,
  newModules: readonly NewModule[],
  { guard, modules, places, pace }: ChangedPlace,
): Promise<StateChange[]> {
  const changes: StateChange[] = [];
  const add = async (
    key: StateKey,
    hashed: HashedStateKey,
    owner: Address | undefined,
    afterOf: (before: Buffer | undefined) => Buffer | undefined,
    { isCharged = true, isAggregate = false } = {},
  ) => {
    const entry = await guard.state(owner, hashed, modules.version);
    const before = entry ?? NOTHING;
    const after = afterOf(before.bytes);
    const keyBytes = StateKey.encode(key);
    if (before.bytes !== undefined || after !== undefined) {
      changes.push({ key, keyBytes, before, after, isCharged, isAggregate });
    }
    const sizeBytes = CHANGE_BYTES + (before.bytes?.length ?? 0) + (after?.length ?? 0);
    if (pace.mustYield(sizeBytes)) await pace.nextTurn();
  };
  const groups = new Map<string, ChangedGroup>();
  for (const change of resources) {
    const { address, tag, after, isAggregate } = change;
    const place = await placeIn(places, tag, modules.lookup);
    const hashed = keyOf(place, address);
    const key = new AccessPathKey(address, place.path);
    if (place.member === undefined) {
      await add(key, hashed, address, () => after, { isAggregate });
      continue;
    }
    const id = stateKeyId(hashed);
    const group = groups.get(id) ?? { key, hashed, members: [] };
    group.members.push({ tagBytes: place.member, data: after, isAggregate });
    groups.set(id, group);
  }
  for (const { key, hashed, members } of groups.values()) {
    const isAggregate = members.every((member) => member.isAggregate);
    const afterOf = (before: Buffer | undefined) =>
      decodeStored('Failed to read a resource group: ', () => changeResourceGroup(before, members));
    await add(key, hashed, key.address, afterOf, { isAggregate });
  }
  for (const { handle, key, after, isDelta, isAggregate } of items) {
    const itemKey = { kind: 'tableItem', handle, key } as const;
    const hashed = hashedStateKey(itemKey);
    await add(itemKey, hashed, undefined, () => after, { isCharged: !isDelta, isAggregate });
  }
  for (const { id, bytes } of newModules) {
    const key = moduleStateKey(id.address, id.name);
    await add(key, hashedStateKey(key), id.address, () => bytes);
  }
  return changes.sort((left, right) => Buffer.compare(left.keyBytes, right.keyBytes));
}

const NOTHING = { bytes: undefined, metadata: undefined };
/** Work for a change besides its bytes, expressed in bytes. */
const CHANGE_BYTES = 512;
