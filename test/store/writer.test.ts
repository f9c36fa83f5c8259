/** Writing chunks to the store: rows, refusals and repetitions. */
import { describe, expect, test } from 'vitest';
import { stateKeyHash } from '../../src/move/types/state-key.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  COLUMNS,
  type Column,
  HEAD,
  IDENTITY,
  MODULE_EVENTS,
  type ScannedRow,
  STATE,
  STATE_KEYS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { readHead } from '../../src/store/columns/head.ts';
import { decodeBucketKey, NO_ORDER } from '../../src/store/columns/order-key.ts';
import { MAX_STATE_KEY_BYTES } from '../../src/store/columns/state-key-column.ts';
import { WRITES_OF_VERSION } from '../../src/store/columns/version-writes-column.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { type Chunk, MAX_CHUNK_TRANSACTIONS } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import {
  address,
  block,
  chunk,
  frozenRoots,
  IDENTITY_OF_TESTS,
  plainChunk,
  resourceKey,
  streamEvent,
  tableKey,
  transaction,
  write,
} from './chunks.ts';
import { ENGINES } from './engines.ts';
import { MemoryStore } from './memory-store.ts';

async function rowsOf(store: Store, column: Column): Promise<readonly ScannedRow[]> {
  return store.scan(column, { maxRows: 10_000, maxBytes: 1e9 });
}

async function everything(store: Store): Promise<string[]> {
  const rows: string[] = [];
  for (const column of COLUMNS) {
    for (const { partition, order, value } of await rowsOf(store, column)) {
      rows.push(
        [column.name, ...[partition, order, value].map((b) => b.toString('hex'))].join(' '),
      );
    }
  }
  return rows;
}

const refused = (code: string, version?: bigint) =>
  expect.objectContaining(version === undefined ? { code } : { code, version });

describe.each(ENGINES)('%s', (_name, open) => {
  test('genesis into an empty store, then chunks that follow', async () => {
    const store = await open();
    expect(await readHead(store)).toBeUndefined();
    const writer = await LedgerWriter.open(store);
    expect([writer.head, writer.identity]).toEqual([undefined, undefined]);
    const genesis = await writer.append(plainChunk(0, 1));
    expect(genesis.outcome).toBe('committed');
    expect(await readHead(store)).toBeDefined();
    await writer.append(
      chunk(1, [transaction(1), transaction(2)], { blocks: [block(1, 1, 7), block(2, 2, 8)] }),
    );
    await writer.append(plainChunk(3, 2));
    const head = {
      version: 4n,
      timestampUsecs: 2_000_000n,
      epoch: 8n,
      blockHeight: 2n,
      oldestVersion: 0n,
      oldestBlockHeight: 0n,
      frozenRoots: frozenRoots(4),
    };
    expect(writer.head).toEqual(head);
    expect(await readHead(store)).toEqual(head);
    const reopened = await LedgerWriter.open(store);
    expect([reopened.head, reopened.identity]).toEqual([head, IDENTITY_OF_TESTS]);
  });

  test('the same chunks again change nothing', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const chunks = [plainChunk(0, 3), plainChunk(3, 2)];
    for (const each of chunks) await writer.append(each);
    const before = await everything(store);
    for (const each of [...chunks, plainChunk(1, 2), plainChunk(2, 3)]) {
      expect(await writer.append(each)).toMatchObject({ outcome: 'already_there' });
    }
    expect(await everything(store)).toEqual(before);
  });

  test('rows left above the head by a commit that was cut off are written over', async () => {
    const whole = await open();
    const writer = await LedgerWriter.open(whole);
    await writer.append(plainChunk(0, 1));
    const next = chunk(1, [
      transaction(1, {
        writes: [write(resourceKey(1, 'A'), 'a'), write(tableKey(2, 'k'), 't')],
        events: [streamEvent(1, 2, 0)],
      }),
    ]);
    const headRow = (await whole.get(HEAD, Buffer.of(0), NO_ORDER))!;
    await writer.append(next);
    const expected = await everything(whole);
    const cutOff = new Batch().put(HEAD, Buffer.of(0), NO_ORDER, headRow);
    await whole.commit(cutOff);
    const again = await LedgerWriter.open(whole);
    expect(again.head?.version).toBe(0n);
    await again.append(next);
    expect(await everything(whole)).toEqual(expected);
  });

  test('chunks handed in at once are committed in turn', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const key = resourceKey(1, 'A');
    const chunks = [0, 1, 2, 3, 4].map((version) =>
      chunk(version, [transaction(version, { writes: [write(key, `v${version}`)] })]),
    );
    const results = await Promise.all(chunks.map((each) => writer.append(each)));
    expect(results.map(({ head }) => head.version)).toEqual([0n, 1n, 2n, 3n, 4n]);
    const keys = await rowsOf(store, ACCOUNT_KEYS);
    expect(keys.map(({ value }) => value.readBigUInt64LE())).toEqual([0n]);
    expect(await rowsOf(store, STATE)).toHaveLength(5);
  });

  test('keys: each once, with the version that wrote it first, under account or hash', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const resource = resourceKey(1, 'A');
    const item = tableKey(7, 'key');
    await writer.append(
      chunk(0, [
        transaction(0),
        transaction(1, { writes: [write(resource, 'a'), write(item, 'x')] }),
        transaction(2, { writes: [write(resource, undefined), write(item, 'y')] }),
      ]),
    );
    await writer.append(
      chunk(3, [
        transaction(3, { writes: [write(resource, 'b'), write(resourceKey(1, 'B'), 'c')] }),
      ]),
    );
    const keys = await rowsOf(store, ACCOUNT_KEYS);
    expect(
      keys.map(({ partition, order, value }) => [
        Buffer.concat([Buffer.of(0), partition, order]),
        value.readBigUInt64LE(),
      ]),
    ).toEqual([
      [resource, 1n],
      [resourceKey(1, 'B'), 3n],
    ]);
    expect(await rowsOf(store, STATE_KEYS)).toEqual([
      { partition: stateKeyHash(item), order: Buffer.alloc(0), value: item },
    ]);
    const written = (await rowsOf(store, VERSION_WRITES)).map(({ partition, order, value }) => {
      const { keys: names } = WRITES_OF_VERSION.decode({ partition, order }, value);
      const owners = names.map(({ owner }) => owner.toString('hex'));
      return [decodeBucketKey(partition, order), names.map(({ hash }) => hash), owners];
    });
    const hashes = [stateKeyHash(resource), stateKeyHash(item)];
    const owners = [address(1), address(7)];
    expect(written).toEqual([
      [1n, hashes, owners],
      [2n, hashes, owners],
      [3n, [hashes[0], stateKeyHash(resourceKey(1, 'B'))], [address(1), address(1)]],
    ]);
  });

  test('module events by version, translated events in their streams', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const moduleEvent = { kind: 'module', typeTag: Buffer.of(1), data: Buffer.of(9) } as const;
    await writer.append(
      chunk(0, [
        transaction(0, {
          events: [streamEvent(1, 2, 0), moduleEvent],
          translatedEvents: [{ ...streamEvent(3, 4, 0), index: 1 }],
        }),
      ]),
    );
    const [row] = await rowsOf(store, MODULE_EVENTS);
    expect(row?.order).toEqual(Buffer.from('000000000001', 'hex'));
    const [writes] = await rowsOf(store, VERSION_WRITES);
    const { events } = WRITES_OF_VERSION.decode(writes!, writes!.value);
    expect(events).toEqual([
      { address: address(1), creationNumber: 2n, sequenceNumber: 0n },
      { address: address(3), creationNumber: 4n, sequenceNumber: 0n },
    ]);
  });

  test('a ledger may keep no transactions', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const identity = { ...IDENTITY_OF_TESTS, keepsTransactions: false };
    await writer.append(chunk(0, [transaction(0)], { identity }));
    await writer.append(chunk(1, [{ ...transaction(1), transaction: undefined }]));
    expect(await rowsOf(store, TRANSACTIONS)).toEqual([]);
    expect(writer.head?.version).toBe(1n);
  });

  test('the oldest version moves up only, and by the head alone', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    await expect(writer.advanceOldest(block(0, 0))).rejects.toThrow(refused('ledger_empty'));
    await writer.append(plainChunk(0, 10));
    await writer.advanceOldest({ firstVersion: 5n, height: 3n });
    await writer.append(plainChunk(10, 1));
    expect(await readHead(store)).toMatchObject({ oldestVersion: 5n, oldestBlockHeight: 3n });
    await writer.advanceOldest({ firstVersion: 5n, height: 3n });
    await expect(writer.advanceOldest({ firstVersion: 4n, height: 2n })).rejects.toThrow(
      RangeError,
    );
    await expect(writer.advanceOldest({ firstVersion: 11n, height: 9n })).rejects.toThrow(
      RangeError,
    );
    await writer.advanceOldest({ firstVersion: 10n, height: 9n });
    await writer.commitBetween(async () => ({
      batch: new Batch().delete(IDENTITY, Buffer.of(9), NO_ORDER),
    }));
    expect((await readHead(store))?.oldestVersion).toBe(10n);
  });
});

describe('refused chunks change nothing', () => {
  async function ledger(): Promise<[MemoryStore, LedgerWriter]> {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 3));
    return [store, writer];
  }

  const good = (first: number) => plainChunk(first, 2);
  const raw = (key: Buffer) => [transaction(3, { writes: [write(key, 'x')] })];
  const accessPath = (rest: string) =>
    Buffer.concat([Buffer.from(`00${address(1)}`, 'hex'), Buffer.from(rest, 'hex')]);

  const cases: [what: string, code: string, bad: Chunk, version?: bigint][] = [
    ['empty', 'chunk_empty', { ...good(3), transactions: [] }],
    ['a gap', 'chunk_not_continuous', good(4), 4n],
    ['an overlap with the head', 'chunk_not_continuous', good(2), 2n],
    ['an identity later on', 'chunk_identity', { ...good(3), identity: IDENTITY_OF_TESTS }],
    ['another history', 'chunk_contradicts', chunk(1, [transaction(1), transaction(9)]), 2n],
    [
      'another genesis',
      'chunk_identity',
      { ...plainChunk(0, 1), identity: { ...IDENTITY_OF_TESTS, chainId: 5 } },
    ],
    ['too few roots', 'chunk_accumulator', { ...good(3), frozenRoots: frozenRoots(4).slice(1) }],
    [
      'a short root',
      'chunk_accumulator',
      { ...good(3), frozenRoots: [0, 1].map(() => Buffer.of(1)) },
    ],
    ['a block left out', 'chunk_blocks', { ...good(3), blocks: [block(2, 3)] }, 3n],
    ['a block again', 'chunk_blocks', { ...good(3), blocks: [block(0, 3)] }],
    ['a block below', 'chunk_blocks', { ...good(3), blocks: [block(1, 2)] }],
    ['a block above', 'chunk_blocks', { ...good(3), blocks: [block(1, 5)] }],
    ['two blocks at once', 'chunk_blocks', { ...good(3), blocks: [block(1, 3), block(2, 3)] }],
    ['an epoch below', 'chunk_epochs', { ...good(3), epochEnds: [{ epoch: 1n, lastVersion: 2n }] }],
    ['an epoch above', 'chunk_epochs', { ...good(3), epochEnds: [{ epoch: 1n, lastVersion: 5n }] }],
    [
      'no transaction bytes',
      'chunk_transaction_missing',
      chunk(3, [transaction(3), { ...transaction(4), transaction: undefined }]),
      4n,
    ],
    ['no key', 'chunk_state_key', chunk(3, raw(Buffer.alloc(0)))],
    ['an unknown key tag', 'chunk_state_key', chunk(3, raw(Buffer.of(3, 1)))],
    ['a cut address', 'chunk_state_key', chunk(3, raw(Buffer.alloc(32)))],
    ['no path length', 'chunk_state_key', chunk(3, raw(accessPath('')))],
    ['a wrong path length', 'chunk_state_key', chunk(3, raw(accessPath('02aa')))],
    ['a path length that is too long', 'chunk_state_key', chunk(3, raw(accessPath('8100aa')))],
  ];

  test.each(cases)('%s: %s', async (...[, code, bad, version]) => {
    const [store, writer] = await ledger();
    const before = await everything(store);
    await expect(writer.append(bad)).rejects.toThrow(refused(code, version));
    expect(await everything(store)).toEqual(before);
    expect((await writer.append(good(3))).outcome).toBe('committed');
  });

  test('an empty store takes genesis only', async () => {
    const writer = await LedgerWriter.open(new MemoryStore());
    await expect(writer.append(good(1))).rejects.toThrow(refused('chunk_not_continuous', 1n));
    const noIdentity = { ...plainChunk(0, 1), identity: undefined };
    await expect(writer.append(noIdentity)).rejects.toThrow(refused('chunk_identity', 0n));
    const noBlock = { ...plainChunk(0, 1), blocks: [] };
    await expect(writer.append(noBlock)).rejects.toThrow(refused('chunk_blocks', 0n));
    expect((await writer.append(plainChunk(0, 1))).outcome).toBe('committed');
  });

  test('a repetition of what is pruned cannot be compared', async () => {
    const [store, writer] = await ledger();
    await writer.advanceOldest({ firstVersion: 2n, height: 0n });
    const infos = COLUMNS.find(({ name }) => name === 'transaction_infos')!;
    const batch = new Batch().delete(infos, Buffer.alloc(6), Buffer.of(0, 1));
    await store.commit(batch);
    await expect(writer.append(plainChunk(0, 2))).rejects.toThrow(refused('chunk_pruned', 1n));
    await store.commit(new Batch().delete(infos, Buffer.alloc(6), Buffer.of(0, 2)));
    await expect(writer.append(plainChunk(2, 1))).rejects.toThrow(refused('row_damaged'));
  });

  test('longest chunk, longest key', async () => {
    const [, writer] = await ledger();
    const one = transaction(3);
    const many = (count: number) => chunk(3, new Array<typeof one>(count).fill(one));
    await expect(writer.append(many(MAX_CHUNK_TRANSACTIONS + 1))).rejects.toThrow(
      refused('chunk_too_large'),
    );
    await writer.append(many(MAX_CHUNK_TRANSACTIONS));
    const next = 3 + MAX_CHUNK_TRANSACTIONS;
    const keyed = (bytes: number) =>
      chunk(next, [
        transaction(next, {
          writes: [
            write(Buffer.alloc(bytes, 255), 'raw'),
            write(Buffer.concat([Buffer.of(1), Buffer.alloc(bytes - 1)]), 'table item'),
          ],
        }),
      ]);
    await expect(writer.append(keyed(MAX_STATE_KEY_BYTES + 1))).rejects.toThrow(
      refused('chunk_state_key'),
    );
    expect((await writer.append(keyed(MAX_STATE_KEY_BYTES))).outcome).toBe('committed');
  });
});

test('a failed commit leaves the writer where it was', async () => {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  await writer.append(plainChunk(0, 1));
  await store.close();
  await expect(writer.append(plainChunk(1, 1))).rejects.toThrow(StoreError);
  expect(writer.head?.version).toBe(0n);
});

test('what was stored and not acknowledged counts when a later commit is acknowledged', async () => {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  const commit = store.commit.bind(store);
  const lost = async (): Promise<never> => {
    throw new StoreError('store_unreachable', 'no answer');
  };
  store.commit = async (batch) => {
    await commit(batch);
    store.commit = lost;
    return lost();
  };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(writer.append(plainChunk(0, 1))).rejects.toThrow(refused('store_unreachable'));
  }
  expect((await readHead(store))?.version).toBe(0n);
  store.commit = commit;
  expect((await writer.append(plainChunk(0, 1))).outcome).toBe('already_there');
  expect((await writer.append(plainChunk(1, 1))).outcome).toBe('committed');
});
