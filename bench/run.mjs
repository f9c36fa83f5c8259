// npm run bench [-- NAME… --rounds N --seconds N --json FILE]: all benchmarks, or the named ones. Speed is measured
// here and never asserted in tests.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import * as codec from './codec.mjs';
import * as commits from './commits.mjs';
import * as encode from './encode.mjs';
import * as execute from './execute.mjs';
import * as http from './http.mjs';
import * as indexer from './indexer.mjs';
import * as ingest from './ingest.mjs';
import * as instead from './instead/instead.mjs';
import * as listeners from './listeners.mjs';
import * as localnet from './localnet.mjs';
import * as memory from './memory.mjs';
import * as overload from './overload.mjs';
import * as start from './start.mjs';
import * as versus from './versus.mjs';
import * as workers from './workers.mjs';

/** In-process ones first, long ones last. */
const BENCHMARKS = [
  ...[codec, encode, execute, localnet, start, http, workers, overload, listeners, ingest],
  ...[commits, indexer, versus, instead, memory],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const unknown = positionals.filter((wanted) => !BENCHMARKS.some(({ name }) => name === wanted));
if (unknown.length > 0) {
  console.error(
    `no benchmark ${unknown.join(', ')}; there are: ${BENCHMARKS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

const report = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  memoryBytes: totalmem(),
  benchmarks: {},
};
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  log: (line) => console.error(line),
};
for (const { name, title, run } of BENCHMARKS) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.error(`\n${title} (min / median / max of ${values.rounds} rounds)`);
  // Load average of the last minute, before this benchmark runs: it shows whether others use the machine.
  const [loadBefore] = loadavg();
  console.error(`load average before: ${loadBefore.toFixed(2)} on ${report.cores} cores`);
  report.benchmarks[name] = { loadBefore, ...(await run(options)) };
}
const text = JSON.stringify(report, null, 2);
if (values.json === undefined) console.log(text);
else writeFileSync(values.json, `${text}\n`);
