/**
 * A strict BCS reader over one bounds-checked cursor: canonical ULEB128, lengths checked against the remaining bytes
 * before memory is allocated, valid UTF-8, no trailing bytes (docs/spec/ledger.md §0).
 */
import { MoveError } from '../errors.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import { byteTools } from './bytes.ts';

/**
 * Why bytes are not BCS of the requested type. Besides plain BCS, for values of a layout (src/move/values):
 * - `signer`: signers are never stored;
 * - `bad_closure`: a function value of another version, or with too few or too many parts;
 * - `too_many_variants`, `unsupported_layout`: layouts inside closures;
 * - `size_limit`: over the byte budget, or over the limit of containers or items;
 * - `function_value`: an argument cannot be a function value.
 */
export type BcsErrorCode =
  | 'unexpected_end'
  | 'remaining_input'
  | 'uleb_not_minimal'
  | 'uleb_too_large'
  | 'length_too_large'
  | 'bad_bool'
  | 'bad_option'
  | 'bad_variant'
  | 'bad_utf8'
  | 'map_not_sorted'
  | 'too_deep'
  | 'bad_value'
  | 'signer'
  | 'bad_closure'
  | 'too_many_variants'
  | 'unsupported_layout'
  | 'size_limit'
  | 'function_value';

/** Bytes that are not canonical BCS of the requested type; `offset` counts from the reader's first byte. */
export class BcsError extends MoveError<BcsErrorCode> {
  readonly offset: number;
  /** The message without subject and position: the reference's text where the API shows it. */
  readonly detail: string;

  /** The message without the position, for operators. */
  readonly detailOfWhat: string;

  /** @param what whose bytes they are */
  constructor(code: BcsErrorCode, detail: string, offset: number, what?: string) {
    const detailOfWhat = what === undefined ? detail : `${detail} of ${what}`;
    super(code, `${detailOfWhat} at byte ${offset}`);
    this.offset = offset;
    this.detail = detail;
    this.detailOfWhat = detailOfWhat;
  }
}

/** Longest sequence BCS allows: 2^31 - 1 items or bytes. */
export const MAX_SEQUENCE_LENGTH = 0x7fff_ffff;

export const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** Longest text, in bytes, that is decoded here, because a call into the runtime takes longer. */
const MAX_SHORT_TEXT_BYTES = 12;

/** Bytes as text; undefined when one is not ASCII. */
function asciiText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = '';
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Reads BCS values in sequence. Every method throws BcsError on bad bytes. */
export class BcsReader {
  readonly buffer: Buffer;
  #offset: number;
  readonly #end: number;
  #itemsLeft: number;

  /** @param maxItems of all vectors and maps together: an item of one byte may be hundreds in memory */
  constructor(
    bytes: Uint8Array,
    start = 0,
    end = bytes.length,
    maxItems: number = MAX_SEQUENCE_LENGTH,
  ) {
    this.buffer = byteTools.asBuffer(bytes);
    this.#offset = start;
    this.#end = end;
    this.#itemsLeft = maxItems;
  }

  /** Position of the next byte. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes not read yet. */
  get remaining(): number {
    return this.#end - this.#offset;
  }

  /** Builds (does not throw) an error at the current or a given position. */
  error(code: BcsErrorCode, detail: string, offset = this.#offset): BcsError {
    return new BcsError(code, detail, offset);
  }

  #take(byteLength: number): number {
    const at = this.#offset;
    if (byteLength > this.#end - at) throw this.error('unexpected_end', 'unexpected end of input');
    this.#offset = at + byteLength;
    return at;
  }

  #word(at: number): number {
    const { buffer } = this;
    const upper = buffer[at + 2]! | (buffer[at + 3]! << 8);
    return (buffer[at]! | (buffer[at + 1]! << 8) | (upper << 16)) >>> 0;
  }

  #long(at: number): bigint {
    const low = BigInt(this.#word(at));
    const high = this.#word(at + 4);
    return high === 0 ? low : (BigInt(high) << 32n) | low;
  }

  u8(): number {
    return this.buffer[this.#take(1)]!;
  }

  u16(): number {
    const at = this.#take(2);
    return this.buffer[at]! | (this.buffer[at + 1]! << 8);
  }

  u32(): number {
    return this.#word(this.#take(4));
  }

  u64(): bigint {
    return this.#long(this.#take(8));
  }

  u128(): bigint {
    const at = this.#take(16);
    return this.#long(at) | (this.#long(at + 8) << 64n);
  }

  u256(): bigint {
    return this.u128() | (this.u128() << 128n);
  }

  /** A signed integer of 8, 16, 32, 64, 128 or 256 bits, two's complement. */
  signed(bits: 8 | 16 | 32 | 64 | 128 | 256): bigint {
    const byteLength = bits / 8;
    const at = this.#take(byteLength);
    let value = 0n;
    for (let index = byteLength - 1; index >= 0; index -= 1) {
      value = (value << 8n) | BigInt(this.buffer[at + index]!);
    }
    return BigInt.asIntN(bits, value);
  }

  bool(): boolean {
    const byte = this.u8();
    if (byte > 1) throw this.error('bad_bool', 'expected boolean', this.#offset - 1);
    return byte === 1;
  }

  /** ULEB128 of at most 32 bits, minimal form. */
  uleb32(): number {
    const start = this.#offset;
    const first = this.u8();
    // Nearly all numbers are small.
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.u8();
      const digit = byte & 0x7f;
      if (shift === 28 && digit > 0x0f) break;
      value += digit * 2 ** shift;
      if (byte < 0x80) {
        if (digit === 0) {
          throw this.error('uleb_not_minimal', 'ULEB128 encoding was not minimal in size', start);
        }
        return value;
      }
    }
    throw this.error(
      'uleb_too_large',
      'ULEB128-encoded integer did not fit in the target size',
      start,
    );
  }

  /**
   * The length of a sequence whose items have at least `minItemBytes` each. A length that exceeds the remaining bytes
   * is rejected here, before the caller allocates anything. 0 means: items may be empty (limited to 2^31-1).
   */
  length(minItemBytes = 1): number {
    const start = this.#offset;
    const count = this.uleb32();
    if (count > MAX_SEQUENCE_LENGTH) {
      throw this.error('length_too_large', `exceeded max sequence length: ${count}`, start);
    }
    if (count * minItemBytes > this.remaining) {
      throw this.error('unexpected_end', 'unexpected end of input', start);
    }
    return count;
  }

  /** Length of a sequence of items that are not bytes. */
  itemCount(minItemBytes: number): number {
    const start = this.#offset;
    const count = this.length(minItemBytes);
    this.#itemsLeft -= count;
    if (this.#itemsLeft < 0) throw this.error('size_limit', 'too many items', start);
    return count;
  }

  /** ULEB128 variant index below `count`. */
  variant(count: number, what: string): number {
    const start = this.#offset;
    const index = this.uleb32();
    if (index >= count) {
      const text = `invalid value: integer \`${index}\`, expected variant index 0 <= i < ${count}`;
      throw new BcsError('bad_variant', text, start, what);
    }
    return index;
  }

  /** Skips raw bytes. @returns where they begin in `buffer` */
  skip(byteLength: number): number {
    return this.#take(byteLength);
  }

  /** `byteLength` raw bytes, as a view of the input. */
  fixed(byteLength: number): Buffer {
    const at = this.#take(byteLength);
    return this.buffer.subarray(at, at + byteLength);
  }

  /** Length-prefixed bytes, as a view of the input. */
  bytes(): Buffer {
    return this.fixed(this.length(1));
  }

  /** Length-prefixed UTF-8. */
  string(): string {
    const start = this.#offset;
    const text = this.text();
    if (text === undefined) throw this.error('bad_utf8', 'utf8 error', start);
    return text;
  }

  /** Length-prefixed bytes as text; undefined when they are not UTF-8. */
  text(): string | undefined {
    const byteLength = this.length(1);
    const at = this.#take(byteLength);
    const end = at + byteLength;
    if (byteLength <= MAX_SHORT_TEXT_BYTES) {
      const short = asciiText(this.buffer, at, end);
      if (short !== undefined) return short;
    }
    const { isUtf8, utf8Text } = byteTools;
    return isUtf8(this.buffer.subarray(at, end)) ? utf8Text(this.buffer, at, end) : undefined;
  }

  address(): Address {
    const at = this.#take(ADDRESS_BYTES);
    return byteTools.hexText(this.buffer, at, at + ADDRESS_BYTES);
  }

  option<T>(read: (reader: this) => T): T | undefined {
    const tag = this.u8();
    if (tag > 1) throw this.error('bad_option', 'expected option type', this.#offset - 1);
    return tag === 1 ? read(this) : undefined;
  }

  vector<T>(minItemBytes: number, read: (reader: this) => T): T[] {
    const count = this.itemCount(minItemBytes);
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(read(this));
    return items;
  }

  /**
   * A BCS map: entries strictly increasing by the serialized bytes of their keys, as every canonical writer
   * writes them; any other order is refused.
   */
  map<K, V>(
    minEntryBytes: number,
    readKey: (reader: this) => K,
    readValue: (reader: this) => V,
  ): [K, V][] {
    const count = this.itemCount(minEntryBytes);
    const entries: [K, V][] = [];
    let previous: Buffer | undefined;
    for (let index = 0; index < count; index += 1) {
      const start = this.#offset;
      const key = readKey(this);
      const keyBytes = this.buffer.subarray(start, this.#offset);
      if (previous !== undefined && byteTools.compare(previous, keyBytes) >= 0) {
        throw this.error('map_not_sorted', 'map keys are not in strictly increasing order', start);
      }
      previous = keyBytes;
      entries.push([key, readValue(this)]);
    }
    return entries;
  }

  finish(): void {
    if (this.remaining !== 0) throw this.error('remaining_input', 'remaining input');
  }
}

/** Decodes one value that must use all of `bytes`. */
export function decodeBcs<T>(bytes: Uint8Array, read: (reader: BcsReader) => T): T {
  const reader = new BcsReader(bytes);
  const value = read(reader);
  reader.finish();
  return value;
}
