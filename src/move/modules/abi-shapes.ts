/** The ABI of a module in the form that clients get (docs/spec/http.md §8.2). */
import type { Visibility } from './compiled.ts';

/** A type parameter; whether it is phantom is not shown. */
interface GenericTypeParameterAbi {
  readonly constraints: readonly string[];
}

export interface FunctionAbi {
  readonly name: string;
  readonly visibility: Visibility;
  readonly is_entry: boolean;
  readonly is_view: boolean;
  readonly generic_type_params: readonly GenericTypeParameterAbi[];
  readonly params: readonly string[];
  readonly return: readonly string[];
}

export interface FieldAbi {
  readonly name: string;
  readonly type: string;
}

export interface VariantAbi {
  readonly name: string;
  readonly fields: readonly FieldAbi[];
}

export interface StructAbi {
  readonly name: string;
  readonly is_native: boolean;
  readonly is_event: boolean;
  readonly is_enum: boolean;
  readonly abilities: readonly string[];
  readonly generic_type_params: readonly GenericTypeParameterAbi[];
  readonly fields: readonly FieldAbi[];
  readonly variants: readonly VariantAbi[];
}

export interface ModuleAbi {
  readonly address: string;
  readonly name: string;
  readonly friends: readonly string[];
  readonly exposed_functions: readonly FunctionAbi[];
  readonly structs: readonly StructAbi[];
}
