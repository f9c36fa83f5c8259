/** Natives about the transaction that runs; a view has none (docs/spec/vm.md §6.5, §8.1). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { isRandomnessFunction } from '../../move/modules/metadata.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import type { Value } from '../value.ts';
import { byteVector, stringOf } from './arguments.ts';
import { optionOf } from './options.ts';
import { sessionHash, uniqueAddress } from './session.ts';

const NOT_AVAILABLE = 0x3_0001;
const COUNTER_OVERFLOW = 0x3_0002;
const NO_INDEX = 0x3_0005;
const RANDOMNESS_REFUSED = 1;
const MAX_COUNTER = 0xffff;
/** Of randomness: a number, the lowest byte first. */
const COUNTER_BYTES = 8;

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
  return (context) => {
    const transaction = context.session?.transaction;
    return transaction === undefined
      ? new NativeAbort(NOT_AVAILABLE, text)
      : andThen(of(transaction, context), (value) => [value]);
  };
}

/** How often natives were called in a session. */
class Calls {
  addresses = 0;
  counters = 0;
  randomness = 0;
}

const generateAddress: Native = (context) => {
  const calls = context.sessionExtensions.of(Calls);
  calls.addresses += 1;
  return [uniqueAddress(context, BigInt(calls.addresses))];
};

/** The time, the transaction's index in its block, the session, and how often this was called in it. */
const increasingCounter: Native = ({ session, sessionExtensions }, [timeUsecs]) => {
  const calls = sessionExtensions.of(Calls);
  calls.counters += 1;
  if (calls.counters > MAX_COUNTER) {
    return new NativeAbort(
      COUNTER_OVERFLOW,
      'Monotonically increasing counter has reached maximum value ' +
        '(too many calls in this session)',
    );
  }
  if (session?.transaction === undefined) {
    return new NativeAbort(
      NOT_AVAILABLE,
      'Transaction context is not available (must be called during transaction execution)',
    );
  }
  const { index } = session.transaction;
  if (index === undefined) return new NativeAbort(NO_INDEX);
  const place = (BigInt(index) << 24n) | BigInt(session.counter << 16) | BigInt(calls.counters);
  return [((timeUsecs as bigint) << 56n) | place];
};

/**
 * Whether the code that runs cannot undo a result that it does not like: the transaction's own function uses
 * randomness, and no other code can call it.
 */
function isUnbiasable(context: NativeContext): boolean {
  const called = context.callers()[0];
  if (context.session?.transaction === undefined || called === undefined) return false;
  return (
    called.visibility !== 'public' && isRandomnessFunction(called.module.compiled, called.name)
  );
}

const fetchAndIncrementCounter: Native = (context) => {
  if (!isUnbiasable(context)) return new NativeAbort(RANDOMNESS_REFUSED);
  const calls = context.sessionExtensions.of(Calls);
  const counter = Buffer.alloc(COUNTER_BYTES);
  counter.writeUInt32LE(calls.randomness);
  calls.randomness += 1;
  return [byteVector(context.meter, Uint8Array.from(counter))];
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
  'transaction_context::get_script_hash': ({ session, meter }) => [
    byteVector(meter, Uint8Array.from(session?.scriptHash ?? [])),
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
  'transaction_context::multisig_payload_internal': fact(
    'multisig payload',
    ({ multisig }, { program, meter }) =>
      andThen(
        optionOf(program, multisig?.payload && payloadOf(meter, multisig.payload)),
        (payload) => optionOf(program, multisig && [multisig.address, payload]),
      ),
  ),
  'transaction_context::is_encrypted_txn_internal': fact('is_encrypted_txn', () => false),
  'transaction_context::is_orderless_txn_internal': fact(
    'is_orderless_txn',
    ({ isOrderless }) => isOrderless,
  ),
  'randomness::fetch_and_increment_txn_counter': fetchAndIncrementCounter,
  'randomness::is_unbiasable': (context) => [isUnbiasable(context)],
};
