/**
 * Account addresses: 32 bytes, held in memory as 64 lower-case hex digits without prefix, so that they are
 * immutable, comparable with `===` and usable as map keys. Rules: docs/spec/move.md §3.4, docs/spec/http.md §5.2.
 */
import { byteTools } from '../bcs/bytes.ts';
import { MoveError } from '../errors.ts';

/** An address as 64 lower-case hex digits without prefix. */
export type Address = string;

/** Length of an address in bytes. */
export const ADDRESS_BYTES = 32;
const ADDRESS_DIGITS = ADDRESS_BYTES * 2;

type HexErrorCode = 'hex_too_short' | 'hex_odd_length' | 'hex_bad_length' | 'hex_bad_digit';

/**
 * A text that is not an address or not a hex string; `message` is the interface's own text (docs/spec/http.md §5.2).
 */
export class HexTextError extends MoveError<HexErrorCode> {}

/** 0x0, padded. */
export const ADDRESS_ZERO: Address = '0'.repeat(ADDRESS_DIGITS);
/** 0x1, where the framework lives. */
export const ADDRESS_ONE: Address = padAddress('1');

const FULL_ADDRESS = /^[0-9a-f]{64}$/;
const SHORT_HEX = /^[0-9a-fA-F]+$/;

/** Left-pads lower-case hex digits to an address. The caller knows that they are 1 to 64 hex digits. */
export function padAddress(digits: string): Address {
  return digits.padStart(ADDRESS_DIGITS, '0');
}

/**
 * Reads an address as the interface does: optional lower-case `0x`, then 1 to 64 hex digits of either case.
 * @throws HexTextError with the text of docs/spec/http.md §5.2 (without the `Invalid account address: ` prefix).
 */
export function parseAddress(text: string): Address {
  if (text.length === 66 && text.startsWith('0x')) {
    const digits = text.slice(2);
    if (FULL_ADDRESS.test(digits)) return digits;
  }
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (digits.length > 0 && digits.length <= ADDRESS_DIGITS && SHORT_HEX.test(digits)) {
    return padAddress(digits.toLowerCase());
  }
  throw addressTextError(digits);
}

function addressTextError(digits: string): HexTextError {
  const bytes = byteTools.utf8Bytes(digits);
  if (bytes.length === 0) {
    return new HexTextError(
      'hex_too_short',
      'Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x',
    );
  }
  if (bytes.length > ADDRESS_DIGITS) {
    return bytes.length % 2 === 1
      ? new HexTextError('hex_odd_length', 'Hex characters are invalid: Odd number of digits')
      : new HexTextError('hex_bad_length', 'Hex characters are invalid: Invalid string length');
  }
  const position = bytes.findIndex((byte) => !isHexDigit(byte));
  const padding = ADDRESS_DIGITS - bytes.length;
  return new HexTextError(
    'hex_bad_digit',
    `Hex characters are invalid: ${badDigitText(bytes[position]!, position + padding)}`,
  );
}

/** `Invalid character 'x' at position 7`, the character being the byte shown as Latin-1 (docs/spec/move.md §3.4). */
export function badDigitText(byte: number, position: number): string {
  return `Invalid character '${debugCharacter(byte)}' at position ${position}`;
}

/** Whether a byte is an ASCII hex digit of either case. */
export function isHexDigit(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66)
  );
}

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x00, '\\0'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x27, "\\'"],
  [0x5c, '\\\\'],
]);

/** One Latin-1 character in the debug form of the reference: `\'`, `\\`, `\n`, `\u{7f}`, … */
function debugCharacter(byte: number): string {
  const isControl = byte < 0x20 || (byte >= 0x7f && byte < 0xa0) || byte === 0xad;
  const shown = isControl ? `\\u{${byte.toString(16)}}` : String.fromCharCode(byte);
  return SHORT_ESCAPES.get(byte) ?? shown;
}

/** The short form of all JSON and messages: `0x1`, `0xa550c18`, `0x0`. */
export function formatAddress(address: Address): string {
  let start = 0;
  while (start < ADDRESS_DIGITS - 1 && address.charCodeAt(start) === 0x30) start += 1;
  return '0x' + address.slice(start);
}

/** Addresses 0x0 to 0xf belong to the chain itself. */
const RESERVED_START = '0'.repeat(ADDRESS_DIGITS - 1);

/** Whether an address is one of 0x0 to 0xf. */
export function isReservedAddress(address: Address): boolean {
  return address.startsWith(RESERVED_START);
}

/** The address in the 32 bytes at `offset`. */
export function addressFromBytes(bytes: Uint8Array, offset = 0): Address {
  return byteTools.hexText(byteTools.asBuffer(bytes), offset, offset + ADDRESS_BYTES);
}

/** The 32 bytes of an address, in a new buffer. */
export function addressBytes(address: Address): Buffer {
  return byteTools.hexBytes(address);
}
