/**
 * The keys of the default genesis. They are derived from fixed texts, so everybody knows them, and they are worth
 * nothing on any other network.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { sha3 } from '../../move/crypto/hash.ts';
import { type Address, padAddress } from '../../move/types/address.ts';

/** The account of the default genesis that may mint. */
export const CORE_RESOURCES: Address = padAddress('a550c18');

export interface Ed25519Key {
  /** The seed of RFC 8032; 32 bytes. */
  readonly privateKey: Buffer;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

export const DEFAULT_SEED = 'daybook local network';

/** @param purpose different purposes give different keys */
export function secretOf(seed: string, purpose: string): Buffer {
  return sha3(Buffer.from(`${seed}: ${purpose}`));
}

export function ed25519Key(privateKey: Buffer): Ed25519Key {
  const { x } = createPublicKey(signingKey({ privateKey })).export({ format: 'jwk' });
  return { privateKey, publicKey: Buffer.from(x!, 'base64url') };
}

/** The key in the form that node:crypto needs for signing. */
export function signingKey({ privateKey }: Pick<Ed25519Key, 'privateKey'>): KeyObject {
  // A JWK must have `x`, but it is not used.
  const x = Buffer.alloc(32).toString('base64url');
  const key = { kty: 'OKP', crv: 'Ed25519', d: privateKey.toString('base64url'), x };
  return createPrivateKey({ key, format: 'jwk' });
}

/** Signs for the core resources account, 0xa550c18, which may mint. */
export function mintKey(seed = DEFAULT_SEED): Ed25519Key {
  return ed25519Key(secretOf(seed, 'mint key'));
}
