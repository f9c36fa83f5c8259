/** Move identifiers: names of modules, structs, functions and fields (docs/spec/move.md §3.4). */

const IDENTIFIER = /^(?:[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|<SELF>|<SELF>_[0-9]+)$/;

/** Whether a text is a valid identifier. No length limit applies in text form. */
export function isIdentifier(text: string): boolean {
  // `$` also matches before a final line feed only with the m flag, so `a\n` is refused here.
  return IDENTIFIER.test(text);
}
