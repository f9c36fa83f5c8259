/** Every instruction except those on integers: its results, and its failures (docs/spec/vm.md §4). */
import { describe, expect, it } from 'vitest';
import { NativeAbort, NativeCall } from '../../src/vm/native.ts';
import { ByteVector, Reference, type Value } from '../../src/vm/value.ts';
import {
  bytecodesOf,
  CAFE,
  failure,
  programOf,
  programOfBytes,
  runIn,
  runText,
} from './run-text.ts';

const bytes = (...values: number[]) => new ByteVector(Uint8Array.from(values));
const plain = (value: Value): unknown =>
  value instanceof ByteVector ? [...value.bytes] : Array.isArray(value) ? value.map(plain) : value;

/** Results of `fun f(…): … { … }` in a module with some structs. */
const DECLARED = `
  struct Plain has copy, drop, store, key { first: u8, second: u64 }
  struct Pair<A, phantom B> has copy, drop, store, key { one: A, two: u64 }
  struct Empty has copy, drop {}
  enum Side<A> has copy, drop { Left, Right { by: A }, Both { by: A, too: u8 } }
  enum Turn has copy, drop { Left, Right { by: u64 } }
`;
async function results(
  body: string,
  args: readonly Value[] = [],
  types?: readonly string[],
): Promise<unknown[]> {
  const values = await runText(DECLARED + body, args, types && { types });
  return values.map(plain);
}

describe('control flow and locals', () => {
  it('loops, branches, copies, moves and stores', async () => {
    const sum = `fun f(n: u64): (u64, u64) {
      let total: u64; let copy: u64;
      LdU64 0; StLoc total; CopyLoc n; StLoc copy;
    again:
      CopyLoc n; LdU64 0; Eq; BrTrue end;
      CopyLoc total; CopyLoc n; Add; StLoc total;
      MoveLoc n; LdU64 1; Sub; StLoc n; Nop; Branch again;
    end:
      MoveLoc total; MoveLoc copy; Ret;
    }`;
    expect(await results(sum, [10n])).toEqual([55n, 10n]);
  });

  it('BrFalse, Pop, LdTrue, LdFalse, And, Or, Not', async () => {
    const body = `fun f(): (bool, bool, bool, u8) {
      LdTrue; LdFalse; Or; LdTrue; LdFalse; And; LdFalse; Not; LdU8 9; Pop;
      StLoc c; StLoc b; StLoc a;
      LdFalse; BrFalse end; LdU64 1; Abort;
    end: MoveLoc a; MoveLoc b; MoveLoc c; LdU8 7; Ret;
    }`.replace('{', '{ let a: bool; let b: bool; let c: bool;');
    expect(await results(body)).toEqual([true, false, true, 7]);
  });

  it.each([
    ['a local that was moved', 'fun f(a: u64): u64 { MoveLoc a; Pop; MoveLoc a; Ret; }'],
    ['a local that was moved, copied', 'fun f(a: u64): u64 { MoveLoc a; Pop; CopyLoc a; Ret; }'],
    ['a local that was not set', 'fun f(a: u64): u64 { let b: u64; CopyLoc b; Ret; }'],
    [
      'a local that is gone behind its reference',
      'fun f(a: u64): u64 { let r: &u64; ImmBorrowLoc a; StLoc r; MoveLoc a; Pop; MoveLoc r; ReadRef; Ret; }',
    ],
  ])('%s is an error', async (_, body) => {
    expect(await failure(results(body, [1n]))).toEqual(['VERIFICATION_ERROR', expect.any(String)]);
  });

  it('Abort and AbortMsg', async () => {
    expect(await failure(results('fun f() { LdU64 7; Abort; }'))).toEqual(['ABORTED', 7n]);
    const withText = 'fun f() { LdU64 7; LdConst vector<u8> "no"; AbortMsg; }';
    expect(await failure(results(withText))).toEqual(['ABORTED', 7n, 'no']);
    const given = 'fun f(m: vector<u8>) { LdU64 7; MoveLoc m; AbortMsg; }';
    const long = (count: number) => failure(results(given, [bytes(...Array(count).fill(65))]));
    expect(await long(1_023)).toEqual(['ABORTED', 7n, 'A'.repeat(1_023)]);
    expect(await long(1_024)).toEqual(['ABORTED', 7n, 'A'.repeat(1_024)]);
    expect(await long(1_025)).toEqual([
      'ABORT_MESSAGE_LIMIT_EXCEEDED',
      'Expected at most 1024 bytes, got 1025 bytes',
    ]);
    expect(await failure(results(given, [bytes(0xff)]))).toEqual(['INVALID_ABORT_MESSAGE']);
  });

  it('constants are copied', async () => {
    const body = `fun f(): (vector<u8>, vector<u8>, address, vector<vector<u16>>) {
      let a: vector<u8>;
      LdConst vector<u8> "ab"; StLoc a; MutBorrowLoc a; LdU8 1; VecPushBack <u8>;
      MoveLoc a; LdConst vector<u8> "ab"; LdConst address 0x2;
      LdConst vector<vector<u16>> 0x020101000202000300; Ret; }`;
    const two = `0x${'2'.padStart(64, '0')}`.slice(2);
    expect(await results(body)).toEqual([[97, 98, 1], [97, 98], two, [[1], [2, 3]]]);
    const broken = body.replace('0x020101000202000300', '0x0201010002020003');
    expect((await failure(results(broken)))[0]).toBe('VERIFICATION_ERROR');
  });
});

describe('references', () => {
  it('to locals and fields: read, write, freeze', async () => {
    const body = `fun f(): (u64, u8) {
      let p: Plain; let r: &mut Plain; let q: &mut u64;
      LdU8 1; LdU64 2; Pack Plain; StLoc p;
      MutBorrowLoc p; StLoc r;
      CopyLoc r; MutBorrowField Plain.second; StLoc q;
      LdU64 40; CopyLoc q; WriteRef; CopyLoc q; ReadRef; LdU64 2; Add; MoveLoc q; WriteRef;
      MoveLoc r; FreezeRef; ImmBorrowField Plain.second; ReadRef;
      ImmBorrowLoc p; ImmBorrowField Plain.first; ReadRef; Ret; }`;
    expect(await results(body)).toEqual([42n, 1]);
  });

  it('ReadRef and CopyLoc copy structures', async () => {
    const body = `fun f(): (Plain, Plain) {
      let p: Plain; let q: Plain;
      LdU8 1; LdU64 2; Pack Plain; StLoc p;
      ImmBorrowLoc p; ReadRef; StLoc q;
      LdU64 9; MutBorrowLoc q; MutBorrowField Plain.second; WriteRef;
      CopyLoc p; LdU8 5; MutBorrowLoc p; MutBorrowField Plain.first; WriteRef;
      Pop; MoveLoc p; MoveLoc q; Ret; }`;
    expect(await results(body)).toEqual([
      [5, 2n],
      [1, 9n],
    ]);
  });

  it('WriteRef replaces a structure as a whole', async () => {
    const body = `fun f(r: &mut Plain) { LdU8 3; LdU64 4; Pack Plain; MoveLoc r; WriteRef; Ret; }`;
    const place: Value[] = [[1, 2n]];
    await results(body, [new Reference(place, 0)]);
    expect(place).toEqual([[3, 4n]]);
  });

  it('are equal when what they are to is', async () => {
    const body = `fun f(): (bool, bool) {
      let p: Plain; let q: Plain; let b: bool;
      LdU8 1; LdU64 2; Pack Plain; StLoc p; LdU8 1; LdU64 2; Pack Plain; StLoc q;
      ImmBorrowLoc p; ImmBorrowLoc q; Eq; MoveLoc p; MoveLoc q; Neq; Ret; }`;
    expect(await results(body)).toEqual([true, false]);
  });
});

describe('structs and enums', () => {
  it('pack, unpack, generic fields', async () => {
    const body = `fun f<T: copy + drop>(v: T): (T, T, u64, bool) {
      let p: Pair<T, bool>;
      CopyLoc v; LdU64 2; Pack Pair<T, bool>; StLoc p;
      ImmBorrowLoc p; ImmBorrowField Pair<T, bool>.one; ReadRef;
      LdU64 7; MutBorrowLoc p; MutBorrowField Pair<T, bool>.two; WriteRef;
      CopyLoc p; Unpack Pair<T, bool>; LdTrue; Pack Empty; LdFalse; Pack Empty; Neq; Ret; }`;
    expect(await results(body, [[1, 2n]], ['0xcafe::m::Plain'])).toEqual([
      [1, 2n],
      [1, 2n],
      7n,
      true,
    ]);
    expect(await results(body, [bytes(1, 2)], ['vector<u8>'])).toEqual([[1, 2], [1, 2], 7n, true]);
  });

  it('variants: pack, test, borrow, unpack', async () => {
    const body = `fun f(): (bool, bool, u8, u8, u64) {
      let s: Side<u8>; let a: bool; let b: bool; let c: u8; let d: u8;
      LdU8 4; LdU8 5; PackVariant Side<u8>.Both; StLoc s;
      ImmBorrowLoc s; TestVariant Side<u8>.Both; StLoc a;
      ImmBorrowLoc s; TestVariant Side<u8>.Left; StLoc b;
      ImmBorrowLoc s; ImmBorrowVariantField Side<u8>.Right|Both.by; ReadRef; StLoc c;
      LdU8 9; MutBorrowLoc s; MutBorrowVariantField Side<u8>.Both.too; WriteRef;
      MoveLoc s; UnpackVariant Side<u8>.Both; StLoc d; Pop;
      MoveLoc a; MoveLoc b; MoveLoc c; MoveLoc d;
      LdU64 3; PackVariant Turn.Right; UnpackVariant Turn.Right; Ret; }`;
    expect(await results(body)).toEqual([true, false, 4, 9, 3n]);
  });

  it.each([
    ['UnpackVariant Turn.Right', 'expected enum variant Right, found `Left`'],
    ['UnpackVariant Side<u8>.Both', 'expected enum variant Both, found `Left`'],
  ])('%s of another variant', async (instruction, text) => {
    const [, type] = instruction.split(/[ .]/);
    const pops = type === 'Turn' ? 'Pop;' : 'Pop; Pop;';
    const body = `fun f() { PackVariant ${type}.Left; ${instruction}; ${pops} Ret; }`;
    expect(await failure(results(body))).toEqual(['STRUCT_VARIANT_MISMATCH', text]);
  });

  it('borrowing a field of another variant', async () => {
    const body = `fun f() { let s: Side<u8>; PackVariant Side<u8>.Left; StLoc s;
      ImmBorrowLoc s; ImmBorrowVariantField Side<u8>.Right|Both.by; Pop; Ret; }`;
    expect(await failure(results(body))).toEqual([
      'STRUCT_VARIANT_MISMATCH',
      'expected enum variant Right or Both, found `Left`',
    ]);
  });
});

describe.each(['u8', 'u64', 'bool', '0xcafe::m::Plain'])('vectors of %s', (type) => {
  const values: Record<string, readonly Value[]> = {
    u8: [1, 2, 3],
    u64: [1n, 2n, 3n],
    bool: [true, false, true],
    '0xcafe::m::Plain': [
      [1, 1n],
      [2, 2n],
      [3, 3n],
    ],
  };
  const [a, b, c] = values[type]!.map((value) => value as Value);

  it('in generic code', async () => {
    const body = `fun f<T: copy + drop>(a: T, b: T, c: T): (vector<T>, u64, T, T) {
      let v: vector<T>; let x: T; let y: T;
      CopyLoc a; CopyLoc b; VecPack <T> 2; StLoc v;
      MutBorrowLoc v; MoveLoc c; VecPushBack <T>;
      MutBorrowLoc v; LdU64 0; LdU64 2; VecSwap <T>;
      ImmBorrowLoc v; LdU64 1; VecImmBorrow <T>; ReadRef; StLoc x;
      MutBorrowLoc v; VecPopBack <T>; StLoc y;
      MoveLoc a; MutBorrowLoc v; LdU64 1; VecMutBorrow <T>; WriteRef;
      CopyLoc v; ImmBorrowLoc v; VecLen <T>; MoveLoc x; MoveLoc y; Ret; }`;
    const found = await results(body, [a, b, c], [type]);
    expect(found).toEqual([[c, a], 2n, b, a].map((value) => plain(value as Value)));
  });

  it('unpack', async () => {
    const body = `fun f<T>(a: T, b: T): (T, T) {
      MoveLoc a; MoveLoc b; VecPack <T> 2; VecUnpack <T> 2; Ret; }`;
    expect(await results(body, [a, b], [type])).toEqual([a, b]);
  });

  it.each([
    ['VecUnpack <T> 1; Pop', [3n]],
    ['StLoc v; MutBorrowLoc v; VecPopBack <T>; Pop', [2n]],
    ['StLoc v; ImmBorrowLoc v; LdU64 0; VecImmBorrow <T>; Pop', [1n]],
    ['StLoc v; MutBorrowLoc v; LdU64 18446744073709551615; VecMutBorrow <T>; Pop', [1n]],
    ['StLoc v; MutBorrowLoc v; LdU64 0; LdU64 0; VecSwap <T>', [1n]],
  ])('%s of none fails', async (code, subStatus) => {
    const body = `fun f<T: drop>() { let v: vector<T>; VecPack <T> 0; ${code}; Ret; }`;
    expect(await failure(results(body, [], [type]))).toEqual([
      'VECTOR_OPERATION_ERROR',
      ...subStatus,
    ]);
  });
});

describe('calls', () => {
  it('of other functions and modules, generic ones too', async () => {
    const program = programOf(`
      module cafe::m {
        friend cafe::n;
        struct Box<T> has drop { value: T }
        fun f(): (u64, u8) { LdU64 5; Call twice<u64>; Call 0xcafe::n::of; LdU8 3; Call twice<u8>; Ret; }
        fun twice<T: copy + drop>(v: T): T {
          let b: Box<T>;
          CopyLoc v; Pack Box<T>; StLoc b; ImmBorrowLoc b; ImmBorrowField Box<T>.value; ReadRef; Ret; }
      }
      module cafe::n {
        public fun of(v: u64): u64 { MoveLoc v; LdU64 1; Add; Ret; }
      }`);
    expect(await runIn(program, 'f')).toEqual([6n, 3]);
  });

  it.each([
    ['private', 'fun of(v: u64): u64 { MoveLoc v; Ret; }', ''],
    ['friend', 'public(friend) fun of(v: u64): u64 { MoveLoc v; Ret; }', ''],
    ['another signature', 'public fun of(v: u8): u64 { LdU64 1; Ret; }', ''],
    ['missing', 'public fun off(v: u64): u64 { MoveLoc v; Ret; }', ''],
  ])('a function that is %s is not linked', async (what, declared) => {
    const caller = programParts(
      'module cafe::n { public fun of(v: u64): u64; }',
      'fun f(): u64 { LdU64 1; Call 0xcafe::n::of; Ret; }',
    );
    const callee = programParts(`module cafe::n { ${declared} }`, '');
    const program = programOfBytes([caller.m, callee.n]);
    const [status] = await failure(runIn(program, 'f'));
    expect(status).toBe(what === 'missing' ? 'FUNCTION_RESOLUTION_FAILURE' : 'LINKER_ERROR');
    expect((await failure(runIn(programOfBytes([caller.m]), 'f')))[0]).toBe('LINKER_ERROR');
  });

  it('of natives, and of a function in place of a native', async () => {
    const body = `
      native fun twice(v: u64): (u64, u64);
      native fun no();
      native fun dispatch(v: u64, name: vector<u8>): u64;
      public fun target(v: u64): u64 { MoveLoc v; LdU64 2; Mul; Ret; }
      public fun other(v: u8): u64 { LdU64 2; Ret; }
      fun f(): (u64, u64) { LdU64 4; Call twice; Ret; }
      fun g() { Call no; Ret; }
      fun h(): u64 { LdU64 4; LdConst vector<u8> "target"; Call dispatch; Ret; }
      fun i(): u64 { LdU64 4; LdConst vector<u8> "other"; Call dispatch; Ret; }`;
    const natives = {
      twice: (_: unknown, [value]: readonly Value[]) => [value, value],
      no: () => new NativeAbort(5, 'not now'),
      dispatch: (_: unknown, [value, name]: readonly Value[]) => {
        const text = Buffer.from((name as ByteVector).bytes).toString();
        return new NativeCall({ address: CAFE, name: 'm' }, text, [], [value]);
      },
    };
    const program = programOf(`module cafe::m { ${body} }`);
    for (const isSlow of [false, true]) {
      const small = { natives, isSlow };
      expect(await runIn(program, 'f', [], small)).toEqual([4n, 4n]);
      expect(await failure(runIn(program, 'g', [], small))).toEqual(['ABORTED', 5n, 'not now']);
      expect(await runIn(program, 'h', [], small)).toEqual([8n]);
      expect((await failure(runIn(program, 'i', [], small)))[0]).toBe('RUNTIME_DISPATCH_ERROR');
    }
    expect((await failure(runIn(program, 'f')))[0]).toBe('UNIMPLEMENTED_FUNCTIONALITY');
  });

  it('of function values, with captured arguments', async () => {
    const body = `
      fun join(a: u64, b: u64, c: u64): u64 {
        MoveLoc a; LdU64 100; Mul; MoveLoc b; LdU64 10; Mul; Add; MoveLoc c; Add; Ret; }
      fun id<T>(v: T): T { MoveLoc v; Ret; }
      fun f(): (u64, u64, u64, u8) {
        let g: |u64|u64;
        LdU64 1; LdU64 2; LdU64 3; PackClosure join 0; CallClosure <|u64, u64, u64|u64>;
        LdU64 7; LdU64 8; LdU64 9; PackClosure join 5; CallClosure <|u64|u64>;
        LdU64 6; LdU64 1; LdU64 2; PackClosure join 6; StLoc g; MoveLoc g; CallClosure <|u64|u64>;
        LdU8 4; PackClosure id<u8> 0; CallClosure <|u8|u8>; Ret; }`;
    expect(await results(body)).toEqual([123n, 879n, 612n, 4]);
  });
});

function programParts(other: string, members: string): { readonly m: Buffer; readonly n: Buffer } {
  const [m, n] = bytecodesOf(`module cafe::m { ${members} } ${other}`);
  return { m: m!, n: n! };
}
