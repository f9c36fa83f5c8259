/** The order of type tags in the reference's memory (docs/spec/ledger.md §1.2, §5.4). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { padAddress } from '../../../src/move/types/address.ts';
import type { StructTag, TypeTag } from '../../../src/move/types/type-tag.ts';
import { compareStructTags, compareTypeTags } from '../../../src/move/types/type-tag-order.ts';
import { propertySeed } from '../../random.ts';

function tag(address: string, module: string, name: string, ...of: TypeTag[]): StructTag {
  return { address: padAddress(address), module, name, typeArguments: of };
}

function struct(name: string, ...of: TypeTag[]): TypeTag {
  return { kind: 'struct', struct: tag('1', 'm', name, ...of) };
}

const U8: TypeTag = { kind: 'u8' };
const U64: TypeTag = { kind: 'u64' };

/** Devnet's group at 0xa (docs/spec/ledger.md §0), which has them in BCS order; here they are in memory order. */
const MEMBERS = [
  tag('1', 'coin', 'PairedCoinType'),
  tag('1', 'coin', 'PairedFungibleAssetRefs'),
  tag('1', 'fungible_asset', 'ConcurrentSupply'),
  tag('1', 'fungible_asset', 'Metadata'),
  tag('1', 'object', 'ObjectCore'),
  tag('1', 'primary_fungible_store', 'DeriveRefPod'),
];

const STRUCTS: readonly StructTag[] = [
  ...MEMBERS,
  tag('2', 'a', 'A'),
  tag('2', 'a', 'A', U8),
  tag('2', 'a', 'A', U8, U8),
  tag('2', 'a', 'A', U64),
  tag('2', 'a', 'AA'),
  tag('2', 'a', 'B'),
  // Ordered by bytes, which differs from a comparison of UTF-16.
  tag('2', 'a', '\uffee'),
  tag('2', 'a', '\u{1f600}'),
  tag('2', 'aa', 'A'),
  tag('ff', 'a', 'A'),
];

const TYPES: readonly TypeTag[] = [
  { kind: 'bool' },
  U8,
  U64,
  { kind: 'u128' },
  { kind: 'address' },
  { kind: 'signer' },
  { kind: 'vector', element: U8 },
  { kind: 'vector', element: U64 },
  struct('A'),
  struct('A', U8),
  struct('B'),
  { kind: 'u16' },
  { kind: 'u32' },
  { kind: 'u256' },
  { kind: 'function', args: [], results: [], abilities: 0 },
  { kind: 'function', args: [], results: [], abilities: 4 },
  { kind: 'function', args: [], results: [U8], abilities: 0 },
  {
    kind: 'function',
    args: [{ kind: 'reference', mutable: false, to: U64 }],
    results: [],
    abilities: 0,
  },
  {
    kind: 'function',
    args: [{ kind: 'reference', mutable: true, to: U8 }],
    results: [],
    abilities: 0,
  },
  { kind: 'function', args: [U8], results: [], abilities: 0 },
  { kind: 'function', args: [U64], results: [], abilities: 0 },
  { kind: 'i8' },
  { kind: 'i16' },
  { kind: 'i32' },
  { kind: 'i64' },
  { kind: 'i128' },
  { kind: 'i256' },
];

describe('the order of type tags', () => {
  const { seed } = propertySeed();
  const shuffled = <T>(items: readonly T[]) =>
    fc.shuffledSubarray([...items], { minLength: items.length });

  it('is that of address, module, name and arguments', () => {
    fc.assert(
      fc.property(shuffled(STRUCTS), (mixed) => {
        expect([...mixed].sort(compareStructTags)).toEqual(STRUCTS);
      }),
      { seed, numRuns: 50 },
    );
  });

  it('is that of kinds, then parts', () => {
    fc.assert(
      fc.property(shuffled(TYPES), (mixed) => {
        expect([...mixed].sort(compareTypeTags)).toEqual(TYPES);
      }),
      { seed, numRuns: 50 },
    );
  });

  it('finds equal tags equal, and only those', () => {
    for (const [at, left] of TYPES.entries()) {
      for (const [index, right] of TYPES.entries()) {
        expect(Math.sign(compareTypeTags(left, structuredClone(right)))).toBe(
          Math.sign(at - index),
        );
      }
    }
  });
});
