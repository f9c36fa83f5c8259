/** How the values of a type are made of others: for BCS, for printing, for checks of depth. */
import type { PrimitiveKind } from '../../move/types/type-tag.ts';
import type { VmType } from './vm-type.ts';

export interface LayoutField {
  readonly name: string;
  readonly layout: Layout;
}

export interface LayoutVariant {
  readonly name: string;
  readonly fields: readonly LayoutField[];
}

/** Parts of the same type are the same object. */
export type Layout =
  | { readonly kind: PrimitiveKind }
  /** `vector<u8>`. */
  | { readonly kind: 'bytes' }
  | { readonly kind: 'vector'; readonly element: Layout }
  | { readonly kind: 'struct'; readonly type: VmType; readonly fields: readonly LayoutField[] }
  | { readonly kind: 'enum'; readonly type: VmType; readonly variants: readonly LayoutVariant[] }
  /** A closure, which contains the layouts of its captured values (docs/spec/move.md §4.5). */
  | { readonly kind: 'function' };
