/** The gas schedule of a chain, as the machine charges by it (docs/spec/gas.md §1). */

/** Numbers of the chain by their names, such as `instr.add`. */
export type GasSchedule = ReadonlyMap<string, bigint>;

/** The highest version of the schedule that names nothing the machine would charge for. */
const NO_VERSION = 0;

export class GasPrices {
  /** Decides what is charged at all; 0 for a chain that has no version of it. */
  readonly featureVersion: number;
  readonly #numbers = new Map<string, number>();

  constructor(schedule: GasSchedule, featureVersion: number) {
    this.featureVersion = featureVersion;
    for (const [name, number] of schedule) this.#numbers.set(name, Number(number));
  }

  /** The number of a name; 0 where the chain has none. */
  of(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  /** The number of a name; infinite where the chain has none: of limits. */
  limit(name: string): number {
    return this.#numbers.get(name) ?? Number.POSITIVE_INFINITY;
  }
}

/** Internal gas of a gas unit. */
export function scaleOf(prices: GasPrices): number {
  return prices.of('txn.gas_unit_scaling_factor') || 1;
}

/** Nothing costs anything: what the chain runs for itself. */
export const NO_PRICES = new GasPrices(new Map(), NO_VERSION);
