/** Natives about the transaction that runs, which a view has none of (docs/spec/vm.md §6.5). */
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import { byteVector } from './arguments.ts';
import { sessionHash, uniqueAddress } from './session.ts';

const NOT_AVAILABLE = 0x3_0001;
const COUNTER_OVERFLOW = 0x3_0002;
const RANDOMNESS_REFUSED = 1;
const MAX_COUNTER = 0xffff;

/** @param what can only be accessed during transaction execution */
function unavailable(what: string): Native {
  const text =
    `Transaction context is not available (${what} can only be accessed during ` +
    'transaction execution)';
  return () => new NativeAbort(NOT_AVAILABLE, text);
}

/** How often a native was called in a run. */
function countOf({ extensions }: NativeContext, key: unknown): number {
  const count = ((extensions.get(key) as number | undefined) ?? 0) + 1;
  extensions.set(key, count);
  return count;
}

const generateAddress: Native = (context) => [
  uniqueAddress(BigInt(countOf(context, generateAddress))),
];

const increasingCounter: Native = (context) =>
  countOf(context, increasingCounter) > MAX_COUNTER
    ? new NativeAbort(
        COUNTER_OVERFLOW,
        'Monotonically increasing counter has reached maximum value ' +
          '(too many calls in this session)',
      )
    : new NativeAbort(
        NOT_AVAILABLE,
        'Transaction context is not available (must be called during transaction execution)',
      );

export const TRANSACTION_NATIVES: Readonly<Record<string, Native>> = {
  'transaction_context::get_txn_hash': ({ meter }) => [
    byteVector(meter, Uint8Array.from(sessionHash())),
  ],
  'transaction_context::get_script_hash': ({ meter }) => [byteVector(meter, new Uint8Array(0))],
  'transaction_context::generate_unique_address': generateAddress,
  'transaction_context::monotonically_increasing_counter_internal': increasingCounter,
  'transaction_context::sender_internal': unavailable('sender information'),
  'transaction_context::secondary_signers_internal': unavailable('secondary signers'),
  'transaction_context::gas_payer_internal': unavailable('gas payer information'),
  'transaction_context::max_gas_amount_internal': unavailable('max gas amount'),
  'transaction_context::gas_unit_price_internal': unavailable('gas unit price'),
  'transaction_context::chain_id_internal': unavailable('chain ID'),
  'transaction_context::entry_function_payload_internal': unavailable('entry function payload'),
  'transaction_context::multisig_payload_internal': unavailable('multisig payload'),
  'transaction_context::is_encrypted_txn_internal': unavailable('is_encrypted_txn'),
  'transaction_context::is_orderless_txn_internal': unavailable('is_orderless_txn'),
  'randomness::fetch_and_increment_txn_counter': () => new NativeAbort(RANDOMNESS_REFUSED),
  'randomness::is_unbiasable': () => [false],
};
