/**
 * The order of type tags in the reference's memory (docs/spec/ledger.md §5.4): it is visible in the listing of
 * resource group members. It is not the order of their bytes in BCS, where lengths come first.
 */
import { type FunctionTypePart, INDEX_OF_KIND, type StructTag, type TypeTag } from './type-tag.ts';

/** Below 0, 0 or above 0: by address, module, name, then type arguments. */
export function compareStructTags(left: StructTag, right: StructTag): number {
  return (
    compareTexts(left.address, right.address) ||
    compareTexts(left.module, right.module) ||
    compareTexts(left.name, right.name) ||
    compareLists(left.typeArguments, right.typeArguments, compareTypeTags)
  );
}

/** Below 0, 0 or above 0: by kind in the order of the variants on the wire, then by parts. */
export function compareTypeTags(left: TypeTag, right: TypeTag): number {
  if (left.kind === 'vector' && right.kind === 'vector') {
    return compareTypeTags(left.element, right.element);
  }
  if (left.kind === 'struct' && right.kind === 'struct') {
    return compareStructTags(left.struct, right.struct);
  }
  if (left.kind === 'function' && right.kind === 'function') {
    return (
      compareLists(left.args, right.args, compareParts) ||
      compareLists(left.results, right.results, compareParts) ||
      left.abilities - right.abilities
    );
  }
  return INDEX_OF_KIND.get(left.kind)! - INDEX_OF_KIND.get(right.kind)!;
}

/** References come first, then mutable ones, then values. */
function compareParts(left: FunctionTypePart, right: FunctionTypePart): number {
  const ranks = partRank(left) - partRank(right);
  return ranks || compareTypeTags(targetOf(left), targetOf(right));
}

function partRank(part: FunctionTypePart): number {
  if (part.kind !== 'reference') return 2;
  return part.mutable ? 1 : 0;
}

function targetOf(part: FunctionTypePart): TypeTag {
  return part.kind === 'reference' ? part.to : part;
}

/** Item by item; of two lists that begin alike the shorter comes first. */
function compareLists<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const order = compare(left[index]!, right[index]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** By UTF-8 bytes: names in stored tags may be any text. */
function compareTexts(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}
