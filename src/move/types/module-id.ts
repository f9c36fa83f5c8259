/**
 * Move identifiers and module ids: the rules for names, and the BCS of an id (docs/spec/move.md §3.4, §3.6). Names
 * are not validated when BCS is read.
 */
import { address, type CodecValue, structCodec, text } from '../bcs/codec.ts';

const IDENTIFIER = /^(?:[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+|<SELF>|<SELF>_[0-9]+)$/;

/** Whether a text is a valid identifier. No length limit applies in text form. */
export function isIdentifier(text: string): boolean {
  // `$` also matches before a final line feed only with the m flag, so `a\n` is refused here.
  return IDENTIFIER.test(text);
}

export const ModuleId = structCodec({ address, name: text });
export type ModuleId = CodecValue<typeof ModuleId>;

export function moduleKey({ address, name }: ModuleId): string {
  return `${address}::${name}`;
}
