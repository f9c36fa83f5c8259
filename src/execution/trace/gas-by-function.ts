/** Gas of the functions of a recorded run, with all their callers together (docs/traces.md). */

import type { Caller, RecordedPart } from './call-tree.ts';
import { functionText } from './calls-json.ts';

interface FunctionGas {
  readonly function: string;
  calls: number;
  /** Internal gas, without that of the functions that it calls. */
  own: number;
  /** With it. What a function calls of itself counts once. */
  total: number;
}

/** The functions of some parts, that with the most gas of its own first. */
export function gasByFunction(parts: readonly RecordedPart[]): FunctionGas[] {
  const found = new Map<string, FunctionGas>();
  const running = new Set<string>();
  const visit = (caller: Caller): void => {
    for (const step of caller.all()) {
      if (step.kind !== 'call') continue;
      const name = functionText(step.callee.function);
      const one = found.get(name) ?? { function: name, calls: 0, own: 0, total: 0 };
      found.set(name, one);
      one.calls += step.count;
      one.own += step.ownGas;
      const isOutermost = !running.has(name);
      if (isOutermost) {
        one.total += step.totalGas;
        running.add(name);
      }
      visit(step);
      if (isOutermost) running.delete(name);
    }
  };
  for (const part of parts) visit(part);
  return [...found.values()].sort(
    (left, right) => right.own - left.own || (left.function < right.function ? -1 : 1),
  );
}
