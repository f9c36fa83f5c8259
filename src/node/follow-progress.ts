/** Shows how following proceeds: one line on a terminal, log lines every few seconds otherwise. */
import type { Logger } from 'pino';
import type { FollowCounters } from '../ingest/feed/follower.ts';
import { durationText, grouped, ProgressLine, type ProgressOutput } from './progress.ts';

/** How often a log line is written, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;

/** How far a follower is. */
interface FollowPosition {
  /** Newest durable version; absent before genesis. */
  readonly version: bigint | undefined;
  /** Newest version of the upstream, as last heard. */
  readonly upstreamVersion: bigint | undefined;
}

/** Shows the progress of one follower. */
export class FollowProgress {
  readonly #counters: FollowCounters;
  readonly #until: bigint | undefined;
  readonly #logger: Logger;
  /** Set when progress goes to a terminal. */
  readonly #line: ProgressLine | undefined;
  #shownMs = performance.now();
  #shown: FollowCounters;

  constructor(
    counters: FollowCounters,
    until: bigint | undefined,
    logger: Logger,
    terminal: ProgressOutput | undefined,
  ) {
    this.#counters = counters;
    this.#until = until;
    this.#logger = logger;
    this.#line = terminal === undefined ? undefined : new ProgressLine(terminal);
    this.#shown = { ...counters };
  }

  /** Shows the position when it is time to. */
  update(position: FollowPosition): void {
    if (this.#line !== undefined) this.#line.update(() => this.#text(position));
    else if (performance.now() - this.#shownMs >= LOG_INTERVAL_MS) this.#log(position);
  }

  /** Removes the line from a terminal, before something else is written there. */
  clear(): void {
    this.#line?.clear();
  }

  #text(position: FollowPosition): string {
    const { rate, left } = this.#sinceShown(position);
    const { version } = position;
    const at = version === undefined ? 'before genesis' : `version ${grouped(version)}`;
    const hasEstimate = left !== undefined && rate !== 0;
    const rest = hasEstimate ? `, ${grouped(left)} left, ${durationText(Number(left) / rate)}` : '';
    return `${at}, ${grouped(Math.round(rate))}/s${rest}`;
  }

  #log(position: FollowPosition): void {
    const before = this.#shown;
    const { rate, left, passedMs } = this.#sinceShown(position);
    // Nothing new and nothing left: an upstream that does not grow needs no lines.
    if (rate === 0 && left === 0n) return;
    const { version, upstreamVersion } = position;
    this.#logger.info(
      {
        version: version === undefined ? null : String(version),
        upstream_version: upstreamVersion === undefined ? null : String(upstreamVersion),
        transactions_per_second: Math.round(rate),
        remaining_seconds:
          left === undefined || rate === 0 ? null : Math.round(Number(left) / rate),
        interval_ms: Math.round(passedMs),
        ...splitOf(this.#counters, before),
      },
      'following',
    );
  }

  /** The rate since the last time, and how many versions are left. */
  #sinceShown({ version, upstreamVersion }: FollowPosition) {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#shownMs;
    const rate = ((this.#counters.transactions - this.#shown.transactions) * 1000) / passedMs;
    const end = this.#until ?? upstreamVersion;
    const ahead = end === undefined ? undefined : end - (version ?? -1n);
    const left = ahead !== undefined && ahead < 0n ? 0n : ahead;
    this.#shownMs = nowMs;
    this.#shown = { ...this.#counters };
    return { rate, left, passedMs };
  }
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
