/** Requests that met damage of the store: each fails alone; they are counted by column, and logged at a pace. */
import type { DamagedError } from '../../ledger/ledger-error.ts';
import { PacedWarning } from './paced-warning.ts';

export class DamageWatch {
  readonly #counts = new Map<string, number>();
  readonly #warning: PacedWarning;

  /** @param write gets the facts of one failure */
  constructor(write: (facts: object) => void) {
    this.#warning = new PacedWarning(write);
  }

  note(err: DamagedError, method: string | undefined, url: string | undefined): void {
    const { column } = err;
    this.#counts.set(column, (this.#counts.get(column) ?? 0) + 1);
    this.#warning.warn({ err, column, method, url });
  }

  /** Failed requests since the start, by column. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
