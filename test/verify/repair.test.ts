/** Repairing a ledger in LMDB from a real node on loopback: any damage of any column that follows from its versions. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Committer } from '../../src/ingest/committer.ts';
import { repairFolder } from '../../src/node/repair.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  COLUMNS,
  type Column,
  EPOCHS,
  HEAD,
  IDENTITY,
  PRUNING,
  type ScannedRow,
} from '../../src/store/columns/columns.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { digests, NEVER, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from '../store/engines.ts';

const TRANSACTIONS = 400;
const SAMPLE = { seed: 5, accounts: 20, transactions: TRANSACTIONS };
const NOT_REPAIRED: readonly Column[] = [IDENTITY, HEAD, PRUNING];

/** A ledger in LMDB, damaged by a batch. */
async function damagedLedger(harm: (store: Store, batch: Batch) => Promise<void>) {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  await new Committer(await LedgerWriter.open(store)).pushAll(sampleChunks(SAMPLE));
  const batch = new Batch();
  await harm(store, batch);
  await store.commit(batch);
  await store.close();
  return directory;
}

async function digestsOf(directory: string): Promise<Record<string, string>> {
  const reader = openLmdbReader({ directory });
  try {
    return await digests(reader);
  } finally {
    await reader.close();
  }
}

async function repaired(directory: string, url: string) {
  return await repairFolder(directory, url, () => undefined, NEVER);
}

let sound: Store;
let expected: Record<string, string>;
beforeAll(async () => {
  sound = await sampleStore(TRANSACTIONS, SAMPLE);
  expected = await digests(sound);
});

type Harm = (batch: Batch, column: Column, row: ScannedRow, below: (most: number) => number) => void;
const HARMS: Readonly<Record<string, Harm>> = {
  'flipped bits': (batch, column, { partition, order, value }, below) => {
    const damaged = Buffer.from(value.length === 0 ? [0] : value);
    damaged[below(damaged.length)]! ^= 1 << below(8);
    batch.put(column, partition, order, damaged);
  },
  'missing rows': (batch, column, { partition, order }) => {
    batch.delete(column, partition, order);
  },
  'rows that nobody wrote': (batch, column, { partition, order, value }, below) => {
    const other = Buffer.from(partition);
    other[below(other.length)]! ^= 1 << below(8);
    batch.put(column, other, order, value);
  },
};

describe.each(Object.entries(HARMS))('%s', (_, harm) => {
  test.each(COLUMNS.filter((column) => !NOT_REPAIRED.includes(column)))(
    'in $name are repaired',
    async (column) => {
      const random = randomSource(testSeed());
      const below = (most: number): number => Math.floor(random() * most);
      let harmed = 0;
      const directory = await damagedLedger(async (store, batch) => {
        const rows = await store.scan(column, { maxRows: 10_000, maxBytes: 1e9 });
        for (let count = 0; count < 3 && rows.length > 0; count += 1) {
          const row = rows[below(rows.length)]!;
          harm(batch, column, row, below);
          harmed += 1;
        }
      });
      if (harmed === 0) return;
      const upstream = await upstreamOver(sound);
      const { report, damagesBefore } = await repaired(directory, upstream.url);
      expect(report.damages).toEqual([]);
      expect(damagesBefore).toBeGreaterThan(0);
      expect(await digestsOf(directory)).toEqual(expected);
    },
  );
});
