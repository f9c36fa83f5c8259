/**
 * Pieces of JSON as UTF-8 with one unit for each byte (src/move/values/value-json.ts): whole transactions are put
 * together from them and become bytes without another conversion.
 */
import { formatHex } from '../../move/bcs/hex.ts';
import { type Address, formatAddress } from '../../move/types/address.ts';
import { formatTypeTag, type TypeTag } from '../../move/types/type-tag.ts';
import { utf8Units } from '../../move/values/value-json.ts';

/** Texts that JSON writes as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : utf8Units(JSON.stringify(text));
}

export function quotedHex(bytes: Uint8Array): string {
  return `"${formatHex(bytes)}"`;
}

export function quotedAddress(address: Address): string {
  return `"${formatAddress(address)}"`;
}

export function optionalHex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'null' : quotedHex(bytes);
}

export function typeList(tags: readonly TypeTag[]): string {
  return listOf(tags, (tag) => quoted(formatTypeTag(tag)));
}

export function listOf<T>(items: readonly T[], show: (item: T) => string): string {
  if (items.length === 0) return '[]';
  let text = `[${show(items[0]!)}`;
  for (let index = 1; index < items.length; index += 1) text += `,${show(items[index]!)}`;
  return `${text}]`;
}
