/** What a run changed as writes of the state (docs/spec/vm.md §8.2). */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { WriteOp, WriteSetEntry } from '../../move/transactions/write-set.ts';
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
import type { ResourceChange, RunEffects } from '../../vm/run-effects.ts';
import { groupOf } from '../accounts/resource.ts';
import { decodeStored } from '../ledger-error.ts';
import type { ModuleView } from '../modules/module-view.ts';
import type { PruningGuard } from '../pruning-guard.ts';

interface ChangedGroup {
  readonly address: Address;
  readonly tag: StructTag;
  readonly members: ResourceChange[];
}

/** The writes in the order of a write set. Rejects with LedgerError. */
export async function writesOf(
  { resources, items }: RunEffects,
  guard: PruningGuard,
  modules: ModuleView,
): Promise<WriteSetEntry[]> {
  const writes: WriteSetEntry[] = [];
  const groups = new Map<string, ChangedGroup>();
  for (const change of resources) {
    const { address, tag, before, after } = change;
    const group = await groupOf(tag, modules.lookup);
    if (group === undefined) {
      writes.push(...written(resourceStateKey(address, tag), before, after));
      continue;
    }
    const id = address + formatStructTag(group);
    const known = groups.get(id);
    if (known === undefined) groups.set(id, { address, tag: group, members: [change] });
    else known.members.push(change);
  }
  for (const { address, tag, members } of groups.values()) {
    const key = resourceGroupStateKey(address, tag);
    const entry = await guard.state(address, hashedStateKey(key), modules.version);
    writes.push(...written(key, entry?.bytes, changedGroup(entry?.bytes, members)));
  }
  for (const { handle, key, before, after } of items) {
    writes.push(...written({ kind: 'tableItem', handle, key }, before, after));
  }
  return inOrder(writes);
}

function written(
  key: StateKey,
  before: Uint8Array | undefined,
  after: Buffer | undefined,
): WriteSetEntry[] {
  if (before === undefined && after === undefined) return [];
  const kind = before === undefined ? 'creation' : 'modification';
  const op: WriteOp =
    after === undefined
      ? { kind: 'deletion', metadata: undefined }
      : { kind, bytes: after, metadata: undefined };
  return [{ key, op }];
}

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

/** The order of keys in a write set: that of their BCS. */
function inOrder(writes: readonly WriteSetEntry[]): WriteSetEntry[] {
  const keyed = writes.map((entry) => ({
    entry,
    bytes: encodeBcs((writer) => writeStateKey(writer, entry.key)),
  }));
  keyed.sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  return keyed.map(({ entry }) => entry);
}
