/**
 * Verifying ledgers: sound ones hold, pruned or not; then every kind of damage in every column is found. SEED repeats a
 * run, ROUNDS sets how often each kind of damage is done to each column.
 */
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { accumulatorRoot, MerkleAccumulator } from '../../src/move/crypto/accumulator.ts';
import { contractEventHash } from '../../src/move/transactions/event.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../src/move/transactions/transaction-info.ts';
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
import { Pruner } from '../../src/store/pruning/prune.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ChunkTransaction } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { address, block, chunk, IDENTITY_OF_TESTS, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { type Below, History } from '../store/prune-history.ts';

const ROUNDS = roundsOf('ROUNDS', 1, 12);

/** A real ledger: everything in it decodes and every hash is right. */
async function sampleLedger(transactions: number): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  const request = { transactions, accounts: 20, seed: 9n, keepsTransactions: true };
  await new Committer(writer).pushAll(bulkChunks(request));
  return writer;
}

/** A ledger without transactions, with long keys and deletions; its infos are real, but unrelated. */
async function leanLedger(below: Below): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  const history = new History();
  const accumulator = new MerkleAccumulator('TransactionAccumulator');
  for (let round = 0; round < 12; round += 1) {
    const next = history.nextChunk(below);
    const transactions = next.transactions.map((one, index) => {
      const info = infoOf(Number(next.firstVersion) + index, one.events);
      accumulator.append(transactionInfoHash(info));
      return { ...one, info, transaction: undefined };
    });
    const isGenesis = next.firstVersion === 0n;
    await writer.append({
      ...next,
      transactions,
      frozenRoots: accumulator.frozenSubtreeRoots,
      // Epochs of the history are random; here the first one continues.
      epochEnds: isGenesis ? [{ epoch: 0n, lastVersion: 0n }] : [],
      identity: isGenesis ? { ...IDENTITY_OF_TESTS, keepsTransactions: false } : undefined,
    });
  }
  return writer;
}

function infoOf(version: number, events: ChunkTransaction['events']): Buffer {
  const hash = Buffer.alloc(32, version);
  const leaves = events.map((event) =>
    contractEventHash(
      encodeBcs((writer) => {
        writer.uleb32(event.kind === 'stream' ? 0 : 1);
        if (event.kind === 'stream') {
          writer.u64(event.creationNumber).address(event.address).u64(event.sequenceNumber);
        }
        writer.fixed(event.typeTag).bytes(event.data);
      }),
    ),
  );
  return TransactionInfo.encode({
    kind: 'v0',
    gasUsed: BigInt(version),
    status: { kind: 'success' },
    transactionHash: hash,
    eventRootHash: accumulatorRoot('EventAccumulator', leaves),
    stateChangeHash: hash,
    stateCheckpointHash: undefined,
    auxiliaryInfoHash: undefined,
  });
}

async function prune(writer: LedgerWriter, versions: number, accounts: string[] = []) {
  const pruner = new Pruner(writer, { graceMs: 0, restFactor: 0 });
  await pruner.pinAccounts(accounts);
  return pruner.run({ versions });
}

async function rowsOf(store: Store, column: Column): Promise<readonly ScannedRow[]> {
  return store.scan(column, { maxRows: 10_000, maxBytes: 1e12 });
}

test('a sample ledger holds, before and after pruning, and has its digests', async () => {
  const writer = await sampleLedger(800);
  const store = writer.reader;
  const report = await verifyLedger(store);
  expect(report).toMatchObject({ damages: [], damageCount: 0, wasPruned: false });
  expect(report.hashedVersions).toBe(writer.head!.version + 1n);
  expect(report.columns.map(({ column }) => column.name)).toEqual(COLUMNS.map(({ name }) => name));
  for (const digest of report.columns) {
    expect(digest).toEqual(await columnDigest(store, digest.column));
  }
  for (const versions of [500, 200, 1]) {
    await prune(writer, versions, versions === 200 ? [address(1), address(0xcafe)] : []);
    expect(await verifyLedger(store)).toMatchObject({ damages: [], damageCount: 0 });
  }
});

test('a ledger without transactions holds, before and after pruning', async () => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  for (let run = 0; run < 20; run += 1) {
    const writer = await leanLedger(below);
    expect((await verifyLedger(writer.reader)).damages).toEqual([]);
    for (let round = 0; round < 3; round += 1) {
      const account = below(2) === 0 ? [address(1 + below(3))] : [];
      await prune(writer, 1 + below(Number(writer.head!.version)), account);
      expect((await verifyLedger(writer.reader)).damages).toEqual([]);
    }
  }
});

test('an empty store holds no ledger', async () => {
  await expect(verifyLedger(new MemoryStore())).rejects.toThrow(
    expect.objectContaining({ code: 'ledger_empty' }),
  );
});

type Harm = (batch: Batch, column: Column, row: ScannedRow, below: Below) => void;

const HARMS: Readonly<Record<string, Harm>> = {
  'a flipped bit': (batch, column, { partition, order, value }, below) => {
    // An empty value has no bits to flip: it can only get longer.
    const damaged = Buffer.from(value.length === 0 ? [0] : value);
    damaged[below(damaged.length)]! ^= 1 << below(8);
    batch.put(column, partition, order, damaged);
  },
  'a cut value': (batch, column, { partition, order, value }, below) => {
    const cut = value.length === 0 ? Buffer.of(1) : value.subarray(0, below(value.length));
    batch.put(column, partition, order, cut);
  },
  'a missing row': (batch, column, { partition, order }) => {
    batch.delete(column, partition, order);
  },
  'a row that nobody wrote': (batch, column, { partition, order, value }, below) => {
    const other = Buffer.from(partition);
    other[below(other.length)]! ^= 1 << below(8);
    batch.put(column, other, order, value);
  },
};

/** Damages one row, verifies, and restores the row. */
async function harmAndExamine(
  store: Store,
  column: Column,
  harm: Harm,
  below: Below,
): Promise<{ readonly columns: string[]; readonly text: string }> {
  const rows = await rowsOf(store, column);
  const row = rows[below(rows.length)]!;
  const batch = new Batch();
  harm(batch, column, row, below);
  const { partition, order, value } = batch.rows[0]!;
  const before = await store.get(column, partition, order);
  await store.commit(batch);
  try {
    const report = await verifyLedger(store);
    const columns = report.damages.map((damage) => damage.column);
    expect(report.damageCount).toBe(report.damages.length);
    return { columns, text: JSON.stringify(report.damages, (_, one) => String(one), 1) };
  } catch (error) {
    // Without head and identity nothing can be verified, and they are named at once.
    if (!(error instanceof StoreError)) throw error;
    return { columns: [column.name], text: error.message };
  } finally {
    const repair = new Batch();
    if (before === undefined) repair.delete(column, partition, order);
    else repair.put(column, partition, order, before);
    await store.commit(repair);
    expect(value === undefined || before === undefined || !before.equals(value)).toBe(true);
  }
}

/** Columns whose damage may be reported as a contradiction of another column. */
const NAMED_BY_OTHERS: readonly Column[] = [IDENTITY, HEAD, PRUNING, EPOCHS];

async function expectAllFound(store: Store, rounds: number, below: Below): Promise<number> {
  let harmed = 0;
  for (const column of COLUMNS) {
    if ((await rowsOf(store, column)).length === 0) continue;
    for (const [name, harm] of Object.entries(HARMS)) {
      for (let round = 0; round < rounds; round += 1) {
        const { columns } = await harmAndExamine(store, column, harm, below);
        const what = `${name} in ${column.name}, of ${columns.join(' ')}`;
        expect(columns.length, what).toBeGreaterThan(0);
        if (!NAMED_BY_OTHERS.includes(column)) expect(columns, what).toContain(column.name);
        harmed += 1;
      }
    }
  }
  expect((await verifyLedger(store)).damages).toEqual([]);
  return harmed;
}

test('any harm to any column of a sample ledger is found', async () => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  const writer = await sampleLedger(120);
  const harmed = await expectAllFound(writer.reader as Store, ROUNDS, below);
  expect(harmed).toBeGreaterThan(45 * ROUNDS);
});

test('without transactions: rows that are missing or that nobody wrote', async () => {
  const random = randomSource(testSeed());
  const below: Below = (most) => Math.floor(random() * most);
  const writer = await leanLedger(below);
  const store = writer.reader as Store;
  for (const column of COLUMNS) {
    const rows = await rowsOf(store, column);
    if (rows.length === 0) continue;
    for (const name of ['a missing row', 'a row that nobody wrote']) {
      const { columns } = await harmAndExamine(store, column, HARMS[name]!, below);
      expect(columns.length, `${name} in ${column.name}`).toBeGreaterThan(0);
    }
  }
  expect(
    (await rowsOf(store, COLUMNS.find(({ name }) => name === 'account_key_tails')!)).length,
  ).toBeGreaterThan(0);
});

test('a chunk of false bytes is named by version and field', async () => {
  const writer = await LedgerWriter.open(new MemoryStore());
  await writer.append(chunk(0, [transaction(0), transaction(1)]));
  await writer.append(chunk(2, [transaction(2)], { blocks: [block(1, 2)] }));
  const { damages } = await verifyLedger(writer.reader);
  expect(damages).toContainEqual(
    expect.objectContaining({ column: 'transactions', version: 2n, key: '000000000000/0002' }),
  );
  expect(damages).toContainEqual(expect.objectContaining({ column: 'head' }));
});
