/** Counts the work of the verifier; its limit decides what is refused, so it counts as the reference does. */
import { VmError } from '../../status/vm-error.ts';

export class VerifierMeter {
  readonly #max: number;
  #ofFunction = 0;
  #ofModule = 0;

  constructor(max: number) {
    this.#max = max;
  }

  enterFunction(): void {
    this.#ofFunction = 0;
  }

  /** @throws VmError CONSTRAINT_NOT_SATISFIED above the limit */
  add(units: number): void {
    this.#ofFunction = this.#sum(this.#ofFunction, units);
  }

  /** `count` items, each at a cost 1.5 times that of the one before, in single precision. @throws VmError */
  addGrowing(units: number, count: number): void {
    let cost = units;
    for (let left = count; left > 0; left -= 1) {
      this.add(cost);
      cost = Math.trunc(Math.fround(1.5 * Math.fround(cost)));
    }
  }

  /** Adds the function's work to the module's. @throws VmError */
  leaveFunction(): void {
    this.#ofModule = this.#sum(this.#ofModule, Math.fround(this.#ofFunction));
  }

  #sum(units: number, added: number): number {
    const sum = units + added;
    if (sum > this.#max) throw new VmError('CONSTRAINT_NOT_SATISFIED');
    return sum;
  }
}
