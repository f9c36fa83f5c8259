/** Converts arguments of natives to their types, and results back (src/vm/value.ts). */
import { byteTools } from '../../move/bcs/bytes.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import type { Meter } from '../meter.ts';
import { verificationError } from '../status/status.ts';
import { ByteVector, type Reference, type Value } from '../value.ts';

/** The bytes of a `vector<u8>`. */
export function bytesOf(value: Value): Uint8Array {
  return (value as ByteVector).bytes;
}

/** The value that a reference points to. @throws VmError if it was removed: borrows are not checked */
export function referenced(value: Value): Exclude<Value, undefined> {
  const found = (value as Reference).get();
  if (found === undefined) throw verificationError('a place that is gone');
  return found;
}

/** The bytes of a `&vector<u8>`. */
export function referencedBytes(value: Value): Uint8Array {
  return bytesOf(referenced(value));
}

/** The fields of a struct, or the elements of a vector that is not a byte vector. */
export function partsOf(value: Value): Value[] {
  return value as Value[];
}

/** The bytes of a `String`, or of another structure whose first field is a `vector<u8>`. */
export function bytesInside(value: Value): Uint8Array {
  return bytesOf(partsOf(value)[0]);
}

/** @param bytes must not be changed afterwards @throws VmError OUT_OF_GAS, MEMORY_LIMIT_EXCEEDED */
export function byteVector(meter: Meter, bytes: Uint8Array): ByteVector {
  meter.allocateBytes(bytes.length);
  return new ByteVector(bytes);
}

/** A `String`. @throws VmError OUT_OF_GAS, MEMORY_LIMIT_EXCEEDED */
export function stringOf(meter: Meter, text: string): Value {
  return [byteVector(meter, byteTools.utf8Bytes(text))];
}

export function textOf(bytes: Uint8Array): string {
  return byteTools.utf8Text(byteTools.asBuffer(bytes), 0, bytes.length);
}

export function addressOf(bytes: Uint8Array): Address {
  return addressFromBytes(byteTools.asBuffer(bytes));
}
