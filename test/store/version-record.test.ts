/** Records of versions: rows in both directions, and invalid bytes. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  CHECKSUM_BYTES,
  markOf,
  putChecksum,
  StoredValueError,
} from '../../src/store/sqlite/stored-value.ts';
import {
  encodeRecord,
  type RecordRow,
  VersionRecord,
} from '../../src/store/sqlite/version-record.ts';
import { randomSource, testSeed } from '../random.ts';

const PLACES = [0, 1, 2, 3, 4];
const [INFO, STATE, TRANSACTION, EVENT, WRITES] = PLACES;
const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => below(256)));

const VERSION = 7;
const MARK = markOf(VERSION);

function rowsIn(record: Buffer): RecordRow[] {
  return new VersionRecord(record, VERSION).rows();
}

/** Bytes with a recomputed checksum. */
function sealed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  putChecksum(copy, MARK);
  return copy;
}

/** Rows of a version, with up to `mostBytes` per value. */
function someRows(mostBytes: number): RecordRow[] {
  const transaction = randomBytes(below(mostBytes));
  const part = (): Buffer => transaction.subarray(below(transaction.length + 1));
  const some = (place: number): RecordRow[] => {
    const indexes = [0, 1, 127, 128, 70_000, 0xffff_ffff].filter(() => random() < 0.5);
    return indexes.map((index) => ({ place, index, value: part() }));
  };
  const rows = [
    { place: INFO!, index: 0, value: part() },
    ...some(STATE!),
    { place: TRANSACTION!, index: 0, value: transaction },
    ...some(EVENT!),
    { place: WRITES!, index: 0, value: part() },
  ];
  return rows.filter(() => random() < 0.8);
}

describe('records of versions', () => {
  test('both ways, each row alone', () => {
    for (let round = 0; round < 100; round += 1) {
      // The longest ones are not compressed.
      const rows = someRows(round < 98 ? 2_000 : 90_000);
      const read = rowsIn(encodeRecord(rows, VERSION));
      expect(read.length).toBe(rows.length);
      for (const [at, { place, index, value }] of read.entries()) {
        expect([place, index]).toEqual([rows[at]!.place, rows[at]!.index]);
        expect(Buffer.compare(value, rows[at]!.value)).toBe(0);
      }
    }
  });

  test('one row without the others, and none where it has none', () => {
    for (let round = 0; round < 100; round += 1) {
      const rows = someRows(round < 98 ? 2_000 : 90_000);
      const record = encodeRecord(rows, VERSION);
      for (const place of PLACES) {
        const own = rows.filter((row) => row.place === place);
        const found = new VersionRecord(record, VERSION).rows(place);
        expect(found.map(({ index }) => index)).toEqual(own.map(({ index }) => index));
        for (const index of [0, 1, 2, 127, 128, 129, 70_000, 0xffff_ffff]) {
          const due = own.find((row) => row.index === index)?.value;
          const found = new VersionRecord(record, VERSION).value(place, index);
          expect(found === undefined).toBe(due === undefined);
          if (due !== undefined) expect(Buffer.compare(found!, due)).toBe(0);
        }
      }
    }
  });

  test('the rows of one answer in any order', () => {
    for (let round = 0; round < 100; round += 1) {
      const rows = someRows(round < 98 ? 2_000 : 90_000);
      const record = new VersionRecord(encodeRecord(rows, VERSION), VERSION);
      for (const { place, index, value } of [...rows].sort(() => random() - 0.5)) {
        expect(Buffer.compare(record.value(place, index)!, value)).toBe(0);
      }
    }
  });

  test('a place that no row can have is refused', () => {
    const record = encodeRecord([{ place: INFO!, index: 0, value: Buffer.of(1) }], VERSION);
    for (const place of [5, 6, 7]) {
      record[5] = (1 << 3) | place;
      expect(() => rowsIn(sealed(record))).toThrow(StoredValueError);
    }
  });

  test('what rows repeat takes no room', () => {
    const transaction = randomBytes(2_000);
    const rows = [
      { place: INFO!, index: 0, value: transaction.subarray(300, 500) },
      { place: TRANSACTION!, index: 0, value: transaction },
      { place: EVENT!, index: 0, value: transaction.subarray(900, 1_100) },
    ];
    expect(encodeRecord(rows, VERSION).length).toBeLessThan(transaction.length + 40);
  });

  test('the bytes of one', () => {
    const rows = [
      { place: INFO!, index: 0, value: Buffer.from('ab') },
      { place: EVENT!, index: 130, value: Buffer.from('c') },
    ];
    // An index of 4 bytes: 2 bytes in place 0; 1 byte in place 3 with index 130. Then the plain values.
    const rest = Buffer.of(4, 16, 11, 0x82, 1, 0, 0x61, 0x62, 0x63);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE((crc32(rest) ^ MARK) >>> 0);
    expect(encodeRecord(rows, VERSION)).toEqual(Buffer.concat([checksum, rest]));
    // The mark of 7: 7 times the golden ratio of 2^32, as u32.
    expect(MARK).toBe(0x5384_53d7);
  });

  test('any byte that is another one is noticed', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], VERSION);
      rowsIn(record);
      for (let at = 0; at < record.length; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const flipped = Buffer.from(record);
          flipped[at]! ^= 1 << bit;
          expect(() => rowsIn(flipped)).toThrow(StoredValueError);
        }
      }
    }
  });

  test('one in the place of another is noticed', () => {
    const record = encodeRecord([...someRows(900), ...LAST], VERSION);
    for (const version of [0, 8, VERSION + 2 ** 32, VERSION + 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      expect(() => new VersionRecord(record, version), `${version}`).toThrow(StoredValueError);
    }
  });

  test('cut anywhere: refused', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], VERSION);
      for (let end = 0; end < record.length; end += 1) {
        const cut = record.subarray(0, end);
        expect(() => rowsIn(cut)).toThrow(StoredValueError);
        if (end >= CHECKSUM_BYTES) expect(() => rowsIn(sealed(cut))).toThrow(StoredValueError);
      }
    }
  });

  test('a number that does not end is refused', () => {
    expect(() => rowsIn(sealed(Buffer.alloc(20, 0xff)))).toThrow(StoredValueError);
  });
});

/** A non-empty last value, so that every truncation loses part of it. */
const LAST = [{ place: WRITES!, index: 1, value: Buffer.from('the end') }];
