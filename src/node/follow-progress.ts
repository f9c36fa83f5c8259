/** How following goes, for people: one line on a terminal, log lines every few seconds otherwise. */
import type { Logger } from 'pino';
import type { FollowCounters } from '../ingest/feed/follower.ts';
import { durationText, type ProgressOutput } from './progress.ts';

/** How often the line on a terminal is drawn again, in milliseconds. */
const TERMINAL_INTERVAL_MS = 250;
/** How often a log line is written, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;
const LINE_START = '\r\x1b[K';

/** Where a follower stands. */
export interface FollowPosition {
  /** Newest durable version; absent before genesis. */
  readonly version: bigint | undefined;
  /** Newest version of the upstream, as last heard. */
  readonly upstreamVersion: bigint | undefined;
}

/** Shows the progress of one follower. Gets told more often than it shows. */
export class FollowProgress {
  readonly #counters: FollowCounters;
  readonly #until: bigint | undefined;
  readonly #logger: Logger;
  /** Set when progress goes to a terminal. */
  readonly #terminal: ProgressOutput | undefined;
  #shownMs = performance.now();
  #shown: FollowCounters;
  #isLineDrawn = false;

  constructor(
    counters: FollowCounters,
    until: bigint | undefined,
    logger: Logger,
    terminal: ProgressOutput | undefined,
  ) {
    this.#counters = counters;
    this.#until = until;
    this.#logger = logger;
    this.#terminal = terminal;
    this.#shown = { ...counters };
  }

  /** Shows where it stands when it is time to. */
  update(position: FollowPosition): void {
    const intervalMs = this.#terminal === undefined ? LOG_INTERVAL_MS : TERMINAL_INTERVAL_MS;
    const passedMs = performance.now() - this.#shownMs;
    if (passedMs < intervalMs) return;
    const rate = ((this.#counters.transactions - this.#shown.transactions) * 1000) / passedMs;
    const left = this.#left(position);
    // Nothing new and nothing to wait for: an upstream that stands still needs no lines.
    const isQuiet = rate === 0 && left === 0n;
    if (this.#terminal !== undefined) this.#draw(position, rate, left);
    else if (!isQuiet) this.#log(position, rate, left, passedMs);
    this.#shownMs = performance.now();
    this.#shown = { ...this.#counters };
  }

  /** Takes the line off a terminal, before something else is written there. */
  clear(): void {
    if (this.#isLineDrawn) this.#terminal?.write(LINE_START);
    this.#isLineDrawn = false;
  }

  #left({ version, upstreamVersion }: FollowPosition): bigint | undefined {
    const end = this.#until ?? upstreamVersion;
    if (end === undefined) return undefined;
    const left = end - (version ?? -1n);
    return left < 0n ? 0n : left;
  }

  #draw({ version }: FollowPosition, rate: number, left: bigint | undefined): void {
    const at = version === undefined ? 'before genesis' : `version ${grouped(version)}`;
    const remaining =
      left === undefined || rate === 0
        ? ''
        : `, ${grouped(left)} left, ${durationText(Number(left) / rate)}`;
    this.#terminal!.write(`${LINE_START}${at}, ${grouped(Math.round(rate))}/s${remaining}`);
    this.#isLineDrawn = true;
  }

  #log(
    { version, upstreamVersion }: FollowPosition,
    rate: number,
    left: bigint | undefined,
    passedMs: number,
  ): void {
    this.#logger.info(
      {
        version: version === undefined ? null : String(version),
        upstream_version: upstreamVersion === undefined ? null : String(upstreamVersion),
        transactions_per_second: Math.round(rate),
        remaining_seconds:
          left === undefined || rate === 0 ? null : Math.round(Number(left) / rate),
        interval_ms: Math.round(passedMs),
        ...splitOf(this.#counters, this.#shown),
      },
      'following',
    );
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

function grouped(value: bigint | number): string {
  return value.toLocaleString('en-US');
}
