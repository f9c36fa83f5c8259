/** Natives of `0x1::hash` and `0x1::aptos_hash` (docs/spec/vm.md §6.2). */
import { blake2b } from '@noble/hashes/blake2.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { keccak_256, sha3_512 } from '@noble/hashes/sha3.js';
import { sha3 } from '../../move/crypto/hash.ts';
import type { Native } from '../native.ts';
import { bytesOf, byteVector } from './arguments.ts';
import { sipHash } from './crypto/sip-hash.ts';

const DIGEST_BYTES = 32;

function hashing(hash: (bytes: Uint8Array) => Uint8Array): Native {
  return ({ meter }, [bytes]) => {
    const content = bytesOf(bytes);
    meter.chargeBytes(1 + content.length);
    return [byteVector(hash(content))];
  };
}

const shortHash: Native = ({ meter }, [bytes]) => {
  const content = bytesOf(bytes);
  meter.chargeBytes(1 + content.length);
  return [sipHash(content)];
};

export const HASH_NATIVES: Readonly<Record<string, Native>> = {
  'hash::sha2_256': hashing(sha256),
  'hash::sha3_256': hashing(sha3),
  'aptos_hash::sip_hash': shortHash,
  'aptos_hash::keccak256': hashing(keccak_256),
  'aptos_hash::sha2_512_internal': hashing(sha512),
  'aptos_hash::sha3_512_internal': hashing(sha3_512),
  'aptos_hash::ripemd160_internal': hashing(ripemd160),
  'aptos_hash::blake2b_256_internal': hashing((bytes) => blake2b(bytes, { dkLen: DIGEST_BYTES })),
};
