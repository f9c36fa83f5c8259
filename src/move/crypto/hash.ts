/** SHA3-256 with the ledger's domain separation (docs/spec/ledger.md §2.7, docs/spec/encode.md §A5). */
import { sha3_256 } from '@noble/hashes/sha3.js';
import { byteTools, nodeModule } from '../bcs/bytes.ts';
import { keccakSha3, MAX_KECCAK_INPUT_BYTES } from './keccak.ts';

/** The part of `node:crypto` that is used here. */
interface NodeCrypto {
  hash(algorithm: 'sha3-256', bytes: Uint8Array, encoding: 'buffer'): Buffer;
  hash(algorithm: 'sha256', content: string | Uint8Array, encoding: 'base64url'): string;
}

const crypto = nodeModule('node:crypto') as NodeCrypto | undefined;

/** Length of every hash of the ledger, in bytes. */
export const HASH_BYTES = 32;

/** SHA3-256 of some bytes. */
export function sha3(bytes: Uint8Array): Buffer {
  if (crypto === undefined) return byteTools.asBuffer(sha3_256(bytes));
  if (bytes.length <= MAX_KECCAK_INPUT_BYTES) return keccakSha3([bytes], bytes.length);
  return crypto.hash('sha3-256', bytes, 'buffer');
}

const seeds = new Map<string, Buffer>();

/** The 32-byte seed of a domain: SHA3-256 of `APTOS::` + name. Cached: there are a dozen names. */
export function domainSeed(name: string): Buffer {
  let seed = seeds.get(name);
  if (seed === undefined) {
    seed = sha3(byteTools.utf8Bytes(`APTOS::${name}`));
    seeds.set(name, seed);
  }
  return seed;
}

/** H(name, data) = SHA3-256( seed(name) ‖ data… ), the parts concatenated (docs/spec/ledger.md §2.7). */
export function domainHash(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const all = [domainSeed(name), ...parts];
  let length = 0;
  for (const part of all) length += part.length;
  if (crypto !== undefined && length <= MAX_KECCAK_INPUT_BYTES) return keccakSha3(all, length);
  const whole = byteTools.allocate(length);
  let end = 0;
  for (const part of all) {
    whole.set(part, end);
    end += part.length;
  }
  return sha3(whole);
}

/** 132 bits, in characters of base64url. */
const DIGEST_CHARACTERS = 22;

/**
 * A short digest that identifies content within this process: the first 22 base64url characters of its SHA-256; texts
 * are hashed as UTF-8. In a browser, SHA3-256 in hex. Nobody can find two contents with the same digest.
 */
export function contentDigest(content: string | Uint8Array): string {
  if (crypto !== undefined) {
    return crypto.hash('sha256', content, 'base64url').slice(0, DIGEST_CHARACTERS);
  }
  const bytes = typeof content === 'string' ? byteTools.utf8Bytes(content) : content;
  return byteTools.hexText(sha3(bytes), 0, HASH_BYTES);
}
