/**
 * User transactions as they are submitted: unsigned bytes, the message that is signed, and the authenticator in the
 * form that the call wants (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5).
 */
import { sign } from 'node:crypto';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { domainSeed } from '../move/crypto/hash.ts';
import type { TransactionPayload } from '../move/transactions/payload.ts';
import {
  ORDERLESS_SEQUENCE_NUMBER,
  RawTransaction,
} from '../move/transactions/user-transaction.ts';
import type { Address } from '../move/types/address.ts';
import { ANY_ED25519, KEY_SCHEMES, MULTI_BITMAP, type SampleKey } from './keys.ts';

/** A user's call. */
export interface Call {
  /** Account index. */
  readonly sender: number;
  /** Made only when the transaction is written. */
  readonly payload: () => TransactionPayload;
  /** How it is signed; `single` when absent. */
  readonly form?: CallForm;
  /** Signs too (`multiAgent`), or pays (`feePayer`). */
  readonly second?: number;
  /** Signs instead of the sender's newest key. */
  readonly signingKey?: SampleKey;
  /** Gas units; absent: as many as the sample gives each. */
  readonly maxGasAmount?: bigint;
}

type CallForm = 'single' | 'singleSender' | 'multiAgent' | 'feePayer' | 'orderless';

/** Addresses and keys by account index. */
export interface Signers {
  address(account: number): Address;
  /** The key that signs for an account now. */
  key(account: number): SampleKey;
}

const USER_TRANSACTION = 0;
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

const rawWriter = new BcsWriter(2048);
const messageWriter = new BcsWriter(2048);

/** The BCS of the signed transaction as the ledger holds it, with its leading variant. */
export function buildTransaction(accounts: Signers, call: Call, facts: SubmissionFacts): Buffer {
  const orderless = call.form === 'orderless';
  const payload = call.payload();
  rawWriter.reset();
  rawWriter.uleb32(USER_TRANSACTION);
  RawTransaction.write(rawWriter, {
    sender: accounts.address(call.sender),
    sequenceNumber: orderless ? ORDERLESS_SEQUENCE_NUMBER : BigInt(facts.sequenceNumber),
    payload: orderless ? withNonce(payload, facts.nonce) : payload,
    maxGasAmount: call.maxGasAmount ?? facts.maxGasAmount,
    gasUnitPrice: facts.gasUnitPrice,
    expirationTimestampSecs: BigInt(facts.expiration),
    chainId: facts.chainId,
  });
  // The message is signed without the variant of Transaction in front.
  const message = signingMessage(accounts, call, rawWriter.view().subarray(1));
  writeAuthenticator(accounts, call, message);
  return rawWriter.toBytes();
}

function withNonce(payload: TransactionPayload, nonce: bigint): TransactionPayload {
  if (payload.kind !== 'entryFunction' && payload.kind !== 'script') {
    throw new Error(`an orderless call of ${payload.kind}`);
  }
  return {
    kind: 'payload',
    executable: payload,
    extraConfig: { kind: 'v1', multisigAddress: undefined, replayProtectionNonce: nonce },
  };
}

/** Prefix and bytes that every signer of the call signs. */
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

/** Variants of TransactionAuthenticator; those of keys are the variants of AccountAuthenticator. */
const MULTI_AGENT_AUTHENTICATOR = 2;
const FEE_PAYER_AUTHENTICATOR = 3;
const SINGLE_SENDER_AUTHENTICATOR = 4;

/** Appends who signs the call, in the form that the call wants, to the unsigned transaction. */
function writeAuthenticator(accounts: Signers, call: Call, message: Buffer): void {
  const senderKey = call.signingKey ?? accounts.key(call.sender);
  switch (call.form) {
    case 'multiAgent':
      rawWriter.uleb32(MULTI_AGENT_AUTHENTICATOR);
      writeSignature(rawWriter, senderKey, message);
      rawWriter.vector(secondaryAddresses(accounts, call), (to, address) => to.address(address));
      rawWriter.vector([accounts.key(call.second!)], (to, key) => writeSignature(to, key, message));
      return;
    case 'feePayer':
      rawWriter.uleb32(FEE_PAYER_AUTHENTICATOR);
      writeSignature(rawWriter, senderKey, message);
      rawWriter.length32(0).length32(0).address(accounts.address(call.second!));
      writeSignature(rawWriter, accounts.key(call.second!), message);
      return;
    default: {
      const isPlain = call.form === undefined || call.form === 'single';
      const isOld = senderKey.scheme === 'ed25519' || senderKey.scheme === 'multiEd25519';
      if (!isPlain || !isOld) rawWriter.uleb32(SINGLE_SENDER_AUTHENTICATOR);
      writeSignature(rawWriter, senderKey, message);
    }
  }
}

function writeSignature(writer: BcsWriter, key: SampleKey, message: Buffer): void {
  const { scheme, publicKey, privateKeys } = key;
  const signatures = privateKeys.map((privateKey) => sign(null, message, privateKey));
  writer.uleb32(KEY_SCHEMES.indexOf(scheme));
  switch (scheme) {
    case 'ed25519':
      writer.bytes(publicKey).bytes(signatures[0]!);
      return;
    case 'multiEd25519':
      writer.bytes(publicKey).bytes(Buffer.concat([...signatures, MULTI_BITMAP]));
      return;
    case 'singleKey':
      writer.fixed(publicKey).uleb32(ANY_ED25519).bytes(signatures[0]!);
      return;
    case 'multiKey':
      writer.fixed(publicKey);
      writer.vector(signatures, (to, signature) => to.uleb32(ANY_ED25519).bytes(signature));
      writer.bytes(MULTI_BITMAP);
  }
}
