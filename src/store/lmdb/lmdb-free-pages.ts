/**
 * Which pages of an LMDB file its list of free pages names. The engine (3.5.6) reserves pages in
 * blocks at the end of the file and writes them only when they are used, so a sound file may be
 * shorter than its last page says: by pages that are free. Layout, read off files that it wrote: a
 * page has a header of 24 bytes, then offsets of nodes, counted from the header's end; a list of
 * pages is a count and 64-bit numbers, −n before a page for n pages from it on.
 */
import { readSync } from 'node:fs';

const HEADER_BYTES = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const OFFSET_BYTES = 2;
const NODE_HEADER_BYTES = 8;
const BRANCH_FLAG = 1;
const LEAF_FLAG = 2;
const OVERFLOW_NODE_FLAG = 1;
const NUMBER_BYTES = 8;
/**
 * Most pages of the tree that are looked at, and most levels of it: far more than any store has.
 */
const MAX_TREE_PAGES = 100_000;
const MAX_TREE_DEPTH = 16;
/** Longest list that is read, in bytes. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** An open data file. */
export interface LmdbFile {
  readonly file: number;
  readonly pageBytes: number;
  readonly sizeBytes: number;
}

/**
 * Whether all pages from `first` to `last` are free.
 * @param root the root page of the database of free pages
 * @returns false also where the file cannot be read as it should
 */
export function areFree(lmdb: LmdbFile, root: bigint, first: number, last: number): boolean {
  const missing = new Set<number>();
  for (let page = first; page <= last; page += 1) missing.add(page);
  try {
    for (const list of freeLists(lmdb, Number(root))) strikeOut(missing, list);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  return missing.size === 0;
}

/** Takes the pages of a list away. @throws RangeError for a list that is cut short */
function strikeOut(pages: Set<number>, list: Buffer): void {
  const count = Number(list.readBigInt64LE(0));
  for (let at = 1; at <= count; at += 1) {
    const entry = Number(list.readBigInt64LE(at * NUMBER_BYTES));
    if (entry >= 0) {
      pages.delete(entry);
      continue;
    }
    at += 1;
    const start = Number(list.readBigInt64LE(at * NUMBER_BYTES));
    for (const page of pages) if (page >= start && page < start - entry) pages.delete(page);
  }
}

/** The lists of free pages. @throws RangeError for pages that are not there or not of their kind */
function* freeLists(lmdb: LmdbFile, root: number): Generator<Buffer> {
  const open: { page: number; depth: number }[] = [{ page: root, depth: 0 }];
  for (let looked = 0; open.length > 0; looked += 1) {
    const { page, depth } = open.pop()!;
    if (looked >= MAX_TREE_PAGES || depth >= MAX_TREE_DEPTH) throw new RangeError('no such tree');
    const bytes = readBytes(lmdb, page, lmdb.pageBytes);
    const flags = bytes.readUInt16LE(FLAGS_AT);
    if ((flags & (BRANCH_FLAG | LEAF_FLAG)) === 0) throw new RangeError('neither branch nor leaf');
    for (let at = 0; at < bytes.readUInt16LE(LOWER_AT); at += OFFSET_BYTES) {
      const node = HEADER_BYTES + bytes.readUInt16LE(HEADER_BYTES + at);
      if ((flags & BRANCH_FLAG) !== 0) {
        open.push({ page: Number(bytes.readUIntLE(node, 6)), depth: depth + 1 });
      } else {
        yield listOf(lmdb, bytes, node);
      }
    }
  }
}

function listOf(lmdb: LmdbFile, page: Buffer, node: number): Buffer {
  const sizeBytes = page.readUInt32LE(node);
  const data = node + NODE_HEADER_BYTES + page.readUInt16LE(node + 6);
  if ((page.readUInt16LE(node + 4) & OVERFLOW_NODE_FLAG) === 0) {
    return page.subarray(data, data + sizeBytes);
  }
  if (sizeBytes > MAX_LIST_BYTES) throw new RangeError('a list beyond all size');
  const start = Number(page.readBigUInt64LE(data));
  return readBytes(lmdb, start, HEADER_BYTES + sizeBytes).subarray(HEADER_BYTES);
}

function readBytes({ file, pageBytes, sizeBytes }: LmdbFile, page: number, count: number): Buffer {
  const position = page * pageBytes;
  if (position + count > sizeBytes) throw new RangeError(`page ${page} is not in the file`);
  const bytes = Buffer.alloc(count);
  if (readSync(file, bytes, 0, count, position) < count) throw new RangeError('read short');
  return bytes;
}
