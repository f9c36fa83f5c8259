/**
 * Single resources at a version, plain ones and members of groups (docs/spec/ledger.md §5.5, docs/spec/http.md §1.6).
 */

import { BcsError } from '../move/bcs/bcs-reader.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { resourceGroupOf } from '../move/modules/metadata.ts';
import { type Address, formatAddress } from '../move/types/address.ts';
import {
  decodeResourceGroup,
  encodeStructTag,
  findGroupMember,
} from '../move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
  stateKeyHash,
} from '../move/types/state-key.ts';
import { formatStructTag, INDEX_OF_KIND, type StructTag } from '../move/types/type-tag.ts';
import { renderValue } from '../move/values/value-json.ts';
import { conversionError } from './conversion-error.ts';
import type { LayoutCache, RenderedType } from './layout-cache.ts';
import { LedgerError } from './ledger-error.ts';
import type { StateReader } from './state-reader.ts';

const STRUCT_INDEX = Buffer.of(INDEX_OF_KIND.get('struct')!);

/**
 * The bytes of a resource; `undefined` when the account has none of the type. Whether a struct is kept in a group is
 * asked of its module at the version read; a module that is missing or does not load declares no membership.
 * @throws LedgerError `internal_error` for a group's value that does not decode
 */
export async function readResource(
  state: StateReader,
  lookup: ModuleLookup,
  address: Address,
  tag: StructTag,
  version: bigint,
): Promise<Buffer | undefined> {
  const group = await groupOf(tag, lookup);
  if (group === undefined) return read(state, resourceStateKey(address, tag), version);
  const members = await read(state, resourceGroupStateKey(address, group), version);
  if (members === undefined) return undefined;
  try {
    return findGroupMember(decodeResourceGroup(members), tag);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const what = `${formatStructTag(tag)} at ${formatAddress(address)}`;
    const message = `Failed to query DB to check for ${what}: ${cause.detail}`;
    throw new LedgerError('internal_error', message, { cause });
  }
}

async function groupOf(tag: StructTag, lookup: ModuleLookup): Promise<StructTag | undefined> {
  try {
    const module = await lookup({ address: tag.address, name: tag.module });
    return module && resourceGroupOf(module, tag.name);
  } catch (error) {
    if (error instanceof BinaryFormatError) return undefined;
    throw error;
  }
}

async function read(
  state: StateReader,
  key: StateKey,
  version: bigint,
): Promise<Buffer | undefined> {
  const entry = await state(stateKeyHash(physicalStateKey(key)), version);
  return entry?.bytes;
}

/**
 * What rendering values of a resource type needs.
 * @throws LayoutError
 */
export async function resourceType(
  tag: StructTag,
  lookup: ModuleLookup,
  layouts: LayoutCache,
): Promise<RenderedType> {
  const tagBytes = Buffer.concat([STRUCT_INDEX, encodeStructTag(tag)]);
  return (
    layouts.ready(tagBytes, lookup) ??
    (await layouts.resolve(tagBytes, lookup, { kind: 'struct', struct: tag }))
  );
}

/**
 * The JSON text of a resource: `{"type":"…","data":{…}}`.
 * @param failure what failed, as messages begin
 * @throws LedgerError `internal_error`
 */
export async function resourceJson(
  tag: StructTag,
  bytes: Uint8Array,
  lookup: ModuleLookup,
  layouts: LayoutCache,
  failure: string,
): Promise<string> {
  try {
    const type = await resourceType(tag, lookup, layouts);
    return `{"type":${type.jsonText},"data":${renderValue(type.layout, bytes)}}`;
  } catch (cause) {
    throw conversionError(failure, cause);
  }
}
