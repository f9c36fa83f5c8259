/** The writes of a transaction, with the previous values, as JSON (docs/traces.md). */
import { formatHex } from '../../move/bcs/hex.ts';
import type { WriteSetEntry } from '../../move/transactions/write-set.ts';
import { iterateGroup } from '../../move/types/resource-group.ts';
import { hashedStateKey, type StateKey } from '../../move/types/state-key.ts';
import type { StateValueMetadata } from '../../move/types/state-value.ts';
import { formatStructTag, formatTypeTag, type StructTag } from '../../move/types/type-tag.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import { depositOf } from '../storage-fees.ts';
import type { CallRecorder } from './call-recorder.ts';
import { addressJson, type CodeOf, member, type TraceValues } from './trace-values.ts';

type Before = Pick<StateEntry, 'bytes' | 'metadata'> | undefined;

/** Where the types of written values are looked up, and the item types of tables. */
interface WritesPlace {
  readonly values: TraceValues;
  readonly tables: CallRecorder['tables'];
  readonly modules: CodeOf;
}

/** The changes of one write; for a resource group, those of its members. */
export async function writeJson(
  { key, op }: WriteSetEntry,
  before: Before,
  place: WritesPlace,
): Promise<string[]> {
  const after = op.kind === 'deletion' ? undefined : op.bytes;
  const hash = formatHex(hashedStateKey(key).hash);
  const paid = after === undefined ? 0n : depositIn(op.metadata);
  const deposit = `,"deposit_octas":"${paid - depositIn(before?.metadata)}"`;
  const head = `{"state_key_hash":"${hash}"`;
  const parts = await partsOf(key, { before: before?.bytes, after }, place);
  // The deposit is that of the whole group.
  return parts.map((part, index) => `${head}${part}${index === 0 ? deposit : ''}}`);
}

function depositIn(metadata: StateValueMetadata | undefined): bigint {
  return metadata === undefined ? 0n : depositOf(metadata);
}

interface Change {
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

async function partsOf(key: StateKey, change: Change, place: WritesPlace): Promise<string[]> {
  const { values, modules, tables } = place;
  if (key.kind === 'tableItem') {
    const types = tables.get(key.handle);
    const rawKey = `,"raw_key":"${formatHex(key.key)}"`;
    const head = `,"kind":"table_item","handle":${addressJson(key.handle)}${rawKey}`;
    if (types === undefined) return [head + sizesOf(change)];
    const { program, keyType, valueType } = types;
    const keyJson = await values.storedJson(key.key, keyType.tag, program);
    const named = `,"key_type":${typeJson(keyType.tag)}${member('key', keyJson)}`;
    const type = `,"type":${typeJson(valueType.tag)}`;
    const valueJson = (bytes: Uint8Array) => values.storedJson(bytes, valueType.tag, program);
    return [head + named + type + (await valuesOf(change, valueJson)) + sizesOf(change)];
  }
  if (key.kind !== 'accessPath' || key.parsed === undefined) {
    return [`,"kind":"other"${sizesOf(change)}`];
  }
  const owner = `"address":${addressJson(key.address)}`;
  const path = key.parsed;
  if (path.kind === 'code') {
    return [`,"kind":"module",${owner},"module":"${path.module.name}"${sizesOf(change)}`];
  }
  const resource = async (struct: StructTag, one: Change, group = '') => {
    const head = `,"kind":"resource",${owner},"type":${JSON.stringify(formatStructTag(struct))}`;
    const valueJson = (bytes: Uint8Array) =>
      values.storedJson(bytes, { kind: 'struct', struct }, modules);
    return head + group + (await valuesOf(one, valueJson)) + sizesOf(one);
  };
  if (path.kind === 'resource') return [await resource(path.tag, change)];
  const group = `,"group":${JSON.stringify(formatStructTag(path.tag))}`;
  const members = membersOf(change);
  if (members.length === 0) return [`,"kind":"resource_group",${owner}${group}${sizesOf(change)}`];
  return await Promise.all(members.map((one) => resource(one.tag, one, group)));
}

/** The members of a group that differ. */
function membersOf({ before, after }: Change) {
  const found = new Map<string, Change & { readonly tag: StructTag }>();
  for (const { tag, tagBytes, data } of before === undefined ? [] : iterateGroup(before)) {
    found.set(tagBytes.toString('latin1'), { tag, before: data, after: undefined });
  }
  for (const { tag, tagBytes, data } of after === undefined ? [] : iterateGroup(after)) {
    const id = tagBytes.toString('latin1');
    const beforeData = found.get(id)?.before;
    if (beforeData !== undefined && data.equals(beforeData)) found.delete(id);
    else found.set(id, { tag, before: beforeData, after: data });
  }
  return [...found.values()];
}

async function valuesOf(
  { before, after }: Change,
  valueJson: (bytes: Uint8Array) => Promise<string | undefined>,
): Promise<string> {
  return (
    member('before', before && (await valueJson(before))) +
    member('after', after && (await valueJson(after)))
  );
}

/** Sizes of the values in bytes; absent for a missing value. */
function sizesOf({ before, after }: Change): string {
  return (
    member('bytes_before', before && String(before.length)) +
    member('bytes_after', after && String(after.length))
  );
}

function typeJson(tag: Parameters<typeof formatTypeTag>[0]): string {
  return JSON.stringify(formatTypeTag(tag));
}
