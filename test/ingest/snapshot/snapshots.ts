/** Snapshots in tests: made, loaded, and compared with ledgers from genesis. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { localVerifier } from '../../../src/ingest/feed/verifier.ts';
import {
  type LoadedSnapshot,
  type LoadOptions,
  SnapshotLoad,
  type SnapshotSource,
} from '../../../src/ingest/snapshot/load-snapshot.ts';
import { makeSnapshot, type SnapshotRequest } from '../../../src/ingest/snapshot/make-snapshot.ts';
import { openSnapshotFiles } from '../../../src/ingest/snapshot/snapshot-files.ts';
import { JOURNAL_NAME } from '../../../src/ingest/snapshot/snapshot-journal.ts';
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

/** A folder that is gone when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-snapshot-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a snapshot in a folder of its own. */
export async function snapshotOf(store: StoreReader, request: Partial<SnapshotRequest> = {}) {
  const folder = join(temporaryFolder(), 'snapshot');
  const whole = { withTransactions: false, ...request };
  const made = await makeSnapshot(store, folder, whole, () => undefined);
  // As the command does.
  rmSync(join(folder, JOURNAL_NAME));
  return { folder, made };
}

export async function loadFrom(
  source: SnapshotSource,
  store: Store,
  options: Partial<LoadOptions> = {},
): Promise<LoadedSnapshot> {
  const load = await SnapshotLoad.open(source, {
    trustedRoots: [],
    verifier: localVerifier(),
    onProgress: () => undefined,
    ...options,
  });
  return await load.into(store);
}

/** The ledger of a snapshot in a folder or file. */
export async function ledgerOf(
  path: string,
  options: Partial<LoadOptions> = {},
): Promise<{ readonly store: Store; readonly loaded: LoadedSnapshot }> {
  const store = new MemoryStore();
  const source = await openSnapshotFiles(path);
  try {
    return { store, loaded: await loadFrom(source, store, options) };
  } finally {
    await source.close();
  }
}

/** By column, the rows; what a snapshot does not know is left out: which version before its own wrote a value. */
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
