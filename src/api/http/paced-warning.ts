/** The least time between two lines, in milliseconds. */
const INTERVAL_MS = 1_000;

/** A warning of what may fail many times in a row: a line each second at most, which says how many had none. */
export class PacedWarning {
  readonly #write: (facts: object) => void;
  #dueMs = 0;
  #unlogged = 0;

  constructor(write: (facts: object) => void) {
    this.#write = write;
  }

  warn(facts: object): void {
    const nowMs = performance.now();
    if (nowMs < this.#dueMs) {
      this.#unlogged += 1;
      return;
    }
    this.#dueMs = nowMs + INTERVAL_MS;
    this.#write({ ...facts, unlogged_failures: this.#unlogged });
    this.#unlogged = 0;
  }
}
