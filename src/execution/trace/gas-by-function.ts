/** Gas of the functions of a recorded run, with all their callers together (docs/traces.md). */
import type { YieldBudget } from '../../yield-budget.ts';
import type { RecordedPart, Step } from './call-tree.ts';
import { functionText, STEP_WORK } from './calls-json.ts';

interface FunctionGas {
  readonly function: string;
  calls: number;
  /** Internal gas, without that of the functions that it calls. */
  own: number;
  /** Including the functions that it calls. Recursive calls count once. */
  total: number;
}

/** A caller whose steps are being visited. */
interface OpenCaller {
  readonly steps: readonly Step[];
  /** Set if no other open caller is the same function. */
  readonly outermost?: string | undefined;
  next: number;
}

/** The functions of some parts, most gas of their own first. */
export async function gasByFunction(
  parts: readonly RecordedPart[],
  pace: YieldBudget,
): Promise<FunctionGas[]> {
  const found = new Map<string, FunctionGas>();
  const running = new Set<string>();
  const open: OpenCaller[] = parts.map((part) => ({ steps: part.all(), next: 0 }));
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (pace.mustYield(STEP_WORK)) await pace.nextTurn();
    const step = top.steps[top.next];
    top.next += 1;
    if (step === undefined) {
      open.pop();
      if (top.outermost !== undefined) running.delete(top.outermost);
    } else if (step.kind === 'call') {
      const name = functionText(step.callee.function);
      const one = found.get(name) ?? { function: name, calls: 0, own: 0, total: 0 };
      found.set(name, one);
      one.calls += step.count;
      one.own += step.ownGas;
      const outermost = running.has(name) ? undefined : name;
      if (outermost !== undefined) {
        one.total += step.totalGas;
        running.add(outermost);
      }
      open.push({ steps: step.all(), outermost, next: 0 });
    }
  }
  return [...found.values()].sort(
    (left, right) => right.own - left.own || (left.function < right.function ? -1 : 1),
  );
}
