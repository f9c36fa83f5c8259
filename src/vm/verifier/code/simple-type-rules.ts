/** Types of instructions on locals, references, constants, numbers and control flow. */

import { INTEGER_SIZES, type IntegerKind } from '../../../move/bcs/integers.ts';
import type { SignatureToken } from '../../../move/modules/compiled.ts';
import { COPY, DROP } from '../../../move/types/abilities.ts';
import { isAssignable, type Type } from '../model/type-table.ts';
import type { TypeRule, TypeRules } from './type-checker.ts';

function isInteger({ kind }: Type): boolean {
  return kind in INTEGER_SIZES;
}

function isSigned({ kind }: Type): boolean {
  return kind in INTEGER_SIZES && INTEGER_SIZES[kind as IntegerKind].signed;
}

function load(kind: SignatureToken['kind']): TypeRule {
  return (checker) => checker.pushKind(kind);
}

function cast(kind: IntegerKind): TypeRule {
  return (checker) => {
    checker.demand(isInteger(checker.pop()), 'INTEGER_OP_TYPE_MISMATCH_ERROR');
    checker.pushKind(kind);
  };
}

/** Two integers of one type; bits only of unsigned ones. */
function arithmetic(isBitwise: boolean): TypeRule {
  return (checker) => {
    const type = checker.pop();
    checker.expect(type, 'INTEGER_OP_TYPE_MISMATCH_ERROR');
    const isRight = isInteger(type) && !(isBitwise && isSigned(type));
    checker.demand(isRight, 'INTEGER_OP_TYPE_MISMATCH_ERROR');
    checker.push(type);
  };
}

const shift: TypeRule = (checker) => {
  checker.expectKind('u8', 'INTEGER_OP_TYPE_MISMATCH_ERROR');
  const type = checker.pop();
  checker.demand(isInteger(type) && !isSigned(type), 'INTEGER_OP_TYPE_MISMATCH_ERROR');
  checker.push(type);
};

const comparison: TypeRule = (checker) => {
  const type = checker.pop();
  checker.expect(type, 'INTEGER_OP_TYPE_MISMATCH_ERROR');
  checker.demand(isInteger(type), 'INTEGER_OP_TYPE_MISMATCH_ERROR');
  checker.pushKind('bool');
};

const equality: TypeRule = (checker) => {
  const type = checker.pop();
  checker.expect(type, 'EQUALITY_OP_TYPE_MISMATCH_ERROR');
  checker.demandAbility(type, DROP, 'EQUALITY_OP_TYPE_MISMATCH_ERROR');
  checker.pushKind('bool');
};

const logic: TypeRule = (checker) => {
  checker.expectKind('bool', 'BOOLEAN_OP_TYPE_MISMATCH_ERROR');
  checker.expectKind('bool', 'BOOLEAN_OP_TYPE_MISMATCH_ERROR');
  checker.pushKind('bool');
};

const conditionalBranch: TypeRule = (checker) =>
  checker.expectKind('bool', 'BR_TYPE_MISMATCH_ERROR');

function borrowLocal(isMutable: boolean): TypeRule {
  return (checker, { operand }) => {
    const type = checker.locals[operand as number]!;
    checker.demand(type.kind !== 'reference', 'BORROWLOC_REFERENCE_ERROR');
    checker.push(checker.types.referenceTo(type, isMutable));
  };
}

const CONTROL_RULES: TypeRules = {
  Pop: (checker) => checker.demandAbility(checker.pop(), DROP, 'POP_WITHOUT_DROP_ABILITY'),
  Ret: (checker) => {
    for (let place = checker.results.length - 1; place >= 0; place -= 1) {
      checker.expectAssignable(checker.results[place]!, 'RET_TYPE_MISMATCH_ERROR');
    }
  },
  BrTrue: conditionalBranch,
  BrFalse: conditionalBranch,
  Branch: () => {},
  Nop: () => {},
  Abort: (checker) => checker.expectKind('u64', 'ABORT_TYPE_MISMATCH_ERROR'),
  AbortMsg: (checker) => {
    const text = checker.types.vectorOf(checker.types.primitive('u8'));
    checker.expect(text, 'ABORT_TYPE_MISMATCH_ERROR');
    checker.expectKind('u64', 'ABORT_TYPE_MISMATCH_ERROR');
  },
};

const PLACE_RULES: TypeRules = {
  LdConst: (checker, { operand }) => {
    const { type } = checker.binary.constants[operand as number]!;
    checker.push(checker.types.of(type));
  },
  CopyLoc: (checker, { operand }) => {
    const type = checker.locals[operand as number]!;
    checker.demandAbility(type, COPY, 'COPYLOC_WITHOUT_COPY_ABILITY');
    checker.push(type);
  },
  MoveLoc: (checker, { operand }) => checker.push(checker.locals[operand as number]!),
  StLoc: (checker, { operand }) =>
    checker.expectAssignable(checker.locals[operand as number]!, 'STLOC_TYPE_MISMATCH_ERROR'),
  MutBorrowLoc: borrowLocal(true),
  ImmBorrowLoc: borrowLocal(false),
  FreezeRef: (checker) => {
    const { kind, isMutable, parts } = checker.pop();
    checker.demand(kind === 'reference' && isMutable, 'FREEZEREF_TYPE_MISMATCH_ERROR');
    checker.push(checker.types.referenceTo(parts[0]!, false));
  },
  ReadRef: (checker) => {
    const { kind, parts } = checker.pop();
    checker.demand(kind === 'reference', 'READREF_TYPE_MISMATCH_ERROR');
    checker.demandAbility(parts[0]!, COPY, 'READREF_WITHOUT_COPY_ABILITY');
    checker.push(parts[0]!);
  },
  WriteRef: (checker) => {
    const { kind, isMutable, parts } = checker.pop();
    const value = checker.pop();
    checker.demand(kind === 'reference' && isMutable, 'WRITEREF_NO_MUTABLE_REFERENCE_ERROR');
    checker.demandAbility(parts[0]!, DROP, 'WRITEREF_WITHOUT_DROP_ABILITY');
    checker.demand(isAssignable(parts[0]!, value), 'WRITEREF_TYPE_MISMATCH_ERROR');
  },
};

const NUMBER_RULES: TypeRules = {
  LdU8: load('u8'),
  LdU16: load('u16'),
  LdU32: load('u32'),
  LdU64: load('u64'),
  LdU128: load('u128'),
  LdU256: load('u256'),
  LdI8: load('i8'),
  LdI16: load('i16'),
  LdI32: load('i32'),
  LdI64: load('i64'),
  LdI128: load('i128'),
  LdI256: load('i256'),
  LdTrue: load('bool'),
  LdFalse: load('bool'),
  CastU8: cast('u8'),
  CastU16: cast('u16'),
  CastU32: cast('u32'),
  CastU64: cast('u64'),
  CastU128: cast('u128'),
  CastU256: cast('u256'),
  CastI8: cast('i8'),
  CastI16: cast('i16'),
  CastI32: cast('i32'),
  CastI64: cast('i64'),
  CastI128: cast('i128'),
  CastI256: cast('i256'),
  Add: arithmetic(false),
  Sub: arithmetic(false),
  Mul: arithmetic(false),
  Mod: arithmetic(false),
  Div: arithmetic(false),
  BitOr: arithmetic(true),
  BitAnd: arithmetic(true),
  Xor: arithmetic(true),
  Shl: shift,
  Shr: shift,
  Negate: (checker) => {
    const type = checker.pop();
    checker.demand(isSigned(type), 'INTEGER_OP_TYPE_MISMATCH_ERROR');
    checker.push(type);
  },
  Or: logic,
  And: logic,
  Not: (checker) => {
    checker.expectKind('bool', 'BOOLEAN_OP_TYPE_MISMATCH_ERROR');
    checker.pushKind('bool');
  },
  Eq: equality,
  Neq: equality,
  Lt: comparison,
  Gt: comparison,
  Le: comparison,
  Ge: comparison,
};

export const SIMPLE_TYPE_RULES: TypeRules = { ...CONTROL_RULES, ...PLACE_RULES, ...NUMBER_RULES };
