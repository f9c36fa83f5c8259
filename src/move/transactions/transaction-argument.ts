/** Arguments of scripts (docs/spec/ledger.md §3.4). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { Address } from '../types/address.ts';

/** Integers up to 32 bits are numbers, larger ones bigints. */
export type TransactionArgument =
  | { readonly kind: 'u8' | 'u16' | 'u32' | 'i8' | 'i16' | 'i32'; readonly value: number }
  | {
      readonly kind: 'u64' | 'u128' | 'u256' | 'i64' | 'i128' | 'i256';
      readonly value: bigint;
    }
  | { readonly kind: 'address'; readonly value: Address }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** `u8Vector`: a vector of bytes. `serialized`: the BCS of a value of the parameter's type. */
  | { readonly kind: 'u8Vector' | 'serialized'; readonly value: Buffer };

const KINDS: readonly TransactionArgument['kind'][] = [
  'u8',
  'u64',
  'u128',
  'address',
  'u8Vector',
  'bool',
  'u16',
  'u32',
  'u256',
  'serialized',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
];

/** Reads a script argument. @throws BcsError */
export function readTransactionArgument(reader: BcsReader): TransactionArgument {
  const kind = KINDS[reader.variant(KINDS.length, 'TransactionArgument')]!;
  switch (kind) {
    case 'u8':
      return { kind, value: reader.u8() };
    case 'u16':
      return { kind, value: reader.u16() };
    case 'u32':
      return { kind, value: reader.u32() };
    case 'u64':
      return { kind, value: reader.u64() };
    case 'u128':
      return { kind, value: reader.u128() };
    case 'u256':
      return { kind, value: reader.u256() };
    case 'i8':
      return { kind, value: Number(reader.signed(8)) };
    case 'i16':
      return { kind, value: Number(reader.signed(16)) };
    case 'i32':
      return { kind, value: Number(reader.signed(32)) };
    case 'i64':
      return { kind, value: reader.signed(64) };
    case 'i128':
      return { kind, value: reader.signed(128) };
    case 'i256':
      return { kind, value: reader.signed(256) };
    case 'address':
      return { kind, value: reader.address() };
    case 'bool':
      return { kind, value: reader.bool() };
    case 'u8Vector':
    case 'serialized':
      return { kind, value: reader.bytes() };
  }
}

/** Writes a script argument. @throws RangeError when an integer does not fit. */
export function writeTransactionArgument(writer: BcsWriter, argument: TransactionArgument): void {
  writer.uleb32(KINDS.indexOf(argument.kind));
  switch (argument.kind) {
    case 'u8':
      writer.u8(argument.value);
      return;
    case 'u16':
      writer.u16(argument.value);
      return;
    case 'u32':
      writer.u32(argument.value);
      return;
    case 'u64':
      writer.u64(argument.value);
      return;
    case 'u128':
      writer.u128(argument.value);
      return;
    case 'u256':
      writer.u256(argument.value);
      return;
    case 'i8':
      writer.signed(BigInt(argument.value), 8);
      return;
    case 'i16':
      writer.signed(BigInt(argument.value), 16);
      return;
    case 'i32':
      writer.signed(BigInt(argument.value), 32);
      return;
    case 'i64':
      writer.signed(argument.value, 64);
      return;
    case 'i128':
      writer.signed(argument.value, 128);
      return;
    case 'i256':
      writer.signed(argument.value, 256);
      return;
    case 'address':
      writer.address(argument.value);
      return;
    case 'bool':
      writer.bool(argument.value);
      return;
    case 'u8Vector':
    case 'serialized':
      writer.bytes(argument.value);
  }
}
