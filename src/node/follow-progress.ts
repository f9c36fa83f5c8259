/** Shows how following proceeds: one line on a terminal, log lines every few seconds otherwise. */
import type { Logger } from 'pino';
import type { FollowCounters } from '../ingest/feed/follower.ts';
import { durationText, grouped, type ProgressLine } from './progress.ts';

/** Interval of log lines, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;

interface FollowProgress {
  /**
   * Shows the position if the interval has passed.
   * @param version the newest durable one; absent before genesis
   * @param upstreamVersion the newest of the upstream, as last reported
   */
  update(version: bigint | undefined, upstreamVersion: bigint | undefined): void;
  /** Removes the line from a terminal, before something else is written there. */
  clear(): void;
}

/** @param line absent: progress goes to the log */
export function showFollowProgress(
  counters: FollowCounters,
  until: bigint | undefined,
  logger: Logger,
  line: ProgressLine | undefined,
): FollowProgress {
  let shownMs = performance.now();
  let shown = { ...counters };
  /** Transactions per second since the last call, and how many versions and seconds are left. */
  const measure = (version: bigint | undefined, upstreamVersion: bigint | undefined) => {
    const nowMs = performance.now();
    const passedMs = nowMs - shownMs;
    const rate = ((counters.transactions - shown.transactions) * 1000) / passedMs;
    const end = until ?? upstreamVersion;
    const ahead = end === undefined ? undefined : end - (version ?? -1n);
    const left = ahead !== undefined && ahead < 0n ? 0n : ahead;
    const leftSecs = left === undefined || rate === 0 ? undefined : Number(left) / rate;
    const split = splitOf(counters, shown);
    shownMs = nowMs;
    shown = { ...counters };
    return { rate, left, leftSecs, passedMs, split };
  };
  return {
    update: (version, upstreamVersion) => {
      if (line !== undefined) {
        line.update(() => {
          const { rate, left, leftSecs } = measure(version, upstreamVersion);
          const at = version === undefined ? 'before genesis' : `version ${grouped(version)}`;
          const rest =
            leftSecs === undefined ? '' : `, ${grouped(left!)} left, ${durationText(leftSecs)}`;
          return `${at}, ${grouped(Math.round(rate))}/s${rest}`;
        });
      } else if (performance.now() - shownMs >= LOG_INTERVAL_MS) {
        const { rate, left, leftSecs, passedMs, split } = measure(version, upstreamVersion);
        // Nothing new and nothing left: no lines while the upstream does not grow.
        if (rate === 0 && left === 0n) return;
        const facts = {
          version: version === undefined ? null : String(version),
          upstream_version: upstreamVersion === undefined ? null : String(upstreamVersion),
          transactions_per_second: Math.round(rate),
          remaining_seconds: leftSecs === undefined ? null : Math.round(leftSecs),
          interval_ms: Math.round(passedMs),
        };
        logger.info({ ...facts, ...split }, 'following');
      }
    },
    clear: () => line?.clear(),
  };
}

/** Where the time between two states of the counters went, in milliseconds. */
export function splitOf(now: FollowCounters, before: FollowCounters): Record<string, number> {
  const spent = (name: keyof FollowCounters): number => Math.round(now[name] - before[name]);
  return {
    network_ms: spent('networkMs'),
    decode_ms: spent('decodeMs'),
    hash_ms: spent('hashMs'),
    build_ms: spent('buildMs'),
    commit_ms: spent('commitMs'),
    page_bytes: spent('pageBytes'),
    faults: spent('faults'),
  };
}
