/** Resources that one run may use (docs/spec/vm.md §4.7): each limit at -1, 0 and +1. */
import { describe, expect, it } from 'vitest';
import { MAX_PROGRAM_ENTRIES, MAX_REUSED_ENTRIES } from '../../src/vm/program/program.ts';
import {
  Closure,
  copyValue,
  equalValues,
  MAX_VALUE_DEPTH,
  type Value,
} from '../../src/vm/value.ts';
import { CAFE, failure, plentyMeter, programOf, runIn, runText } from './run-text.ts';

describe('limits of a run', () => {
  it('units: one for each instruction', async () => {
    const body = 'fun f() { Nop; Nop; Nop; Ret; }';
    const withUnits = (maxUnits: number) => failure(runText(body, [], { limits: { maxUnits } }));
    expect(await withUnits(3)).toEqual(['OUT_OF_GAS']);
    expect(await withUnits(4)).toEqual(['no failure', []]);
    expect(await withUnits(5)).toEqual(['no failure', []]);
  });

  it('frames: the function itself, and as many calls as are allowed', async () => {
    const body = `fun f(n: u64) {
      CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; Call f; Ret;
    end: Ret; }`;
    const deep = (calls: bigint) => failure(runText(body, [calls], { limits: { maxFrames: 50 } }));
    expect(await deep(49n)).toEqual(['no failure', []]);
    expect(await deep(50n)).toEqual(['no failure', []]);
    expect(await deep(51n)).toEqual(['CALL_STACK_OVERFLOW']);
  });

  it('the stack: 1024 values, those of callers included', async () => {
    const pushes = (count: number) => 'LdU8 0; '.repeat(count);
    const pops = (count: number) => 'Pop; '.repeat(count);
    const body = (own: number, inner: number) => `
      fun g(): u8 { ${pushes(inner)} ${pops(inner - 1)} Ret; }
      fun f() { ${pushes(own)} Call g; Pop; ${pops(own)} Ret; }`;
    const status = async (own: number, inner: number) =>
      (await failure(runText(body(own, inner))))[0];
    expect(await status(23, 1_000)).toBe('no failure');
    expect(await status(24, 1_000)).toBe('no failure');
    expect(await status(25, 1_000)).toBe('EXECUTION_STACK_OVERFLOW');
    expect(await status(0, 1_023)).toBe('no failure');
    expect(await status(0, 1_024)).toBe('no failure');
    expect(await status(0, 1_025)).toBe('VERIFICATION_ERROR');
  });

  it('memory of what is made', async () => {
    // Each turn creates a vector of 2 numbers: 48 bytes, and 8 for each number.
    const body = `fun f(n: u64) {
    again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
      LdU64 1; LdU64 2; VecPack <u64> 2; Pop; Branch again;
    end: Ret; }`;
    const made = (count: bigint) =>
      failure(runText(body, [count], { limits: { maxAllocatedBytes: 64 * 100 } }));
    expect(await made(99n)).toEqual(['no failure', []]);
    expect(await made(100n)).toEqual(['no failure', []]);
    expect(await made(101n)).toEqual(['MEMORY_LIMIT_EXCEEDED']);
  });

  it('copies cost as much as they hold', async () => {
    const body = `fun f(n: u64, v: vector<u64>) {
    again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
      CopyLoc v; Pop; Branch again;
    end: Ret; }`;
    const v = Array.from({ length: 1_000 }, () => 1n);
    const limits = { maxUnits: 100_000 };
    expect(await failure(runText(body, [98n, v], { limits }))).toEqual(['no failure', []]);
    expect(await failure(runText(body, [100n, v], { limits }))).toEqual(['OUT_OF_GAS']);
  });

  it('work of one operation', async () => {
    const body = 'fun f(v: vector<u64>) { CopyLoc v; Pop; CopyLoc v; Pop; MoveLoc v; Pop; Ret; }';
    const copied = (length: number) => {
      const v = Array.from({ length }, () => 1n);
      return failure(runText(body, [v], { limits: { maxOperationUnits: 1_000 } }));
    };
    expect(await copied(999)).toEqual(['no failure', []]);
    expect(await copied(1_000)).toEqual(['no failure', []]);
    expect(await copied(1_001)).toEqual(['OUT_OF_GAS']);
  });

  it('an endless loop lets others have their turn, and ends', async () => {
    let turns = 0;
    const onTurn = () => {
      turns += 1;
    };
    const limits = { maxUnits: 5_000_000 };
    const attempt = runText('fun f() { again: Branch again; }', [], { onTurn, limits });
    expect(await failure(attempt)).toEqual(['OUT_OF_GAS']);
    expect(turns).toBeGreaterThan(0);
  });
});

describe('what a program remembers', () => {
  it('has a limit, and another from which another program is used', () => {
    const program = programOf('module cafe::m {}');
    const make = (name: number) =>
      program.struct({ address: CAFE, module: 'm', name: `S${name}` }, []);
    const makeUntil = (first: number, end: number) => {
      for (let made = first; made < end; made += 1) make(made);
    };
    makeUntil(0, MAX_REUSED_ENTRIES);
    expect(program.isOverBudget).toBe(false);
    makeUntil(MAX_REUSED_ENTRIES, MAX_REUSED_ENTRIES + 1);
    expect(program.isOverBudget).toBe(true);
    makeUntil(MAX_REUSED_ENTRIES + 1, MAX_PROGRAM_ENTRIES);
    expect(make(0)).toBe(make(0));
    expect(() => make(MAX_PROGRAM_ENTRIES)).toThrow(
      expect.objectContaining({ status: 'VM_MAX_TYPE_NODES_REACHED' }),
    );
  });
});

describe('depth', () => {
  it('of values, when they are copied and compared', () => {
    const nested = (depth: number) => {
      let value: Value = [];
      for (let level = 1; level < depth; level += 1) value = [value];
      return value;
    };
    for (const depth of [MAX_VALUE_DEPTH - 1, MAX_VALUE_DEPTH]) {
      expect(copyValue(nested(depth), plentyMeter())).toEqual(nested(depth));
      expect(equalValues(nested(depth), nested(depth), plentyMeter())).toBe(true);
    }
    const tooDeep = nested(MAX_VALUE_DEPTH + 1);
    const wanted = expect.objectContaining({ status: 'VM_MAX_VALUE_DEPTH_REACHED' });
    expect(() => copyValue(tooDeep, plentyMeter())).toThrow(wanted);
    expect(() => equalValues(tooDeep, nested(MAX_VALUE_DEPTH + 1), plentyMeter())).toThrow(wanted);
  });

  it('of function values that capture each other', () => {
    const id = { address: CAFE, name: 'm' };
    const nested = (depth: number) => {
      let value: Value = 1n;
      for (let level = 0; level < depth; level += 1) value = new Closure(id, 'f', [], 1n, [value]);
      return value;
    };
    expect(copyValue(nested(MAX_VALUE_DEPTH), plentyMeter())).toEqual(nested(MAX_VALUE_DEPTH));
    expect(() => copyValue(nested(MAX_VALUE_DEPTH + 1), plentyMeter())).toThrow(
      expect.objectContaining({ status: 'VM_MAX_VALUE_DEPTH_REACHED' }),
    );
  });

  it('of types: nesting and parts', async () => {
    const vectors = (count: number) => `${'vector<'.repeat(count)}u8${'>'.repeat(count)}`;
    const body = 'fun f<T>(): u64 { VecPack <T> 0; VecUnpack <T> 0; LdU64 1; Ret; }';
    const deep = async (count: number) => failure(runText(body, [], { types: [vectors(count)] }));
    // The vector of them counts as one more.
    expect(await deep(6)).toEqual(['no failure', [1n]]);
    const grow = `
      fun g<T>(n: u64): u64 {
        CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; Call g<vector<T>>; Ret;
      end: LdU64 1; Ret; }
      fun f(n: u64): u64 { MoveLoc n; Call g<u8>; Ret; }`;
    expect(await failure(runText(grow, [18n]))).toEqual(['no failure', [1n]]);
    expect(await failure(runText(grow, [19n]))).toEqual(['no failure', [1n]]);
    expect(await failure(runText(grow, [20n]))).toEqual(['VM_MAX_TYPE_DEPTH_REACHED']);
    const wide = `
      struct P<phantom A, phantom B> {}
      fun g<T>(n: u64): u64 {
        CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; Call g<P<T, T>>; Ret;
      end: LdU64 1; Ret; }
      fun f(n: u64): u64 { MoveLoc n; Call g<u8>; Ret; }`;
    expect(await failure(runText(wide, [5n]))).toEqual(['no failure', [1n]]);
    expect(await failure(runText(wide, [6n]))).toEqual(['no failure', [1n]]);
    expect(await failure(runText(wide, [7n]))).toEqual(['VM_MAX_TYPE_NODES_REACHED']);
  });

  it('a struct that contains itself cannot be made', async () => {
    const program = programOf(`module cafe::m {
      struct Loop has drop { next: vector<Loop> }
      fun f() { VecPack <Loop> 0; Pack Loop; Pop; Ret; }
    }`);
    expect(await failure(runIn(program, 'f'))).toEqual(['VM_MAX_VALUE_DEPTH_REACHED']);
  });
});
