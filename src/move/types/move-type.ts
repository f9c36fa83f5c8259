/**
 * Types as the interface reads and prints them in type arguments, ABIs and parameters: type tags plus references,
 * type parameters and texts that are no type (docs/spec/move.md §2.2, §3).
 */
import type { Address } from './address.ts';
import type { AbilitySet, PrimitiveKind } from './type-tag.ts';

/** `address::module::name<…>` over MoveTypes. */
export interface MoveStructTag {
  readonly address: Address;
  readonly module: string;
  readonly name: string;
  readonly typeArguments: readonly MoveType[];
}

/** Every TypeTag is a MoveType. */
export type MoveType =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'vector'; readonly element: MoveType }
  | { readonly kind: 'struct'; readonly struct: MoveStructTag }
  | {
      readonly kind: 'function';
      readonly args: readonly MoveType[];
      readonly results: readonly MoveType[];
      readonly abilities: AbilitySet;
    }
  | { readonly kind: 'typeParameter'; readonly index: number }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: MoveType }
  | { readonly kind: 'unparsable'; readonly text: string };
