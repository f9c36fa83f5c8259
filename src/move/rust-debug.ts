/**
 * Texts in the debug quotes of the reference (`{:?}` of a string): messages of the interface quote input this way
 * (docs/spec/encode.md §A1, A2, A4; docs/spec/move.md §3.4).
 */

/** Characters that are escaped: controls, formats, separators except space, unassigned, combining marks. */
const ESCAPED = /["\\]|(?! )[\p{Z}\p{C}\p{Grapheme_Extend}]/gu;
/** Texts without anything to escape: printable ASCII without `"` and `\`. */
const PLAIN = /^[ !#-[\]-~]*$/;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\0', '\\0'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
]);

/** `u8` as `U8`: names of variants. */
export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Characters escaped at a time: `replace` holds about 60 bytes per match until it is done. */
const CHUNK_LENGTH = 65_536;

/** A string in double quotes with `\" \\ \0 \t \n \r`, other unprintable characters as `\u{1f}`. */
export function debugString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const chunks: string[] = [];
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    end = start + CHUNK_LENGTH;
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00) end += 1;
    chunks.push(text.slice(start, end).replace(ESCAPED, escapeCharacter));
  }
  return `"${chunks.join('')}"`;
}

function escapeCharacter(character: string): string {
  return SHORT_ESCAPES.get(character) ?? `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
