// Memory of processes over time, and its slope.
import { mallocHeapBytes, memoryBytes } from './process-figures.mjs';
import { leastSquares, shown, shownSummary, summary } from './statistics.mjs';

/** Share of the time at the beginning that does not count for the slope: heaps and caches are still growing then. */
const WARM_UP_SHARE = 1 / 3;
/**
 * A heap grows and shrinks from one collection to the next, and a cache drops its older half every quarter of an hour,
 * so consecutive samples are not independent. The means of this many stretches of two hours are (with 20 the
 * correlation of neighbours was 0.3).
 */
const STRETCHES = 10;
/** Student's t, two-sided, for the slope of a line through this many points. */
const T_95 = 2.306;
/** One sample in this many also has the parts. */
const SAMPLES_PER_PARTS = 30;

/** Adds a process's current memory, with the time of the sample. */
export function addMemorySample(samples, pid, minutes) {
  const { anonymous, files } = memoryBytes(pid);
  const sample = { minutes, anonymous: anonymous / 1_024, files: files / 1_024 };
  if (samples.length % SAMPLES_PER_PARTS === 0) {
    sample.malloc = mallocHeapBytes(pid) / 1_024;
    sample.others = sample.anonymous - sample.malloc;
  }
  samples.push(sample);
}

/**
 * @typedef {{minutes: number, anonymous: number, files: number, malloc?: number, others?: number}} MemorySample
 * @param {MemorySample[]} samples of one process, memory in KiB
 */
export function memoryOf(pid, role, samples) {
  const counted = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  return {
    pid,
    role,
    samples: counted.length,
    anonymous: trendOf(counted, 'anonymous'),
    malloc: trendOf(counted, 'malloc'),
    others: trendOf(counted, 'others'),
    files: trendOf(counted, 'files'),
  };
}

/** `undefined` if there are too few samples. */
function trendOf(allSamples, which) {
  const samples = allSamples.filter((sample) => sample[which] !== undefined);
  if (samples.length < STRETCHES) return undefined;
  const length = samples.length / STRETCHES;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const points = Array.from({ length: STRETCHES }, (_, stretch) => {
    const part = samples.slice(Math.floor(stretch * length), Math.floor((stretch + 1) * length));
    return [mean(part.map(({ minutes }) => minutes)), mean(part.map((sample) => sample[which]))];
  });
  const { slope, standardError } = leastSquares(points);
  return {
    kibibytes: summary(samples.map((sample) => sample[which])),
    slopeKibibytesPerMinute: slope,
    within95: T_95 * standardError,
  };
}

/** Up to four lines for each of `memoryOf`. */
export function logMemory(log, processes) {
  for (const { role, pid, anonymous, malloc, others, files } of processes) {
    const trends = [
      ['own memory', anonymous],
      ['of malloc', malloc],
      ["mostly V8's", others],
      ['mapped files', files],
    ].filter(([, trend]) => trend !== undefined);
    for (const [what, trend] of trends) {
      log(`${role.padEnd(16)} ${pid}: ${what.padEnd(12)} ${shownTrend(trend)}`);
    }
  }
}

function shownTrend({ kibibytes, slopeKibibytesPerMinute, within95 }) {
  return (
    `${shownSummary(kibibytes)} KiB, ` +
    `slope ${shown(slopeKibibytesPerMinute)} ± ${shown(within95)} KiB/min (95 %)`
  );
}
