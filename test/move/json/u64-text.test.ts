import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WideIntegerKind } from '../../../src/move/bcs/integers.ts';
import { IntegerTextError, parseIntegerText, parseU64 } from '../../../src/move/json/u64-text.ts';
import { debugString } from '../../../src/move/rust-debug.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('u64-text');

function failure(text: string, kind: WideIntegerKind = 'u64'): IntegerTextError {
  try {
    parseIntegerText(text, kind);
  } catch (error) {
    if (error instanceof IntegerTextError) return error;
    throw error;
  }
  throw new Error(`parsed: ${text.slice(0, 80)}`);
}

const EMPTY = 'cannot parse integer from empty string';
const BAD = 'invalid digit found in string';
const LARGE = 'number too large to fit in target type';
const SMALL = 'number too small to fit in target type';

describe('integer texts (docs/spec/encode.md §A1, A4)', () => {
  it.each([
    ['0', 0n],
    ['+7', 7n],
    ['0007', 7n],
    [`${'0'.repeat(100)}18446744073709551615`, 2n ** 64n - 1n],
  ])('%s is read', (text, value) => {
    expect(parseU64(text)).toBe(value);
  });

  it.each([
    ['', EMPTY],
    ['18446744073709551616', LARGE],
    ['99999999999999999999x', LARGE],
    ['1844674407370955161x', BAD],
    ['9'.repeat(200), LARGE],
    ['-1', BAD],
    ['-0', BAD],
    ['+', BAD],
    ['-', BAD],
    ['++1', BAD],
    ['0x7', BAD],
    ['7.0', BAD],
    ['1_000', BAD],
    [' 7', BAD],
    ['7 ', BAD],
    ['٣', BAD],
  ])('u64 %j: %s', (text, why) => {
    const error = failure(text);
    expect(error.why).toBe(why);
    expect(error.message).toBe(
      `Parsing u64 string ${debugString(text)} failed, caused by error: ${why}`,
    );
  });

  it.each([
    ['u64', 0n, 2n ** 64n - 1n],
    ['u128', 0n, 2n ** 128n - 1n],
    ['u256', 0n, 2n ** 256n - 1n],
    ['i64', -(2n ** 63n), 2n ** 63n - 1n],
    ['i128', -(2n ** 127n), 2n ** 127n - 1n],
    ['i256', -(2n ** 255n), 2n ** 255n - 1n],
  ] as const)('%s ends where it ends', (kind, min, max) => {
    for (const value of [min, min + 1n, max - 1n, max]) {
      expect(parseIntegerText(String(value), kind)).toBe(value);
    }
    expect(failure(String(max + 1n), kind).why).toBe(LARGE);
    expect(failure(String(min - 1n), kind).why).toBe(min === 0n ? BAD : SMALL);
  });

  it('names the types as the reference does, and quotes as it does', () => {
    expect(failure('x\n"', 'u256').message).toBe(
      `Parsing move_core_types::int256::U256 string "x\\n\\"" failed, caused by error: ${BAD}`,
    );
    expect(failure('-', 'i256').message).toContain('move_core_types::int256::I256');
    expect(failure('-', 'i128').message).toContain('Parsing i128 string "-"');
  });

  it('reads back every printed integer, with zeros before it', () => {
    const kinds = fc.constantFrom<WideIntegerKind>('u64', 'u128', 'u256', 'i64', 'i128', 'i256');
    fc.assert(
      fc.property(kinds, fc.nat(255), fc.nat(90), fc.bigInt(), (kind, bits, zeros, random) => {
        const value = BigInt.asUintN(Math.min(bits, Number(kind.slice(1)) - 1), random);
        const text = '0'.repeat(zeros) + value;
        expect(parseIntegerText(text, kind)).toBe(value);
        if (kind.startsWith('i')) expect(parseIntegerText(`-${text}`, kind)).toBe(-value);
      }),
      { seed, numRuns: 2_000 },
    );
  });

  it('takes linear time for 8 MiB', () => {
    for (const text of ['9'.repeat(8 << 20), '0'.repeat(8 << 20)]) {
      try {
        parseIntegerText(text, 'u256');
      } catch (error) {
        expect((error as IntegerTextError).why).toBe(LARGE);
      }
    }
  });
});

describe('debug quotes', () => {
  it('are right where long texts are cut for the work', () => {
    for (const at of [65_534, 65_535, 65_536, 131_070]) {
      const [before, after] = ['a'.repeat(at), 'b'.repeat(70_000)];
      expect(debugString(`${before}😀\n${after}`)).toBe(`"${before}😀\\n${after}"`);
      expect(debugString(`${before}\u{e0001}${after}`)).toBe(`"${before}\\u{e0001}${after}"`);
    }
  });

  it.each([
    ['', '""'],
    ['a b~', '"a b~"'],
    ['"\\\n\r\t\0', '"\\"\\\\\\n\\r\\t\\0"'],
    ['\x01\x7f\u0085', '"\\u{1}\\u{7f}\\u{85}"'],
    ["'é€😀", '"\'é€😀"'],
    ['\u00a0\u200b\u2028\ufeff', '"\\u{a0}\\u{200b}\\u{2028}\\u{feff}"'],
    ['e\u0301', '"e\\u{301}"'],
  ])('%j', (text, quoted) => {
    expect(debugString(text)).toBe(quoted);
  });
});
