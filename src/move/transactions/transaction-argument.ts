/** Arguments of scripts (docs/spec/ledger.md §3.4). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import {
  isSmallInteger,
  readSmallInteger,
  readWideInteger,
  type SmallIntegerKind,
  type WideIntegerKind,
  writeInteger,
} from '../bcs/integers.ts';
import type { Address } from '../types/address.ts';

export type TransactionArgument =
  | { readonly kind: SmallIntegerKind; readonly value: number }
  | { readonly kind: WideIntegerKind; readonly value: bigint }
  | { readonly kind: 'address'; readonly value: Address }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** `u8Vector`: a vector of bytes. `serialized`: the BCS of a value of the parameter's type. */
  | { readonly kind: 'u8Vector' | 'serialized'; readonly value: Buffer };

/** By their variants in BCS. */
export const ARGUMENT_KINDS: readonly TransactionArgument['kind'][] = [
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

export function readTransactionArgument(reader: BcsReader): TransactionArgument {
  const kind = ARGUMENT_KINDS[reader.variant(ARGUMENT_KINDS.length, 'TransactionArgument')]!;
  switch (kind) {
    case 'address':
      return { kind, value: reader.address() };
    case 'bool':
      return { kind, value: reader.bool() };
    case 'u8Vector':
    case 'serialized':
      return { kind, value: reader.bytes() };
    default:
      return isSmallInteger(kind)
        ? { kind, value: readSmallInteger(reader, kind) }
        : { kind, value: readWideInteger(reader, kind) };
  }
}

/** Writes a script argument. @throws RangeError when an integer does not fit. */
export function writeTransactionArgument(writer: BcsWriter, argument: TransactionArgument): void {
  writer.uleb32(ARGUMENT_KINDS.indexOf(argument.kind));
  switch (argument.kind) {
    case 'address':
      writer.address(argument.value);
      return;
    case 'bool':
      writer.bool(argument.value);
      return;
    case 'u8Vector':
    case 'serialized':
      writer.bytes(argument.value);
      return;
    default:
      writeInteger(writer, argument.kind, argument.value);
  }
}
