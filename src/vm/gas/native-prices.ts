/**
 * Costs of natives that follow from their arguments alone (docs/spec/gas.md §4). A native whose price depends on what
 * it finds charges the rest itself.
 */
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { NativeContext } from '../native.ts';
import { hasSignatureForm, isEd25519Point } from '../natives/crypto/ed25519.ts';
import { requestBytes } from '../natives/dispatch.ts';
import { type ByteVector, Reference, type Value } from '../value.ts';
import type { GasPrices } from './gas-meter.ts';

/** How many units an argument or a type argument counts. */
type Units = (args: readonly Value[], context: NativeContext) => number;

/** The name of a base price, and prices per unit. Names are relative to those of the native's kind. */
type NativePrice = readonly [base: string, ...perUnit: (readonly [name: string, units: Units])[]];

function bytesAt(index: number): Units {
  return (args) => {
    const value = args[index];
    return lengthOf(value instanceof Reference ? value.get() : value);
  };
}

/** The length of a `vector<u8>`, or of a `String`, which is a struct of one. */
function lengthOf(value: Value): number {
  return Array.isArray(value) ? lengthOf(value[0]) : (value as ByteVector).length;
}

/** The base price of an operation, and a price for each byte of an argument. */
function perByte(operation: string, argument = 0, each = 'per_byte'): NativePrice {
  return [`${operation}.base`, [`${operation}.${each}`, bytesAt(argument)]];
}

/** Natives of a module whose one price has their name without `_internal` and `_impl`. */
function plain(module: string, ...names: readonly string[]): Record<string, NativePrice> {
  return Object.fromEntries(
    names.map((name) => {
      const operation = name.replace(/_(?:internal|impl)$/, '');
      return [`${module}::${name}`, [`${module}.${operation}.base`]];
    }),
  );
}

const STDLIB: Readonly<Record<string, NativePrice>> = {
  ...plain('signer', 'borrow_address'),
  ...plain('mem', 'swap'),
  'hash::sha2_256': perByte('hash.sha2_256'),
  'hash::sha3_256': perByte('hash.sha3_256'),
  'permissioned_signer::borrow_address': ['signer.borrow_address.base'],
  'string::internal_check_utf8': perByte('string.check_utf8'),
  'string::internal_is_char_boundary': ['string.is_char_boundary.base'],
  'string::internal_sub_string': [
    'string.sub_string.base',
    ['string.sub_string.per_byte', ([, from, to]) => Math.max(0, Number(to) - Number(from))],
  ],
  'string::internal_index_of': perByte('string.index_of', 1, 'per_byte_pattern'),
  'cmp::compare': [
    'cmp.compare.base',
    ['cmp.compare.per_abs_val_unit', sizeAt(0)],
    ['cmp.compare.per_abs_val_unit', sizeAt(1)],
  ],
  'vector::move_range': [
    'vector.move_range.base',
    ['vector.move_range.per_index_moved', movedElements],
  ],
};

/** A signature is only verified, and charged for, if its key and form are valid. */
const ED25519: NativePrice = [
  'signature.base',
  ['signature.per_pubkey_deserialize', () => 1],
  ['signature.per_sig_deserialize', ([, key]) => isKey(key)],
  ['signature.per_sig_strict_verify', isVerified],
  ['signature.per_msg_hashing_base', isVerified],
  ['signature.per_msg_byte_hashing', (args) => isVerified(args) * lengthOf(args[2])],
];
const SECP256K1_SIGNATURE_BYTES = 64;

function isKey(key: Value): number {
  return isEd25519Point((key as ByteVector).bytes) ? 1 : 0;
}

function isVerified([signature, key]: readonly Value[]): number {
  return hasSignatureForm((signature as ByteVector).bytes) ? isKey(key) : 0;
}

const REQUEST_PUBLISH: NativePrice = [
  'code.request_publish.base',
  ['code.request_publish.per_byte', requestBytes],
];

function perNameUnit(operation: string): NativePrice {
  return [`${operation}.base`, [`${operation}.per_abstract_memory_unit`, typeNameUnits]];
}

/** @param argument the event */
function eventPrice(argument: number): NativePrice {
  const operation = 'event.write_to_event_store';
  return [`${operation}.base`, [`${operation}.per_abstract_memory_unit`, sizeAt(argument)]];
}

const CREATE_SIGNER: NativePrice = ['account.create_signer.base'];
const DISPATCH: NativePrice = ['dispatchable_fungible_asset.dispatch.base'];

const FRAMEWORK: Readonly<Record<string, NativePrice>> = {
  'code::request_publish': REQUEST_PUBLISH,
  'code::request_publish_with_allowed_deps': REQUEST_PUBLISH,
  ...plain('account', 'create_address', 'create_signer'),
  'create_signer::create_signer': CREATE_SIGNER,
  'genesis::create_signer': CREATE_SIGNER,
  ...plain('permissioned_signer', 'is_permissioned_signer_impl', 'permission_address'),
  ...plain('permissioned_signer', 'signer_from_permissioned_handle_impl'),
  ...plain('object', 'exists_at'),
  'object::create_user_derived_object_address_impl': ['object.user_derived_address.base'],
  'aptos_hash::sip_hash': perByte('hash.sip_hash'),
  'aptos_hash::keccak256': perByte('hash.keccak256'),
  'aptos_hash::sha2_512_internal': perByte('hash.sha2_512'),
  'aptos_hash::sha3_512_internal': perByte('hash.sha3_512'),
  'aptos_hash::ripemd160_internal': perByte('hash.ripemd160'),
  'aptos_hash::blake2b_256_internal': perByte('hash.blake2b_256'),
  'type_info::type_of': perNameUnit('type_info.type_of'),
  'type_info::type_name': perNameUnit('type_info.type_name'),
  ...plain('type_info', 'chain_id_internal'),
  'function_info::is_identifier': perByte('function_info.is_identifier'),
  'function_info::check_dispatch_type_compatibility_impl': [
    'function_info.check_dispatch_type_compatibility_impl.base',
  ],
  ...plain('function_info', 'load_function_impl'),
  'dispatchable_fungible_asset::dispatchable_withdraw': DISPATCH,
  'dispatchable_fungible_asset::dispatchable_deposit': DISPATCH,
  'dispatchable_fungible_asset::dispatchable_derived_balance': DISPATCH,
  'dispatchable_fungible_asset::dispatchable_derived_supply': DISPATCH,
  'account_abstraction::dispatchable_authenticate': ['dispatchable_authenticate.dispatch.base'],
  'util::from_bytes': perByte('util.from_bytes'),
  'from_bcs::from_bytes': perByte('util.from_bytes'),
  ...plain('transaction_context', 'get_txn_hash', 'get_script_hash', 'generate_unique_address'),
  ...plain('transaction_context', 'monotonically_increasing_counter_internal', 'sender_internal'),
  ...plain('transaction_context', 'max_gas_amount_internal', 'gas_unit_price_internal'),
  ...plain('transaction_context', 'chain_id_internal', 'multisig_payload_internal'),
  'transaction_context::secondary_signers_internal': [
    'transaction_context.secondary_signers.base',
    [
      'transaction_context.secondary_signers.per_signer',
      (_, { session }) => session?.transaction?.secondarySigners.length ?? 0,
    ],
  ],
  'transaction_context::gas_payer_internal': ['transaction_context.fee_payer.base'],
  'transaction_context::entry_function_payload_internal': [
    'transaction_context.entry_function_payload.base',
    ['transaction_context.entry_function_payload.per_abstract_memory_unit', payloadUnits],
  ],
  'event::write_to_event_store': eventPrice(2),
  'event::write_module_event_to_store': eventPrice(0),
  'state_storage::get_state_storage_usage_only_at_epoch_beginning': [
    'state_storage.get_usage.base',
  ],
  ...plain('aggregator', 'add', 'read', 'sub', 'destroy'),
  ...plain('aggregator_factory', 'new_aggregator'),
  ...plain('aggregator_v2', 'create_aggregator', 'try_add', 'try_sub', 'is_at_least_impl', 'read'),
  ...plain('aggregator_v2', 'snapshot', 'create_snapshot', 'read_snapshot'),
  'aggregator_v2::create_unbounded_aggregator': ['aggregator_v2.create_aggregator.base'],
  'aggregator_v2::read_derived_string': ['aggregator_v2.read_snapshot.base'],
  'aggregator_v2::create_derived_string': perByte('aggregator_v2.create_snapshot'),
  'aggregator_v2::derive_string_concat': [
    ...perByte('aggregator_v2.string_concat'),
    ['aggregator_v2.string_concat.per_byte', bytesAt(2)],
  ],
  'ed25519::signature_verify_strict_internal': ED25519,
  'ed25519::public_key_validate_internal': [
    'signature.base',
    ['signature.per_pubkey_deserialize', () => 1],
    ['signature.per_pubkey_small_order_check', ([key]) => isKey(key)],
  ],
  'secp256k1::ecdsa_recover_internal': [
    'secp256k1.base',
    [
      'secp256k1.ecdsa_recover',
      ([message, , signature]) =>
        lengthOf(message) === 32 && lengthOf(signature) === SECP256K1_SIGNATURE_BYTES ? 1 : 0,
    ],
  ],
  'randomness::fetch_and_increment_txn_counter': ['randomness.fetch_and_inc_counter'],
};

const TABLES: Readonly<Record<string, NativePrice>> = Object.fromEntries([
  ...['new_table_handle', 'add_box', 'borrow_box', 'contains_box', 'remove_box'].map(tablePrice),
  ...['destroy_empty_box', 'drop_unchecked_box'].map(tablePrice),
  ['table::borrow_box_mut', ['borrow_box.base']],
]);

function tablePrice(name: string): [native: string, price: NativePrice] {
  return [`table::${name}`, [`${name}.base`]];
}

/** Natives of `0x1::ristretto255` whose price has their name without `_internal`. */
const RISTRETTO = [
  ...['point_identity', 'point_decompress', 'point_clone', 'point_compress', 'point_mul'],
  ...['point_neg', 'point_add', 'point_sub', 'point_double_mul'],
  ...['basepoint_mul', 'basepoint_double_mul', 'scalar_is_canonical', 'scalar_invert'],
  ...['scalar_mul', 'scalar_add', 'scalar_sub', 'scalar_neg', 'scalar_from_u64'],
  ...['scalar_from_u128', 'scalar_reduced_from_32_bytes', 'scalar_uniform_from_64_bytes'],
];
const RISTRETTO_ALIASES = {
  point_equals: 'point_equals',
  point_is_canonical_internal: 'point_decompress',
  new_point_from_64_uniform_bytes_internal: 'point_from_64_uniform_bytes',
  double_scalar_mul_internal: 'point_double_mul',
};

const PRICES: ReadonlyMap<string, NativePrice> = new Map([
  ...prefixed('move_stdlib', STDLIB),
  ...prefixed('aptos_framework', FRAMEWORK),
  ...prefixed('aptos_framework', ristrettoPrices()),
  ...prefixed('table', TABLES),
]);

function prefixed(
  prefix: string,
  prices: Readonly<Record<string, NativePrice>>,
): (readonly [string, NativePrice])[] {
  return Object.entries(prices).map(([native, [base, ...units]]) => [
    native,
    [`${prefix}.${base}`, ...units.map(([name, of]) => [`${prefix}.${name}`, of] as const)],
  ]);
}

/** The numbers of a native's price in a schedule, the base first; empty without a price. */
export function nativeNumbers(prices: GasPrices, module: string, name: string): number[] {
  const [base, ...perUnit] = nativePrice(module, name) ?? [];
  return base === undefined ? [] : [base, ...perUnit.map(([each]) => each)].map(prices.of, prices);
}

/** The price of a native by its module and name; `undefined` for one that charges all of it itself. */
export function nativePrice(module: string, name: string): NativePrice | undefined {
  return PRICES.get(`${module}::${name}`);
}

/**
 * Charges the part of a price that follows from the arguments.
 * @param numbers of the price, by the schedule of the session
 * @throws VmError OUT_OF_GAS, EXECUTION_LIMIT_REACHED
 */
export function chargeNative(
  price: NativePrice,
  numbers: readonly number[],
  args: readonly Value[],
  context: NativeContext,
): void {
  let amount = numbers[0]!;
  for (let index = 1; index < price.length; index += 1) {
    const [, units] = price[index] as NativePrice[1];
    amount += numbers[index]! * units(args, context);
  }
  context.gas.charge(amount);
}

/** Elements moved by moving a range: the range twice, and what follows both places. */
function movedElements([source, at, count, target, place]: readonly Value[]): number {
  const lengthAt = (vector: Value): number =>
    ((vector as Reference).get() as ByteVector | Value[]).length;
  const [start, length, insertAt] = [Number(at), Number(count), Number(place)];
  const [from, to] = [lengthAt(source!), lengthAt(target!)];
  return start + length > from || insertAt > to ? 0 : from - start + (to - insertAt) + length;
}

function ristrettoPrices(): Record<string, NativePrice> {
  const prices: Record<string, NativePrice> = {};
  const natives = RISTRETTO.map((price) => [`${price}_internal`, price] as const);
  for (const [native, price] of [...natives, ...Object.entries(RISTRETTO_ALIASES)]) {
    prices[`ristretto255::${native}`] = [`ristretto255.${price}`];
  }
  const hashed = (base: string): NativePrice => [
    base,
    ['ristretto255.scalar_sha512_per_hash', () => 1],
    ['ristretto255.scalar_sha512_per_byte', bytesAt(0)],
  ];
  prices['ristretto255::new_point_from_sha512_internal'] = hashed(
    'ristretto255.point_from_64_uniform_bytes',
  );
  prices['ristretto255::scalar_from_sha512_internal'] = hashed(
    'ristretto255.scalar_uniform_from_64_bytes',
  );
  // Strauss and Pippenger: about n / log2(n) multiplications.
  prices['ristretto255::multi_scalar_mul_internal'] = [
    '',
    ['ristretto255.point_parse_arg', elementsAt(1)],
    ['ristretto255.scalar_parse_arg', elementsAt(1)],
    ['ristretto255.point_mul', (args) => multiplications(elementsAt(1)(args))],
  ];
  return prices;
}

function elementsAt(index: number): (args: readonly Value[]) => number {
  return (args) => ((args[index] as Reference).get() as Value[]).length;
}

function multiplications(count: number): number {
  return Math.floor(count / Math.floor(Math.log2(count + 1)));
}

function typeNameUnits(_: readonly Value[], { typeArguments }: NativeContext): number {
  return formatTypeTag(typeArguments[0]!.tag).length;
}

/** The abstract size of an argument that is a value of the type argument. */
function sizeAt(index: number): Units {
  return (args, { program, sizes, typeArguments }) => {
    // A value of the type exists, so its layout is known or follows without reading a module.
    const layout = program.layout(typeArguments[0]!) as Layout;
    const value = args[index]!;
    return sizes.of(layout, value instanceof Reference ? value.get() : value);
  };
}

/** The length of the names and arguments of the transaction's entry function. */
function payloadUnits(_: readonly Value[], { session }: NativeContext): number {
  const call = session?.transaction?.entryFunction;
  if (call === undefined) return 0;
  const { module, function: name, typeArguments, args } = call;
  const texts = [...typeArguments.map((tag) => formatTypeTag(tag)), ...args];
  return texts.reduce(
    (sum, { length }) => sum + length,
    module.address.length + module.name.length + name.length,
  );
}
