import type { TraceStep } from '../../src/execution/trace/trace-shape.ts';

/** The given steps and all steps below them. */
export function* stepsBelow(steps: readonly TraceStep[]): Generator<TraceStep> {
  for (const step of steps) {
    yield step;
    yield* stepsBelow(step.steps ?? []);
  }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
