/** Runtime types: a program has one object per type, so types are equal if they are the same object. */
import type { TypeTag } from '../../move/types/type-tag.ts';
import type { Layout } from '../../move/values/layout.ts';

export class VmType {
  /** Number within the program, from 0. */
  readonly id: number;
  readonly tag: TypeTag;
  /** The element of a vector, the type arguments of a struct, or the parameters and results of a function type. */
  readonly parts: readonly VmType[];
  /** Number of types in it, itself included. */
  readonly nodes: number;
  readonly depth: number;
  /** Set once `Program.layout` has built it. */
  layout: Layout | undefined;
  /** Nesting of its values, not counting inside function values; set with the layout. */
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
