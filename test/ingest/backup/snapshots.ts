/** Creates and loads snapshots in tests, and compares them with ledgers from genesis. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type BackupSource, FolderSource } from '../../../src/ingest/backup/backup-source.ts';
import { makeSnapshot, type SnapshotRequest } from '../../../src/ingest/backup/make-snapshot.ts';
import {
  type RestoredBackup,
  type RestoreProgress,
  restoreBackup,
  verifyBackup,
} from '../../../src/ingest/backup/restore.ts';
import type { TrustedRoot } from '../../../src/ingest/feed/page-verifier.ts';
import { localVerifier } from '../../../src/ingest/feed/verifier.ts';
import type { Waypoint } from '../../../src/move/transactions/waypoint.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  BALANCES,
  COLUMNS,
  type Column,
  type ScannedRow,
  STATE,
} from '../../../src/store/columns/columns.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { scanPages } from '../../../src/store/store.ts';
import { MemoryStore } from '../../store/memory-store.ts';

/** A folder that is removed when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-snapshot-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Small chunks, so that a sample has many. */
const CHUNK_BYTES = 64 * 1024;

/** Creates a snapshot in a folder of its own. */
export async function snapshotOf(store: StoreReader, request: Partial<SnapshotRequest> = {}) {
  const [folder, workFolder] = [temporaryFolder(), temporaryFolder()];
  const place = { folder, workFolder, chunkBytes: CHUNK_BYTES };
  const whole = { withTransactions: false, ...request };
  return { folder, made: await makeSnapshot(store, place, whole, () => undefined) };
}

interface Loading {
  readonly roots?: readonly TrustedRoot[];
  readonly genesis?: Waypoint;
  readonly onProgress?: (progress: RestoreProgress) => void;
}

export async function loadFrom(
  source: BackupSource,
  store: Store,
  { roots = [], genesis, onProgress = () => undefined }: Loading = {},
): Promise<RestoredBackup> {
  const trust = { kind: 'roots', roots, genesis } as const;
  const abort = new AbortController();
  try {
    const options = { trust, verifier: localVerifier(), onProgress };
    const restore = await verifyBackup(source, options, abort.signal);
    return await restoreBackup(restore, store);
  } finally {
    abort.abort();
  }
}

/** The ledger of a snapshot in a folder. */
export async function ledgerOf(
  folder: string,
  loading: Loading = {},
): Promise<{ readonly store: Store; readonly loaded: RestoredBackup }> {
  const store = new MemoryStore();
  return { store, loaded: await loadFrom(new FolderSource(folder), store, loading) };
}

/** Names of the files of a snapshot, as FOLDER/FILE. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name)).map((file) => `${name}/${file}`),
  );
}

/** Rows by column, without what a snapshot does not know: which version before its own wrote a value. */
export async function rowsSince(store: StoreReader, version: bigint) {
  const rows: Record<string, string[]> = {};
  for (const column of COLUMNS) {
    rows[column.name] = [];
    for await (const page of scanPages(store, column)) {
      for (const row of page) rows[column.name]!.push(rowText(column, row, version));
    }
  }
  return rows;
}

function rowText(column: Column, { partition, order, value }: ScannedRow, version: bigint): string {
  const text = (bytes: Buffer) => bytes.toString('hex');
  const since = (bytes: Buffer, isBigEndian: boolean) => {
    const found = isBigEndian ? bytes.readBigUInt64BE() : bytes.readBigUInt64LE();
    return found <= version ? 'before' : String(found);
  };
  if (column === STATE) return `${text(partition)} ${since(order, true)} ${text(value)}`;
  const isKey = column === ACCOUNT_KEYS || column === ACCOUNT_KEY_TAILS;
  if (value.length > 0 && (isKey || column === BALANCES)) {
    return `${text(partition)} ${text(order)} ${since(value, false)} ${text(value.subarray(8))}`;
  }
  return `${text(partition)} ${text(order)} ${text(value)}`;
}
