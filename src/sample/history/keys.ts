/**
 * Ed25519 keys of the sample ledger's accounts, derived from the seed by index and generation, so that nothing
 * secret is stored and every signature comes out again (Ed25519 signs deterministically).
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { sha3 } from '../../move/crypto/hash.ts';
import { derivedBytes } from '../random.ts';

/** Scheme byte of a plain Ed25519 key in an authentication key (docs/spec/ledger.md §6.1). */
const ED25519_SCHEME = Buffer.from([0x00]);

export interface SampleKey {
  /** 32 raw bytes. */
  readonly publicKey: Buffer;
  /** 32 bytes; the address of an account created with this key. */
  readonly authenticationKey: Buffer;
  readonly privateKey: KeyObject;
}

/** Keys made on demand and kept: making one costs three signatures. */
export class KeyRing {
  readonly #seed: bigint;
  readonly #keys = new Map<number, SampleKey[]>();

  constructor(seed: bigint) {
    this.#seed = seed;
  }

  /** The key of an account; generation 0 is its first, each rotation takes the next. */
  key(account: number, generation: number): SampleKey {
    let generations = this.#keys.get(account);
    if (generations === undefined) {
      generations = [];
      this.#keys.set(account, generations);
    }
    // Rotated keys are never used again: only the newest stays.
    let key = generations[generation];
    if (key === undefined) {
      key = this.#make(account, generation);
      generations.length = 0;
      generations[generation] = key;
    }
    return key;
  }

  #make(account: number, generation: number): SampleKey {
    const secret = derivedBytes(this.#seed, 'key', account, generation);
    // A JWK is read ten times faster than PKCS#8; its `x` must be there, and is not used.
    const privateKey = createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', d: secret.toString('base64url'), x: UNUSED_PUBLIC_KEY },
      format: 'jwk',
    });
    const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
    const publicKey = Buffer.from(x!, 'base64url');
    const authenticationKey = sha3(Buffer.concat([publicKey, ED25519_SCHEME]));
    return { publicKey, authenticationKey, privateKey };
  }
}

const UNUSED_PUBLIC_KEY = Buffer.alloc(32).toString('base64url');

/** The 64 bytes of an Ed25519 signature. */
export function signWith(key: SampleKey, message: Uint8Array): Buffer {
  return sign(null, message, key.privateKey);
}
