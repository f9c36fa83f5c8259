/** What pages of an account show: resources with groups opened, modules (docs/spec/ledger.md §5.4). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { formatAddress } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import { decodeResourceGroup, encodeStructTag } from '../move/types/resource-group.ts';
import type { StructTag } from '../move/types/type-tag.ts';
import { compareStructTags } from '../move/types/type-tag-order.ts';
import { LedgerError } from './ledger-error.ts';
import type { ListedItem } from './listing.ts';

/** Items rendered before other requests get their turn. */
const ITEMS_PER_TURN = 64;

/** A resource of an account, plain or out of a group. */
export interface ListedResource {
  readonly tag: StructTag;
  readonly bytes: Buffer;
}

/** A module of an account. */
export interface ListedModule {
  readonly id: ModuleId;
  readonly bytes: Buffer;
}

/**
 * The resources of a page in its order, each group as its members in the order of their types.
 * @throws LedgerError `internal_error` for a group that does not decode
 */
export function resourcesOf(items: readonly ListedItem[]): ListedResource[] {
  return items.flatMap(({ path, bytes }) => {
    if (path.kind === 'resource') return [{ tag: path.tag, bytes }];
    return path.kind === 'resourceGroup' ? membersOf(bytes) : [];
  });
}

function membersOf(bytes: Buffer): ListedResource[] {
  try {
    return decodeResourceGroup(bytes)
      .map(({ tag, data }) => ({ tag, bytes: data }))
      .sort((left, right) => compareStructTags(left.tag, right.tag));
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const message = `Failed to get resources from storage: ${cause.detail}`;
    throw new LedgerError('internal_error', message, { cause });
  }
}

/** The modules of a page in its order. */
export function modulesOf(items: readonly ListedItem[]): ListedModule[] {
  return items.flatMap(({ path, bytes }) =>
    path.kind === 'code' ? [{ id: path.module, bytes }] : [],
  );
}

/** BCS of a page of resources: a map from struct tag to the resource's bytes. */
export function resourcesBcs(resources: readonly ListedResource[]): Buffer {
  return encodeByteMap(resources.map(({ tag, bytes }) => [encodeStructTag(tag), bytes]));
}

/** BCS of a page of modules: a map from `{address}::{name}`, a string, to the module's bytes. */
export function modulesBcs(modules: readonly ListedModule[]): Buffer {
  return encodeByteMap(
    modules.map(({ id, bytes }) => {
      const text = `${formatAddress(id.address)}::${id.name}`;
      return [encodeBcs((writer) => writer.string(text)), bytes];
    }),
  );
}

/** A map by the bytes of its keys; of equal keys the last counts. */
function encodeByteMap(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const byKey = new Map(entries.map((entry) => [entry[0].toString('latin1'), entry]));
  const sorted = [...byKey.values()].sort(([left], [right]) => Buffer.compare(left, right));
  return encodeBcs((writer) =>
    writer.vector(sorted, (to, [key, value]) => to.fixed(key).bytes(value)),
  );
}

/** The JSON text of an array of items that are rendered one by one. */
export async function jsonArray<T>(
  items: readonly T[],
  render: (item: T) => Promise<string> | string,
): Promise<string> {
  const texts: string[] = [];
  for (const item of items) {
    texts.push(await render(item));
    if (texts.length % ITEMS_PER_TURN === 0) await nextTurn();
  }
  return `[${texts.join(',')}]`;
}
