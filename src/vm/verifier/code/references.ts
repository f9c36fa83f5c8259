/** References are used only where nothing changes behind them (docs/spec/verifier.md §3.15). */
import type { Instruction } from '../../../move/modules/compiled.ts';
import type { VerifierMeter } from '../model/verifier-meter.ts';
import { BorrowGraph } from './borrow-graph.ts';
import { analyze } from './fixpoint.ts';
import type { FunctionView } from './function-view.ts';
import { type AcquiresOf, BorrowState, type Held, ReferenceChecker } from './reference-checker.ts';
import { REFERENCE_RULES } from './reference-rules.ts';
import { effectOf } from './stack-usage.ts';

const STEP_UNITS = 10;
const STEP_UNITS_PER_LOCAL = 20;
const STEP_UNITS_PER_GRAPH_ITEM = 50;
const JOIN_UNITS = 100;
const JOIN_UNITS_PER_LOCAL = 10;
const JOIN_UNITS_PER_GRAPH_ITEM = 50;

/** @throws VmError */
export function* checkReferences(
  view: FunctionView,
  acquiresOf: AcquiresOf,
  meter: VerifierMeter,
): Generator<void> {
  const graph = new BorrowGraph();
  const locals = view.locals.map((token, local): Held => {
    if (local >= view.parameters.length || token.kind !== 'reference') return undefined;
    graph.add(local, token.mutable);
    return local;
  });
  graph.add(locals.length, true);
  const checker = new ReferenceChecker(view, acquiresOf, meter);
  yield* analyze(view, new BorrowState(locals, graph), {
    copy: (state) => state.copy(),
    execute: (state, offset) => {
      const perItem = STEP_UNITS_PER_GRAPH_ITEM * state.graph.size;
      meter.add(STEP_UNITS + STEP_UNITS_PER_LOCAL * locals.length + perItem);
      execute(checker, state, view.code[offset]!);
    },
    atEndOfBlock: (state) => {
      checker.expectEmpty();
      return state.canonical();
    },
    join: (state, other) => {
      const perItem = JOIN_UNITS_PER_GRAPH_ITEM * state.graph.size;
      meter.add(JOIN_UNITS + JOIN_UNITS_PER_LOCAL * locals.length + perItem);
      return state.joined(other);
    },
  });
}

function execute(checker: ReferenceChecker, state: BorrowState, instruction: Instruction): void {
  const rule = REFERENCE_RULES[instruction.opcode];
  if (rule !== undefined) {
    rule(checker, state, instruction);
    return;
  }
  const [taken, given] = effectOf(checker.view, instruction);
  checker.popValues(taken);
  for (let left = given; left > 0; left -= 1) checker.push(undefined);
}
