/** The command: attacks the targets in turns until the time or the inputs are used up. */
import { parseArgs } from 'node:util';
import { attack, type Result, replay } from './attack.ts';
import { TARGETS } from './targets.ts';

const DEFAULT_MINUTES = 1;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: String(DEFAULT_MINUTES) },
    inputs: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    target: { type: 'string', multiple: true, default: [] },
    replay: { type: 'string' },
  },
});
const unknown = values.target.filter((wanted) => !TARGETS.some(({ name }) => name === wanted));
if (unknown.length > 0) {
  const known = TARGETS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n');
  console.error(`no target ${unknown.join(', ')}; there are:\n${known}`);
  process.exit(2);
}
const chosen = TARGETS.filter(
  ({ name }) => values.target.length === 0 || values.target.includes(name),
);
const seed = Number(values.seed);
if (values.replay !== undefined) {
  if (chosen.length !== 1) throw new Error('--replay needs the --target of the file');
  await replay(chosen[0]!, seed, values.replay);
  console.log('nothing was found');
  process.exit(0);
}
const inputs = values.inputs === undefined ? Number.POSITIVE_INFINITY : Number(values.inputs);
const durationMs =
  values.inputs === undefined
    ? (Number(values.minutes) * 60_000) / chosen.length
    : Number.POSITIVE_INFINITY;
console.log(`seed ${seed}`);
const results: Result[] = [];
for (const target of chosen) {
  const result = await attack(target, { seed, inputs, durationMs, isCoverageWanted: true });
  console.log(JSON.stringify(result));
  results.push(result);
}
const found = results.reduce((sum, { findings }) => sum + findings.length, 0);
console.log(`${found} findings`);
process.exit(found === 0 ? 0 : 1);
