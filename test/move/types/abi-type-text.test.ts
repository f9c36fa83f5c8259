/** Types of binaries as MoveTypes, and MoveTypes as text (docs/spec/move.md §2.2, §3.3). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SignatureToken } from '../../../src/move/modules/compiled.ts';
import {
  formatMoveType,
  formatSignatureToken,
  formatStructPath,
  type MoveType,
  moveTypeOfToken,
} from '../../../src/move/types/move-type.ts';
import { PRIMITIVE_KINDS } from '../../../src/move/types/type-tag.ts';
import { testSeed } from '../../random.ts';
import { fullModule, T0 } from '../modules/module-samples.ts';

const U8: MoveType = { kind: 'u8' };

function struct(name: string, ...typeArguments: MoveType[]): MoveType {
  const address = '0'.repeat(61) + 'abc';
  return { kind: 'struct', struct: { address, module: 'm', name, typeArguments } };
}

function fun(args: MoveType[], results: MoveType[]): MoveType {
  return { kind: 'function', args, results, abilities: 15 };
}

const TEXTS: readonly (readonly [string, MoveType])[] = [
  ...PRIMITIVE_KINDS.map((kind) => [kind, { kind }] as const),
  ['vector<vector<u8>>', { kind: 'vector', element: { kind: 'vector', element: U8 } }],
  ['T0', { kind: 'typeParameter', index: 0 }],
  ['T65535', { kind: 'typeParameter', index: 65_535 }],
  ['&u8', { kind: 'reference', mutable: false, to: U8 }],
  ['&mut u8', { kind: 'reference', mutable: true, to: U8 }],
  ['0xabc::m::S', struct('S')],
  ['0xabc::m::S<u8>', struct('S', U8)],
  ['0xabc::m::S<u8, 0xabc::m::T<u8, u8>>', struct('S', U8, struct('T', U8, U8))],
  ['||', fun([], [])],
  ['|u8|', fun([U8], [])],
  ['||u8', fun([], [U8])],
  ['|u8,u8|u8,u8', fun([U8, U8], [U8, U8])],
  ['|||u8|u8', fun([fun([], [U8])], [U8])],
  ['unparsable<&u8>', { kind: 'unparsable', text: '&u8' }],
  ['vector<unparsable<T0>>', { kind: 'vector', element: { kind: 'unparsable', text: 'T0' } }],
];

describe('formatMoveType', () => {
  it.each(TEXTS)('%s', (text, type) => {
    expect(formatMoveType(type)).toBe(text);
  });
});

describe('moveTypeOfToken', () => {
  it('fills in the names of structs', () => {
    const module = fullModule();
    const types = module.signatures[1]!.map((token) => moveTypeOfToken(module, token));
    expect(types).toContainEqual({
      kind: 'reference',
      mutable: true,
      to: {
        kind: 'struct',
        struct: {
          address: module.addresses[0],
          module: 'm',
          name: 'S',
          typeArguments: [{ kind: 'vector', element: T0 }],
        },
      },
    });
  });

  it('agrees with printing straight from the binary', () => {
    const module = fullModule();
    const { token } = fc.letrec<{ token: SignatureToken }>((tie) => ({
      token: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(...PRIMITIVE_KINDS).map((kind) => ({ kind })),
        fc.nat(9).map((index) => ({ kind: 'typeParameter' as const, index })),
        tie('token').map((element) => ({ kind: 'vector' as const, element })),
        fc.record({ kind: fc.constant('reference'), mutable: fc.boolean(), to: tie('token') }),
        fc.record({
          kind: fc.constant('struct'),
          handle: fc.nat(3),
          instantiated: fc.constant(true),
          typeArguments: fc.array(tie('token'), { maxLength: 3 }),
        }),
        fc.record({
          kind: fc.constant('function'),
          args: fc.array(tie('token'), { maxLength: 3 }),
          results: fc.array(tie('token'), { maxLength: 3 }),
          abilities: fc.nat(15),
        }),
      ) as fc.Arbitrary<SignatureToken>,
    }));
    const structPath = (handle: number) => {
      const { module: owner, name } = module.structHandles[handle]!;
      const { address, name: moduleName } = module.moduleHandles[owner]!;
      const id = { address: module.addresses[address]!, name: module.identifiers[moduleName]! };
      return formatStructPath(id, module.identifiers[name]!);
    };
    const seed = testSeed('abi-type-text');
    fc.assert(
      fc.property(token, (type) => {
        const text = formatMoveType(moveTypeOfToken(module, type));
        expect(formatSignatureToken(type, structPath)).toBe(text);
      }),
      { seed, numRuns: 500 },
    );
  });
});
