// Memory of processes over time, and its slope.
import { memoryBytes } from './process-figures.mjs';
import { leastSquares, shown, shownSummary, summary } from './statistics.mjs';

/** Share of the time at the beginning that does not count for the slope: heaps and caches grow to their size then. */
const WARM_UP_SHARE = 1 / 3;
/**
 * A heap grows and shrinks from one collection to the next, so samples one after the other are not independent. The
 * means of so many stretches are, if a stretch is longer than that.
 */
const STRETCHES = 20;
/** Of Student's distribution, two-sided, for the slope of a line through so many points. */
const T_95 = 2.101;

/** What a process has in memory now, with the time it is asked. */
export function memorySample(pid, minutes) {
  const { anonymous, files } = memoryBytes(pid);
  return { minutes, anonymous: anonymous / 1_024, files: files / 1_024 };
}

/** @param {{minutes: number, anonymous: number, files: number}[]} samples of one process, memory in KiB */
export function memoryOf(pid, role, samples) {
  const counted = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  return {
    pid,
    role,
    samples: counted.length,
    anonymous: trendOf(counted, 'anonymous'),
    files: trendOf(counted, 'files'),
  };
}

function trendOf(samples, which) {
  const length = samples.length / STRETCHES;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const points = Array.from({ length: STRETCHES }, (_, stretch) => {
    const part = samples.slice(Math.floor(stretch * length), Math.floor((stretch + 1) * length));
    return [mean(part.map(({ minutes }) => minutes)), mean(part.map((sample) => sample[which]))];
  }).filter(([minutes]) => !Number.isNaN(minutes));
  const { slope, standardError } = leastSquares(points);
  return {
    kibibytes: summary(samples.map((sample) => sample[which])),
    slopeKibibytesPerMinute: slope,
    within95: T_95 * standardError,
  };
}

/** Two lines for each of `memoryOf`. */
export function logMemory(log, processes) {
  for (const { role, pid, anonymous, files } of processes) {
    const who = `${role.padEnd(16)} ${pid}:`;
    log(`${who} own memory   ${shownTrend(anonymous)}`);
    log(`${who} mapped files ${shownTrend(files)}`);
  }
}

function shownTrend({ kibibytes, slopeKibibytesPerMinute, within95 }) {
  return (
    `${shownSummary(kibibytes)} KiB, ` +
    `slope ${shown(slopeKibibytesPerMinute)} ± ${shown(within95)} KiB/min (95 %)`
  );
}
