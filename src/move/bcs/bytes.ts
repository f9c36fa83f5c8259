/**
 * Converts bytes to texts and back, in Node and in web pages. Node's Buffer does this natively; in a browser, `Buffer`
 * is the type of a plain Uint8Array (web/src/buffer.d.ts) and the functions below use browser APIs.
 */

/** The part of `node:buffer` that is used here. */
interface NodeBytes {
  readonly Buffer: {
    allocUnsafe(byteLength: number): Buffer;
    byteLength(text: string, encoding: 'utf8'): number;
    compare(left: Uint8Array, right: Uint8Array): number;
    from(bytes: ArrayBufferLike, offset: number, byteLength: number): Buffer;
    from(text: string, encoding: 'hex' | 'utf8'): Buffer;
    isBuffer(bytes: Uint8Array): boolean;
  };
  isAscii(bytes: Uint8Array): boolean;
  isUtf8(bytes: Uint8Array): boolean;
}

interface NodeBuffer {
  toString(encoding: 'hex' | 'latin1' | 'utf8', start: number, end: number): string;
  write(text: string, offset: number, byteLength: number, encoding: 'latin1' | 'utf8'): number;
}

/** Offsets are in bytes; hex has two lower-case digits per byte and no prefix. */
interface ByteTools {
  asBuffer(bytes: Uint8Array): Buffer;
  /** Uninitialized memory. */
  allocate(byteLength: number): Buffer;
  /** Below 0, 0 or above 0. */
  compare(left: Uint8Array, right: Uint8Array): number;
  hexText(bytes: Buffer, start: number, end: number): string;
  /** One UTF-16 unit per byte. */
  latin1Text(bytes: Buffer, start: number, end: number): string;
  /** The bytes must be UTF-8. */
  utf8Text(bytes: Buffer, start: number, end: number): string;
  /** The digits come in pairs, in either case. */
  hexBytes(digits: string): Buffer;
  utf8Bytes(text: string): Buffer;
  utf8Length(text: string): number;
  /** Writes a text whose UTF-8 has `byteLength` bytes. */
  writeUtf8(bytes: Buffer, text: string, offset: number, byteLength: number): void;
  /** Writes a text of units up to 255, one byte per unit. */
  writeLatin1(bytes: Buffer, text: string, offset: number): void;
  isAscii(bytes: Uint8Array): boolean;
  isUtf8(bytes: Uint8Array): boolean;
}

function nodeTools({ Buffer, isAscii, isUtf8 }: NodeBytes): ByteTools {
  const native = (bytes: Buffer) => bytes as unknown as NodeBuffer;
  const asBuffer = (bytes: Uint8Array) =>
    Buffer.isBuffer(bytes)
      ? (bytes as Buffer)
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    asBuffer,
    allocate: (byteLength) => Buffer.allocUnsafe(byteLength),
    compare: (left, right) => Buffer.compare(left, right),
    hexText: (bytes, start, end) => native(bytes).toString('hex', start, end),
    latin1Text: (bytes, start, end) => native(bytes).toString('latin1', start, end),
    utf8Text: (bytes, start, end) => native(bytes).toString('utf8', start, end),
    hexBytes: (digits) => Buffer.from(digits, 'hex'),
    utf8Bytes: (text) => Buffer.from(text, 'utf8'),
    utf8Length: (text) => Buffer.byteLength(text, 'utf8'),
    writeUtf8: (bytes, text, offset, byteLength) => {
      native(bytes).write(text, offset, byteLength, 'utf8');
    },
    writeLatin1: (bytes, text, offset) => {
      native(bytes).write(text, offset, text.length, 'latin1');
    },
    isAscii,
    isUtf8,
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export const portableTools: ByteTools = {
  asBuffer: (bytes) => bytes as Buffer,
  allocate: (byteLength) => new Uint8Array(byteLength) as Buffer,
  compare: (left, right) => {
    const differs = left.findIndex((byte, index) => byte !== right[index]);
    if (differs < 0) return left.length - right.length;
    return differs < right.length ? left[differs]! - right[differs]! : 1;
  },
  hexText: (bytes, start, end) => {
    let text = '';
    for (const byte of bytes.subarray(start, end)) text += byte.toString(16).padStart(2, '0');
    return text;
  },
  latin1Text: (bytes, start, end) => {
    let text = '';
    for (const byte of bytes.subarray(start, end)) text += String.fromCharCode(byte);
    return text;
  },
  utf8Text: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  hexBytes: (digits) =>
    Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
      Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
    ) as Buffer,
  utf8Bytes: (text) => encoder.encode(text) as Buffer,
  utf8Length: (text) => encoder.encode(text).length,
  writeUtf8: (bytes, text, offset) => {
    encoder.encodeInto(text, bytes.subarray(offset));
  },
  writeLatin1: (bytes, text, offset) => {
    for (let at = 0; at < text.length; at += 1) bytes[offset + at] = text.charCodeAt(at);
  },
  isAscii: (bytes) => bytes.every((byte) => byte < 0x80),
  isUtf8: (bytes) => {
    try {
      decoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  },
};

interface NodeGlobals {
  readonly process?: { getBuiltinModule?(name: string): unknown };
}

/** A module of Node; undefined in a browser, where an import of it would fail. */
export function nodeModule(name: `node:${string}`): unknown {
  return (globalThis as NodeGlobals).process?.getBuiltinModule?.(name);
}

const node = nodeModule('node:buffer');

export const byteTools: ByteTools =
  node === undefined ? portableTools : nodeTools(node as NodeBytes);
