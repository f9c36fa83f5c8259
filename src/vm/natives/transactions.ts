/** Natives about the transaction that runs; a view has none (docs/spec/vm.md §6.5, §8.1). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Meter } from '../meter.ts';
import { missingNative, type Native, NativeAbort, type NativeContext } from '../native.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import type { Value } from '../value.ts';
import { byteVector, stringOf } from './arguments.ts';
import { optionOf } from './options.ts';
import { sessionHash, uniqueAddress } from './session.ts';

const NOT_AVAILABLE = 0x3_0001;
const COUNTER_OVERFLOW = 0x3_0002;
const RANDOMNESS_REFUSED = 1;
const MAX_COUNTER = 0xffff;

/**
 * What a transaction has to say.
 * @param what can only be accessed during transaction execution
 */
function fact(
  what: string,
  of: (transaction: TransactionFacts, context: NativeContext) => MaybePromise<Value>,
): Native {
  const text =
    `Transaction context is not available (${what} can only be accessed during ` +
    'transaction execution)';
  return (context) =>
    context.transaction === undefined
      ? new NativeAbort(NOT_AVAILABLE, text)
      : andThen(of(context.transaction, context), (value) => [value]);
}

/** How often a native was called in a run. */
function countOf({ extensions }: NativeContext, key: unknown): number {
  const count = ((extensions.get(key) as number | undefined) ?? 0) + 1;
  extensions.set(key, count);
  return count;
}

const generateAddress: Native = (context) => [
  uniqueAddress(context, BigInt(countOf(context, generateAddress))),
];

/** It needs the place of a transaction in its block. */
const increasingCounter: Native = (context) => {
  if (context.transaction !== undefined) {
    throw missingNative('transaction_context', 'monotonically_increasing_counter_internal');
  }
  return countOf(context, increasingCounter) > MAX_COUNTER
    ? new NativeAbort(
        COUNTER_OVERFLOW,
        'Monotonically increasing counter has reached maximum value ' +
          '(too many calls in this session)',
      )
    : new NativeAbort(
        NOT_AVAILABLE,
        'Transaction context is not available (must be called during transaction execution)',
      );
};

/** `EntryFunctionPayload`. */
function payloadOf(
  meter: Meter,
  { module, function: name, typeArguments, args }: EntryFunction,
): Value[] {
  return [
    module.address,
    stringOf(meter, module.name),
    stringOf(meter, name),
    typeArguments.map((tag) => stringOf(meter, formatTypeTag(tag))),
    args.map((argument) => byteVector(meter, Uint8Array.from(argument))),
  ];
}

export const TRANSACTION_NATIVES: Readonly<Record<string, Native>> = {
  'transaction_context::get_txn_hash': (context) => [
    byteVector(context.meter, Uint8Array.from(sessionHash(context))),
  ],
  'transaction_context::get_script_hash': ({ transaction, meter }) => [
    byteVector(meter, Uint8Array.from(transaction?.scriptHash ?? [])),
  ],
  'transaction_context::generate_unique_address': generateAddress,
  'transaction_context::monotonically_increasing_counter_internal': increasingCounter,
  'transaction_context::sender_internal': fact('sender information', ({ sender }) => sender),
  'transaction_context::secondary_signers_internal': fact(
    'secondary signers',
    ({ secondarySigners }) => [...secondarySigners],
  ),
  'transaction_context::gas_payer_internal': fact(
    'gas payer information',
    ({ gasPayer }) => gasPayer,
  ),
  'transaction_context::max_gas_amount_internal': fact(
    'max gas amount',
    ({ maxGasAmount }) => maxGasAmount,
  ),
  'transaction_context::gas_unit_price_internal': fact(
    'gas unit price',
    ({ gasUnitPrice }) => gasUnitPrice,
  ),
  'transaction_context::chain_id_internal': fact('chain ID', ({ chainId }) => chainId),
  'transaction_context::entry_function_payload_internal': fact(
    'entry function payload',
    ({ entryFunction }, { program, meter }) =>
      optionOf(program, entryFunction && payloadOf(meter, entryFunction)),
  ),
  'transaction_context::multisig_payload_internal': fact('multisig payload', (_, { program }) =>
    optionOf(program, undefined),
  ),
  'transaction_context::is_encrypted_txn_internal': fact('is_encrypted_txn', () => false),
  'transaction_context::is_orderless_txn_internal': fact(
    'is_orderless_txn',
    ({ isOrderless }) => isOrderless,
  ),
  'randomness::fetch_and_increment_txn_counter': ({ transaction }) => {
    if (transaction === undefined) return new NativeAbort(RANDOMNESS_REFUSED);
    throw missingNative('randomness', 'fetch_and_increment_txn_counter');
  },
  // It follows from an attribute of the entry function, and from a seed that a simulation does not have.
  'randomness::is_unbiasable': ({ transaction }) => {
    if (transaction === undefined) return [false];
    throw missingNative('randomness', 'is_unbiasable');
  },
};
