/** Examining a ledger while another process commits to it: what comes later is no damage, and hides none. */
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { Batch } from '../../src/store/batch.ts';
import {
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

const CHUNKS = [
  ...bulkChunks({ ...{ transactions: 1_400, accounts: 60, seed: 11n }, chunkTransactions: 25 }),
];
const FIRST_CHUNKS = 6;

/** Commits the next chunk before each page of some columns that is read, and another one after it. */
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

async function begun(): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  await new Committer(writer).pushAll(CHUNKS.slice(0, FIRST_CHUNKS));
  return writer;
}

test.each([
  ['versions', [TRANSACTION_INFOS, TRANSACTIONS, MODULE_EVENTS, VERSION_WRITES, EVENT_TYPES]],
  ['state', [STATE, STATE_KEYS]],
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
