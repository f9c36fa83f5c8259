/** `daybook snapshot`: the state of a ledger at a version, as files in the format of public backups. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  makeSnapshot,
  SnapshotError,
  type SnapshotProgress,
  type SnapshotRequest,
  type SnapshotResult,
  UNFINISHED_ENDING,
} from '../../ingest/backup/make-snapshot.ts';
import { WriterLock } from '../../store/sqlite/writer-lock.ts';
import { isStoreError } from '../../store/store-error.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import { withReader } from '../open-store.ts';
import { grouped, withProgress } from '../progress.ts';
import { addReport, addSettingOption, describe, secondsSince, u64 } from './command-line.ts';

interface SnapshotFlags {
  readonly out: string;
  readonly version?: bigint;
  readonly withTransactions?: boolean;
}

export function define(command: Command): void {
  describe(command, {
    about:
      'A node may serve, write and prune the ledger meanwhile. daybook init --snapshot makes a ledger of the result and proves it.',
    examples: ['snapshot --data ./mainnet --out ./snapshot'],
  });
  addSettingOption(command, 'data')
    .requiredOption('--out <path>', 'folder to make')
    .option(
      '--version <version>',
      'version of the state, one that states its root; default the newest such',
      u64('a version'),
    )
    .option('--with-transactions', 'also the transactions after that version, with their events');
  addReport(command, async (flags: SnapshotFlags, { data }) => {
    const { out, version, withTransactions = false } = flags;
    const startedMs = performance.now();
    const made = await withProgress((show) =>
      snapshotLedger(data, out, { version, withTransactions }, ({ what, done }) =>
        show(() => `${what}: ${grouped(done)}`),
      ),
    );
    return {
      facts: {
        state_version: made.version,
        newest_version: made.newestVersion,
        state_root: made.stateRoot.toString('hex'),
        accumulator_root: made.accumulatorRoot.toString('hex'),
        keys: made.keys,
        chunks: made.chunks,
        bytes: made.bytes,
        content_bytes: made.contentBytes,
        seconds: secondsSince(startedMs),
      },
    };
  });
}

/**
 * Makes a snapshot of a ledger in a folder, which gets its name when the snapshot is complete.
 * @throws NodeError `no_ledger`, `data_not_usable`, `snapshot_refused`, `snapshot_exists`, `snapshot_locked`
 */
export async function snapshotLedger(
  data: string,
  out: string,
  request: SnapshotRequest,
  onProgress: (progress: SnapshotProgress) => void,
): Promise<SnapshotResult> {
  const unfinished = `${out}${UNFINISHED_ENDING}`;
  const [folder, workFolder] = [join(unfinished, 'snapshot'), join(unfinished, 'keys')];
  return await withReader(data, (store) =>
    withSnapshotErrors(() =>
      withFolderLock(unfinished, async () => {
        if (existsSync(out)) {
          throw new NodeError('snapshot_exists', `${out} exists already: give another --out`);
        }
        for (const left of [folder, workFolder]) {
          // A run that was killed has left its files.
          rmSync(left, { recursive: true, force: true });
          mkdirSync(left);
        }
        const made = await makeSnapshot(store, { folder, workFolder }, request, onProgress);
        renameSync(folder, out);
        return made;
      }),
    ),
  );
}

/** Runs `work` while no other process works in a folder, which is removed then. */
async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = lockOf(folder);
  try {
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** @throws NodeError `snapshot_locked` */
function lockOf(folder: string): WriterLock {
  try {
    return new WriterLock(folder);
  } catch (cause) {
    if (!isStoreError(cause, 'store_locked')) throw cause;
    const { pid } = cause as { readonly pid?: number };
    const by = pid === undefined ? 'another process' : `process ${pid}`;
    const message = `${by} makes the snapshot in ${folder}: wait for its end, or give another --out`;
    throw new NodeError('snapshot_locked', message, { cause });
  }
}

async function withSnapshotErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof SnapshotError) {
      throw new NodeError('snapshot_refused', cause.message, { cause });
    }
    const isFileError = cause instanceof Error && 'syscall' in cause;
    if (isFileError) throw new NodeError('data_not_usable', reasonOf(cause), { cause });
    throw cause;
  }
}
