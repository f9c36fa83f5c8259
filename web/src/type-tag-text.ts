/** Type tags from their bytes, as the node prints them (docs/spec/encode.md §A5). */
import { type ByteCursor, BytesError } from './byte-cursor.ts';

/** Deepest nesting of type tags in BCS (docs/spec/encode.md §A5). */
export const MAX_TYPE_TAG_LEVELS = 8;

const VECTOR = 6;
const STRUCT = 7;
const PRIMITIVES = new Map([
  [0, 'bool'],
  [1, 'u8'],
  [2, 'u64'],
  [3, 'u128'],
  [4, 'address'],
  [5, 'signer'],
  [8, 'u16'],
  [9, 'u32'],
  [10, 'u256'],
  [12, 'i8'],
  [13, 'i16'],
  [14, 'i32'],
  [15, 'i64'],
  [16, 'i128'],
  [17, 'i256'],
]);

/**
 * Reads one type tag. @throws BytesError, also for function types, which no transaction of this
 * node carries.
 */
export function readTypeTagText(cursor: ByteCursor, level = 0): string {
  const at = cursor.offset;
  if (level > MAX_TYPE_TAG_LEVELS) throw new BytesError('type tags nest too deep', at);
  const variant = cursor.uleb128();
  if (variant === VECTOR) return `vector<${readTypeTagText(cursor, level + 1)}>`;
  if (variant === STRUCT) {
    const name = `${cursor.address()}::${cursor.text()}::${cursor.text()}`;
    const type = Array.from({ length: readCount(cursor) }, () =>
      readTypeTagText(cursor, level + 1),
    );
    return type.length === 0 ? name : `${name}<${type.join(', ')}>`;
  }
  const primitive = PRIMITIVES.get(variant);
  if (primitive === undefined) throw new BytesError(`type tag variant ${variant} is unknown`, at);
  return primitive;
}

/**
 * A count of items, each of at least one byte: never more than the bytes left. @throws BytesError
 */
export function readCount(cursor: ByteCursor): number {
  const at = cursor.offset;
  const count = cursor.uleb128();
  if (count > cursor.remaining) {
    throw new BytesError(`${count} items cannot fit in ${cursor.remaining} bytes`, at);
  }
  return count;
}
