/**
 * Verifications that are interrupted at several points and resumed give the same report as an uninterrupted one. SEED
 * repeats a run.
 */
import { describe, expect, it, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  ACCOUNT_TRANSACTIONS,
  BALANCES,
  type Column,
  EVENT_TYPES,
  EVENTS,
  MODULE_EVENTS,
  STATE,
  STATE_KEYS,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { type VerifyReport, verifyLedger } from '../../src/verify/ledger.ts';
import type { SavedRun } from '../../src/verify/saved-run.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { withKeys } from './long-keys.ts';

const ROUNDS = roundsOf('ROUNDS', 1, 6);
/** More versions than a window of event types, after each of which progress is saved. */
const BULK = { transactions: 4_400, accounts: 30, seed: 3n, chunkTransactions: 500 };
/** Small enough for each column to have many pages. */
const PAGE_ROWS = 250;

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);

class Killed extends Error {}

/** Cached, because creating them takes as long as a verification. */
let bulk: readonly Chunk[] | undefined;

function chunksOfBulk(): readonly Chunk[] {
  bulk ??= [...bulkChunks(BULK)];
  return bulk;
}

async function ledgerOf(chunks: Iterable<Chunk>): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  await new Committer(writer).pushAll(chunks);
  return writer;
}

const bulkLedger = (): Promise<LedgerWriter> => ledgerOf(chunksOfBulk());

/** A reader with small pages. */
function reading(store: StoreReader): StoreReader {
  const scan: StoreReader['scan'] = (column, query) =>
    store.scan(column, { ...query, maxRows: Math.min(query.maxRows, PAGE_ROWS) });
  return new Proxy(store, {
    get(_, name) {
      if (name === 'scan') return scan;
      const member = store[name as keyof StoreReader];
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}

type IsLast = (run: SavedRun, saves: number) => boolean;

const never: IsLast = () => false;

/** Runs until `isLast` selects a save, or to the end. @returns the last save, or the report */
async function runUntil(
  store: StoreReader,
  isLast: IsLast,
  run: SavedRun | undefined,
): Promise<{ readonly run: SavedRun } | { readonly report: VerifyReport; saves: number }> {
  let last: SavedRun | undefined;
  let count = 0;
  const onSave = (saved: SavedRun): void => {
    count += 1;
    // Saves of the other part after this one are dropped.
    if (last === undefined && isLast(saved, count)) last = saved;
    if (last !== undefined) throw new Killed();
  };
  try {
    const saving = { run, intervalMs: 0, onSave };
    return { report: await verifyLedger(reading(store), { saving }), saves: count };
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return { run: last! };
  }
}

/** Interrupts a run again and again. @returns the last report, and the number of interruptions */
async function cutOff(store: StoreReader, isLast: () => IsLast) {
  let run: SavedRun | undefined;
  for (let cuts = 0; ; cuts += 1) {
    const found = await runUntil(store, isLast(), run);
    if ('report' in found) return { report: found.report, cuts };
    ({ run } = found);
  }
}

/** Interrupts after random numbers of saves, up to `most`. */
const afterSome = (most: number) => () => {
  const wanted = 2 + below(most);
  return (_: SavedRun, saves: number) => saves === wanted;
};

/** Interrupts once, at the first save of versions. */
function afterVersions() {
  let isOver = false;
  return (): IsLast => (run) => {
    if (isOver || run.versions === undefined) return false;
    isOver = true;
    return true;
  };
}

/** The report of an uninterrupted run, and its number of saves. */
async function wholeRun(store: StoreReader) {
  const found = await runUntil(store, never, undefined);
  if (!('report' in found)) throw new Error('it was cut off');
  expect(found.report).toEqual(await verifyLedger(reading(store)));
  return found;
}

async function expectSame(store: StoreReader, rounds = ROUNDS): Promise<VerifyReport> {
  const { report: whole, saves } = await wholeRun(store);
  expect(saves).toBeGreaterThan(20);
  const ofVersions = await cutOff(store, afterVersions());
  expect(ofVersions.cuts).toBe(1);
  expect(ofVersions.report.continuedFrom?.version).toBe(4_096n);
  const reports = [ofVersions.report];
  for (let round = 0; round < rounds; round += 1) {
    const { report, cuts } = await cutOff(store, afterSome(saves >> 1));
    expect(cuts).toBeGreaterThan(1);
    reports.push(report);
  }
  for (const report of reports) {
    expect(report.continuedFrom).toBeDefined();
    expect({ ...report, continuedFrom: undefined }).toEqual(whole);
  }
  return whole;
}

describe('the report of a run that is cut off and continued is that of one that is not', () => {
  it('for a ledger that holds', async () => {
    const { reader } = await bulkLedger();
    expect(await expectSame(reader)).toMatchObject({ damageCount: 0, laterVersions: 0n });
  });

  it('for one that stores no whole transactions', async () => {
    const { reader } = await ledgerOf(bulkChunks({ ...BULK, keepsTransactions: false }));
    expect((await expectSame(reader)).damageCount).toBe(0);
  });

  it('for one that was pruned', async () => {
    const writer = await bulkLedger();
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 3_000 });
    expect((await expectSame(writer.reader)).damageCount).toBe(0);
  });

  it('for one that is damaged, before and after the places where it is cut off', async () => {
    // The infos do not cover the writes of these keys.
    const writer = await ledgerOf(chunksOfBulk().map((one) => withKeys(one, ['a', 'b'])));
    const store = writer.reader as Store;
    const batch = new Batch();
    const at = async (column: Column, share: number) => {
      const rows: Awaited<ReturnType<Store['scan']>>[number][] = [];
      for (;;) {
        const page = await store.scan(column, {
          after: rows.at(-1),
          maxRows: 10_000,
          maxBytes: 1e9,
        });
        if (page.length === 0) break;
        rows.push(...page);
      }
      return rows[Math.floor(share * (rows.length - 1))]!;
    };
    for (const column of [
      TRANSACTIONS,
      TRANSACTION_INFOS,
      STATE,
      EVENTS,
      MODULE_EVENTS,
      BALANCES,
    ]) {
      for (const share of [0.1, 0.6]) {
        const { partition, order, value } = await at(column, share);
        const changed = Buffer.from(value);
        changed[changed.length - 1]! ^= 1;
        batch.put(column, partition, order, changed);
      }
    }
    for (const column of [ACCOUNT_KEYS, STATE_KEYS, TRANSACTION_HASHES, EVENT_TYPES]) {
      const { partition, order } = await at(column, 0.4);
      batch.delete(column, partition, order);
    }
    await store.commit(batch);
    // Naming the damage takes long.
    const { damages } = await expectSame(store, 1);
    const columns = new Set(damages.map(({ column }) => column));
    expect(columns.size).toBeGreaterThan(7);
  });
});

/** A run that was interrupted in the middle. */
async function halfRun(store: StoreReader, wanted = 12): Promise<SavedRun> {
  const found = await runUntil(store, (_, saves) => saves === wanted, undefined);
  if ('report' in found) throw new Error('it came to its end');
  return found.run;
}

async function continued(store: StoreReader, run: SavedRun) {
  const found = await runUntil(store, never, run);
  if (!('report' in found)) throw new Error('it was cut off');
  return found.report;
}

test('what is committed after the run has begun is not covered, and is no damage', async () => {
  const chunks = chunksOfBulk();
  const writer = await ledgerOf(chunks.slice(0, -4));
  const { version } = writer.head!;
  const run = await halfRun(writer.reader);
  await new Committer(writer).pushAll(chunks.slice(-4));
  const report = await continued(writer.reader, run);
  expect(report.damages).toEqual([]);
  expect(report.head.version).toBe(version);
  expect(report.laterVersions).toBe(writer.head!.version - version);
  expect(report.laterVersions).toBeGreaterThan(0n);
});

describe('what was found before', () => {
  async function damagedHalf() {
    const writer = await bulkLedger();
    const store = writer.reader as Store;
    const [row] = await store.scan(ACCOUNT_TRANSACTIONS, { maxRows: 1, maxBytes: 1 });
    const { partition, order, value } = row!;
    const put = (changed: Buffer) =>
      store.commit(new Batch().put(ACCOUNT_TRANSACTIONS, partition, order, changed));
    await put(Buffer.concat([value, Buffer.of(1)]));
    // The column of hashes is saved earlier.
    const run = await halfRun(store, 24);
    expect(run.damagedRows.map(([column]) => column)).toEqual([ACCOUNT_TRANSACTIONS.name]);
    return { store, run, put, value };
  }

  it('is reported when the run is continued', async () => {
    const { store, run } = await damagedHalf();
    const whole = await verifyLedger(store);
    expect(whole.damageCount).toBeGreaterThan(0);
    expect((await continued(store, run)).damages).toEqual(whole.damages);
  });

  it('and was repaired since: the run is not continued', async () => {
    const { store, run, put, value } = await damagedHalf();
    await put(value);
    await expect(continued(store, run)).rejects.toMatchObject({ code: 'changed_ledger' });
  });
});

test('a run is not continued with another ledger, an older one, or one that was pruned since', async () => {
  const writer = await bulkLedger();
  const run = await halfRun(writer.reader);
  const other = await ledgerOf(bulkChunks({ ...BULK, seed: 4n }));
  await expect(continued(other.reader, run)).rejects.toMatchObject({ code: 'other_ledger' });
  const older = await ledgerOf(chunksOfBulk().slice(0, -1));
  await expect(continued(older.reader, run)).rejects.toMatchObject({ code: 'other_ledger' });
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 4_000 });
  await expect(continued(writer.reader, run)).rejects.toMatchObject({ code: 'changed_ledger' });
});

test('an empty store has nothing to continue', async () => {
  const run = await halfRun((await bulkLedger()).reader);
  const empty = continued(new MemoryStore(), run);
  await expect(empty).rejects.toThrow(StoreError);
  await expect(empty).rejects.toMatchObject({ code: 'ledger_empty' });
});
