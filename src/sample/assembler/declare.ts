/**
 * Declared Move modules: the interface of a module (structs, enums, functions, attributes) as plain values, and code
 * where a function has some. `declare-parse.ts` reads them from a small text language close to Move's own;
 * `assemble.ts` turns them into compiled modules. A declaration contains what docs/spec/move.md §2 shows in an ABI, and
 * the metadata of §2.3.
 */
import { MoveError } from '../../move/errors.ts';
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
  /** Attributes of its handle: only the functions of public structs have some (see public-struct.ts). */
  readonly handleAttributes: readonly FunctionAttribute[];
  /** Absent for functions that are declared only: they abort. */
  readonly body?: DeclaredBody | undefined;
}

export interface DeclaredBody {
  /** Names of the module's structs that it reads or changes in global storage. */
  readonly acquires: readonly string[];
  /** Types of the locals that follow the parameters. */
  readonly locals: readonly MoveType[];
  readonly instructions: readonly DeclaredInstruction[];
}

/** An instruction whose operand is not yet an index of a table. */
export interface DeclaredInstruction {
  readonly opcode: number;
  readonly operand: DeclaredOperand;
  /** Number of elements of VecPack and VecUnpack, mask of PackClosure. */
  readonly second?: bigint | undefined;
}

export type DeclaredOperand =
  | { readonly kind: 'none' }
  /** A local, a place in the code, or an immediate. */
  | { readonly kind: 'number'; readonly value: bigint }
  | { readonly kind: 'signature'; readonly types: readonly MoveType[] }
  | DeclaredMember
  | {
      readonly kind: 'function';
      readonly module: ModuleId;
      readonly name: string;
      readonly typeArguments: readonly MoveType[];
    }
  | { readonly kind: 'constant'; readonly type: MoveType; readonly data: Uint8Array };

/** A struct of the module itself, or its variants, or a field of either. */
export interface DeclaredMember {
  readonly kind: 'member';
  readonly struct: MoveStructTag;
  readonly variants: readonly string[];
  readonly field: string | undefined;
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
  /** Those that were declared, then those that let other modules use public structs. */
  readonly functions: readonly DeclaredFunction[];
}

/** Addresses that a text may use by name: `market::journal` instead of `0xc0ffee::journal`. */
export type NamedAddresses = ReadonlyMap<string, Address>;

type DeclarationErrorCode =
  | 'unexpected_token'
  | 'unknown_name'
  | 'duplicate_name'
  | 'bad_arity'
  | 'needs_newer_bytecode';

/** A declaration text that does not read or does not assemble; `line` counts from 1, 0 when unknown. */
export class DeclarationError extends MoveError<DeclarationErrorCode> {
  readonly line: number;

  constructor(code: DeclarationErrorCode, detail: string, line = 0) {
    super(code, line === 0 ? detail : `${detail} on line ${line}`);
    this.line = line;
  }
}

/** Default bytecode version of a module: the newest. */
export const DEFAULT_BYTECODE_VERSION = 10;
