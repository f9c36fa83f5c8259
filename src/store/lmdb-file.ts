/**
 * A look at LMDB's data file before the engine gets it: given a file that is not its own, the engine (3.5.6) does
 * not refuse but takes the whole process down. Offsets were read off files that it wrote.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

const MAGIC_AT = 24;
const MAGIC = 0xbeef_c0de;
const VERSION_AT = 28;
const VERSION = 2;
const VERSION_MASK = 0xffff;
const HEADER_BYTES = 32;

/** What stands in a folder: nothing yet, LMDB's data file, or something else of its name. */
export type DataFileKind = 'absent' | 'lmdb' | 'foreign';

/** Looks at the data file of a folder. An empty one is what a writer leaves that was stopped in its first moment. */
export function inspectDataFile(directory: string): DataFileKind {
  let file: number;
  try {
    file = openSync(join(directory, 'data.mdb'), 'r');
  } catch {
    return 'absent';
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const byteLength = readSync(file, header, 0, HEADER_BYTES, 0);
    if (byteLength === 0) return 'absent';
    const isOurs =
      byteLength === HEADER_BYTES &&
      header.readUInt32LE(MAGIC_AT) === MAGIC &&
      (header.readUInt32LE(VERSION_AT) & VERSION_MASK) === VERSION;
    return isOurs ? 'lmdb' : 'foreign';
  } finally {
    closeSync(file);
  }
}
