/**
 * Code that the reference's verifier refuses (docs/spec/vm.md §3): whatever it does, it ends with results or a VM
 * error, never with a JavaScript error.
 */
import { describe, expect, it } from 'vitest';
import {
  type CompiledModule,
  DEFAULT_LOADER_LIMITS,
  functionNameOfHandle,
  type Instruction,
  type SignatureToken,
} from '../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../src/move/modules/format.ts';
import { OPCODES } from '../../src/move/modules/opcodes.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { VmError } from '../../src/vm/status/status.ts';
import { ByteVector, Reference, type Value } from '../../src/vm/value.ts';
import { writeModule } from '../move/modules/write-module.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { bytecodesOf, CAFE, failure, programOfBytes, runIn, runText } from './run-text.ts';

const SEED = testSeed('vm-hostile');
const MUTANTS = roundsOf('VM_MUTANTS', 1_000, 100_000);

/** A module with every kind of instruction. */
const VARIED = `module cafe::m {
  struct Plain has copy, drop, store, key { first: u8, second: u64 }
  struct Pair<A> has copy, drop, store, key { one: A, two: vector<A> }
  enum Side<A> has copy, drop { Left, Right { by: A }, Both { by: A, too: u8 } }
  fun sum(n: u64, v: vector<u64>): u64 {
    let i: u64; let t: u64;
    LdU64 0; StLoc i; LdU64 0; StLoc t;
  again:
    CopyLoc i; ImmBorrowLoc v; VecLen <u64>; Lt; BrFalse end;
    CopyLoc t; ImmBorrowLoc v; CopyLoc i; VecImmBorrow <u64>; ReadRef; Add; StLoc t;
    MoveLoc i; LdU64 1; Add; StLoc i; Branch again;
  end: MoveLoc t; MoveLoc n; Mul; Ret; }
  fun bytes(v: vector<u8>, n: u8): vector<u8> {
    MutBorrowLoc v; CopyLoc n; VecPushBack <u8>; MutBorrowLoc v; LdU64 0; LdU64 1; VecSwap <u8>;
    MutBorrowLoc v; VecPopBack <u8>; Pop; LdU8 1; LdU8 2; VecPack <u8> 2; VecUnpack <u8> 2;
    Xor; MutBorrowLoc v; LdU64 0; VecMutBorrow <u8>; WriteRef; MoveLoc v; Ret; }
  fun pair(p: Pair<u64>): (u64, vector<u64>) {
    let r: &mut Pair<u64>; let q: Pair<u64>;
    MutBorrowLoc p; StLoc r; LdU64 5; CopyLoc r; MutBorrowField Pair<u64>.one; WriteRef;
    CopyLoc r; ReadRef; StLoc q; MoveLoc r; FreezeRef; ImmBorrowLoc q; Eq; BrTrue same;
    LdU64 1; Abort;
  same: MoveLoc q; Unpack Pair<u64>; Ret; }
  fun side(s: Side<u64>): u64 {
    ImmBorrowLoc s; TestVariant Side<u64>.Left; BrTrue left;
    LdU64 2; MutBorrowLoc s; MutBorrowVariantField Side<u64>.Right|Both.by; WriteRef;
    CopyLoc s; UnpackVariant Side<u64>.Right; Ret;
  left: LdU64 9; LdU8 3; PackVariant Side<u64>.Both; StLoc s;
    ImmBorrowLoc s; ImmBorrowVariantField Side<u64>.Both.by; ReadRef; Ret; }
  fun global(a: address, s: &signer): u64 acquires Plain, Pair {
    CopyLoc a; Exists Plain; BrTrue end;
    CopyLoc s; LdU8 1; LdU64 2; Pack Plain; MoveTo Plain;
    MoveLoc s; LdU64 3; LdU64 4; VecPack <u64> 1; Pack Pair<u64>; MoveTo Pair<u64>;
    CopyLoc a; ImmBorrowGlobal Pair<u64>; ImmBorrowField Pair<u64>.one; ReadRef; Ret;
  end: MoveLoc a; MoveFrom Plain; Unpack Plain; Pop; CastU64; Ret; }
  fun id<T>(v: T): T { MoveLoc v; Ret; }
  fun join(a: u64, b: u8): u64 { MoveLoc a; MoveLoc b; CastU64; Add; Ret; }
  fun closure(n: u64): u64 {
    let f: |u8|u64;
    CopyLoc n; PackClosure join 1; StLoc f; LdU8 3; MoveLoc f; CallClosure <|u8|u64>; Pop;
    LdU64 1; PackClosure id<u64> 0; CallClosure <|u64|u64>; Call id<u64>; MoveLoc n; LdU8 7; Call join; Add; Ret; }
  fun signed(a: i64, b: i8): i64 { MoveLoc a; MoveLoc b; Negate; CastI64; Mul; LdI64 -3; Mod; Ret; }
  fun words(a: u256, b: u128): bool { MoveLoc a; MoveLoc b; CastU256; LdU8 3; Shl; Div; LdU256 9; Gt; Ret; }
}`;
const BASE = readModule(bytecodesOf(VARIED)[0]!);
/** All instructions of the module: their operands are in bounds, those of jumps in most cases. */
const POOL: readonly Instruction[] = BASE.functionDefinitions.flatMap(({ code }) => code!.code);
const PLAIN_CODES = OPCODES.flatMap((info, code) => (info?.operand === 'none' ? [code] : []));

function mutated(random: Random): CompiledModule {
  const target = random.below(BASE.functionDefinitions.length);
  const functionDefinitions = BASE.functionDefinitions.map((definition, index) => {
    if (index !== target && random.below(3) > 0) return definition;
    const { locals, code } = definition.code!;
    const changed = [...code];
    for (let left = 1 + random.below(3); left > 0; left -= 1) mutate(random, changed);
    return { ...definition, code: { locals, code: changed } };
  });
  return { ...BASE, functionDefinitions };
}

function mutate(random: Random, code: Instruction[]): void {
  const at = random.below(code.length);
  const other = random.pick(POOL);
  switch (random.below(6)) {
    case 0:
      if (code.length > 1) code.splice(at, 1);
      return;
    case 1:
      code.splice(at, 0, other);
      return;
    case 2:
      code.splice(at, 0, code[random.below(code.length)]!);
      return;
    case 3:
      code[at] = { opcode: random.pick(PLAIN_CODES) };
      return;
    case 4: {
      const { opcode, operand } = code[at]!;
      if (typeof operand === 'number') code[at] = { ...code[at], opcode, operand: random.below(8) };
      return;
    }
    default:
      code[at] = other;
  }
}

/** A value of a type of the module. */
function argumentOf(token: SignatureToken): Value {
  switch (token.kind) {
    case 'u8':
    case 'i8':
      return 3;
    case 'address':
      return CAFE;
    case 'signer':
      return [CAFE];
    case 'reference':
      return new Reference([argumentOf(token.to)], 0);
    case 'vector':
      return token.element.kind === 'u8'
        ? new ByteVector(Uint8Array.of(1, 2))
        : [argumentOf(token.element)];
    case 'struct': {
      const definition = BASE.structDefinitions[token.handle]!;
      if (definition.kind === 'enum') return [1, 6n];
      return token.typeArguments.length === 0 ? [1, 2n] : [5n, [6n]];
    }
    case 'typeParameter':
    case 'u64':
    case 'i64':
    case 'u128':
    case 'u256':
      return 4n;
    default:
      throw new Error(token.kind);
  }
}

/** The outcome of each function of a module. */
async function outcomes(module: CompiledModule): Promise<string[]> {
  const program = programOfBytes([writeModule(module)]);
  const found: string[] = [];
  for (const { handle } of module.functionDefinitions) {
    const { parameters, typeParameters } = module.functionHandles[handle]!;
    const args = module.signatures[parameters]!.map(argumentOf);
    const types = typeParameters.map(() => 'u64');
    const name = functionNameOfHandle(module, handle);
    try {
      await runIn(program, name, args, { types, limits: { maxUnits: 20_000 } });
      found.push('results');
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      found.push(error.status);
    }
  }
  return found;
}

describe(`mutated code (SEED=${SEED})`, () => {
  it('runs as it is', async () => {
    expect(new Set(await outcomes(BASE))).toEqual(new Set(['results']));
  });

  it('ends with results or with an error of the machine', async () => {
    const random = new Random(SEED);
    const counts = new Map<string, number>();
    for (let run = 0; run < MUTANTS; run += 1) {
      let module: CompiledModule;
      try {
        module = readModule(writeModule(mutated(random)), DEFAULT_LOADER_LIMITS);
      } catch (error) {
        if (error instanceof BinaryFormatError) continue;
        throw error;
      }
      for (const end of await outcomes(module)) counts.set(end, (counts.get(end) ?? 0) + 1);
    }
    expect([...counts.keys()]).toEqual(
      expect.arrayContaining(['results', 'VERIFICATION_ERROR', 'OUT_OF_GAS', 'ABORTED']),
    );
  }, 3_600_000);
});

describe('code that is refused before it runs', () => {
  it.each([
    ['an empty stack', 'fun f() { Pop; Ret; }'],
    ['values that are left', 'fun f() { LdU8 1; Ret; }'],
    ['values at a jump', 'fun f() { LdU8 1; Branch end; end: Pop; Ret; }'],
    [
      'values where others jump to',
      'fun f(b: bool) { LdU8 1; again: Pop; CopyLoc b; BrTrue again; Ret; }',
    ],
    ['no end', 'fun f() { Nop; }'],
    ['an end that goes on', 'fun f(b: bool) { MoveLoc b; BrTrue end; end: Nop; }'],
    ['two types', 'fun f(): u8 { LdU8 1; LdU64 1; Add; Ret; }'],
    ['another result', 'fun f(): u8 { LdU64 1; Ret; }'],
    ['another local', 'fun f() { let a: u8; LdU64 1; StLoc a; Ret; }'],
    ['a write through &', 'fun f(a: u8) { LdU8 1; ImmBorrowLoc a; WriteRef; Ret; }'],
    ['a number as reference', 'fun f(a: u8): u8 { MoveLoc a; ReadRef; Ret; }'],
    ['bits of signed integers', 'fun f(): i8 { LdI8 1; LdI8 1; Xor; Ret; }'],
    ['a shift of a signed integer', 'fun f(): i8 { LdI8 1; LdU8 1; Shl; Ret; }'],
    ['a negated unsigned integer', 'fun f(): u8 { LdU8 1; Negate; Ret; }'],
    ['an addition of bools', 'fun f(): bool { LdTrue; LdTrue; Add; Ret; }'],
    ['a comparison of addresses', 'fun f(a: address): bool { CopyLoc a; CopyLoc a; Lt; Ret; }'],
    ['a vector of references', 'fun f(a: u8) { ImmBorrowLoc a; VecPack <&u8> 1; Pop; Ret; }'],
    ['a reference to a reference', 'fun f(a: &u8) { ImmBorrowLoc a; Pop; Ret; }'],
    [
      'a reference as type argument',
      'fun g<T>(v: T) { MoveLoc v; Pop; Ret; } fun f(a: &u8) { MoveLoc a; Call g<&u8>; Ret; }',
    ],
    ['too many elements', 'fun f() { VecPack <u8> 5000000000; Pop; Ret; }'],
    [
      'a mask beyond the parameters',
      'fun g(a: u8) { Ret; } fun f() { LdU8 1; PackClosure g 3; Pop; Ret; }',
    ],
    [
      'a captured reference',
      'fun g(a: &u8) { Ret; } fun f(a: u8) { ImmBorrowLoc a; PackClosure g 1; Pop; Ret; }',
    ],
    [
      'a field of another struct',
      'struct A has drop { a: u8 } struct B has drop { b: u8 } fun f(a: &A) { MoveLoc a; ImmBorrowField B.b; Pop; Ret; }',
    ],
  ])('%s', async (_, members) => {
    const first = members.includes('f(b: bool)') ? [true] : members.includes('f(a:') ? [1] : [];
    const [status] = await failure(runText(members, first));
    expect(status).toBe('VERIFICATION_ERROR');
  });
});
