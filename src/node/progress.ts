/** Progress of long work on stderr: one line that is redrawn on a terminal; elsewhere a line every few seconds. */

const TERMINAL_INTERVAL_MS = 200;
/** Interval of lines without a terminal, in milliseconds. */
export const LINE_INTERVAL_MS = 5_000;
const BAR_CHARACTERS = 24;
/** Time after which a rate can predict the remaining time, in milliseconds. */
const ESTIMATE_AFTER_MS = 2_000;
const CLEAR_LINE = '\r\x1b[K';

/** Reports progress. The text is only built when it is time to show it. */
type ShowProgress = (text: () => string) => void;

/** Runs work that shows how far it is; the line is gone when it ends, however it ends. */
export async function withProgress<T>(work: (show: ShowProgress) => Promise<T>): Promise<T> {
  const line = new ProgressLine();
  try {
    return await work((text) => line.show(text));
  } finally {
    line.clear();
  }
}

export class ProgressLine {
  readonly #isTerminal = process.stderr.isTTY;
  readonly #intervalMs = this.#isTerminal ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS;
  #shownMs = performance.now();
  #isDrawn = false;
  #text: () => string = () => '';
  #timer: NodeJS.Timeout | undefined;

  /** Shows a text as often as it is time to, until `clear`: also while the work reports nothing. */
  show(text: () => string): void {
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), this.#intervalMs).unref();
    // Timers do not run while work blocks the event loop.
    if (performance.now() - this.#shownMs >= this.#intervalMs) this.#draw();
  }

  /** Removes the line from a terminal, before something else is written there. */
  clear(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isDrawn) process.stderr.write(CLEAR_LINE);
    this.#isDrawn = false;
  }

  #draw(): void {
    this.#shownMs = performance.now();
    const text = this.#text();
    process.stderr.write(this.#isTerminal ? CLEAR_LINE + text : `${text}\n`);
    this.#isDrawn = this.#isTerminal;
  }
}

/**
 * A text that shows how much of counted work is done, with rate and remaining time.
 * @param what the plural of what is counted, e.g. `transactions`
 */
export function countText(what: string, done: number, total: number, startedMs: number): string {
  const passedMs = performance.now() - startedMs;
  const rate = done / Math.max(passedMs / 1000, 0.001);
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_CHARACTERS);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARACTERS - filled);
  const counted = `${grouped(done)} ${what}, ${grouped(Math.round(rate))}/s`;
  const isEarly = rate === 0 || passedMs < ESTIMATE_AFTER_MS;
  const left = isEarly ? '' : `, ${durationText((total - done) / rate)} left`;
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
