/** Writers for JSON that is rare in transactions. Frequent parts are written from prepared bytes. */
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { formatTypeTag, type TypeTag } from '../../move/types/type-tag.ts';

/** JSON text to write unchanged, bytes to write as hex, or a function that writes. `undefined`: null. */
type Piece = string | number | bigint | boolean | Buffer | (() => void) | undefined;

/** A tag for template literals that writes their pieces one by one. */
export function jsonTo(out: JsonWriter) {
  return (texts: TemplateStringsArray, ...pieces: readonly Piece[]): void => {
    out.units(texts[0]!);
    for (const [index, piece] of pieces.entries()) {
      if (Buffer.isBuffer(piece)) out.hex(piece);
      else if (typeof piece === 'function') piece();
      else if (typeof piece === 'string') out.text(piece);
      else out.units(String(piece ?? null));
      out.units(texts[index + 1]!);
    }
  };
}

export function writeTypes(out: JsonWriter, tags: readonly TypeTag[]): void {
  writeList(out, tags, (tag) => out.text(JSON.stringify(formatTypeTag(tag))));
}

export function writeList<T>(
  out: JsonWriter,
  items: readonly T[],
  write: (item: T, index: number) => void,
): void {
  out.units('[');
  for (const [index, item] of items.entries()) {
    if (index > 0) out.units(',');
    write(item, index);
  }
  out.units(']');
}
