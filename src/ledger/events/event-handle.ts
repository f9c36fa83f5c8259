/** Finds event streams by their handles in resources (docs/spec/ledger.md §1.3). */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { FieldDefinition } from '../../move/modules/compiled.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { eventHandleCodec } from '../../move/values/framework-resource.ts';
import { type FoundStruct, findStruct } from '../../move/values/layout.ts';
import { splitFields } from '../../move/values/value-json.ts';
import { conversionError, LedgerError } from '../../state/ledger-error.ts';
import type { ModuleView } from '../../state/module-view.ts';
import { resourceType } from '../../state/resource.ts';
import type { StateSource } from '../../state/source.ts';
import type { StreamId } from '../../store/columns/event-column.ts';
import { type ListingBounds, listAccount } from '../accounts/listing.ts';

/** Limits of the search for a stream's handle in an account's state. */
const SEARCHED: ListingBounds = { maxBytes: 4 * 1024 * 1024, maxKeys: 1_000 };
const COUNTER_BYTES = 8;

interface HandleHolder {
  readonly address: Address;
  readonly tag: StructTag;
  readonly bytes: Uint8Array;
  /** The version at which it was read; error messages contain it. */
  readonly version: bigint;
}

/**
 * The stream whose handle is in a field of a resource. Any field of 48 bytes counts as a handle, as in the reference.
 * @throws LedgerError `struct_field_not_found`; `invalid_input` for a field that is not a handle; `internal_error` for
 *   a resource that cannot be read by its type
 */
export async function eventStreamIn(
  holder: HandleHolder,
  fieldName: string,
  modules: ModuleView,
): Promise<StreamId> {
  const field = await fieldOf(holder.tag, holder.bytes, fieldName, modules);
  if (field === undefined) {
    const { address, tag, version } = holder;
    throw new LedgerError(
      'struct_field_not_found',
      `Struct Field not found by Address(${formatAddress(address)}), ` +
        `Struct tag(${formatStructTag(tag)}), Field name(${fieldName}) and Ledger version(${version})`,
    );
  }
  try {
    return eventHandleCodec.decode(field).key;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw new LedgerError(
      'invalid_input',
      `Deserialization error, field(${fieldName}) type is not a EventHandle struct: ${cause.detail}`,
      { cause },
    );
  }
}

/**
 * The BCS of a field of a resource; `undefined` if it has no field of that name.
 * @throws LedgerError `internal_error` for a resource that cannot be read by its type
 */
async function fieldOf(
  tag: StructTag,
  bytes: Uint8Array,
  fieldName: string,
  modules: ModuleView,
): Promise<Buffer | undefined> {
  try {
    const type = await resourceType(tag, modules);
    const split = splitFields(type.layout, bytes);
    const module = await modules.lookup({ address: tag.address, name: tag.module });
    const found = module && findStruct(module, tag.name);
    if (split === undefined || found === undefined) return undefined;
    const index = fieldNames(found, split.variant).indexOf(fieldName);
    return split.fields[index];
  } catch (cause) {
    throw conversionError('Failed to convert move structs from storage', cause);
  }
}

function fieldNames({ module, definition }: FoundStruct, variant: number): readonly string[] {
  let fields: readonly FieldDefinition[] = [];
  if (definition.kind === 'struct') ({ fields } = definition);
  if (definition.kind === 'enum') fields = definition.variants[variant]?.fields ?? [];
  return fields.map(({ name }) => module.identifiers[name]!);
}

/**
 * The number of events that a stream has had, from its handle in a resource of its account; 0 without a handle. A
 * handle consists of the counter, the creation number and the address.
 */
export async function eventCount(
  { address, creationNumber }: StreamId,
  state: StateSource,
  version: bigint,
): Promise<bigint> {
  const key = encodeBcs((writer) => writer.u64(creationNumber).address(address));
  const request = { address, version, limit: SEARCHED.maxKeys };
  const { items } = await listAccount(state, request, ['resource', 'resourceGroup'], SEARCHED);
  for (const { bytes } of items) {
    const at = bytes.indexOf(key);
    if (at >= COUNTER_BYTES) return bytes.readBigUInt64LE(at - COUNTER_BYTES);
  }
  return 0n;
}
