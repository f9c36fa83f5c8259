/**
 * Hex strings of the interface: `0x`, two lower-case digits a byte (docs/spec/http.md §11.2, docs/spec/encode.md §A2).
 */
import { badDigitText, HexTextError, isHexDigit } from '../types/address.ts';
import { byteTools } from './bytes.ts';

const DIGITS = /^[0-9a-fA-F]*$/;

/** `0x` + lower-case hex; empty bytes are `0x`. */
export function formatHex(bytes: Uint8Array): string {
  return '0x' + byteTools.hexText(byteTools.asBuffer(bytes), 0, bytes.length);
}

/**
 * Reads hex with an optional lower-case `0x` and an even number of digits of either case.
 * @throws HexTextError: `Odd number of digits` or `Invalid character '…' at position …` (after the `0x`).
 */
export function parseHex(text: string): Buffer {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  // Node's hex decoder uses the low byte of each character and would read `İı` (U+0130, U+0131) as `01`.
  if (digits.length % 2 === 0 && DIGITS.test(digits)) return byteTools.hexBytes(digits);
  const raw = byteTools.utf8Bytes(digits);
  if (raw.length % 2 === 1) throw new HexTextError('hex_odd_length', 'Odd number of digits');
  const position = raw.findIndex((byte) => !isHexDigit(byte));
  throw new HexTextError('hex_bad_digit', badDigitText(raw[position]!, position));
}
