/** Codes and flags of definitions and function attributes (docs/spec/move.md §1.5, §1.7, §1.8). */
import { VERSION_8_FUNCTION_VALUES, VERSION_10_STRUCT_ATTRIBUTES } from './binary-limits.ts';

/** Kinds of struct definitions. */
export const STRUCT_FLAGS = { native: 1, struct: 2, enum: 3 } as const;

/** Visibilities; `script` (public and entry) existed in versions 2 to 4 only. */
export const VISIBILITIES = { private: 0, public: 1, script: 2, friend: 3 } as const;

/** Bits of a function definition's flags. */
export const FUNCTION_FLAGS = { native: 2, entry: 4 } as const;

export interface AttributeKind {
  readonly name: string;
  /** Whether a fixed u16 follows: a variant index or a field offset. */
  readonly hasOperand: boolean;
  readonly since: number;
}

function attribute(name: string, since: number, hasOperand = false): AttributeKind {
  return { name, since, hasOperand };
}

/** Function attributes by code. */
export const ATTRIBUTES: ReadonlyMap<number, AttributeKind> = new Map([
  [1, attribute('persistent', VERSION_8_FUNCTION_VALUES)],
  [2, attribute('module_lock', VERSION_8_FUNCTION_VALUES)],
  [3, attribute('pack', VERSION_10_STRUCT_ATTRIBUTES)],
  [4, attribute('pack_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [5, attribute('unpack', VERSION_10_STRUCT_ATTRIBUTES)],
  [6, attribute('unpack_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [7, attribute('test_variant', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [8, attribute('borrow', VERSION_10_STRUCT_ATTRIBUTES, true)],
  [9, attribute('borrow_mut', VERSION_10_STRUCT_ATTRIBUTES, true)],
]);
