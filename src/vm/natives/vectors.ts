/**
 * Natives of `0x1::vector`. Compilers of today turn most of them into instructions; modules of 2022 declare them
 * (docs/spec/vm.md §6.2).
 */
import { type Native, NativeAbort } from '../native.ts';
import { refusedCode } from '../status/vm-error.ts';
import { ByteVector, type Reference, type Value } from '../value.ts';
import { referenced } from './arguments.ts';

const INDEX_OUT_OF_BOUNDS = 1;

const moveRange: Native = ({ meter }, [source, at, count, target, place]) => {
  const from = referenced(source) as ByteVector | Value[];
  const to = referenced(target) as ByteVector | Value[];
  if (from === to) throw refusedCode('one vector borrowed twice');
  const [start, length, insertAt] = [at as bigint, count as bigint, place as bigint];
  if (start + length > BigInt(from.length) || insertAt > BigInt(to.length)) {
    return new NativeAbort(INDEX_OUT_OF_BOUNDS);
  }
  for (const vector of [source, target]) (vector as Reference).assigned();
  const moved = from.length - Number(start) + to.length - Number(insertAt) + Number(length);
  meter.charge(moved);
  if (from instanceof ByteVector) {
    moveBytes(from, Number(start), Number(length), to as ByteVector, Number(insertAt));
    return [];
  }
  const taken = from.splice(Number(start), Number(length));
  const elements = to as Value[];
  const behind = elements.splice(Number(insertAt));
  for (const element of taken) elements.push(element);
  for (const element of behind) elements.push(element);
  return [];
};

function moveBytes(
  from: ByteVector,
  start: number,
  length: number,
  to: ByteVector,
  insertAt: number,
): void {
  const taken = from.bytes.slice(start, start + length);
  from.data.copyWithin(start, start + length, from.length);
  from.length -= length;
  const target = to.bytes;
  const joined = new Uint8Array(target.length + length);
  joined.set(target.subarray(0, insertAt));
  joined.set(taken, insertAt);
  joined.set(target.subarray(insertAt), insertAt + length);
  to.data = joined;
  to.length = joined.length;
}

export const VECTOR_NATIVES: Readonly<Record<string, Native>> = {
  'vector::move_range': moveRange,
};
