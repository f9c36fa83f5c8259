/** Warnings about failures that many requests share. */
import type { DamagedError } from '../state/ledger-error.ts';

/** The minimum time between two lines, in milliseconds. */
const INTERVAL_MS = 1_000;

/** A warning for failures that repeat: at most one line per second, which counts the failures without a line. */
export class RateLimitedWarning {
  readonly #write: (facts: object) => void;
  #dueMs = 0;
  #suppressedCount = 0;

  constructor(write: (facts: object) => void) {
    this.#write = write;
  }

  warn(facts: object): void {
    const nowMs = performance.now();
    if (nowMs < this.#dueMs) {
      this.#suppressedCount += 1;
      return;
    }
    this.#dueMs = nowMs + INTERVAL_MS;
    this.#write({ ...facts, unlogged_failures: this.#suppressedCount });
    this.#suppressedCount = 0;
  }
}

/** Counts the requests that failed on damage of the store, by column, and logs them at a limited rate. */
export class DamageWatch {
  readonly #counts = new Map<string, number>();
  readonly #warning: RateLimitedWarning;

  /** @param write gets the facts of one failure */
  constructor(write: (facts: object) => void) {
    this.#warning = new RateLimitedWarning(write);
  }

  record(err: DamagedError, method: string | undefined, url: string | undefined): void {
    const { column } = err;
    this.#counts.set(column, (this.#counts.get(column) ?? 0) + 1);
    this.#warning.warn({ err, column, method, url });
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
