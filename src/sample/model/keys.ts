/**
 * Ed25519 keys of the sample ledger's accounts, derived from the seed by index and generation, so that nothing
 * secret is stored and the same signatures come out every time (Ed25519 signs deterministically).
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { sha3 } from '../../move/crypto/hash.ts';
import { publisherSecret } from './publishers.ts';
import { derivedBytes } from './random.ts';

/** Scheme byte of a plain Ed25519 key in an authentication key (docs/spec/ledger.md §6.1). */
const ED25519_SCHEME = Buffer.from([0x00]);
const UNUSED_PUBLIC_KEY = Buffer.alloc(32).toString('base64url');

export interface SampleKey {
  /** Each rotation of an account's key takes the next. */
  readonly generation: number;
  /** 32 raw bytes. */
  readonly publicKey: Buffer;
  /** 32 bytes; the address of an account created with this key. */
  readonly authenticationKey: Buffer;
  readonly privateKey: KeyObject;
}

/** Keys made on demand and cached: making one costs three signatures. */
export class KeyRing {
  readonly #seed: bigint;
  /** The newest of each account: rotated keys are never used again. */
  readonly #keys = new Map<number, SampleKey>();

  constructor(seed: bigint) {
    this.#seed = seed;
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
    // Publishers never rotate their keys.
    const secret = publisherSecret(account) ?? derivedBytes(this.#seed, 'key', account, generation);
    // A JWK is read ten times faster than PKCS#8; its `x` must be there, and is not used.
    const privateKey = createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', d: secret.toString('base64url'), x: UNUSED_PUBLIC_KEY },
      format: 'jwk',
    });
    const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
    const publicKey = Buffer.from(x!, 'base64url');
    const authenticationKey = sha3(Buffer.concat([publicKey, ED25519_SCHEME]));
    return { generation, publicKey, authenticationKey, privateKey };
  }
}
