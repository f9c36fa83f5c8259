/**
 * Values as the machine computes with them. No value carries its type: the code was checked before it runs
 * (docs/spec/vm.md §3), so its type is known wherever it is used.
 *
 * | Move | here |
 * |---|---|
 * | bool | boolean |
 * | u8 u16 u32 i8 i16 i32 | number |
 * | u64 u128 u256 i64 i128 i256 | bigint |
 * | address | `Address`, 64 hex digits |
 * | signer | `[address]`, one with permissions `[address, where they are]` |
 * | struct | array of its fields |
 * | enum | array of the variant's index (a number) and its fields: field i is element i + 1 |
 * | vector\<u8> | `ByteVector` |
 * | other vectors | array |
 * | function value | `Closure` |
 * | `&`, `&mut` | `Reference`: the place where the value is |
 *
 * A structure and a vector belong to one place: taking a value out of a place for good moves it, everything else
 * copies it (`copyValue`).
 */
import type { ModuleId } from '../move/types/module-id.ts';
import type { Layout } from '../move/values/layout.ts';
import type { VmType } from './program/vm-type.ts';

export type Value =
  | boolean
  | number
  | bigint
  | string
  | Value[]
  | ByteVector
  | Closure
  | Reference
  /** A local that was moved out, or not set yet. */
  | undefined;

/** Deepest nesting of structures, vectors and function values. */
export const MAX_VALUE_DEPTH = 128;

/** What holds places: locals of a frame, fields, elements, or one global. */
export type Container = Value[] | ByteVector;

const FIRST_CAPACITY = 16;

/** A `vector<u8>`. */
export class ByteVector {
  /** Longer than `length` where bytes were pushed. */
  data: Uint8Array;
  length: number;

  /** @param data is owned from now on: nobody else may write to it, or have it grow */
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

  /** Takes the last byte, `undefined` of none. */
  pop(): number | undefined {
    if (this.length === 0) return undefined;
    this.length -= 1;
    return this.data[this.length];
  }
}

/**
 * A resource or an item of a table. A chain writes what was assigned, also where it is the same as before; whatever
 * changes a value in place notes it here.
 */
export interface StoredPlace {
  /** The length of its BCS before the run; absent where there was none. */
  readonly bytes: number | undefined;
  isAssigned: boolean;
  /** Whether an aggregator in it was added to or subtracted from, which assigns nothing. */
  isAggregated: boolean;
}

/** A place: element `index` of a container. */
export class Reference {
  readonly container: Container;
  readonly index: number;
  /** What it is a part of; absent for what is not in state. */
  readonly stored: StoredPlace | undefined;

  constructor(container: Container, index: number, stored: StoredPlace | undefined = undefined) {
    this.container = container;
    this.index = index;
    this.stored = stored;
  }

  assigned(): void {
    if (this.stored !== undefined) this.stored.isAssigned = true;
  }

  /** The value there, not copied; `undefined` when there is nothing any more. */
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
