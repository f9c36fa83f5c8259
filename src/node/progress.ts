/** Progress of long work: one line with rate and remaining time on a terminal, a line every few seconds otherwise. */

/** How often the line on a terminal is drawn again, in milliseconds. */
const TERMINAL_INTERVAL_MS = 200;
/** How often a line is written where there is no terminal, in milliseconds. */
const LINE_INTERVAL_MS = 5_000;
/** Width of the bar in characters. */
const BAR_CHARACTERS = 24;

/** Where progress is shown; stderr is one. */
export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Shows how far some counted work is. */
export class Progress {
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #output: ProgressOutput;
  readonly #startedMs = performance.now();
  #shownMs = Number.NEGATIVE_INFINITY;

  /**
   * @param what the plural of what is counted, e.g. `transactions`
   * @param total how many there will be, if that is known
   */
  constructor(what: string, total: number | undefined, output: ProgressOutput = process.stderr) {
    this.#what = what;
    this.#total = total;
    this.#output = output;
  }

  /** Says that `done` are done; shown when it is time. */
  update(done: number): void {
    const nowMs = performance.now();
    const intervalMs = this.#output.isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS;
    if (!this.#output.isTTY && this.#shownMs === Number.NEGATIVE_INFINITY) {
      this.#shownMs = this.#startedMs;
    }
    if (nowMs - this.#shownMs < intervalMs) return;
    this.#shownMs = nowMs;
    const line = this.#line(done, nowMs);
    this.#output.write(this.#output.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  }

  /** Takes the line off a terminal; the caller says what was done. */
  finish(): void {
    if (this.#output.isTTY) this.#output.write('\r\x1b[K');
  }

  #line(done: number, nowMs: number): string {
    const seconds = (nowMs - this.#startedMs) / 1000;
    const rate = done / Math.max(seconds, 0.001);
    const counted = `${done.toLocaleString('en-US')} ${this.#what}, ${Math.round(rate).toLocaleString('en-US')}/s`;
    if (this.#total === undefined) return counted;
    const share = Math.min(1, done / this.#total);
    const filled = Math.round(share * BAR_CHARACTERS);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
    const left = rate === 0 ? '' : `, ${durationText((this.#total - done) / rate)} left`;
    return `${bar} ${Math.floor(share * 100)}% ${counted}${left}`;
  }
}

/** `45 s`, `12 min 5 s`, `3 h 2 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
