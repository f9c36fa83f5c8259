import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { TRANSACTION_INFOS } from '../../src/store/columns/columns.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import {
  MAX_PINNED_ACCOUNTS,
  READER_GRACE_MS,
  readPinnedAccounts,
  readPruneProgress,
} from '../../src/store/columns/pruning-column.ts';
import type { PrunePolicy } from '../../src/store/pruning/prune.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { openView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { address, block, chunk, plainChunk, transaction } from './chunks.ts';
import { MemoryStore } from './memory-store.ts';

const AT_ONCE = { graceMs: 0, restFactor: 0 };

/** Versions 0 to 99, blocks of ten versions that begin at 0, 5, 15, 25, …, one a second. */
async function hundredVersions(store: Store = new MemoryStore()): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(store);
  await writer.append(plainChunk(0, 5));
  for (let height = 1; height <= 10; height += 1) {
    const first = height * 10 - 5;
    const count = Math.min(10, 100 - first);
    const transactions = Array.from({ length: count }, (_, index) => transaction(first + index));
    await writer.append(chunk(first, transactions, { blocks: [block(height, first)] }));
  }
  return writer;
}

describe('the oldest version', () => {
  test.each<[PrunePolicy, number]>([
    [{ versions: 1 }, 95],
    [{ versions: 5 }, 95],
    [{ versions: 6 }, 85],
    [{ versions: 14 }, 85],
    [{ versions: 15 }, 85],
    [{ versions: 16 }, 75],
    [{ versions: 95 }, 5],
    [{ versions: 96 }, 0],
    [{ versions: 99 }, 0],
    [{ versions: 100 }, 0],
    [{ versions: 101 }, 0],
    [{ versions: Number.MAX_SAFE_INTEGER }, 0],
    [{ seconds: 1 }, 85],
    [{ seconds: 9 }, 5],
    [{ seconds: 10 }, 0],
    [{ seconds: 1_000 }, 0],
    // Rows are retained if either limit retains them.
    [{ seconds: 1, versions: 50 }, 45],
    [{ seconds: 5, versions: 1 }, 45],
  ])('by %o is %d: a block begins there', async (policy, oldest) => {
    const writer = await hundredVersions();
    const { head, versions } = await new Pruner(writer, AT_ONCE).run(policy);
    expect(head.oldestVersion).toBe(BigInt(oldest));
    expect(versions).toBe(BigInt(oldest));
    const view = await openView(writer.reader);
    expect(view.head).toEqual(head);
    expect((await view.blockOfVersion(BigInt(oldest)))?.height).toBe(head.oldestBlockHeight);
    expect((await view.transactions(0n, 1)).length).toBe(oldest === 0 ? 1 : 0);
    expect((await view.transactions(BigInt(oldest), 1_000)).length).toBe(100 - oldest);
  });

  test.each<PrunePolicy>([
    {},
    { versions: 0 },
    { versions: -1 },
    { seconds: 0 },
    { versions: 1.5 },
  ])('a policy like %o is a mistake', async (policy) => {
    const writer = await hundredVersions();
    await expect(new Pruner(writer, AT_ONCE).run(policy)).rejects.toThrow(RangeError);
  });

  test('never moves back', async () => {
    const writer = await hundredVersions();
    const pruner = new Pruner(writer, AT_ONCE);
    await pruner.run({ versions: 15 });
    const { head, versions } = await pruner.run({ versions: 90 });
    expect(head.oldestVersion).toBe(85n);
    expect(versions).toBe(0n);
  });
});

test('nothing is deleted while readers are given time, and everything after it', async () => {
  const writer = await hundredVersions();
  const abort = new AbortController();
  const patient = new Pruner(writer, { graceMs: 3_600_000 }).run({ versions: 5 }, abort.signal);
  while ((await openHead(writer.reader)).oldestVersion !== 95n) await nextTurn();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  const view = await openView(writer.reader);
  expect(await view.transactions(0n, 1)).toHaveLength(1);
  expect((await readPruneProgress(writer.reader)).clearedBelow).toBe(0n);
  abort.abort();
  await patient;
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 5 });
  expect(await view.transactions(0n, 1)).toHaveLength(0);
  expect((await readPruneProgress(writer.reader)).clearedBelow).toBe(95n);
  expect(READER_GRACE_MS).toBeGreaterThanOrEqual(10_000);
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a run that is cut off goes on in the next one, also without a bound to move', async () => {
  const writer = await hundredVersions();
  const bounds = { maxRows: 10, maxMs: 1_000 };
  const abort = new AbortController();
  const cut = new Pruner(writer, { ...AT_ONCE, bounds, onProgress: () => abort.abort() });
  await cut.run({ versions: 5 }, abort.signal);
  const { clearedBelow } = await readPruneProgress(writer.reader);
  expect(clearedBelow).toBeGreaterThan(0n);
  expect(clearedBelow).toBeLessThan(95n);
  const rest = await new Pruner(writer, { ...AT_ONCE, bounds }).run({ versions: 100 });
  expect(rest.versions).toBe(95n - clearedBelow);
  expect(rest.steps).toBeGreaterThan(3);
});

test('commits go on between the steps', async () => {
  const writer = await hundredVersions();
  const bounds = { maxRows: 1, maxMs: 1_000 };
  const done = new Pruner(writer, { ...AT_ONCE, bounds }).run({ versions: 5 });
  const appended: number[] = [];
  for (let version = 100; version < 120; version += 1) {
    await writer.append(chunk(version, [transaction(version)]));
    appended.push(Number((await readPruneProgress(writer.reader)).clearedBelow));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await done;
  expect(appended.some((at) => at > 0 && at < 95)).toBe(true);
  expect(writer.head).toMatchObject({ version: 119n, oldestVersion: 95n });
});

test('a damaged row stops the pruning and nothing is deleted by guess', async () => {
  const store = new MemoryStore();
  const writer = await hundredVersions(store);
  const { partition, order } = encodeBucketKey(50n);
  await store.commit(new Batch().delete(TRANSACTION_INFOS, partition, order));
  const before = await rowCount(store);
  await expect(new Pruner(writer, AT_ONCE).run({ versions: 5 })).rejects.toThrow(
    expect.objectContaining({ code: 'row_damaged', column: 'transaction_infos' }),
  );
  expect(await rowCount(store)).toBe(before);
});

async function rowCount(store: Store): Promise<number> {
  return (await store.statistics()).reduce((sum, { rows }) => sum + rows, 0);
}

test('a ledger that has yet to come cannot be pruned', async () => {
  const pruner = new Pruner(await LedgerWriter.open(new MemoryStore()), AT_ONCE);
  await expect(pruner.run({ versions: 1 })).rejects.toThrow(
    expect.objectContaining({ code: 'ledger_empty' }),
  );
  await expect(pruner.pinAccounts([address(1)])).rejects.toThrow(
    expect.objectContaining({ code: 'ledger_empty' }),
  );
});

test('kept accounts: once on record they stay, and there is a limit', async () => {
  const writer = await hundredVersions();
  const pruner = new Pruner(writer, AT_ONCE);
  expect(await pruner.pinAccounts([address(1)])).toEqual(new Map([[address(1), 0n]]));
  await pruner.run({ versions: 15 });
  await pruner.pinAccounts([address(1), address(2)]);
  await pruner.run({ versions: 5 });
  const kept = await readPinnedAccounts(writer.reader);
  expect(kept).toEqual(
    new Map([
      [address(1), 0n],
      [address(2), 85n],
    ]),
  );
  const many = Array.from({ length: MAX_PINNED_ACCOUNTS - 2 }, (_, index) => address(index + 100));
  await pruner.pinAccounts(many.slice(1));
  await pruner.pinAccounts(many);
  expect((await readPinnedAccounts(writer.reader)).size).toBe(MAX_PINNED_ACCOUNTS);
  await pruner.pinAccounts([address(2)]);
  await expect(pruner.pinAccounts([address(2), address(3)])).rejects.toThrow(
    expect.objectContaining({ code: 'too_many_kept_accounts' }),
  );
});
