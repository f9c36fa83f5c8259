/** Intentionally damaged ledgers in SQLite, and their undamaged originals. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { repairFolder } from '../../src/node/commands/repair.ts';
import { Batch } from '../../src/store/batch.ts';
import { TRANSACTION_INFOS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { digests, sampleStore } from '../ingest/feed-following.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { moveIntoRun } from '../store/move-into-run.ts';

const SAMPLE = { seed: 5, accounts: 20, transactions: 400 };

/** The undamaged ledger, or that of another seed. */
export function soundStore(seed = SAMPLE.seed): Promise<Store> {
  return sampleStore(SAMPLE.transactions, { ...SAMPLE, seed });
}

/** Changes a ledger in an open store; the batch is committed afterwards. */
export type Harm = (store: Store, batch: Batch) => Promise<void> | void;

type Kind = 'whole' | 'without whole transactions' | 'pruned';

const folder = mkdtempSync(join(tmpdir(), 'daybook-repair-'));
// Test files share a process and this module, so the folder is kept until the process exits.
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const made = new Map<Kind, Promise<string>>();

/** A ledger in a folder, damaged by a batch. */
export async function damagedLedger(harm: Harm, kind: Kind = 'whole'): Promise<string> {
  if (!made.has(kind)) made.set(kind, makeLedger(kind));
  const directory = temporaryDirectory();
  cpSync(await made.get(kind)!, directory, { recursive: true });
  const store = await openSqliteStore({ directory });
  const batch = new Batch();
  await harm(store, batch);
  await store.commit(batch);
  await store.close();
  return directory;
}

/** Created once; tests get copies. */
async function makeLedger(kind: Kind): Promise<string> {
  const directory = join(folder, kind);
  const store = await openSqliteStore({ directory });
  const writer = await fill(store, kind !== 'without whole transactions');
  await moveIntoRun(store);
  if (kind === 'pruned') {
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 200 });
    await moveIntoRun(store);
  }
  await store.close();
  return directory;
}

/** Creates the sound ledger in a store. */
export async function fill(store: Store, keepsTransactions = true): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(store);
  await new Committer(writer).pushAll(bulkChunks({ ...SAMPLE, keepsTransactions }));
  return writer;
}

/** A ledger that lacks the infos of some versions. */
export function withoutInfos(versions: readonly bigint[]): Promise<string> {
  return damagedLedger((_, batch) => {
    for (const version of versions) {
      const { partition, order } = encodeBucketKey(version);
      batch.delete(TRANSACTION_INFOS, partition, order);
    }
  });
}

export async function digestsOf(directory: string): Promise<Record<string, string>> {
  const reader = openSqliteReader({ directory });
  try {
    return await digests(reader);
  } finally {
    await reader.close();
  }
}

export function repaired(data: string, url: string, commitBytes?: number) {
  return repairFolder(data, url, () => undefined, commitBytes);
}
