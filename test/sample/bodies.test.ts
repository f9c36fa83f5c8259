/** Bodies of functions in the declaration language, and the code assembled from them. */
import { describe, expect, it } from 'vitest';
import { APPLICATION_ADDRESSES } from '../../bench/bulk-ledger/framework/application-modules.ts';
import { assembleText } from '../../bench/bulk-ledger/framework/framework.ts';
import { instructionText } from '../../src/execution/instruction-text.ts';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { writeModule } from '../move/modules/write-module.ts';

function assemble(members: string): CompiledModule {
  const text = `module cafe::m { ${members} }`;
  const { bytes } = assembleText(text, APPLICATION_ADDRESSES)[0]!;
  const module = readModule(bytes);
  expect(writeModule(module).equals(bytes)).toBe(true);
  return module;
}

/** The instructions of the last function with a body of its own, as text. */
function code(module: CompiledModule): string[] {
  return module.functionDefinitions.at(-1)!.code!.code.map(instructionText);
}

const DECLARED = `
  struct Plain has copy, drop, key { first: u8, second: u64 }
  struct Pair<A, phantom B> has drop, key { one: A, two: u64 }
  enum Side<A> has drop { Left, Right { by: A }, Both { by: A, too: u8 } }
  enum Turn has drop { Left, Right { by: u64 } }
  fun other<T>(value: T): T;
  fun plain(value: u64): u64;
`;

describe('a body', () => {
  it('has locals after the parameters, labels and immediates', () => {
    const module = assemble(`
      fun f(a: u64, b: u64): u64 {
        let c: u64;
        let d: vector<bool>;
      again:
        CopyLoc a; LdU64 18446744073709551615; Lt; BrFalse end;
        MoveLoc b; StLoc c; LdI8 -128; Pop; LdU256 1; Pop; Branch again;
      end:
        MoveLoc c; Ret;
      }`);
    expect(code(module)).toEqual([
      'CopyLoc(0)',
      'LdU64(18446744073709551615)',
      'Lt',
      'BrFalse(11)',
      'MoveLoc(1)',
      'StLoc(2)',
      'LdI8(-128)',
      'Pop',
      'LdU256(1)',
      'Pop',
      'Branch(0)',
      'MoveLoc(2)',
      'Ret',
    ]);
    const { locals } = module.functionDefinitions.at(-1)!.code!;
    expect(module.signatures[locals]).toEqual([
      { kind: 'u64' },
      { kind: 'vector', element: { kind: 'bool' } },
    ]);
  });

  it('names functions and members; type arguments choose the generic instruction', () => {
    const module = assemble(`${DECLARED}
      fun f() acquires Plain, Pair {
        Exists Plain; Exists Pair<u8, bool>;
        ImmBorrowField Plain.second; MutBorrowField Pair<u8, bool>.two;
        Call plain; Call other<u8>; Call 0x1::option::none<u8>;
        PackVariant Turn.Right; PackVariant Side<u8>.Both;
        ImmBorrowVariantField Turn.Right.by; ImmBorrowVariantField Side<u8>.Right|Both.by;
        VecPack <u8> 3; VecLen <u8>; PackClosure plain 1; CallClosure <|u64| u64>;
        LdConst address 0x2; LdConst vector<u8> "abc"; LdConst u64 0x0100000000000000;
      }`);
    expect(module.functionDefinitions.at(-1)!.acquires).toEqual([0, 1]);
    const names = code(module).map((text) => text.replace(/\(.*/, ''));
    expect(names).toEqual([
      'Exists',
      'ExistsGeneric',
      'ImmBorrowField',
      'MutBorrowFieldGeneric',
      'Call',
      'CallGeneric',
      'CallGeneric',
      'PackVariant',
      'PackVariantGeneric',
      'ImmBorrowVariantField',
      'ImmBorrowVariantFieldGeneric',
      'VecPack',
      'VecLen',
      'PackClosure',
      'CallClosure',
      'LdConst',
      'LdConst',
      'LdConst',
    ]);
    expect(module.fieldHandles).toEqual([
      { owner: 0, field: 1 },
      { owner: 1, field: 1 },
    ]);
    expect(module.variantFieldHandles).toEqual([
      { owner: 3, field: 0, variants: [1] },
      { owner: 2, field: 0, variants: [1, 2] },
    ]);
    expect(module.structVariantHandles).toEqual([
      { owner: 3, variant: 1 },
      { owner: 2, variant: 2 },
    ]);
    expect(module.constants.map(({ data }) => Buffer.from(data).toString('hex'))).toEqual([
      '02'.padStart(64, '0'),
      '03616263',
      '0100000000000000',
    ]);
  });

  it.each([
    'fun f() { Fly; }',
    'fun f() { CopyLoc missing; }',
    'fun f() { Branch missing; }',
    'fun f() { Call missing; }',
    'fun f() { Exists Option<u8>; }',
    'fun f() acquires Missing { Ret; }',
    'fun f() { ImmBorrowField Plain.third; }',
    'fun f() { TestVariant Turn.Up; }',
    'fun f() { ImmBorrowVariantField Turn.Left.by; }',
    'fun f() { Ret }',
    'fun f() { LdU64 no; }',
    'fun f() { Exists u8; }',
    'fun f() { LdConst u8 7; }',
    'fun f() { Ret;',
  ])('that does not assemble is refused: %j', (member) => {
    expect(() => assemble(`${DECLARED} ${member}`)).toThrow(RangeError);
  });
});
