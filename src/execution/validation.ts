/**
 * The functions of `0x1::transaction_validation` that the reference runs before and after a transaction's own, and what
 * their failures mean (docs/spec/vm.md §8.5). The feature flags decide which ones are run.
 */
import { andThen, type MaybePromise, mapInOrder } from '../maybe-promise.ts';
import { authenticationKey } from '../move/crypto/authentication-key.ts';
import type { TransactionAuthenticator } from '../move/crypto/authenticator.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import { ADDRESS_ONE, type Address } from '../move/types/address.ts';
import { ACCOUNT_TAG } from '../move/types/framework-tag.ts';
import { DEFAULT_ACCOUNT_FLAG } from '../state/features.ts';
import type { Call } from '../vm/machine/run.ts';
import { optionOf } from '../vm/natives/vectors.ts';
import type { Program } from '../vm/program/program.ts';
import type { StatusName, VmError } from '../vm/status/status.ts';
import { ByteVector, type Value } from '../vm/value.ts';
import type { Session, TransactionFacts, World } from '../vm/world.ts';
import { isAbstractionEnabled, type Signers } from './authentication/abstract-accounts.ts';
import type { GasUsed } from './charges.ts';
import { MULTISIG_MODULE } from './multisig.ts';
import type { DiscardReason } from './outcome.ts';
import type { UserPart } from './sessions.ts';
import { ViewError } from './view-error.ts';

const FLAGS = {
  emitFeeStatement: 27,
  sponsoredAccounts: 34,
  simulationEnhancement: 78,
  payloadV2: 93,
};
const MODULE = { address: ADDRESS_ONE, name: 'transaction_validation' };
/** Variants of `ReplayProtector`. */
const NONCE = 0;
const SEQUENCE_NUMBER = 1;

/** The transaction that the functions validate. */
export interface ValidationContext {
  readonly transaction: SignedTransaction;
  readonly facts: TransactionFacts;
  readonly nonce: bigint | undefined;
  readonly isSimulation: boolean;
  sessionOf(part: UserPart): Session;
  readonly program: Program;
  readonly world: World;
}

type Form = 'v2' | 'unified' | 'extended' | 'plain';

function formOf({ world }: ValidationContext): Form {
  if (isAbstractionEnabled(world)) {
    return world.isFeatureEnabled(FLAGS.payloadV2) ? 'v2' : 'unified';
  }
  return world.isFeatureEnabled(FLAGS.simulationEnhancement) ? 'extended' : 'plain';
}

/** The call that checks a transaction. Rejects with ViewError on a ledger that has no such function. */
export async function prologueOf(
  validated: ValidationContext,
  { senders: [sender], gasPayer }: Signers,
): Promise<Call> {
  const { transaction, facts, nonce, isSimulation, program } = validated;
  const { raw, authenticator } = transaction;
  const form = formOf(validated);
  const isFeePaid = authenticator.kind === 'feePayer';
  const tail: Value[] = [
    raw.gasUnitPrice,
    raw.maxGasAmount,
    raw.expirationTimestampSecs,
    raw.chainId,
  ];
  const others = [...facts.secondarySigners];
  if (form === 'v2' || form === 'unified') {
    const keys = [authenticator, ...(isFeePaid ? [authenticator.feePayer] : [])];
    const options = (of: readonly (Uint8Array | undefined)[]) =>
      mapInOrder(of, (key) => optionOf(program, key && new ByteVector(Uint8Array.from(key))));
    const protector = nonce === undefined ? [SEQUENCE_NUMBER, raw.sequenceNumber] : [NONCE, nonce];
    const args: Value[] = [
      sender,
      ...(isFeePaid ? [gasPayer] : []),
      ...(await options(keys.map(authenticationKey))),
      form === 'v2' ? protector : raw.sequenceNumber,
      others,
      [...(await options(secondaryKeys(authenticator)))],
      ...tail,
      isSimulation,
    ];
    const name = `unified_prologue${isFeePaid ? '_fee_payer' : ''}${form === 'v2' ? '_v2' : ''}`;
    return callOf(validated, name, args);
  }
  const head: Value[] = [sender, raw.sequenceNumber, byteVector(authenticationKey(authenticator))];
  const extra = form === 'extended' ? [isSimulation] : [];
  const suffix = form === 'extended' ? '_extended' : '';
  if (authenticator.kind !== 'feePayer' && authenticator.kind !== 'multiAgent') {
    const args = [
      ...head,
      ...tail,
      byteVector(validated.sessionOf('prologue').scriptHash),
      ...extra,
    ];
    return callOf(validated, `script_prologue${suffix}`, args);
  }
  const signers: Value[] = [...head, others, secondaryKeys(authenticator).map(byteVector)];
  if (authenticator.kind === 'multiAgent') {
    const args = [...signers, ...tail, ...extra];
    return callOf(validated, `multi_agent_script_prologue${suffix}`, args);
  }
  const payer = [facts.gasPayer, byteVector(authenticationKey(authenticator.feePayer))];
  const args = [...signers, ...payer, ...tail, ...extra];
  return callOf(validated, `fee_payer_script_prologue${suffix}`, args);
}

/** The call that creates the sender's account where the reference does; `undefined` if it exists. */
export async function accountCreationOf({
  transaction,
  nonce,
  program,
  world,
}: ValidationContext): Promise<Call | undefined> {
  const { raw, authenticator } = transaction;
  const createsAccount =
    world.isFeatureEnabled(DEFAULT_ACCOUNT_FLAG) ||
    (world.isFeatureEnabled(FLAGS.sponsoredAccounts) && authenticator.kind === 'feePayer');
  if (!createsAccount || nonce !== undefined || raw.sequenceNumber !== 0n) return undefined;
  if ((await world.resource(raw.sender, ACCOUNT_TAG)) !== undefined) return undefined;
  const module = { address: ADDRESS_ONE, name: 'account' };
  return {
    function: await program.function(module, 'create_account_if_does_not_exist'),
    typeArguments: [],
    args: [raw.sender],
  };
}

/** The call that increments the sequence number and takes the fee. */
export async function epilogueOf(
  validated: ValidationContext,
  { senders: [sender], gasPayer }: Signers,
  gas: GasUsed,
): Promise<Call> {
  const { transaction, facts, nonce, isSimulation } = validated;
  const { gasUnitPrice, maxGasAmount } = transaction.raw;
  const isFeePaid = transaction.authenticator.kind === 'feePayer';
  const form = formOf(validated);
  const tail = [gas.refundOctas, gasUnitPrice, maxGasAmount, maxGasAmount - gas.total];
  if (form === 'v2' || form === 'unified') {
    const args: Value[] = [sender, gasPayer, ...tail, isSimulation];
    if (form === 'unified') return callOf(validated, 'unified_epilogue', args);
    return callOf(validated, 'unified_epilogue_v2', [...args, nonce !== undefined]);
  }
  const name = `epilogue${isFeePaid ? '_gas_payer' : ''}${form === 'extended' ? '_extended' : ''}`;
  const args: Value[] = [
    sender,
    ...(isFeePaid ? [facts.gasPayer] : []),
    ...tail,
    ...(form === 'extended' ? [isSimulation] : []),
  ];
  return callOf(validated, name, args);
}

/** The call that emits the fee statement; `undefined` if the chain does not emit one. */
export async function feeStatementOf(
  { world, program }: ValidationContext,
  gas: GasUsed,
): Promise<Call | undefined> {
  if (!world.isFeatureEnabled(FLAGS.emitFeeStatement)) return undefined;
  const module = { address: ADDRESS_ONE, name: 'transaction_fee' };
  const statement = [gas.total, gas.execution, gas.io, gas.storageFeeOctas, gas.refundOctas];
  return {
    function: await program.function(module, 'emit_fee_statement'),
    typeArguments: [],
    args: [statement],
  };
}

function secondaryKeys(authenticator: TransactionAuthenticator): (Uint8Array | undefined)[] {
  const { kind } = authenticator;
  if (kind !== 'feePayer' && kind !== 'multiAgent') return [];
  return authenticator.secondarySigners.map(authenticationKey);
}

function byteVector(bytes: Uint8Array | undefined): ByteVector {
  return new ByteVector(Uint8Array.from(bytes ?? []));
}

function callOf(
  { program }: ValidationContext,
  name: string,
  args: readonly Value[],
): MaybePromise<Call> {
  return andThen(program.module(MODULE), (module) => {
    const found = module.function(name);
    if (found === undefined || found.parameters.length !== args.length) {
      throw new ViewError(
        `Transactions of this ledger are not simulated: its 0x1::${MODULE.name} has no function ` +
          `${name} that this node knows`,
      );
    }
    return { function: found, typeArguments: [], args };
  });
}

/** Categories of abort codes. */
const INVALID_ARGUMENT = 1;
const OUT_OF_RANGE = 2;
const INVALID_STATE = 3;
const PERMISSION_DENIED = 5;
const NOT_FOUND = 6;

/** Statuses by category and reason. */
const PROLOGUE_STATUSES: ReadonlyMap<number, StatusName> = new Map([
  [code(INVALID_ARGUMENT, 1001), 'INVALID_AUTH_KEY'],
  [code(INVALID_ARGUMENT, 1002), 'SEQUENCE_NUMBER_TOO_OLD'],
  [code(INVALID_ARGUMENT, 1003), 'SEQUENCE_NUMBER_TOO_NEW'],
  [code(INVALID_ARGUMENT, 1004), 'SENDING_ACCOUNT_DOES_NOT_EXIST'],
  [code(INVALID_ARGUMENT, 1005), 'INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE'],
  [code(INVALID_ARGUMENT, 1006), 'TRANSACTION_EXPIRED'],
  [code(INVALID_ARGUMENT, 1007), 'BAD_CHAIN_ID'],
  [code(OUT_OF_RANGE, 1008), 'SEQUENCE_NUMBER_TOO_BIG'],
  [code(INVALID_ARGUMENT, 1009), 'SECONDARY_KEYS_ADDRESSES_COUNT_MISMATCH'],
  [code(INVALID_ARGUMENT, 1010), 'GAS_PAYER_ACCOUNT_MISSING'],
  [code(INVALID_STATE, 1011), 'INSUFFICIENT_BALANCE_FOR_REQUIRED_DEPOSIT'],
  [code(INVALID_ARGUMENT, 1012), 'NONCE_ALREADY_USED'],
  [code(INVALID_ARGUMENT, 1013), 'TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE'],
  [code(INVALID_STATE, 2002), 'ACCOUNT_NOT_MULTISIG'],
  [code(PERMISSION_DENIED, 2003), 'NOT_MULTISIG_OWNER'],
  [code(NOT_FOUND, 2006), 'MULTISIG_TRANSACTION_NOT_FOUND'],
  [code(INVALID_ARGUMENT, 2008), 'MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH_HASH'],
  [code(INVALID_ARGUMENT, 2009), 'MULTISIG_TRANSACTION_INSUFFICIENT_APPROVALS'],
  [code(INVALID_ARGUMENT, 2010), 'MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH'],
]);
/** The sender's remaining balance does not cover the fee. */
const CANNOT_PAY = BigInt(code(OUT_OF_RANGE, 1005));

function code(category: number, reason: number): number {
  return category * 0x1_0000 + reason;
}

/** Why the check of a transaction failed. @throws the error if it is not about the transaction */
export function prologueFailure(error: VmError): DiscardReason {
  const { status, subStatus, location } = error;
  const isFromPrologue = [MODULE.name, MULTISIG_MODULE.name].includes(location?.module.name ?? '');
  if (status === 'ABORTED' && subStatus !== undefined && isFromPrologue) {
    const known = PROLOGUE_STATUSES.get(Number(subStatus));
    if (known !== undefined) return { status: known, message: undefined };
  }
  return unexpected('prologue', error);
}

/** Why the signers of a transaction could not be authenticated. */
export function authenticationFailure({ status, text }: VmError): DiscardReason {
  if (status === 'ABORTED') return { status, message: undefined };
  const isOutOfGas = status === 'OUT_OF_GAS';
  const reported = isOutOfGas ? 'ACCOUNT_AUTHENTICATION_GAS_LIMIT_EXCEEDED' : status;
  return { status: reported, message: text };
}

/** Whether the epilogue failed because the sender cannot pay. */
export function isUnpaid({ status, subStatus, location }: VmError): boolean {
  return status === 'ABORTED' && subStatus === CANNOT_PAY && location?.module.name === MODULE.name;
}

export function epilogueFailure(error: VmError): DiscardReason {
  return unexpected('epilogue', error);
}

function unexpected(what: string, { status, subStatus, text, location }: VmError): DiscardReason {
  const where = location === undefined ? '' : ` in ${location.module.name}`;
  const why = [status, subStatus, text].filter((part) => part !== undefined).join(' ');
  return {
    status: 'UNEXPECTED_ERROR_FROM_KNOWN_MOVE_FUNCTION',
    message: `Unexpected ${what} error${where}: ${why}`,
  };
}

export function hasSignerTwice(sender: Address, others: readonly Address[]): boolean {
  return new Set([sender, ...others]).size <= others.length;
}
