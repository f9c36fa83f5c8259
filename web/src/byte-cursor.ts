/** A strict reader over bytes for the parts of a signing message: BCS (docs/spec/encode.md §A5). */

/** The bytes are not what they should be; `offset` counts bytes from 0. */
export class BytesError extends Error {
  readonly code = 'unreadable_bytes';
  readonly offset: number;

  constructor(problem: string, offset: number) {
    super(`${problem} at byte ${offset}`);
    this.name = 'BytesError';
    this.offset = offset;
  }
}

/** Longest hex text read, in digits: 8 MiB of bytes, the largest request the node takes. */
export const MAX_HEX_DIGITS = 2 * 8 * 1024 * 1024;

/** Lower-case hex without `0x`. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads hex with or without `0x`; blanks between digits are ignored. @throws BytesError */
export function fromHex(text: string): Uint8Array {
  const digits = text.replaceAll(/\s+/g, '').replace(/^0x/, '');
  if (digits.length > MAX_HEX_DIGITS)
    throw new BytesError('too many hex digits', MAX_HEX_DIGITS / 2);
  const bad = digits.search(/[^0-9a-fA-F]/);
  if (bad >= 0) throw new BytesError(`"${digits[bad]}" is no hex digit`, Math.floor(bad / 2));
  if (digits.length % 2 === 1) throw new BytesError('odd number of hex digits', digits.length >> 1);
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  );
}

/**
 * Reads from the front; every method throws BytesError when the bytes do not suffice or are not
 * canonical.
 */
export class ByteCursor {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get remaining(): number {
    return this.bytes.length - this.offset;
  }

  take(length: number): Uint8Array {
    if (length > this.remaining) {
      throw new BytesError(`${length} bytes wanted, ${this.remaining} left`, this.offset);
    }
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  u8(): number {
    return this.take(1)[0]!;
  }

  /** Little-endian integer of `length` bytes. */
  unsigned(length: number): bigint {
    return this.take(length).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  }

  /** Little-endian two's complement integer of `length` bytes. */
  signed(length: number): bigint {
    return BigInt.asIntN(8 * length, this.unsigned(length));
  }

  bool(): boolean {
    const at = this.offset;
    const byte = this.u8();
    if (byte > 1) throw new BytesError(`${byte} is no boolean`, at);
    return byte === 1;
  }

  /** A length or variant index: ULEB128 in its shortest form, below 2^31. */
  uleb128(): number {
    const at = this.offset;
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) throw new BytesError('ULEB128 is not in shortest form', at);
        if (value >= 2 ** 31) break;
        return value;
      }
    }
    throw new BytesError('ULEB128 is above 2^31-1', at);
  }

  lengthPrefixed(): Uint8Array {
    return this.take(this.uleb128());
  }

  /** A length-prefixed UTF-8 string. */
  text(): string {
    const at = this.offset;
    const bytes = this.lengthPrefixed();
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      if (cause instanceof TypeError) throw new BytesError('string is not UTF-8', at);
      throw cause;
    }
  }

  /** 32 bytes, as the node prints them: `0x` and hex without leading zeros. */
  address(): string {
    return `0x${toHex(this.take(32)).replace(/^0+(?=.)/, '')}`;
  }
}
