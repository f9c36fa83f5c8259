/** Gas that transactions on a local network use, by called function (docs/traces.md). */
import type { TransactionOutput } from '../execution/execute.ts';
import { callOf } from '../execution/user-call.ts';
import { ViewError } from '../execution/view-error.ts';
import type { RawTransaction, SignedTransaction } from '../move/transactions/user-transaction.ts';
import { formatAddress } from '../move/types/address.ts';

/** Figures are gas units, including storage. */
export interface GasReportRow {
  /** The entry function; `script` for all scripts. */
  readonly function: string;
  /** Transactions that succeeded; the gas figures are theirs. */
  readonly calls: number;
  readonly failed: number;
  /** Absent, like the next ones, if none succeeded. */
  readonly min?: number;
  readonly median?: number;
  readonly max?: number;
  /** Rounded. */
  readonly average?: number;
}

/** Maximum number of functions in a report; further ones are not counted. */
export const MAX_REPORTED_FUNCTIONS = 10_000;

interface Counted {
  failed: number;
  /** Number of successful transactions, by gas used. */
  readonly byGas: Map<number, number>;
}

export class GasReport {
  readonly #functions = new Map<string, Counted>();

  record({ raw }: SignedTransaction, { status, gasUsed }: TransactionOutput): void {
    const name = functionOf(raw);
    let counted = this.#functions.get(name);
    if (counted === undefined) {
      if (this.#functions.size >= MAX_REPORTED_FUNCTIONS) return;
      counted = { failed: 0, byGas: new Map() };
      this.#functions.set(name, counted);
    }
    const gas = Number(gasUsed);
    if (status.kind !== 'success') counted.failed += 1;
    else counted.byGas.set(gas, (counted.byGas.get(gas) ?? 0) + 1);
  }

  /** Sorted by function name. */
  rows(): GasReportRow[] {
    return [...this.#functions]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, { failed, byGas }]) => ({ function: name, ...statisticsOf(byGas), failed }));
  }
}

/** The entry function that a transaction calls; `script` for all scripts. */
export function functionOf(raw: RawTransaction): string {
  try {
    const call = callOf(raw);
    if (call.kind === 'script') return 'script';
    const called = call.kind === 'multisig' ? call.payload : call;
    if (called === undefined) return 'multisig proposal';
    const { module, function: name } = called;
    return `${formatAddress(module.address)}::${module.name}::${name}`;
  } catch (error) {
    if (!(error instanceof ViewError)) throw error;
    return 'other';
  }
}

function statisticsOf(byGas: ReadonlyMap<number, number>) {
  const sorted = [...byGas].sort(([left], [right]) => left - right);
  const calls = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (calls === 0) return { calls };
  const total = sorted.reduce((sum, [gas, count]) => sum + gas * count, 0);
  /** The gas of the transaction at an index, in ascending order of gas. */
  const at = (place: number): number => {
    let left = place;
    for (const [gas, count] of sorted) {
      if (left < count) return gas;
      left -= count;
    }
    throw new RangeError('no such transaction');
  };
  const median = (at(Math.floor((calls - 1) / 2)) + at(Math.floor(calls / 2))) / 2;
  return {
    ...{ calls, min: at(0), median, max: at(calls - 1) },
    average: Math.round(total / calls),
  };
}
