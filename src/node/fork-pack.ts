/** Packed forks: `daybook fork pack|unpack`, and nodes that open a pack. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { forkAnchor } from '../state/fork/make-fork.ts';
import { FORK_LAYOUT } from '../store/columns/fork-columns.ts';
import { copySqliteFile, openSqliteReader } from '../store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../store/store.ts';
import { assertForkFolder } from './fork-store.ts';
import { FolderLocation } from './locations/folder-location.ts';
import { NodeError, reasonOf } from './node-error.ts';
import { asNodeError, emptyStoreError } from './open-store.ts';
import { packedStore, sha256, unpackedStore } from './packed-store.ts';
import { readInputFile } from './settings/input.ts';

const MAX_PACK_BYTES = 64 * 1024 * 1024;
/** The unpacked file is held in memory. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

interface PackReport {
  readonly packBytes: number;
  readonly unpackedBytes: number;
  readonly digest: string;
}

/**
 * Packs a fork as it is now, also while a node serves it. The pack gets its name when it is complete; a file that has
 * the name is replaced. @throws NodeError `bad_setting`, `no_ledger`, `data_not_usable`
 */
export async function packFork(data: string, file: string): Promise<PackReport> {
  assertForkFolder(data);
  const unfinished = `${file}.unfinished`;
  try {
    await assertNotEmpty(openSqliteReader({ directory: data, layout: FORK_LAYOUT }), data);
    await copySqliteFile(data, unfinished, () => undefined, FORK_LAYOUT);
    const bytes = readFileSync(unfinished);
    const pack = await packedStore(bytes);
    if (bytes.length > MAX_UNPACKED_BYTES || pack.length > MAX_PACK_BYTES) {
      const message =
        `the fork in ${data} is too large for a pack: at most ${MAX_UNPACKED_BYTES} bytes, ` +
        `${MAX_PACK_BYTES} compressed`;
      throw new NodeError('data_not_usable', message);
    }
    writeFileSync(unfinished, pack);
    renameSync(unfinished, file);
    return reportOf(pack, bytes);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    const known = asNodeError(cause);
    if (known instanceof NodeError) throw known;
    const message = `cannot write ${file}: ${reasonOf(cause)}`;
    throw new NodeError('data_not_usable', message, { cause });
  }
}

/**
 * Unpacks a fork into an absent or empty folder. Killed before it resolves, it leaves no fork.
 * @throws NodeError `bad_setting`, `file_not_readable`, `damaged`, `ledger_exists`, `data_not_usable`
 */
export async function unpackFork(file: string, data: string): Promise<PackReport> {
  assertForkFolder(data);
  const pack = readInputFile(file, 'packed fork', MAX_PACK_BYTES);
  const bytes = await unpackedStore(pack, MAX_UNPACKED_BYTES).catch(() => undefined);
  if (bytes === undefined) {
    throw new NodeError('damaged', `${file} is not a packed fork, or it is damaged`);
  }
  const location = new FolderLocation(data, FORK_LAYOUT);
  try {
    await location.restoreStore(bytes, (store) => assertNotEmpty(store, data));
  } catch (cause) {
    throw asNodeError(cause);
  }
  return reportOf(pack, bytes);
}

async function assertNotEmpty(store: StoreReader, data: string): Promise<void> {
  const anchor = await forkAnchor(store);
  if (anchor === undefined) throw emptyStoreError(data);
}

function reportOf(pack: Buffer, { length }: Buffer): PackReport {
  const digest = sha256(pack).toString('hex');
  return { packBytes: pack.length, unpackedBytes: length, digest };
}
