/**
 * Runtime values of the machine. No value carries its type: code is checked before it runs (docs/spec/vm.md §3), so
 * the type is known wherever a value is used.
 *
 * | Move | here |
 * |---|---|
 * | bool | boolean |
 * | u8 u16 u32 i8 i16 i32 | number |
 * | u64 u128 u256 i64 i128 i256 | bigint |
 * | address | `Address`, 64 hex digits |
 * | signer | `[address]`, one with permissions `[address, address of the permissions]` |
 * | struct | array of its fields |
 * | enum | array of the variant's index (a number) and its fields: field i is element i + 1 |
 * | vector\<u8> | `ByteVector` |
 * | other vectors | array |
 * | function value | `Closure` |
 * | `&`, `&mut` | `Reference`: the place where the value is |
 *
 * A struct or a vector belongs to one place. Removing a value from its place moves it; anything else copies it
 * (`copyValue`).
 */

import { byteTools } from '../move/bcs/bytes.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { Layout } from '../move/values/layout.ts';
import type { Meter } from './meter.ts';
import type { VmType } from './program/vm-type.ts';
import { VmError } from './status/status.ts';

export type Value =
  | boolean
  | number
  | bigint
  | string
  | Value[]
  | ByteVector
  | Closure
  | Reference
  /** A local that was moved out or is not set yet. */
  | undefined;

/** Deepest nesting of structures, vectors and function values. */
export const MAX_VALUE_DEPTH = 128;

/** A holder of places: locals of a frame, fields, elements, or one global. */
export type Container = Value[] | ByteVector;

const FIRST_CAPACITY = 16;

/** A `vector<u8>`. */
export class ByteVector {
  /** May be longer than `length` after bytes were pushed. */
  data: Uint8Array;
  length: number;

  /** @param data is owned from now on: nobody else may write to it or let it grow */
  constructor(data: Uint8Array) {
    this.data = data;
    this.length = data.length;
  }

  /** The bytes, not copied: they may change with the vector. */
  get bytes(): Uint8Array {
    const { data, length } = this;
    return data.length === length ? data : data.subarray(0, length);
  }

  push(byte: number): void {
    if (this.length === this.data.length) {
      const larger = new Uint8Array(Math.max(FIRST_CAPACITY, this.length * 2));
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length] = byte;
    this.length += 1;
  }

  /** Pops the last byte; `undefined` if empty. */
  pop(): number | undefined {
    if (this.length === 0) return undefined;
    this.length -= 1;
    return this.data[this.length];
  }
}

/**
 * A resource or an item of a table. A chain writes whatever was assigned, even if it is the same as before; code that
 * changes a value in place must record it here.
 */
export interface StoredPlace {
  /** The length of its BCS before the run; absent if it did not exist. */
  readonly bytes: number | undefined;
  isAssigned: boolean;
  /** Whether an aggregator in it was added to or subtracted from, which assigns nothing. */
  isAggregated: boolean;
}

/** A place: element `index` of a container. */
export class Reference {
  readonly container: Container;
  readonly index: number;
  /** The stored value that it is a part of; absent if it is not in state. */
  readonly stored: StoredPlace | undefined;

  constructor(container: Container, index: number, stored: StoredPlace | undefined = undefined) {
    this.container = container;
    this.index = index;
    this.stored = stored;
  }

  assigned(): void {
    if (this.stored !== undefined) this.stored.isAssigned = true;
  }

  /** The value there, not copied; `undefined` if it was removed. */
  get(): Value {
    const { container, index } = this;
    if (Array.isArray(container)) return container[index];
    return index < container.length ? container.data[index] : undefined;
  }

  set(value: Value): void {
    const { container, index } = this;
    this.assigned();
    if (Array.isArray(container)) container[index] = value;
    else container.data[index] = value as number;
  }
}

/** A function value: the name of a function, and some of its arguments. The function is looked up when it is called. */
export class Closure {
  readonly module: ModuleId;
  readonly name: string;
  readonly typeArguments: readonly VmType[];
  /** Bit i: argument i is captured. */
  readonly mask: bigint;
  readonly captured: readonly Value[];
  /**
   * Layouts of the captured values, if the closure was read from BCS. The function that it names was not compared with
   * them yet.
   */
  readonly stored: readonly Layout[] | undefined;

  constructor(
    module: ModuleId,
    name: string,
    typeArguments: readonly VmType[],
    mask: bigint,
    captured: readonly Value[],
    stored?: readonly Layout[],
  ) {
    this.module = module;
    this.name = name;
    this.typeArguments = typeArguments;
    this.mask = mask;
    this.captured = captured;
    this.stored = stored;
  }
}

function enter(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
}

/**
 * A copy that shares no container; a copied reference points to the same place.
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
