/**
 * Reads at a head: state at versions, blocks, epochs, transactions, listings. Event pages:
 * event-pages.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  AccessPathKey,
  hashedPhysicalKey,
  physicalStateKey,
} from '../../src/move/types/state-key.ts';
import { Batch } from '../../src/store/batch.ts';
import { BLOCK_BY_VERSION } from '../../src/store/columns/block-column.ts';
import {
  ACCOUNT_KEY_TAILS,
  BLOCKS_BY_VERSION,
  MAX_ORDER_BYTES,
  STATE,
} from '../../src/store/columns/columns.ts';
import { openHead, readHead } from '../../src/store/columns/head.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openView, StoreView } from '../../src/store/read/view.ts';
import { MAX_RANGE_ROWS, type Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { randomSource, testSeed } from '../random.ts';
import { address, block, chunk, plainChunk, resourceKey, transaction, write } from './chunks.ts';
import { ENGINES } from './engines.ts';
import { MemoryStore } from './memory-store.ts';

async function filled(store: Store): Promise<LedgerWriter> {
  const writer = await LedgerWriter.open(store);
  const key = resourceKey(1, 'A');
  await writer.append(chunk(0, [transaction(0, { writes: [write(key, 'zero')] })]));
  await writer.append(
    chunk(
      1,
      [
        transaction(1),
        transaction(2, { writes: [write(key, 'two')] }),
        transaction(3, { writes: [write(key, undefined)] }),
        transaction(4),
        transaction(5, { writes: [write(key, 'five')] }),
      ],
      { blocks: [block(1, 1), block(2, 4, 2)], epochEnds: [{ epoch: 1n, lastVersion: 3n }] },
    ),
  );
  return writer;
}

describe.each(ENGINES)('%s', (_name, open) => {
  test('there is no view before genesis', async () => {
    const store = await open();
    expect(await readHead(store)).toBeUndefined();
    const empty = expect.objectContaining({ code: 'ledger_empty' });
    await expect((async () => openHead(store))()).rejects.toThrow(empty);
    await expect((async () => openView(store))()).rejects.toThrow(empty);
  });

  test('state at every version, deletions included', async () => {
    const store = await open();
    await filled(store);
    const view = await openView(store);
    const key = hashedPhysicalKey(resourceKey(1, 'A'));
    const values = [];
    for (let version = 0n; version <= 5n; version += 1n) {
      const entry = await view.state(key, version);
      values.push(entry === undefined ? '-' : `${entry.bytes}@${entry.version}`);
    }
    expect(values).toEqual(['zero@0', 'zero@0', 'two@2', '-', '-', 'five@5']);
    expect((await view.state(key))?.version).toBe(5n);
    const absent = hashedPhysicalKey(resourceKey(2, 'A'));
    const many = await view.stateMany([absent, key, key], 4n);
    expect(many).toEqual([undefined, undefined, undefined]);
    expect((await view.stateMany([absent, key])).map((entry) => entry?.version)).toEqual([
      undefined,
      5n,
    ]);
    expect(() => view.state(key, 6n)).toThrow(RangeError);
    expect(() => view.state(key, -1n)).toThrow(RangeError);
  });

  test('a view does not move when the ledger grows', async () => {
    const store = await open();
    const writer = await filled(store);
    const view = await openView(store);
    const key = resourceKey(1, 'A');
    await writer.append(
      chunk(6, [transaction(6, { writes: [write(key, 'six'), write(resourceKey(1, 'B'), 'b')] })], {
        blocks: [block(3, 6)],
        epochEnds: [{ epoch: 2n, lastVersion: 6n }],
      }),
    );
    expect((await view.state(hashedPhysicalKey(key)))?.bytes?.toString()).toBe('five');
    expect(await view.state(hashedPhysicalKey(resourceKey(1, 'B')))).toBeUndefined();
    expect(await view.blockByHeight(3n)).toBeUndefined();
    expect(await view.blockFromVersion(5n)).toBeUndefined();
    expect(await view.lastVersionOfBlock(block(2, 4, 2))).toBe(5n);
    expect(await view.transactions(5n, 10)).toHaveLength(1);
    expect((await view.accountKeys(address(1), { limit: 9, version: 5n })).keys).toEqual([key]);
    expect((await openView(store)).head.version).toBe(6n);
  });

  test('blocks and epochs', async () => {
    const store = await open();
    await filled(store);
    const view = await openView(store);
    const heights = [];
    for (let version = 0n; version <= 5n; version += 1n) {
      heights.push((await view.blockOfVersion(version))?.height);
    }
    expect(heights).toEqual([0n, 1n, 1n, 1n, 2n, 2n]);
    expect(await view.blockByHeight(1n)).toEqual(block(1, 1));
    expect(await view.lastVersionOfBlock(block(1, 1))).toBe(3n);
    expect(await view.lastVersionOfBlock(block(2, 4, 2))).toBe(5n);
    expect((await view.blockFromVersion(2n))?.height).toBe(2n);
    expect((await view.blockFromVersion(0n))?.height).toBe(0n);
    expect(() => view.blockOfVersion(6n)).toThrow(RangeError);
  });

  test('blocks across buckets, and where nothing is kept', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 1));
    const far = block(1, 500_000);
    const head = { ...writer.head!, version: 700_000n, blockHeight: 1n };
    const { partition, order } = encodeBucketKey(500_000n);
    const batch = new Batch();
    batch.put(BLOCKS_BY_VERSION, partition, order, BLOCK_BY_VERSION.encode(far));
    await store.commit(batch);
    const view = new StoreView(store, head);
    expect((await view.blockOfVersion(499_999n))?.height).toBe(0n);
    expect((await view.blockOfVersion(500_000n))?.height).toBe(1n);
    expect((await view.blockOfVersion(700_000n))?.height).toBe(1n);
    expect((await view.blockFromVersion(1n))?.height).toBe(1n);
    expect(await view.blockFromVersion(500_001n)).toBeUndefined();
    const pruned = new StoreView(store, { ...head, oldestVersion: 500_000n });
    expect((await pruned.blockFromVersion(0n))?.height).toBe(1n);
    const nothing = new StoreView(store, { ...head, oldestVersion: 600_000n });
    expect((await nothing.blockOfVersion(650_000n))?.height).toBeUndefined();
  });

  test('transactions and infos, across a bucket’s edge, up to the head', async () => {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    const one = transaction(0);
    const first = 65_530;
    await writer.append(chunk(0, new Array<typeof one>(first).fill(one)));
    await writer.append(plainChunk(first, 12));
    const view = await openView(store);
    expect(await view.transactions(65_534n, 4)).toEqual(
      [65_534, 65_535, 65_536, 65_537].map((version) => transaction(version).transaction),
    );
    expect(await view.transactions(65_536n, 100)).toHaveLength(6);
    expect(await view.transactions(65_542n, 1)).toEqual([]);
    expect(await view.transactionInfo(65_541n)).toEqual(transaction(65_541).info);
    expect(() => view.transactionInfo(65_542n)).toThrow(RangeError);
  });

  test('a damaged state row is named', async () => {
    const store = await open();
    await filled(store);
    const key = hashedPhysicalKey(resourceKey(1, 'A'));
    await store.commit(new Batch().put(STATE, key.hash, encodeU64Key(5n), Buffer.of(77)));
    const view = await openView(store);
    await expect((async () => view.state(key))()).rejects.toThrow(
      expect.objectContaining({
        code: 'row_damaged',
        column: 'state',
        key: `${key.hash.toString('hex')}/0000000000000005`,
      }),
    );
  });
});

/** Physical keys of one account with paths of any bytes and lengths. */
function keyWithPath(account: number, path: Buffer): Buffer {
  return physicalStateKey(new AccessPathKey(address(account), path));
}

describe.each(ENGINES)('keys of an account: %s', (_name, open) => {
  const seed = testSeed();

  async function withKeys(keys: readonly Buffer[]): Promise<StoreView> {
    const store = await open();
    const writer = await LedgerWriter.open(store);
    await writer.append(chunk(0, [transaction(0)]));
    let version = 1;
    for (let at = 0; at < keys.length; at += 40) {
      const part = keys.slice(at, at + 40).map((key) => write(key, 'x'));
      await writer.append(chunk(version, [transaction(version, { writes: part })]));
      version += 1;
    }
    return openView(store);
  }

  function longAndShortKeys(): Buffer[] {
    const random = randomSource(seed);
    const keys: Buffer[] = [];
    // The length of the path comes first. Covers lengths that need another byte, and ends of segments.
    for (const length of [0, 1, 50, 127, 128, 129, 255, 256, 300]) {
      keys.push(keyWithPath(1, Buffer.alloc(length, 7)));
    }
    for (const length of [1_021, 1_022, 1_023, 2_045, 2_046, 2_047, 3_070, 3_071, 9_000]) {
      for (let variant = 0; variant < 12; variant += 1) {
        // Equal lengths, so that many bytes are shared: the difference is in any of the segments, or at the end.
        const path = Buffer.alloc(length, 9);
        path[Math.floor(random() * length)] = variant;
        if (variant % 3 === 0) path[length - 1] = 100 + variant;
        keys.push(keyWithPath(1, path));
      }
    }
    return keys.sort(() => random() - 0.5);
  }

  test('order is that of the physical keys, whatever their length', async () => {
    const keys = longAndShortKeys();
    const view = await withKeys([...keys, keyWithPath(2, Buffer.of(1))]);
    const sorted = [...new Set(keys.map((key) => key.toString('hex')))].sort();
    const { version } = view.head;
    const listing = await view.accountKeys(address(1), { limit: 1_000, version });
    expect(listing.keys.map((key) => key.toString('hex'))).toEqual(sorted);
    expect(listing.next).toBeUndefined();
    const other = await view.accountKeys(address(2), { limit: 5, version });
    expect(other.keys).toHaveLength(1);
  });

  test('pages join, and any bytes may be the place to begin', async () => {
    const keys = longAndShortKeys();
    const view = await withKeys(keys);
    const { version } = view.head;
    const sorted = [...new Set(keys.map((key) => key.toString('hex')))].sort();
    for (const limit of [1, 7, 50]) {
      const joined: string[] = [];
      let from: Uint8Array | undefined;
      do {
        const page = await view.accountKeys(address(1), { from, limit, version });
        expect(page.keys.length).toBeLessThanOrEqual(limit);
        joined.push(...page.keys.map((key) => key.toString('hex')));
        from = page.next;
      } while (from !== undefined);
      expect(joined).toEqual(sorted);
    }
    const starts: Buffer[] = sorted.flatMap((hex) => {
      const key = Buffer.from(hex, 'hex');
      const changed = Buffer.from(key);
      changed[changed.length - 1]! ^= 1;
      const middle = Math.floor(key.length / 2);
      return [key, changed, key.subarray(0, middle), Buffer.concat([key, Buffer.of(0)])];
    });
    starts.push(keyWithPath(0, Buffer.of(1)), keyWithPath(2, Buffer.of(1)), Buffer.of(0));
    for (const from of starts) {
      const page = await view.accountKeys(address(1), { from, limit: 3, version });
      const expected = sorted.filter((hex) => hex >= from.toString('hex')).slice(0, 3);
      expect(page.keys.map((key) => key.toString('hex'))).toEqual(expected);
    }
  });

  test('keys that came later are not there yet', async () => {
    const view = await withKeys(
      Array.from({ length: 100 }, (_, n) => keyWithPath(1, Buffer.of(n))),
    );
    const count = async (version: bigint) =>
      (await view.accountKeys(address(1), { limit: 1_000, version })).keys.length;
    expect([await count(0n), await count(1n), await count(2n), await count(3n)]).toEqual([
      0, 40, 80, 100,
    ]);
  });
});

test('more keys than one read takes, and the limits of a page', async () => {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  const keys = Array.from({ length: 700 }, (_, n) => {
    const path = Buffer.alloc(MAX_ORDER_BYTES * 2, 5);
    path.writeUInt16BE(n, MAX_ORDER_BYTES + 50);
    return keyWithPath(1, path);
  });
  const short = Array.from({ length: 700 }, (_, n) =>
    keyWithPath(
      1,
      encodeBcs((writer_) => writer_.u32(n)),
    ),
  );
  const writes = [...keys, ...short].map((key) => write(key, 'x'));
  await writer.append(chunk(0, [transaction(0, { writes })]));
  const tails = (await store.statistics()).find(({ column }) => column === ACCOUNT_KEY_TAILS);
  expect(tails?.rows).toBe(701 + 699);
  const view = await openView(store);
  const query = { limit: MAX_RANGE_ROWS, version: 0n };
  const page = await view.accountKeys(address(1), query);
  expect(page.keys).toEqual([...short, ...keys].sort(Buffer.compare));
  for (const limit of [0, MAX_RANGE_ROWS + 1, 1.5]) {
    await expect(view.accountKeys(address(1), { ...query, limit })).rejects.toThrow(RangeError);
  }
  await expect(view.accountKeys(address(1), { limit: 1, version: 1n })).rejects.toThrow(RangeError);
});
