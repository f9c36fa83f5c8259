/** Keys and values of the columns: both directions, handwritten bytes, and bytes that must be refused. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { U64_MAX } from '../../src/move/bcs/bcs-reader.ts';
import type { StateValueMetadata } from '../../src/move/types/state-value.ts';
import { Batch } from '../../src/store/batch.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION } from '../../src/store/columns/block-column.ts';
import { BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION, COLUMNS } from '../../src/store/columns/columns.ts';
import {
  decodeEventRow,
  decodeModuleEventRow,
  decodeStreamId,
  encodeStreamId,
  putEvent,
  putModuleEvent,
} from '../../src/store/columns/event-column.ts';
import { frozenRootCount, HEAD_ROW } from '../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import {
  bucketEnd,
  bucketStart,
  decodeBucketKey,
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
} from '../../src/store/columns/order-key.ts';
import { decodeStateRow, encodeStateRow } from '../../src/store/columns/state-column.ts';
import {
  type VersionWrites,
  WRITES_OF_VERSION,
} from '../../src/store/columns/version-writes-column.ts';
import { testSeed } from '../random.ts';
import { address, block } from './chunks.ts';

const seed = testSeed();
const check = <T>(property: fc.IProperty<[T]>): void => fc.assert(property, { seed, numRuns: 300 });

const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.constantFrom(0n, 1n, 255n, 256n, 65_535n, 65_536n, 2n ** 53n, U64_MAX - 1n, U64_MAX),
);
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));
const damaged = expect.objectContaining({ code: 'row_damaged' });

describe('numbers in keys', () => {
  test('encoded order is numeric order, and every width holds', () => {
    check(
      fc.property(fc.tuple(u64, u64), ([a, b]) => {
        const numeric = a < b ? -1 : a > b ? 1 : 0;
        expect(Math.sign(Buffer.compare(encodeU64Key(a), encodeU64Key(b)))).toBe(numeric);
        const [bucketA, bucketB] = [encodeBucketKey(a), encodeBucketKey(b)];
        const whole = (key: typeof bucketA) => Buffer.concat([key.partition, key.order]);
        expect(Math.sign(Buffer.compare(whole(bucketA), whole(bucketB)))).toBe(numeric);
        expect([bucketA.partition.length, bucketA.order.length]).toEqual([6, 2]);
        expect(decodeBucketKey(bucketA.partition, bucketA.order)).toBe(a);
        expect(decodeU64Key(encodeU64Key(a))).toBe(a);
      }),
    );
  });

  test('numbers that have no key', () => {
    for (const value of [-1n, U64_MAX + 1n]) {
      expect(() => encodeU64Key(value)).toThrow(RangeError);
      expect(() => encodeBucketKey(value)).toThrow(RangeError);
    }
  });

  test('bucket edges', () => {
    expect([bucketStart(65_536n), bucketEnd(65_536n)]).toEqual([65_536n, 131_071n]);
    expect([bucketStart(65_535n), bucketEnd(65_535n)]).toEqual([0n, 65_535n]);
    expect(encodeBucketKey(0x0102030405060708n)).toEqual({
      partition: Buffer.from('010203040506', 'hex'),
      order: Buffer.from('0708', 'hex'),
    });
  });

  test('streams sort by address, then creation number', () => {
    const low = encodeStreamId({ address: address(1), creationNumber: U64_MAX });
    const high = encodeStreamId({ address: address(2), creationNumber: 0n });
    expect(Buffer.compare(low, high)).toBe(-1);
    expect(low.toString('hex')).toBe(`${address(1)}${'f'.repeat(16)}`);
    check(
      fc.property(fc.tuple(hash, u64), ([raw, creationNumber]) => {
        const stream = { address: raw.toString('hex'), creationNumber };
        expect(decodeStreamId(encodeStreamId(stream))).toEqual(stream);
      }),
    );
  });
});

describe('state', () => {
  const metadata: fc.Arbitrary<StateValueMetadata | undefined> = fc.oneof(
    fc.constant(undefined),
    fc.record({ kind: fc.constant('v0' as const), deposit: u64, creationTimeUsecs: u64 }),
    fc.record({
      kind: fc.constant('v1' as const),
      slotDeposit: u64,
      bytesDeposit: u64,
      creationTimeUsecs: u64,
    }),
  );

  const KEY = Buffer.of(1, 2, 3);

  test('both directions', () => {
    check(
      fc.property(fc.tuple(bytes, metadata, u64), ([value, meta, version]) => {
        const row = { order: encodeU64Key(version), value: encodeStateRow(KEY, value, meta) };
        const decoded = decodeStateRow(Buffer.alloc(32), row);
        expect(decoded).toEqual({ version, bytes: value, metadata: meta });
        const deletion = { order: row.order, value: encodeStateRow(KEY, undefined, meta) };
        expect(decodeStateRow(Buffer.alloc(32), deletion)).toEqual({ version, deletedKey: KEY });
      }),
    );
  });

  test('bytes by hand', () => {
    const order = encodeU64Key(7n);
    const decode = (hex: string) =>
      decodeStateRow(Buffer.alloc(32), { order, value: Buffer.from(hex, 'hex') });
    expect(encodeStateRow(Buffer.of(0xab, 0xcd), undefined, undefined)).toEqual(
      Buffer.of(0, 0xab, 0xcd),
    );
    expect(decode('00abcd')).toEqual({ version: 7n, deletedKey: Buffer.of(0xab, 0xcd) });
    expect(decode('01')).toEqual({ version: 7n, bytes: Buffer.alloc(0), metadata: undefined });
    expect(decode('01aabb').bytes).toEqual(Buffer.of(0xaa, 0xbb));
    expect(decode('02000500000000000000090000000000000011')).toEqual({
      version: 7n,
      bytes: Buffer.of(0x11),
      metadata: { kind: 'v0', deposit: 5n, creationTimeUsecs: 9n },
    });
    for (const hex of ['', '00', '03', 'ff00', '02', '0200', '0202', '0201' + '00'.repeat(23)]) {
      expect(() => decode(hex), hex).toThrow(damaged);
    }
  });
});

describe('events', () => {
  const place = fc.record({ version: u64, index: fc.integer({ min: 0, max: 0xffff_ffff }) });

  test('both directions; the stored tail is the end of the event’s BCS', () => {
    check(
      fc.property(fc.tuple(place, u64, bytes, bytes), ([where, sequence, typeTag, data]) => {
        const stream = { address: address(5), creationNumber: 6n };
        const batch = new Batch();
        putEvent(batch, stream, sequence, where, { typeTag, data });
        putModuleEvent(batch, encodeBucketKey(where.version), where.index, { typeTag, data });
        const [inStream, inModule] = batch.rows.map(({ partition, order, value }) => ({
          partition: Buffer.from(partition),
          order: Buffer.from(order),
          value: Buffer.from(value!),
        }));
        const event = decodeEventRow(inStream!.partition, inStream!);
        expect(event).toMatchObject({ ...where, sequenceNumber: sequence, typeTag, data });
        expect(event.encoded.subarray(0, typeTag.length)).toEqual(typeTag);
        expect(event.encoded.subarray(event.encoded.length - data.length)).toEqual(data);
        const moduleEvent = decodeModuleEventRow(inModule!);
        expect(moduleEvent).toMatchObject({ ...where, typeTag, data });
        expect(moduleEvent.encoded).toEqual(event.encoded);
      }),
    );
  });

  test('bytes by hand, and bytes to refuse', () => {
    const partition = encodeStreamId({ address: address(1), creationNumber: 2n });
    const decode = (hex: string) =>
      decodeEventRow(partition, { order: encodeU64Key(3n), value: Buffer.from(hex, 'hex') });
    const row = '0900000000000000' + '01000000' + '01000000' + '02' + '02aabb';
    expect(decode(row)).toEqual({
      sequenceNumber: 3n,
      version: 9n,
      index: 1,
      typeTag: Buffer.of(2),
      data: Buffer.of(0xaa, 0xbb),
      encoded: Buffer.from('0202aabb', 'hex'),
    });
    for (const bad of ['', row.slice(2), row.slice(0, -2), row + '00']) {
      expect(() => decode(bad), bad).toThrow(damaged);
    }
    const long = '0900000000000000' + '01000000' + 'ffffffff' + '0202aabb';
    expect(() => decode(long)).toThrow(damaged);
  });

  test.each([0, 1, 127, 128, 129, 255, 256, 16_383, 16_384, 16_385])(
    'data of %i bytes',
    (length) => {
      const partition = encodeStreamId({ address: address(1), creationNumber: 2n });
      const batch = new Batch();
      const body = { typeTag: Buffer.of(2), data: Buffer.alloc(length, 7) };
      putEvent(
        batch,
        { address: address(1), creationNumber: 2n },
        3n,
        { version: 9n, index: 1 },
        body,
      );
      const order = encodeU64Key(3n);
      const value = Buffer.from(batch.rows[0]!.value!);
      expect(decodeEventRow(partition, { order, value })).toMatchObject(body);
      // One byte too few, one too many, a longer form of the length.
      const longer = Buffer.from([
        ...value.subarray(0, 17),
        0x80 | (length & 0x7f),
        0x80,
        0,
        ...body.data,
      ]);
      for (const bad of [value.subarray(0, -1), Buffer.concat([value, Buffer.of(0)]), longer]) {
        expect(() => decodeEventRow(partition, { order, value: bad })).toThrow(damaged);
      }
      const twoBytes = Buffer.from([
        ...value.subarray(0, 17),
        0x80 | (length & 0x7f),
        0,
        ...body.data,
      ]);
      if (length < 128) {
        expect(() => decodeEventRow(partition, { order, value: twoBytes })).toThrow(damaged);
      }
    },
  );
});

const HEAD_KEY = HEAD_ROW.keyOf();
const IDENTITY_KEY = LEDGER_IDENTITY.keyOf();

describe('other rows', () => {
  test('heads', () => {
    const head = fc
      .record({
        version: fc.bigInt({ min: 0n, max: U64_MAX - 1n }),
        timestampUsecs: u64,
        epoch: u64,
        blockHeight: u64,
        oldestVersion: u64,
        oldestBlockHeight: u64,
      })
      .map((fields) => ({
        ...fields,
        frozenRoots: Array.from({ length: frozenRootCount(fields.version + 1n) }, (_, index) =>
          Buffer.alloc(32, index),
        ),
      }));
    check(
      fc.property(fc.tuple(head), ([value]) => {
        expect(HEAD_ROW.decode(HEAD_KEY, HEAD_ROW.encode(value))).toEqual(value);
      }),
    );
    const encoded = HEAD_ROW.encode({
      ...{ version: 2n, timestampUsecs: 0n, epoch: 0n, blockHeight: 0n },
      ...{ oldestVersion: 0n, oldestBlockHeight: 0n },
      frozenRoots: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    });
    expect(encoded.length).toBe(48 + 1 + 64);
    const oneRoot = Buffer.concat([encoded.subarray(0, 48), Buffer.of(1), Buffer.alloc(32)]);
    for (const bad of [encoded.subarray(1), encoded.subarray(0, -1), oneRoot, Buffer.alloc(0)]) {
      expect(() => HEAD_ROW.decode(HEAD_KEY, bad)).toThrow(damaged);
    }
  });

  test('frozen roots: the bits of the leaf count', () => {
    const counts = [0n, 1n, 2n, 3n, 4n, 7n, 8n, U64_MAX].map(frozenRootCount);
    expect(counts).toEqual([0, 1, 1, 2, 1, 3, 1, 64]);
  });

  test('ledger identity', () => {
    const identity = {
      chainId: 243,
      genesisWaypointHash: Buffer.alloc(32, 9),
      keepsTransactions: true,
    };
    const encoded = LEDGER_IDENTITY.encode(identity);
    expect(encoded.toString('hex')).toBe(`f3${'09'.repeat(32)}01`);
    expect(LEDGER_IDENTITY.decode(IDENTITY_KEY, encoded)).toEqual(identity);
    for (const bad of [encoded.subarray(1), Buffer.concat([encoded, Buffer.of(0)])]) {
      expect(() => LEDGER_IDENTITY.decode(IDENTITY_KEY, bad)).toThrow(damaged);
    }
    expect(() =>
      LEDGER_IDENTITY.decode(IDENTITY_KEY, Buffer.concat([encoded.subarray(0, 33), Buffer.of(2)])),
    ).toThrow(damaged);
    const short = { ...identity, genesisWaypointHash: Buffer.alloc(31) };
    expect(() => LEDGER_IDENTITY.encode(short)).toThrow(RangeError);
  });

  test('blocks are the same row under height and version', () => {
    const value = block(70_000, 200_000, 3);
    const batch = new Batch();
    BLOCK_BY_HEIGHT.put(batch, value.height, value);
    BLOCK_BY_VERSION.put(batch, value.firstVersion, value);
    expect(batch.rows.map(({ column }) => column)).toEqual([BLOCKS_BY_HEIGHT, BLOCKS_BY_VERSION]);
    expect(batch.rows.map(({ partition, order }) => decodeBucketKey(partition, order))).toEqual([
      70_000n,
      200_000n,
    ]);
    for (const { column, value: row, ...key } of batch.rows) {
      const codec = column === BLOCKS_BY_HEIGHT ? BLOCK_BY_HEIGHT : BLOCK_BY_VERSION;
      expect(codec.column).toBe(column);
      expect(codec.decode(key, row!)).toEqual(value);
      expect(() => codec.decode(key, row!.subarray(1))).toThrow(damaged);
    }
    expect(() => BLOCK_BY_HEIGHT.encode({ ...value, id: Buffer.alloc(33) })).toThrow(RangeError);
  });

  test('what a version wrote', () => {
    const writes: fc.Arbitrary<VersionWrites> = fc.record({
      keys: fc.array(fc.record({ hash, owner: hash }), { maxLength: 40 }),
      events: fc.array(
        fc.record({
          address: hash.map((raw) => raw.toString('hex')),
          creationNumber: u64,
          sequenceNumber: u64,
        }),
        { maxLength: 40 },
      ),
    });
    const { partition, order } = encodeBucketKey(5n);
    check(
      fc.property(fc.tuple(writes), ([value]) => {
        const encoded = WRITES_OF_VERSION.encode(value);
        expect(WRITES_OF_VERSION.decode({ partition, order }, encoded)).toEqual(value);
        const cut = encoded.subarray(0, encoded.length - 1);
        expect(() => WRITES_OF_VERSION.decode({ partition, order }, cut)).toThrow(damaged);
      }),
    );
    const hugeCount = Buffer.from('ffffffff07', 'hex');
    expect(() => WRITES_OF_VERSION.decode({ partition, order }, hugeCount)).toThrow(damaged);
  });

  test('no column’s key outgrows what LMDB takes', () => {
    for (const { name, partitionBytes, orderBytes } of COLUMNS) {
      expect(partitionBytes + orderBytes[1] + 1, name).toBeLessThanOrEqual(1978);
    }
  });
});
