import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import {
  formatMoveType,
  isSignerParameter,
  type MoveType,
  mentionsTypeParameter,
  parameterTypeName,
  substituteTypeParameters,
} from '../../../src/move/types/move-type.ts';
import { debugMoveType, MoveTypeError, typeTagOf } from '../../../src/move/types/move-type-tag.ts';
import { readMoveType } from '../../../src/move/types/type-parser.ts';
import { formatTypeTag } from '../../../src/move/types/type-tag.ts';

const T0: MoveType = { kind: 'typeParameter', index: 0 };
const T1: MoveType = { kind: 'typeParameter', index: 1 };
const u8: MoveType = { kind: 'u8' };
const reference = (to: MoveType): MoveType => ({ kind: 'reference', mutable: true, to });
const vector = (element: MoveType): MoveType => ({ kind: 'vector', element });
const struct = (...typeArguments: MoveType[]): MoveType => ({
  kind: 'struct',
  struct: { address: 'a'.padStart(64, '0'), module: 'm', name: 'S', typeArguments },
});
const closure = (args: readonly MoveType[], abilities = 0): MoveType => ({
  kind: 'function',
  args,
  results: [T0],
  abilities,
});

describe('type tags of types (docs/spec/move.md §3.5 end)', () => {
  it.each(['u8', 'i256', 'signer', 'address', 'bool'] as const)('%s stays', (kind) => {
    expect(typeTagOf({ kind })).toEqual({ kind });
  });

  it('have address for type parameters, and keep function types', () => {
    expect(formatTypeTag(typeTagOf(struct(T0, vector(T1))))).toBe(
      '0xa::m::S<address, vector<address>>',
    );
    const type = closure([reference(u8), T1], 3);
    expect(formatTypeTag(typeTagOf(type))).toBe('|&mut u8, address|(address) has copy + drop');
  });

  it('convert a shared part once, however often it stands there', () => {
    let type: MoveType = u8;
    for (let depth = 0; depth < 200; depth += 1) type = struct(type, type);
    const tag = typeTagOf(type);
    expect(tag.kind === 'struct' && tag.struct.typeArguments[0]).toBe(
      tag.kind === 'struct' && tag.struct.typeArguments[1],
    );
  });

  it.each([
    [reference(u8), 'Reference { mutable: true, to: U8 }'],
    [vector(readMoveType('&T0')), 'Reference { mutable: false, to: Unparsable("T0") }'],
    [readMoveType('"\n'), 'Unparsable("\\"\\n")'],
    [
      reference(vector({ kind: 'i128' })),
      'Reference { mutable: true, to: Vector { items: I128 } }',
    ],
    [reference(T1), 'Reference { mutable: true, to: GenericTypeParam { index: 1 } }'],
    [
      reference(struct(u8, { kind: 'bool' })),
      `Reference { mutable: true, to: Struct(MoveStructTag { address: Address(${'a'.padStart(64, '0')}), ` +
        'module: IdentifierWrapper(Identifier("m")), name: IdentifierWrapper(Identifier("S")), ' +
        'generic_type_params: [U8, Bool] }) }',
    ],
    [
      reference(closure([u8], 9)),
      'Reference { mutable: true, to: Function { args: [U8], results: [GenericTypeParam { index: 0 }], ' +
        'abilities: [Copy, Key, ] } }',
    ],
  ])('%j has none', (type, shown) => {
    const message = `Invalid move type for converting into \`TypeTag\`: ${shown}`;
    expect(() => typeTagOf(type)).toThrow(MoveTypeError);
    expect(() => typeTagOf(type)).toThrow(message);
  });

  it('are not needed to print a type', () => {
    expect(debugMoveType(struct())).toContain('generic_type_params: [] }');
    expect(debugMoveType({ kind: 'signer' })).toBe('Signer');
  });
});

describe('parameters (docs/spec/move.md §5)', () => {
  it('take type arguments inside vectors, references and structs, not inside function types', () => {
    const type = struct(vector(T1), T0, closure([T0]));
    const replaced = substituteTypeParameters(reference(type), [u8, struct()]);
    expect(formatMoveType(replaced)).toBe('&mut 0xa::m::S<vector<0xa::m::S>, u8, |T0|T0>');
    expect(substituteTypeParameters(T1, [u8])).toBe(T1);
    expect([type, closure([T0]), u8, reference(vector(T0))].map(mentionsTypeParameter)).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it('are signers at any depth of references', () => {
    const signer: MoveType = { kind: 'signer' };
    const types = [signer, reference(signer), reference(reference(signer)), vector(signer), u8];
    expect(types.map(isSignerParameter)).toEqual([true, true, true, false, false]);
  });

  it.each([
    [u8, 'integer<u8>'],
    [{ kind: 'i32' }, 'integer<i32>'],
    [{ kind: 'u64' }, 'string<u64>'],
    [{ kind: 'i256' }, 'string<i256>'],
    [{ kind: 'bool' }, 'boolean'],
    [{ kind: 'signer' }, 'string<address>'],
    [vector(u8), 'string<hex>'],
    [vector(vector(u8)), 'array<string<hex>>'],
    [struct(), 'string<move_struct_tag_id>'],
    [T0, 'string<move_struct_tag_id>'],
    [closure([]), 'string<move_function_id>'],
    [reference(vector(T0)), 'array<string<move_struct_tag_id>>'],
    [readMoveType('|x|'), '|x|'],
  ] as const)('%j is called %s', (type, name) => {
    expect(parameterTypeName(type)).toBe(name);
  });
});

describe('writing what a signing message is made of', () => {
  it('refuses integers that are no u64 and texts that are no address', () => {
    for (const value of [0n, 1n, 2n ** 64n - 1n]) {
      expect(encodeBcs((writer) => writer.u64(value)).readBigUInt64LE()).toBe(value);
    }
    for (const value of [-1n, 2n ** 64n]) {
      expect(() => encodeBcs((writer) => writer.u64(value))).toThrow(RangeError);
    }
    const digits = '0123456789abcdefABCDEF'.padEnd(64, '7');
    expect(encodeBcs((writer) => writer.address(digits)).toString('hex')).toBe(
      digits.toLowerCase(),
    );
    for (const bad of [
      '',
      digits.slice(1),
      `${digits}0`,
      digits.replace('7', 'g'),
      digits.replace('7', 'é'),
    ]) {
      expect(() => encodeBcs((writer) => writer.address(bad))).toThrow(RangeError);
    }
    expect(() => encodeBcs((writer) => writer.address(digits.replace('7', '€')))).toThrow(
      RangeError,
    );
  });
});
