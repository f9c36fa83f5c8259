/** Values of readers of view functions: arguments in BCS to what they mean, and results back. */
import { decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { Address } from '../../move/types/address.ts';
import type { FrameworkState } from './framework-state.ts';
import { NotRunError } from './view-error.ts';
import type { ViewCall } from './view-request.ts';

/**
 * What a view function of the framework returns, in BCS. The call is checked: its function is one of the framework,
 * its type arguments exist, its arguments are values of the parameters.
 */
export type FrameworkView = (
  state: FrameworkState,
  call: Pick<ViewCall, 'typeArguments' | 'args'>,
) => Promise<readonly Buffer[]>;

/** An address, or an object: that is its address. */
export function addressArgument(bytes: Buffer): Address {
  return decodeBcs(bytes, (reader) => reader.address());
}

/** The u64 that a value begins with: itself, the amount of a coin, the value of an aggregator. */
export function u64Value(bytes: Buffer): bigint {
  return bytes.readBigUInt64LE(0);
}

export function boolBytes(value: boolean): Buffer {
  return Buffer.of(value ? 1 : 0);
}

export function u64Bytes(value: bigint): Buffer {
  return encodeBcs((writer) => writer.u64(value));
}

/** `Option`, with what it holds. */
export function optionOf(value: Buffer | undefined): Buffer {
  return value === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(1), value]);
}

/** The sum of two integers in BCS. @throws NotRunError when it has too many bits: no supply is as large */
export function sumOf(left: bigint, right: bigint, bits: 64 | 128): Buffer {
  const sum = left + right;
  if (BigInt.asUintN(bits, sum) !== sum) throw new NotRunError();
  return encodeBcs((writer) => (bits === 64 ? writer.u64(sum) : writer.u128(sum)));
}
