/** The properties of a token: each has a type number and a BCS value (0x4::property_map). */
import { BcsError, type BcsReader, decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { formatHex, parseHex } from '../../../src/move/bcs/hex.ts';
import { formatAddress, HexTextError } from '../../../src/move/types/address.ts';
import { isObject, type Json } from '../asking/exact-json.ts';
import { groupDigits } from '../parts/number-text.ts';
import { textAt } from '../transactions/movements.ts';

type Read = (reader: BcsReader) => string;

/** Indexed by type number. */
const TYPES: readonly (readonly [name: string, read: Read])[] = [
  ['bool', (reader) => String(reader.bool())],
  ['u8', (reader) => String(reader.u8())],
  ['u16', (reader) => groupDigits(reader.u16())],
  ['u32', (reader) => groupDigits(reader.u32())],
  ['u64', (reader) => groupDigits(reader.u64())],
  ['u128', (reader) => groupDigits(reader.u128())],
  ['u256', (reader) => groupDigits(reader.u256())],
  ['address', (reader) => formatAddress(reader.address())],
  ['bytes', (reader) => formatHex(reader.bytes())],
  ['text', (reader) => reader.string()],
];

export interface Property {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** The readable properties; bytes that do not match their type stay hex. */
export function propertiesOf(map: Json | undefined): Property[] {
  const inner = isObject(map) ? map['inner'] : undefined;
  const entries = isObject(inner) ? inner['data'] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: Json) => {
    const hex = textAt(entry, 'value', 'value') ?? '0x';
    const held = isObject(entry) && isObject(entry['value']) ? entry['value']['type'] : undefined;
    const [type = '', read] = TYPES[Number(String(held))] ?? [];
    return { name: textAt(entry, 'key') ?? '', type, value: read ? valueText(hex, read) : hex };
  });
}

function valueText(hex: string, read: Read): string {
  try {
    return decodeBcs(parseHex(hex), read);
  } catch (error) {
    if (error instanceof BcsError || error instanceof HexTextError) return hex;
    throw error;
  }
}
