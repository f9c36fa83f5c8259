/** The checked writer that write-module.ts uses; counterpart of binary-cursor.ts (docs/spec/move.md §1.2). */
import { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { MAX_TABLE_INDEX, VERSION_9_SIGNED_INTEGERS } from '../../../src/move/modules/format.ts';
import { isIdentifier } from '../../../src/move/types/module-id.ts';

/**
 * Writes the parts of a binary. A value that exceeds its field, its limit or the version is a programming error and
 * throws RangeError.
 */
export class BinaryWriter {
  /** Version of the file, 5 to 10. */
  readonly version: number;
  readonly #out = new BcsWriter();

  constructor(version: number) {
    this.version = version;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#out.length;
  }

  /** The bytes written, as a view: valid until the next write. */
  view(): Buffer {
    return this.#out.view();
  }

  /** Asserts that the file's version supports `what`, introduced in version `since`. */
  requireVersion(since: number, what: string): void {
    if (this.version < since) {
      throw new RangeError(`${what} in version ${this.version}, came with ${since}`);
    }
  }

  u8(value: number): void {
    this.#out.u8(value);
  }

  u16(value: number): void {
    this.#out.u16(value);
  }

  u32(value: number): void {
    this.#out.u32(value);
  }

  /** A little-endian integer of 8 to 256 bits, two's complement when signed. */
  integer(value: bigint, bits: number, signed: boolean, what: string): void {
    const wrapped = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    if (wrapped !== value) {
      throw new RangeError(`${what} ${value} does not fit in ${bits} bits`);
    }
    let rest = BigInt.asUintN(bits, value);
    for (let done = 0; done < bits; done += 8) {
      this.#out.u8(Number(rest & 0xffn));
      rest >>= 8n;
    }
  }

  /** A ULEB128 number of at most `max`, itself at most 2^32 - 1. */
  uleb(value: number, max: number, what: string): void {
    if (value > max) throw new RangeError(`${what} ${value} above ${max}`);
    this.#out.uleb32(value);
  }

  /** A ULEB128 number of 64 bits. */
  uleb64(value: bigint, what: string): void {
    if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${what} ${value} is no u64`);
    let rest = value;
    while (rest > 0x7fn) {
      this.#out.u8(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#out.u8(Number(rest));
  }

  /** An index into any table. */
  index(value: number, what: string): void {
    this.uleb(value, MAX_TABLE_INDEX, what);
  }

  /** A boolean: 2 is true, 1 is false. */
  flag(value: boolean): void {
    this.#out.u8(value ? 2 : 1);
  }

  /** ULEB128 count and the items. */
  list<T>(items: readonly T[], max: number, what: string, write: (item: T) => void): void {
    this.uleb(items.length, max, what);
    for (const item of items) write(item);
  }

  /** ULEB128 length and the bytes. */
  blob(bytes: Uint8Array, maxBytes: number, what: string): void {
    this.uleb(bytes.length, maxBytes, what);
    this.#out.fixed(bytes);
  }

  /** Raw bytes without length. */
  fixed(bytes: Uint8Array): void {
    this.#out.fixed(bytes);
  }

  /** The 32 bytes of an address. */
  address(address: string): void {
    this.#out.address(address);
  }

  /** A name of at most `maxBytes`. */
  identifier(name: string, maxBytes: number): void {
    if (!isIdentifier(name)) throw new RangeError(`invalid identifier ${JSON.stringify(name)}`);
    if (name.includes('$')) this.requireVersion(VERSION_9_SIGNED_INTEGERS, '$ in an identifier');
    this.blob(Buffer.from(name, 'ascii'), maxBytes, 'identifier length');
  }
}
