/** One function, or a script's code, as the passes over code see it. */
import type {
  CompiledModule,
  CompiledScript,
  Instruction,
  SignatureToken,
} from '../../../move/modules/compiled.ts';
import type { AbilitySet } from '../../../move/types/type-tag.ts';
import type { TypeTable } from '../model/type-table.ts';
import type { FlowGraph } from './flow-graph.ts';

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
