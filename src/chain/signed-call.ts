/** Transactions that a local network signs itself: those of its faucet and of its first accounts. */
import { sign } from 'node:crypto';
import { domainSeed } from '../move/crypto/hash.ts';
import type { EntryFunction, Script } from '../move/transactions/executable.ts';
import {
  ORDERLESS_SEQUENCE_NUMBER,
  RawTransaction,
  SignedTransaction,
} from '../move/transactions/user-transaction.ts';
import type { Address } from '../move/types/address.ts';
import { type Ed25519Key, signingKey } from './genesis/genesis-keys.ts';

/** Protects a transaction from being executed twice. */
export type ReplayProtection = { readonly sequenceNumber: bigint } | { readonly nonce: bigint };

interface SignedCall {
  readonly sender: Address;
  readonly key: Ed25519Key;
  readonly call: EntryFunction | Script;
  readonly replay: ReplayProtection;
  readonly chainId: number;
  /** Gas units. */
  readonly maxGasAmount: bigint;
  /** Octas. */
  readonly gasUnitPrice: bigint;
  readonly expirationTimestampSecs: bigint;
}

/** BCS of the SignedTransaction. */
export function signedCall({ key, call, replay, ...facts }: SignedCall): Buffer {
  const raw: RawTransaction = {
    ...facts,
    sequenceNumber: 'nonce' in replay ? ORDERLESS_SEQUENCE_NUMBER : replay.sequenceNumber,
    payload:
      'nonce' in replay
        ? {
            kind: 'payload',
            executable: call,
            extraConfig: {
              kind: 'v1',
              multisigAddress: undefined,
              replayProtectionNonce: replay.nonce,
            },
          }
        : call,
  };
  const message = Buffer.concat([domainSeed('RawTransaction'), RawTransaction.encode(raw)]);
  const signature = sign(null, message, signingKey(key));
  const authenticator = { kind: 'ed25519', publicKey: key.publicKey, signature } as const;
  return SignedTransaction.encode({ raw, authenticator });
}
