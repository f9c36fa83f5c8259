/** The rows that sorted runs consist of, in a database that they share. */
import { crc32 } from 'node:zlib';
import type { Transaction } from 'lmdb';
import type { RowKey } from '../../columns/columns.ts';
import { NO_ORDER } from '../../columns/order-key.ts';
import { markOf, OtherPageError, StoredValueError } from '../stored-value.ts';
import { type RunShape, WORD_BYTES } from './run-shape.ts';

/** A key is the column, one of these, and for the last three the run and a number, u32 big-endian. */
const GENERATION = 0;
const MANIFEST = 1;
export const BLOCK = 2;
export const FIRST_KEYS = 3;
export const FILTER = 4;
const HEAD_KEY_BYTES = 2;
const PART_KEY_BYTES = HEAD_KEY_BYTES + 8;
/** Words of one row of first keys or of a filter: with the checksum and the header, exactly eight pages of 8 KiB. */
export const PART_WORDS = 16_375;

/** The value of a generation: a number of two words, the low one first. */
export const GENERATION_WORDS = 2;

export interface ReadOptions {
  /** The snapshot that is read; the engine's newest if absent. */
  readonly transaction: Transaction;
}

/** A value, valid until the next read: the first `count` of some words. */
export interface VolatileWords {
  readonly words: Uint32Array;
  readonly count: number;
}

interface RunsRange {
  readonly start: RowKey;
  readonly end: RowKey | undefined;
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface RunsDatabase {
  get(key: RowKey, options?: ReadOptions): VolatileWords | undefined;
  getKeys(range: RunsRange & Partial<ReadOptions>): Iterable<Buffer>;
  put(key: RowKey, value: Uint8Array): unknown;
  remove(key: RowKey): unknown;
  /** Begins a new snapshot if the next read would. */
  ensureReadTxn(): void;
  getStats(): {
    readonly entryCount: number;
    readonly pageSize: number;
    readonly treeBranchPageCount: number;
    readonly treeLeafPageCount: number;
    readonly overflowPages: number;
  };
}

/**
 * A value of some words, with the checksum that all rows but the generation end with; there must be room for it.
 * @param mark of the key, where nothing else tells that the value is in its place
 */
export function sealed(words: Uint32Array, count: number, mark = 0): Uint8Array {
  words[count] = checksumOf(words, count) ^ mark;
  return new Uint8Array(words.buffer, words.byteOffset, (count + 1) * WORD_BYTES);
}

/** Whether a value has the number of words that it should have, besides its checksum, and the checksum is theirs. */
export function isSound(
  row: VolatileWords | undefined,
  count: number,
  mark = 0,
): row is VolatileWords {
  if (row?.count !== count + 1) return false;
  const other = (row.words[count]! ^ checksumOf(row.words, count)) >>> 0;
  return other === mark || other === 0;
}

/** The mark of the key of a row. */
export function markOfPart({ partition, order }: RowKey): number {
  return markOf(Buffer.concat([partition, order]));
}

function checksumOf({ buffer, byteOffset }: Uint32Array, count: number): number {
  return crc32(new Uint8Array(buffer, byteOffset, count * WORD_BYTES));
}

const heads = new Map<number, RowKey>();

/** The row that says whether the manifest has changed. */
export function generationKey({ column }: RunShape): RowKey {
  let key = heads.get(column);
  if (key === undefined) {
    key = { partition: Buffer.of(column, GENERATION), order: NO_ORDER };
    heads.set(column, key);
  }
  return key;
}

export function generationOf({ words }: VolatileWords): number {
  return words[1]! * 0x1_0000_0000 + words[0]!;
}

export function manifestKey({ column }: RunShape): RowKey {
  return { partition: Buffer.of(column, MANIFEST), order: NO_ORDER };
}

/** @param to a key of a block, which becomes that of another */
export function blockKey(shape: RunShape, run: number, block: number, to?: RowKey): RowKey {
  return partKey(shape, BLOCK, run, block, to);
}

export function partKey(
  { column }: RunShape,
  kind: number,
  run: number,
  part: number,
  to: RowKey = { partition: Buffer.of(column, kind), order: Buffer.allocUnsafe(8) },
): RowKey {
  const { order } = to;
  for (let byte = 0; byte < 4; byte += 1) {
    order[byte] = run >>> (24 - 8 * byte);
    order[byte + 4] = part >>> (24 - 8 * byte);
  }
  return to;
}

/**
 * Checks that a column was never written, whose generation is not there.
 * @param before the key before the place where it would be
 * @param behind the key behind it: a page that belongs elsewhere has others
 * @throws StoredValueError, OtherPageError
 */
export function checkUnwritten(before: Buffer | undefined, behind: Buffer | undefined): void {
  for (const key of [before, behind]) {
    if (key !== undefined && !isKeyOfRuns(key)) throw new OtherPageError();
  }
  if (behind !== undefined && behind[1] !== GENERATION) {
    throw new StoredValueError('the number of the last commit is missing');
  }
}

function isKeyOfRuns(key: Buffer): boolean {
  return key[1]! <= FILTER && key.length === (key[1]! < BLOCK ? HEAD_KEY_BYTES : PART_KEY_BYTES);
}

/** The keys of all rows of runs, besides their list. */
export function runRange({ column }: RunShape) {
  return {
    start: { partition: Buffer.of(column, BLOCK), order: NO_ORDER },
    end: { partition: Buffer.of(column, FILTER + 1), order: NO_ORDER },
  };
}

/** How many rows such words take. */
export function partsOf(words: number): number {
  return Math.ceil(words / PART_WORDS);
}
