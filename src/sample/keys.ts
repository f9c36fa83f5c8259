/**
 * Ed25519 keys of the sample ledger's accounts, derived from the seed by index and generation, so that nothing
 * secret is stored and the same signatures come out every time (Ed25519 signs deterministically).
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { copiedBytes } from '../cache.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import { sha3 } from '../move/crypto/hash.ts';
import { publisherSecret } from './publishers.ts';
import { derivedBytes } from './random.ts';

/** The index is the byte in authentication keys (docs/spec/ledger.md §6.1) and the variant of AccountAuthenticator. */
export const KEY_SCHEMES = ['ed25519', 'multiEd25519', 'singleKey', 'multiKey'] as const;
export type KeyScheme = (typeof KEY_SCHEMES)[number];

/** Keys of an account that has several, and how many of them must sign. */
const MULTI_KEYS = 3;
const MULTI_THRESHOLD = 2;
const MULTI_SIGNERS = [0, 2];
/** Bit i, from the left, for key i: 4 bytes in every SDK. */
export const MULTI_BITMAP = Buffer.of(0xa0, 0, 0, 0);

/** Variant of AnyPublicKey and AnySignature. */
export const ANY_ED25519 = 0;
const UNUSED_PUBLIC_KEY = Buffer.alloc(32).toString('base64url');

export interface SampleKey {
  /** Each rotation of an account's key takes the next. */
  readonly generation: number;
  readonly scheme: KeyScheme;
  /** As the authentication key hashes it: 32 raw bytes, or all keys with what the scheme adds. */
  readonly publicKey: Buffer;
  /** 32 bytes; the address of an account created with this key. */
  readonly authenticationKey: Buffer;
  /** The keys that sign, in order. */
  readonly privateKeys: readonly KeyObject[];
}

interface KeyPair {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
}

/** Keys made on demand and cached: making one costs three signatures. */
export class KeyRing {
  readonly #seed: bigint;
  readonly #schemeOf: (account: number) => KeyScheme;
  /** The newest of each account: rotated keys are never used again. */
  readonly #keys = new Map<number, SampleKey>();

  constructor(seed: bigint, schemeOf: (account: number) => KeyScheme) {
    this.#seed = seed;
    this.#schemeOf = schemeOf;
  }

  /** The key of an account; generation 0 is its first. */
  key(account: number, generation: number): SampleKey {
    let key = this.#keys.get(account);
    if (key?.generation !== generation) {
      key = this.#make(account, generation);
      this.#keys.set(account, key);
    }
    return key;
  }

  #make(account: number, generation: number): SampleKey {
    const scheme = this.#schemeOf(account);
    const secret = (...part: readonly number[]): Buffer =>
      derivedBytes(this.#seed, 'key', account, generation, ...part);
    const isMulti = scheme === 'multiEd25519' || scheme === 'multiKey';
    const pairs = isMulti
      ? Array.from({ length: MULTI_KEYS }, (_, part) => keyPair(secret(part)))
      : // Publishers never rotate their keys.
        [keyPair(publisherSecret(account) ?? secret())];
    const publicKey = copiedBytes(
      publicKeyBytes(
        scheme,
        pairs.map((pair) => pair.publicKey),
      ),
    );
    const schemeByte = Buffer.of(KEY_SCHEMES.indexOf(scheme));
    const authenticationKey = copiedBytes(sha3(Buffer.concat([publicKey, schemeByte])));
    const signers = isMulti ? MULTI_SIGNERS.map((part) => pairs[part]!) : pairs;
    const privateKeys = signers.map(({ privateKey }) => privateKey);
    return { generation, scheme, publicKey, authenticationKey, privateKeys };
  }
}

function keyPair(secret: Buffer): KeyPair {
  // A JWK is read ten times faster than PKCS#8; its `x` must be there, and is not used.
  const privateKey = createPrivateKey({
    key: { kty: 'OKP', crv: 'Ed25519', d: secret.toString('base64url'), x: UNUSED_PUBLIC_KEY },
    format: 'jwk',
  });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { publicKey: Buffer.from(x!, 'base64url'), privateKey };
}

function publicKeyBytes(scheme: KeyScheme, keys: readonly Buffer[]): Buffer {
  if (scheme === 'ed25519') return keys[0]!;
  if (scheme === 'multiEd25519') return Buffer.concat([...keys, Buffer.of(MULTI_THRESHOLD)]);
  return encodeBcs((writer) => {
    if (scheme === 'singleKey') return writer.uleb32(ANY_ED25519).bytes(keys[0]!);
    writer.vector(keys, (to, key) => to.uleb32(ANY_ED25519).bytes(key));
    return writer.u8(MULTI_THRESHOLD);
  });
}
