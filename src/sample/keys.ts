/**
 * Ed25519 keys of the sample ledger's accounts, derived from the seed by index and generation, except those of the
 * publishers. So no secret is stored, and the signatures are reproducible (Ed25519 signs deterministically).
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { copiedBytes } from '../cache.ts';
import { authenticationKey } from '../move/crypto/authentication-key.ts';
import type { AccountAuthenticator } from '../move/crypto/authenticator.ts';
import { publisherSecret } from './publishers.ts';
import { derivedBytes } from './random.ts';

/** The index is the byte in authentication keys (docs/spec/ledger.md §6.1) and the variant of AccountAuthenticator. */
export const KEY_SCHEMES = ['ed25519', 'multiEd25519', 'singleKey', 'multiKey'] as const;
export type KeyScheme = (typeof KEY_SCHEMES)[number];

/** Number of keys of an account with several keys, and how many of them must sign. */
const MULTI_KEYS = 3;
const MULTI_THRESHOLD = 2;
const MULTI_SIGNERS = [0, 2];
/** Bit i from the left stands for key i. Every SDK writes 4 bytes. */
const MULTI_BITMAP = Buffer.of(0xa0, 0, 0, 0);

const NO_BYTES = Buffer.alloc(0);
const UNUSED_PUBLIC_KEY = Buffer.alloc(32).toString('base64url');

export interface SampleKey {
  /** Each rotation of an account's key increments it. */
  readonly generation: number;
  readonly scheme: KeyScheme;
  /** 32 bytes each. */
  readonly publicKeys: readonly Buffer[];
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

/** Derives keys on demand and caches them: deriving one costs as much as three signatures. */
export class KeyRing {
  readonly #seed: bigint;
  readonly #schemeOf: (account: number) => KeyScheme;
  /** The newest key of each account. Rotated keys are never used again. */
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
    const publicKeys = pairs.map((pair) => copiedBytes(pair.publicKey));
    const signers = isMulti ? MULTI_SIGNERS.map((part) => pairs[part]!) : pairs;
    const privateKeys = signers.map(({ privateKey }) => privateKey);
    const unsigned = authenticatorOf(scheme, publicKeys, [NO_BYTES, NO_BYTES]);
    const authentication = copiedBytes(authenticationKey(unsigned)!);
    return { generation, scheme, publicKeys, authenticationKey: authentication, privateKeys };
  }
}

function keyPair(secret: Buffer): KeyPair {
  // A JWK is imported ten times faster than PKCS#8. Its `x` must be present, but is not used.
  const privateKey = createPrivateKey({
    key: { kty: 'OKP', crv: 'Ed25519', d: secret.toString('base64url'), x: UNUSED_PUBLIC_KEY },
    format: 'jwk',
  });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { publicKey: Buffer.from(x!, 'base64url'), privateKey };
}

/** The authenticator of an account. @param signatures those of the keys that sign, in order */
export function authenticatorOf(
  kind: KeyScheme,
  keys: readonly Buffer[],
  signatures: readonly Buffer[],
): AccountAuthenticator {
  const [publicKey, signature] = [keys[0]!, signatures[0]!];
  const any = (bytes: Buffer) => ({ kind: 'ed25519', bytes }) as const;
  switch (kind) {
    case 'ed25519':
      return { kind, publicKey, signature };
    case 'multiEd25519': {
      const all = { keys, threshold: MULTI_THRESHOLD };
      return { kind, publicKey: all, signature: { signatures, bitmap: MULTI_BITMAP } };
    }
    case 'singleKey':
      return { kind, publicKey: any(publicKey), signature: any(signature) };
    case 'multiKey': {
      const signed = { signatures: signatures.map(any), bitmap: MULTI_BITMAP };
      return { kind, publicKeys: keys.map(any), signaturesRequired: MULTI_THRESHOLD, ...signed };
    }
  }
}
