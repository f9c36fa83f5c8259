/**
 * Schemas of requests and responses (docs/spec/http.md §4, §6–8; docs/spec/encode.md §A1, A2). The OpenAPI
 * document is generated from them, and tests check responses against them. A schema with `$id` becomes a
 * component of that name.
 */
import { ERROR_CODES } from '../error-table.ts';
import { type Properties, referenceTo, type Schema, Type } from './json-schema.ts';

const ADDRESS_PATTERN = '(0x)?[0-9a-fA-F]{1,64}';

/** An address: accepted with or without `0x` and leading zeros, printed with `0x` and without them. */
export const AddressSchema = Type.String({
  $id: 'Address',
  description: 'Account address: 1 to 64 hex digits, `0x` optional in requests.',
  format: 'hex',
  pattern: `^${ADDRESS_PATTERN}$`,
  examples: ['0x1'],
});

/** A pattern that matches decimal numbers up to a maximum, which has many digits. */
function decimalsUpTo(maximum: bigint): string {
  const digits = String(maximum);
  const shorter = `[0-9]{1,${digits.length - 1}}`;
  const below = [...digits].flatMap((digit, place) => {
    const rest = digits.length - place - 1;
    if (digit === '0' || (place === 0 && digit === '1')) return [];
    return [`${digits.slice(0, place)}[0-${Number(digit) - 1}][0-9]{${rest}}`];
  });
  return `(${[shorter, ...below, digits].join('|')})`;
}

const U64_PATTERN = `[+]?0*${decimalsUpTo(2n ** 64n - 1n)}`;

/** A u64 as text, since JSON numbers are doubles in many languages. */
export const U64Schema = Type.String({
  $id: 'U64',
  description: 'Unsigned 64-bit integer in decimal, up to 18446744073709551615.',
  format: 'uint64',
  pattern: `^${U64_PATTERN}$`,
  examples: ['3'],
});

const TIME_PATTERN =
  '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?' +
  '([Zz]|[+ -][0-9]{2}:[0-9]{2})';

/** A version of the ledger in a query. Naming it by time is an extension. */
export const VersionSchema = Type.String({
  $id: 'LedgerVersion',
  description:
    'A version, a U64. Extension: `@` and a time from 1970 on (RFC 3339, at most six digits of the second’s fraction) ' +
    'for the last version at or before that time, such as `@2026-01-01T00:00:00Z`.',
  format: 'version-or-time',
  pattern: `^(${U64_PATTERN}|@${TIME_PATTERN})$`,
  examples: ['3'],
});

/** The position of an event in the ledger; only extensions use it. */
export const EventPlaceSchema = Type.String({
  $id: 'EventPlace',
  description:
    'A version, and after a colon the place of an event in its transaction: 0 if absent.',
  pattern: `^${U64_PATTERN}(:[+]?0*${decimalsUpTo(2n ** 32n - 1n)})?$`,
  examples: ['3:0'],
});

export const HexEncodedBytesSchema = Type.String({
  $id: 'HexEncodedBytes',
  description: 'Bytes in hex, `0x` and two digits a byte.',
  format: 'hex',
  pattern: '^0x([0-9a-fA-F]{2})*$',
  examples: ['0x88fbd33f54e1126269769780feb24480428179f552e2313fbe571b72e62a1ca1'],
});

export const IdentifierSchema = Type.String({
  $id: 'Identifier',
  description: 'Name of a module, struct, function or field.',
  pattern: '^([A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|<SELF>|<SELF>_[0-9]+)$',
  examples: ['coin'],
});

const INTEGER_WORDS = 'u8|u16|u32|u64|u128|u256|i8|i16|i32|i64|i128|i256';
const NAME = '[A-Za-z_$][A-Za-z0-9_$]*';
/** A struct. No pattern can describe the contents of `<…>`. */
const STRUCT_PATTERN = `0x[0-9a-fA-F]{1,64}::${NAME}::${NAME}(<.+>)?`;

/** Any type, as ABIs and events print it. */
export const MoveTypeSchema = Type.String({
  $id: 'MoveType',
  description:
    'Move type: a primitive, `vector<T>`, a struct `{address}::{module}::{name}<…>`, and in ABIs ' +
    'also a reference, a type parameter `T0` or a function type `|a,b|r`.',
  pattern:
    `^(&(mut )?)?(bool|${INTEGER_WORDS}|address|signer|T[0-9]+|vector<.+>|` +
    `${STRUCT_PATTERN}|\\|.*\\|.*)$`,
  examples: ['0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>'],
});

export const StructTagSchema = Type.String({
  $id: 'MoveStructTag',
  description:
    'Struct `{address}::{module}::{name}`, with type arguments in `<…>`. Percent-encoded in a path.',
  format: 'move-struct-tag',
  pattern: `^${STRUCT_PATTERN}$`,
  examples: ['0x1::block::BlockResource'],
});

export const AssetTypeSchema = Type.String({
  $id: 'AssetType',
  description:
    'A coin type `{address}::{module}::{name}`, or the address of a fungible asset’s metadata. ' +
    'Percent-encoded in a path.',
  format: 'move-asset-type',
  pattern: `^(${ADDRESS_PATTERN}|${STRUCT_PATTERN})$`,
  examples: ['0x1::aptos_coin::AptosCoin', '0xa'],
});

export const EntryFunctionIdSchema = Type.String({
  $id: 'EntryFunctionId',
  description: 'Entry function `{address}::{module}::{function}`; names are case-sensitive.',
  pattern: `^${ADDRESS_PATTERN}::${NAME}::${NAME}$`,
  examples: ['0x1::aptos_account::transfer'],
});

export const AnyValueSchema = Type.Unknown({ description: 'Any JSON value.' });

/** An object with exactly these members, all required. */
export function closedObject($id: string, description: string, properties: Properties): Schema {
  return Type.Object(properties, { $id, description, additionalProperties: false });
}

/** A request object: unknown members are ignored. */
export function request($id: string, description: string, properties: Properties): Schema {
  return Type.Object(properties, { $id, description });
}

export function nullable(schema: Schema, description: string): Schema {
  return Type.Union([schema, Type.Null()], { description });
}

export function optional(schema: Schema, description: string): Schema {
  return Type.Optional(nullable(schema, description));
}

/** One of several objects, distinguished by their member `type`. */
export function union($id: string, description: string, variants: Properties): Schema {
  const mapping = Object.entries(variants).map(([name, variant]) => [name, referenceTo(variant)]);
  return Type.Unknown({
    $id,
    description,
    oneOf: Object.values(variants),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
  });
}

const AbilitySchema = Type.Enum(['copy', 'drop', 'store', 'key'], {
  $id: 'MoveAbility',
  description: 'What values of a type may be used for.',
});

const GenericTypeParamSchema = closedObject(
  'MoveGenericTypeParam',
  'A type parameter with the abilities it asks for.',
  { constraints: Type.Array(AbilitySchema) },
);

const VisibilitySchema = Type.Enum(['private', 'public', 'friend'], {
  $id: 'MoveFunctionVisibility',
  description: 'Who may call a function.',
});

const FUNCTION_MEMBERS = {
  name: IdentifierSchema,
  visibility: VisibilitySchema,
  is_entry: Type.Boolean({ description: 'Whether a transaction can call it.' }),
  is_view: Type.Boolean({ description: 'Whether it is marked as a view.' }),
  params: Type.Array(MoveTypeSchema),
  return: Type.Array(MoveTypeSchema),
};

const MoveFunctionSchema = closedObject(
  'MoveFunction',
  'A function: entry, public, friend, or a private view.',
  { ...FUNCTION_MEMBERS, generic_type_params: Type.Array(GenericTypeParamSchema) },
);

const ScriptAbiSchema = request('ScriptAbi', 'The interface of a script.', {
  ...FUNCTION_MEMBERS,
  // Ignored.
  name: Type.String(),
  return: Type.Array(Type.String()),
  generic_type_params: Type.Array(
    request('ScriptTypeParam', 'A type parameter.', { constraints: Type.Array(AbilitySchema) }),
  ),
});

const FieldSchema = closedObject('MoveStructField', 'A field of a struct or variant.', {
  name: IdentifierSchema,
  type: MoveTypeSchema,
});

const VariantSchema = closedObject('MoveStructVariant', 'A variant of an enum.', {
  name: IdentifierSchema,
  fields: Type.Array(FieldSchema),
});

const StructSchema = closedObject('MoveStruct', 'A struct or enum.', {
  name: IdentifierSchema,
  is_native: Type.Boolean(),
  is_event: Type.Boolean({ description: 'Whether it is marked as an event.' }),
  is_enum: Type.Boolean(),
  abilities: Type.Array(AbilitySchema),
  generic_type_params: Type.Array(GenericTypeParamSchema),
  fields: Type.Array(FieldSchema),
  variants: Type.Array(VariantSchema),
});

const ModuleAbiSchema = closedObject('MoveModule', 'The interface of a module.', {
  address: AddressSchema,
  name: IdentifierSchema,
  friends: Type.Array(Type.String({ description: '`{address}::{module}`' })),
  exposed_functions: Type.Array(MoveFunctionSchema),
  structs: Type.Array(StructSchema),
});

export const ModuleSchema = closedObject('MoveModuleBytecode', 'A published module.', {
  bytecode: HexEncodedBytesSchema,
  abi: nullable(ModuleAbiSchema, 'Null when the bytes do not load.'),
});

export const ModulesSchema = Type.Array(ModuleSchema, {
  description: 'Modules in the order of their state keys: by length of name, then by name.',
});

export const AccountSchema = closedObject('AccountData', 'An account.', {
  sequence_number: U64Schema,
  authentication_key: HexEncodedBytesSchema,
});

export const ResourceSchema = closedObject('MoveResource', 'A resource of an account.', {
  type: StructTagSchema,
  data: Type.Object(
    {},
    {
      description: 'The fields by name; of an enum also `__variant__`, the name of the variant.',
    },
  ),
});

export const ResourcesSchema = Type.Array(ResourceSchema, {
  description: 'Resources in the order of their state keys; those of a group stand together.',
});

export const TransactionIdSchema = Type.String({
  $id: 'HashOrVersion',
  description: 'The hash of a transaction, 32 bytes in hex; or its version.',
  pattern: '^(?:(?:0x)?[0-9a-fA-F]{64}|[0-9]{1,20})$',
  examples: ['4'],
});

export const HashSchema = Type.String({
  $id: 'HashValue',
  description: '32 bytes in hex, `0x` and 64 digits.',
  format: 'hex',
  pattern: '^0x[0-9a-f]{64}$',
  examples: ['0x88fbd33f54e1126269769780feb24480428179f552e2313fbe571b72e62a1ca1'],
});

export const TransactionSummariesSchema = Type.Array(
  closedObject('TransactionSummary', 'A transaction that an account has sent.', {
    sender: AddressSchema,
    version: U64Schema,
    transaction_hash: HashSchema,
    replay_protector: Type.String({
      ...U64Schema,
      $id: 'ReplayProtector',
      description: 'The sequence number; of a transaction without one, its nonce.',
    }),
  }),
);

export const EventGuidSchema = closedObject('EventGuid', 'An event stream.', {
  creation_number: U64Schema,
  account_address: AddressSchema,
});

const EventSchema = closedObject(
  'VersionedEvent',
  'An event with the version of its transaction.',
  {
    version: U64Schema,
    guid: EventGuidSchema,
    sequence_number: U64Schema,
    type: MoveTypeSchema,
    data: AnyValueSchema,
  },
);

export const EventsSchema = Type.Array(EventSchema, {
  description: 'Events of the stream in ascending order of their sequence numbers.',
});

export const BalanceSchema = Type.Integer({
  description: 'The balance; up to 20 digits, all exact.',
  format: 'uint64',
  minimum: 0,
});

export const IndexSchema = closedObject('IndexResponse', 'The state of the ledger.', {
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
});

export const HealthSchema = closedObject('HealthCheckSuccess', 'The node is healthy.', {
  message: Type.String(),
});

export const ErrorSchema = closedObject('ApiError', 'An error.', {
  message: Type.String({ description: 'What went wrong, for people.' }),
  error_code: Type.Enum([...ERROR_CODES], {
    $id: 'ApiErrorCode',
    description: 'What went wrong, for programs.',
  }),
  vm_error_code: nullable(
    Type.Integer({ format: 'uint64', minimum: 0 }),
    'Status code of the virtual machine, in errors of view functions; null in all others.',
  ),
});

const ENTRY_FUNCTION_MEMBERS = {
  type: Type.Literal('entry_function_payload'),
  function: EntryFunctionIdSchema,
  type_arguments: Type.Array(MoveTypeSchema),
  arguments: Type.Array(AnyValueSchema),
};

export const EntryFunctionPayloadSchema = request(
  'EntryFunctionPayload',
  'Calls an entry function.',
  ENTRY_FUNCTION_MEMBERS,
);

export const ScriptPayloadSchema = request('ScriptPayload', 'Runs a script.', {
  type: Type.Literal('script_payload'),
  code: request('MoveScriptBytecode', 'A compiled script.', {
    bytecode: HexEncodedBytesSchema,
    abi: optional(ScriptAbiSchema, 'Believed when given: the bytecode is not read then.'),
  }),
  type_arguments: Type.Array(MoveTypeSchema),
  arguments: Type.Array(AnyValueSchema),
});

const MultisigInnerSchema = union(
  'MultisigTransactionPayload',
  'What a multisig account is to do.',
  {
    entry_function_payload: EntryFunctionPayloadSchema,
    script_payload: ScriptPayloadSchema,
  },
);

const MultisigPayloadSchema = request('MultisigPayload', 'Lets a multisig account act.', {
  type: Type.Literal('multisig_payload'),
  multisig_address: AddressSchema,
  transaction_payload: optional(MultisigInnerSchema, 'Absent when it is stored on chain.'),
});

export const ModuleBundlePayloadSchema = request(
  'ModuleBundlePayload',
  'No longer taken; always refused.',
  { type: Type.Literal('module_bundle_payload') },
);

const EncryptedPayloadSchema = request(
  'EncryptedTransactionPayload',
  'An encrypted payload; only the state `encrypted` is taken.',
  {
    type: Type.Literal('encrypted_transaction_payload'),
    encrypted_state: Type.Enum(['encrypted', 'failed_decryption', 'decrypted']),
    payload_hash: Type.String({ description: '64 hex digits, `0x` optional.' }),
    ciphertext: HexEncodedBytesSchema,
    encryption_epoch: U64Schema,
  },
);

const PayloadSchema = union('TransactionPayload', 'What a transaction is to do.', {
  entry_function_payload: EntryFunctionPayloadSchema,
  script_payload: ScriptPayloadSchema,
  module_bundle_payload: ModuleBundlePayloadSchema,
  multisig_payload: MultisigPayloadSchema,
  encrypted_transaction_payload: EncryptedPayloadSchema,
});

export const TRANSACTION_REQUEST_MEMBERS = {
  sender: AddressSchema,
  sequence_number: U64Schema,
  max_gas_amount: U64Schema,
  gas_unit_price: U64Schema,
  expiration_timestamp_secs: U64Schema,
  payload: PayloadSchema,
  replay_protection_nonce: optional(U64Schema, 'Makes the transaction orderless.'),
};

export const EncodeRequestSchema = request('EncodeSubmissionRequest', 'A transaction to encode.', {
  ...TRANSACTION_REQUEST_MEMBERS,
  secondary_signers: optional(
    Type.Array(AddressSchema),
    'Given, even empty: a multi-agent transaction.',
  ),
});
