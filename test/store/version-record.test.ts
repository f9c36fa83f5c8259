/** Records of versions: rows in both directions, and bytes that are no record. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { markOf, StoredValueError } from '../../src/store/lmdb/stored-value.ts';
import { CompressedValueError } from '../../src/store/lmdb/value-compression.ts';
import {
  checkRecord,
  encodeRecord,
  rowsOfRecord,
  type ValueOfRecord,
  valuesOf,
} from '../../src/store/lmdb/version-record.ts';
import { randomSource, testSeed } from '../random.ts';

const [INFO, TRANSACTION, EVENT, WRITES] = [0, 1, 2, 3];
const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => below(256)));

function rowsIn(record: Buffer): ValueOfRecord[] {
  return rowsOfRecord(record).map(({ place, index, from, to }) => {
    return { place, index, value: valuesOf(record, from, to) };
  });
}

const MARK = markOf(Buffer.from([0, 0, 0, 0, 0, 0, 0, 7]));

/** What a version has, of up to so many bytes a value. */
function someRows(mostBytes: number): ValueOfRecord[] {
  const transaction = randomBytes(below(mostBytes));
  const part = (): Buffer => transaction.subarray(below(transaction.length + 1));
  const indexes = [0, 1, 127, 128, 70_000, 0xffff_ffff].filter(() => random() < 0.5);
  const rows = [
    { place: INFO!, index: 0, value: part() },
    { place: TRANSACTION!, index: 0, value: transaction },
    ...indexes.map((index) => ({ place: EVENT!, index, value: part() })),
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
    expect(encodeRecord(rows, MARK)).toEqual(Buffer.concat([Buffer.of(0), checksum, rest]));
    const ofFormat6 = Buffer.of(4, 8, 6, 0x82, 1, 0, 0x61, 0x62, 0x63);
    checkRecord(ofFormat6, MARK);
    expect(rowsIn(ofFormat6)).toEqual(rows);
  });

  test('any byte that is another one is noticed', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], MARK);
      checkRecord(record, MARK);
      for (let at = 0; at < record.length; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const flipped = Buffer.from(record);
          flipped[at]! ^= 1 << bit;
          expect(() => checkRecord(flipped, MARK)).toThrow(StoredValueError);
        }
      }
    }
  });

  test('one in the place of another is noticed, but for those without a mark', () => {
    const rows = [...someRows(900), ...LAST];
    const other = markOf(Buffer.from([0, 0, 0, 0, 0, 0, 0, 8]));
    expect(() => checkRecord(encodeRecord(rows, MARK), other)).toThrow(StoredValueError);
    checkRecord(encodeRecord(rows, 0), other);
  });

  test('cut anywhere: refused', () => {
    for (const mostBytes of [40, 900]) {
      const record = encodeRecord([...someRows(mostBytes), ...LAST], MARK);
      for (let end = 0; end < record.length; end += 1) {
        const cut = record.subarray(0, end);
        if (end > 0) expect(() => checkRecord(cut, MARK)).toThrow(StoredValueError);
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
