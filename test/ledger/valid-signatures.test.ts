/** Whether transactions are validly signed (docs/spec/vm.md §8.5, §9). */

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AbstractedAccount } from '@aptos-labs/ts-sdk';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, it } from 'vitest';
import { isSlhDsaSignature } from '../../src/execution/authentication/slh-dsa.ts';
import {
  MAX_SIGNATURES,
  type SignatureState,
  signatureState,
} from '../../src/execution/authentication/valid-signatures.ts';
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

/** Created by @noble/post-quantum 0.7.1, with a secret of 48 times 7, for the message below. */
const SLH_DSA_KEY = Buffer.from(
  '0707070707070707070707070707070722c5a3d06cfe50f5fcb1a95181931787',
  'hex',
);
const SLH_DSA_SIGNATURE = readFileSync(
  new URL('../execution/slh-dsa-signature.bin', import.meta.url),
);

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

const stateOf = (authenticator: TransactionAuthenticator, raw = RAW): Promise<SignatureState> =>
  signatureState({ raw: undefined as unknown as RawTransaction, authenticator }, raw);

const isValid = async (authenticator: TransactionAuthenticator): Promise<boolean> => {
  const state = await stateOf(authenticator);
  expect(state).not.toBe('unknown');
  return state === 'valid';
};

const single = (sender: AccountAuthenticator): TransactionAuthenticator => ({
  kind: 'singleSender',
  sender,
});

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function withS(signature: Buffer, isLow: boolean): Buffer {
  const s = BigInt(`0x${signature.toString('hex', 32)}`);
  if (s < ORDER / 2n === isLow) return signature;
  const other = (ORDER - s).toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(other, 'hex')]);
}

const withLowS = (signature: Buffer): Buffer => withS(signature, true);
const withHighS = (signature: Buffer): Buffer => withS(signature, false);

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

  it('of a pass key is of what the client has collected, and that of the transaction', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = pair.publicKey.export({ format: 'jwk' });
    const point = [x, y].map((coordinate) => Buffer.from(coordinate!, 'base64url'));
    const authenticatorData = Buffer.from('any data');
    const made = (clientData: unknown, form = (bytes: Buffer): Buffer => withLowS(bytes)) => {
      const clientDataJson = Buffer.from(JSON.stringify(clientData));
      const collected = createHash('sha256').update(clientDataJson).digest();
      const signed = Buffer.concat([authenticatorData, collected]);
      const key = { key: pair.privateKey, dsaEncoding: 'ieee-p1363' } as const;
      const signature = form(sign('sha256', signed, key));
      return single({
        kind: 'singleKey',
        publicKey: { kind: 'secp256r1', bytes: Buffer.concat([Buffer.of(4), ...point]) },
        signature: {
          kind: 'webAuthn',
          assertion: { signature, authenticatorData, clientDataJson },
        },
      });
    };
    const challenge = sha3(message()).toString('base64url');
    const clientData = {
      type: 'webauthn.get',
      challenge,
      origin: 'https://any',
      crossOrigin: false,
    };
    expect(await isValid(made(clientData))).toBe(true);
    expect(await isValid(made(clientData, withHighS))).toBe(false);
    expect(await isValid(made({ ...clientData, challenge: 'others' }))).toBe(false);
    expect(await isValid(made({ ...clientData, type: 'any' }))).toBe(false);
    expect(await isValid(made({ ...clientData, origin: undefined }))).toBe(false);
    expect(await isValid(made(null))).toBe(false);
  });

  it('of SLH-DSA is of the transaction', async () => {
    const made = SLH_DSA_SIGNATURE;
    const slhDsa = (bytes: Buffer, key = SLH_DSA_KEY) =>
      single({
        kind: 'singleKey',
        publicKey: { kind: 'slhDsa', bytes: key },
        signature: { kind: 'slhDsa', bytes },
      });
    expect(await isValid(slhDsa(made))).toBe(true);
    expect(await stateOf(slhDsa(made), Buffer.from('others'))).toBe('invalid');
    // The random number, the few-time signature, and each layer's one-time signature with its authentication path.
    for (const at of [0, 16, 2_927, 2_928, 3_487, 3_488, 3_632, 7_855]) {
      const damaged = Buffer.from(made);
      damaged[at]! ^= 1;
      expect(await isValid(slhDsa(damaged)), `byte ${at}`).toBe(false);
    }
    for (const at of [0, 31]) {
      const other = Buffer.from(SLH_DSA_KEY);
      other[at]! ^= 1;
      expect(await isValid(slhDsa(made, other))).toBe(false);
    }
  });

  it('of SLH-DSA is one of OpenSSL, too (skipped where Node has none)', () => {
    const scheme = 'slh-dsa-sha2-128s' as 'ed25519';
    let pair: ReturnType<typeof generateKeyPairSync>;
    try {
      pair = generateKeyPairSync(scheme) as typeof pair;
    } catch {
      return;
    }
    const der = pair.publicKey.export({ format: 'der', type: 'spki' }) as Buffer;
    const made = sign(null, message(), pair.privateKey);
    expect(isSlhDsaSignature(made, der.subarray(-32), message())).toBe(true);
    expect(isSlhDsaSignature(made, der.subarray(-32), RAW)).toBe(false);
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
    expect(await isValid(multi(1, 0x60))).toBe(false);
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

  it('of an abstract account is the digest that the SDK makes, too', async () => {
    const moduleAddress = padAddress('cafe');
    const signed = AbstractedAccount.generateAccountAbstractionMessage(
      message(),
      `0x${moduleAddress}::auth::check`,
    ) as Uint8Array;
    const abstract = (signingMessageDigest: Buffer, functionName = 'check') =>
      single({
        kind: 'abstract',
        moduleAddress,
        moduleName: 'auth',
        functionName,
        data: { kind: 'v1', signingMessageDigest, signature: Buffer.alloc(0) },
      });
    const digest = sha3(signed);
    expect(await isValid(abstract(digest))).toBe(true);
    expect(await isValid(abstract(digest, 'other'))).toBe(false);
    expect(await isValid(abstract(sha3(RAW)))).toBe(false);
    // The digest of the first transactions of this kind, such as version 6616059810 of testnet.
    expect(await stateOf(abstract(sha3(message())))).toBe('unknown');
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

  it('not the signatures of the fee payer', async () => {
    const one = ed25519(messageWithData(1, PAYER));
    const authenticator = (more: number): TransactionAuthenticator => ({
      kind: 'feePayer',
      sender: one,
      secondarySignerAddresses: OTHERS,
      secondarySigners: Array.from({ length: MAX_SIGNATURES - 1 + more }, () => one),
      feePayerAddress: PAYER,
      feePayer: one,
    });
    expect(await isValid(authenticator(0))).toBe(true);
    expect(await isValid(authenticator(1))).toBe(false);
  });
});
