/**
 * What natives cost that follows from their arguments alone (docs/spec/gas.md §4). A native whose price depends on what
 * it finds charges the rest itself.
 */
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { NativeContext } from '../native.ts';
import { hasSignatureForm, isEd25519Point } from '../natives/crypto/ed25519.ts';
import { requestBytes } from '../natives/publishing.ts';
import { type ByteVector, Reference, type Value } from '../value.ts';

/** How many units an argument or a type argument is. */
type Units = (args: readonly Value[], context: NativeContext) => number;

/** The name of a base price, and what is paid for each of some units. Names are below those of the native's kind. */
type NativePrice = readonly [base: string, ...perUnit: (readonly [name: string, units: Units])[]];

function bytesAt(index: number): Units {
  return (args) => {
    const value = args[index];
    return lengthOf(value instanceof Reference ? value.get() : value);
  };
}

/** Of a `vector<u8>`, or of a `String`, which is a structure of one. */
function lengthOf(value: Value): number {
  return Array.isArray(value) ? lengthOf(value[0]) : (value as ByteVector).length;
}

const STDLIB: Readonly<Record<string, NativePrice>> = {
  'hash::sha2_256': ['hash.sha2_256.base', ['hash.sha2_256.per_byte', bytesAt(0)]],
  'hash::sha3_256': ['hash.sha3_256.base', ['hash.sha3_256.per_byte', bytesAt(0)]],
  'signer::borrow_address': ['signer.borrow_address.base'],
  'permissioned_signer::borrow_address': ['signer.borrow_address.base'],
  'string::internal_check_utf8': [
    'string.check_utf8.base',
    ['string.check_utf8.per_byte', bytesAt(0)],
  ],
  'string::internal_is_char_boundary': ['string.is_char_boundary.base'],
  'string::internal_sub_string': [
    'string.sub_string.base',
    ['string.sub_string.per_byte', ([, from, to]) => Math.max(0, Number(to) - Number(from))],
  ],
  'string::internal_index_of': [
    'string.index_of.base',
    ['string.index_of.per_byte_pattern', bytesAt(1)],
  ],
  'mem::swap': ['mem.swap.base'],
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

/** A signature whose key and form are right is verified; a wrong one ends before that. */
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

const FRAMEWORK: Readonly<Record<string, NativePrice>> = {
  'code::request_publish': REQUEST_PUBLISH,
  'code::request_publish_with_allowed_deps': REQUEST_PUBLISH,
  'account::create_address': ['account.create_address.base'],
  'account::create_signer': ['account.create_signer.base'],
  'create_signer::create_signer': ['account.create_signer.base'],
  'genesis::create_signer': ['account.create_signer.base'],
  'permissioned_signer::is_permissioned_signer_impl': [
    'permissioned_signer.is_permissioned_signer.base',
  ],
  'permissioned_signer::permission_address': ['permissioned_signer.permission_address.base'],
  'permissioned_signer::signer_from_permissioned_handle_impl': [
    'permissioned_signer.signer_from_permissioned_handle.base',
  ],
  'object::exists_at': ['object.exists_at.base'],
  'object::create_user_derived_object_address_impl': ['object.user_derived_address.base'],
  'aptos_hash::sip_hash': ['hash.sip_hash.base', ['hash.sip_hash.per_byte', bytesAt(0)]],
  'aptos_hash::keccak256': ['hash.keccak256.base', ['hash.keccak256.per_byte', bytesAt(0)]],
  'aptos_hash::sha2_512_internal': ['hash.sha2_512.base', ['hash.sha2_512.per_byte', bytesAt(0)]],
  'aptos_hash::sha3_512_internal': ['hash.sha3_512.base', ['hash.sha3_512.per_byte', bytesAt(0)]],
  'aptos_hash::ripemd160_internal': [
    'hash.ripemd160.base',
    ['hash.ripemd160.per_byte', bytesAt(0)],
  ],
  'aptos_hash::blake2b_256_internal': [
    'hash.blake2b_256.base',
    ['hash.blake2b_256.per_byte', bytesAt(0)],
  ],
  'type_info::type_of': [
    'type_info.type_of.base',
    ['type_info.type_of.per_abstract_memory_unit', typeNameUnits],
  ],
  'type_info::type_name': [
    'type_info.type_name.base',
    ['type_info.type_name.per_abstract_memory_unit', typeNameUnits],
  ],
  'type_info::chain_id_internal': ['type_info.chain_id.base'],
  'function_info::is_identifier': [
    'function_info.is_identifier.base',
    ['function_info.is_identifier.per_byte', bytesAt(0)],
  ],
  'function_info::check_dispatch_type_compatibility_impl': [
    'function_info.check_dispatch_type_compatibility_impl.base',
  ],
  'function_info::load_function_impl': ['function_info.load_function.base'],
  'dispatchable_fungible_asset::dispatchable_withdraw': [
    'dispatchable_fungible_asset.dispatch.base',
  ],
  'dispatchable_fungible_asset::dispatchable_deposit': [
    'dispatchable_fungible_asset.dispatch.base',
  ],
  'dispatchable_fungible_asset::dispatchable_derived_balance': [
    'dispatchable_fungible_asset.dispatch.base',
  ],
  'dispatchable_fungible_asset::dispatchable_derived_supply': [
    'dispatchable_fungible_asset.dispatch.base',
  ],
  'account_abstraction::dispatchable_authenticate': ['dispatchable_authenticate.dispatch.base'],
  'util::from_bytes': ['util.from_bytes.base', ['util.from_bytes.per_byte', bytesAt(0)]],
  'from_bcs::from_bytes': ['util.from_bytes.base', ['util.from_bytes.per_byte', bytesAt(0)]],
  'transaction_context::get_txn_hash': ['transaction_context.get_txn_hash.base'],
  'transaction_context::get_script_hash': ['transaction_context.get_script_hash.base'],
  'transaction_context::generate_unique_address': [
    'transaction_context.generate_unique_address.base',
  ],
  'transaction_context::monotonically_increasing_counter_internal': [
    'transaction_context.monotonically_increasing_counter.base',
  ],
  'transaction_context::sender_internal': ['transaction_context.sender.base'],
  'transaction_context::secondary_signers_internal': [
    'transaction_context.secondary_signers.base',
    [
      'transaction_context.secondary_signers.per_signer',
      (_, { session }) => session?.transaction?.secondarySigners.length ?? 0,
    ],
  ],
  'transaction_context::gas_payer_internal': ['transaction_context.fee_payer.base'],
  'transaction_context::max_gas_amount_internal': ['transaction_context.max_gas_amount.base'],
  'transaction_context::gas_unit_price_internal': ['transaction_context.gas_unit_price.base'],
  'transaction_context::chain_id_internal': ['transaction_context.chain_id.base'],
  'transaction_context::entry_function_payload_internal': [
    'transaction_context.entry_function_payload.base',
    ['transaction_context.entry_function_payload.per_abstract_memory_unit', payloadUnits],
  ],
  'transaction_context::multisig_payload_internal': ['transaction_context.multisig_payload.base'],
  'event::write_to_event_store': [
    'event.write_to_event_store.base',
    ['event.write_to_event_store.per_abstract_memory_unit', sizeAt(2)],
  ],
  'event::write_module_event_to_store': [
    'event.write_to_event_store.base',
    ['event.write_to_event_store.per_abstract_memory_unit', sizeAt(0)],
  ],
  'state_storage::get_state_storage_usage_only_at_epoch_beginning': [
    'state_storage.get_usage.base',
  ],
  'aggregator::add': ['aggregator.add.base'],
  'aggregator::read': ['aggregator.read.base'],
  'aggregator::sub': ['aggregator.sub.base'],
  'aggregator::destroy': ['aggregator.destroy.base'],
  'aggregator_factory::new_aggregator': ['aggregator_factory.new_aggregator.base'],
  'aggregator_v2::create_aggregator': ['aggregator_v2.create_aggregator.base'],
  'aggregator_v2::create_unbounded_aggregator': ['aggregator_v2.create_aggregator.base'],
  'aggregator_v2::try_add': ['aggregator_v2.try_add.base'],
  'aggregator_v2::try_sub': ['aggregator_v2.try_sub.base'],
  'aggregator_v2::is_at_least_impl': ['aggregator_v2.is_at_least.base'],
  'aggregator_v2::read': ['aggregator_v2.read.base'],
  'aggregator_v2::snapshot': ['aggregator_v2.snapshot.base'],
  'aggregator_v2::create_snapshot': ['aggregator_v2.create_snapshot.base'],
  'aggregator_v2::read_snapshot': ['aggregator_v2.read_snapshot.base'],
  'aggregator_v2::read_derived_string': ['aggregator_v2.read_snapshot.base'],
  'aggregator_v2::create_derived_string': [
    'aggregator_v2.create_snapshot.base',
    ['aggregator_v2.create_snapshot.per_byte', bytesAt(0)],
  ],
  'aggregator_v2::derive_string_concat': [
    'aggregator_v2.string_concat.base',
    ['aggregator_v2.string_concat.per_byte', bytesAt(0)],
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

const TABLES: Readonly<Record<string, NativePrice>> = {
  'table::new_table_handle': ['new_table_handle.base'],
  'table::add_box': ['add_box.base'],
  'table::borrow_box': ['borrow_box.base'],
  'table::borrow_box_mut': ['borrow_box.base'],
  'table::contains_box': ['contains_box.base'],
  'table::remove_box': ['remove_box.base'],
  'table::destroy_empty_box': ['destroy_empty_box.base'],
  'table::drop_unchecked_box': ['drop_unchecked_box.base'],
};

/** Natives of `0x1::ristretto255` that cost the same for all arguments, by their prices. */
const RISTRETTO: Readonly<Record<string, readonly string[]>> = {
  point_identity: ['point_identity_internal'],
  point_decompress: ['point_is_canonical_internal', 'point_decompress_internal'],
  point_clone: ['point_clone_internal'],
  point_compress: ['point_compress_internal'],
  point_mul: ['point_mul_internal'],
  point_equals: ['point_equals'],
  point_neg: ['point_neg_internal'],
  point_add: ['point_add_internal'],
  point_sub: ['point_sub_internal'],
  basepoint_mul: ['basepoint_mul_internal'],
  basepoint_double_mul: ['basepoint_double_mul_internal'],
  point_from_64_uniform_bytes: ['new_point_from_64_uniform_bytes_internal'],
  point_double_mul: ['double_scalar_mul_internal', 'point_double_mul_internal'],
  scalar_is_canonical: ['scalar_is_canonical_internal'],
  scalar_invert: ['scalar_invert_internal'],
  scalar_mul: ['scalar_mul_internal'],
  scalar_add: ['scalar_add_internal'],
  scalar_sub: ['scalar_sub_internal'],
  scalar_neg: ['scalar_neg_internal'],
  scalar_from_u64: ['scalar_from_u64_internal'],
  scalar_from_u128: ['scalar_from_u128_internal'],
  scalar_reduced_from_32_bytes: ['scalar_reduced_from_32_bytes_internal'],
  scalar_uniform_from_64_bytes: ['scalar_uniform_from_64_bytes_internal'],
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

/** The price of a native by its module and name; `undefined` for one that charges all of it itself. */
export function nativePrice(module: string, name: string): NativePrice | undefined {
  return PRICES.get(`${module}::${name}`);
}

/** Charges what follows from the arguments. @throws VmError OUT_OF_GAS, EXECUTION_LIMIT_REACHED */
export function chargeNative(
  [base, ...perUnit]: NativePrice,
  args: readonly Value[],
  context: NativeContext,
): void {
  const { gas } = context;
  let amount = gas.prices.of(base);
  for (const [name, units] of perUnit) amount += gas.prices.of(name) * units(args, context);
  gas.charge(amount);
}

/** What moves when a range does: the range twice, and what is behind both places. */
function movedElements([source, at, count, target, place]: readonly Value[]): number {
  const lengthAt = (vector: Value): number =>
    ((vector as Reference).get() as ByteVector | Value[]).length;
  const [start, length, insertAt] = [Number(at), Number(count), Number(place)];
  const [from, to] = [lengthAt(source!), lengthAt(target!)];
  return start + length > from || insertAt > to ? 0 : from - start + (to - insertAt) + length;
}

function ristrettoPrices(): Record<string, NativePrice> {
  const prices: Record<string, NativePrice> = {};
  for (const [price, natives] of Object.entries(RISTRETTO)) {
    for (const native of natives) prices[`ristretto255::${native}`] = [`ristretto255.${price}`];
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
    // There is a value of the type, so its layout is known, or follows without looking at a module.
    const layout = program.layout(typeArguments[0]!) as Layout;
    const value = args[index]!;
    return sizes.of(layout, value instanceof Reference ? value.get() : value);
  };
}

/** The texts and arguments of the transaction's entry function. */
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
