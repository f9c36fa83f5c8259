/** Every instruction must get values of the types that it needs (docs/spec/verifier.md §3.13). */
import { INTEGER_SIZES, type IntegerKind } from '../../../move/bcs/integers.ts';
import type {
  Instruction,
  SignatureToken,
  StructDefinition,
} from '../../../move/modules/compiled.ts';
import { COPY, DROP, KEY, STORE } from '../../../move/types/abilities.ts';
import type { StatusName } from '../../status/status.ts';
import {
  byOpcode,
  fieldsOf,
  functionSubject,
  isCaptured,
  PERSISTENT,
  structSubject,
} from '../model/instructions.ts';
import { isAssignable, type Type } from '../model/type-table.ts';
import type { VerifierMeter } from '../model/verifier-config.ts';
import type { FunctionView } from './analysis.ts';
import { TypeChecker, type TypeRule, type TypeRules } from './type-checker.ts';

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
    const isValid = isInteger(type) && !(isBitwise && isSigned(type));
    checker.demand(isValid, 'INTEGER_OP_TYPE_MISMATCH_ERROR');
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

const SIMPLE_TYPE_RULES: TypeRules = { ...CONTROL_RULES, ...PLACE_RULES, ...NUMBER_RULES };

interface NamedStruct {
  readonly definition: StructDefinition;
  readonly variant: number | undefined;
  readonly typeArguments: readonly Type[];
  readonly type: Type;
}

function namedStruct(checker: TypeChecker, instruction: Instruction): NamedStruct {
  const { definition, variant, signature } = structSubject(checker.binary, instruction);
  const handle = checker.binary.structHandles[definition.handle]!;
  const typeArguments = checker.typeArguments(signature, handle);
  const type = checker.types.struct(definition.handle, typeArguments);
  return { definition, variant, typeArguments, type };
}

function fieldTypes(checker: TypeChecker, struct: NamedStruct): readonly Type[] {
  const { definition, variant, typeArguments } = struct;
  const kind = variant === undefined ? 'struct' : 'enum';
  checker.demand(definition.kind === kind, 'PACK_TYPE_MISMATCH_ERROR');
  const { types } = checker;
  return fieldsOf(definition, variant).map(({ type }) =>
    types.substitute(types.of(type), typeArguments),
  );
}

const pack: TypeRule = (checker, instruction) => {
  const struct = namedStruct(checker, instruction);
  for (const type of [...fieldTypes(checker, struct)].reverse()) {
    checker.expectAssignable(type, 'PACK_TYPE_MISMATCH_ERROR');
  }
  checker.push(struct.type);
};

const unpack: TypeRule = (checker, instruction) => {
  const struct = namedStruct(checker, instruction);
  checker.expect(struct.type, 'UNPACK_TYPE_MISMATCH_ERROR');
  for (const type of fieldTypes(checker, struct)) checker.push(type);
};

const testVariant: TypeRule = (checker, instruction) => {
  const { definition, signature } = structSubject(checker.binary, instruction);
  // These type arguments cost nothing.
  const typeArguments = signature === undefined ? [] : checker.types.signature(signature);
  const type = checker.types.struct(definition.handle, typeArguments);
  const { kind, parts } = checker.pop();
  const isValid = kind === 'reference' && parts[0] === type;
  checker.demand(isValid, 'TEST_VARIANT_TYPE_MISMATCH_ERROR');
  checker.pushKind('bool');
};

function borrowField(isMutable: boolean): TypeRule {
  return (checker, instruction) => {
    const { definition, signature, field } = structSubject(checker.binary, instruction);
    const { types } = checker;
    const handle = checker.binary.structHandles[definition.handle]!;
    const typeArguments = checker.typeArguments(signature, handle);
    const owner = types.struct(definition.handle, typeArguments);
    const reference = checker.pop();
    const isValid =
      reference.kind === 'reference' &&
      (reference.isMutable || !isMutable) &&
      reference.parts[0] === owner;
    checker.demand(isValid, 'BORROWFIELD_TYPE_MISMATCH_ERROR');
    const [type, ...others] = (field!.variants ?? [undefined]).map((variant) =>
      types.substitute(types.of(fieldsOf(definition, variant)[field!.field]!.type), typeArguments),
    );
    const isOneType = others.every((other) => other === type);
    checker.demand(isOneType, 'BORROWFIELD_TYPE_MISMATCH_ERROR');
    checker.push(types.referenceTo(type!, isMutable));
  };
}

const call: TypeRule = (checker, instruction) => {
  const { handle, signature } = functionSubject(checker.binary, instruction);
  const { types } = checker;
  const typeArguments = checker.typeArguments(signature, handle);
  const parameters = types.signature(handle.parameters);
  for (let place = parameters.length - 1; place >= 0; place -= 1) {
    const type = types.substitute(parameters[place]!, typeArguments);
    checker.expectAssignable(type, 'CALL_TYPE_MISMATCH_ERROR');
  }
  for (const type of types.signature(handle.return)) {
    checker.push(types.substitute(type, typeArguments));
  }
};

const packClosure: TypeRule = (checker, instruction) => {
  const { handle, signature } = functionSubject(checker.binary, instruction);
  const { mask = 0n } = instruction;
  const { types } = checker;
  const typeArguments = checker.typeArguments(signature, handle);
  const isPersistent = handle.attributes.some(({ code }) => code === PERSISTENT);
  let abilities = COPY | DROP | (isPersistent ? STORE : 0);
  const parameters = types.signature(handle.parameters);
  for (let place = parameters.length - 1; place >= 0; place -= 1) {
    if (!isCaptured(mask, place)) continue;
    const captured = checker.pop();
    abilities &= checker.abilitiesOf(captured);
    const type = types.substitute(parameters[place]!, typeArguments);
    checker.demand(isAssignable(type, captured), 'PACK_TYPE_MISMATCH_ERROR');
    checker.demand(type.kind !== 'reference', 'PACK_TYPE_MISMATCH_ERROR');
  }
  const substitute = (type: Type) => types.substitute(type, typeArguments);
  const left = parameters.filter((_, place) => !isCaptured(mask, place)).map(substitute);
  const results = types.signature(handle.return).map(substitute);
  checker.push(types.functionType(left, results, abilities));
};

const callClosure: TypeRule = (checker, { operand }) => {
  const type = checker.oneType(operand as number, 'CLOSURE_CALL_REQUIRES_FUNCTION');
  checker.demand(type.kind === 'function', 'CLOSURE_CALL_REQUIRES_FUNCTION');
  checker.expectAssignable(type, 'CALL_TYPE_MISMATCH_ERROR');
  for (let place = type.index - 1; place >= 0; place -= 1) {
    checker.expectAssignable(type.parts[place]!, 'CALL_TYPE_MISMATCH_ERROR');
  }
  for (const result of type.parts.slice(type.index)) checker.push(result);
};

const exists: TypeRule = (checker, instruction) => {
  const { type } = namedStruct(checker, instruction);
  checker.demandAbility(type, KEY, 'EXISTS_WITHOUT_KEY_ABILITY_OR_BAD_ARGUMENT');
  checker.expectKind('address', 'EXISTS_WITHOUT_KEY_ABILITY_OR_BAD_ARGUMENT');
  checker.pushKind('bool');
};

const moveFrom: TypeRule = (checker, instruction) => {
  const { type } = namedStruct(checker, instruction);
  checker.demandAbility(type, KEY, 'MOVEFROM_WITHOUT_KEY_ABILITY');
  checker.expectKind('address', 'MOVEFROM_TYPE_MISMATCH_ERROR');
  checker.push(type);
};

const moveTo: TypeRule = (checker, instruction) => {
  const { type } = namedStruct(checker, instruction);
  checker.demandAbility(type, KEY, 'MOVETO_WITHOUT_KEY_ABILITY');
  checker.expect(type, 'MOVETO_TYPE_MISMATCH_ERROR');
  const signer = checker.types.referenceTo(checker.types.primitive('signer'), false);
  checker.expect(signer, 'MOVETO_TYPE_MISMATCH_ERROR');
};

function borrowGlobal(isMutable: boolean): TypeRule {
  return (checker, instruction) => {
    const { type } = namedStruct(checker, instruction);
    checker.expectKind('address', 'BORROWGLOBAL_TYPE_MISMATCH_ERROR');
    checker.demandAbility(type, KEY, 'BORROWGLOBAL_WITHOUT_KEY_ABILITY');
    checker.push(checker.types.referenceTo(type, isMutable));
  };
}

const MISMATCH: StatusName = 'TYPE_MISMATCH';

function elementOf(checker: TypeChecker, { operand }: Instruction): Type {
  const element = checker.oneType(operand as number, 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
  checker.demand(element.kind !== 'reference', 'INVALID_SIGNATURE_TOKEN');
  return element;
}

function expectVector(checker: TypeChecker, element: Type, isMutable: boolean): void {
  const reference = checker.pop();
  const isValid =
    reference.kind === 'reference' &&
    (reference.isMutable || !isMutable) &&
    reference.parts[0] === checker.types.vectorOf(element);
  checker.demand(isValid, MISMATCH);
}

function borrowElement(isMutable: boolean): TypeRule {
  return (checker, instruction) => {
    const element = elementOf(checker, instruction);
    checker.expectKind('u64', MISMATCH);
    expectVector(checker, element, isMutable);
    checker.push(checker.types.referenceTo(element, isMutable));
  };
}

const VECTOR_RULES: TypeRules = {
  VecPack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    for (let left = Number(instruction.count); left > 0; left -= 1) {
      checker.expectAssignable(element, MISMATCH);
    }
    checker.pushPackedVector(checker.types.vectorOf(element));
  },
  VecLen: (checker, instruction) => {
    expectVector(checker, elementOf(checker, instruction), false);
    checker.pushKind('u64');
  },
  VecImmBorrow: borrowElement(false),
  VecMutBorrow: borrowElement(true),
  VecPushBack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    checker.expectAssignable(element, MISMATCH);
    expectVector(checker, element, true);
  },
  VecPopBack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    expectVector(checker, element, true);
    checker.push(element);
  },
  VecUnpack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    checker.expect(checker.types.vectorOf(element), MISMATCH);
    for (let left = Number(instruction.count); left > 0; left -= 1) checker.push(element);
  },
  VecSwap: (checker, instruction) => {
    checker.expectKind('u64', MISMATCH);
    checker.expectKind('u64', MISMATCH);
    expectVector(checker, elementOf(checker, instruction), true);
  },
};

const STRUCTURE_TYPE_RULES: TypeRules = {
  ...VECTOR_RULES,
  ...withGeneric('Pack', pack),
  ...withGeneric('PackVariant', pack),
  ...withGeneric('Unpack', unpack),
  ...withGeneric('UnpackVariant', unpack),
  ...withGeneric('TestVariant', testVariant),
  ...withGeneric('MutBorrowField', borrowField(true)),
  ...withGeneric('ImmBorrowField', borrowField(false)),
  ...withGeneric('MutBorrowVariantField', borrowField(true)),
  ...withGeneric('ImmBorrowVariantField', borrowField(false)),
  ...withGeneric('Call', call),
  ...withGeneric('PackClosure', packClosure),
  CallClosure: callClosure,
  ...withGeneric('Exists', exists),
  ...withGeneric('MutBorrowGlobal', borrowGlobal(true)),
  ...withGeneric('ImmBorrowGlobal', borrowGlobal(false)),
  ...withGeneric('MoveFrom', moveFrom),
  ...withGeneric('MoveTo', moveTo),
};

/** A rule for an instruction with and without type arguments. */
function withGeneric(name: string, rule: TypeRule): TypeRules {
  return { [name]: rule, [`${name}Generic`]: rule };
}

const RULES = byOpcode<TypeRule>({ ...SIMPLE_TYPE_RULES, ...STRUCTURE_TYPE_RULES });

/** Unreachable code is checked too. @throws VmError */
export function checkTypes(view: FunctionView, meter: VerifierMeter): void {
  const checker = new TypeChecker(view, meter);
  for (const instruction of view.code) applyTypeRule(checker, instruction);
}

/** Pops the types that an instruction needs and pushes those of its results. @throws VmError */
export function applyTypeRule(checker: TypeChecker, instruction: Instruction): void {
  RULES[instruction.opcode]!(checker, instruction);
}
