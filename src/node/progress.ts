/** Progress of long work: one line that is redrawn on a terminal; elsewhere a line every few seconds. */

/** How often the line on a terminal is redrawn, in milliseconds. */
const TERMINAL_INTERVAL_MS = 200;
/** Interval of log lines without a terminal, in milliseconds. */
const LINE_INTERVAL_MS = 5_000;
const BAR_CHARACTERS = 24;
/** Moves to the start of the line on a terminal and clears it. */
const CLEAR_LINE = '\r\x1b[K';

/** A line on stderr that shows how far some work is. */
export class ProgressLine {
  #shownMs = performance.now();
  #isDrawn = false;

  /** Shows a text when it is time to. */
  update(text: () => string): void {
    const { isTTY } = process.stderr;
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < (isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS)) return;
    this.#shownMs = nowMs;
    process.stderr.write(isTTY ? CLEAR_LINE + text() : `${text()}\n`);
    this.#isDrawn = isTTY;
  }

  /** Removes the line from a terminal, before something else is written there. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write(CLEAR_LINE);
    this.#isDrawn = false;
  }
}

/**
 * A text that shows how much of counted work is done, with rate and remaining time.
 * @param what the plural of what is counted, e.g. `transactions`
 */
export function countText(what: string, done: number, total: number, startedMs: number): string {
  const rate = done / Math.max((performance.now() - startedMs) / 1000, 0.001);
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_CHARACTERS);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
  const counted = `${grouped(done)} ${what}, ${grouped(Math.round(rate))}/s`;
  const left = rate === 0 ? '' : `, ${durationText((total - done) / rate)} left`;
  return `${bar} ${Math.floor(share * 100)}% ${counted}${left}`;
}

/** `12,345`. */
export function grouped(value: bigint | number): string {
  return value.toLocaleString('en-US');
}

/** `45 s`, `12 min 5 s`, `3 h 2 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
