import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseStructTag,
  parseTypeTag,
  readMoveType,
  TYPE_TEXT_MAX_DEPTH,
  TypeTextError,
} from '../../../src/move/types/type-parser.ts';
import { formatTypeTag, type TypeTag } from '../../../src/move/types/type-tag.ts';
import { roundsOf, testSeed } from '../../random.ts';

const seed = testSeed('type-parser');

function failure(text: string, parse: (text: string) => unknown = parseTypeTag): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof TypeTextError) return error.message;
    throw error;
  }
  throw new Error(`parsed: ${text.slice(0, 80)}`);
}

function nested(depth: number, open: string, inner = 'u8'): string {
  return open.repeat(depth) + inner + '>'.repeat(depth);
}

describe('texts that are types (docs/spec/move.md §3.2)', () => {
  it.each([
    ['u8', 'u8'],
    [' \t\n\f\ru256 ', 'u256'],
    ['vector < vector<bool> >', 'vector<vector<bool>>'],
    ['0x01::coin::Coin', '0x1::coin::Coin'],
    ['0XAB :: a :: B < u8 , address , >', '0xab::a::B<u8, address>'],
    ['0x1::a::B<>', '0x1::a::B'],
    ['0x1::a$_1::B_$<0x2::b::C,signer>', '0x1::a$_1::B_$<0x2::b::C, signer>'],
    ['0x0::x::y', '0x0::x::y'],
    ['0x1::u8x::vectors', '0x1::u8x::vectors'],
    [`0x${'F'.repeat(64)}::m::S`, `0x${'f'.repeat(64)}::m::S`],
  ])('%j is %s', (text, printed) => {
    expect(formatTypeTag(parseTypeTag(text))).toBe(printed);
  });

  it('takes 8 levels below the outermost', () => {
    expect(TYPE_TEXT_MAX_DEPTH).toBe(8);
    for (const open of ['vector<', '0x1::a::B<']) {
      for (const depth of [7, 8]) {
        const text = nested(depth, open);
        expect(formatTypeTag(parseTypeTag(text))).toBe(text);
      }
      expect(failure(nested(9, open))).toBe('Exceeded TypeTag nesting limit during parsing: 9');
    }
  });
});

describe('texts that are no types', () => {
  it.each([
    ['', 'unexpected token EOF, expected type tag'],
    ['foo', 'unexpected token Name("foo"), expected type tag'],
    ['i8', 'unexpected token Name("i8"), expected type tag'],
    ['T0', 'unexpected token Name("T0"), expected type tag'],
    ['true', 'unexpected token True, expected type tag'],
    ['12', 'unexpected token U64("12"), expected type tag'],
    ['1_2u8', 'unexpected token U8("1_2"), expected type tag'],
    ['0u256', 'unexpected token U256("0"), expected type tag'],
    ['b"a\n"', 'unexpected token Bytes("610a"), expected type tag'],
    ['x"AB1"', 'unexpected token Bytes("AB1"), expected type tag'],
    ['>', 'unexpected token Gt, expected type tag'],
    ['0x1::a', 'expected token ColonColon, got EOF'],
    ['0x1', 'expected token ColonColon, got EOF'],
    ['0x1::a::b::c', 'expected token EOF, got ColonColon'],
    ['u8 u8', 'expected token EOF, got U8Type'],
    ['0X1F 0XaB', 'expected token ColonColon, got Address("0xaB")'],
    ['vector', 'expected token Lt, got EOF'],
    ['vector<u8', 'expected token Gt, got EOF'],
    ['vector<u8,>', 'expected token Gt, got Comma'],
    ['0x1::a::B<u8', 'expected token Comma, got EOF'],
    ['0x1::a::B<u8 u8>', 'expected token Comma, got U8Type'],
    ['0x1::a::B<,>', 'unexpected token Comma, expected type tag'],
    ['0x1::a::B<u8,,>', 'unexpected token Comma, expected type tag'],
    ['0x1::u8::T', 'expected name, got U8Type'],
    ['0x1::vector::T', 'expected name, got VectorType'],
    ['0x1::a::signer', 'expected name, got SignerType'],
    ['0x1::false::T', 'expected name, got False'],
    ['0x1::0x2::T', 'expected name, got Address("0x2")'],
    ['0x1::1a::B', 'invalid suffix'],
    ['1é', 'invalid suffix'],
    ['1u9', 'invalid suffix'],
    ['0x1::a-b::C', 'unrecognized token'],
    ['0x1::_a::B', 'unrecognized token'],
    ['0x1::$a::B', 'unrecognized token'],
    ['0x', 'unrecognized token'],
    ['0Xg', 'unrecognized token'],
    ['a:b', 'unrecognized token'],
    ['&u8', 'unrecognized token'],
    ['|u8|u8', 'unrecognized token'],
    ['u8\v', 'unrecognized token'],
    ['é', 'unrecognized token'],
    ['b"é"', 'unrecognized token'],
    ['b"a', 'unrecognized token'],
    ['x"g"', 'unrecognized token'],
    [`0x${'1'.repeat(65)}::a::B`, 'Hex characters are invalid: Odd number of digits'],
    [`0x${'1'.repeat(66)}::a::B`, 'Hex characters are invalid: Invalid string length'],
  ])('%j: %s', (text, message) => {
    expect(failure(text)).toBe(message);
  });

  it('reports a bad token before any grammar error', () => {
    expect(failure('u8 u8 &')).toBe('unrecognized token');
    expect(failure(`${nested(9, 'vector<')} 1a`)).toBe('invalid suffix');
    expect(failure(`0x${'1'.repeat(65)}::a::B -`)).toBe('unrecognized token');
  });

  it('looks at an address after its type arguments', () => {
    expect(failure(`0x${'1'.repeat(65)}::a::B<foo>`)).toBe(
      'unexpected token Name("foo"), expected type tag',
    );
  });
});

describe('struct tags', () => {
  it('are types that are structs', () => {
    expect(parseStructTag('0x1::a::B<u8>')).toEqual({
      address: '1'.padStart(64, '0'),
      module: 'a',
      name: 'B',
      typeArguments: [{ kind: 'u8' }],
    });
    expect(failure('u64', parseStructTag)).toBe('invalid struct tag: u64');
    expect(failure('0x1::GUID_Generator', parseStructTag)).toBe(
      'invalid struct tag: 0x1::GUID_Generator, expected token ColonColon, got EOF',
    );
  });
});

describe('types of requests (docs/spec/move.md §3.2, MoveType reading)', () => {
  const u8 = { kind: 'u8' };
  it.each([
    ['u8', u8],
    ['&u8', { kind: 'reference', mutable: false, to: u8 }],
    ['& u8', { kind: 'reference', mutable: false, to: u8 }],
    ['&mut u8', { kind: 'reference', mutable: true, to: u8 }],
    ['&mut  u8', { kind: 'reference', mutable: true, to: u8 }],
    ['&mut', { kind: 'reference', mutable: false, to: { kind: 'unparsable', text: 'mut' } }],
    ['&&u8', { kind: 'reference', mutable: false, to: { kind: 'unparsable', text: '&u8' } }],
    ['T0', { kind: 'unparsable', text: 'T0' }],
    ['', { kind: 'unparsable', text: '' }],
    [nested(9, 'vector<'), { kind: 'unparsable', text: nested(9, 'vector<') }],
  ])('%j', (text, type) => {
    expect(readMoveType(text)).toEqual(type);
  });
});

const primitive = fc.constantFrom<TypeTag['kind']>(
  ...(['bool', 'u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'address', 'signer'] as const),
);
const name = fc
  .stringMatching(/^[A-Za-z][A-Za-z0-9_$]{0,8}$/)
  .filter((text) => !/^(u(8|16|32|64|128|256)|bool|address|signer|vector|true|false)$/.test(text));
const address = fc
  .bigInt({ min: 0n, max: 2n ** 256n - 1n })
  .map((n) => n.toString(16).padStart(64, '0'));
const { tag } = fc.letrec<{ tag: TypeTag }>((tie) => ({
  tag: fc.oneof(
    { maxDepth: 7, withCrossShrink: true },
    primitive.map((kind) => ({ kind }) as TypeTag),
    fc.record({ kind: fc.constant('vector' as const), element: tie('tag') }),
    fc.record({
      kind: fc.constant('struct' as const),
      struct: fc.record({
        address,
        module: name,
        name,
        typeArguments: fc.array(tie('tag'), { maxLength: 3 }),
      }),
    }),
  ),
}));

describe('any text', () => {
  it('of a type reads back as that type', () => {
    fc.assert(
      fc.property(tag, (value) => {
        expect(parseTypeTag(formatTypeTag(value))).toEqual(value);
      }),
      { seed, numRuns: 2_000 },
    );
  });

  it('made of pieces is a type whose print reads alike, or a TypeTextError', () => {
    const piece = fc.constantFrom(
      ...['u8', 'vector', '<', '>', ',', '::', ':', '0x1', '0X', 'a', 'B', ' ', '1', '_', '&'],
      ...['b"', 'x"', '"', 'é', '\v', 'T0', '0x1::a::B', '0x1::a::B<u8>', 'vector<u8>'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        const type = readMoveType(text.replace(/^&+/, ''));
        if (type.kind === 'unparsable') expect(failure(type.text)).not.toBe('');
        else expect(parseTypeTag(formatTypeTag(type as TypeTag))).toEqual(type);
      }),
      { seed, numRuns: roundsOf('TYPES', 4_000, 20_000) },
    );
  });

  it('of 4 MiB is read in linear time', () => {
    const size = 4 * 1024 * 1024;
    const texts = [
      `0x1::a::B<${'u8,'.repeat(size / 3)}>`,
      'vector<'.repeat(size / 7),
      ' '.repeat(size),
      `0x${'1'.repeat(size)}`,
      `0x${'1'.repeat(size)}::a::B`,
      '1'.repeat(size),
      'a'.repeat(size),
      `b"${'a'.repeat(size)}`,
      '<'.repeat(size),
    ];
    for (const text of texts) {
      readMoveType(text);
    }
  });
});
