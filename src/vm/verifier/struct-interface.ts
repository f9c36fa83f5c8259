/**
 * Checks that the interface functions of a public struct do exactly what their names and attributes say
 * (docs/spec/verifier.md §3.10).
 */
import type {
  CompiledModule,
  FunctionDefinition,
  FunctionHandle,
  Instruction,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import { VERSION_10_STRUCT_ATTRIBUTES } from '../../move/modules/format.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import { hasAll, KEY } from '../../move/types/abilities.ts';
import { VmError } from '../status/status.ts';
import {
  BORROW,
  BORROW_MUT,
  fieldsOf,
  PACK,
  PACK_VARIANT,
  type StructSubject,
  structSubject,
  TEST_VARIANT,
  UNPACK,
  UNPACK_VARIANT,
} from './model/instructions.ts';
import type { Type, TypeTable } from './model/type-table.ts';

interface InterfaceKind {
  /** Start of the function's name, before `$` and the name of the struct. */
  readonly prefix: string;
  /** The one instruction between taking the arguments and `Ret`, without type arguments. */
  readonly instructions: readonly string[];
}

const KINDS: ReadonlyMap<number, InterfaceKind> = new Map([
  [PACK, { prefix: 'pack', instructions: ['Pack'] }],
  [PACK_VARIANT, { prefix: 'pack', instructions: ['PackVariant'] }],
  [UNPACK, { prefix: 'unpack', instructions: ['Unpack'] }],
  [UNPACK_VARIANT, { prefix: 'unpack', instructions: ['UnpackVariant'] }],
  [TEST_VARIANT, { prefix: 'test_variant', instructions: ['TestVariant'] }],
  [BORROW, { prefix: 'borrow', instructions: ['ImmBorrowField', 'ImmBorrowVariantField'] }],
  [BORROW_MUT, { prefix: 'borrow_mut', instructions: ['MutBorrowField', 'MutBorrowVariantField'] }],
]);
const PREFIXES = new Set([...KINDS.values()].map(({ prefix }) => prefix));

/** @throws VmError INVALID_STRUCT_API_CODE */
export function checkStructInterface(module: CompiledModule, types: TypeTable): void {
  if (module.version < VERSION_10_STRUCT_ATTRIBUTES) return;
  for (const definition of module.functionDefinitions) {
    const handle = module.functionHandles[definition.handle]!;
    const name = module.identifiers[handle.name]!;
    const attributes = handle.attributes.filter(({ code }) => KINDS.has(code));
    const isInterfaceName = name.includes('$') && PREFIXES.has(name.slice(0, name.indexOf('$')));
    const isValid =
      attributes.length === (isInterfaceName ? 1 : 0) &&
      attributes.every(({ code, operand }) => {
        const kind = KINDS.get(code)!;
        return isInterface(module, types, { definition, handle, name, kind, operand });
      });
    if (!isValid) throw new VmError('INVALID_STRUCT_API_CODE');
  }
}

interface InterfaceFunction {
  readonly definition: FunctionDefinition;
  readonly handle: FunctionHandle;
  readonly name: string;
  readonly kind: InterfaceKind;
  /** The variant or the field of the attribute. */
  readonly operand: number | undefined;
}

function isInterface(
  module: CompiledModule,
  types: TypeTable,
  { definition, handle, name, kind, operand }: InterfaceFunction,
): boolean {
  const code = definition.code?.code ?? [];
  const parameters = types.signature(handle.parameters);
  const instruction = code[parameters.length];
  if (instruction === undefined || code.length !== parameters.length + 2) return false;
  const movesAllParameters = parameters.every(
    (_, place) => isInstruction(code[place]!, 'MoveLoc') && code[place]!.operand === place,
  );
  const opcode = kind.instructions.find(
    (one) => isInstruction(instruction, one) || isInstruction(instruction, `${one}Generic`),
  );
  if (!movesAllParameters || opcode === undefined || !isInstruction(code.at(-1)!, 'Ret'))
    return false;
  const subject = structSubject(module, instruction);
  const struct = module.structHandles[subject.definition.handle]!;
  const { popped, pushed } = typesOf(types, subject, opcode);
  return (
    !hasAll(struct.abilities, KEY) &&
    struct.typeParameters.length === handle.typeParameters.length &&
    (subject.variant ?? subject.field?.field) === operand &&
    nameOf(module, types, subject, kind) === name &&
    hasAllVariants(types, subject) &&
    isSame(popped, parameters) &&
    isSame(pushed, types.signature(handle.return))
  );
}

function isInstruction({ opcode }: Instruction, name: string): boolean {
  return OPCODES[opcode]!.name === name;
}

/** The name of a subject's function: `pack$S`, `unpack$E$V`, `borrow$S$1`, `borrow_mut$E$1$0`. */
function nameOf(
  { structHandles, identifiers }: CompiledModule,
  types: TypeTable,
  { definition, variant, field }: StructSubject,
  { prefix }: InterfaceKind,
): string {
  const name = `${prefix}$${identifiers[structHandles[definition.handle]!.name]}`;
  if (variant !== undefined && definition.kind === 'enum') {
    return `${name}$${identifiers[definition.variants[variant]!.name]}`;
  }
  if (field === undefined) return name;
  if (field.variants === undefined) return `${name}$${field.field}`;
  const order = typesAt(types, definition, field.field).indexOf(
    types.of(fieldsOf(definition, field.variants[0])[field.field]!.type),
  );
  return `${name}$${field.field}$${order}`;
}

/** The distinct types of the variants' fields at an index. */
function typesAt(types: TypeTable, definition: StructDefinition, place: number): Type[] {
  const variants = definition.kind === 'enum' ? definition.variants : [];
  const fields = variants.flatMap(({ fields }) => fields[place] ?? []);
  return [...new Set(fields.map(({ type }) => types.of(type)))];
}

function hasAllVariants(types: TypeTable, { definition, field }: StructSubject): boolean {
  if (field?.variants === undefined || definition.kind !== 'enum') return true;
  const { variants } = field;
  const typeIn = (variant: number) => {
    const found = fieldsOf(definition, variant)[field.field];
    return found && types.of(found.type);
  };
  const type = typeIn(variants[0]!);
  const all = definition.variants.flatMap((_, variant) =>
    typeIn(variant) === type ? variant : [],
  );
  return all.length === variants.length && all.every((variant) => variants.includes(variant));
}

interface StackTypes {
  readonly popped: readonly Type[];
  readonly pushed: readonly Type[];
}

function typesOf(types: TypeTable, subject: StructSubject, opcode: string): StackTypes {
  const { definition, variant, field, signature } = subject;
  const typeArguments = signature === undefined ? [] : types.signature(signature);
  const self = types.struct(definition.handle, typeArguments);
  const fieldTypes = fieldsOf(definition, variant ?? field?.variants?.[0]).map(({ type }) =>
    types.substitute(types.of(type), typeArguments),
  );
  if (opcode === 'TestVariant') {
    return { popped: [types.referenceTo(self, false)], pushed: [types.primitive('bool')] };
  }
  if (field !== undefined) {
    const referenceTo = (type: Type) => types.referenceTo(type, opcode.startsWith('Mut'));
    return { popped: [referenceTo(self)], pushed: [referenceTo(fieldTypes[field.field]!)] };
  }
  const isPack = opcode.startsWith('Pack');
  return { popped: isPack ? fieldTypes : [self], pushed: isPack ? [self] : fieldTypes };
}

function isSame(types: readonly Type[], others: readonly Type[]): boolean {
  return types.length === others.length && types.every((type, place) => type === others[place]);
}
