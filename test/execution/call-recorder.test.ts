/** What a recorder records of a run (calls, values, accesses, gas), and its behaviour above its limits. */
import { describe, expect, it } from 'vitest';
import { CallRecorder, TRACE_LIMITS } from '../../src/execution/trace/call-recorder.ts';
import type { RecordedCall, Step } from '../../src/execution/trace/call-tree.ts';
import { CallsJson, Pieces } from '../../src/execution/trace/calls-json.ts';
import { gasByFunction } from '../../src/execution/trace/gas-by-function.ts';
import { TraceValues } from '../../src/execution/trace/trace-values.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { GasMeter, NO_PRICES } from '../../src/vm/gas/gas-meter.ts';
import type { Value } from '../../src/vm/value.ts';
import { YieldBudget } from '../../src/yield-budget.ts';
import { CAFE, failure, runText } from '../vm/run-text.ts';

const LEAVES = `
  fun leaf(n: u64): u64 { MoveLoc n; LdU64 1; Add; Ret; }
  fun f(n: u64): u64 {
  again: CopyLoc n; LdU64 0; Eq; BrTrue end; MoveLoc n; LdU64 1; Sub; StLoc n;
    CopyLoc n; Call leaf; Pop; Branch again;
  end: LdU64 7; Ret; }`;

async function record(
  members: string,
  args: readonly Value[],
  limits: Partial<typeof TRACE_LIMITS> = {},
  world: Parameters<typeof runText>[2] = {},
) {
  const recorder = new CallRecorder({ ...TRACE_LIMITS, ...limits });
  recorder.begin('function', new GasMeter(NO_PRICES, 0));
  const ended = await failure(runText(members, args, { ...world, observer: recorder }));
  recorder.end();
  return { recorder, ended, part: recorder.parts[0]!, top: recorder.parts[0]!.steps[0] };
}

/** A tree of names with arguments and results. */
function shown(step: Step): unknown {
  if (step.kind === 'event') return 'event';
  if (step.kind === 'access') {
    const { operation, hasValue, before, after } = step;
    return { operation, hasValue, before, after };
  }
  const { callee, args, results, count, returned, hiddenCalls } = step;
  const inside = step.all().map(shown);
  return [
    callee.function.name,
    args ?? count,
    results ?? `${returned} returned`,
    ...inside,
    ...(hiddenCalls === 0 ? [] : [`${hiddenCalls} hidden`]),
  ];
}

describe('a recorder', () => {
  it('notes calls in order, with arguments and results', async () => {
    const { top, recorder } = await record(LEAVES, [2n]);
    expect(shown(top!)).toEqual(['f', [2n], [7n], ['leaf', [1n], [2n]], ['leaf', [0n], [1n]]]);
    expect(recorder.omitted).toEqual({ steps: 0, values: 0 });
  });

  it('counts each instruction once, however often it waits', async () => {
    const fast = await record(LEAVES, [3n]);
    const slow = await record(LEAVES, [3n], {}, { isSlow: true });
    expect(slow.recorder.instructions()).toEqual(fast.recorder.instructions());
    const counts = new Map(fast.recorder.instructions().map(({ name, count }) => [name, count]));
    expect(counts.get('Call')).toBe(3);
    expect(counts.get('Ret')).toBe(4);
    expect(counts.get('BrTrue')).toBe(4);
  });

  it('notes values as they were when they were passed', async () => {
    const { top } = await record(
      `fun g(n: &mut u64) { LdU64 9; MoveLoc n; WriteRef; Ret; }
       fun f(): u64 { let n: u64; LdU64 5; StLoc n; MutBorrowLoc n; Call g; MoveLoc n; Ret; }`,
      [],
    );
    expect(shown(top!)).toEqual(['f', [], [9n], ['g', [5n], []]]);
  });

  it('notes what a place in state held before and after', async () => {
    const key = `${CAFE} 0xcafe::m::S`;
    const resources = new Map([[key, encodeBcs((writer) => writer.u64(5n))]]);
    const { top } = await record(
      `struct S has key { n: u64 }
       fun look(a: address): u64 acquires S {
         MoveLoc a; ImmBorrowGlobal S; ImmBorrowField S.n; ReadRef; Ret; }
       fun change(a: address) acquires S {
         LdU64 6; MoveLoc a; MutBorrowGlobal S; MutBorrowField S.n; WriteRef; Ret; }
       fun f(a: address): bool acquires S {
         CopyLoc a; Call change; CopyLoc a; Call look; Pop; MoveLoc a; Exists S; Ret; }`,
      [CAFE],
      {},
      { resources },
    );
    const calls = (top as RecordedCall).steps as RecordedCall[];
    const [changed, looked, asked] = [calls[0]!.steps[0]!, calls[1]!.steps[0]!, calls[2]!];
    const six = [6n];
    expect(shown(changed)).toEqual({
      ...{
        operation: 'MutBorrowGlobal',
        hasValue: true,
        before: [5n],
        after: { hasValue: true, value: six },
      },
    });
    expect(shown(looked)).toEqual({
      ...{ operation: 'ImmBorrowGlobal', hasValue: true, before: six, after: undefined },
    });
    expect(shown(asked)).toEqual({
      ...{ operation: 'Exists', hasValue: true, before: undefined, after: undefined },
    });
  });

  it('counts nothing of what runs once more', async () => {
    const members = `
      struct S has key { n: u64 }
      fun g(v: vector<u64>) { Ret; }
      fun f(a: address): bool acquires S {
        LdU64 1; VecPack <u64> 1; Call g; MoveLoc a; Exists S; Ret; }`;
    const recorder = new CallRecorder({ ...TRACE_LIMITS, maxSteps: 3 });
    const seen: unknown[] = [];
    for (const name of ['prologue', undefined]) {
      recorder.begin(name, new GasMeter(NO_PRICES, 0));
      await runText(members, [CAFE], { observer: recorder });
      seen.push([recorder.instructions(), { ...recorder.omitted }]);
    }
    recorder.end();
    expect(seen[1]).toEqual(seen[0]);
    expect(recorder.parts.map(({ name }) => name)).toEqual(['prologue']);
    expect(recorder.omitted).toEqual({ steps: 0, values: 0 });
  });

  it('notes where a run failed', async () => {
    const { part, ended, top } = await record(
      `fun g() { LdU64 77; Abort; }
       fun f() { Call g; Ret; }`,
      [],
    );
    expect(ended).toEqual(['ABORTED', 77n]);
    expect(part.failure!.place).toMatchObject({ function: { name: 'g' }, at: 1 });
    expect(shown(top!)).toEqual(['f', [], '0 returned', ['g', [], '0 returned']]);
  });
});

describe('the end of a trace', () => {
  /** A loop of this many calls, and a client that disconnects after some turns. */
  const CALLS = 5_000n;
  const TURNS = 3;
  function leaving(): YieldBudget {
    let turns = 0;
    return new YieldBudget({
      signal: new AbortController().signal,
      hold: () => undefined,
      check: () => {
        turns += 1;
        if (turns === TURNS) throw new Error('left');
      },
    });
  }

  it('is made in turns, and not any further when nobody waits for it', async () => {
    const { recorder } = await record(LEAVES, [CALLS]);
    await expect(gasByFunction(recorder.parts, leaving())).rejects.toThrow('left');
    const calls = new CallsJson(new TraceValues(), leaving());
    await expect(calls.write(recorder.parts, new Pieces(new YieldBudget()))).rejects.toThrow(
      'left',
    );
    const rows = await gasByFunction(recorder.parts, new YieldBudget());
    expect(
      rows.map(({ function: name, calls: count }) => [name.split('::').at(-1), count]),
    ).toEqual([
      ['f', 1],
      ['leaf', Number(CALLS)],
    ]);
  });
});

describe('limits of a recorder', () => {
  it('steps: calls above them are one entry for each function', async () => {
    // f itself is a step, too.
    const tree = async (maxSteps: number) => {
      const { top, recorder } = await record(LEAVES, [3n], { maxSteps });
      return [recorder.omitted.steps, shown(top!)];
    };
    const leaves = [
      ['leaf', [2n], [3n]],
      ['leaf', [1n], [2n]],
      ['leaf', [0n], [1n]],
    ];
    expect(await tree(5)).toEqual([0, ['f', [3n], [7n], ...leaves]]);
    expect(await tree(4)).toEqual([0, ['f', [3n], [7n], ...leaves]]);
    expect(await tree(3)).toEqual([
      1,
      ['f', [3n], [7n], ...leaves.slice(0, 2), ['leaf', 1, '1 returned']],
    ]);
    expect(await tree(1)).toEqual([3, ['f', [3n], [7n], ['leaf', 3, '3 returned']]]);
  });

  it('entries for several calls: other functions are counted with their callers', async () => {
    const members = `
      fun a() { Ret; }
      fun b() { Call a; Ret; }
      fun f() { Call a; Call b; Call b; Ret; }`;
    const tree = async (maxMerged: number) => {
      const { top } = await record(members, [], { maxSteps: 1, maxMerged });
      return shown(top!);
    };
    const b = ['b', 2, '2 returned', ['a', 2, '2 returned']];
    expect(await tree(4)).toEqual(['f', [], [], ['a', 1, '1 returned'], b]);
    expect(await tree(3)).toEqual(['f', [], [], ['a', 1, '1 returned'], b]);
    const hiding = ['b', 2, '2 returned', '2 hidden'];
    expect(await tree(2)).toEqual(['f', [], [], ['a', 1, '1 returned'], hiding]);
    expect(await tree(1)).toEqual(['f', [], [], ['a', 1, '1 returned'], '4 hidden']);
  });

  it('the size of one value', async () => {
    const members = `
      fun g(v: vector<u64>) { Ret; }
      fun f() { LdU64 1; LdU64 2; LdU64 3; VecPack <u64> 3; Call g; Ret; }`;
    const given = async (maxValueUnits: number) => {
      const { top, recorder } = await record(members, [], { maxValueUnits });
      const [call] = (top as RecordedCall).steps as [RecordedCall];
      return [call.args![0], recorder.omitted.values];
    };
    expect(await given(4)).toEqual([[1n, 2n, 3n], 0]);
    expect(await given(3)).toEqual([[1n, 2n, 3n], 0]);
    expect(await given(2)).toEqual([undefined, 1]);
  });

  it('memory of all values', async () => {
    // A vector of 2 numbers: 48 bytes, and 8 for each number.
    const members = `
      fun g(v: vector<u64>) { Ret; }
      fun f() { LdU64 1; LdU64 2; VecPack <u64> 2; Call g; LdU64 1; LdU64 2; VecPack <u64> 2; Call g; Ret; }`;
    const omitted = async (maxValueBytes: number) =>
      (await record(members, [], { maxValueBytes })).recorder.omitted.values;
    expect(await omitted(129)).toBe(0);
    expect(await omitted(128)).toBe(0);
    expect(await omitted(127)).toBe(1);
    expect(await omitted(63)).toBe(2);
  });
});
