/**
 * A look at LMDB's data file before the engine gets it: given a file that is not its own, or one
 * that was cut short, the engine (3.5.6) does not refuse but takes the whole process down. Offsets
 * were read off files that it wrote.
 */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { areFree } from './lmdb-free-pages.ts';

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
/** Pages are at least this large, in bytes, and a power of two. */
const MIN_PAGE_BYTES = 256;
const MAX_PAGE_BYTES = 65_536;
/**
 * Most bytes at the end of a file that may not have been written: as many as the largest commit has
 * of its own.
 */
const MAX_UNWRITTEN_BYTES = 512n * 1024n * 1024n;

/**
 * What stands in a folder: nothing yet, LMDB's data file, a damaged one, or something else of its
 * name.
 */
export type DataFileKind = 'absent' | 'lmdb' | 'damaged' | 'foreign';

/**
 * Looks at the data file of a folder. An empty one is what a writer leaves that was stopped in its
 * first moment.
 */
export function inspectDataFile(directory: string): DataFileKind {
  let file: number;
  try {
    file = openSync(join(directory, 'data.mdb'), 'r');
  } catch {
    return 'absent';
  }
  try {
    return kindOf(file);
  } finally {
    closeSync(file);
  }
}

function kindOf(file: number): DataFileKind {
  const first = readMeta(file, 0);
  if (first.length === 0) return 'absent';
  if (!isMeta(first)) return 'foreign';
  const pageBytes = first.readUInt32LE(PAGE_SIZE_AT);
  const isPageSize =
    pageBytes >= MIN_PAGE_BYTES &&
    pageBytes <= MAX_PAGE_BYTES &&
    (pageBytes & (pageBytes - 1)) === 0;
  if (!isPageSize) return 'damaged';
  const second = readMeta(file, pageBytes);
  if (!isMeta(second)) return 'damaged';
  const newest =
    second.readBigUInt64LE(TRANSACTION_AT) > first.readBigUInt64LE(TRANSACTION_AT) ? second : first;
  // A commit writes its pages before the meta page that names the last of them, and files never
  // shrink. Only pages that are free need not have been written.
  const sizeBytes = fstatSync(file).size;
  const lastPage = newest.readBigUInt64LE(LAST_PAGE_AT);
  if (BigInt(sizeBytes) >= (lastPage + 1n) * BigInt(pageBytes)) return 'lmdb';
  const firstMissing = Math.floor(sizeBytes / pageBytes);
  if ((lastPage - BigInt(firstMissing)) * BigInt(pageBytes) >= MAX_UNWRITTEN_BYTES)
    return 'damaged';
  const freeRoot = newest.readBigUInt64LE(FREE_ROOT_AT);
  const lmdb = { file, pageBytes, sizeBytes };
  return areFree(lmdb, freeRoot, firstMissing, Number(lastPage)) ? 'lmdb' : 'damaged';
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

/**
 * Makes a folder and those above it that are missing. One at a time: the runtime's recursive way never returns where
 * a file system says that a folder is not there and may not be made either (/proc).
 * @throws the system's error
 */
export function makeFolders(directory: string): void {
  const missing: string[] = [];
  for (let at = resolve(directory); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
