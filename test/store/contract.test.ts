/** Requirements for every engine, tested on each of them (src/store/store.ts). */

import { describe, expect, test } from 'vitest';
import { U64_MAX } from '../../src/move/bcs/bcs-reader.ts';
import { Batch, MAX_VALUE_BYTES } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  COLUMNS,
  EPOCHS,
  HEAD,
  IDENTITY,
  MAX_ORDER_BYTES,
  type Row,
  STATE,
  STATE_KEYS,
} from '../../src/store/columns/columns.ts';
import { encodeU64Key, NO_ORDER } from '../../src/store/columns/order-key.ts';
import { MAX_RANGE_ROWS, MAX_SCAN_ROWS, type Store } from '../../src/store/store.ts';
import { ENGINES } from './engines.ts';

const hash = (fill: number): Buffer => Buffer.alloc(32, fill);
const text = (value: string): Buffer => Buffer.from(value, 'ascii');
const shown = (rows: readonly (Row | undefined)[]): string[] =>
  rows.map((row) => (row === undefined ? '-' : `${row.order.readBigUInt64BE()}=${row.value}`));

async function put(store: Store, partition: Buffer, versions: readonly bigint[]): Promise<void> {
  const batch = new Batch();
  for (const version of versions) {
    batch.put(STATE, partition, encodeU64Key(version), text(`v${version}`));
  }
  await store.commit(batch);
}

describe.each(ENGINES)('%s', (_name, open) => {
  test('a new store holds its format and nothing else', async () => {
    const store = await open();
    const statistics = await store.statistics();
    expect(statistics.map(({ column }) => column)).toEqual(COLUMNS);
    expect(statistics.filter(({ rows }) => rows > 0).map(({ column }) => column)).toEqual([
      IDENTITY,
    ]);
  });

  test('get gives what was put, exactly', async () => {
    const store = await open();
    const values = [Buffer.alloc(0), Buffer.of(0), text('value'), Buffer.alloc(200_000, 7)];
    const batch = new Batch();
    for (const [index, value] of values.entries()) {
      batch.put(STATE, hash(1), encodeU64Key(BigInt(index)), value);
    }
    await store.commit(batch);
    for (const [index, value] of values.entries()) {
      expect(await store.get(STATE, hash(1), encodeU64Key(BigInt(index)))).toEqual(value);
    }
    expect(await store.get(STATE, hash(1), encodeU64Key(99n))).toBeUndefined();
    expect(await store.get(STATE, hash(2), encodeU64Key(0n))).toBeUndefined();
  });

  test('a row without order part', async () => {
    const store = await open();
    await store.commit(new Batch().put(STATE_KEYS, hash(3), NO_ORDER, text('key')));
    expect(await store.get(STATE_KEYS, hash(3), NO_ORDER)).toEqual(text('key'));
    const rows = await store.scan(STATE_KEYS, { maxRows: 10, maxBytes: 1000 });
    expect(rows).toEqual(
      [{ partition: hash(3), order: NO_ORDER, value: text('key') }].map(asBuffers),
    );
  });

  test('seekLast: before the first, hits, between, after the last, neighbours', async () => {
    const store = await open();
    await put(store, hash(5), [10n, 20n, U64_MAX]);
    await put(store, hash(4), [15n]);
    await put(store, hash(6), [0n]);
    const seek = (partition: Buffer, order: bigint) =>
      store.seekLast(STATE, partition, encodeU64Key(order));
    const found = [
      await seek(hash(5), 0n),
      await seek(hash(5), 9n),
      await seek(hash(5), 10n),
      await seek(hash(5), 11n),
      await seek(hash(5), 20n),
      await seek(hash(5), U64_MAX - 1n),
      await seek(hash(5), U64_MAX),
      await seek(hash(4), 14n),
      await seek(hash(4), 16n),
      await seek(hash(6), 0n),
      await seek(hash(3), U64_MAX),
      await seek(hash(7), 0n),
    ];
    expect(shown(found)).toEqual([
      ...['-', '-', '10=v10', '10=v10', '20=v20', '20=v20', `${U64_MAX}=v${U64_MAX}`],
      ...['-', '15=v15', '0=v0', '-', '-'],
    ]);
  });

  test('range: bounds belong to it, either direction, limit, only its partition', async () => {
    const store = await open();
    await put(store, hash(4), [1n, 2n]);
    await put(store, hash(5), [10n, 20n, 30n, 40n]);
    await put(store, hash(6), [1n, 2n]);
    const range = async (from?: bigint, to?: bigint, limit = 10, reverse = false) =>
      shown(
        await store.range(STATE, hash(5), {
          from: from === undefined ? undefined : encodeU64Key(from),
          to: to === undefined ? undefined : encodeU64Key(to),
          limit,
          reverse,
        }),
      ).map((row) => row.split('=')[0]);
    expect(await range()).toEqual(['10', '20', '30', '40']);
    expect(await range(undefined, undefined, 10, true)).toEqual(['40', '30', '20', '10']);
    expect(await range(20n)).toEqual(['20', '30', '40']);
    expect(await range(21n)).toEqual(['30', '40']);
    expect(await range(undefined, 30n)).toEqual(['10', '20', '30']);
    expect(await range(undefined, 29n)).toEqual(['10', '20']);
    expect(await range(20n, 30n)).toEqual(['20', '30']);
    expect(await range(20n, 30n, 10, true)).toEqual(['30', '20']);
    expect(await range(11n, 39n, 10, true)).toEqual(['30', '20']);
    expect(await range(30n, 20n)).toEqual([]);
    expect(await range(30n, 20n, 10, true)).toEqual([]);
    expect(await range(20n, undefined, 2)).toEqual(['20', '30']);
    expect(await range(undefined, 30n, 1, true)).toEqual(['30']);
    expect(await range(41n)).toEqual([]);
    expect(await range(undefined, 9n, 10, true)).toEqual([]);
  });

  test('ranges at the ends of the key space', async () => {
    const store = await open();
    await put(store, hash(0), [0n, U64_MAX]);
    await put(store, hash(255), [0n, U64_MAX]);
    for (const partition of [hash(0), hash(255)]) {
      for (const reverse of [false, true]) {
        expect(await store.range(STATE, partition, { limit: 10, reverse })).toHaveLength(2);
      }
      expect(shown([await store.seekLast(STATE, partition, encodeU64Key(U64_MAX))])).toEqual([
        `${U64_MAX}=v${U64_MAX}`,
      ]);
    }
  });

  test('order parts of different lengths sort as bytes', async () => {
    const store = await open();
    const orders = [[0], [0, 0], [0, 255], [1], [1, 0], [255], [255, 255]].map((bytes) =>
      Buffer.from(bytes),
    );
    orders.push(Buffer.alloc(MAX_ORDER_BYTES - 1, 255), Buffer.alloc(MAX_ORDER_BYTES, 255));
    const batch = new Batch();
    for (const order of [...orders].reverse()) batch.put(ACCOUNT_KEYS, hash(9), order, order);
    await store.commit(batch);
    const forward = await store.range(ACCOUNT_KEYS, hash(9), { limit: 100 });
    expect(forward.map(({ order }) => order)).toEqual(orders);
    const backward = await store.range(ACCOUNT_KEYS, hash(9), { limit: 100, reverse: true });
    expect(backward.map(({ order }) => order)).toEqual([...orders].reverse());
    const last = await store.seekLast(ACCOUNT_KEYS, hash(9), Buffer.of(0, 254));
    expect(last?.order).toEqual(Buffer.of(0, 0));
  });

  test('getMany and seekLastMany answer in the order asked', async () => {
    const store = await open();
    await put(store, hash(1), [1n, 5n]);
    await put(store, hash(2), [3n]);
    const keys = [
      { partition: hash(2), order: encodeU64Key(3n) },
      { partition: hash(1), order: encodeU64Key(2n) },
      { partition: hash(1), order: encodeU64Key(5n) },
      { partition: hash(2), order: encodeU64Key(2n) },
    ];
    expect(await store.getMany(STATE, keys)).toEqual([
      text('v3'),
      undefined,
      text('v5'),
      undefined,
    ]);
    expect(shown(await store.seekLastMany(STATE, keys))).toEqual(['3=v3', '1=v1', '5=v5', '-']);
    expect(await store.getMany(STATE, [])).toEqual([]);
  });

  test('rangeMany: each range with its own partition, bounds, limit and direction', async () => {
    const store = await open();
    await put(store, hash(4), [1n, 2n, U64_MAX]);
    await put(store, hash(5), [10n, 20n, 30n]);
    const key = encodeU64Key;
    const found = await store.rangeMany(STATE, [
      { partition: hash(5), limit: 2 },
      { partition: hash(4), limit: 10, reverse: true },
      { partition: hash(6), limit: 10 },
      { partition: hash(5), from: key(20n), limit: 10 },
      { partition: hash(5), to: key(20n), limit: 1, reverse: true },
      { partition: hash(5), from: key(11n), to: key(29n), limit: 10 },
      { partition: hash(5), from: key(30n), to: key(20n), limit: 10 },
      { partition: hash(5), limit: 2 },
    ]);
    expect(found.map((rows) => rows.map(({ order }) => Number(order.readBigUInt64BE())))).toEqual([
      [10, 20],
      [Number(U64_MAX), 2, 1],
      [],
      [20, 30],
      [20],
      [20],
      [],
      [10, 20],
    ]);
    expect(shown(found[5]!)).toEqual(['20=v20']);
    expect(await store.rangeMany(STATE, [])).toEqual([]);
    const other = Buffer.of(7);
    await store.commit(new Batch().put(ACCOUNT_KEYS, hash(5), other, text('key')));
    const [keys, none] = await store.rangeMany(ACCOUNT_KEYS, [
      { partition: hash(5), from: Buffer.of(6, 255), limit: 1 },
      { partition: hash(5), from: Buffer.of(7, 0), limit: 1 },
    ]);
    expect([keys, none]).toEqual([[{ order: other, value: text('key') }], []]);
  });

  test('scan: every row once, in key order, in pages by rows and by bytes', async () => {
    const store = await open();
    for (const fill of [200, 3, 0, 255]) await put(store, hash(fill), [9n, 0n, U64_MAX]);
    const whole = await store.scan(STATE, { maxRows: 100, maxBytes: 1e9 });
    const keys = whole.map(({ partition, order }) => Buffer.concat([partition, order]));
    expect(keys).toHaveLength(12);
    expect(keys).toEqual([...keys].sort(Buffer.compare));
    for (const [maxRows, maxBytes] of [
      [1, 1e9],
      [5, 1e9],
      [100, 1],
      [100, 100],
    ] as const) {
      const rows = [];
      for (;;) {
        const page = await store.scan(STATE, { after: rows.at(-1), maxRows, maxBytes });
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(maxBytes === 1e9 ? maxRows : 3);
        rows.push(...page);
      }
      expect(rows).toEqual(whole);
    }
  });

  test('a commit replaces, removes, and takes the last change of a row', async () => {
    const store = await open();
    await put(store, hash(1), [1n, 2n, 3n]);
    const key = (version: bigint) => [STATE, hash(1), encodeU64Key(version)] as const;
    const batch = new Batch()
      .delete(...key(1n))
      .put(...key(2n), text('new'))
      .put(...key(3n), text('first'))
      .put(...key(3n), text('second'))
      .put(...key(4n), text('gone'))
      .delete(...key(4n))
      .delete(...key(2n))
      .put(...key(2n), text('again'))
      .delete(...key(77n))
      .publish(HEAD, Buffer.of(0), NO_ORDER, text('head'));
    await store.commit(batch);
    const rows = await store.range(STATE, hash(1), { limit: 10 });
    expect(shown(rows)).toEqual(['2=again', '3=second']);
    expect(await store.get(HEAD, Buffer.of(0), NO_ORDER)).toEqual(text('head'));
    const state = (await store.statistics()).find(({ column }) => column === STATE);
    expect(state?.rows).toBe(2);
    expect(state?.bytes).toBeGreaterThan(0);
    await store.commit(new Batch());
  });

  test('deleteRange: bounds belong to it, only its partition, before the rows of its batch', async () => {
    const store = await open();
    const orders = async (partition: Buffer) =>
      (await store.range(STATE, partition, { limit: 10 })).map(({ order }) =>
        Number(order.readBigUInt64BE()),
      );
    const range = (from?: number, to?: number) => ({
      from: from === undefined ? undefined : encodeU64Key(BigInt(from)),
      to: to === undefined ? undefined : encodeU64Key(BigInt(to)),
    });
    for (const [bounds, left] of [
      [range(20, 30), [10, 40]],
      [range(21, 29), [10, 20, 30, 40]],
      [range(undefined, 20), [30, 40]],
      [range(30), [10, 20]],
      [range(30, 20), [10, 20, 30, 40]],
      [range(41), [10, 20, 30, 40]],
      [range(), []],
      [undefined, []],
    ] as const) {
      await put(store, hash(4), [0n, U64_MAX]);
      await put(store, hash(5), [10n, 20n, 30n, 40n]);
      await put(store, hash(6), [0n, U64_MAX]);
      await store.commit(new Batch().deleteRange(STATE, hash(5), bounds));
      expect(await orders(hash(5))).toEqual(left);
      expect([await orders(hash(4)), await orders(hash(6))]).toEqual([
        [0, Number(U64_MAX)],
        [0, Number(U64_MAX)],
      ]);
    }
    await put(store, hash(5), [10n, 20n, 30n]);
    const mixed = new Batch()
      .put(STATE, hash(5), encodeU64Key(20n), text('new'))
      .put(STATE, hash(5), encodeU64Key(25n), text('more'))
      .deleteRange(STATE, hash(5), range(10, 25))
      .deleteRange(STATE, hash(6), range(1))
      .delete(STATE, hash(5), encodeU64Key(30n))
      .publish(HEAD, Buffer.of(0), NO_ORDER, text('head'));
    expect(mixed.size).toBe(6);
    await store.commit(mixed);
    expect(shown(await store.range(STATE, hash(5), { limit: 10 }))).toEqual(['20=new', '25=more']);
    expect(await orders(hash(6))).toEqual([0]);
    expect(await store.get(HEAD, Buffer.of(0), NO_ORDER)).toEqual(text('head'));
  });

  test('deleteRange takes rows of every length, and thousands of them', async () => {
    const store = await open();
    const lengths = [Buffer.of(1), Buffer.alloc(MAX_ORDER_BYTES, 255), Buffer.of(1, 0)];
    const batch = new Batch();
    for (const order of lengths) batch.put(ACCOUNT_KEYS, hash(9), order, text('key'));
    for (let order = 0n; order < 5_000n; order += 1n) {
      batch.put(STATE, hash(1), encodeU64Key(order), text('row'));
    }
    await store.commit(batch.put(STATE, hash(2), encodeU64Key(0n), text('row')));
    const upTo = (order: bigint) => ({ to: encodeU64Key(order) });
    // Concurrent commits take effect in the order of the calls.
    await Promise.all([
      store.commit(new Batch().put(STATE, hash(1), encodeU64Key(5_000n), text('late'))),
      store.commit(
        new Batch().deleteRange(ACCOUNT_KEYS, hash(9)).deleteRange(STATE, hash(1), upTo(5_000n)),
      ),
      store.commit(new Batch().put(STATE, hash(1), encodeU64Key(7n), text('later'))),
      store.commit(new Batch().deleteRange(STATE, hash(2), upTo(1n))),
    ]);
    expect(shown(await store.range(STATE, hash(1), { limit: 10 }))).toEqual(['7=later']);
    expect(await store.range(STATE, hash(2), { limit: 10 })).toEqual([]);
    expect(await store.range(ACCOUNT_KEYS, hash(9), { limit: 10 })).toEqual([]);
  });

  test('commits under way at once all arrive, the last one wins', async () => {
    const store = await open();
    const commits = Array.from({ length: 20 }, (_, index) => {
      const batch = new Batch();
      batch.put(EPOCHS, Buffer.of(0), encodeU64Key(BigInt(index)), text('own'));
      batch.put(EPOCHS, Buffer.of(0), encodeU64Key(100n), text(`n${index}`));
      return store.commit(batch);
    });
    await Promise.all(commits);
    const rows = await store.range(EPOCHS, Buffer.of(0), { limit: 100 });
    expect(rows).toHaveLength(21);
    expect(rows.at(-1)?.value).toEqual(text('n19'));
  });

  test('answers are the caller’s own, and batches are read when they are committed', async () => {
    const store = await open();
    const value = text('original');
    await store.commit(new Batch().put(STATE, hash(1), encodeU64Key(1n), value));
    value.fill(0);
    const first = (await store.get(STATE, hash(1), encodeU64Key(1n)))!;
    const second = (await store.seekLast(STATE, hash(1), encodeU64Key(9n)))!;
    await put(store, hash(2), [1n, 2n, 3n]);
    await store.get(STATE, hash(2), encodeU64Key(2n));
    expect([first, second.value, second.order]).toEqual([
      text('original'),
      text('original'),
      encodeU64Key(1n),
    ]);
    first.fill(1);
    expect(await store.get(STATE, hash(1), encodeU64Key(1n))).toEqual(text('original'));
  });

  test('keys of another shape are a programmer’s mistake', async () => {
    const store = await open();
    const order = encodeU64Key(0n);
    expect(() => store.get(STATE, hash(1).subarray(1), order)).toThrow(RangeError);
    expect(() => store.get(STATE, hash(1), NO_ORDER)).toThrow(RangeError);
    expect(() => store.range(STATE, hash(1), { from: Buffer.of(1), limit: 1 })).toThrow(RangeError);
    expect(() => store.range(STATE, Buffer.of(1), { limit: 1 })).toThrow(RangeError);
    for (const range of [
      { partition: Buffer.of(1), limit: 1 },
      { partition: hash(1), to: Buffer.of(1), limit: 1 },
    ]) {
      const whole = { partition: hash(1), limit: 1 };
      expect(() => store.rangeMany(STATE, [whole, range])).toThrow(RangeError);
      expect(() => new Batch().deleteRange(STATE, range.partition, range)).toThrow(RangeError);
    }
    expect(() => new Batch().put(STATE, hash(1), Buffer.alloc(9), order)).toThrow(RangeError);
    const tooLong = Buffer.alloc(MAX_ORDER_BYTES + 1);
    expect(() => new Batch().put(ACCOUNT_KEYS, hash(1), tooLong, order)).toThrow(RangeError);
    expect(() => new Batch().put(ACCOUNT_KEYS, hash(1), NO_ORDER, order)).toThrow(RangeError);
    new Batch().put(ACCOUNT_KEYS, hash(1), Buffer.alloc(MAX_ORDER_BYTES), order);
  });

  test('limits of reads, at their edges', async () => {
    const store = await open();
    const range = (limit: number) => store.range(STATE, hash(1), { limit });
    for (const limit of [0, -1, 1.5, MAX_RANGE_ROWS + 1]) {
      expect(() => range(limit)).toThrow(RangeError);
    }
    expect(await range(1)).toEqual([]);
    expect(await range(MAX_RANGE_ROWS)).toEqual([]);
    const scan = (maxRows: number) => store.scan(STATE, { maxRows, maxBytes: 1 });
    expect(() => scan(0)).toThrow(RangeError);
    expect(() => scan(MAX_SCAN_ROWS + 1)).toThrow(RangeError);
    expect(await scan(MAX_SCAN_ROWS)).toEqual([]);
    expect(() => store.rangeMany(STATE, [{ partition: hash(1), limit: 0 }])).toThrow(RangeError);
    const tooLong = { partition: hash(1), limit: MAX_RANGE_ROWS + 1 };
    expect(() => store.rangeMany(STATE, [tooLong])).toThrow(RangeError);
  });

  test('batches of any length', async () => {
    const store = await open();
    const rows = new Batch();
    for (const version of [1n, 2n]) rows.put(STATE, hash(1), encodeU64Key(version), text('one'));
    await store.commit(rows);
    const key = { partition: hash(1), order: encodeU64Key(2n) };
    const keys = new Array<typeof key>(100_001).fill(key);
    const found = await store.getMany(STATE, keys);
    expect(found).toHaveLength(keys.length);
    expect(found.every((value) => value?.equals(text('one')))).toBe(true);
    const last = await store.seekLastMany(STATE, keys);
    expect(last).toHaveLength(keys.length);
    expect(last.every((row) => row?.order.equals(key.order))).toBe(true);
    const range = { partition: hash(1), limit: MAX_RANGE_ROWS };
    const ranges = await store.rangeMany(STATE, new Array<typeof range>(25).fill(range));
    expect(ranges.map(({ length }) => length)).toEqual(new Array(25).fill(2));
  });

  test('the longest value', async () => {
    const store = await open();
    const value = Buffer.alloc(MAX_VALUE_BYTES, 0xab);
    await store.commit(new Batch().put(STATE, hash(1), encodeU64Key(1n), value));
    const found = await store.seekLast(STATE, hash(1), encodeU64Key(1n));
    expect(found?.value.equals(value)).toBe(true);
  });

  test('a closed store says so', async () => {
    const store = await open();
    await store.close();
    await store.close();
    const closed = expect.objectContaining({ code: 'store_closed' });
    expect(() => store.get(STATE, hash(1), encodeU64Key(1n))).toThrow(closed);
    expect(() => store.range(STATE, hash(1), { limit: 1 })).toThrow(closed);
    expect(() => store.rangeMany(STATE, [{ partition: hash(1), limit: 1 }])).toThrow(closed);
    expect(() => store.statistics()).toThrow(closed);
    await expect(store.commit(new Batch().delete(STATE_KEYS, hash(1), NO_ORDER))).rejects.toThrow(
      closed,
    );
  });
});

describe('batch', () => {
  const order = encodeU64Key(1n);

  test('values up to the limit', () => {
    const value = new Uint8Array(MAX_VALUE_BYTES + 1);
    new Batch().put(STATE, hash(1), order, value.subarray(2));
    new Batch().put(STATE, hash(1), order, value.subarray(1));
    expect(() => new Batch().put(STATE, hash(1), order, value)).toThrow(
      expect.objectContaining({ code: 'batch_too_large' }),
    );
  });

  test('bytes up to the limit, nothing counted for what was refused', () => {
    const batch = new Batch(100);
    batch.put(STATE, hash(1), order, new Uint8Array(10));
    expect(batch.byteLength).toBe(50);
    expect(() => batch.put(STATE, hash(2), order, new Uint8Array(11))).toThrow(
      expect.objectContaining({ code: 'batch_too_large' }),
    );
    expect([batch.byteLength, batch.size]).toEqual([50, 1]);
    batch.publish(STATE, hash(2), order, new Uint8Array(10));
    expect([batch.byteLength, batch.size]).toEqual([100, 2]);
    expect(batch.rows).toHaveLength(1);
    expect(batch.published).toHaveLength(1);
  });
});

function asBuffers<T extends { order: Uint8Array }>(row: T): T {
  return { ...row, order: Buffer.from(row.order) };
}
