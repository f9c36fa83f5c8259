/**
 * Writes JSON text as UTF-8 directly into the memory that is sent. Texts written in sequence share memory; a text that
 * is longer, or is written while another one is unfinished, has its own.
 */
import { byteTools } from '../bcs/bytes.ts';

/** Memory that texts share, in bytes: about ten transactions. */
const SHARED_BYTES = 64 * 1024;
/** The next text begins in the same memory if this many bytes are left. */
const MIN_SHARED_BYTES = 8 * 1024;
/** Longest part that is copied here, in bytes, because a call into the runtime takes longer. */
const MAX_COPIED_BYTES = 24;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTED = 0x20;
const FIRST_BEYOND_ASCII = 0x80;
const ZERO = 0x30;
const LETTER_X = 0x78;

const ADDRESS_BYTES = 32;
/** Longest text of each kind, with quotes. */
const QUOTED_ADDRESS_CHARACTERS = 4 + 2 * ADDRESS_BYTES;
const QUOTED_U64_CHARACTERS = 22;

const TWO_32 = 0x1_0000_0000;
/** Below it a high half of a u64 leaves the number exact in a double. */
const EXACT_HIGH_HALF = 0x20_0000;
const BILLION = 1_000_000_000;
const BILLION_DIGITS = 9;

/** Two characters as they are written together, the first in the low byte. */
function characterPairs(count: number, radix: number): Uint16Array {
  return Uint16Array.from({ length: count }, (_, value) => {
    const text = value.toString(radix).padStart(2, '0');
    return text.charCodeAt(0) | (text.charCodeAt(1) << 8);
  });
}

const HEX_PAIRS = characterPairs(256, 16);
const DECIMAL_PAIRS = characterPairs(100, 10);

const TRUE = byteTools.utf8Bytes('true');
const FALSE = byteTools.utf8Bytes('false');

/** Kinds of values with a fixed size, by their numbers in `FixedObject`. */
export const FIXED_KINDS = { u8: 0, u16: 1, u32: 2, u64: 3, bool: 4, address: 5 } as const;
export type FixedKind = keyof typeof FIXED_KINDS;
/** Bytes of a value, and maximum length of its text. */
export const FIXED_BYTES = { u8: 1, u16: 2, u32: 4, u64: 8, bool: 1, address: ADDRESS_BYTES };
export const FIXED_TEXT_BYTES = {
  ...{ u8: 3, u16: 5, u32: 10, bool: 5 },
  ...{ u64: QUOTED_U64_CHARACTERS, address: QUOTED_ADDRESS_CHARACTERS },
};

/** An object, possibly nested, whose values are all at fixed offsets. */
export interface FixedObject {
  /** Numbers of FIXED_KINDS, in the order of the text. */
  readonly kinds: Uint8Array;
  /** Where each value begins. */
  readonly offsets: Uint16Array;
  /** The text before, between and after the values. */
  readonly pieces: readonly Buffer[];
  readonly maxTextBytes: number;
}

interface Memory {
  readonly bytes: Buffer;
  readonly view: DataView;
}

function newMemory(byteLength: number): Memory {
  const bytes = byteTools.allocate(byteLength);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, byteLength) };
}

/** Where the next text begins; absent while a text is being written there. */
let shared: Memory | undefined;
let sharedFrom = 0;

export class JsonWriter {
  #bytes: Buffer;
  #view: DataView;
  #start: number;
  #end: number;

  constructor() {
    const memory = shared ?? newMemory(SHARED_BYTES);
    this.#start = shared === undefined ? 0 : sharedFrom;
    this.#end = this.#start;
    this.#bytes = memory.bytes;
    this.#view = memory.view;
    shared = undefined;
  }

  /** Bytes written since the beginning, or since the last `take`. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Removes what was written after a `length`. */
  cut(length: number): void {
    this.#end = this.#start + length;
  }

  /** Returns what was written. The next text begins after it. */
  take(): Buffer {
    const text = this.#bytes.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return text;
  }

  /** Returns what was written. Nothing may be written afterwards. */
  finish(): Buffer {
    const text = this.take();
    this.#share();
    return text;
  }

  /** The same as a string, which frees the memory. */
  finishText(): string {
    const text = byteTools.utf8Text(this.#bytes, this.#start, this.#end);
    this.#end = this.#start;
    this.#share();
    return text;
  }

  #share(): void {
    const bytes = this.#bytes;
    if (bytes.length !== SHARED_BYTES || SHARED_BYTES - this.#end < MIN_SHARED_BYTES) return;
    shared = { bytes, view: this.#view };
    sharedFrom = this.#end;
  }

  /** Reserves room. @returns where it begins */
  #reserve(byteLength: number): number {
    const at = this.#end;
    return at + byteLength > this.#bytes.length ? this.#move(byteLength) : at;
  }

  /** Moves the text to new memory of twice the needed size. */
  #move(byteLength: number): number {
    const text = this.#bytes.subarray(this.#start, this.#end);
    const { bytes, view } = newMemory(Math.max(2 * (text.length + byteLength), SHARED_BYTES));
    bytes.set(text);
    this.#bytes = bytes;
    this.#view = view;
    this.#start = 0;
    this.#end = text.length;
    return this.#end;
  }

  /** A part of JSON in UTF-8, copied unchanged. */
  part(part: Buffer): void {
    const at = this.#reserve(part.length);
    this.#end = putPart(this.#bytes, at, part);
  }

  /** One ASCII character. */
  byte(character: number): void {
    const at = this.#reserve(1);
    this.#bytes[at] = character;
    this.#end = at + 1;
  }

  /** A part of JSON whose UTF-8 has one byte for each unit, up to 255: ASCII, for example. */
  units(text: string): void {
    const { length } = text;
    const at = this.#reserve(length);
    const bytes = this.#bytes;
    if (length > MAX_COPIED_BYTES) byteTools.writeLatin1(bytes, text, at);
    else for (let index = 0; index < length; index += 1) bytes[at + index] = text.charCodeAt(index);
    this.#end = at + length;
  }

  /** A part of JSON as a string of any characters. */
  text(text: string): void {
    const byteLength = byteTools.utf8Length(text);
    const at = this.#reserve(byteLength);
    byteTools.writeUtf8(this.#bytes, text, at, byteLength);
    this.#end = at + byteLength;
  }

  /**
   * A JSON string, with its quotes, of a text in UTF-8.
   * @returns false, and nothing is written, for bytes that are not UTF-8
   */
  string(from: Buffer, start: number, end: number): boolean {
    const before = this.length;
    this.byte(QUOTE);
    if (this.stringPart(from, start, end)) {
      this.byte(QUOTE);
      return true;
    }
    this.cut(before);
    return false;
  }

  /** A part of a JSON string; as `string`, without quotes. */
  stringPart(from: Buffer, start: number, end: number): boolean {
    const first = this.#reserve(end - start);
    const bytes = this.#bytes;
    const shift = first - start;
    let isAscii = true;
    for (let at = start; at < end; at += 1) {
      const byte = from[at]!;
      if (byte < FIRST_PRINTED || byte === QUOTE || byte === BACKSLASH) {
        return this.#escaped(from, start, end);
      }
      if (byte >= FIRST_BEYOND_ASCII) isAscii = false;
      bytes[shift + at] = byte;
    }
    if (!isAscii && !byteTools.isUtf8(from.subarray(start, end))) return false;
    this.#end = shift + end;
    return true;
  }

  #escaped(from: Buffer, start: number, end: number): boolean {
    if (!byteTools.isUtf8(from.subarray(start, end))) return false;
    this.text(JSON.stringify(byteTools.utf8Text(from, start, end)).slice(1, -1));
    return true;
  }

  /** `"0x…"`, two digits per byte. */
  hex(from: Buffer, start = 0, end = from.length): void {
    const first = this.#reserve(2 * (end - start) + 4);
    const bytes = this.#bytes;
    bytes[first] = QUOTE;
    bytes[first + 1] = ZERO;
    bytes[first + 2] = LETTER_X;
    const at = putDigits(this.#view, first + 3, from, start, end);
    bytes[at] = QUOTE;
    this.#end = at + 1;
  }

  /** Two hex digits per byte. */
  digits(from: Buffer, start: number, end: number): void {
    const at = this.#reserve(2 * (end - start));
    this.#end = putDigits(this.#view, at, from, start, end);
  }

  /** An address of 32 bytes in its short form, in quotes. */
  quotedAddress(from: Buffer, start: number): void {
    const at = this.#reserve(QUOTED_ADDRESS_CHARACTERS);
    this.#end = putQuotedAddress(this.#bytes, this.#view, at, from, start);
  }

  /** An address of 32 bytes in its short form. */
  address(from: Buffer, start: number): void {
    const at = this.#reserve(QUOTED_ADDRESS_CHARACTERS);
    this.#end = putAddress(this.#bytes, this.#view, at, from, start);
  }

  /** A little-endian u64 of 8 bytes, in quotes. */
  quotedU64(from: Buffer, start: number): void {
    const at = this.#reserve(QUOTED_U64_CHARACTERS);
    this.#end = putQuotedU64(this.#bytes, this.#view, at, from, start);
  }

  /** A u64 in quotes. */
  quotedNumber(value: bigint): void {
    this.byte(QUOTE);
    if (value <= Number.MAX_SAFE_INTEGER) this.number(Number(value));
    else this.units(String(value));
    this.byte(QUOTE);
  }

  /** A non-negative integer that is exact as a double; short ones are written much faster than by the runtime. */
  number(value: number): void {
    const at = this.#reserve(QUOTED_U64_CHARACTERS);
    this.#end = putNumber(this.#bytes, this.#view, at, value);
  }

  /**
   * An object whose values are at fixed offsets.
   * @returns false, and nothing is written, for a bool that is neither 0 nor 1
   */
  fixedObject(object: FixedObject, from: Buffer, start: number): boolean {
    const { kinds, offsets, pieces } = object;
    let at = this.#reserve(object.maxTextBytes);
    const bytes = this.#bytes;
    const view = this.#view;
    for (let place = 0; place < kinds.length; place += 1) {
      at = putPart(bytes, at, pieces[place]!);
      const valueAt = start + offsets[place]!;
      switch (kinds[place]!) {
        case FIXED_KINDS.address:
          at = putQuotedAddress(bytes, view, at, from, valueAt);
          break;
        case FIXED_KINDS.u64:
          at = putQuotedU64(bytes, view, at, from, valueAt);
          break;
        case FIXED_KINDS.bool: {
          const value = from[valueAt]!;
          if (value > 1) return false;
          at = putPart(bytes, at, value === 1 ? TRUE : FALSE);
          break;
        }
        case FIXED_KINDS.u32:
          at = putNumber(bytes, view, at, wordAt(from, valueAt));
          break;
        case FIXED_KINDS.u16:
          at = putNumber(bytes, view, at, from[valueAt]! | (from[valueAt + 1]! << 8));
          break;
        default:
          at = putNumber(bytes, view, at, from[valueAt]!);
      }
    }
    this.#end = putPart(bytes, at, pieces[kinds.length]!);
    return true;
  }

  /**
   * Turns consecutive values into an object.
   * @param start the `length` before the first one
   * @param ends the `length` after each
   * @param pieces the text before, between and after them
   * @param order the index of the value at each place
   */
  arrange(
    start: number,
    ends: readonly number[],
    pieces: readonly Buffer[],
    order: readonly number[],
  ): void {
    const valueBytes = this.length - start;
    let pieceBytes = 0;
    for (const piece of pieces) pieceBytes += piece.length;
    this.#reserve(pieceBytes + valueBytes);
    const bytes = this.#bytes;
    const first = this.#start + start;
    // After the latest possible end of the object.
    const moved = first + pieceBytes + valueBytes;
    bytes.copyWithin(moved, first, first + valueBytes);
    this.#end = first;
    for (let place = 0; place < order.length; place += 1) {
      this.part(pieces[place]!);
      const index = order[place]!;
      const from = moved - start + (index === 0 ? start : ends[index - 1]!);
      this.#copy(from, moved - start + ends[index]!);
    }
    this.part(pieces[order.length]!);
  }

  #copy(from: number, to: number): void {
    const bytes = this.#bytes;
    const at = this.#end;
    const length = to - from;
    if (length > MAX_COPIED_BYTES) bytes.copyWithin(at, from, to);
    else for (let index = 0; index < length; index += 1) bytes[at + index] = bytes[from + index]!;
    this.#end = at + length;
  }
}

// The functions below write at an offset with enough room and return the offset after it.

function putPart(bytes: Buffer, at: number, part: Buffer): number {
  const { length } = part;
  if (length > MAX_COPIED_BYTES) bytes.set(part, at);
  else for (let index = 0; index < length; index += 1) bytes[at + index] = part[index]!;
  return at + length;
}

function putDigits(view: DataView, at: number, from: Buffer, start: number, end: number): number {
  for (let index = start; index < end; index += 1) {
    view.setUint16(at, HEX_PAIRS[from[index]!]!, true);
    at += 2;
  }
  return at;
}

function putAddress(
  bytes: Buffer,
  view: DataView,
  at: number,
  from: Buffer,
  start: number,
): number {
  const end = start + ADDRESS_BYTES;
  let index = start;
  while (index < end - 1 && from[index] === 0) index += 1;
  const first = from[index]!;
  bytes[at] = ZERO;
  bytes[at + 1] = LETTER_X;
  if (first >= 0x10) return putDigits(view, at + 2, from, index, end);
  bytes[at + 2] = HEX_PAIRS[first]! >> 8;
  return putDigits(view, at + 3, from, index + 1, end);
}

function putQuotedAddress(
  bytes: Buffer,
  view: DataView,
  at: number,
  from: Buffer,
  start: number,
): number {
  bytes[at] = QUOTE;
  const end = putAddress(bytes, view, at + 1, from, start);
  bytes[end] = QUOTE;
  return end + 1;
}

function putQuotedU64(
  bytes: Buffer,
  view: DataView,
  at: number,
  from: Buffer,
  start: number,
): number {
  bytes[at] = QUOTE;
  const low = wordAt(from, start);
  const high = wordAt(from, start + 4);
  const end =
    high < EXACT_HIGH_HALF
      ? putNumber(bytes, view, at + 1, high * TWO_32 + low)
      : putUnits(bytes, at + 1, String((BigInt(high) << 32n) | BigInt(low)));
  bytes[end] = QUOTE;
  return end + 1;
}

function putUnits(bytes: Buffer, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

function putNumber(bytes: Buffer, view: DataView, at: number, value: number): number {
  if (value < 10) {
    bytes[at] = ZERO + value;
    return at + 1;
  }
  if (value < BILLION) return putDecimal(bytes, view, at, value, digitsOf(value));
  const high = Math.floor(value / BILLION);
  const end = putDecimal(bytes, view, at, high, digitsOf(high));
  return putDecimal(bytes, view, end, value - high * BILLION, BILLION_DIGITS);
}

/** A number below 10^9 with a given number of digits. */
function putDecimal(
  bytes: Buffer,
  view: DataView,
  first: number,
  value: number,
  count: number,
): number {
  let at = first + count;
  let rest = value | 0;
  while (at - first >= 2) {
    at -= 2;
    const left = (rest / 100) | 0;
    view.setUint16(at, DECIMAL_PAIRS[rest - left * 100]!, true);
    rest = left;
  }
  if (at > first) bytes[first] = ZERO + rest;
  return first + count;
}

function wordAt(bytes: Buffer, at: number): number {
  const upper = bytes[at + 2]! | (bytes[at + 3]! << 8);
  return (bytes[at]! | (bytes[at + 1]! << 8) | (upper << 16)) >>> 0;
}

/** Number of digits of a number below 10^9. */
function digitsOf(value: number): number {
  if (value < 10_000) {
    if (value < 100) return value < 10 ? 1 : 2;
    return value < 1_000 ? 3 : 4;
  }
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 10_000_000) return 7;
  return value < 100_000_000 ? 8 : 9;
}
