/** Natives of `0x1::cmp` and `0x1::mem` (docs/spec/vm.md §6.2). */
import { byteTools } from '../../move/bcs/bytes.ts';
import type { Meter } from '../meter.ts';
import type { Native } from '../native.ts';
import { VmError } from '../status/vm-error.ts';
import { ByteVector, type Reference, type Value } from '../value.ts';
import { referenced } from './arguments.ts';

/** Variants of `Ordering`. */
const LESS = 0;
const EQUAL = 1;
const GREATER = 2;

/** By content: numbers by size, structures and vectors part by part, then shorter ones first. */
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

export const COMPARISON_NATIVES: Readonly<Record<string, Native>> = {
  'cmp::compare': compare,
  'mem::swap': swap,
};
