/**
 * Single resources at a version: plain ones and members of groups (docs/spec/ledger.md §5.5, docs/spec/http.md §1.6).
 */
import { copiedBytes } from '../cache.ts';
import { andThen, type MaybePromise, settle } from '../maybe-promise.ts';
import { BinaryFormatError } from '../move/modules/format.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { resourceGroupOf } from '../move/modules/metadata.ts';
import { ADDRESS_ZERO, type Address, formatAddress } from '../move/types/address.ts';
import { encodeStructTag, groupMember } from '../move/types/resource-group.ts';
import { resourceGroupStateKey, resourceStateKey } from '../move/types/state-key.ts';
import { formatStructTag, INDEX_OF_KIND, type StructTag } from '../move/types/type-tag.ts';
import { renderValue } from '../move/values/value-json.ts';
import { AccountKeyHasher } from './account-keys.ts';
import { conversionError, decodeStored, LedgerError } from './ledger-error.ts';
import type { ModuleView, RenderedType } from './module-view.ts';
import type { PruningGuard } from './pruning-guard.ts';

const STRUCT_INDEX = Buffer.of(INDEX_OF_KIND.get('struct')!);

/**
 * The bytes of a resource at the version of `modules`.
 * @throws LedgerError `resource_not_found`; `internal_error` if a group does not decode; or rejects with them
 */
export function readResource(
  guard: PruningGuard,
  modules: ModuleView,
  address: Address,
  tag: StructTag,
): MaybePromise<Buffer> {
  const { version } = modules;
  const found = andThen(resourcePlace(tag, modules.lookup), (place) =>
    andThen(guard.state(address, place.keys.key(address), version), (entry) =>
      resourceIn(entry?.bytes, address, place),
    ),
  );
  return andThen(found, (bytes) => {
    if (bytes !== undefined) return bytes;
    throw new LedgerError(
      'resource_not_found',
      `Resource not found by Address(${formatAddress(address)}), ` +
        `Struct tag(${formatStructTag(tag)}) and Ledger version(${version})`,
    );
  });
}

/** Where the resources of a type are stored, for any account. */
export interface ResourcePlace {
  readonly tag: StructTag;
  /** The group that contains them; absent if each is a value of its own. */
  readonly group: StructTag | undefined;
  readonly keys: AccountKeyHasher;
  readonly path: Buffer;
  /** The BCS of the tag, which is the key of the resource in its group; absent without a group. */
  readonly member: Buffer | undefined;
}

/** The struct's module declares its group; a module that is missing or does not load declares none. */
export function resourcePlace(tag: StructTag, lookup: ModuleLookup): MaybePromise<ResourcePlace> {
  return andThen(groupOf(tag, lookup), (group) => {
    const key =
      group === undefined
        ? resourceStateKey(ADDRESS_ZERO, tag)
        : resourceGroupStateKey(ADDRESS_ZERO, group);
    const member = group && copiedBytes(encodeStructTag(tag));
    return { tag, group, keys: new AccountKeyHasher(key), path: copiedBytes(key.path), member };
  });
}

/**
 * Extracts a resource from the value at its place. @throws LedgerError `internal_error` if a group does not decode
 */
export function resourceIn(
  value: Buffer | undefined,
  address: Address,
  { tag, member }: ResourcePlace,
): Buffer | undefined {
  if (member === undefined || value === undefined) return value;
  const failure = () =>
    `Failed to query DB to check for ${formatStructTag(tag)} at ${formatAddress(address)}: `;
  return decodeStored(failure, () => groupMember(value, member));
}

/** The resource group that a type's module declares for it; `undefined` if it declares none. */
export function groupOf(tag: StructTag, lookup: ModuleLookup): MaybePromise<StructTag | undefined> {
  return settle(
    () => lookup({ address: tag.address, name: tag.module }),
    (module) => module && resourceGroupOf(module, tag.name),
    (error) => {
      if (error instanceof BinaryFormatError) return undefined;
      throw error;
    },
  );
}

/** What is needed to render values of a resource type. @throws LayoutError; or rejects with it */
export function resourceType(tag: StructTag, modules: ModuleView): MaybePromise<RenderedType> {
  const tagBytes = Buffer.concat([STRUCT_INDEX, encodeStructTag(tag)]);
  return andThen(modules.type(tagBytes, { kind: 'struct', struct: tag }), ({ value }) => value);
}

/**
 * The JSON text of a resource: `{"type":"…","data":{…}}`.
 * @param failure start of error messages: what failed
 * @throws LedgerError `internal_error`; or rejects with it
 */
export function resourceJson(
  tag: StructTag,
  bytes: Uint8Array,
  modules: ModuleView,
  failure: string,
): MaybePromise<string> {
  return settle(
    () =>
      andThen(
        resourceType(tag, modules),
        ({ jsonText, layout }) => `{"type":${jsonText},"data":${renderValue(layout, bytes)}}`,
      ),
    (text) => text,
    (cause) => {
      throw conversionError(failure, cause);
    },
  );
}
