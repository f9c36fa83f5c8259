/** Compressed values: both ways, a block that another program made, and bytes that are none. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TRANSACTION_DICTIONARY } from '../../src/store/sqlite/transaction-dictionary.ts';
import { CompressedValueError, ValueCompressor } from '../../src/store/sqlite/value-compression.ts';
import { randomSource, testSeed } from '../random.ts';

const WORDS = Buffer.from('transaction_fee FeeStatement fungible_asset Withdraw Deposit ');
const VALUE = Buffer.concat([
  Buffer.from('fungible_asset::Deposit of 0x1::fungible_asset::FungibleStore, '),
  Buffer.from('fungible_asset::Withdraw; '),
  Buffer.alloc(300),
  Buffer.from('fungible_asset::Deposit FeeStatement.'),
]);
/** What python-lz4 4.x makes of VALUE with WORDS as dictionary, after our header. */
const BLOCK_OF_PYTHON = Buffer.from(
  '01aa01' +
    '0a2000fc033a3a4465706f736974206f66203078313a3a2000134630007c53746f72652c201f000460003f3b2000' +
    '0100ff190c4601048501d046656553746174656d656e742e',
  'hex',
);

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => below(256)));

/** Bytes as stored ones are: pieces of the dictionary, runs, repetitions, and bytes like hashes. */
function likeStored(dictionary: Buffer, leastBytes: number): Buffer {
  let value = Buffer.alloc(0);
  while (value.length < leastBytes) {
    const from = below(dictionary.length);
    const pieces = [
      () => dictionary.subarray(from, from + below(90)),
      () => Buffer.alloc(below(700), below(3)),
      () => randomBytes(below(70)),
      () => value.subarray(-below(200)),
    ];
    value = Buffer.concat([value, pieces[below(pieces.length)]!()]);
  }
  return value;
}

describe('compressed values', () => {
  test('both ways', () => {
    for (const dictionary of [Buffer.alloc(0), WORDS, TRANSACTION_DICTIONARY]) {
      const compressor = new ValueCompressor(dictionary);
      for (let round = 0; round < 300; round += 1) {
        const value = likeStored(dictionary, round < 40 ? round : below(5_000));
        const stored = Buffer.from(compressor.compress([value]));
        expect(compressor.expand(stored).equals(value)).toBe(true);
        expect(stored.length).toBeLessThanOrEqual(value.length + 1);
      }
    }
  });

  test('a block of another program', () => {
    expect(new ValueCompressor(WORDS).expand(BLOCK_OF_PYTHON)).toEqual(VALUE);
  });

  test('names of the framework, and repetitions, take little room', () => {
    const compressor = new ValueCompressor(TRANSACTION_DICTIONARY);
    const names = TRANSACTION_DICTIONARY.subarray(1_000, 1_200);
    expect(compressor.compress([names]).length).toBeLessThan(30);
    expect(compressor.compress([Buffer.alloc(10_000)]).length).toBeLessThan(60);
  });

  test.each([-1, 0, 1])('the longest value that is compressed, %i bytes more', (more) => {
    const compressor = new ValueCompressor(TRANSACTION_DICTIONARY);
    for (const value of [
      Buffer.alloc(compressor.maxBytes + more, 7),
      randomBytes(compressor.maxBytes + more),
    ]) {
      const stored = compressor.compress([value]);
      expect(compressor.expand(stored).equals(value)).toBe(true);
    }
    const isShort = compressor.compress([Buffer.alloc(compressor.maxBytes + more)]).length < 1_000;
    expect(isShort).toBe(more <= 0);
  });

  test('the dictionary is part of the format', () => {
    const digest = createHash('sha256').update(TRANSACTION_DICTIONARY).digest('hex');
    // A change here is a change of the store's format.
    expect(digest).toBe('a59872e3d346d333c886e013178ed1bbb3ddfa58d1e4d080361fbf4773b0f082');
  });
});

describe('bytes that are not a compressed value', () => {
  const compressor = new ValueCompressor(WORDS);
  const expand =
    (...bytes: number[]) =>
    () =>
      compressor.expand(Buffer.from(bytes));

  test.each([
    ['nothing', expand()],
    ['an unknown tag', expand(2, 0, 0)],
    ['a cut header', expand(1, 4)],
    ['no block', expand(1, 4, 0)],
    ['too few literals', expand(1, 4, 0, 0x40, 1, 2, 3)],
    ['more literals than it says', expand(1, 1, 0, 0x20, 1, 2)],
    ['fewer than it says', expand(1, 3, 0, 0x20, 1, 2)],
    ['no offset', expand(1, 6, 0, 0x10, 1)],
    ['half an offset', expand(1, 6, 0, 0x10, 1, 1)],
    ['an offset of 0', expand(1, 6, 0, 0x10, 1, 0, 0, 0x10, 1)],
    ['an offset before the dictionary', expand(1, 6, 0, 0x10, 1, 0xff, 0, 0x10, 1)],
    ['a match beyond the end', expand(1, 4, 0, 0x1f, 1, 1, 0, 9, 0x00)],
    ['no last literals', expand(1, 5, 0, 0x10, 1, 1, 0)],
    ['a length without end', expand(1, 5, 0, 0xf0, 255, 255)],
    ['a length beyond the window', expand(1, 255, 255, 0)],
  ])('%s', (_, refused) => {
    expect(refused).toThrow(CompressedValueError);
  });

  test('cut anywhere, or with a bit flipped: an error, or other bytes', () => {
    const value = likeStored(WORDS, 1_500);
    const stored = Buffer.from(compressor.compress([value]));
    for (let end = 0; end < stored.length; end += 1) {
      expect(() => compressor.expand(stored.subarray(0, end))).toThrow(CompressedValueError);
    }
    for (let round = 0; round < 2_000; round += 1) {
      const damaged = Buffer.from(stored);
      damaged[below(damaged.length)]! ^= 1 << below(8);
      try {
        compressor.expand(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(CompressedValueError);
      }
    }
    expect(compressor.expand(stored)).toEqual(value);
  });
});
