/** The check of instructions on locals, constants, numbers and control flow. */
import type { SignatureToken } from '../../move/modules/compiled.ts';
import { refusedCode } from '../vm-error.ts';
import type { CheckedType } from './checked-type.ts';
import type { Checker, Rule, Rules } from './checker.ts';
import { decodeConstant } from './constants.ts';
import { BIG_KINDS, CAST_TARGETS, NUMBER_KINDS, type OperationName } from './operation.ts';

const MAX_SMALL = 0x7fff_ffff;

/** The place of an integer type in the list of those whose values look the same. */
interface IntegerForm {
  readonly isBig: boolean;
  readonly place: number;
  readonly isSigned: boolean;
}

const FORMS = new Map<SignatureToken['kind'], IntegerForm>([
  ...NUMBER_KINDS.map(
    (kind, place) => [kind, { isBig: false, place, isSigned: kind.startsWith('i') }] as const,
  ),
  ...BIG_KINDS.map(
    (kind, place) => [kind, { isBig: true, place, isSigned: kind.startsWith('i') }] as const,
  ),
]);

function formOf({ kind }: CheckedType): IntegerForm {
  const form = FORMS.get(kind);
  if (form === undefined) throw refusedCode('not an integer');
  return form;
}

/** Whether a copy of a value may share it: what it is made of cannot change. */
export function isSimple({ kind }: CheckedType): boolean {
  return FORMS.has(kind) || kind === 'bool' || kind === 'address' || kind === 'reference';
}

function load(
  kind: 'u8' | 'u16' | 'u32' | 'i8' | 'i16' | 'i32' | (typeof BIG_KINDS)[number],
): Rule {
  return (checker, { operand }) => {
    checker.pushKind(kind);
    if (typeof operand === 'number' && operand <= MAX_SMALL) checker.emit('loadSmall', operand);
    else checker.emit('loadConstant', checker.constants.push(operand) - 1);
  };
}

function loadBool(value: boolean): Rule {
  return (checker) => {
    checker.pushKind('bool');
    checker.emit('loadConstant', checker.constants.push(value) - 1);
  };
}

type Arithmetic = 'add' | 'sub' | 'mul' | 'div' | 'mod' | 'bitOr' | 'bitAnd' | 'xor';

function arithmetic(operation: Arithmetic): Rule {
  const isBitwise = operation === 'bitOr' || operation === 'bitAnd' || operation === 'xor';
  return (checker) => {
    const type = checker.pop();
    checker.expect(type);
    const { isBig, place, isSigned } = formOf(type);
    if (isBitwise && isSigned) throw refusedCode('bits of a signed integer');
    checker.emit(`${operation}${isBig ? 'Big' : 'Number'}`, place);
    checker.push(type);
  };
}

function shift(operation: 'shl' | 'shr'): Rule {
  return (checker) => {
    checker.expectKind('u8');
    const type = checker.pop();
    const { isBig, place, isSigned } = formOf(type);
    if (isSigned) throw refusedCode('shift of a signed integer');
    checker.emit(`${operation}${isBig ? 'Big' : 'Number'}`, place);
    checker.push(type);
  };
}

function cast(kind: (typeof NUMBER_KINDS)[number] | (typeof BIG_KINDS)[number]): Rule {
  return (checker) => {
    const from = formOf(checker.pop());
    const type = checker.types.primitive(kind);
    const to = formOf(type);
    const given = from.isBig ? 'Big' : 'Number';
    const operand = from.place * CAST_TARGETS + to.place;
    checker.emit(`cast${given}To${to.isBig ? 'Big' : 'Number'}`, operand);
    checker.push(type);
  };
}

function comparison(operation: OperationName): Rule {
  return (checker) => {
    const type = checker.pop();
    formOf(type);
    checker.expect(type);
    checker.emit(operation);
    checker.pushKind('bool');
  };
}

function equality(simple: OperationName, deep: OperationName): Rule {
  return (checker) => {
    const type = checker.pop();
    checker.expect(type);
    checker.emit(type.kind !== 'reference' && isSimple(type) ? simple : deep);
    checker.pushKind('bool');
  };
}

function logic(operation: 'or' | 'and'): Rule {
  return (checker) => {
    checker.expectKind('bool');
    checker.expectKind('bool');
    checker.emit(operation);
    checker.pushKind('bool');
  };
}

function branch(operation: 'brTrue' | 'brFalse'): Rule {
  return (checker, { operand }) => {
    checker.expectKind('bool');
    checker.emit(operation, operand as number);
  };
}

function borrowLocal(isMutable: boolean): Rule {
  return (checker, { operand }) => {
    const type = checker.locals[operand as number]!;
    checker.emit('borrowLocal', operand as number);
    checker.push(checker.types.referenceTo(type, isMutable));
  };
}

function loadConstant(checker: Checker, index: number): void {
  const { type, data } = checker.module.constants[index]!;
  const value = decodeConstant(type, data);
  const place = checker.constants.push(value) - 1;
  checker.emit(typeof value === 'object' ? 'loadCopy' : 'loadConstant', place);
  checker.push(checker.types.of(type));
}

const CONTROL_RULES: Rules = {
  Pop: (checker) => {
    checker.pop();
    checker.emit('pop');
  },
  Ret: (checker) => {
    checker.expectAll(checker.results);
    checker.emit('ret');
  },
  BrTrue: branch('brTrue'),
  BrFalse: branch('brFalse'),
  Branch: (checker, { operand }) => checker.emit('branch', operand as number),
  Nop: (checker) => checker.emit('nop'),
  Abort: (checker) => {
    checker.expectKind('u64');
    checker.emit('abort');
  },
  AbortMsg: (checker) => {
    checker.expect(checker.types.vectorOf(checker.types.primitive('u8')));
    checker.expectKind('u64');
    checker.emit('abortMsg');
  },
  FreezeRef: (checker) => {
    checker.push(checker.types.referenceTo(checker.popReference(true), false));
    checker.emit('nop');
  },
};

const PLACE_RULES: Rules = {
  LdConst: (checker, { operand }) => loadConstant(checker, operand as number),
  LdTrue: loadBool(true),
  LdFalse: loadBool(false),
  CopyLoc: (checker, { operand }) => {
    const type = checker.locals[operand as number]!;
    checker.emit(isSimple(type) ? 'copyLocal' : 'copyLocalDeep', operand as number);
    checker.push(type);
  },
  MoveLoc: (checker, { operand }) => {
    checker.emit('moveLocal', operand as number);
    checker.push(checker.locals[operand as number]!);
  },
  StLoc: (checker, { operand }) => {
    checker.expect(checker.locals[operand as number]!);
    checker.emit('storeLocal', operand as number);
  },
  MutBorrowLoc: borrowLocal(true),
  ImmBorrowLoc: borrowLocal(false),
  ReadRef: (checker) => {
    const type = checker.popReference(false);
    checker.emit(isSimple(type) ? 'readRef' : 'readRefDeep');
    checker.push(type);
  },
  WriteRef: (checker) => {
    checker.expect(checker.popReference(true));
    checker.emit('writeRef');
  },
};

const NUMBER_RULES: Rules = {
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
  Add: arithmetic('add'),
  Sub: arithmetic('sub'),
  Mul: arithmetic('mul'),
  Div: arithmetic('div'),
  Mod: arithmetic('mod'),
  BitOr: arithmetic('bitOr'),
  BitAnd: arithmetic('bitAnd'),
  Xor: arithmetic('xor'),
  Shl: shift('shl'),
  Shr: shift('shr'),
  Negate: (checker) => {
    const type = checker.pop();
    const { isBig, place, isSigned } = formOf(type);
    if (!isSigned) throw refusedCode('negation of an unsigned integer');
    checker.emit(isBig ? 'negateBig' : 'negateNumber', place);
    checker.push(type);
  },
  Or: logic('or'),
  And: logic('and'),
  Not: (checker) => {
    checker.expectKind('bool');
    checker.emit('not');
    checker.pushKind('bool');
  },
  Eq: equality('equal', 'equalDeep'),
  Neq: equality('notEqual', 'notEqualDeep'),
  Lt: comparison('less'),
  Gt: comparison('greater'),
  Le: comparison('lessOrEqual'),
  Ge: comparison('greaterOrEqual'),
};

export const SIMPLE_RULES: Rules = { ...CONTROL_RULES, ...PLACE_RULES, ...NUMBER_RULES };
