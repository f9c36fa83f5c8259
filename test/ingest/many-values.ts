/** Small inputs that contain millions of values. */
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';

/** Fewer than unpacked chunks and pages may have. */
export const MANY_VALUES = 60_000_000;

/**
 * BCS of an unsigned user transaction that calls 0x0::m::f with `types` type arguments `bool` and `args` empty
 * arguments.
 */
export function transactionOf(counts: { readonly types?: number; readonly args?: number }): Buffer {
  const { types = 0, args = 0 } = counts;
  return encodeBcs((writer) => {
    // Sender and sequence number; an entry function.
    writer.u8(0).fixed(Buffer.alloc(40)).u8(2);
    writer.fixed(Buffer.alloc(32)).string('m').string('f');
    writer.length32(types).fixed(Buffer.alloc(types));
    writer.length32(args).fixed(Buffer.alloc(args));
    // Gas, price, expiration, chain id; an Ed25519 key and signature.
    writer.fixed(Buffer.alloc(25)).u8(0).bytes(Buffer.alloc(32)).bytes(Buffer.alloc(64));
  });
}
