/** The view of a function for passes over code, and the analysis of abstract states over its blocks. */
import type {
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../../move/modules/compiled.ts';
import type { AbilitySet } from '../../../move/types/type-tag.ts';
import type { TypeTable } from '../model/type-table.ts';
import type { FlowGraph } from './control-flow.ts';

export interface FunctionView {
  readonly binary: CompiledModule | CompiledScript;
  readonly types: TypeTable;
  readonly code: readonly Instruction[];
  readonly parameters: readonly SignatureToken[];
  /** Parameters included. */
  readonly locals: readonly SignatureToken[];
  readonly results: readonly SignatureToken[];
  readonly typeParameters: readonly AbilitySet[];
  readonly graph: FlowGraph;
}

interface Analysis<State> {
  copy(state: State): State;
  /** @throws VmError for an instruction that is not allowed in this state */
  execute(state: State, offset: number): void;
  /** The form of the state that is joined with others. */
  atEndOfBlock?(state: State): State;
  /** A state that covers both, or the first one itself if it does. Changes neither. */
  join(state: State, other: State): State;
}

/**
 * Runs an abstract state through the blocks of a function until nothing changes. It yields after each block, so that a
 * long analysis can give others their turn.
 */
export function* analyze<State>(
  { graph }: FunctionView,
  initial: State,
  analysis: Analysis<State>,
): Generator<void> {
  const { blocks, order, position } = graph;
  const states: (State | undefined)[] = new Array(blocks.length).fill(undefined);
  states[0] = initial;
  for (let at = 0; at < order.length; ) {
    const block = order[at]!;
    const { start, end, successors } = blocks[block]!;
    let state = analysis.copy(states[block]!);
    for (let offset = start; offset <= end; offset += 1) analysis.execute(state, offset);
    state = analysis.atEndOfBlock?.(state) ?? state;
    at += 1;
    for (const successor of successors) {
      const before = states[successor];
      const after = before === undefined ? state : analysis.join(before, state);
      states[successor] = after;
      const isChanged = before !== undefined && after !== before;
      if (isChanged && graph.isBackEdge(block, successor)) {
        at = Math.min(at, position.get(successor)!);
      }
    }
    yield;
  }
}
