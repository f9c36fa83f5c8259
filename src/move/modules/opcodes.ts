/** The instructions of the Move machine: codes, operands, first versions (docs/spec/move.md §1.9). */
import { INTEGER_SIZES, type IntegerKind, type IntegerSize } from '../bcs/integers.ts';

/**
 * What follows an opcode: an index into a table or into the code, a local, a closure mask, or an
 * immediate of that many bits (`i…` signed).
 */
export type OperandKind =
  | 'none'
  | 'offset'
  | 'constant'
  | 'fieldHandle'
  | 'fieldInstantiation'
  | 'function'
  | 'functionInstantiation'
  | 'struct'
  | 'structInstantiation'
  | 'variantFieldHandle'
  | 'variantFieldInstantiation'
  | 'structVariantHandle'
  | 'structVariantInstantiation'
  | 'signature'
  | 'local'
  | IntegerKind;

/** A second operand: the closure mask (ULEB128) or the element count of VecPack and VecUnpack (8 bytes). */
type SecondOperandKind = 'none' | 'mask' | 'count';

export interface OpcodeInfo {
  readonly name: string;
  readonly operand: OperandKind;
  readonly second: SecondOperandKind;
  readonly immediate: IntegerSize | undefined;
  /** First version that may use it. */
  readonly since: number;
}

type Row = readonly [
  code: number,
  name: string,
  operand?: OperandKind,
  since?: number,
  second?: SecondOperandKind,
];

const ROWS: readonly Row[] = [
  [0x01, 'Pop'],
  [0x02, 'Ret'],
  [0x03, 'BrTrue', 'offset'],
  [0x04, 'BrFalse', 'offset'],
  [0x05, 'Branch', 'offset'],
  [0x06, 'LdU64', 'u64'],
  [0x07, 'LdConst', 'constant'],
  [0x08, 'LdTrue'],
  [0x09, 'LdFalse'],
  [0x0a, 'CopyLoc', 'local'],
  [0x0b, 'MoveLoc', 'local'],
  [0x0c, 'StLoc', 'local'],
  [0x0d, 'MutBorrowLoc', 'local'],
  [0x0e, 'ImmBorrowLoc', 'local'],
  [0x0f, 'MutBorrowField', 'fieldHandle'],
  [0x10, 'ImmBorrowField', 'fieldHandle'],
  [0x11, 'Call', 'function'],
  [0x12, 'Pack', 'struct'],
  [0x13, 'Unpack', 'struct'],
  [0x14, 'ReadRef'],
  [0x15, 'WriteRef'],
  [0x16, 'Add'],
  [0x17, 'Sub'],
  [0x18, 'Mul'],
  [0x19, 'Mod'],
  [0x1a, 'Div'],
  [0x1b, 'BitOr'],
  [0x1c, 'BitAnd'],
  [0x1d, 'Xor'],
  [0x1e, 'Or'],
  [0x1f, 'And'],
  [0x20, 'Not'],
  [0x21, 'Eq'],
  [0x22, 'Neq'],
  [0x23, 'Lt'],
  [0x24, 'Gt'],
  [0x25, 'Le'],
  [0x26, 'Ge'],
  [0x27, 'Abort'],
  [0x28, 'Nop'],
  [0x29, 'Exists', 'struct'],
  [0x2a, 'MutBorrowGlobal', 'struct'],
  [0x2b, 'ImmBorrowGlobal', 'struct'],
  [0x2c, 'MoveFrom', 'struct'],
  [0x2d, 'MoveTo', 'struct'],
  [0x2e, 'FreezeRef'],
  [0x2f, 'Shl'],
  [0x30, 'Shr'],
  [0x31, 'LdU8', 'u8'],
  [0x32, 'LdU128', 'u128'],
  [0x33, 'CastU8'],
  [0x34, 'CastU64'],
  [0x35, 'CastU128'],
  [0x36, 'MutBorrowFieldGeneric', 'fieldInstantiation'],
  [0x37, 'ImmBorrowFieldGeneric', 'fieldInstantiation'],
  [0x38, 'CallGeneric', 'functionInstantiation'],
  [0x39, 'PackGeneric', 'structInstantiation'],
  [0x3a, 'UnpackGeneric', 'structInstantiation'],
  [0x3b, 'ExistsGeneric', 'structInstantiation'],
  [0x3c, 'MutBorrowGlobalGeneric', 'structInstantiation'],
  [0x3d, 'ImmBorrowGlobalGeneric', 'structInstantiation'],
  [0x3e, 'MoveFromGeneric', 'structInstantiation'],
  [0x3f, 'MoveToGeneric', 'structInstantiation'],
  [0x40, 'VecPack', 'signature', 4, 'count'],
  [0x41, 'VecLen', 'signature', 4],
  [0x42, 'VecImmBorrow', 'signature', 4],
  [0x43, 'VecMutBorrow', 'signature', 4],
  [0x44, 'VecPushBack', 'signature', 4],
  [0x45, 'VecPopBack', 'signature', 4],
  [0x46, 'VecUnpack', 'signature', 4, 'count'],
  [0x47, 'VecSwap', 'signature', 4],
  [0x48, 'LdU16', 'u16', 6],
  [0x49, 'LdU32', 'u32', 6],
  [0x4a, 'LdU256', 'u256', 6],
  [0x4b, 'CastU16', 'none', 6],
  [0x4c, 'CastU32', 'none', 6],
  [0x4d, 'CastU256', 'none', 6],
  [0x4e, 'ImmBorrowVariantField', 'variantFieldHandle', 7],
  [0x4f, 'MutBorrowVariantField', 'variantFieldHandle', 7],
  [0x50, 'ImmBorrowVariantFieldGeneric', 'variantFieldInstantiation', 7],
  [0x51, 'MutBorrowVariantFieldGeneric', 'variantFieldInstantiation', 7],
  [0x52, 'PackVariant', 'structVariantHandle', 7],
  [0x53, 'PackVariantGeneric', 'structVariantInstantiation', 7],
  // The reference's version check omits the two unpack instructions, so old binaries with them
  // load.
  [0x54, 'UnpackVariant', 'structVariantHandle'],
  [0x55, 'UnpackVariantGeneric', 'structVariantInstantiation'],
  [0x56, 'TestVariant', 'structVariantHandle', 7],
  [0x57, 'TestVariantGeneric', 'structVariantInstantiation', 7],
  [0x58, 'PackClosure', 'function', 8, 'mask'],
  [0x59, 'PackClosureGeneric', 'functionInstantiation', 8, 'mask'],
  [0x5a, 'CallClosure', 'signature', 8],
  [0x5b, 'LdI8', 'i8', 9],
  [0x5c, 'LdI16', 'i16', 9],
  [0x5d, 'LdI32', 'i32', 9],
  [0x5e, 'LdI64', 'i64', 9],
  [0x5f, 'LdI128', 'i128', 9],
  [0x60, 'LdI256', 'i256', 9],
  [0x61, 'CastI8', 'none', 9],
  [0x62, 'CastI16', 'none', 9],
  [0x63, 'CastI32', 'none', 9],
  [0x64, 'CastI64', 'none', 9],
  [0x65, 'CastI128', 'none', 9],
  [0x66, 'CastI256', 'none', 9],
  [0x67, 'Negate', 'none', 9],
  [0x68, 'AbortMsg', 'none', 10],
];

/** Instructions by code; `undefined` for codes that do not exist. */
export const OPCODES: readonly (OpcodeInfo | undefined)[] = opcodeTable();

function opcodeTable(): (OpcodeInfo | undefined)[] {
  const sizes: Readonly<Record<string, IntegerSize | undefined>> = INTEGER_SIZES;
  const opcodes = new Array<OpcodeInfo | undefined>(256).fill(undefined);
  for (const [code, name, operand = 'none', since = 1, second = 'none'] of ROWS) {
    const immediate = sizes[operand];
    opcodes[code] = { name, operand, second, immediate, since };
  }
  return opcodes;
}
