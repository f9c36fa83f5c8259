/** Natives about the running transaction and about the chain (docs/spec/vm.md §6.5, §6.12, §8.1). */

import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError, type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { domainHash, sha3 } from '../../move/crypto/hash.ts';
import { isRandomnessFunction } from '../../move/modules/metadata.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import { formatTypeTag } from '../../move/types/type-tag.ts';
import type { Meter } from '../meter.ts';
import { missingNative, type Native, NativeAbort, type NativeContext } from '../native.ts';
import type { Value } from '../value.ts';
import type { TransactionFacts } from '../world.ts';
import { bytesOf, byteVector, stringOf } from './arguments.ts';
import { optionOf } from './vectors.ts';

/** The variant of the reference's sessions that is not a transaction. */
const VOID_SESSION = 5;
const SCHEME_UNIQUE_ADDRESS = 251;

let hash: Buffer | undefined;

/**
 * The hash of the running transaction, for natives. A view is not a transaction: the reference uses the hash of a
 * session without content (docs/spec/vm.md §6.5).
 */
function sessionHash({ session }: Pick<NativeContext, 'session'>): Buffer {
  if (session !== undefined) return session.hash;
  hash ??= domainHash('SessionId', Uint8Array.of(VOID_SESSION));
  return hash;
}

/** Handle of the n-th table, or key of the n-th aggregator, that a run creates, from 0. */
export function sessionAddress(context: NativeContext, count: number): Address {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, count);
  return addressFromBytes(sha3(joined(sessionHash(context), bytes)));
}

/** The n-th unique address that a run requests, from 1. */
function uniqueAddress(context: NativeContext, count: bigint): Address {
  const counted = encodeBcs((writer) => writer.u64(count).u8(SCHEME_UNIQUE_ADDRESS));
  return addressFromBytes(sha3(joined(sessionHash(context), counted)));
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}

const NOT_AVAILABLE = 0x3_0001;
const COUNTER_OVERFLOW = 0x3_0002;
const NO_INDEX = 0x3_0005;
const RANDOMNESS_REFUSED = 1;
const MAX_COUNTER = 0xffff;
/** Size of the randomness counter, a little-endian number. */
const COUNTER_BYTES = 8;

/**
 * A native that returns a fact about the transaction.
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

/** Combines the time, the transaction's index in its block, the session and the number of calls in it. */
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
 * Whether the running code cannot undo an unwanted result: the transaction's own function uses randomness, and no
 * other code can call it.
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

/** Variants of the consensus configuration from this one on configure validator transactions. */
const FIRST_WITH_VALIDATOR_TRANSACTIONS = 2;
const CONFIG_VARIANTS = 5;
/** Fewest bytes of a round and its proposer. */
const ROUND_BYTES = 40;

/** Whether validator transactions are enabled; malformed bytes mean that they are not. */
const validatorTransactionsEnabled: Native = (_, [config]) => {
  try {
    return [decodeBcs(bytesOf(config), readIsEnabled)];
  } catch (error) {
    if (error instanceof BcsError) return [false];
    throw error;
  }
};

/** Reads an `OnChainConsensusConfig` to its end. */
function readIsEnabled(reader: BcsReader): boolean {
  const variant = reader.variant(CONFIG_VARIANTS, 'OnChainConsensusConfig');
  if (variant < FIRST_WITH_VALIDATOR_TRANSACTIONS) {
    skipMain(reader);
    return false;
  }
  skipAlgorithm(reader);
  const isEnabled = reader.variant(2, 'ValidatorTxnConfig') === 1;
  if (isEnabled) {
    reader.u64();
    reader.u64();
  }
  if (variant > FIRST_WITH_VALIDATOR_TRANSACTIONS) reader.option((inner) => inner.u64());
  if (variant > FIRST_WITH_VALIDATOR_TRANSACTIONS + 1) reader.bool();
  return isEnabled;
}

function skipAlgorithm(reader: BcsReader): void {
  const variant = reader.variant(3, 'ConsensusAlgorithmConfig');
  if (variant === 1) {
    reader.u64();
    if (reader.variant(2, 'AnchorElectionMode') === 1) skipReputation(reader);
    return;
  }
  skipMain(reader);
  reader.bool();
  if (variant === 2) reader.bool();
}

/** `ConsensusConfigV1`. */
function skipMain(reader: BcsReader): void {
  reader.bool();
  reader.u64();
  reader.u64();
  const election = reader.variant(4, 'ProposerElectionType');
  if (election < 2) reader.u32();
  else if (election === 2) skipReputation(reader);
  else
    reader.map(
      ROUND_BYTES,
      (inner) => inner.u64(),
      (inner) => inner.address(),
    );
  reader.u64();
}

/** `LeaderReputationType`: both variants have the same fields. */
function skipReputation(reader: BcsReader): void {
  reader.variant(2, 'LeaderReputationType');
  for (let weights = 0; weights < 3; weights += 1) reader.u64();
  reader.u32();
  reader.u64();
  reader.u64();
  reader.bool();
  reader.u32();
}

/** The size of the state before the first transaction of an epoch: `Usage`. */
const stateUsage: Native = ({ world }) => {
  const usage = world.stateUsage?.();
  if (usage === undefined)
    throw missingNative('state_storage', 'get_state_storage_usage_only_at_epoch_beginning');
  return andThen(usage, ({ items, bytes }) => [[items, bytes]]);
};

export const CHAIN_NATIVES: Readonly<Record<string, Native>> = {
  'consensus_config::validator_txn_enabled_internal': validatorTransactionsEnabled,
  'state_storage::get_state_storage_usage_only_at_epoch_beginning': stateUsage,
};
