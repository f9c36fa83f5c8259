/** The contents of a ledger's folder, read in this process, for tests that send requests to nodes. */
import { cpSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { type Address, addressFromBytes } from '../../src/move/types/address.ts';
import { ACCOUNT_KEYS, COLUMNS, EVENTS } from '../../src/store/columns/columns.ts';
import { decodeEventRow, decodeStreamId } from '../../src/store/columns/event-column.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { type VerifyReport, verifyLedger } from '../../src/verify/ledger.ts';
import { runCommand } from './command.ts';

/** Maximum number of rows to read: more than the small ledgers of tests have. */
const MOST_ROWS = { maxRows: 10_000, maxBytes: 1e9 };

/** A stream and the versions of its events by sequence number. */
export interface Stream {
  /** Path of its events below `/v1`. */
  readonly path: string;
  readonly address: Address;
  readonly versions: readonly bigint[];
}

/** Creates a sample ledger of 60 accounts, by copying the one that the first test of this run has created. */
export async function makeSample(data: string, transactions: number): Promise<void> {
  const made = join(inject('samplesFolder'), String(transactions));
  if (!existsSync(made)) {
    const own = `${made}-${process.pid}`;
    const args = ['--transactions', String(transactions), '--accounts', '60', '--seed', '8'];
    expect((await runCommand(['sample', '--data', own, ...args])).code).toBe(0);
    // Another file's test may have been faster.
    if (!existsSync(made)) renameSync(own, made);
  }
  cpSync(made, data, { recursive: true });
}

/** Creates a ledger that was not executed (bench/bulk-ledger). */
export async function makeBulkLedger(data: string, transactions: number): Promise<void> {
  const store = await openSqliteStore({ directory: data });
  const committer = new Committer(await LedgerWriter.open(store));
  await committer.pushAll(bulkChunks({ transactions, accounts: 60, seed: 8n }));
  await store.close();
}

/**
 * Verifies a ledger in this process, which saves starting a command. It must be sound and have at least this version.
 */
export async function expectSound(data: string, atLeast: bigint): Promise<VerifyReport['head']> {
  const store = openSqliteReader({ directory: data });
  try {
    const { damages, head } = await verifyLedger(store);
    expect(damages).toEqual([]);
    expect(head.version).toBeGreaterThanOrEqual(atLeast);
    return head;
  } finally {
    await store.close();
  }
}

/** Addresses with any state. */
export async function addressesOf(data: string): Promise<Address[]> {
  const store = openSqliteReader({ directory: data });
  const rows = await store.scan(ACCOUNT_KEYS, MOST_ROWS);
  await store.close();
  return [...new Set(rows.map(({ partition }) => addressFromBytes(partition)))];
}

/** All event streams. */
export async function streamsOf(data: string): Promise<Stream[]> {
  const store = openSqliteReader({ directory: data });
  const rows = await store.scan(EVENTS, MOST_ROWS);
  await store.close();
  const streams = new Map<string, { address: Address; versions: bigint[] }>();
  for (const row of rows) {
    const { address, creationNumber } = decodeStreamId(row.partition);
    const path = `/accounts/0x${address}/events/${creationNumber}`;
    const stream = streams.get(path) ?? { address, versions: [] };
    stream.versions.push(decodeEventRow(row.partition, row).version);
    streams.set(path, stream);
  }
  return [...streams].map(([path, stream]) => ({ path, ...stream }));
}

/** Rows and digest of every column. */
export async function digestsOf(data: string): Promise<Record<string, string>> {
  return digestsOfStore(openSqliteReader({ directory: data }));
}

/** Rows and digest of every column of a store, which is closed afterwards. */
export async function digestsOfStore(store: StoreReader): Promise<Record<string, string>> {
  try {
    const found: Record<string, string> = {};
    for (const column of COLUMNS) {
      const { rows, digest } = await columnDigest(store, column);
      found[column.name] = `${rows} rows ${digest.toString('hex')}`;
    }
    return found;
  } finally {
    await store.close();
  }
}
