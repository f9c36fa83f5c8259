/** Damages rows of a store's file as a disk does: in place, no matter who has the file open. */
import { closeSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { decodeManifest, type RunFacts } from '../../src/store/sqlite/runs/manifest.ts';
import type { Table } from '../../src/store/sqlite/stored-value.ts';

/** From SQLite's file format (sqlite.org/fileformat2.html). */
export const PAGE_BYTES = 4096;
const FILE_HEADER_BYTES = 100;
const LEAF_PAGE = 0x0d;
const LEAF_HEADER_BYTES = 8;
const INTERIOR_HEADER_BYTES = 12;
const RIGHTMOST_AT = 8;
/** Only the beginning of a longer row is on its leaf. */
const MOST_ON_LEAF = PAGE_BYTES - 35;
const LEAST_ON_LEAF = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23;

export interface StoredPlace {
  /** Offset of the row's leaf page. */
  readonly pageStart: number;
  /** Offset of the value. */
  readonly start: number;
  /** Bytes of the value that are on the leaf page. */
  readonly length: number;
}

/** The ids of the rows of a table. */
export function storedIds(directory: string, table: Table): number[] {
  return reading(directory, (database) =>
    database
      .prepare(`select id from ${table} order by id`)
      .all()
      .map(({ id }) => id as number),
  );
}

/** Position of a row in the file. The store is closed, so that SQLite's log is empty. */
export function findStored(directory: string, table: Table, id: number): StoredPlace {
  const path = storeFileOf(directory);
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > 0) throw new Error('the newest rows are in the log of SQLite');
  const root = reading(
    directory,
    (database) =>
      database.prepare('select rootpage from sqlite_schema where name = ?').get(table)['rootpage'],
  ) as number;
  const file = readFileSync(path);
  let pageStart = (root - 1) * PAGE_BYTES;
  while (file[headerOf(pageStart)] !== LEAF_PAGE) pageStart = childFor(file, pageStart, id);
  const found = rowsOfLeaf(file, pageStart).find((row) => row.id === id);
  if (found === undefined) throw new Error(`${table} has no row ${id}`);
  return { pageStart, ...found };
}

export function readStored(directory: string, table: Table, id: number): Buffer {
  const text = `select v from ${table} where id = ?`;
  return reading(directory, (database) => Buffer.from(database.prepare(text).get(id)['v']));
}

/** The sorted runs of a store, newest first. */
export function storedRuns(directory: string): readonly RunFacts[] {
  return decodeManifest(readStored(directory, 'manifest', 0)).runs;
}

/** Flips a bit in the middle of a row's value. */
export function flipInside(directory: string, table: Table, id: number): void {
  const { start, length } = findStored(directory, table, id);
  flipBit(directory, start + (length >> 1), 3);
}

export function flipBit(directory: string, at: number, bit: number): void {
  const file = openSync(storeFileOf(directory), 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** Overwrites bytes of the file. */
export function overwrite(directory: string, at: number, bytes: Uint8Array): void {
  const file = openSync(storeFileOf(directory), 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Fills all values of a row's page with garbage. */
export function spoilValues(directory: string, table: Table, id: number): void {
  const { pageStart } = findStored(directory, table, id);
  for (const { start, length } of rowsOfLeaf(readFileSync(storeFileOf(directory)), pageStart)) {
    overwrite(directory, start, Buffer.alloc(length, 0xff));
  }
}

/** Sets an invalid type for a row's page, which the engine refuses. */
export function spoilPage(directory: string, table: Table, id: number): void {
  overwrite(directory, headerOf(findStored(directory, table, id).pageStart), Buffer.of(0));
}

function reading<T>(
  directory: string,
  read: (database: InstanceType<typeof DatabaseSync>) => T,
): T {
  const database = new DatabaseSync(storeFileOf(directory), { readOnly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

function headerOf(pageStart: number): number {
  return pageStart === 0 ? FILE_HEADER_BYTES : pageStart;
}

function* cellsOf(file: Buffer, pageStart: number, headerBytes: number): Generator<number> {
  const header = headerOf(pageStart);
  for (let at = 0; at < file.readUInt16BE(header + 3); at += 1) {
    yield pageStart + file.readUInt16BE(header + headerBytes + 2 * at);
  }
}

/** Offset of the page below an interior one that may have a row. */
function childFor(file: Buffer, pageStart: number, id: number): number {
  let child = file.readUInt32BE(headerOf(pageStart) + RIGHTMOST_AT);
  for (const cell of cellsOf(file, pageStart, INTERIOR_HEADER_BYTES)) {
    if (varint(file, cell + 4).value < id) continue;
    child = file.readUInt32BE(cell);
    break;
  }
  return (child - 1) * PAGE_BYTES;
}

interface LeafRow {
  readonly id: number;
  readonly start: number;
  readonly length: number;
}

function rowsOfLeaf(file: Buffer, pageStart: number): LeafRow[] {
  return [...cellsOf(file, pageStart, LEAF_HEADER_BYTES)].map((cell) => {
    const payload = varint(file, cell);
    const id = varint(file, payload.end);
    const valueAt = varint(file, id.end).value;
    const length = bytesOnLeaf(payload.value) - valueAt;
    return { id: id.value, start: id.end + valueAt, length };
  });
}

function bytesOnLeaf(rowBytes: number): number {
  if (rowBytes <= MOST_ON_LEAF) return rowBytes;
  const some = LEAST_ON_LEAF + ((rowBytes - LEAST_ON_LEAF) % (PAGE_BYTES - 4));
  return some <= MOST_ON_LEAF ? some : LEAST_ON_LEAF;
}

function varint(file: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let end = at; ; end += 1) {
    const byte = file[end]!;
    if (end === at + 8) return { value: value * 256 + byte, end: end + 1 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: end + 1 };
  }
}
