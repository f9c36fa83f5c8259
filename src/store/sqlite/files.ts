/**
 * The files of a store's folder. A new store is built under a temporary name and moved into place in one step when it
 * is complete.
 *
 * A process must not open and close these files itself while it has them open through SQLite: the operating system
 * would release SQLite's locks.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LOCK_FILE, PROCESS_FILE } from './writer-lock.ts';

const FILE = 'ledger.db';
/** SQLite's write-ahead log and the memory that processes share. */
const COMPANIONS = ['-wal', '-shm'];
const NEW_FILE = /^ledger-[0-9a-f]{16}\.new$/;
const OWN_NAMES = [FILE, LOCK_FILE, PROCESS_FILE];

export function storeFileOf(folder: string): string {
  return join(folder, FILE);
}

export function isStoreFile(name: string): boolean {
  const [file] = name.split(/-(?:wal|shm|journal)$/);
  return OWN_NAMES.includes(file!) || NEW_FILE.test(file!);
}

export function storeFileBytes(folder: string): number {
  let bytes = 0;
  for (const path of [storeFileOf(folder), `${storeFileOf(folder)}-wal`]) {
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

export function newStoreFile(folder: string): string {
  return join(folder, `ledger-${randomBytes(8).toString('hex')}.new`);
}

/** Files of stores whose creation was started but not finished. */
export function unfinishedFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NEW_FILE.test(name))
    .map((name) => join(folder, name));
}

/** Removes the file itself last: if the process is killed, its name still leads to the others. */
export function removeStoreFile(path: string): void {
  for (const ending of [...COMPANIONS, '-journal', '']) rmSync(path + ending, { force: true });
}

/**
 * Moves a finished store into place and replaces an existing one. Its log must already be in the file on disk.
 * SQLite may still have the file open. Every later connection of this process then uses the same shared memory, so the
 * file of that memory must be moved to where other processes look for it.
 */
export function moveIntoPlace(path: string, folder: string): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > 0) throw new Error(`${path} has a log of ${logBytes} bytes`);
  const place = storeFileOf(folder);
  removeStoreFile(place);
  for (const ending of [...COMPANIONS, '']) {
    if (existsSync(path + ending)) renameSync(path + ending, place + ending);
  }
  syncToDisk(folder);
}

/** Replaces a store by another file. Nobody may have either open, and the log of the old store must be in its file. */
export function replaceStoreFile(path: string, folder: string): void {
  const place = storeFileOf(folder);
  for (const ending of [...COMPANIONS, '-journal']) rmSync(place + ending, { force: true });
  renameSync(path, place);
  syncToDisk(folder);
}

export function makeFolders(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(folder); made !== dirname(resolve(first)); made = dirname(made)) {
    syncToDisk(dirname(made));
  }
}

/** Syncs a file that nobody has open, or the entries of a folder. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
