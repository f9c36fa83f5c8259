/**
 * Packs the rows of a batch into pieces of memory, which are transferred between threads without being copied. A row
 * that is longer than a piece gets its own piece.
 *
 * A row consists of its kind (u8), the high half of its value's length (u16), and an entry in the format of SQLite's
 * sorted runs (sqlite/runs/block.ts). The entry has the key's length (u16); the low half of the value's length, or
 * DELETED (u16); the key, which is the column's number, the partition and the order; and the value, after an INLINE
 * byte. So most rows are stored as they are. Numbers are little-endian.
 */
import type { Column } from './columns/columns.ts';

export const PUT = 0;
export const DELETE = 1;
/** The value is the end of the range, which is also a key. */
export const DELETE_RANGE = 2;
export const CLEAR_VERSION = 3;

const HIGH_AT = 1;
const ENTRY_AT = 3;
const KEY_AT = 7;
const DELETED = 0xffff;
/** The byte before a value. It says that the value follows and is not stored elsewhere. */
export const INLINE = 0;

/** Bytes of the first piece and of usual large ones, below the sizes that malloc returns to the system at once. */
const FIRST_PIECE_BYTES = 8 * 1024;
const MAX_PIECE_BYTES = 64 * 1024;

const NO_BYTES = Buffer.from(new ArrayBuffer(0));
/** Up to this many bytes are copied in a loop: a call into the runtime would take longer. */
const MAX_COPIED_BYTES = 64;

export class PackedRows {
  readonly #full: Buffer<ArrayBuffer>[] = [];
  #piece = NO_BYTES;
  #end = 0;
  #isTaken = false;
  count = 0;

  add(
    kind: number,
    column: number,
    partition: Uint8Array,
    order: Uint8Array,
    value?: Uint8Array,
  ): void {
    const keyBytes = 1 + partition.length + order.length;
    const valueBytes = value === undefined ? 0 : 1 + value.length;
    this.#makeRoom(KEY_AT + keyBytes + valueBytes);
    const piece = this.#piece;
    let at = this.#end;
    piece[at] = kind;
    putU16(piece, at + HIGH_AT, valueBytes >>> 16);
    putU16(piece, at + ENTRY_AT, keyBytes);
    putU16(piece, at + ENTRY_AT + 2, value === undefined ? DELETED : valueBytes & 0xffff);
    at += KEY_AT;
    piece[at] = column;
    at = put(piece, at + 1, partition);
    at = put(piece, at, order);
    if (value !== undefined) {
      piece[at] = INLINE;
      at = put(piece, at + 1, value);
    }
    this.#end = at;
    this.count += 1;
  }

  get pieces(): readonly Buffer<ArrayBuffer>[] {
    if (this.#isTaken) throw new RangeError('a batch is committed once');
    return this.#end === 0 ? [] : [...this.#full, this.#piece.subarray(0, this.#end)];
  }

  /** Returns the pieces, which the caller owns from now on. */
  take(): readonly Buffer<ArrayBuffer>[] {
    const { pieces } = this;
    this.#isTaken = true;
    return pieces;
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#piece.length) return;
    if (this.#isTaken) throw new RangeError('a batch that is committed does not change');
    if (this.#end > 0) this.#full.push(this.#piece.subarray(0, this.#end));
    const usual = Math.min(MAX_PIECE_BYTES, 2 * this.#piece.length);
    this.#piece = Buffer.from(new ArrayBuffer(Math.max(FIRST_PIECE_BYTES, usual, bytes)));
    this.#end = 0;
  }
}

function put(piece: Uint8Array, at: number, part: Uint8Array): number {
  const { length } = part;
  if (length > MAX_COPIED_BYTES) piece.set(part, at);
  else for (let from = 0; from < length; from += 1) piece[at + from] = part[from]!;
  return at + length;
}

function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = value >>> 8;
}

function u16At(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

/** Iterates over the rows of a piece. */
export class PackedReader {
  readonly bytes: Buffer;
  kind = PUT;
  entryAt = 0;
  keyAt = 0;
  keyEnd = 0;
  /** Where the row ends. */
  end = 0;

  constructor(piece: Uint8Array) {
    this.bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  }

  /** Moves to the next row. @returns false after the last one */
  next(): boolean {
    const { bytes, end: at } = this;
    if (at >= bytes.length) return false;
    this.kind = bytes[at]!;
    this.entryAt = at + ENTRY_AT;
    this.keyAt = at + KEY_AT;
    this.keyEnd = this.keyAt + u16At(bytes, at + ENTRY_AT);
    const low = u16At(bytes, at + ENTRY_AT + 2);
    const hasValue = this.kind === PUT || this.kind === DELETE_RANGE;
    this.end = this.keyEnd + (hasValue ? u16At(bytes, at + HIGH_AT) * 0x1_0000 + low : 0);
    return true;
  }

  get column(): number {
    return this.bytes[this.keyAt]!;
  }

  get key(): Buffer {
    return this.bytes.subarray(this.keyAt, this.keyEnd);
  }

  get value(): Buffer | undefined {
    return this.kind === PUT || this.kind === DELETE_RANGE
      ? this.bytes.subarray(this.keyEnd + 1, this.end)
      : undefined;
  }
}

/** @param columnOf finds a column by its number */
export function rowsIn(pieces: readonly Buffer[], columnOf: (number: number) => Column) {
  const rows = [];
  for (const bytes of pieces) {
    for (const row = new PackedReader(bytes); row.next(); ) {
      const column = columnOf(row.column);
      const orderAt = row.keyAt + 1 + column.partitionBytes;
      const partition = bytes.subarray(row.keyAt + 1, orderAt);
      rows.push({
        column,
        partition,
        order: bytes.subarray(orderAt, row.keyEnd),
        value: row.value,
      });
    }
  }
  return rows;
}
