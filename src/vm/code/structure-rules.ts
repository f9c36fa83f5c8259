/** The check of instructions on structures, vectors, functions and global state. */
import type {
  FieldDefinition,
  Instruction,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import { refusedCode } from '../vm-error.ts';
import type { CheckedType } from './checked-type.ts';
import type { Checker, Rule, Rules } from './checker.ts';
import { type OperationName, PACK_COUNTS } from './operation.ts';
import { isSimple } from './simple-rules.ts';

const NO_TYPES: readonly CheckedType[] = [];
/** Arguments that a mask has bits for. */
const MASK_BITS = 64;

/** A struct definition as an instruction names it, and its type. */
interface NamedStruct {
  readonly definition: StructDefinition;
  readonly type: CheckedType;
  readonly typeArguments: readonly CheckedType[];
}

function structOf(checker: Checker, index: number, typeArguments = NO_TYPES): NamedStruct {
  const definition = checker.module.structDefinitions[index]!;
  const { typeParameters } = checker.module.structHandles[definition.handle]!;
  if (typeParameters.length !== typeArguments.length) throw refusedCode('type arguments');
  const type = checker.types.struct(definition.handle, typeArguments);
  return { definition, type, typeArguments };
}

/** Type arguments are values' types: no references. */
function typeArgumentsOf(checker: Checker, signature: number): readonly CheckedType[] {
  const types = checker.types.signature(signature);
  if (types.some(({ kind }) => kind === 'reference')) throw refusedCode('reference as argument');
  return types;
}

function genericStructOf(checker: Checker, { operand }: Instruction): NamedStruct {
  const { handle, signature } = checker.module.structInstantiations[operand as number]!;
  return structOf(checker, handle, typeArgumentsOf(checker, signature));
}

function fieldTypes(
  checker: Checker,
  fields: readonly FieldDefinition[],
  { typeArguments }: NamedStruct,
): CheckedType[] {
  return fields.map(({ type }) => {
    const checked = checker.types.of(type);
    if (checked.kind === 'reference') throw refusedCode('reference in a field');
    return checker.types.substitute(checked, typeArguments);
  });
}

function fieldsOf({ definition }: NamedStruct): readonly FieldDefinition[] {
  if (definition.kind !== 'struct') throw refusedCode('not a struct');
  return definition.fields;
}

function variantFields({ definition }: NamedStruct, variant: number): readonly FieldDefinition[] {
  if (definition.kind !== 'enum') throw refusedCode('not an enum');
  return definition.variants[variant]!.fields;
}

function pack(isGeneric: boolean): Rule {
  return (checker, instruction) => {
    const struct = isGeneric
      ? genericStructOf(checker, instruction)
      : structOf(checker, instruction.operand as number);
    checker.expectAll(fieldTypes(checker, fieldsOf(struct), struct));
    checker.emit(isGeneric ? 'packGeneric' : 'pack', instruction.operand as number);
    checker.push(struct.type);
  };
}

function unpack(isGeneric: boolean): Rule {
  return (checker, instruction) => {
    const struct = isGeneric
      ? genericStructOf(checker, instruction)
      : structOf(checker, instruction.operand as number);
    const types = fieldTypes(checker, fieldsOf(struct), struct);
    checker.expect(struct.type);
    checker.emit('unpack', types.length);
    for (const type of types) checker.push(type);
  };
}

/** A variant as an instruction names it. */
interface NamedVariant {
  readonly struct: NamedStruct;
  readonly variant: number;
  /** Its place among the handles of variants. */
  readonly handle: number;
}

function variantOf(checker: Checker, operand: number, isGeneric: boolean): NamedVariant {
  const { structVariantHandles, structVariantInstantiations } = checker.module;
  if (!isGeneric) {
    const { owner, variant } = structVariantHandles[operand]!;
    return { struct: structOf(checker, owner), variant, handle: operand };
  }
  const { handle, signature } = structVariantInstantiations[operand]!;
  const { owner, variant } = structVariantHandles[handle]!;
  return {
    struct: structOf(checker, owner, typeArgumentsOf(checker, signature)),
    variant,
    handle,
  };
}

function packVariant(isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { struct, variant } = variantOf(checker, operand as number, isGeneric);
    checker.expectAll(fieldTypes(checker, variantFields(struct, variant), struct));
    checker.emit(isGeneric ? 'packVariantGeneric' : 'packVariant', operand as number);
    checker.push(struct.type);
  };
}

function unpackVariant(isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { struct, variant, handle } = variantOf(checker, operand as number, isGeneric);
    const types = fieldTypes(checker, variantFields(struct, variant), struct);
    checker.expect(struct.type);
    checker.emit('unpackVariant', handle);
    for (const type of types) checker.push(type);
  };
}

function testVariant(isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { struct, variant } = variantOf(checker, operand as number, isGeneric);
    if (checker.popReference(false) !== struct.type) throw refusedCode('variant of another enum');
    checker.emit('testVariant', variant);
    checker.pushKind('bool');
  };
}

function borrowField(isMutable: boolean, isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { fieldHandles, fieldInstantiations } = checker.module;
    let handle = operand as number;
    let typeArguments = NO_TYPES;
    if (isGeneric) {
      const instantiation = fieldInstantiations[handle]!;
      handle = instantiation.handle;
      typeArguments = typeArgumentsOf(checker, instantiation.signature);
    }
    const { owner, field } = fieldHandles[handle]!;
    const struct = structOf(checker, owner, typeArguments);
    const type = fieldTypes(checker, [fieldsOf(struct)[field]!], struct)[0]!;
    if (checker.popReference(isMutable) !== struct.type) throw refusedCode('not that struct');
    checker.emit('borrowField', field);
    checker.push(checker.types.referenceTo(type, isMutable));
  };
}

function borrowVariantField(isMutable: boolean, isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { variantFieldHandles, variantFieldInstantiations } = checker.module;
    let handle = operand as number;
    let typeArguments = NO_TYPES;
    if (isGeneric) {
      const instantiation = variantFieldInstantiations[handle]!;
      handle = instantiation.handle;
      typeArguments = typeArgumentsOf(checker, instantiation.signature);
    }
    const { owner, field, variants } = variantFieldHandles[handle]!;
    const struct = structOf(checker, owner, typeArguments);
    const fields = variants.map((variant) => variantFields(struct, variant)[field]!);
    const [type, ...others] = fieldTypes(checker, fields, struct);
    if (others.some((other) => other !== type)) throw refusedCode('fields of several types');
    if (checker.popReference(isMutable) !== struct.type) throw refusedCode('not that enum');
    checker.emit('borrowVariantField', handle);
    checker.push(checker.types.referenceTo(type!, isMutable));
  };
}

/** What a function takes and gives. */
interface CheckedSignature {
  readonly parameters: readonly CheckedType[];
  readonly results: readonly CheckedType[];
}

function signatureOf(checker: Checker, operand: number, isGeneric: boolean): CheckedSignature {
  const { functionHandles, functionInstantiations } = checker.module;
  let handleIndex = operand;
  let typeArguments = NO_TYPES;
  if (isGeneric) {
    const instantiation = functionInstantiations[operand]!;
    handleIndex = instantiation.handle;
    typeArguments = typeArgumentsOf(checker, instantiation.signature);
  }
  const handle = functionHandles[handleIndex]!;
  if (handle.typeParameters.length !== typeArguments.length) throw refusedCode('type arguments');
  const substituted = (signature: number) =>
    checker.types.signature(signature).map((type) => checker.types.substitute(type, typeArguments));
  return { parameters: substituted(handle.parameters), results: substituted(handle.return) };
}

function call(isGeneric: boolean): Rule {
  return (checker, { operand }) => {
    const { parameters, results } = signatureOf(checker, operand as number, isGeneric);
    checker.expectAll(parameters);
    checker.emit(isGeneric ? 'callGeneric' : 'call', operand as number);
    for (const type of results) checker.push(type);
  };
}

function packClosure(isGeneric: boolean): Rule {
  return (checker, { operand, mask = 0n }) => {
    const { parameters, results } = signatureOf(checker, operand as number, isGeneric);
    const isCaptured = (index: number) =>
      index < MASK_BITS && ((mask >> BigInt(index)) & 1n) === 1n;
    const captured = parameters.filter((_, index) => isCaptured(index));
    if (mask >> BigInt(parameters.length) !== 0n) throw refusedCode('mask beyond the parameters');
    if (captured.some(({ kind }) => kind === 'reference')) throw refusedCode('reference captured');
    checker.expectAll(captured);
    const site = { target: operand as number, mask, capturedCount: captured.length };
    const place = checker.closures.push(site) - 1;
    checker.emit(isGeneric ? 'packClosureGeneric' : 'packClosure', place);
    const given = parameters.filter((_, index) => !isCaptured(index));
    checker.push(checker.types.functionType(given, results));
  };
}

function callClosure(checker: Checker, { operand }: Instruction): void {
  const [type, ...others] = checker.types.signature(operand as number);
  if (type?.kind !== 'function' || others.length > 0) throw refusedCode('not a function type');
  checker.expect(type);
  checker.expectAll(type.parts.slice(0, type.index));
  checker.emit('callClosure', operand as number);
  for (const result of type.parts.slice(type.index)) checker.push(result);
}

type GlobalOperation = 'exists' | 'borrowGlobal' | 'moveFrom' | 'moveTo';

function global(
  operation: GlobalOperation,
  isGeneric: boolean,
  check: (checker: Checker, type: CheckedType) => void,
): Rule {
  return (checker, instruction) => {
    const { type } = isGeneric
      ? genericStructOf(checker, instruction)
      : structOf(checker, instruction.operand as number);
    check(checker, type);
    const name: OperationName = isGeneric ? `${operation}Generic` : operation;
    checker.emit(name, instruction.operand as number);
  };
}

function exists(checker: Checker): void {
  checker.expectKind('address');
  checker.pushKind('bool');
}

function borrowGlobal(isMutable: boolean): (checker: Checker, type: CheckedType) => void {
  return (checker, type) => {
    checker.expectKind('address');
    checker.push(checker.types.referenceTo(type, isMutable));
  };
}

function moveFrom(checker: Checker, type: CheckedType): void {
  checker.expectKind('address');
  checker.push(type);
}

function moveTo(checker: Checker, type: CheckedType): void {
  checker.expect(type);
  const signer = checker.types.primitive('signer');
  if (checker.popReference(false) !== signer) throw refusedCode('not a signer');
}

/** The element that an instruction on a vector names. */
function elementOf(checker: Checker, { operand }: Instruction): CheckedType {
  const [element, ...others] = checker.types.signature(operand as number);
  if (element === undefined || element.kind === 'reference' || others.length > 0) {
    throw refusedCode('not one type of elements');
  }
  return element;
}

function onVector(checker: Checker, element: CheckedType, isMutable: boolean): void {
  const type = checker.popReference(isMutable);
  if (type !== checker.types.vectorOf(element)) throw refusedCode('not that vector');
}

function countOf({ count = 0n }: Instruction): number {
  if (count >= PACK_COUNTS) throw refusedCode('too many values');
  return Number(count);
}

function vecPack(checker: Checker, instruction: Instruction): void {
  const element = elementOf(checker, instruction);
  const count = countOf(instruction);
  for (let index = 0; index < count; index += 1) checker.expect(element);
  if (element.kind === 'u8') checker.emit('vecPackBytes', count);
  else if (isSimple(element)) checker.emit('vecPackSimple', count);
  else checker.emit('vecPackTyped', (instruction.operand as number) * PACK_COUNTS + count);
  checker.push(checker.types.vectorOf(element));
}

function vecBorrow(isMutable: boolean): Rule {
  return (checker, instruction) => {
    const element = elementOf(checker, instruction);
    checker.expectKind('u64');
    onVector(checker, element, isMutable);
    checker.emit('vecBorrow');
    checker.push(checker.types.referenceTo(element, isMutable));
  };
}

const VECTOR_RULES: Rules = {
  VecPack: vecPack,
  VecLen: (checker, instruction) => {
    onVector(checker, elementOf(checker, instruction), false);
    checker.emit('vecLen');
    checker.pushKind('u64');
  },
  VecImmBorrow: vecBorrow(false),
  VecMutBorrow: vecBorrow(true),
  VecPushBack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    checker.expect(element);
    onVector(checker, element, true);
    checker.emit('vecPushBack');
  },
  VecPopBack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    onVector(checker, element, true);
    checker.emit('vecPopBack');
    checker.push(element);
  },
  VecUnpack: (checker, instruction) => {
    const element = elementOf(checker, instruction);
    const count = countOf(instruction);
    checker.expect(checker.types.vectorOf(element));
    checker.emit('vecUnpack', count);
    for (let index = 0; index < count; index += 1) checker.push(element);
  },
  VecSwap: (checker, instruction) => {
    checker.expectKind('u64');
    checker.expectKind('u64');
    onVector(checker, elementOf(checker, instruction), true);
    checker.emit('vecSwap');
  },
};

export const STRUCTURE_RULES: Rules = {
  ...VECTOR_RULES,
  Pack: pack(false),
  PackGeneric: pack(true),
  Unpack: unpack(false),
  UnpackGeneric: unpack(true),
  PackVariant: packVariant(false),
  PackVariantGeneric: packVariant(true),
  UnpackVariant: unpackVariant(false),
  UnpackVariantGeneric: unpackVariant(true),
  TestVariant: testVariant(false),
  TestVariantGeneric: testVariant(true),
  MutBorrowField: borrowField(true, false),
  ImmBorrowField: borrowField(false, false),
  MutBorrowFieldGeneric: borrowField(true, true),
  ImmBorrowFieldGeneric: borrowField(false, true),
  MutBorrowVariantField: borrowVariantField(true, false),
  ImmBorrowVariantField: borrowVariantField(false, false),
  MutBorrowVariantFieldGeneric: borrowVariantField(true, true),
  ImmBorrowVariantFieldGeneric: borrowVariantField(false, true),
  Call: call(false),
  CallGeneric: call(true),
  PackClosure: packClosure(false),
  PackClosureGeneric: packClosure(true),
  CallClosure: callClosure,
  Exists: global('exists', false, exists),
  ExistsGeneric: global('exists', true, exists),
  MutBorrowGlobal: global('borrowGlobal', false, borrowGlobal(true)),
  MutBorrowGlobalGeneric: global('borrowGlobal', true, borrowGlobal(true)),
  ImmBorrowGlobal: global('borrowGlobal', false, borrowGlobal(false)),
  ImmBorrowGlobalGeneric: global('borrowGlobal', true, borrowGlobal(false)),
  MoveFrom: global('moveFrom', false, moveFrom),
  MoveFromGeneric: global('moveFrom', true, moveFrom),
  MoveTo: global('moveTo', false, moveTo),
  MoveToGeneric: global('moveTo', true, moveTo),
};
