import { describe, expect, it } from 'vitest';
import {
  checkStructLevels,
  checkTypeLevels,
  TypeLevelError,
} from '../../../src/move/types/move-type-tag.ts';
import { parseStructTag, readMoveType } from '../../../src/move/types/type-parser.ts';

function refusal(check: () => void): string {
  try {
    check();
  } catch (error) {
    if (error instanceof TypeLevelError) return error.message;
    throw error;
  }
  return '';
}

const nested = (open: string, levels: number, innermost: string) =>
  open.repeat(levels) + innermost + '>'.repeat(levels);
const structs = (levels: number, innermost: string) => nested('0x1::a::B<', levels, innermost);
const LIMIT = 'has gone over the limit of recursive types 8';

describe('levels of types (docs/spec/encode.md §A3)', () => {
  it.each([
    nested('vector<', 8, 'u8'),
    structs(3, 'u8'),
    structs(4, 'u8'),
    structs(3, '0x1::a::C'),
    '&' + nested('vector<', 7, 'u8'),
  ])('%s passes', (text) => {
    expect(refusal(() => checkTypeLevels(readMoveType(text)))).toBe('');
  });

  it.each([
    [nested('vector<', 9, 'u8'), `Unable to parse move type ${nested('vector<', 9, 'u8')}`],
    ['&' + nested('vector<', 8, 'u8'), `Move type u8 ${LIMIT}`],
    ['T0', 'Unable to parse move type T0'],
    ['&mut T0', 'Unable to parse move type T0'],
    [
      structs(4, '0x1::a::C'),
      [4, 3, 2, 1]
        .map((left) => `Invalid struct tag for generic type params: ${structs(left, '0x1::a::C')} `)
        .join('') + `Move struct tag 0x1::a::C ${LIMIT}`,
    ],
    [
      structs(5, 'u8'),
      [5, 4, 3, 2]
        .map((left) => `Invalid struct tag for generic type params: ${structs(left, 'u8')} `)
        .join('') + `Move struct tag ${structs(1, 'u8')} ${LIMIT}`,
    ],
  ])('%s is refused', (text, message) => {
    expect(refusal(() => checkTypeLevels(readMoveType(text)))).toBe(message);
  });
});

describe('levels of struct tags in paths (docs/spec/move.md §3.5)', () => {
  it('one more fits, as the tag has no place of its own', () => {
    for (const text of [structs(4, 'u8'), structs(4, '0x1::a::C')]) {
      expect(refusal(() => checkStructLevels(parseStructTag(text)))).toBe('');
    }
    expect(refusal(() => checkStructLevels(parseStructTag(structs(5, 'u8'))))).toContain(
      `Move type u8 ${LIMIT}`,
    );
  });
});
