/**
 * Packed forks: `daybook fork pack|unpack`, and nodes that open a pack. A file is a line that names the format, the
 * SHA-256 of the rest, then the rows, compressed with Brotli (docs/data-layout.md).
 */
import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { MAX_PACKED_BYTES, packRows, unpackRows } from '../fork/fork-pack.ts';
import { forkAnchor } from '../fork/make-fork.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import type { Batch } from '../store/batch.ts';
import { HEAD } from '../store/columns/columns.ts';
import { FORK_LAYOUT } from '../store/columns/fork-columns.ts';
import { refuseDatabase } from './fork-store.ts';
import { FolderLocation } from './locations/folder-location.ts';
import { NodeError, reasonOf } from './node-error.ts';
import { asNodeError, emptyStoreError } from './open-store.ts';
import { readInputFile } from './settings/input.ts';

const MAGIC = Buffer.from('daybook fork pack 1\n');
const DIGEST_BYTES = 32;
/** Most bytes of a pack. */
const MAX_PACK_BYTES = 64 * 1024 * 1024;
/** Higher qualities take ten times as long and save a tenth. */
const COMPRESSION = {
  [constants.BROTLI_PARAM_QUALITY]: 9,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

interface PackReport {
  readonly packBytes: number;
  /** Of the rows. */
  readonly unpackedBytes: number;
  /** SHA-256 of the file. */
  readonly digest: string;
}

/**
 * Packs a fork as it is now, also while a node serves it. The file is there when it is complete; one that was there
 * is replaced.
 * @throws NodeError `bad_setting`, `no_ledger`, `data_not_usable`
 */
export async function packFork(data: string, file: string): Promise<PackReport> {
  refuseDatabase(data);
  const rows = await rowsOf(data);
  const compressed = rows && (await promisify(brotliCompress)(rows, { params: COMPRESSION }));
  if (compressed === undefined || compressed.length > MAX_PACK_BYTES) {
    const message =
      `the fork in ${data} is too large for a pack: at most ${MAX_PACKED_BYTES} bytes of rows, ` +
      `${MAX_PACK_BYTES} compressed`;
    throw new NodeError('data_not_usable', message);
  }
  const bytes = Buffer.concat([MAGIC, digestOf(compressed), compressed]);
  const unfinished = `${file}.unfinished`;
  try {
    writeFileSync(unfinished, bytes);
    renameSync(unfinished, file);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    const message = `cannot write ${file}: ${reasonOf(cause)}`;
    throw new NodeError('data_not_usable', message, { cause });
  }
  return {
    packBytes: bytes.length,
    unpackedBytes: rows!.length,
    digest: digestOf(bytes).toString('hex'),
  };
}

async function rowsOf(data: string): Promise<Buffer | undefined> {
  try {
    const store = await new FolderLocation(data, FORK_LAYOUT).openSnapshot();
    try {
      const [head] = await store.scan(HEAD, { maxRows: 1, maxBytes: 1 });
      if (head === undefined) throw emptyStoreError(data);
      return await packRows(store);
    } finally {
      await store.close();
    }
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/**
 * Makes a fork of a pack in an absent or empty folder. Killed before it resolves, it leaves no fork.
 * @throws NodeError `bad_setting`, `file_not_readable`, `bad_input`, `damaged`, `ledger_exists`, `data_not_usable`
 */
export async function unpackFork(file: string, data: string): Promise<PackReport> {
  refuseDatabase(data);
  const pack = readInputFile(file, 'packed fork', MAX_PACK_BYTES + MAGIC.length + DIGEST_BYTES);
  const rows = await checkedRows(file, pack);
  const batch = batchOf(file, rows);
  const location = new FolderLocation(data, FORK_LAYOUT);
  try {
    await location.makeStore(async (store) => {
      await store.commit(batch);
      if ((await forkAnchor(store)) === undefined) throw damaged(file, 'it is of no ledger');
    });
  } catch (cause) {
    throw asNodeError(cause);
  }
  const digest = digestOf(pack).toString('hex');
  return { packBytes: pack.length, unpackedBytes: rows.length, digest };
}

async function checkedRows(file: string, pack: Buffer): Promise<Buffer> {
  if (!pack.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new NodeError('bad_input', `${file} is not a packed fork that this program reads`);
  }
  const digest = pack.subarray(MAGIC.length, MAGIC.length + DIGEST_BYTES);
  const compressed = pack.subarray(MAGIC.length + DIGEST_BYTES);
  if (!digest.equals(digestOf(compressed))) throw damaged(file, 'it does not have its digest');
  try {
    const limit = { maxOutputLength: MAX_PACKED_BYTES };
    return await promisify(brotliDecompress)(compressed, limit);
  } catch (cause) {
    throw damaged(file, reasonOf(cause), { cause });
  }
}

function batchOf(file: string, rows: Buffer): Batch {
  let batch: Batch | number;
  try {
    batch = unpackRows(rows);
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw damaged(file, cause.message, { cause });
  }
  if (typeof batch !== 'number') return batch;
  const message =
    `${file} is of a fork of format ${batch}, this program reads format ${FORK_LAYOUT.format}: ` +
    'use the Daybook that packed it, or record the fork again';
  throw new NodeError('bad_input', message);
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function damaged(file: string, problem: string, options?: ErrorOptions): NodeError {
  return new NodeError('damaged', `the packed fork ${file} is damaged (${problem})`, options);
}
