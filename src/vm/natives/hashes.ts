/** Natives of `0x1::hash` and `0x1::aptos_hash` (docs/spec/vm.md §6.2). */
import { blake2b } from '@noble/hashes/blake2.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { keccak_256, sha3_512 } from '@noble/hashes/sha3.js';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { sha3 } from '../../move/crypto/hash.ts';
import type { Native, NativeContext } from '../native.ts';
import { bytesOf, byteVector } from './arguments.ts';
import { SipHash } from './crypto/sip-hash.ts';
import { yieldTurn } from './crypto/turns.ts';

const DIGEST_BYTES = 32;
/** Bytes that are hashed between two checks of the clock: a few milliseconds at most. A multiple of eight. */
const CHUNK_BYTES = 4_096;

interface Hasher<T> {
  update(bytes: Uint8Array): unknown;
  digest(): T;
}

/** @param unitsPerByte its cost: about the time of that many instructions */
function hashed<T>(
  context: NativeContext,
  content: Uint8Array,
  hasher: Hasher<T>,
  unitsPerByte: number,
): MaybePromise<T> {
  context.meter.chargeInTurns(DIGEST_BYTES + content.length * unitsPerByte);
  if (content.length > CHUNK_BYTES) return hashedInTurns(context, content, hasher);
  hasher.update(content);
  return hasher.digest();
}

async function hashedInTurns<T>(
  context: NativeContext,
  content: Uint8Array,
  hasher: Hasher<T>,
): Promise<T> {
  for (let start = 0; start < content.length; start += CHUNK_BYTES) {
    await yieldTurn(context);
    hasher.update(content.subarray(start, start + CHUNK_BYTES));
  }
  return hasher.digest();
}

function hashNative(create: () => Hasher<Uint8Array>, unitsPerByte: number): Native {
  return (context, [bytes]) =>
    andThen(hashed(context, bytesOf(bytes), create(), unitsPerByte), (digest) => [
      byteVector(context.meter, digest),
    ]);
}

const sha3Hash: Native = ({ meter }, [bytes]) => {
  const content = bytesOf(bytes);
  meter.charge(DIGEST_BYTES);
  meter.chargeHashed(content.length);
  return [byteVector(meter, sha3(content))];
};

const shortHash: Native = (context, [bytes]) =>
  andThen(hashed(context, bytesOf(bytes), new SipHash(), 50), (digest) => [digest]);

export const HASH_NATIVES: Readonly<Record<string, Native>> = {
  'hash::sha2_256': hashNative(() => sha256.create(), 3),
  'hash::sha3_256': sha3Hash,
  'aptos_hash::sip_hash': shortHash,
  'aptos_hash::keccak256': hashNative(() => keccak_256.create(), 10),
  'aptos_hash::sha2_512_internal': hashNative(() => sha512.create(), 5),
  'aptos_hash::sha3_512_internal': hashNative(() => sha3_512.create(), 12),
  'aptos_hash::ripemd160_internal': hashNative(() => ripemd160.create(), 4),
  'aptos_hash::blake2b_256_internal': hashNative(() => blake2b.create({ dkLen: DIGEST_BYTES }), 3),
};
