/**
 * Declared Move modules: the interface of a module (structs, enums, functions, attributes) as plain values, and the
 * code of the functions that have a body. `declare-parse.ts` reads them from a small text language close to Move's own;
 * `assemble.ts` turns them into compiled modules. A declaration contains what docs/spec/move.md §2 shows in an ABI, and
 * the metadata of §2.3.
 */
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type { FunctionAttribute, Visibility } from '../../move/modules/compiled.ts';
import type { MetadataAttribute } from '../../move/modules/metadata.ts';
import type { Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveStructTag, MoveType } from '../../move/types/move-type.ts';
import type { AbilitySet } from '../../move/types/type-tag.ts';

export interface DeclaredTypeParameter {
  readonly name: string;
  readonly constraints: AbilitySet;
  /** Only struct type parameters can be phantom. */
  readonly isPhantom: boolean;
}

export interface DeclaredField {
  readonly name: string;
  readonly type: MoveType;
}

export interface DeclaredVariant {
  readonly name: string;
  readonly fields: readonly DeclaredField[];
}

export interface DeclaredStruct {
  readonly name: string;
  readonly abilities: AbilitySet;
  readonly typeParameters: readonly DeclaredTypeParameter[];
  readonly body:
    | { readonly kind: 'struct'; readonly fields: readonly DeclaredField[] }
    | { readonly kind: 'enum'; readonly variants: readonly DeclaredVariant[] };
  readonly attributes: readonly MetadataAttribute[];
}

export interface DeclaredFunction {
  readonly name: string;
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
  readonly typeParameters: readonly DeclaredTypeParameter[];
  readonly parameters: readonly MoveType[];
  readonly results: readonly MoveType[];
  readonly attributes: readonly MetadataAttribute[];
  /** Attributes of its handle. Only the functions of public structs have any (see public-struct.ts). */
  readonly handleAttributes: readonly FunctionAttribute[];
  /** Absent for functions that are only declared, which abort. */
  readonly body?: DeclaredBody | undefined;
}

export interface DeclaredBody {
  /** Names of the module's structs that it reads or changes in global storage. */
  readonly acquires: readonly string[];
  /** Types of the locals that follow the parameters. */
  readonly locals: readonly MoveType[];
  readonly instructions: readonly DeclaredInstruction[];
}

/** An instruction whose operands get their indices when the module is assembled. */
export interface DeclaredInstruction {
  readonly opcode: number;
  readonly writeOperands: (writer: BcsWriter, indices: CodeIndices) => unknown;
}

/** Looks up the indices of the items that code names in the tables of its module. */
export interface CodeIndices {
  signature(types: readonly MoveType[]): number;
  constant(type: MoveType, data: Uint8Array): number;
  function(module: ModuleId, name: string, typeArguments: readonly MoveType[]): number;
  /** A struct of the module itself, or its variants, or a field of either. */
  member(struct: MoveStructTag, variants: readonly string[], field: string | undefined): number;
}

/** An abort code with its name and description, for the module's error map. */
export interface DeclaredError {
  readonly abortCode: bigint;
  readonly name: string;
  readonly description: string;
}

export interface ModuleDeclaration extends ModuleId {
  /** 5 to 10. */
  readonly bytecodeVersion: number;
  readonly friends: readonly ModuleId[];
  readonly errors: readonly DeclaredError[];
  readonly structs: readonly DeclaredStruct[];
  /** The declared functions, then those that let other modules use public structs. */
  readonly functions: readonly DeclaredFunction[];
}

/** Addresses that a text may use by name: `market::journal` instead of `0xc0ffee::journal`. */
export type NamedAddresses = ReadonlyMap<string, Address>;

/** The error for a text that cannot be parsed or assembled. @param line counts from 1 */
export function declarationError(detail: string, line?: number): RangeError {
  return new RangeError(line === undefined ? detail : `${detail} on line ${line}`);
}

export const DEFAULT_BYTECODE_VERSION = 10;
