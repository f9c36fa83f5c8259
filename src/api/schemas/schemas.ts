/**
 * Schemas of what goes over the wire (docs/spec/http.md §4, §6–8; docs/spec/encode.md §A1, A2). The OpenAPI
 * document is generated from them, and tests check responses against them. A schema with `$id` becomes a
 * component of that name.
 */

import { ERROR_CODES } from '../http/error-table.ts';
import { type Properties, type Schema, Type } from './json-schema.ts';

/**
 * An address: accepted with or without `0x` and leading zeros, printed with `0x` and without them.
 */
export const AddressSchema = Type.String({
  $id: 'Address',
  description: 'Account address: 1 to 64 hex digits, `0x` optional in requests.',
  format: 'hex',
  pattern: '^(0x)?[0-9a-fA-F]{1,64}$',
  examples: ['0x1'],
});

/** A u64 as text, since JSON numbers are doubles in many languages. */
export const U64Schema = Type.String({
  $id: 'U64',
  description: 'Unsigned 64-bit integer in decimal.',
  format: 'uint64',
  pattern: '^[0-9]+$',
  examples: ['32425224034'],
});

/** Bytes as text. */
export const HexEncodedBytesSchema = Type.String({
  $id: 'HexEncodedBytes',
  description: 'Bytes in hex, `0x` and two digits a byte.',
  format: 'hex',
  pattern: '^0x([0-9a-fA-F]{2})*$',
  examples: ['0x88fbd33f54e1126269769780feb24480428179f552e2313fbe571b72e62a1ca1'],
});

/** A name in a module. */
export const IdentifierSchema = Type.String({
  $id: 'Identifier',
  description: 'Name of a module, struct, function or field.',
  pattern: '^([A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|<SELF>|<SELF>_[0-9]+)$',
  examples: ['coin'],
});

const INTEGER_WORDS = 'u8|u16|u32|u64|u128|u256|i8|i16|i32|i64|i128|i256';

/** Any type, as ABIs and events print it. */
const MoveTypeSchema = Type.String({
  $id: 'MoveType',
  description:
    'Move type: a primitive, `vector<T>`, a struct `{address}::{module}::{name}<…>`, and in ABIs ' +
    'also a reference, a type parameter `T0` or a function type `|a,b|r`.',
  pattern:
    `^(&(mut )?)?(bool|${INTEGER_WORDS}|address|signer|T[0-9]+|vector<.+>|` +
    '0x[0-9a-fA-F]+::[^:]+::.+|\\|.*\\|.*)$',
  examples: ['0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'],
});

/** The type of a resource. */
export const StructTagSchema = Type.String({
  $id: 'MoveStructTag',
  description:
    'Struct `{address}::{module}::{name}`, with type arguments in `<…>`. Percent-encoded in a path.',
  pattern: '^0[xX][0-9a-fA-F]+\\s*::\\s*[^:]+::\\s*[A-Za-z].*$',
  examples: ['0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'],
});

/** The asset of a balance. */
export const AssetTypeSchema = Type.String({
  $id: 'AssetType',
  description:
    'A coin type `{address}::{module}::{name}`, or the address of a fungible asset’s metadata. ' +
    'Percent-encoded in a path.',
  examples: ['0x1::aptos_coin::AptosCoin', '0xa'],
});

/** `{address}::{module}::{function}`. */
const EntryFunctionIdSchema = Type.String({
  $id: 'EntryFunctionId',
  description: 'Entry function `{address}::{module}::{function}`; names are case-sensitive.',
  pattern: '^(0x)?[0-9a-fA-F]{1,64}::[^:]+::[^:]+$',
  examples: ['0x1::aptos_account::transfer'],
});

/** Values whose form depends on their Move type. */
const AnyValueSchema = Type.Unknown({ description: 'Any JSON value.' });

/** An object with exactly these members, all required. */
function record(id: string, properties: Properties, description: string): Schema {
  return Type.Object(properties, { $id: id, description, additionalProperties: false });
}

/** A request object: unknown members are ignored. */
function request(id: string, properties: Properties, description: string): Schema {
  return Type.Object(properties, { $id: id, description });
}

function nullable(schema: Schema, description: string): Schema {
  return Type.Union([schema, Type.Null()], { description });
}

/** A member that may be absent or null. */
function optional(schema: Schema, description: string): Schema {
  return Type.Optional(nullable(schema, description));
}

/** One of several objects, told apart by their member `type`. */
function union(id: string, variants: Readonly<Record<string, Schema>>, description: string) {
  return Type.Unknown({
    $id: id,
    description,
    oneOf: Object.values(variants),
    discriminator: { propertyName: 'type', mapping: variants },
  });
}

const AbilitySchema = Type.Enum(['copy', 'drop', 'store', 'key'], {
  $id: 'MoveAbility',
  description: 'What values of a type may be used for.',
});

const GenericTypeParamSchema = record(
  'MoveGenericTypeParam',
  { constraints: Type.Array(AbilitySchema) },
  'A type parameter with the abilities it asks for.',
);

const VisibilitySchema = Type.Enum(['private', 'public', 'friend'], {
  $id: 'MoveFunctionVisibility',
  description: 'Who may call a function.',
});

/** One function of an ABI. */
const MoveFunctionSchema = record(
  'MoveFunction',
  {
    name: IdentifierSchema,
    visibility: VisibilitySchema,
    is_entry: Type.Boolean({ description: 'Whether a transaction can call it.' }),
    is_view: Type.Boolean({ description: 'Whether it is marked as a view.' }),
    generic_type_params: Type.Array(GenericTypeParamSchema),
    params: Type.Array(MoveTypeSchema),
    return: Type.Array(MoveTypeSchema),
  },
  'A function: entry, public, friend, or a private view.',
);

const FieldSchema = record(
  'MoveStructField',
  { name: IdentifierSchema, type: MoveTypeSchema },
  'A field of a struct or variant.',
);

const VariantSchema = record(
  'MoveStructVariant',
  { name: IdentifierSchema, fields: Type.Array(FieldSchema) },
  'A variant of an enum.',
);

const StructSchema = record(
  'MoveStruct',
  {
    name: IdentifierSchema,
    is_native: Type.Boolean(),
    is_event: Type.Boolean({ description: 'Whether it is marked as an event.' }),
    is_enum: Type.Boolean(),
    abilities: Type.Array(AbilitySchema),
    generic_type_params: Type.Array(GenericTypeParamSchema),
    fields: Type.Array(FieldSchema),
    variants: Type.Array(VariantSchema),
  },
  'A struct or enum.',
);

const ModuleAbiSchema = record(
  'MoveModule',
  {
    address: AddressSchema,
    name: IdentifierSchema,
    friends: Type.Array(Type.String({ description: '`{address}::{module}`' })),
    exposed_functions: Type.Array(MoveFunctionSchema),
    structs: Type.Array(StructSchema),
  },
  'The interface of a module.',
);

/** Answer of the module endpoint. */
export const ModuleSchema = record(
  'MoveModuleBytecode',
  {
    bytecode: HexEncodedBytesSchema,
    abi: nullable(ModuleAbiSchema, 'Null when the bytes do not load.'),
  },
  'A published module.',
);

/** Answer of the modules endpoint. */
export const ModulesSchema = Type.Array(ModuleSchema, {
  description: 'Modules in the order of their state keys: by length of name, then by name.',
});

/** Answer of the account endpoint. */
export const AccountSchema = record(
  'AccountData',
  { sequence_number: U64Schema, authentication_key: HexEncodedBytesSchema },
  'An account.',
);

/** Answer of the resource endpoint. */
export const ResourceSchema = record(
  'MoveResource',
  {
    type: StructTagSchema,
    data: Type.Object(
      {},
      {
        description: 'The fields by name; of an enum also `__variant__`, the name of the variant.',
      },
    ),
  },
  'A resource of an account.',
);

/** Answer of the resources endpoint. */
export const ResourcesSchema = Type.Array(ResourceSchema, {
  description: 'Resources in the order of their state keys; those of a group stand together.',
});

/** A hash. */
const HashSchema = Type.String({
  $id: 'HashValue',
  description: '32 bytes in hex, `0x` and 64 digits.',
  format: 'hex',
  pattern: '^0x[0-9a-f]{64}$',
  examples: ['0x88fbd33f54e1126269769780feb24480428179f552e2313fbe571b72e62a1ca1'],
});

/** Answer of the block endpoints. */
export const BlockSchema = record(
  'Block',
  {
    block_height: U64Schema,
    block_hash: HashSchema,
    block_timestamp: U64Schema,
    first_version: U64Schema,
    last_version: U64Schema,
    transactions: Type.Unknown({
      type: 'null',
      description: 'Null: this node gives transactions as BCS only.',
    }),
  },
  'A block.',
);

/** Of the transaction endpoints: there are none in JSON. */
export const NoTransactionsSchema = Type.Unknown({
  not: {},
  description: 'Answered with 403: this node gives transactions as BCS only.',
});

const EventGuidSchema = record(
  'EventGuid',
  { creation_number: U64Schema, account_address: AddressSchema },
  'An event stream.',
);

/** One record of the events endpoint. */
const EventSchema = record(
  'VersionedEvent',
  {
    version: U64Schema,
    guid: EventGuidSchema,
    sequence_number: U64Schema,
    type: MoveTypeSchema,
    data: AnyValueSchema,
  },
  'An event with the version of its transaction.',
);

/** Answer of the events endpoint. */
export const EventsSchema = Type.Array(EventSchema, {
  description: 'Events of the stream in ascending order of their sequence numbers.',
});

/** Answer of the balance endpoint. */
export const BalanceSchema = Type.Integer({
  description: 'The balance; up to 20 digits, all exact.',
  format: 'uint64',
  minimum: 0,
});

/** Answer of the index. */
export const IndexSchema = record(
  'IndexResponse',
  {
    chain_id: Type.Integer({ format: 'uint8', minimum: 0, maximum: 255 }),
    epoch: U64Schema,
    ledger_version: U64Schema,
    oldest_ledger_version: U64Schema,
    ledger_timestamp: U64Schema,
    node_role: Type.Enum(['validator', 'full_node']),
    oldest_block_height: U64Schema,
    block_height: U64Schema,
    git_hash: Type.String(),
    encryption_key: nullable(Type.String(), 'Always null: encrypted submissions are not taken.'),
  },
  'The state of the ledger.',
);

/** Answer of the health check. */
export const HealthSchema = record(
  'HealthCheckSuccess',
  { message: Type.String() },
  'The node is healthy.',
);

/** Answer of the readiness check. */
export const ReadinessSchema = record(
  'ReadinessSuccess',
  {
    message: Type.String(),
    lag_seconds: U64Schema,
  },
  'The node is ready, and so many seconds behind.',
);

/** Body of every error. */
export const ErrorSchema = record(
  'ApiError',
  {
    message: Type.String({ description: 'What went wrong, for people.' }),
    error_code: Type.Enum([...ERROR_CODES], {
      $id: 'ApiErrorCode',
      description: 'What went wrong, for programs.',
    }),
    vm_error_code: nullable(
      Type.Integer({ format: 'uint64', minimum: 0 }),
      'Detail from the virtual machine; null in all errors of this node.',
    ),
  },
  'An error.',
);

const ENTRY_FUNCTION_MEMBERS = {
  type: Type.Literal('entry_function_payload'),
  function: EntryFunctionIdSchema,
  type_arguments: Type.Array(MoveTypeSchema),
  arguments: Type.Array(AnyValueSchema),
};

const EntryFunctionPayloadSchema = request(
  'EntryFunctionPayload',
  ENTRY_FUNCTION_MEMBERS,
  'Calls an entry function.',
);

const ScriptPayloadSchema = request(
  'ScriptPayload',
  {
    type: Type.Literal('script_payload'),
    code: request(
      'MoveScriptBytecode',
      {
        bytecode: HexEncodedBytesSchema,
        abi: optional(MoveFunctionSchema, 'Believed when given: the bytecode is not read then.'),
      },
      'A compiled script.',
    ),
    type_arguments: Type.Array(MoveTypeSchema),
    arguments: Type.Array(AnyValueSchema),
  },
  'Runs a script.',
);

const MultisigInnerSchema = union(
  'MultisigTransactionPayload',
  {
    entry_function_payload: EntryFunctionPayloadSchema,
    script_payload: ScriptPayloadSchema,
  },
  'What a multisig account is to do.',
);

const MultisigPayloadSchema = request(
  'MultisigPayload',
  {
    type: Type.Literal('multisig_payload'),
    multisig_address: AddressSchema,
    transaction_payload: optional(MultisigInnerSchema, 'Absent when it is stored on chain.'),
  },
  'Lets a multisig account act.',
);

const ModuleBundlePayloadSchema = request(
  'ModuleBundlePayload',
  { type: Type.Literal('module_bundle_payload') },
  'No longer taken; always refused.',
);

const EncryptedPayloadSchema = request(
  'EncryptedTransactionPayload',
  {
    type: Type.Literal('encrypted_transaction_payload'),
    encrypted_state: Type.Enum(['encrypted', 'failed_decryption', 'decrypted']),
    payload_hash: Type.String({ description: '64 hex digits, `0x` optional.' }),
    ciphertext: HexEncodedBytesSchema,
    encryption_epoch: U64Schema,
  },
  'An encrypted payload; only the state `encrypted` is taken.',
);

const PayloadSchema = union(
  'TransactionPayload',
  {
    entry_function_payload: EntryFunctionPayloadSchema,
    script_payload: ScriptPayloadSchema,
    module_bundle_payload: ModuleBundlePayloadSchema,
    multisig_payload: MultisigPayloadSchema,
    encrypted_transaction_payload: EncryptedPayloadSchema,
  },
  'What a transaction is to do.',
);

/** Body of encode submission. */
export const EncodeRequestSchema = request(
  'EncodeSubmissionRequest',
  {
    sender: AddressSchema,
    sequence_number: U64Schema,
    max_gas_amount: U64Schema,
    gas_unit_price: U64Schema,
    expiration_timestamp_secs: U64Schema,
    payload: PayloadSchema,
    replay_protection_nonce: optional(U64Schema, 'Makes the transaction orderless.'),
    secondary_signers: optional(
      Type.Array(AddressSchema),
      'Given, even empty: a multi-agent transaction.',
    ),
  },
  'A transaction to encode.',
);
