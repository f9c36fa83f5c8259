/** What a run changed in the state (docs/spec/vm.md §8.2). */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { Address } from '../../move/types/address.ts';
import {
  decodeResourceGroup,
  encodeResourceGroup,
  encodeStructTag,
} from '../../move/types/resource-group.ts';
import {
  hashedStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
  writeStateKey,
} from '../../move/types/state-key.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import type { ResourceChange, RunEffects } from '../../vm/run-effects.ts';
import { groupOf } from '../accounts/resource.ts';
import { decodeStored } from '../ledger-error.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { Pace } from '../pace.ts';
import type { PruningGuard } from '../pruning-guard.ts';

interface ChangedGroup {
  readonly address: Address;
  readonly tag: StructTag;
  readonly members: ResourceChange[];
}

/** A value of the state that is another than before. */
export interface StateChange {
  readonly key: StateKey;
  /** BCS of the key, which is the order of a write set. */
  readonly keyBytes: Buffer;
  /** Without bytes where there was none. */
  readonly before: Pick<StateEntry, 'bytes' | 'metadata'>;
  /** `undefined`: it is deleted. */
  readonly after: Buffer | undefined;
}

/** Where a run was. */
interface ChangedPlace {
  readonly guard: PruningGuard;
  readonly modules: ModuleView;
  readonly pace: Pace;
}

/** The changes in the order of a write set. Rejects with LedgerError. */
export async function stateChanges(
  { resources, items }: RunEffects,
  { guard, modules, pace }: ChangedPlace,
): Promise<StateChange[]> {
  const changes: StateChange[] = [];
  const add = async (
    key: StateKey,
    owner: Address | undefined,
    afterOf: (before: Buffer | undefined) => Buffer | undefined,
  ) => {
    const entry = await guard.state(owner, hashedStateKey(key), modules.version);
    const before = entry ?? NOTHING;
    const after = afterOf(before.bytes);
    const keyBytes = encodeBcs((writer) => writeStateKey(writer, key));
    if (before.bytes !== undefined || after !== undefined) {
      changes.push({ key, keyBytes, before, after });
    }
    const sizeBytes = CHANGE_BYTES + (before.bytes?.length ?? 0) + (after?.length ?? 0);
    if (pace.isOver(sizeBytes)) await pace.nextTurn();
  };
  const groups = new Map<string, ChangedGroup>();
  for (const change of resources) {
    const { address, tag, after } = change;
    const group = await groupOf(tag, modules.lookup);
    if (group === undefined) {
      await add(resourceStateKey(address, tag), address, () => after);
      continue;
    }
    const id = address + formatStructTag(group);
    const known = groups.get(id);
    if (known === undefined) groups.set(id, { address, tag: group, members: [change] });
    else known.members.push(change);
  }
  for (const { address, tag, members } of groups.values()) {
    const key = resourceGroupStateKey(address, tag);
    await add(key, address, (before) => changedGroup(before, members));
  }
  for (const { handle, key, after } of items) {
    await add({ kind: 'tableItem', handle, key }, undefined, () => after);
  }
  return changes.sort((left, right) => Buffer.compare(left.keyBytes, right.keyBytes));
}

const NOTHING = { bytes: undefined, metadata: undefined };
/** Work for a change besides its bytes, as that of so many bytes. */
const CHANGE_BYTES = 512;

/** A group with some members changed; `undefined` where none is left. */
function changedGroup(
  bytes: Buffer | undefined,
  changes: readonly ResourceChange[],
): Buffer | undefined {
  const members = new Map<string, { readonly tag: StructTag; readonly data: Uint8Array }>();
  const keyOf = (tag: StructTag): string => encodeStructTag(tag).toString('latin1');
  const stored =
    bytes && decodeStored('Failed to read a resource group: ', () => decodeResourceGroup(bytes));
  for (const { tag, data } of stored ?? []) members.set(keyOf(tag), { tag, data });
  for (const { tag, after } of changes) {
    if (after === undefined) members.delete(keyOf(tag));
    else members.set(keyOf(tag), { tag, data: after });
  }
  return members.size === 0 ? undefined : encodeResourceGroup(members.values());
}
