/**
 * User transactions as they are submitted: unsigned bytes, the message that is signed, and the authenticator in the
 * form that the call specifies (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5).
 */
import { sign } from 'node:crypto';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import type { TransactionAuthenticator } from '../move/crypto/authenticator.ts';
import { domainSeed } from '../move/crypto/hash.ts';
import type { TransactionPayload } from '../move/transactions/payload.ts';
import {
  ORDERLESS_SEQUENCE_NUMBER,
  RawTransaction,
  SignedTransaction,
} from '../move/transactions/user-transaction.ts';
import type { Address } from '../move/types/address.ts';
import { authenticatorOf, type SampleKey } from './keys.ts';

/** A user's call. */
export interface Call {
  /** Account index. */
  readonly sender: number;
  /** Called only when the transaction is built. */
  readonly payload: () => TransactionPayload;
  /** How it is signed; `single` if absent. */
  readonly form?: CallForm;
  /** Signs too (`multiAgent`), or pays (`feePayer`). */
  readonly second?: number;
  /** Signs instead of the sender's newest key. */
  readonly signingKey?: SampleKey;
  /** Gas limit in gas units. Defaults to the sample's own. */
  readonly maxGasAmount?: bigint;
}

type CallForm = 'single' | 'singleSender' | 'multiAgent' | 'feePayer' | 'orderless';

/** Addresses and keys by account index. */
export interface Signers {
  address(account: number): Address;
  /** The key that signs for an account now. */
  key(account: number): SampleKey;
}

/** Variants of RawTransactionWithData. */
const MULTI_AGENT = 0;
const MULTI_AGENT_WITH_FEE_PAYER = 1;

const RAW_SEED = domainSeed('RawTransaction');
const RAW_WITH_DATA_SEED = domainSeed('RawTransactionWithData');

/** Fields of a transaction that do not come from its call. */
interface SubmissionFacts {
  readonly sequenceNumber: number;
  /** Seconds since 1970. */
  readonly expiration: number;
  /** The nonce of an orderless call. */
  readonly nonce: bigint;
  readonly chainId: number;
  /** Gas units. */
  readonly maxGasAmount: bigint;
  /** Octas. */
  readonly gasUnitPrice: bigint;
}

const messageWriter = new BcsWriter(2048);

/** BCS of the SignedTransaction. */
export function buildTransaction(accounts: Signers, call: Call, facts: SubmissionFacts): Buffer {
  const orderless = call.form === 'orderless';
  const payload = call.payload();
  const raw: RawTransaction = {
    sender: accounts.address(call.sender),
    sequenceNumber: orderless ? ORDERLESS_SEQUENCE_NUMBER : BigInt(facts.sequenceNumber),
    payload: orderless ? withNonce(payload, facts.nonce) : payload,
    maxGasAmount: call.maxGasAmount ?? facts.maxGasAmount,
    gasUnitPrice: facts.gasUnitPrice,
    expirationTimestampSecs: BigInt(facts.expiration),
    chainId: facts.chainId,
  };
  const message = signingMessage(accounts, call, RawTransaction.encode(raw));
  return SignedTransaction.encode({ raw, authenticator: authenticate(accounts, call, message) });
}

function withNonce(payload: TransactionPayload, nonce: bigint): TransactionPayload {
  if (payload.kind !== 'entryFunction' && payload.kind !== 'script') {
    throw new RangeError(`an orderless call of ${payload.kind}`);
  }
  return {
    kind: 'payload',
    executable: payload,
    extraConfig: { kind: 'v1', multisigAddress: undefined, replayProtectionNonce: nonce },
  };
}

/** The message that every signer of the call signs: prefix and bytes. */
function signingMessage(accounts: Signers, call: Call, raw: Uint8Array): Buffer {
  messageWriter.reset();
  if (call.form !== 'multiAgent' && call.form !== 'feePayer') {
    return messageWriter.fixed(RAW_SEED).fixed(raw).view();
  }
  const isMultiAgent = call.form === 'multiAgent';
  messageWriter.fixed(RAW_WITH_DATA_SEED);
  messageWriter.uleb32(isMultiAgent ? MULTI_AGENT : MULTI_AGENT_WITH_FEE_PAYER).fixed(raw);
  messageWriter.vector(secondaryAddresses(accounts, call), (to, address) => to.address(address));
  if (!isMultiAgent) messageWriter.address(accounts.address(call.second!));
  return messageWriter.view();
}

function secondaryAddresses(accounts: Signers, call: Call): Address[] {
  return call.form === 'multiAgent' ? [accounts.address(call.second!)] : [];
}

/** The authenticator, in the form that the call specifies. */
function authenticate(accounts: Signers, call: Call, message: Buffer): TransactionAuthenticator {
  const sender = signedBy(call.signingKey ?? accounts.key(call.sender), message);
  const secondarySignerAddresses = secondaryAddresses(accounts, call);
  switch (call.form) {
    case 'multiAgent': {
      const secondarySigners = [signedBy(accounts.key(call.second!), message)];
      return { kind: 'multiAgent', sender, secondarySignerAddresses, secondarySigners };
    }
    case 'feePayer': {
      const feePayerAddress = accounts.address(call.second!);
      const feePayer = signedBy(accounts.key(call.second!), message);
      const others = { secondarySignerAddresses, secondarySigners: [] };
      return { kind: 'feePayer', sender, ...others, feePayerAddress, feePayer };
    }
    default: {
      const isPlain = call.form === undefined || call.form === 'single';
      const isOld = sender.kind === 'ed25519' || sender.kind === 'multiEd25519';
      return isPlain && isOld ? sender : { kind: 'singleSender', sender };
    }
  }
}

function signedBy({ scheme, publicKeys, privateKeys }: SampleKey, message: Buffer) {
  const signatures = privateKeys.map((privateKey) => sign(null, message, privateKey));
  return authenticatorOf(scheme, publicKeys, signatures);
}
