/** Verifying a ledger with two readers, one of which reads from a server that lags behind the other's. */
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { HEAD } from '../../src/store/columns/columns.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { isTransient } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { awaitLedger } from '../../src/verify/awaited-ledger.ts';
import { verifyLedger, verifyVersionsOf } from '../../src/verify/ledger.ts';
import { MemoryStore } from '../store/memory-store.ts';

const CHUNKS = [
  ...bulkChunks({ ...{ transactions: 500, accounts: 30, seed: 11n }, chunkTransactions: 25 }),
];
const NEWEST = 8;

async function serverWith(chunks: number): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(new MemoryStore());
  await new Committer(writer).pushAll(CHUNKS.slice(0, chunks));
  return writer;
}

/** Reads from a server that receives its next chunk after its head was read. */
function catchingUp(server: LedgerWriter, next: number): StoreReader {
  const { reader } = server;
  let isRead = false;
  const get: StoreReader['get'] = async (column, partition, order) => {
    const bytes = await reader.get(column, partition, order);
    if (column === HEAD && !isRead) {
      isRead = true;
      await server.append(CHUNKS[next]!);
    }
    return bytes;
  };
  return new Proxy(reader, {
    get: (_, name) => {
      const member = reader[name as keyof StoreReader];
      return name === 'get' ? get : typeof member === 'function' ? member.bind(reader) : member;
    },
  });
}

test('who examines the versions waits until its server has them', async () => {
  const [server, standby] = [await serverWith(NEWEST), await serverWith(NEWEST - 1)];
  const behind = catchingUp(standby, NEWEST - 1);
  const report = await verifyLedger(server.reader, {
    examineVersions: (request) => verifyVersionsOf(behind, request, () => undefined),
  });
  expect(report.damages).toEqual([]);
  expect(standby.head).toEqual(server.head);
});

test('a server that is ahead has no damage', async () => {
  const [server, ahead] = [await serverWith(NEWEST), await serverWith(NEWEST)];
  const newer = catchingUp(ahead, NEWEST);
  const report = await verifyLedger(server.reader, {
    examineVersions: (request) => verifyVersionsOf(newer, request, () => undefined),
  });
  expect(report.damages).toEqual([]);
  expect(ahead.head!.version).toBeGreaterThan(server.head!.version);
});

test('a server that stays behind fails, and may have caught up a moment later', async () => {
  const { head, reader } = await serverWith(NEWEST);
  const seen = { head: head!, clearedBelow: 0n };
  for (const version of [head!.version - 1n, head!.version]) {
    await awaitLedger(reader, { ...seen, head: { ...head!, version } }, 0);
  }
  const lacking = [
    { ...seen, head: { ...head!, version: head!.version + 1n } },
    { ...seen, head: { ...head!, oldestVersion: head!.oldestVersion + 1n } },
    { ...seen, clearedBelow: 1n },
  ];
  for (const asked of lacking) {
    const failure: unknown = await awaitLedger(reader, asked, 0).catch((error) => error);
    expect(failure).toMatchObject({ code: 'store_behind' });
    expect(isTransient(failure)).toBe(true);
  }
  const empty = await serverWith(0);
  await expect(awaitLedger(empty.reader, seen, 0)).rejects.toMatchObject({ code: 'store_behind' });
});

test('what pruning has cleared is waited for, too', async () => {
  const [server, standby] = [await serverWith(NEWEST), await serverWith(NEWEST)];
  const { head } = standby;
  await new Pruner(server, { graceMs: 0, restFactor: 0 }).run({ versions: 20 });
  const report = verifyLedger(server.reader, {
    examineVersions: (request) => {
      expect(request.clearedBelow).toBeGreaterThan(0n);
      const seen = { head: head!, clearedBelow: request.clearedBelow };
      return awaitLedger(standby.reader, seen, 0).then(() => expect.unreachable());
    },
  });
  await expect(report).rejects.toMatchObject({ code: 'store_behind' });
});
