import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatHex, parseHex } from '../../../src/move/bcs/hex.ts';
import { HexTextError } from '../../../src/move/types/address.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('hex');

function failure(text: string): string {
  try {
    parseHex(text);
  } catch (error) {
    if (error instanceof HexTextError) return error.message;
    throw error;
  }
  throw new Error(`parsed: ${text}`);
}

const unitTexts = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

describe('hex texts (docs/spec/encode.md §A2)', () => {
  it.each([
    ['', ''],
    ['0x', ''],
    ['0x00', '00'],
    ['dEaDbEeF', 'deadbeef'],
    ['0xDEADBEEF', 'deadbeef'],
  ])('%j is read', (text, digits) => {
    expect(parseHex(text).toString('hex')).toBe(digits);
  });

  it.each([
    ['1', 'Odd number of digits'],
    ['0x1', 'Odd number of digits'],
    ['0xé', "Invalid character 'Ã' at position 0"],
    ['0X00', "Invalid character 'X' at position 1"],
    ['00 1', "Invalid character ' ' at position 2"],
    ['0g', "Invalid character 'g' at position 1"],
    ["0'", "Invalid character '\\'' at position 1"],
    // Characters whose low byte is that of a digit.
    ['\u0130\u0131', "Invalid character 'Ä' at position 0"],
    ['0x00\u0661\u0661', "Invalid character 'Ù' at position 2"],
    ['0\u0431', 'Odd number of digits'],
  ])('%j is refused', (text, message) => {
    expect(failure(text)).toBe(message);
  });

  it('reads what it writes, and nothing but ASCII digits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), unitTexts, (bytes, text) => {
        expect(parseHex(formatHex(bytes)).equals(bytes)).toBe(true);
        if (!/^(?:0x)?(?:[0-9a-fA-F]{2})*$/.test(text)) expect(failure(text)).not.toBe('');
      }),
      { seed, numRuns: 300 },
    );
  });

  it('refuses digits moved up by any multiple of 256', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: 1 }),
        fc.nat(),
        fc.integer({ min: 1, max: 0xd7 }),
        (digits, at, block) => {
          const moved = [...digits, ...digits];
          const place = at % moved.length;
          moved[place] = String.fromCharCode(block * 256 + moved[place]!.charCodeAt(0));
          expect(failure(moved.join(''))).toMatch(/^Odd number|^Invalid character/);
        },
      ),
      { seed, numRuns: 1_000 },
    );
  });
});
