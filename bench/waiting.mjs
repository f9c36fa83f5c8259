// Three dependent reads from an engine that answers immediately and from one that answers with a promise, composed with
// async functions and with andThen (src/maybe-promise.ts). Both give the same sum.
import { shownSummary, summary } from './statistics.mjs';

export const name = 'waiting';
export const title = 'Waiting: three dependent reads, composed in two ways';

const CALLS = 1_000_000;
const WARM_UP_CALLS = 200_000;
const KEYS = 1_024;

/** Follows a chain of three keys. */
const COMPOSED = {
  async: () => (read) => async (key) => {
    const first = await read(key);
    const second = await read(first);
    const third = await read(second);
    return first + second + third;
  },
  andThen: (andThen) => (read) => (key) =>
    andThen(read(key), (first) =>
      andThen(read(first), (second) => andThen(read(second), (third) => first + second + third)),
    ),
};

/** CPU time of one call in nanoseconds, and the sum of all results. */
async function measure(work, calls) {
  const before = process.cpuUsage();
  let sum = 0;
  for (let key = 0; key < calls; key += 1) {
    const value = work(key % KEYS);
    sum += value instanceof Promise ? await value : value;
  }
  const { user, system } = process.cpuUsage(before);
  return { nanoseconds: ((user + system) * 1_000) / calls, sum };
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const { andThen } = await import('../dist/maybe-promise.js');
  const rows = Array.from({ length: KEYS }, (_, key) => (key * 7) % KEYS);
  const engines = {
    immediate: (key) => rows[key],
    promise: (key) => Promise.resolve(rows[key]),
  };
  const results = [];
  for (const [engine, read] of Object.entries(engines)) {
    const works = Object.entries(COMPOSED).map(([way, make]) => [way, make(andThen)(read)]);
    const times = Object.fromEntries(works.map(([way]) => [way, []]));
    const sums = new Set();
    for (const [, work] of works) await measure(work, WARM_UP_CALLS);
    for (let round = 0; round < rounds; round += 1) {
      for (const [way, work] of works) {
        const { nanoseconds, sum } = await measure(work, CALLS);
        times[way].push(nanoseconds);
        sums.add(sum);
      }
    }
    if (sums.size !== 1) throw new Error('the ways of composing give different results');
    for (const [way, values] of Object.entries(times)) {
      log(
        `${engine.padEnd(10)} ${way.padEnd(8)} ${shownSummary(summary(values))} ns of CPU time a call`,
      );
      results.push({ engine, way, nanoseconds: summary(values) });
    }
  }
  return { results };
}
