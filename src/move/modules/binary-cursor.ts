/** The one bounds-checked cursor under the reader of compiled modules and scripts (docs/spec/move.md §1.2, §6). */

import { U64_MAX } from '../bcs/bcs-reader.ts';
import { byteTools } from '../bcs/bytes.ts';
import { isIdentifier } from '../types/module-id.ts';
import {
  BinaryFormatError,
  type BinaryFormatErrorCode,
  MAX_TABLE_INDEX,
  VERSION_9_SIGNED_INTEGERS,
} from './format.ts';

const MAX_ULEB32_BYTES = 5;
const MAX_ULEB64_BYTES = 10;

/** Reads the pieces of one range of a binary. Every method throws BinaryFormatError on bad bytes. */
export class BinaryCursor {
  readonly #bytes: Buffer;
  readonly #end: number;
  #offset: number;
  /** Version of the file, 1 to 10; 0 while the header is read. */
  readonly version: number;
  /** Longest identifier, in bytes. */
  readonly maxIdentifierBytes: number;

  constructor(
    bytes: Buffer,
    start: number,
    end: number,
    format: { readonly version: number; readonly maxIdentifierBytes: number },
  ) {
    this.#bytes = bytes;
    this.#offset = start;
    this.#end = end;
    this.version = format.version;
    this.maxIdentifierBytes = format.maxIdentifierBytes;
  }

  /** Position of the next byte in the file. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes of this range not read yet. */
  get remaining(): number {
    return this.#end - this.#offset;
  }

  /** Builds (does not throw) an error at the current or a given position. */
  error(
    code: BinaryFormatErrorCode,
    detail: string,
    offset: number = this.#offset,
  ): BinaryFormatError {
    return new BinaryFormatError(code, detail, offset);
  }

  /** Asserts that the file's version supports `what`, introduced in version `since`. */
  requireVersion(since: number, what: string): void {
    if (this.version < since) {
      throw this.error('unsupported', `${what} in version ${this.version}, came with ${since}`);
    }
  }

  #take(byteLength: number, what: string): number {
    const at = this.#offset;
    if (byteLength > this.#end - at) {
      throw this.error('unexpected_end', `${what} of ${byteLength} bytes runs over the end`);
    }
    this.#offset = at + byteLength;
    return at;
  }

  u8(what: string): number {
    return this.#bytes[this.#take(1, what)]!;
  }

  u16(what: string): number {
    const at = this.#take(2, what);
    return this.#bytes[at]! | (this.#bytes[at + 1]! << 8);
  }

  u32(what: string): number {
    const at = this.#take(4, what);
    const bytes = this.#bytes;
    const upper = bytes[at + 2]! | (bytes[at + 3]! << 8);
    return (bytes[at]! | (bytes[at + 1]! << 8) | (upper << 16)) >>> 0;
  }

  /** A little-endian integer of 8 to 256 bits, two's complement when signed. */
  integer(bits: number, signed: boolean, what: string): bigint {
    const byteLength = bits / 8;
    const at = this.#take(byteLength, what);
    let value = 0n;
    for (let index = byteLength - 1; index >= 0; index -= 1) {
      value = (value << 8n) | BigInt(this.#bytes[at + index]!);
    }
    return signed ? BigInt.asIntN(bits, value) : value;
  }

  /** A minimal ULEB128 number of at most `max`, itself at most 2^32 - 1. */
  uleb(max: number, what: string): number {
    const start = this.#offset;
    let value = 0;
    let unit = 1;
    for (let read = 1; read <= MAX_ULEB32_BYTES; read += 1) {
      const byte = this.u8(what);
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        if (byte === 0 && read > 1) throw this.error('bad_uleb', `${what} not minimal`, start);
        if (value > max) throw this.error('limit_exceeded', `${what} ${value} above ${max}`, start);
        return value;
      }
      unit *= 0x80;
    }
    throw this.error('bad_uleb', `${what} too long`, start);
  }

  /** A minimal ULEB128 number of 64 bits. */
  uleb64(what: string): bigint {
    const start = this.#offset;
    let value = 0n;
    for (let read = 0; read < MAX_ULEB64_BYTES; read += 1) {
      const byte = this.u8(what);
      value |= BigInt(byte & 0x7f) << BigInt(7 * read);
      if (byte < 0x80) {
        if (byte === 0 && read > 0) throw this.error('bad_uleb', `${what} not minimal`, start);
        if (value > U64_MAX) throw this.error('bad_uleb', `${what} above 64 bits`, start);
        return value;
      }
    }
    throw this.error('bad_uleb', `${what} too long`, start);
  }

  index(what: string): number {
    return this.uleb(MAX_TABLE_INDEX, what);
  }

  /** Reads the byte of a yes (2) or a no (1): booleans and options. */
  flag(what: string): boolean {
    const byte = this.u8(what);
    if (byte !== 1 && byte !== 2) {
      throw this.error('bad_value', `${what} flag ${byte}`, this.#offset - 1);
    }
    return byte === 2;
  }

  /** ULEB128 count and that many items. */
  list<T>(max: number, what: string, read: (cursor: BinaryCursor) => T): readonly T[] {
    return this.items(this.uleb(max, what), what, read);
  }

  /**
   * `count` items of at least one byte each. A count that exceeds the remaining bytes is rejected before memory is
   * allocated. Then exactly that much is allocated: a growing array would reserve 17 items, which a hostile file could
   * turn into a hundred times its size.
   */
  items<T>(count: number, what: string, read: (cursor: BinaryCursor) => T): readonly T[] {
    if (count === 0) return EMPTY;
    if (count > this.remaining) {
      throw this.error('unexpected_end', `${what} ${count} runs over the end`);
    }
    const items = new Array<T>(count);
    for (let index = 0; index < count; index += 1) items[index] = read(this);
    return items;
  }

  /** ULEB128 length and that many bytes, as a view. */
  blob(maxBytes: number, what: string): Buffer {
    const byteLength = this.uleb(maxBytes, what);
    if (byteLength === 0) return NO_BYTES;
    const at = this.#take(byteLength, what);
    return this.#bytes.subarray(at, at + byteLength);
  }

  /** `byteLength` bytes as lower-case hex. */
  hex(byteLength: number, what: string): string {
    const at = this.#take(byteLength, what);
    return byteTools.hexText(this.#bytes, at, at + byteLength);
  }

  /** A name: its length within the file's limit, its characters valid (docs/spec/move.md §1.4, §3.4). */
  identifier(): string {
    const start = this.#offset;
    const byteLength = this.uleb(this.maxIdentifierBytes, 'identifier length');
    const at = this.#take(byteLength, 'identifier');
    const name = byteTools.latin1Text(this.#bytes, at, at + byteLength);
    if (!isIdentifier(name)) throw this.error('bad_value', 'invalid identifier', start);
    if (this.version < VERSION_9_SIGNED_INTEGERS && name.includes('$')) {
      throw this.error('unsupported', `$ in an identifier in version ${this.version}`, start);
    }
    return name;
  }
}

/** Shared by all empty lists and blobs: a hostile file may hold one per byte. */
const EMPTY: readonly never[] = Object.freeze([]);
const NO_BYTES = byteTools.allocate(0);
