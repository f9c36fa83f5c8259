/**
 * The machine's operations, which src/vm/code/emitter.ts emits for Move instructions. It knows all types, so each
 * representation of values has its own operation: numbers, bigints, values that must be copied deeply.
 */

import type { Value } from '../value.ts';
import type { Type } from '../verifier/model/type-table.ts';

/** Names by number; their order has no meaning. */
export const OPERATIONS = [
  'pop',
  'ret',
  'brTrue',
  'brFalse',
  'branch',
  'nop',
  'abort',
  'abortMsg',
  'loadSmall',
  'loadConstant',
  'loadCopy',
  'copyLocal',
  'copyLocalDeep',
  'moveLocal',
  'storeLocal',
  'borrowLocal',
  'borrowField',
  'borrowVariantField',
  'readRef',
  'readRefDeep',
  'writeRef',
  'addNumber',
  'subNumber',
  'mulNumber',
  'divNumber',
  'modNumber',
  'negateNumber',
  'addBig',
  'subBig',
  'mulBig',
  'divBig',
  'modBig',
  'negateBig',
  'bitOrNumber',
  'bitAndNumber',
  'xorNumber',
  'shlNumber',
  'shrNumber',
  'bitOrBig',
  'bitAndBig',
  'xorBig',
  'shlBig',
  'shrBig',
  'castNumberToNumber',
  'castNumberToBig',
  'castBigToNumber',
  'castBigToBig',
  'or',
  'and',
  'not',
  'equal',
  'notEqual',
  'equalDeep',
  'notEqualDeep',
  'less',
  'greater',
  'lessOrEqual',
  'greaterOrEqual',
  'pack',
  'packGeneric',
  'packVariant',
  'packVariantGeneric',
  'unpack',
  'unpackVariant',
  'testVariant',
  'call',
  'callGeneric',
  'packClosure',
  'packClosureGeneric',
  'callClosure',
  'exists',
  'existsGeneric',
  'borrowGlobal',
  'borrowGlobalGeneric',
  'moveFrom',
  'moveFromGeneric',
  'moveTo',
  'moveToGeneric',
  'vecPackBytes',
  'vecPackSimple',
  'vecPackTyped',
  'vecLen',
  'vecBorrow',
  'vecPushBack',
  'vecPopBack',
  'vecUnpack',
  'vecSwap',
] as const;

export type OperationName = (typeof OPERATIONS)[number];

const NUMBERS: ReadonlyMap<OperationName, number> = new Map(
  OPERATIONS.map((name, number) => [name, number]),
);

export function operationNumber(name: OperationName): number {
  return NUMBERS.get(name)!;
}

/** The integer types whose values are numbers; operands of operations on numbers are indexes into this list. */
export const NUMBER_KINDS = ['u8', 'u16', 'u32', 'i8', 'i16', 'i32'] as const;
export const BIG_KINDS = ['u64', 'u128', 'u256', 'i64', 'i128', 'i256'] as const;

/** Operand of casts: the index of the source type times this, plus the index of the target type. */
export const CAST_TARGETS = 8;

/** The closure that PackClosure and PackClosureGeneric create. */
export interface ClosureSite {
  /** Index of the function, or of its instantiation. */
  readonly target: number;
  readonly mask: bigint;
  readonly capturedCount: number;
}

/** Operand of vecPackTyped: a signature, which is below 65536, and a number of elements, which the stack limits. */
export const PACK_COUNTS = 2_048;

/** The code of one function. Operation i implements instruction i, so branches and code offsets are the same. */
export interface FunctionCode {
  readonly operations: Uint8Array;
  readonly operands: Int32Array;
  readonly constants: readonly Value[];
  readonly closures: readonly ClosureSite[];
  /** Types of values whose size is charged for. */
  readonly sized: readonly Type[];
  /** The index in `sized` of an instruction's value; 0 for instructions without one. */
  readonly sizedAt: Uint16Array;
  /** Parameters included. */
  readonly localCount: number;
  readonly parameterCount: number;
}
