/** References: random programs compared with a naive evaluator of trees and paths in them (docs/spec/vm.md §4.3). */
import { describe, expect, it } from 'vitest';
import { VmError } from '../../src/vm/status/status.ts';
import { ByteVector, copyValue, Reference, type Value } from '../../src/vm/value.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { CAFE, plentyMeter, programOf, runIn } from './run-text.ts';
import { plainTree, TreeFailure, type TreeFunction, TreeMachine } from './tree-machine.ts';
import { functionText, type MadeFunction, madeProgram } from './tree-programs.ts';
import { DECLARATIONS } from './tree-shapes.ts';

const SEED = testSeed('vm-references');
const PROGRAMS = roundsOf('VM_PROGRAMS', 200, 50_000);
const IN_ONE_MODULE = 50;

const ACCESSORS: readonly [string, TreeFunction][] = [
  ['ax', { parameters: ['r'], code: ['MoveLoc r', 'MutBorrowField A.x', 'Ret'] }],
  ['first', { parameters: ['r'], code: ['MoveLoc r', 'LdU64 0', 'VecMutBorrow <T>', 'Ret'] }],
];

/** The same form as `plainTree`. */
function plain(value: Value): unknown {
  if (value instanceof ByteVector) return Array.from(value.bytes, BigInt);
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'number' ? BigInt(value) : value;
}

function wanted(functions: readonly MadeFunction[]): unknown {
  const all = new Map([...ACCESSORS, ...functions.map((one) => [one.name, one] as const)]);
  try {
    return new TreeMachine(all).run(functions.at(-1)!.name, [0xcafen]).map(plainTree);
  } catch (error) {
    if (error instanceof TreeFailure) return error.outcome;
    throw error;
  }
}

async function found(program: ReturnType<typeof programOf>, name: string): Promise<unknown> {
  try {
    const values = await runIn(program, name, [new Reference([[CAFE]], 0)]);
    return values.map(plain);
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return error.subStatus === undefined ? error.status : `${error.status} ${error.subStatus}`;
  }
}

describe(`random programs on references (SEED=${SEED})`, () => {
  it('come to what the naive evaluator comes to', async () => {
    const random = new Random(SEED);
    const outcomes = new Map<string, number>();
    for (let done = 0; done < PROGRAMS; done += IN_ONE_MODULE) {
      const programs = Array.from({ length: IN_ONE_MODULE }, (_, index) =>
        madeProgram(random, `f${index}`),
      );
      const text = programs.flat().map(functionText);
      const program = programOf(`module cafe::m { ${DECLARATIONS} ${text.join('\n')} }`);
      for (const functions of programs) {
        const result = wanted(functions);
        const shown = functions.map(functionText).join('\n');
        expect(await found(program, functions.at(-1)!.name), shown).toEqual(result);
        const outcome = typeof result === 'string' ? result : 'results';
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }
    if (PROGRAMS > 400) console.log(outcomes);
    expect(outcomes.get('results')).toBeGreaterThan(PROGRAMS / 3);
    expect(outcomes.size).toBeGreaterThan(5);
  }, 3_600_000);
});

it('a copy of bytes is other memory, also of bytes that the BCS writer made', () => {
  const original = new ByteVector(Buffer.of(1, 2));
  const copy = copyValue(original, plentyMeter()) as ByteVector;
  new Reference(copy, 0).set(9);
  expect([...original.bytes]).toEqual([1, 2]);
  expect([...copy.bytes]).toEqual([9, 2]);
});
