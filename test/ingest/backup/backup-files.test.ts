/** Files of backups: compression, records, limits. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BackupError } from '../../../src/ingest/backup/backup-error.ts';
import {
  readPair,
  readUnpacked,
  recordsOf,
  unpackPair,
} from '../../../src/ingest/backup/backup-files.ts';
import { FolderSource, unzip } from '../../../src/ingest/backup/backup-source.ts';
import { readInfoProof, readRangeProofOf } from '../../../src/ingest/backup/ledger-proofs.ts';
import { NEVER } from '../feed-following.ts';
import { newFolder } from './backup-chain.ts';
import { framed } from './backup-writer.ts';

const MALFORMED = { code: 'backup_malformed' };
const NAMES = { data: 'aaa/data.chunk', proof: 'aaa/data.proof' };

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof BackupError) return `${error.file}: ${error.message}`;
    throw error;
  }
}

describe('a file', () => {
  it('may be compressed or not', async () => {
    const folder = newFolder();
    const source = new FolderSource(folder);
    const content = Buffer.from('{"a":1}');
    writeFileSync(join(folder, 'one'), content);
    writeFileSync(join(folder, 'two'), gzipSync(content));
    expect(await readUnpacked(source, 'one', NEVER)).toEqual(content);
    expect(await readUnpacked(source, 'two', NEVER)).toEqual(content);
    writeFileSync(join(folder, 'bad'), gzipSync(content).subarray(0, -3));
    await expect(readUnpacked(source, 'bad', NEVER)).rejects.toMatchObject(MALFORMED);
  });

  it('is read up to a size, as stored and unpacked', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'one'), Buffer.alloc(100));
    for (const most of [101, 100]) {
      expect(await new FolderSource(folder).read('one', NEVER, most)).toHaveLength(100);
    }
    const refused = new FolderSource(folder).read('one', NEVER, 99);
    await expect(refused).rejects.toMatchObject(MALFORMED);
    const packed = gzipSync(Buffer.alloc(100));
    for (const most of [101, 100]) expect(await unzip(packed, 'one', most)).toHaveLength(100);
    await expect(unzip(packed, 'one', 99)).rejects.toMatchObject(MALFORMED);
    writeFileSync(join(folder, 'packed'), packed);
    const read = (most: number) => readUnpacked(new FolderSource(folder), 'packed', NEVER, most);
    for (const most of [101, 100]) expect(await read(most)).toHaveLength(100);
    await expect(read(99)).rejects.toMatchObject(MALFORMED);
  });
});

describe('a proof', () => {
  // The proof of a version from 2^30 on has 31 siblings.
  const proof = Buffer.concat([Buffer.of(0x1f, 0x8b), Buffer.alloc(40)]);

  it('is compressed if its data is, whatever bytes it begins with', async () => {
    const data = framed([Buffer.from('record')]);
    expect(await unpackPair({ data, proof }, NAMES)).toEqual({ data, proof });
    const packed = { data: gzipSync(data), proof: gzipSync(proof) };
    expect(await unpackPair(packed, NAMES)).toEqual({ data, proof });
    const mixed = unpackPair({ data: gzipSync(data), proof }, NAMES);
    await expect(mixed).rejects.toMatchObject({ ...MALFORMED, file: NAMES.proof });
  });

  it('has up to 63 siblings', () => {
    for (const read of [readInfoProof, readRangeProofOf]) {
      const withSiblings = (count: number) =>
        codeOf(() => read(Buffer.concat([Buffer.of(count), Buffer.alloc(count * 32)]), 'proof'));
      // The bytes after the siblings are missing, but only 64 siblings are refused for their number.
      expect(withSiblings(62)).not.toContain('siblings');
      expect(withSiblings(63)).not.toContain('siblings');
      expect(withSiblings(64)).toContain('64 siblings');
    }
  });
});

describe('the records of a chunk', () => {
  const two = framed([Buffer.from('one'), Buffer.from('three')]);
  const read = (bytes: Buffer, count: bigint) => [...recordsOf(bytes, count, 'x')];

  it('are as many as the manifest says', () => {
    expect(read(two, 2n).map(String)).toEqual(['one', 'three']);
    expect(read(Buffer.alloc(0), 0n)).toEqual([]);
    for (const count of [0n, 1n, 3n]) expect(() => read(two, count)).toThrow(BackupError);
  });

  it('are whole, and none is empty', () => {
    for (const end of [1, 3, 4, 6, 8, 15]) {
      expect(() => read(two.subarray(0, end), 2n), String(end)).toThrow(BackupError);
    }
    expect(() => read(framed([Buffer.alloc(0)]), 1n)).toThrow(BackupError);
    const huge = Buffer.from('ffffffff00', 'hex');
    expect(() => read(huge, 1n)).toThrow(BackupError);
  });
});

it('data and proof are read together', async () => {
  const folder = newFolder();
  const source = new FolderSource(folder);
  await expect(readPair(source, NAMES, NEVER)).rejects.toMatchObject({ code: 'backup_incomplete' });
});
