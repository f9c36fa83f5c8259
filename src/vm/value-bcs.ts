import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import {
  type IntegerKind,
  isSmallInteger,
  readSmallInteger,
  readWideInteger,
  type WideIntegerKind,
  writeInteger,
} from '../move/bcs/integers.ts';
import { ModuleId } from '../move/types/module-id.ts';
import { readTypeTag, type TypeTag } from '../move/types/type-tag.ts';
import type { Layout, LayoutField } from '../move/values/layout.ts';
import { FUNCTION_DATA_VERSION, readCapturedLayout } from '../move/values/layout-captured.ts';
import type { Meter } from './meter.ts';
import type { VmType } from './program/vm-type.ts';
import { VmError } from './status/status.ts';
import { ByteVector, Closure, MAX_VALUE_DEPTH, type Value } from './value.ts';

function enter(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
}

/** Parts of a function value in BCS, without its captures. */
const CLOSURE_PARTS = 5;

/** Creates the types of function values; implemented by a program. */
interface ClosureTypes {
  type(tag: TypeTag): VmType;
}

function functionValue(): VmError {
  return new VmError('UNIMPLEMENTED_FUNCTIONALITY', { text: 'function values in BCS' });
}

/** @throws VmError for a value too deep, or one with a function value; what the meter throws */
export function encodeValue(layout: Layout, value: Value, meter: Meter): Buffer {
  const bytes = encodeBcs((writer) => write(writer, meter, layout, value, 1));
  meter.allocateBytes(bytes.length);
  return bytes;
}

function write(writer: BcsWriter, meter: Meter, layout: Layout, value: Value, depth: number): void {
  switch (layout.kind) {
    case 'bool':
      writer.bool(value as boolean);
      return;
    case 'address':
      writer.address(value as string);
      return;
    case 'signer': {
      const [address, permissions] = value as Value[];
      if (permissions !== undefined) throw new VmError('VALUE_SERIALIZATION_ERROR');
      writer.address(address as string);
      return;
    }
    case 'bytes':
      writer.bytes((value as ByteVector).bytes);
      return;
    case 'vector': {
      enter(depth);
      const items = value as Value[];
      writer.uleb32(items.length);
      meter.charge(items.length);
      for (const item of items) write(writer, meter, layout.element, item, depth + 1);
      return;
    }
    case 'string':
    case 'struct':
      writeFields(writer, meter, layout.fields, value as Value[], 0, depth);
      return;
    case 'enum': {
      const fields = value as Value[];
      const variant = fields[0] as number;
      writer.uleb32(variant);
      writeFields(writer, meter, layout.variants[variant]!.fields, fields, 1, depth);
      return;
    }
    case 'function':
      throw functionValue();
    default:
      writeInteger(writer, layout.kind satisfies IntegerKind, value as number | bigint);
  }
}

function writeFields(
  writer: BcsWriter,
  meter: Meter,
  fields: readonly LayoutField[],
  values: readonly Value[],
  first: number,
  depth: number,
): void {
  enter(depth);
  meter.charge(fields.length);
  for (let index = 0; index < fields.length; index += 1) {
    write(writer, meter, fields[index]!.layout, values[first + index], depth + 1);
  }
}

/** State of reading one value. */
interface Reading {
  readonly reader: BcsReader;
  readonly meter: Meter;
  readonly types: ClosureTypes | undefined;
}

/**
 * The value whose BCS is exactly `bytes`.
 * @param types turns tags in function values into types; without it, function values are refused
 * @throws BcsError; VmError for a value too deep, or one with a function value; what the meter throws
 */
export function decodeValue(
  layout: Layout,
  bytes: Uint8Array,
  meter: Meter,
  types?: ClosureTypes,
): Value {
  meter.chargeBytes(bytes.length);
  const reader = new BcsReader(bytes);
  const value = read({ reader, meter, types }, layout, 1);
  reader.finish();
  return value;
}

function read(reading: Reading, layout: Layout, depth: number): Value {
  const { reader, meter } = reading;
  switch (layout.kind) {
    case 'bool':
      return reader.bool();
    case 'u8':
      return reader.u8();
    case 'u64':
      return reader.u64();
    case 'address':
      return reader.address();
    case 'signer':
      throw reader.error('signer', 'signers are not stored');
    case 'bytes': {
      const bytes = reader.bytes();
      meter.allocateBytes(bytes.length);
      return new ByteVector(Uint8Array.from(bytes));
    }
    case 'vector':
      return readVector(reading, layout.element, depth);
    case 'string':
    case 'struct':
      return readFields(reading, layout.fields, [], depth);
    case 'enum': {
      const variant = reader.variant(layout.variants.length, 'enum');
      return readFields(reading, layout.variants[variant]!.fields, [variant], depth);
    }
    case 'function':
      return readClosure(reading, depth);
    default:
      return isSmallInteger(layout.kind)
        ? readSmallInteger(reader, layout.kind)
        : readWideInteger(reader, layout.kind satisfies IntegerKind as WideIntegerKind);
  }
}

function readVector(reading: Reading, element: Layout, depth: number): Value[] {
  enter(depth);
  const count = reading.reader.length(minBytes(element));
  reading.meter.allocate(count);
  const items: Value[] = [];
  for (let index = 0; index < count; index += 1) items.push(read(reading, element, depth + 1));
  return items;
}

function readFields(
  reading: Reading,
  fields: readonly LayoutField[],
  values: Value[],
  depth: number,
): Value[] {
  enter(depth);
  reading.meter.allocate(fields.length);
  for (const { layout } of fields) values.push(read(reading, layout, depth + 1));
  return values;
}

/** A function value with the layouts of what it captured (docs/spec/move.md §4.5). */
function readClosure(reading: Reading, depth: number): Closure {
  const { reader, meter, types } = reading;
  if (types === undefined) throw functionValue();
  enter(depth);
  const parts = reader.length(0);
  if (reader.u16() !== FUNCTION_DATA_VERSION) {
    throw reader.error('bad_closure', 'unexpected function data version');
  }
  const module = ModuleId.read(reader);
  const name = reader.string();
  const typeArguments = reader.vector(1, () => types.type(readTypeTag(reader)));
  const mask = reader.u64();
  const captured: Value[] = [];
  const layouts: Layout[] = [];
  for (let left = mask; left !== 0n; left >>= 1n) {
    if ((left & 1n) === 0n) continue;
    const layout = readCapturedLayout(reader, depth);
    layouts.push(layout);
    captured.push(read(reading, layout, depth + 1));
  }
  meter.allocate(captured.length);
  if (parts !== CLOSURE_PARTS + 2 * captured.length) {
    throw reader.error('bad_closure', `invalid length ${parts}, expected Closure`);
  }
  return new Closure(module, name, typeArguments, mask, captured, layouts);
}

/** A vector of structures without fields takes no bytes: its length is limited by the meter. */
function minBytes(layout: Layout): number {
  return layout.kind === 'struct' ? Math.min(1, layout.fields.length) : 1;
}
