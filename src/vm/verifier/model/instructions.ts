/**
 * The subjects of instructions: a struct, a variant, a field or a function with its attributes (docs/spec/move.md
 * §1.5), with or without type arguments.
 */

import type {
  CompiledModule,
  CompiledScript,
  FieldDefinition,
  FunctionAttribute,
  FunctionHandle,
  Instruction,
  StructDefinition,
} from '../../../move/modules/compiled.ts';
import { OPCODES } from '../../../move/modules/opcodes.ts';
import { VmError } from '../../status/status.ts';

export function byOpcode<T>(byName: Readonly<Record<string, T>>): readonly (T | undefined)[] {
  return OPCODES.map((info) => (info === undefined ? undefined : byName[info.name]));
}

export function flagsByOpcode(names: readonly string[]): readonly boolean[] {
  return OPCODES.map((info) => info !== undefined && names.includes(info.name));
}

type Binary = CompiledModule | CompiledScript;

interface FieldSubject {
  readonly owner: number;
  readonly field: number;
  /** The variants that may have the field; absent for a struct. */
  readonly variants?: readonly number[];
}

export interface StructSubject {
  /** Its index among the definitions. */
  readonly definitionIndex: number;
  readonly definition: StructDefinition;
  /** Signature of the type arguments; absent when the instruction is not generic. */
  readonly signature: number | undefined;
  readonly variant: number | undefined;
  readonly field: FieldSubject | undefined;
}

function subject(
  { structDefinitions }: CompiledModule,
  definitionIndex: number,
  signature?: number,
  { variant, field }: { readonly variant?: number; readonly field?: FieldSubject } = {},
): StructSubject {
  const definition = structDefinitions[definitionIndex]!;
  return { definitionIndex, definition, signature, variant, field };
}

/**
 * The struct that an instruction names.
 * @throws VmError INVALID_OPERATION_IN_SCRIPT: scripts define no structs
 */
export function structSubject(binary: Binary, { opcode, operand }: Instruction): StructSubject {
  if (binary.kind === 'script') throw new VmError('INVALID_OPERATION_IN_SCRIPT');
  const at = operand as number;
  switch (OPCODES[opcode]!.operand) {
    case 'structInstantiation': {
      const { handle, signature } = binary.structInstantiations[at]!;
      return subject(binary, handle, signature);
    }
    case 'structVariantHandle': {
      const { owner, variant } = binary.structVariantHandles[at]!;
      return subject(binary, owner, undefined, { variant });
    }
    case 'structVariantInstantiation': {
      const { handle, signature } = binary.structVariantInstantiations[at]!;
      const { owner, variant } = binary.structVariantHandles[handle]!;
      return subject(binary, owner, signature, { variant });
    }
    case 'fieldHandle': {
      const field = binary.fieldHandles[at]!;
      return subject(binary, field.owner, undefined, { field });
    }
    case 'fieldInstantiation': {
      const { handle, signature } = binary.fieldInstantiations[at]!;
      const field = binary.fieldHandles[handle]!;
      return subject(binary, field.owner, signature, { field });
    }
    case 'variantFieldHandle': {
      const field = binary.variantFieldHandles[at]!;
      return subject(binary, field.owner, undefined, { field });
    }
    case 'variantFieldInstantiation': {
      const { handle, signature } = binary.variantFieldInstantiations[at]!;
      const field = binary.variantFieldHandles[handle]!;
      return subject(binary, field.owner, signature, { field });
    }
    default:
      return subject(binary, at);
  }
}

interface FunctionSubject {
  readonly handleIndex: number;
  readonly handle: FunctionHandle;
  /** Signature of the type arguments; absent when the instruction is not generic. */
  readonly signature: number | undefined;
}

export function functionSubject(binary: Binary, { opcode, operand }: Instruction): FunctionSubject {
  const at = operand as number;
  if (OPCODES[opcode]!.operand === 'function') {
    return { handleIndex: at, handle: binary.functionHandles[at]!, signature: undefined };
  }
  const { handle, signature } = binary.functionInstantiations[at]!;
  return { handleIndex: handle, handle: binary.functionHandles[handle]!, signature };
}

const NO_FIELDS: readonly FieldDefinition[] = [];

/** The fields of a struct or of a variant; none when the definition is not of that kind. */
export function fieldsOf(
  definition: StructDefinition,
  variant: number | undefined,
): readonly FieldDefinition[] {
  if (definition.kind === 'struct') return definition.fields;
  if (definition.kind === 'native' || variant === undefined) return NO_FIELDS;
  return definition.variants[variant]?.fields ?? NO_FIELDS;
}

export function allFields(definition: StructDefinition): readonly FieldDefinition[] {
  if (definition.kind === 'native') return NO_FIELDS;
  if (definition.kind === 'struct') return definition.fields;
  return definition.variants.flatMap(({ fields }) => fields);
}

const MASK_BITS = 64;

export function isCaptured(mask: bigint, argument: number): boolean {
  return argument < MASK_BITS && ((mask >> BigInt(argument)) & 1n) === 1n;
}

/** The function can be named by values that are stored. */
export const PERSISTENT = 1;
const MODULE_LOCK = 2;
/** Attributes of a public struct's interface: packing, unpacking, testing and borrowing. */
export const PACK = 3;
export const PACK_VARIANT = 4;
export const UNPACK = 5;
export const UNPACK_VARIANT = 6;
export const TEST_VARIANT = 7;
export const BORROW = 8;
export const BORROW_MUT = 9;

/** Whether all wanted attributes are present, except the lock, which only concerns the function itself. */
export function hasAttributes(
  present: readonly FunctionAttribute[],
  required: readonly FunctionAttribute[],
): boolean {
  return required.every(
    ({ code, operand }) =>
      code === MODULE_LOCK || present.some((one) => one.code === code && one.operand === operand),
  );
}
