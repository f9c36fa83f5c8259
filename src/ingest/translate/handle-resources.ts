/**
 * The resources that contain the old event handles, up to the handles (docs/spec/ledger.md §5.8), and the handles in
 * values of the state, which count the events of their streams (§5.7).
 */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import { OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import { iterateGroup } from '../../move/types/resource-group.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { type StructTag, TypeTag } from '../../move/types/type-tag.ts';
import { type EventHandle, eventHandleCodec } from '../../move/values/framework-resource.ts';

export interface HandleResource {
  readonly type: string;
  /** The field of the module event that names the struct of its one type argument. */
  readonly typeArgument?: string;
  readonly inObjectGroup: boolean;
  readonly before: readonly FieldKind[];
  readonly handles: readonly string[];
}

export const COIN_STORE: HandleResource = {
  type: '0x1::coin::CoinStore',
  typeArgument: 'coin_type',
  inObjectGroup: false,
  before: ['u64', 'bool'],
  handles: ['deposit_events', 'withdraw_events'],
};

export const ACCOUNT: HandleResource = {
  type: '0x1::account::Account',
  inObjectGroup: false,
  before: ['text', 'u64', 'u64'],
  handles: ['coin_register_events', 'key_rotation_events'],
};

export const OBJECT_CORE: HandleResource = {
  type: '0x1::object::ObjectCore',
  inObjectGroup: true,
  before: ['u64', 'address', 'bool'],
  handles: ['transfer_events'],
};

export const TOKEN: HandleResource = {
  type: '0x4::token::Token',
  inObjectGroup: true,
  before: ['address', 'u64', 'text', 'text', 'text'],
  handles: ['mutation_events'],
};

export const COLLECTION: HandleResource = {
  type: '0x4::collection::Collection',
  inObjectGroup: true,
  before: ['address', 'text', 'text', 'text'],
  handles: ['mutation_events'],
};

export const FIXED_SUPPLY: HandleResource = {
  type: '0x4::collection::FixedSupply',
  inObjectGroup: true,
  before: ['u64', 'u64', 'u64'],
  handles: ['burn_events', 'mint_events'],
};

export const UNLIMITED_SUPPLY: HandleResource = {
  type: '0x4::collection::UnlimitedSupply',
  inObjectGroup: true,
  before: ['u64', 'u64'],
  handles: ['burn_events', 'mint_events'],
};

export const TOKEN_STORE: HandleResource = {
  type: '0x3::token::TokenStore',
  inObjectGroup: false,
  before: ['table', 'bool'],
  handles: ['deposit_events', 'withdraw_events', 'burn_events', 'mutate_token_property_events'],
};

export const COLLECTIONS: HandleResource = {
  type: '0x3::token::Collections',
  inObjectGroup: false,
  before: ['table', 'table'],
  handles: ['create_collection_events', 'create_token_data_events', 'mint_token_events'],
};

export const PENDING_CLAIMS: HandleResource = {
  type: '0x3::token_transfers::PendingClaims',
  inObjectGroup: false,
  before: ['table'],
  handles: ['offer_events', 'cancel_offer_events', 'claim_events'],
};

export const TOKEN_EVENT_STORE: HandleResource = {
  type: '0x3::token_event_store::TokenEventStoreV1',
  inObjectGroup: false,
  before: [],
  handles: [
    'collection_uri_mutate_events',
    'collection_maximum_mutate_events',
    'collection_description_mutate_events',
    'opt_in_events',
    'uri_mutate_events',
    'default_property_mutate_events',
    'description_mutate_events',
    'royalty_mutate_events',
    'maximum_mutate_events',
  ],
};

const BLOCK: HandleResource = {
  type: '0x1::block::BlockResource',
  inObjectGroup: false,
  before: ['u64', 'u64'],
  handles: ['new_block_events', 'update_epoch_interval_events'],
};

const CONFIGURATION: HandleResource = {
  type: '0x1::reconfiguration::Configuration',
  inObjectGroup: false,
  before: ['u64', 'u64'],
  handles: ['events'],
};

const HANDLE_RESOURCES: readonly HandleResource[] = [
  ...[BLOCK, CONFIGURATION, COIN_STORE, ACCOUNT, OBJECT_CORE, TOKEN, COLLECTION, FIXED_SUPPLY],
  ...[UNLIMITED_SUPPLY, TOKEN_STORE, COLLECTIONS, PENDING_CLAIMS, TOKEN_EVENT_STORE],
];

/** Bytes of an event handle: counter, creation number, address (docs/spec/ledger.md §1.3). */
export const EVENT_HANDLE_BYTES = 48;

const U64_BYTES = 8;

/** Skips one value of a kind. @throws BcsError */
type Skip = (reader: BcsReader) => void;

function fixed(byteLength: number): Skip {
  return (reader) => {
    reader.fixed(byteLength);
  };
}

const address = fixed(ADDRESS_BYTES);
const u64 = fixed(U64_BYTES);
const bool: Skip = (reader) => {
  reader.bool();
};
const text: Skip = (reader) => {
  reader.bytes();
};

function struct(...fields: readonly Skip[]): Skip {
  return (reader) => {
    for (const field of fields) field(reader);
  };
}

function list(item: Skip): Skip {
  return (reader) => {
    const count = reader.length();
    for (let index = 0; index < count; index += 1) item(reader);
  };
}

function optional(item: Skip): Skip {
  return (reader) => {
    reader.option(item);
  };
}

const tokenDataId = struct(address, text, text);
const propertyValue = struct(text, text);

/** How to skip a value, by the name of its kind in the table. */
export const FIELD_KINDS = {
  address,
  bool,
  u64,
  /** `String` and `vector<u8>`. */
  text,
  texts: list(text),
  typeInfo: struct(address, text, text),
  table: address,
  tokenDataId,
  tokenId: struct(tokenDataId, u64),
  /** `0x3::token::TokenMutabilityConfig`. */
  mutabilityConfig: struct(bool, bool, bool, bool, bool),
  /** Lists of `0x3::property_map::PropertyValue`, and of optional ones. */
  propertyValues: list(propertyValue),
  optionalPropertyValues: list(optional(propertyValue)),
} as const satisfies Record<string, Skip>;

export type FieldKind = keyof typeof FIELD_KINDS;

const ACCESS_PATH = 0;
const RESOURCE_PATH = 1;
const GROUP_PATH = 2;

/** BCS of a struct tag. */
const tagBytesOf = (struct: StructTag): Buffer =>
  TypeTag.encode({ kind: 'struct', struct }).subarray(1);

const OBJECT_GROUP = tagBytesOf(OBJECT_GROUP_TAG);

const PLACES = HANDLE_RESOURCES.map((resource) => {
  // Without the last byte, which counts the type arguments. They may differ.
  const start = tagBytesOf(parseStructTag(resource.type)).subarray(0, -1);
  return { resource, start };
});

/**
 * The handles of the framework's resources in a value. Handles of other modules are left out: only their layouts would
 * show where they are.
 */
export function handlesIn(key: Buffer, value: Buffer): EventHandle[] {
  if (key[0] !== ACCESS_PATH) return [];
  try {
    const path = new BcsReader(key, 1 + ADDRESS_BYTES).bytes();
    const tagBytes = path.subarray(1);
    if (path[0] === RESOURCE_PATH) return handlesOf(tagBytes, value);
    if (path[0] !== GROUP_PATH || !tagBytes.equals(OBJECT_GROUP)) return [];
    return [...iterateGroup(value)].flatMap((member) => handlesOf(member.tagBytes, member.data));
  } catch (error) {
    if (error instanceof BcsError) return [];
    throw error;
  }
}

function handlesOf(tagBytes: Buffer, data: Buffer): EventHandle[] {
  const place = PLACES.find(({ start }) => tagBytes.subarray(0, start.length).equals(start));
  if (place === undefined) return [];
  const { before, handles } = place.resource;
  const reader = new BcsReader(data);
  for (const kind of before) FIELD_KINDS[kind](reader);
  return handles.map(() => eventHandleCodec.read(reader));
}
