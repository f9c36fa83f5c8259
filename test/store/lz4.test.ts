/** Compressed values: both directions, a block from another program, and invalid bytes. */
import { describe, expect, test } from 'vitest';
import { compress, expand, MAX_COMPRESSED_BYTES } from '../../src/store/sqlite/lz4.ts';
import { StoredValueError } from '../../src/store/sqlite/stored-value.ts';
import { randomSource, testSeed } from '../random.ts';

const WORDS = Buffer.from('transaction_fee FeeStatement fungible_asset Withdraw Deposit ');
const VALUE = Buffer.concat([
  Buffer.from('fungible_asset::Deposit of 0x1::fungible_asset::FungibleStore, '),
  Buffer.from('fungible_asset::Withdraw; '),
  Buffer.alloc(300),
  Buffer.from('fungible_asset::Deposit FeeStatement.'),
]);
/** VALUE compressed by python-lz4 4.4.5, after our header. */
const BLOCK_OF_PYTHON = Buffer.from(
  '01aa01' +
    'fc1166756e6769626c655f61737365743a3a4465706f736974206f66203078313a3a2000134630007c53746f72652c201f00' +
    'bf57697468647261773b20000100ff190c4601048501d046656553746174656d656e742e',
  'hex',
);

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => below(256)));

/** Bytes like stored ones: pieces of names, runs, repetitions, and hash-like bytes. */
function likeStored(leastBytes: number): Buffer {
  let value = Buffer.alloc(0);
  while (value.length < leastBytes) {
    const from = below(WORDS.length);
    const pieces = [
      () => WORDS.subarray(from, from + below(90)),
      () => Buffer.alloc(below(700), below(3)),
      () => randomBytes(below(70)),
      () => value.subarray(-below(200)),
    ];
    value = Buffer.concat([value, pieces[below(pieces.length)]!()]);
  }
  return value;
}

describe('compressed values', () => {
  test('both ways, whole and the beginning alone', () => {
    for (let round = 0; round < 600; round += 1) {
      const value = likeStored(round < 80 ? round : below(5_000));
      const head = randomBytes(below(9));
      const cut = below(value.length + 1);
      const stored = compress([value.subarray(0, cut), value.subarray(cut)], head);
      expect(stored.subarray(0, head.length)).toEqual(head);
      expect(expand(stored, head.length).equals(value)).toBe(true);
      for (const wanted of [0, 1, cut, value.length].filter((bytes) => bytes <= value.length)) {
        const beginning = expand(stored, head.length, wanted);
        expect(beginning.equals(value.subarray(0, wanted))).toBe(true);
      }
      expect(() => expand(stored, head.length, value.length + 1)).toThrow(StoredValueError);
      expect(stored.length).toBeLessThanOrEqual(head.length + value.length + 1);
    }
  });

  test('a block of another program', () => {
    expect(expand(BLOCK_OF_PYTHON)).toEqual(VALUE);
  });

  test('repetitions take little room', () => {
    expect(compress([WORDS, WORDS, WORDS]).length).toBeLessThan(WORDS.length + 20);
    expect(compress([Buffer.alloc(10_000)]).length).toBeLessThan(60);
  });

  test.each([-1, 0, 1])('the longest value that is compressed, %i bytes more', (more) => {
    const bytes = MAX_COMPRESSED_BYTES + more;
    for (const value of [Buffer.alloc(bytes, 7), randomBytes(bytes)]) {
      expect(expand(compress([value])).equals(value)).toBe(true);
    }
    expect(compress([Buffer.alloc(bytes)]).length < 1_000).toBe(more <= 0);
  });
});

describe('bytes that are not a compressed value', () => {
  const expanding =
    (...bytes: number[]) =>
    () =>
      expand(Buffer.from(bytes));

  test.each([
    ['nothing', expanding()],
    ['an unknown tag', expanding(2, 0, 0)],
    ['a cut header', expanding(1, 4)],
    ['no block', expanding(1, 4, 0)],
    ['too few literals', expanding(1, 4, 0, 0x40, 1, 2, 3)],
    ['more literals than it says', expanding(1, 1, 0, 0x20, 1, 2)],
    ['fewer than it says', expanding(1, 3, 0, 0x20, 1, 2)],
    ['no offset', expanding(1, 6, 0, 0x10, 1)],
    ['half an offset', expanding(1, 6, 0, 0x10, 1, 1)],
    ['an offset of 0', expanding(1, 6, 0, 0x10, 1, 0, 0, 0x10, 1)],
    ['an offset before the beginning', expanding(1, 6, 0, 0x10, 1, 0xff, 0, 0x10, 1)],
    ['a match beyond the end', expanding(1, 4, 0, 0x1f, 1, 1, 0, 9, 0x00)],
    ['no last literals', expanding(1, 5, 0, 0x10, 1, 1, 0)],
    ['a length without end', expanding(1, 5, 0, 0xf0, 255, 255)],
    ['a length without its bytes', expanding(1, 255, 255, 0)],
  ])('%s', (_, refused) => {
    expect(refused).toThrow(StoredValueError);
  });

  test('cut anywhere, or with a bit flipped: an error, or other bytes', () => {
    const value = likeStored(1_500);
    const stored = compress([value]);
    for (let end = 0; end < stored.length; end += 1) {
      expect(() => expand(stored.subarray(0, end))).toThrow(StoredValueError);
    }
    for (let round = 0; round < 2_000; round += 1) {
      const damaged = Buffer.from(stored);
      damaged[below(damaged.length)]! ^= 1 << below(8);
      try {
        expand(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(StoredValueError);
      }
    }
    expect(expand(stored)).toEqual(value);
  });
});
