/** Records of versions: rows in both directions, and bytes that are no record. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { checkValue, markOf, StoredValueError } from '../../src/store/sqlite/stored-value.ts';
import { CompressedValueError } from '../../src/store/sqlite/value-compression.ts';
import {
  encodeRecord,
  rankOf,
  rowsOfRecord,
  type ValueOfRecord,
  valueInRecord,
  valuesOf,
} from '../../src/store/sqlite/version-record.ts';
import { randomSource, testSeed } from '../random.ts';

const [INFO, TRANSACTION, EVENT, WRITES, STATE] = [0, 1, 2, 3, 4];
const PLACES = [INFO, TRANSACTION, EVENT, WRITES, STATE];
const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => below(256)));

function rowsIn(record: Buffer): ValueOfRecord[] {
  return rowsOfRecord(record).map(({ place, index, from, to }) => {
    return { place, index, value: valuesOf(record, from, to) };
  });
}

const VERSION = 7;
const MARK = markOf(VERSION);

/** What a version has, of up to so many bytes a value. */
function someRows(mostBytes: number): ValueOfRecord[] {
  const transaction = randomBytes(below(mostBytes));
  const part = (): Buffer => transaction.subarray(below(transaction.length + 1));
  const some = (place: number): ValueOfRecord[] => {
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
      const read = rowsIn(encodeRecord(rows, MARK));
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
      const record = encodeRecord(rows, MARK);
      for (const place of PLACES) {
        const own = rows.filter((row) => row.place === place);
        expect(rowsOfRecord(record, place).map(({ index }) => index)).toEqual(
          own.map(({ index }) => index),
        );
        for (const index of [0, 1, 2, 127, 128, 129, 70_000, 0xffff_ffff]) {
          const due = own.find((row) => row.index === index)?.value;
          const found = valueInRecord(record, place, index);
          expect(found === undefined).toBe(due === undefined);
          if (due !== undefined) expect(Buffer.compare(found!, due)).toBe(0);
        }
      }
    }
  });

  test('a place that no row can have is refused', () => {
    for (const place of [5, 6, 7]) expect(() => rankOf(place)).toThrow(CompressedValueError);
    const record = encodeRecord([{ place: INFO!, index: 0, value: Buffer.of(1) }], MARK);
    record[5] = (1 << 3) | 5;
    expect(() => valueInRecord(record, TRANSACTION!, 0)).toThrow(CompressedValueError);
  });

  test('what rows repeat takes no room', () => {
    const transaction = randomBytes(2_000);
    const rows = [
      { place: INFO!, index: 0, value: transaction.subarray(300, 500) },
      { place: TRANSACTION!, index: 0, value: transaction },
      { place: EVENT!, index: 0, value: transaction.subarray(900, 1_100) },
    ];
    expect(encodeRecord(rows, MARK).length).toBeLessThan(transaction.length + 40);
  });

  test('the bytes of one', () => {
    const rows = [
      { place: INFO!, index: 0, value: Buffer.from('ab') },
      { place: EVENT!, index: 130, value: Buffer.from('c') },
    ];
    // An index of 4 bytes: 2 bytes in place 0; 1 byte in place 2 with index 130. Then the values as they are.
    const rest = Buffer.of(4, 16, 10, 0x82, 1, 0, 0x61, 0x62, 0x63);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE((crc32(rest) ^ MARK) >>> 0);
    expect(encodeRecord(rows, MARK)).toEqual(Buffer.concat([checksum, rest]));
    // The mark of 7: 7 times the golden ratio of 2^32, as u32.
    expect(MARK).toBe(0x5384_53d7);
  });

  test('any byte that is another one is noticed', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], MARK);
      checkValue(record, MARK);
      for (let at = 0; at < record.length; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const flipped = Buffer.from(record);
          flipped[at]! ^= 1 << bit;
          expect(() => checkValue(flipped, MARK)).toThrow(StoredValueError);
        }
      }
    }
  });

  test('one in the place of another is noticed', () => {
    const record = encodeRecord([...someRows(900), ...LAST], MARK);
    for (const version of [0, 8, VERSION + 2 ** 32, VERSION + 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      expect(() => checkValue(record, markOf(version)), `${version}`).toThrow(StoredValueError);
    }
  });

  test('cut anywhere: refused', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], MARK);
      for (let end = 0; end < record.length; end += 1) {
        const cut = record.subarray(0, end);
        expect(() => checkValue(cut, MARK)).toThrow(StoredValueError);
        expect(() => rowsIn(cut)).toThrow(CompressedValueError);
      }
    }
  });

  test('a number that does not end is refused', () => {
    expect(() => rowsOfRecord(Buffer.alloc(20, 0xff))).toThrow(CompressedValueError);
  });
});

/** So that no end of the record is one of nothing. */
const LAST = [{ place: WRITES!, index: 1, value: Buffer.from('the end') }];
