/** Gas of two traces by function (docs/traces.md). */
import type { Trace } from './trace-shape.ts';

export interface ComparedFunction {
  readonly function: string;
  /** Calls, and internal gas without that of other functions, in the first and the second. */
  readonly calls: readonly [number, number];
  readonly own: readonly [number, number];
}

/** Functions that differ, those with the largest difference first. */
export function comparedGas(first: Trace, second: Trace): ComparedFunction[] {
  const byName = ({ functions }: Trace) => new Map(functions.map((one) => [one.function, one]));
  const [before, after] = [byName(first), byName(second)];
  const names = new Set([...before.keys(), ...after.keys()]);
  const compared = [...names].map((name): ComparedFunction => {
    const [one, other] = [before.get(name), after.get(name)];
    return {
      function: name,
      calls: [one?.calls ?? 0, other?.calls ?? 0],
      own: [one?.own ?? 0, other?.own ?? 0],
    };
  });
  const difference = ({ own }: ComparedFunction) => Math.abs(own[1] - own[0]);
  return compared
    .filter((one) => difference(one) > 0 || one.calls[0] !== one.calls[1])
    .sort((left, right) => difference(right) - difference(left));
}
