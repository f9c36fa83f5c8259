/** Shows how following proceeds: one line on a terminal, log lines every few seconds otherwise. */
import type { Logger } from 'pino';
import type { FollowCounters } from '../ingest/feed/follower.ts';
import { durationText, grouped, ProgressLine, type ProgressOutput } from './progress.ts';

/** How often a log line is written, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;

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

  /**
   * Shows the position when it is time to.
   * @param version the newest durable one; absent before genesis
   * @param upstreamVersion the newest of the upstream, as last heard
   */
  update(version: bigint | undefined, upstreamVersion: bigint | undefined): void {
    if (this.#line !== undefined) this.#line.update(() => this.#text(version, upstreamVersion));
    else if (performance.now() - this.#shownMs >= LOG_INTERVAL_MS) {
      this.#log(version, upstreamVersion);
    }
  }

  /** Removes the line from a terminal, before something else is written there. */
  clear(): void {
    this.#line?.clear();
  }

  #text(version: bigint | undefined, upstreamVersion: bigint | undefined): string {
    const { rate, left, leftSecs } = this.#sinceShown(version, upstreamVersion);
    const at = version === undefined ? 'before genesis' : `version ${grouped(version)}`;
    const rest =
      leftSecs === undefined ? '' : `, ${grouped(left!)} left, ${durationText(leftSecs)}`;
    return `${at}, ${grouped(Math.round(rate))}/s${rest}`;
  }

  #log(version: bigint | undefined, upstreamVersion: bigint | undefined): void {
    const before = this.#shown;
    const { rate, left, leftSecs, passedMs } = this.#sinceShown(version, upstreamVersion);
    // Nothing new and nothing left: an upstream that does not grow needs no lines.
    if (rate === 0 && left === 0n) return;
    const facts = {
      version: version === undefined ? null : String(version),
      upstream_version: upstreamVersion === undefined ? null : String(upstreamVersion),
      transactions_per_second: Math.round(rate),
      remaining_seconds: leftSecs === undefined ? null : Math.round(leftSecs),
      interval_ms: Math.round(passedMs),
      ...splitOf(this.#counters, before),
    };
    this.#logger.info(facts, 'following');
  }

  /** The rate since the last time, and how many versions and seconds are left. */
  #sinceShown(version: bigint | undefined, upstreamVersion: bigint | undefined) {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#shownMs;
    const rate = ((this.#counters.transactions - this.#shown.transactions) * 1000) / passedMs;
    const end = this.#until ?? upstreamVersion;
    const ahead = end === undefined ? undefined : end - (version ?? -1n);
    const left = ahead !== undefined && ahead < 0n ? 0n : ahead;
    const leftSecs = left === undefined || rate === 0 ? undefined : Number(left) / rate;
    this.#shownMs = nowMs;
    this.#shown = { ...this.#counters };
    return { rate, left, leftSecs, passedMs };
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
