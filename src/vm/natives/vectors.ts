/**
 * Natives of `0x1::vector`. Current compilers turn most of them into instructions; modules of 2022 declare them
 * (docs/spec/vm.md §6.2).
 */

import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { findStruct } from '../../move/values/layout.ts';
import type { Meter } from '../meter.ts';
import { type Native, NativeAbort } from '../native.ts';
import type { Program } from '../program/program.ts';
import { VmError, verificationError } from '../status/status.ts';
import { ByteVector, type Reference, type Value } from '../value.ts';
import { referenced } from './arguments.ts';

const INDEX_OUT_OF_BOUNDS = 1;

const moveRange: Native = ({ meter }, [source, at, count, target, place]) => {
  const from = referenced(source) as ByteVector | Value[];
  const to = referenced(target) as ByteVector | Value[];
  if (from === to) throw verificationError('one vector borrowed twice');
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
  const moving = from.splice(Number(start), Number(length));
  const elements = to as Value[];
  const tail = elements.splice(Number(insertAt));
  for (const element of moving) elements.push(element);
  for (const element of tail) elements.push(element);
  return [];
};

function moveBytes(
  from: ByteVector,
  start: number,
  length: number,
  to: ByteVector,
  insertAt: number,
): void {
  const moving = from.bytes.slice(start, start + length);
  from.data.copyWithin(start, start + length, from.length);
  from.length -= length;
  const target = to.bytes;
  const joined = new Uint8Array(target.length + length);
  joined.set(target.subarray(0, insertAt));
  joined.set(moving, insertAt);
  joined.set(target.subarray(insertAt), insertAt + length);
  to.data = joined;
  to.length = joined.length;
}

export const VECTOR_NATIVES: Readonly<Record<string, Native>> = {
  'vector::move_range': moveRange,
};

/** Variants of `Ordering`. */
const LESS = 0;
const EQUAL = 1;
const GREATER = 2;

/** Compares contents: numbers by size, structs and vectors part by part, then shorter ones first. */
function compared(left: Value, right: Value, meter: Meter): number {
  meter.charge(1);
  if (Array.isArray(left) && Array.isArray(right)) {
    const common = Math.min(left.length, right.length);
    for (let index = 0; index < common; index += 1) {
      const order = compared(left[index], right[index], meter);
      if (order !== EQUAL) return order;
    }
    return order(left.length, right.length);
  }
  if (left instanceof ByteVector && right instanceof ByteVector) {
    meter.chargeBytes(Math.min(left.length, right.length));
    return order(byteTools.compare(left.bytes, right.bytes), 0);
  }
  if (typeof left === 'object' || left === undefined || right === undefined) {
    throw new VmError('UNIMPLEMENTED_FUNCTIONALITY', {
      text: 'this node cannot compare function values: 0x1::cmp::compare',
    });
  }
  return order(left, right as typeof left);
}

function order<T extends number | bigint | string | boolean>(left: T, right: T): number {
  if (left === right) return EQUAL;
  return left < right ? LESS : GREATER;
}

const compare: Native = ({ meter }, [left, right]) => [
  [compared(referenced(left), referenced(right), meter)],
];

const swap: Native = (_, [left, right]) => {
  const [first, second] = [left as Reference, right as Reference];
  const [value, other] = [referenced(first), referenced(second)];
  first.set(other);
  second.set(value);
  return [];
};

/** Natives of `0x1::cmp` and `0x1::mem` (docs/spec/vm.md §6.2). */
export const COMPARISON_NATIVES: Readonly<Record<string, Native>> = {
  'cmp::compare': compare,
  'mem::swap': swap,
};

/** The index of the variant None; that of Some is 1. */
const NONE = 0;
const SOME = 1;

/** @param value not a byte, whose vector would be a byte vector */
export function optionOf(
  program: Program,
  value: Exclude<Value, undefined> | undefined,
): MaybePromise<Value> {
  return andThen(program.module({ address: ADDRESS_ONE, name: 'option' }), ({ compiled }) => {
    const isEnum = findStruct(compiled, 'Option')?.definition.kind === 'enum';
    if (isEnum) return value === undefined ? [NONE] : [SOME, value];
    return [value === undefined ? [] : [value]];
  });
}
