/** The properties of a digital asset, whose values are BCS of some types. */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { tryParse } from '../../move/errors.ts';
import { type Fields, fullAddress } from './transaction-facts.ts';

type Read = (reader: BcsReader) => string;

/** Indexed by the numbers of the types in `0x4::property_map`. */
const READS: readonly Read[] = [
  (reader) => String(reader.bool()),
  (reader) => String(reader.u8()),
  (reader) => String(reader.u16()),
  (reader) => String(reader.u32()),
  (reader) => String(reader.u64()),
  (reader) => String(reader.u128()),
  (reader) => String(reader.u256()),
  (reader) => fullAddress(`0x${reader.address()}`),
  (reader) => formatHex(reader.bytes()),
  (reader) => reader.string(),
];

/** Texts by name. A value that does not match its type is shown as its bytes. */
export function propertiesOf({ inner }: Fields): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { key, value } of inner.data as readonly Fields[]) {
    const { type, value: bytes } = value as { readonly type: number; readonly value: string };
    const reader = new BcsReader(Buffer.from(bytes.slice(2), 'hex'));
    found[key] = tryParse(() => READS[type]?.(reader)) ?? bytes;
  }
  return found;
}
