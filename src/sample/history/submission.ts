/**
 * User transactions as they are submitted: unsigned bytes, the message that is signed, and the authenticator in the
 * form that the call wants (docs/spec/ledger.md §3.4, docs/spec/encode.md §A5).
 */

import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  type AccountAuthenticator,
  type TransactionAuthenticator,
  writeTransactionAuthenticator,
} from '../../move/crypto/authenticator.ts';
import { domainSeed } from '../../move/crypto/hash.ts';
import type { TransactionPayload } from '../../move/transactions/payload.ts';
import {
  ORDERLESS_SEQUENCE_NUMBER,
  writeRawTransaction,
} from '../../move/transactions/user-transaction.ts';
import type { Address } from '../../move/types/address.ts';
import type { Accounts } from '../accounts.ts';
import { SAMPLE_CHAIN_ID } from '../chain.ts';
import type { Call } from '../world.ts';
import { type SampleKey, signWith } from './keys.ts';

/** Octas a gas unit. */
export const GAS_UNIT_PRICE = 100;
export const MAX_GAS_AMOUNT = 200_000n;

const USER_TRANSACTION = 0;
/** Variants of RawTransactionWithData. */
const MULTI_AGENT = 0;
const MULTI_AGENT_WITH_FEE_PAYER = 1;

const RAW_SEED = domainSeed('RawTransaction');
const RAW_WITH_DATA_SEED = domainSeed('RawTransactionWithData');

/** What the ledger adds to a call to make it a transaction. */
export interface SubmissionFacts {
  readonly sequenceNumber: number;
  /** Seconds since 1970. */
  readonly expiration: number;
  /** Of an orderless call. */
  readonly nonce: bigint;
}

const rawWriter = new BcsWriter(2048);
const messageWriter = new BcsWriter(2048);

/** The BCS of the signed transaction as the ledger holds it, with its leading variant. */
export function buildTransaction(accounts: Accounts, call: Call, facts: SubmissionFacts): Buffer {
  const orderless = call.form === 'orderless';
  const payload = call.payload();
  rawWriter.reset();
  rawWriter.uleb32(USER_TRANSACTION);
  writeRawTransaction(rawWriter, {
    sender: accounts.address(call.sender),
    sequenceNumber: orderless ? ORDERLESS_SEQUENCE_NUMBER : BigInt(facts.sequenceNumber),
    payload: orderless ? withNonce(payload, facts.nonce) : payload,
    maxGasAmount: MAX_GAS_AMOUNT,
    gasUnitPrice: BigInt(GAS_UNIT_PRICE),
    expirationTimestampSecs: BigInt(facts.expiration),
    chainId: SAMPLE_CHAIN_ID,
  });
  // The message is signed without the variant of Transaction in front.
  const message = signingMessage(accounts, call, rawWriter.view().subarray(1));
  writeTransactionAuthenticator(rawWriter, authenticate(accounts, call, message));
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
function signingMessage(accounts: Accounts, call: Call, raw: Uint8Array): Buffer {
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

function secondaryAddresses(accounts: Accounts, call: Call): Address[] {
  return call.form === 'multiAgent' ? [accounts.address(call.second!)] : [];
}

function ed25519(key: SampleKey, message: Uint8Array): AccountAuthenticator & { kind: 'ed25519' } {
  return { kind: 'ed25519', publicKey: key.publicKey, signature: signWith(key, message) };
}

function authenticate(accounts: Accounts, call: Call, message: Buffer): TransactionAuthenticator {
  const sender = ed25519(call.signingKey ?? accounts.key(call.sender), message);
  switch (call.form) {
    case 'multiAgent':
      return {
        kind: 'multiAgent',
        sender,
        secondarySignerAddresses: secondaryAddresses(accounts, call),
        secondarySigners: [ed25519(accounts.key(call.second!), message)],
      };
    case 'feePayer':
      return {
        kind: 'feePayer',
        sender,
        secondarySignerAddresses: [],
        secondarySigners: [],
        feePayerAddress: accounts.address(call.second!),
        feePayer: ed25519(accounts.key(call.second!), message),
      };
    case 'singleSender':
    case 'orderless':
      return { kind: 'singleSender', sender };
    default:
      return sender;
  }
}
