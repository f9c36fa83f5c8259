/**
 * A look at LMDB's data file before the engine gets it: given a file that is not its own, or one that was cut short,
 * the engine (3.5.6) does not refuse but takes the whole process down. Offsets were read off files that it wrote.
 *
 * A sound file may be shorter than its last page: pages that a commit takes at the end of the file and frees again are
 * never written. So a short file is sound exactly when the engine's list of free pages names all that are missing. That
 * list is a tree: a page has a header of 24 bytes, then offsets of nodes, counted from the header's end; a leaf's node
 * is a count and 64-bit page numbers, with −n before the first of n pages in a row.
 */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Files of a store; version 0.1 may have left an empty `kept-pages-…` when it was killed. */
export const STORE_FILE = /^(?:(?:data|lock)\.mdb|kept-pages-[0-9a-f]{16})$/;

const MAGIC_AT = 24;
const MAGIC = 0xbeef_c0de;
const VERSION_AT = 28;
const VERSION = 2;
const VERSION_MASK = 0xffff;
const PAGE_SIZE_AT = 48;
const FREE_ROOT_AT = 88;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const META_BYTES = 160;
/**
 * Bytes of a page in an environment that is made here; an existing one has its own. Most transactions fit in half a
 * page; with pages of 4 KiB each would need its own page. And a tree of half as many pages has fewer that change with
 * a commit. Measured on 850,000 transactions: a sixth less of the disk, a fifth less processor time of the engine.
 */
export const PAGE_BYTES = 8192;
/** The engine writes both metas and a page before it first waits for the disk: a power cut leaves any part. */
const MAX_UNMADE_BYTES = 3 * PAGE_BYTES;
/** What a disk writes whole, in bytes. */
const SECTOR_BYTES = 512;
/** Pages are at least this large, in bytes, and a power of two. */
const MIN_PAGE_BYTES = 256;
const MAX_PAGE_BYTES = 65_536;
/** Maximum bytes at the end of a file that may be unwritten: the size of the largest commit. */
const MAX_UNWRITTEN_BYTES = 512 * 1024 * 1024;

const HEADER_BYTES = 24;
const FLAGS_AT = 18;
const LOWER_AT = 20;
const OFFSET_BYTES = 2;
const NODE_HEADER_BYTES = 8;
const BRANCH_FLAG = 1;
const LEAF_FLAG = 2;
const OVERFLOW_NODE_FLAG = 1;
const NUMBER_BYTES = 8;
/** Maximum pages and levels read of the tree of free pages: far more than any store has. */
const MAX_TREE_PAGES = 100_000;
const MAX_TREE_DEPTH = 16;
/** Longest list of free pages that is read, in bytes. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/**
 * The content of a folder: nothing yet, a file whose first write was cut off, LMDB's data file, a damaged one, or
 * another file of the same name.
 */
type DataFileKind = 'absent' | 'unmade' | 'lmdb' | 'damaged' | 'foreign';

interface DataFile {
  readonly file: number;
  readonly pageBytes: number;
  readonly sizeBytes: number;
}

/** The file that holds the whole ledger. */
export function dataFileOf(directory: string): string {
  return join(directory, 'data.mdb');
}

/** The table of active readers, which the engine makes again when it is missing. */
export function lockFileOf(directory: string): string {
  return join(directory, 'lock.mdb');
}

/** Looks at the data file of a folder. A writer that was killed right at its start leaves an empty one. */
export function inspectDataFile(directory: string): DataFileKind {
  let file: number;
  try {
    file = openSync(dataFileOf(directory), 'r');
  } catch {
    return 'absent';
  }
  try {
    return kindOf(file);
  } catch (error) {
    if (error instanceof RangeError) return 'damaged';
    throw error;
  } finally {
    closeSync(file);
  }
}

/** @throws RangeError for a list of free pages that cannot be read */
function kindOf(file: number): DataFileKind {
  const first = readMeta(file, 0);
  if (first.length === 0) return 'absent';
  if (isUnmade(file, first)) return 'unmade';
  if (!isMeta(first)) return 'foreign';
  const pageBytes = first.readUInt32LE(PAGE_SIZE_AT);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES || !isPowerOfTwo) return 'damaged';
  const second = readMeta(file, pageBytes);
  if (!isMeta(second)) return 'damaged';
  const isSecondNewer =
    second.readBigUInt64LE(TRANSACTION_AT) > first.readBigUInt64LE(TRANSACTION_AT);
  const newest = isSecondNewer ? second : first;
  // A commit writes its pages before the meta page that names the last of them, and files never shrink.
  const sizeBytes = fstatSync(file).size;
  const lastPage = Number(newest.readBigUInt64LE(LAST_PAGE_AT));
  if (sizeBytes >= (lastPage + 1) * pageBytes) return 'lmdb';
  const firstMissing = Math.floor(sizeBytes / pageBytes);
  if ((lastPage - firstMissing) * pageBytes >= MAX_UNWRITTEN_BYTES) return 'damaged';
  const missing = new Set<number>();
  for (let page = firstMissing; page <= lastPage; page += 1) missing.add(page);
  const root = Number(newest.readBigUInt64LE(FREE_ROOT_AT));
  for (const list of freeLists({ file, pageBytes, sizeBytes }, root)) strikeOut(missing, list);
  return missing.size === 0 ? 'lmdb' : 'damaged';
}

/** Whether not even the pages of the metas that the engine begins with are whole: nothing was ever committed. */
function isUnmade(file: number, first: Buffer): boolean {
  const { size } = fstatSync(file);
  if (size > MAX_UNMADE_BYTES || size % SECTOR_BYTES !== 0) return false;
  // Environments are made with pages of this size.
  if (isMeta(first) && first.readUInt32LE(PAGE_SIZE_AT) !== PAGE_BYTES) return false;
  const metas = [first, readMeta(file, PAGE_BYTES)];
  if (metas.every(isMeta) && size >= 2 * PAGE_BYTES) return false;
  return metas.every((meta) => {
    if (meta.every((byte) => byte === 0)) return true;
    return isMeta(meta) && meta.readBigUInt64LE(TRANSACTION_AT) === 0n;
  });
}

/** One of the two meta pages, or as much of it as is there. */
function readMeta(file: number, position: number): Buffer {
  const meta = Buffer.alloc(META_BYTES);
  return meta.subarray(0, readSync(file, meta, 0, META_BYTES, position));
}

function isMeta(meta: Buffer): boolean {
  return (
    meta.length === META_BYTES &&
    meta.readUInt32LE(MAGIC_AT) === MAGIC &&
    (meta.readUInt32LE(VERSION_AT) & VERSION_MASK) === VERSION
  );
}

/** Removes the pages of a list. @throws RangeError for a list that is cut short */
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

/** The lists of free pages. @throws RangeError for pages that are missing or of another kind */
function* freeLists(data: DataFile, root: number): Generator<Buffer> {
  const open: { page: number; depth: number }[] = [{ page: root, depth: 0 }];
  for (let looked = 0; open.length > 0; looked += 1) {
    const { page, depth } = open.pop()!;
    if (looked >= MAX_TREE_PAGES || depth >= MAX_TREE_DEPTH) throw new RangeError('no such tree');
    const bytes = readBytes(data, page, data.pageBytes);
    const flags = bytes.readUInt16LE(FLAGS_AT);
    if ((flags & (BRANCH_FLAG | LEAF_FLAG)) === 0) throw new RangeError('neither branch nor leaf');
    for (let at = 0; at < bytes.readUInt16LE(LOWER_AT); at += OFFSET_BYTES) {
      const node = HEADER_BYTES + bytes.readUInt16LE(HEADER_BYTES + at);
      if ((flags & BRANCH_FLAG) !== 0) {
        open.push({ page: Number(bytes.readUIntLE(node, 6)), depth: depth + 1 });
      } else {
        yield listOf(data, bytes, node);
      }
    }
  }
}

function listOf(data: DataFile, page: Buffer, node: number): Buffer {
  const sizeBytes = page.readUInt32LE(node);
  const at = node + NODE_HEADER_BYTES + page.readUInt16LE(node + 6);
  if ((page.readUInt16LE(node + 4) & OVERFLOW_NODE_FLAG) === 0) {
    return page.subarray(at, at + sizeBytes);
  }
  if (sizeBytes > MAX_LIST_BYTES) throw new RangeError('a list beyond all size');
  const start = Number(page.readBigUInt64LE(at));
  return readBytes(data, start, HEADER_BYTES + sizeBytes).subarray(HEADER_BYTES);
}

function readBytes({ file, pageBytes, sizeBytes }: DataFile, page: number, count: number): Buffer {
  const position = page * pageBytes;
  if (position + count > sizeBytes) throw new RangeError(`page ${page} is not in the file`);
  const bytes = Buffer.alloc(count);
  if (readSync(file, bytes, 0, count, position) < count) throw new RangeError('read short');
  return bytes;
}

/**
 * Creates a folder and its missing parents. One at a time: Node's recursive mkdir never returns on a file system that
 * reports a folder as missing but does not allow creating it (/proc).
 * @throws the system's error
 */
export function makeFolders(directory: string): void {
  const missing: string[] = [];
  for (let at = resolve(directory); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process created it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
