/** Move's integer types by their names: sizes, and reading and writing them in BCS. */
import type { BcsReader } from './bcs-reader.ts';
import type { BcsWriter } from './bcs-writer.ts';
import { type Codec, codec } from './codec.ts';

/** Types whose values are numbers here; those of the wider types are bigints. */
export type SmallIntegerKind = 'u8' | 'u16' | 'u32' | 'i8' | 'i16' | 'i32';
export type WideIntegerKind = 'u64' | 'u128' | 'u256' | 'i64' | 'i128' | 'i256';
export type IntegerKind = SmallIntegerKind | WideIntegerKind;

export interface IntegerSize {
  readonly bits: 8 | 16 | 32 | 64 | 128 | 256;
  readonly signed: boolean;
}

export const INTEGER_SIZES: Readonly<Record<IntegerKind, IntegerSize>> = {
  u8: { bits: 8, signed: false },
  u16: { bits: 16, signed: false },
  u32: { bits: 32, signed: false },
  u64: { bits: 64, signed: false },
  u128: { bits: 128, signed: false },
  u256: { bits: 256, signed: false },
  i8: { bits: 8, signed: true },
  i16: { bits: 16, signed: true },
  i32: { bits: 32, signed: true },
  i64: { bits: 64, signed: true },
  i128: { bits: 128, signed: true },
  i256: { bits: 256, signed: true },
};

/** Sizes in bytes of the primitive types with a fixed size, by name. */
export const PRIMITIVE_BYTES: ReadonlyMap<string, number> = new Map([
  ['bool', 1],
  ['address', 32],
  ...Object.entries(INTEGER_SIZES).map(([kind, { bits }]) => [kind, bits / 8] as const),
]);

export function isSmallInteger(kind: string): kind is SmallIntegerKind {
  return kind in INTEGER_SIZES && INTEGER_SIZES[kind as IntegerKind].bits <= 32;
}

/** @throws BcsError */
export function readSmallInteger(reader: BcsReader, kind: SmallIntegerKind): number {
  switch (kind) {
    case 'u8':
      return reader.u8();
    case 'u16':
      return reader.u16();
    case 'u32':
      return reader.u32();
    default:
      return Number(reader.signed(INTEGER_SIZES[kind].bits));
  }
}

/** @throws BcsError */
export function readWideInteger(reader: BcsReader, kind: WideIntegerKind): bigint {
  switch (kind) {
    case 'u64':
      return reader.u64();
    case 'u128':
      return reader.u128();
    case 'u256':
      return reader.u256();
    default:
      return reader.signed(INTEGER_SIZES[kind].bits);
  }
}

/** @throws RangeError when the value does not fit */
export function writeInteger(writer: BcsWriter, kind: IntegerKind, value: number | bigint): void {
  const { bits, signed } = INTEGER_SIZES[kind];
  if (signed) writer.signed(BigInt(value), bits);
  else if (bits === 8) writer.u8(Number(value));
  else if (bits === 16) writer.u16(Number(value));
  else if (bits === 32) writer.u32(Number(value));
  else if (bits === 64) writer.u64(BigInt(value));
  else writer.unsigned(BigInt(value), bits);
}

type IntegerValue<Kind extends IntegerKind> = Kind extends SmallIntegerKind ? number : bigint;

export function integerCodec<Kind extends IntegerKind>(kind: Kind): Codec<IntegerValue<Kind>> {
  const read = (reader: BcsReader): number | bigint =>
    isSmallInteger(kind)
      ? readSmallInteger(reader, kind)
      : readWideInteger(reader, kind as WideIntegerKind);
  return codec(
    read as (reader: BcsReader) => IntegerValue<Kind>,
    (writer, value) => writeInteger(writer, kind, value),
    INTEGER_SIZES[kind].bits / 8,
  );
}
