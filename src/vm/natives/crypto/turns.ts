/** Curve operations take milliseconds, so others get their turn in between. */
import type { NativeContext } from '../../native.ts';

/** Time between two turns, in milliseconds. */
const SLICE_MS = 5;

class LastTurn {
  atMs: number | undefined;
}

/** Await it before each long operation. */
export type YieldTurn = () => Promise<void>;

export async function yieldTurn({ extensions, world }: NativeContext): Promise<void> {
  const last = extensions.of(LastTurn);
  if (last.atMs !== undefined && performance.now() - last.atMs < SLICE_MS) return;
  if (last.atMs !== undefined) await world.nextTurn();
  last.atMs = performance.now();
}

export function turnsOf(context: NativeContext): YieldTurn {
  return () => yieldTurn(context);
}

/** Costs of point operations in units of a run's meter: about the time of that many instructions. */
export const DECODE_UNITS = 2_000;
export const MULTIPLY_UNITS = 10_000;
export const PAIRING_UNITS = 200_000;

export function integerOfBytes(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    value = (value << 8n) | BigInt(bytes[index]!);
  }
  return value;
}

/** @param length if absent, as few bytes as needed */
export function bytesOfInteger(value: bigint, length?: number): Uint8Array {
  const size = length ?? Math.ceil(value.toString(16).length / 2);
  const bytes = new Uint8Array(size);
  for (let index = 0, left = value; index < size; index += 1, left >>= 8n) {
    bytes[index] = Number(left & 0xffn);
  }
  return bytes;
}
