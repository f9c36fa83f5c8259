/** Verifying a ledger while another process commits to it: later commits do not count as damage, and hide none. */
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  ACCOUNT_TRANSACTIONS,
  BALANCES,
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  COLUMNS,
  type Column,
  EPOCHS,
  EVENT_TYPES,
  EVENTS,
  MODULE_EVENTS,
  PRIMARY_STORES,
  STATE,
  STATE_KEYS,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { withKeys } from './long-keys.ts';

const FIRST_CHUNKS = 6;
const BULK = { ...{ transactions: 1_400, accounts: 60, seed: 11n }, chunkTransactions: 25 };
/** Those above the head also write long keys. */
const CHUNKS = [...bulkChunks(BULK)].map((chunk, index) =>
  index < FIRST_CHUNKS ? chunk : withKeys(chunk, [`a${index}`, `b${index}`]),
);

/** Makes a commit before and after each page that is read of some columns. */
class WrittenWhileRead {
  readonly #writer: LedgerWriter;
  readonly #left = CHUNKS.slice(FIRST_CHUNKS);
  commits = 0;
  readonly reader: StoreReader;

  constructor(writer: LedgerWriter, columns: readonly Column[]) {
    this.#writer = writer;
    const { reader } = writer;
    const scan: StoreReader['scan'] = async (column, query) => {
      const commits = columns.includes(column);
      if (commits) await this.#commit();
      const page = await reader.scan(column, { ...query, maxRows: Math.min(query.maxRows, 300) });
      if (commits) await this.#commit();
      return page;
    };
    const bound = (name: keyof StoreReader) => {
      const member = reader[name];
      return typeof member === 'function' ? member.bind(reader) : member;
    };
    this.reader = new Proxy(reader, {
      get: (_, name) => (name === 'scan' ? scan : bound(name as keyof StoreReader)),
    });
  }

  async #commit(): Promise<void> {
    const chunk = this.#left.shift();
    if (chunk === undefined) return;
    this.commits += 1;
    await this.#writer.append(chunk);
  }
}

async function begun(chunks = CHUNKS.slice(0, FIRST_CHUNKS)): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  await new Committer(writer).pushAll(chunks);
  return writer;
}

test.each([
  ['versions', [TRANSACTION_INFOS, TRANSACTIONS, MODULE_EVENTS, VERSION_WRITES, EVENT_TYPES]],
  ['state', [STATE, STATE_KEYS]],
  ['parts of long keys', [ACCOUNT_KEY_TAILS]],
  ['known keys and balances', [ACCOUNT_KEYS, BALANCES, PRIMARY_STORES]],
  ['indexes and events', [TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS, EVENTS]],
  ['blocks', [BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, EPOCHS]],
])('commits while it reads %s are no damage', async (_, columns) => {
  const writer = await begun();
  const { version } = writer.head!;
  const written = new WrittenWhileRead(writer, columns);
  const report = await verifyLedger(written.reader);
  expect(written.commits).toBeGreaterThan(3);
  expect(report.damages).toEqual([]);
  expect(report.head.version).toBe(version);
});

test('damage is found while others commit', async () => {
  const writer = await begun();
  const store = writer.reader as Store;
  const [row] = await store.scan(STATE_KEYS, { maxRows: 1, maxBytes: 1 });
  await store.commit(new Batch().delete(STATE_KEYS, row!.partition, row!.order));
  const { damages } = await verifyLedger(new WrittenWhileRead(writer, COLUMNS).reader);
  expect(damages.map(({ column }) => column)).toContain(STATE_KEYS.name);
});

test('a part of a long key that belongs to no key is found while others commit', async () => {
  // The infos do not cover the last chunk's write of a long key, so only damages of keys count.
  const begin = CHUNKS.slice(0, FIRST_CHUNKS - 1);
  const last = withKeys(CHUNKS[FIRST_CHUNKS - 1]!, ['known']);
  const ofKeys = async (writer: LedgerWriter) => {
    const written = new WrittenWhileRead(writer, [ACCOUNT_KEY_TAILS]);
    const { damages } = await verifyLedger(written.reader);
    expect(written.commits).toBeGreaterThan(3);
    return damages.filter(({ column }) => column === ACCOUNT_KEY_TAILS.name);
  };
  expect(await ofKeys(await begun([...begin, last]))).toEqual([]);
  for (const value of [Buffer.alloc(8), Buffer.alloc(0)]) {
    const writer = await begun([...begin, last]);
    const store = writer.reader as Store;
    const batch = new Batch().put(ACCOUNT_KEY_TAILS, Buffer.alloc(64, 9), Buffer.of(1), value);
    await store.commit(batch);
    const [damage, ...others] = await ofKeys(writer);
    expect(damage?.detail).toContain('5 rows, keys are made up of 4');
    expect(others).toEqual([]);
  }
});
