/**
 * The order of type tags in the reference's memory (docs/spec/ledger.md §5.4), which is visible in the listing of
 * resource group members. It is not the order of their bytes in BCS, where lengths come first.
 */
import { BcsReader } from '../bcs/bcs-reader.ts';
import { ADDRESS_BYTES } from './address.ts';
import {
  type FunctionTypePart,
  INDEX_OF_KIND,
  readStructTag,
  type StructTag,
  type TypeTag,
} from './type-tag.ts';

/** Below 0, 0 or above 0: by address, module, name, then type arguments. */
export function compareStructTags(left: StructTag, right: StructTag): number {
  return (
    compareTexts(left.address, right.address) ||
    compareTexts(left.module, right.module) ||
    compareTexts(left.name, right.name) ||
    compareLists(left.typeArguments, right.typeArguments, compareTypeTags)
  );
}

/**
 * The order of `compareStructTags` for tags in `buffer` as BCS: names are compared without being decoded.
 * @throws BcsError for bytes that are not a struct tag
 */
export function compareStructTagsAt(buffer: Buffer, left: number, right: number): number {
  for (let at = 0; at < ADDRESS_BYTES; at += 1) {
    const order = buffer[left + at]! - buffer[right + at]!;
    if (order !== 0) return order;
  }
  const leftReader = new BcsReader(buffer, left + ADDRESS_BYTES);
  const rightReader = new BcsReader(buffer, right + ADDRESS_BYTES);
  return (
    compareNamesAt(leftReader, rightReader) ||
    compareNamesAt(leftReader, rightReader) ||
    compareStructTags(...readBoth(buffer, left, right))
  );
}

/** Reads and compares one name each. */
function compareNamesAt(left: BcsReader, right: BcsReader): number {
  const { buffer } = left;
  const leftBytes = left.length(1);
  const rightBytes = right.length(1);
  const leftAt = left.skip(leftBytes);
  const rightAt = right.skip(rightBytes);
  const shared = Math.min(leftBytes, rightBytes);
  for (let at = 0; at < shared; at += 1) {
    const order = buffer[leftAt + at]! - buffer[rightAt + at]!;
    if (order !== 0) return order;
  }
  return leftBytes - rightBytes;
}

function readBoth(buffer: Buffer, left: number, right: number): [StructTag, StructTag] {
  const read = (at: number) => readStructTag(new BcsReader(buffer, at));
  return [read(left), read(right)];
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

/** Compares item by item; if one list is a prefix of the other, the shorter comes first. */
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
