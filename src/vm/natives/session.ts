/**
 * What natives make of the hash of the running transaction. A view is no transaction: the reference uses the hash of a
 * session without content (docs/spec/vm.md §6.5).
 */

import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { domainHash, sha3 } from '../../move/crypto/hash.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import type { NativeContext } from '../native.ts';

/** The variant of the reference's sessions that is no transaction. */
const VOID_SESSION = 5;
const SCHEME_UNIQUE_ADDRESS = 251;

let hash: Buffer | undefined;

export function sessionHash({ session }: Pick<NativeContext, 'session'>): Buffer {
  if (session !== undefined) return session.hash;
  hash ??= domainHash('SessionId', Uint8Array.of(VOID_SESSION));
  return hash;
}

/** Handle of the n-th table, or key of the n-th aggregator, that a run makes, from 0. */
export function sessionAddress(context: NativeContext, count: number): Address {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, count);
  return addressFromBytes(sha3(joined(sessionHash(context), bytes)));
}

/** The n-th unique address that a run asks for, from 1. */
export function uniqueAddress(context: NativeContext, count: bigint): Address {
  const counted = encodeBcs((writer) => writer.u64(count).u8(SCHEME_UNIQUE_ADDRESS));
  return addressFromBytes(sha3(joined(sessionHash(context), counted)));
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}
