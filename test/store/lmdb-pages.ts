/** Damage to single pages of a data file, as a disk does it: in place, whoever has the file open. */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';

const FLAGS_AT = 18;
const LOWER_AT = 20;
const HEADER_BYTES = 24;
const OFFSET_BYTES = 2;
export const NODE_HEADER_BYTES = 8;
const LEAF_FLAG = 2;
const BIG_FLAG = 1;

/** A row's place in the file. */
export interface NodePlace {
  /** Where its page begins. */
  readonly pageStart: number;
  /** Where its node begins: size of the data u32, flags u16, size of the key u16, key, data. */
  readonly nodeStart: number;
}

/** A leaf, and where the nodes of its rows begin in the file, by key as Latin-1. */
export interface Leaf {
  readonly pageStart: number;
  /** Of the transaction that wrote it. */
  readonly transaction: bigint;
  readonly nodes: ReadonlyMap<string, number>;
}

/** All leaves of a file in its order, also those that a commit has left. */
export function leavesOf(directory: string): readonly Leaf[] {
  const file = readFileSync(dataFileOf(directory));
  const leaves: Leaf[] = [];
  for (let pageStart = 0; pageStart + PAGE_BYTES <= file.length; pageStart += PAGE_BYTES) {
    const page = file.subarray(pageStart, pageStart + PAGE_BYTES);
    if (page.readBigUInt64LE(0) !== BigInt(pageStart / PAGE_BYTES)) continue;
    if (page.readUInt16LE(FLAGS_AT) !== LEAF_FLAG) continue;
    const nodes = new Map<string, number>();
    for (let at = 0; at < page.readUInt16LE(LOWER_AT); at += OFFSET_BYTES) {
      const node = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + at);
      const start = node + NODE_HEADER_BYTES;
      const key = page.toString('latin1', start, start + page.readUInt16LE(node + 6));
      nodes.set(key, pageStart + node);
    }
    leaves.push({ pageStart, transaction: page.readBigUInt64LE(8), nodes });
  }
  return leaves;
}

/** Where the leaf is that has a key; the last one in the file, if a commit has left older ones. */
export function findRow(directory: string, key: Uint8Array): NodePlace {
  const name = Buffer.from(key).toString('latin1');
  const leaf = leavesOf(directory).findLast(({ nodes }) => nodes.has(name));
  if (leaf === undefined) throw new Error('no page has the key');
  return { pageStart: leaf.pageStart, nodeStart: leaf.nodes.get(name)! };
}

/** Where the value of a row is in the file, which may be on pages of its own. */
export function findValue(directory: string, key: Uint8Array) {
  const { nodeStart } = findRow(directory, key);
  const file = readFileSync(dataFileOf(directory));
  const start = nodeStart + NODE_HEADER_BYTES + key.length;
  const isOnPages = (file.readUInt16LE(nodeStart + 4) & BIG_FLAG) !== 0;
  const page = isOnPages ? Number(file.readBigUInt64LE(start)) : 0;
  return {
    start: isOnPages ? page * PAGE_BYTES + HEADER_BYTES : start,
    length: file.readUInt32LE(nodeStart),
  };
}

/** Flips a bit of a file. */
export function flipBit(directory: string, at: number, bit: number): void {
  const file = openSync(dataFileOf(directory), 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** Writes bytes over those of the file. */
export function overwrite(directory: string, at: number, bytes: Uint8Array): void {
  const file = openSync(dataFileOf(directory), 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Makes a page one of no kind, which the engine refuses. */
export function spoilPage(directory: string, { pageStart }: { readonly pageStart: number }): void {
  overwrite(directory, pageStart + FLAGS_AT, Buffer.of(0, 0));
}

/** Makes a page one without rows. */
export function emptyPage(directory: string, { pageStart }: { readonly pageStart: number }): void {
  overwrite(directory, pageStart + LOWER_AT, Buffer.of(0, 0));
}

/** Makes all values of a page rubbish, except those that are on pages of their own. */
export function spoilValues(directory: string, { pageStart }: NodePlace): void {
  const file = readFileSync(dataFileOf(directory));
  const page = file.subarray(pageStart, pageStart + PAGE_BYTES);
  for (let at = 0; at < page.readUInt16LE(LOWER_AT); at += OFFSET_BYTES) {
    const node = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + at);
    if (page.readUInt16LE(node + 4) !== 0) continue;
    const valueStart = node + NODE_HEADER_BYTES + page.readUInt16LE(node + 6);
    const value = Buffer.alloc(page.readUInt32LE(node), 0xff);
    overwrite(directory, pageStart + valueStart, value);
  }
}
