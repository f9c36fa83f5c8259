/** The attacks of fuzz/, for a second each with a fixed seed: they still run, and find nothing. */
import { expect, it } from 'vitest';
import { attack } from '../../fuzz/attack.ts';
import { canRecord } from '../../fuzz/recorded-writes.ts';
import { TARGETS } from '../../fuzz/targets.ts';
import { roundsOf, testSeed } from '../random.ts';

/** Number of inputs for targets in this process, and for those that start others. */
const INPUTS = roundsOf('INPUTS', 300, 3_000);
const SLOW_INPUTS = roundsOf('SLOW_INPUTS', 4, 30);

it.each(TARGETS)('$name: $about', async (target) => {
  if (target.name === 'power' && !canRecord()) return;
  const options = {
    seed: testSeed('fuzz'),
    inputs: target.isGuided === true ? INPUTS : SLOW_INPUTS,
    durationMs: Number.POSITIVE_INFINITY,
    isCoverageWanted: false,
  };
  const { inputs, findings } = await attack(target, options);
  expect(inputs).toBe(options.inputs);
  expect(findings).toEqual([]);
});
