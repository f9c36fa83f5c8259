/** Types while code runs: one object for each type of a program, so types are equal when they are the same object. */
import type { PrimitiveKind, TypeTag } from '../../move/types/type-tag.ts';

export class VmType {
  /** Counted in the program, from 0. */
  readonly id: number;
  readonly tag: TypeTag;
  /** The element of a vector, the type arguments of a struct, what a function type is made of; none of others. */
  readonly parts: readonly VmType[];
  /** Types that it is made of, itself included. */
  readonly nodes: number;
  readonly depth: number;
  /** Once `Program.layout` has made it. */
  layout: Layout | undefined;
  /** Nesting of its values, function values not looked into; once the layout is made. */
  layoutDepth = 0;

  constructor(id: number, tag: TypeTag, parts: readonly VmType[]) {
    this.id = id;
    this.tag = tag;
    this.parts = parts;
    let nodes = 1;
    let depth = 0;
    for (const part of parts) {
      nodes += part.nodes;
      depth = Math.max(depth, part.depth);
    }
    this.nodes = nodes;
    this.depth = depth + 1;
  }
}

export interface LayoutField {
  readonly name: string;
  readonly layout: Layout;
}

interface LayoutVariant {
  readonly name: string;
  readonly fields: readonly LayoutField[];
}

/**
 * How the values of a type are made of others: for BCS, for printing, for checks of depth. Parts of the same type are
 * the same object. `type` is absent in layouts that a stored closure contains.
 */
export type Layout =
  | { readonly kind: PrimitiveKind }
  /** `vector<u8>`. */
  | { readonly kind: 'bytes' }
  | { readonly kind: 'vector'; readonly element: Layout }
  | {
      readonly kind: 'struct';
      readonly type?: VmType;
      readonly fields: readonly LayoutField[];
    }
  | {
      readonly kind: 'enum';
      readonly type?: VmType;
      readonly variants: readonly LayoutVariant[];
    }
  /** A closure, which contains the layouts of its captured values (docs/spec/move.md §4.5). */
  | { readonly kind: 'function' };
