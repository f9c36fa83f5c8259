/** Attributes of functions: their codes, and which of them other modules rely on (docs/spec/move.md §1.5). */
import type { FunctionAttribute } from '../../../move/modules/compiled.ts';

/** The function can be named by values that are stored. */
export const PERSISTENT = 1;
const MODULE_LOCK = 2;
/** Of the interface of a public struct: packing, unpacking, testing and borrowing. */
export const PACK = 3;
export const PACK_VARIANT = 4;
export const UNPACK = 5;
export const UNPACK_VARIANT = 6;
export const TEST_VARIANT = 7;
export const BORROW = 8;
export const BORROW_MUT = 9;

/** Whether all wanted attributes are there, but for the lock, which is the function's own matter. */
export function hasAttributes(
  given: readonly FunctionAttribute[],
  wanted: readonly FunctionAttribute[],
): boolean {
  return wanted.every(
    ({ code, operand }) =>
      code === MODULE_LOCK || given.some((one) => one.code === code && one.operand === operand),
  );
}
