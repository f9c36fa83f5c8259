/** Whether transactions that are to be simulated are properly signed (docs/spec/vm.md §8.5). */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, it } from 'vitest';
import { isSigned, MAX_SIGNATURES } from '../../src/ledger/simulation/valid-signatures.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type {
  AccountAuthenticator,
  TransactionAuthenticator,
} from '../../src/move/crypto/authenticator.ts';
import { domainSeed, sha3 } from '../../src/move/crypto/hash.ts';
import type { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import { type Address, padAddress } from '../../src/move/types/address.ts';

const RAW = Buffer.from('any bytes');
const OTHERS: readonly Address[] = [padAddress('2')];
const PAYER = padAddress('3');
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEY = keyBytes(publicKey);

function keyBytes(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
}

const message = (raw = RAW): Buffer => Buffer.concat([domainSeed('RawTransaction'), raw]);

function messageWithData(variant: number, payer?: Address): Buffer {
  return encodeBcs((writer) => {
    writer.fixed(domainSeed('RawTransactionWithData')).uleb32(variant).fixed(RAW);
    writer.vector(OTHERS, (to, address) => to.address(address));
    if (payer !== undefined) writer.address(payer);
  });
}

const ed25519 = (signed: Buffer) =>
  ({ kind: 'ed25519', publicKey: KEY, signature: sign(null, signed, privateKey) }) as const;

const isValid = (authenticator: TransactionAuthenticator, raw = RAW): Promise<boolean> =>
  isSigned({ raw: undefined as unknown as RawTransaction, authenticator }, raw);

const single = (sender: AccountAuthenticator): TransactionAuthenticator => ({
  kind: 'singleSender',
  sender,
});

describe('a signature', () => {
  it('of Ed25519 is of the transaction', async () => {
    expect(await isValid(ed25519(message()))).toBe(true);
    expect(await isValid(single(ed25519(message())))).toBe(true);
    expect(await isValid(ed25519(message(Buffer.from('others'))))).toBe(false);
    expect(await isValid(ed25519(messageWithData(0)))).toBe(false);
  });

  it('of ECDSA over secp256k1 is of the hash of the transaction', async () => {
    const secret = secp256k1.utils.randomSecretKey();
    const key = Buffer.from(secp256k1.getPublicKey(secret, false));
    const made = (of: Buffer): TransactionAuthenticator =>
      single({
        kind: 'singleKey',
        publicKey: { kind: 'secp256k1', bytes: key },
        signature: {
          kind: 'secp256k1',
          bytes: Buffer.from(secp256k1.sign(sha3(of), secret, { prehash: false })),
        },
      });
    expect(await isValid(made(message()))).toBe(true);
    expect(await isValid(made(RAW))).toBe(false);
  });

  it('is of the key whose bit is set, and as many as are asked for', async () => {
    const { signature } = ed25519(message());
    const other = keyBytes(generateKeyPairSync('ed25519').publicKey);
    const multi = (threshold: number, first: number): TransactionAuthenticator => ({
      kind: 'multiEd25519',
      publicKey: { keys: [other, KEY], threshold },
      signature: { signatures: [signature], bitmap: Buffer.of(first, 0, 0, 0) },
    });
    expect(await isValid(multi(1, 0x40))).toBe(true);
    expect(await isValid(multi(1, 0x80))).toBe(false);
    expect(await isValid(multi(1, 0x20))).toBe(false);
    expect(await isValid(multi(2, 0x40))).toBe(false);
    const keys = [other, KEY].map((bytes) => ({ kind: 'ed25519', bytes }) as const);
    const multiKey = (signaturesRequired: number, bits: number) =>
      single({
        kind: 'multiKey',
        publicKeys: keys,
        signaturesRequired,
        signatures: [{ kind: 'ed25519', bytes: signature }],
        bitmap: Buffer.of(bits),
      });
    expect(await isValid(multiKey(1, 0x40))).toBe(true);
    expect(await isValid(multiKey(1, 0x80))).toBe(false);
    expect(await isValid(multiKey(2, 0x40))).toBe(false);
  });

  it('is none without a key', async () => {
    expect(await isValid(single({ kind: 'noAccount' }))).toBe(false);
  });
});

describe('several signers', () => {
  it('must all have signed', async () => {
    const signed = (variant: number): TransactionAuthenticator => ({
      kind: 'multiAgent',
      sender: ed25519(messageWithData(0)),
      secondarySignerAddresses: OTHERS,
      secondarySigners: [ed25519(messageWithData(variant))],
    });
    expect(await isValid(signed(0))).toBe(true);
    expect(await isValid(signed(1))).toBe(false);
  });

  it('may have signed before the fee payer was known, but not the fee payer', async () => {
    const signed = (others: Address, payer: Address): TransactionAuthenticator => ({
      kind: 'feePayer',
      sender: ed25519(messageWithData(1, others)),
      secondarySignerAddresses: OTHERS,
      secondarySigners: [ed25519(messageWithData(1, others))],
      feePayerAddress: PAYER,
      feePayer: ed25519(messageWithData(1, payer)),
    });
    expect(await isValid(signed(PAYER, PAYER))).toBe(true);
    expect(await isValid(signed(padAddress('0'), PAYER))).toBe(true);
    expect(await isValid(signed(PAYER, padAddress('0')))).toBe(false);
    expect(await isValid(signed(padAddress('4'), PAYER))).toBe(false);
  });
});

describe('what is looked at', () => {
  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('signatures up to the limit and %i', async (more, expected) => {
    const one = ed25519(messageWithData(0));
    const authenticator: TransactionAuthenticator = {
      kind: 'multiAgent',
      sender: one,
      secondarySignerAddresses: OTHERS,
      secondarySigners: Array.from({ length: MAX_SIGNATURES - 1 + more }, () => one),
    };
    expect(await isValid(authenticator)).toBe(expected);
  });
});
