/** Values to and from BCS. */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  type IntegerKind,
  isSmallInteger,
  readSmallInteger,
  readWideInteger,
  type WideIntegerKind,
  writeInteger,
} from '../../move/bcs/integers.ts';
import type { Meter } from '../meter.ts';
import type { Layout, LayoutField } from '../program/vm-type.ts';
import { ByteVector, MAX_VALUE_DEPTH, type Value } from '../value.ts';
import { VmError } from '../vm-error.ts';

function enter(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) throw new VmError('VM_MAX_VALUE_DEPTH_REACHED');
}

function functionValue(): VmError {
  return new VmError('UNIMPLEMENTED_FUNCTIONALITY', { text: 'function values in BCS' });
}

/** @throws VmError for a value too deep, or one with a function value; what the meter throws */
export function encodeValue(layout: Layout, value: Value, meter: Meter): Buffer {
  const writer = new BcsWriter();
  write(writer, layout, value, 1);
  const bytes = writer.toBytes();
  meter.allocateBytes(bytes.length);
  return bytes;
}

function write(writer: BcsWriter, layout: Layout, value: Value, depth: number): void {
  switch (layout.kind) {
    case 'bool':
      writer.bool(value as boolean);
      return;
    case 'address':
      writer.address(value as string);
      return;
    case 'signer':
      writer.address((value as Value[])[0] as string);
      return;
    case 'bytes':
      writer.bytes((value as ByteVector).bytes);
      return;
    case 'vector': {
      enter(depth);
      const items = value as Value[];
      writer.uleb32(items.length);
      for (const item of items) write(writer, layout.element, item, depth + 1);
      return;
    }
    case 'struct':
      writeFields(writer, layout.fields, value as Value[], 0, depth);
      return;
    case 'enum': {
      const fields = value as Value[];
      const variant = fields[0] as number;
      writer.uleb32(variant);
      writeFields(writer, layout.variants[variant]!.fields, fields, 1, depth);
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
  fields: readonly LayoutField[],
  values: readonly Value[],
  first: number,
  depth: number,
): void {
  enter(depth);
  for (let index = 0; index < fields.length; index += 1) {
    write(writer, fields[index]!.layout, values[first + index], depth + 1);
  }
}

/**
 * The value whose BCS is exactly `bytes`.
 * @throws BcsError; VmError for a value too deep, or one with a function value; what the meter throws
 */
export function decodeValue(layout: Layout, bytes: Uint8Array, meter: Meter): Value {
  meter.chargeBytes(bytes.length);
  const reader = new BcsReader(bytes);
  const value = read(reader, layout, meter, 1);
  reader.finish();
  return value;
}

function read(reader: BcsReader, layout: Layout, meter: Meter, depth: number): Value {
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
    case 'vector': {
      enter(depth);
      const count = reader.length(minBytes(layout.element));
      meter.allocate(count);
      const items: Value[] = [];
      for (let index = 0; index < count; index += 1) {
        items.push(read(reader, layout.element, meter, depth + 1));
      }
      return items;
    }
    case 'struct':
      return readFields(reader, layout.fields, [], meter, depth);
    case 'enum': {
      const variant = reader.variant(layout.variants.length, 'enum');
      return readFields(reader, layout.variants[variant]!.fields, [variant], meter, depth);
    }
    case 'function':
      throw functionValue();
    default:
      return isSmallInteger(layout.kind)
        ? readSmallInteger(reader, layout.kind)
        : readWideInteger(reader, layout.kind satisfies IntegerKind as WideIntegerKind);
  }
}

function readFields(
  reader: BcsReader,
  fields: readonly LayoutField[],
  values: Value[],
  meter: Meter,
  depth: number,
): Value[] {
  enter(depth);
  meter.allocate(fields.length);
  for (const { layout } of fields) values.push(read(reader, layout, meter, depth + 1));
  return values;
}

/** A vector of structures without fields takes no bytes: its length is limited by the meter. */
function minBytes(layout: Layout): number {
  return layout.kind === 'struct' ? Math.min(1, layout.fields.length) : 1;
}
