/**
 * The parts of a compiled module or script, as its tables hold them (docs/spec/move.md §1). Every `…Handle`,
 * `name`, `address` and signature field that is a number is an index into the table of that kind.
 */
import type { Address } from '../types/address.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { AbilitySet, PrimitiveKind } from '../types/type-tag.ts';

/** A type inside a binary (docs/spec/move.md §1.6). */
export type SignatureToken =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: SignatureToken }
  | { readonly kind: 'vector'; readonly element: SignatureToken }
  | { readonly kind: 'typeParameter'; readonly index: number }
  /** A struct; `instantiated` tells which of the two codes it had (0x08 or 0x0B). */
  | {
      readonly kind: 'struct';
      readonly handle: number;
      readonly instantiated: boolean;
      readonly typeArguments: readonly SignatureToken[];
    }
  | {
      readonly kind: 'function';
      readonly args: readonly SignatureToken[];
      readonly results: readonly SignatureToken[];
      readonly abilities: AbilitySet;
    };

export interface ModuleHandle {
  readonly address: number;
  readonly name: number;
}

export interface StructTypeParameter {
  readonly constraints: AbilitySet;
  readonly isPhantom: boolean;
}

export interface StructHandle {
  readonly module: number;
  readonly name: number;
  readonly abilities: AbilitySet;
  readonly typeParameters: readonly StructTypeParameter[];
}

export interface FunctionHandle {
  readonly module: number;
  readonly name: number;
  readonly parameters: number;
  readonly return: number;
  readonly typeParameters: readonly AbilitySet[];
  /** Absent below version 7. */
  readonly accessSpecifiers?: readonly AccessSpecifier[] | undefined;
  readonly attributes: readonly FunctionAttribute[];
}

export interface AccessSpecifier {
  readonly access: 'reads' | 'writes';
  readonly negated: boolean;
  readonly resource:
    | { readonly kind: 'any' }
    | { readonly kind: 'address'; readonly address: number }
    | { readonly kind: 'module'; readonly module: number }
    | { readonly kind: 'struct'; readonly struct: number }
    | { readonly kind: 'structInstantiation'; readonly struct: number; readonly signature: number };
  readonly address:
    | { readonly kind: 'any' }
    | { readonly kind: 'literal'; readonly address: number }
    | { readonly kind: 'local'; readonly local: number; readonly function?: number | undefined };
}

/** A function attribute (docs/spec/move.md §1.5): its code and, for some, a variant index or field offset. */
export interface FunctionAttribute {
  readonly code: number;
  readonly operand?: number | undefined;
}

export interface Instantiation {
  readonly handle: number;
  readonly signature: number;
}

interface Constant {
  readonly type: SignatureToken;
  readonly data: Uint8Array;
}

export interface MetadataEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface FieldDefinition {
  readonly name: number;
  readonly type: SignatureToken;
}

export interface VariantDefinition {
  readonly name: number;
  readonly fields: readonly FieldDefinition[];
}

export type StructDefinition =
  | { readonly kind: 'native'; readonly handle: number }
  | {
      readonly kind: 'struct';
      readonly handle: number;
      readonly fields: readonly FieldDefinition[];
    }
  | {
      readonly kind: 'enum';
      readonly handle: number;
      readonly variants: readonly VariantDefinition[];
    };

interface FieldHandle {
  readonly owner: number;
  readonly field: number;
}

interface VariantFieldHandle {
  readonly owner: number;
  readonly field: number;
  readonly variants: readonly number[];
}

interface StructVariantHandle {
  readonly owner: number;
  readonly variant: number;
}

/** One instruction: its opcode and its operands (docs/spec/move.md §1.9, src/move/modules/opcodes.ts). */
export interface Instruction {
  readonly opcode: number;
  /** An index, or an immediate: a number up to 32 bits, a bigint above. */
  readonly operand?: number | bigint | undefined;
  /** Second operand of VecPack and VecUnpack: the number of elements, a u64. */
  readonly count?: bigint | undefined;
  /** Second operand of PackClosure and PackClosureGeneric: bit i = argument i is captured, a u64. */
  readonly mask?: bigint | undefined;
}

export interface CodeUnit {
  readonly locals: number;
  readonly code: readonly Instruction[];
}

export type Visibility = 'private' | 'public' | 'friend';

export interface FunctionDefinition {
  readonly handle: number;
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
  readonly acquires: readonly number[];
  /** Absent for native functions. */
  readonly code?: CodeUnit | undefined;
}

/** Tables that modules and scripts share. */
export interface BinaryTables {
  /** The version word as written, flag bits included. */
  readonly versionWord: number;
  /** 1 to 10. */
  readonly version: number;
  readonly moduleHandles: readonly ModuleHandle[];
  readonly structHandles: readonly StructHandle[];
  readonly functionHandles: readonly FunctionHandle[];
  readonly functionInstantiations: readonly Instantiation[];
  readonly signatures: readonly (readonly SignatureToken[])[];
  readonly identifiers: readonly string[];
  readonly addresses: readonly Address[];
  readonly constants: readonly Constant[];
  readonly metadata: readonly MetadataEntry[];
}

export interface CompiledModule extends BinaryTables {
  readonly kind: 'module';
  /** `contentDigest` of the bytes that it was read from; only modules that `loadModule` loaded have it. */
  readonly digest?: string;
  /** Number of bytes that it was read from; also set only for such modules. */
  readonly sizeBytes?: number;
  readonly selfHandle: number;
  readonly structDefinitions: readonly StructDefinition[];
  readonly structInstantiations: readonly Instantiation[];
  readonly functionDefinitions: readonly FunctionDefinition[];
  readonly fieldHandles: readonly FieldHandle[];
  readonly fieldInstantiations: readonly Instantiation[];
  readonly friends: readonly ModuleHandle[];
  readonly variantFieldHandles: readonly VariantFieldHandle[];
  readonly variantFieldInstantiations: readonly Instantiation[];
  readonly structVariantHandles: readonly StructVariantHandle[];
  readonly structVariantInstantiations: readonly Instantiation[];
}

export interface CompiledScript extends BinaryTables {
  readonly kind: 'script';
  readonly typeParameters: readonly AbilitySet[];
  readonly parameters: number;
  /** Absent below version 8. */
  readonly accessSpecifiers?: readonly AccessSpecifier[] | undefined;
  readonly code: CodeUnit;
}

/** What a loader accepts (docs/spec/move.md §1.1, §4.2). */
export interface LoaderLimits {
  /** Highest bytecode version, 5 to 10. */
  readonly maxVersion: number;
  /** Longest identifier in bytes, 255 or 65535. */
  readonly maxIdentifierBytes: number;
}

/** The limits for ABIs and script payloads. */
export const DEFAULT_LOADER_LIMITS: LoaderLimits = { maxVersion: 10, maxIdentifierBytes: 255 };

export function moduleIdOf(module: CompiledModule): ModuleId {
  return moduleIdOfHandle(module, module.moduleHandles[module.selfHandle]!);
}

export function moduleIdOfHandle(
  { addresses, identifiers }: BinaryTables,
  { address, name }: ModuleHandle,
): ModuleId {
  return { address: addresses[address]!, name: identifiers[name]! };
}

/** The declaring module and the name of a struct handle. */
export function structPathOfHandle(
  tables: BinaryTables,
  handle: number,
): { readonly module: ModuleId; readonly name: string } {
  const { module, name } = tables.structHandles[handle]!;
  return {
    module: moduleIdOfHandle(tables, tables.moduleHandles[module]!),
    name: tables.identifiers[name]!,
  };
}

export function functionNameOfHandle(tables: BinaryTables, handle: number): string {
  return tables.identifiers[tables.functionHandles[handle]!.name]!;
}
