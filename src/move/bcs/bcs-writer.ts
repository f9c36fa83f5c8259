/** A BCS writer over one growing buffer; mirror image of bcs-reader.ts (docs/spec/ledger.md §0). */
import type { Address } from '../types/address.ts';
import { MAX_SEQUENCE_LENGTH, U64_MAX } from './bcs-reader.ts';
import { byteTools } from './bytes.ts';

const INITIAL_BYTES = 256;

/** Longest text, in UTF-16 units, that is encoded here, as a runtime call takes longer. Below 128. */
const MAX_SHORT_TEXT_LENGTH = 12;
const u64View = new DataView(new ArrayBuffer(8));
const u64Bytes = new Uint8Array(u64View.buffer);

/** Above every digit, and so is every union of digits with it. */
const NO_DIGIT = 16;
const HEX_DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});

function hexDigit(code: number): number {
  return HEX_DIGITS[code] ?? NO_DIGIT;
}

/**
 * Appends BCS values. A value outside its type's range is a programmer's mistake and throws RangeError: input is
 * checked where it is parsed.
 */
export class BcsWriter {
  readonly #initialBytes: number;
  #buffer: Buffer;
  /** Start of the value being written, and its end so far. */
  #start = 0;
  #end = 0;

  constructor(initialBytes = INITIAL_BYTES) {
    this.#initialBytes = initialBytes;
    this.#buffer = byteTools.allocate(initialBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** The bytes written, as a view: valid until the next write or `reset`, or for good after `next`. */
  view(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** A copy of the bytes written. */
  toBytes(): Buffer {
    const bytes = byteTools.allocate(this.length);
    bytes.set(this.view());
    return bytes;
  }

  /** Starts over in the same memory. */
  reset(): void {
    this.#start = 0;
    this.#end = 0;
  }

  /** Starts another value after this one, so that many short values share memory. */
  next(): this {
    this.#start = this.#end;
    return this;
  }

  #reserve(byteLength: number): number {
    const at = this.#end;
    const end = at + byteLength;
    if (end > this.#buffer.length) return this.#move(byteLength);
    this.#end = end;
    return at;
  }

  /** Moves the value to new memory of twice the needed size. */
  #move(byteLength: number): number {
    const value = this.view();
    const at = value.length;
    const needed = 2 * (at + byteLength);
    this.#buffer = byteTools.allocate(Math.max(needed, this.#initialBytes));
    this.#buffer.set(value);
    this.#start = 0;
    this.#end = at + byteLength;
    return at;
  }

  u8(value: number): this {
    if (value !== (value & 0xff)) throw new RangeError(`${value} does not fit in u8`);
    const at = this.#reserve(1);
    this.#buffer[at] = value;
    return this;
  }

  u16(value: number): this {
    if (value !== (value & 0xffff)) throw new RangeError(`${value} does not fit in u16`);
    return this.#bytesOf(value, 2);
  }

  u32(value: number): this {
    if (value !== value >>> 0) throw new RangeError(`${value} does not fit in u32`);
    return this.#bytesOf(value, 4);
  }

  #bytesOf(value: number, byteLength: 2 | 4): this {
    const at = this.#reserve(byteLength);
    for (let index = 0; index < byteLength; index += 1) {
      this.#buffer[at + index] = value >>> (8 * index);
    }
    return this;
  }

  /** A number must be exact as a double: it is written without a bigint. */
  u64(value: bigint | number): this {
    if (typeof value === 'number') return this.exactU64(value);
    if (value < 0n || value > U64_MAX) throw new RangeError(`${value} does not fit in u64`);
    const at = this.#reserve(8);
    // Several times as fast as Buffer.writeBigUInt64LE, which splits the value as a bigint.
    u64View.setBigUint64(0, value, true);
    for (let index = 0; index < 8; index += 1) this.#buffer[at + index] = u64Bytes[index]!;
    return this;
  }

  /** A u64 whose value is exact as a double. */
  exactU64(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${value} is not an exact u64`);
    const at = this.#reserve(8);
    const buffer = this.#buffer;
    const low = value >>> 0;
    const high = (value - low) / 2 ** 32;
    for (let index = 0; index < 4; index += 1) {
      buffer[at + index] = low >>> (8 * index);
      buffer[at + 4 + index] = high >>> (8 * index);
    }
    return this;
  }

  u128(value: bigint): this {
    return this.unsigned(value, 128);
  }

  u256(value: bigint): this {
    return this.unsigned(value, 256);
  }

  /** An unsigned integer of a multiple of 64 bits. */
  unsigned(value: bigint, bits: number): this {
    if (value < 0n || value >> BigInt(bits) !== 0n) {
      throw new RangeError(`${value} does not fit in u${bits}`);
    }
    for (let done = 0; done < bits; done += 64) {
      this.u64(BigInt.asUintN(64, value >> BigInt(done)));
    }
    return this;
  }

  /** A signed integer, two's complement. */
  signed(value: bigint, bits: 8 | 16 | 32 | 64 | 128 | 256): this {
    if (BigInt.asIntN(bits, value) !== value)
      throw new RangeError(`${value} does not fit in i${bits}`);
    let rest = BigInt.asUintN(bits, value);
    const at = this.#reserve(bits / 8);
    for (let index = 0; index < bits / 8; index += 1) {
      this.#buffer[at + index] = Number(rest & 0xffn);
      rest >>= 8n;
    }
    return this;
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  /** ULEB128 of at most 32 bits, minimal form. */
  uleb32(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
      throw new RangeError(`${value} is not a u32`);
    }
    while (value > 0x7f) {
      this.u8((value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    return this.u8(value);
  }

  length32(count: number): this {
    if (count > MAX_SEQUENCE_LENGTH) throw new RangeError(`sequence of ${count} items`);
    return this.uleb32(count);
  }

  /** Raw bytes without length. */
  fixed(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
    return this;
  }

  /** Length-prefixed bytes. */
  bytes(bytes: Uint8Array): this {
    return this.length32(bytes.length).fixed(bytes);
  }

  /** Length-prefixed UTF-8. */
  string(text: string): this {
    if (text.length <= MAX_SHORT_TEXT_LENGTH && this.#asciiText(text)) return this;
    const byteLength = byteTools.utf8Length(text);
    this.length32(byteLength);
    const at = this.#reserve(byteLength);
    byteTools.writeUtf8(this.#buffer, text, at, byteLength);
    return this;
  }

  /** Appends a text of fewer than 128 characters; returns false and appends nothing if it is not ASCII. */
  #asciiText(text: string): boolean {
    const { length } = text;
    const at = this.#reserve(length + 1);
    this.#buffer[at] = length;
    for (let index = 0; index < length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) {
        this.#end = at;
        return false;
      }
      this.#buffer[at + 1 + index] = unit;
    }
    return true;
  }

  address(address: Address): this {
    if (address.length !== 64 || !this.#addressDigits(address, 0)) {
      throw new RangeError(`not an address: ${address}`);
    }
    return this;
  }

  /**
   * Appends an address given as text, `0x` and 64 hex digits of either case. Returns false and appends nothing if it
   * is not one, or a shorter one.
   */
  addressText(text: string): boolean {
    if (text.length !== 66 || text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) {
      return false;
    }
    return this.#addressDigits(text, 2);
  }

  #addressDigits(text: string, start: number): boolean {
    const at = this.#reserve(32);
    const buffer = this.#buffer;
    let all = 0;
    for (let index = 0; index < 32; index += 1) {
      const high = hexDigit(text.charCodeAt(start + 2 * index));
      const low = hexDigit(text.charCodeAt(start + 2 * index + 1));
      all |= high | low;
      buffer[at + index] = (high << 4) | low;
    }
    if (all >= NO_DIGIT) this.#end = at;
    return all < NO_DIGIT;
  }

  option<T>(value: T | undefined, write: (writer: this, value: T) => unknown): this {
    if (value === undefined) return this.u8(0);
    this.u8(1);
    write(this, value);
    return this;
  }

  vector<T>(items: readonly T[], write: (writer: this, item: T) => unknown): this {
    this.length32(items.length);
    for (const item of items) write(this, item);
    return this;
  }
}

/** Most memory that is kept from one value to the next, in bytes. */
const MAX_SHARED_BYTES = 4_096;
/** What `encodeBcs` writes to; absent while it is in use. */
let shared: BcsWriter | undefined;

export function encodeBcs(write: (writer: BcsWriter) => unknown): Buffer {
  const writer = shared ?? new BcsWriter();
  shared = undefined;
  write(writer);
  const bytes = writer.toBytes();
  if (bytes.length <= MAX_SHARED_BYTES) {
    writer.reset();
    shared = writer;
  }
  return bytes;
}
