/** Integers: random programs compared with a naive evaluator, and the texts of errors (docs/spec/vm.md §4.2). */
import { describe, expect, it } from 'vitest';
import { VmError } from '../../src/vm/status/status.ts';
import type { Value } from '../../src/vm/value.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { ProgramMaker, type RandomProgram, type Typed } from './numbers.ts';
import { failure, programOf, runIn, runText } from './run-text.ts';

const SEED = testSeed('vm-numbers');
const PROGRAMS = roundsOf('VM_PROGRAMS', 500, 100_000);
const IN_ONE_MODULE = 100;

function looks({ kind, value }: Typed): Value {
  if (kind === 'bool') return value === 1n;
  return Number(kind.slice(1)) <= 32 ? Number(value) : value;
}

async function compare(programs: readonly RandomProgram[]): Promise<void> {
  const functions = programs.map(
    ({ code, kinds }, index) =>
      `fun f${index}(): (${kinds.join(', ')}) { ${code.join('; ')}; Ret; }`,
  );
  const program = programOf(`module cafe::m { ${functions.join('\n')} }`);
  for (const [index, { code, results }] of programs.entries()) {
    let found: readonly Value[] | string;
    try {
      found = await runIn(program, `f${index}`);
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      found = error.status;
    }
    const wanted = results === undefined ? 'ARITHMETIC_ERROR' : results.map(looks);
    expect(found, code.join('; ')).toEqual(wanted);
    if (typeof found !== 'string') {
      for (const value of found) expect(Object.is(value, -0)).toBe(false);
    }
  }
}

describe(`random programs (SEED=${SEED})`, () => {
  it('come to what the naive evaluator comes to', async () => {
    const random = new Random(SEED);
    let failures = 0;
    for (let done = 0; done < PROGRAMS; done += IN_ONE_MODULE) {
      const programs = Array.from({ length: IN_ONE_MODULE }, () =>
        new ProgramMaker(random).make(1 + random.below(12)),
      );
      failures += programs.filter(({ results }) => results === undefined).length;
      await compare(programs);
    }
    expect(failures).toBeGreaterThan(PROGRAMS / 10);
    expect(failures).toBeLessThan(PROGRAMS * 0.9);
  }, 3_600_000);
});

describe('errors of integers', () => {
  it.each([
    ['LdU8 255; LdU8 1; Add', 'Addition overflow'],
    ['LdU64 0; LdU64 1; Sub', 'Subtraction overflow'],
    ['LdU32 65536; LdU32 65536; Mul', 'Multiplication overflow'],
    ['LdU128 1; LdU128 0; Div', 'Division by zero'],
    ['LdI8 -128; LdI8 -1; Div', 'Division overflow'],
    ['LdU8 1; LdU8 0; Mod', 'Integer remainder by zero'],
    ['LdI64 -9223372036854775808; LdI64 -1; Mod', 'Integer remainder by zero'],
    ['LdI8 -128; Negate', 'Integer negation overflow'],
    ['LdU8 1; LdU8 8; Shl', 'Shift Left overflow'],
    ['LdU64 1; LdU8 64; Shr', 'Shift Right overflow'],
    ['LdU64 256; CastU8', 'Cannot cast u64(256) to u8'],
    ['LdI8 -1; CastU256', 'Cannot cast i8(-1) to int256::U256'],
    ['LdU256 70000; CastU16', 'Cannot cast U256(70000) to u16'],
    ['LdI256 -1; CastU8', 'Cannot cast I256(-1) to u8'],
    [`LdU256 ${2n ** 255n}; CastI256`, `Cannot cast int256::U256(${2n ** 255n}) to int256::I256`],
  ])('%s', async (code, text) => {
    const attempt = runText(`fun f() { ${code}; Pop; Ret; }`);
    expect(await failure(attempt)).toEqual(['ARITHMETIC_ERROR', text]);
  });

  it('a shift of 256 bits has no error', async () => {
    const found = await runText('fun f(): u256 { LdU256 3; LdU8 255; Shl; Ret; }');
    expect(found).toEqual([2n ** 255n]);
  });
});
