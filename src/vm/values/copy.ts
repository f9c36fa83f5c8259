/** Copies of values, and whether values are equal. */
import { byteTools } from '../../move/bcs/bytes.ts';
import type { Meter } from '../meter.ts';
import { VmError } from '../status/vm-error.ts';
import { ByteVector, Closure, MAX_VALUE_DEPTH, Reference, type Value } from '../value.ts';

function enter(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
}

/**
 * A copy that shares no container; a reference is copied as the place that it is.
 * @throws VmError VM_MAX_VALUE_DEPTH_REACHED; what the meter throws
 */
export function copyValue(value: Value, meter: Meter, depth = 1): Value {
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return copyArray(value, meter, depth);
  if (value instanceof Reference) return value;
  enter(depth);
  if (value instanceof ByteVector) {
    meter.allocateBytes(value.length);
    return new ByteVector(new Uint8Array(value.bytes));
  }
  const { module, name, typeArguments, mask, captured, stored } = value;
  const copies = copyArray(captured, meter, depth);
  return new Closure(module, name, typeArguments, mask, copies, stored);
}

function copyArray(values: readonly Value[], meter: Meter, depth: number): Value[] {
  enter(depth);
  const { length } = values;
  meter.allocate(length);
  const copy = new Array<Value>(length);
  for (let index = 0; index < length; index += 1) {
    const value = values[index];
    copy[index] = typeof value === 'object' ? copyValue(value, meter, depth + 1) : value;
  }
  return copy;
}

/**
 * Equality of Move: values are equal by content, references by the values that they point to.
 * @throws VmError VM_MAX_VALUE_DEPTH_REACHED; what the meter throws
 */
export function equalValues(left: Value, right: Value, meter: Meter, depth = 1): boolean {
  if (typeof left !== 'object' || typeof right !== 'object') return left === right;
  if (left instanceof Reference && right instanceof Reference) {
    return equalValues(left.get(), right.get(), meter, depth);
  }
  enter(depth);
  if (Array.isArray(left) && Array.isArray(right)) return equalArrays(left, right, meter, depth);
  if (left instanceof ByteVector && right instanceof ByteVector) {
    meter.chargeBytes(left.length);
    return equalBytes(left, right);
  }
  return (
    left instanceof Closure &&
    right instanceof Closure &&
    left.name === right.name &&
    left.module.name === right.module.name &&
    left.module.address === right.module.address &&
    left.mask === right.mask &&
    left.typeArguments.length === right.typeArguments.length &&
    left.typeArguments.every((type, index) => type === right.typeArguments[index]) &&
    equalArrays(left.captured, right.captured, meter, depth)
  );
}

function equalArrays(
  left: readonly Value[],
  right: readonly Value[],
  meter: Meter,
  depth: number,
): boolean {
  const { length } = left;
  if (length !== right.length) return false;
  meter.charge(length);
  for (let index = 0; index < length; index += 1) {
    if (!equalValues(left[index], right[index], meter, depth + 1)) return false;
  }
  return true;
}

function equalBytes(left: ByteVector, right: ByteVector): boolean {
  return left.length === right.length && byteTools.compare(left.bytes, right.bytes) === 0;
}
