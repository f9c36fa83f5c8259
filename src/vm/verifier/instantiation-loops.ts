/** No generic function calls itself, in a circle, with ever larger types (docs/spec/verifier.md §3.9). */
import type { CompiledModule, SignatureToken } from '../../move/modules/compiled.ts';
import { VmError } from '../status/vm-error.ts';
import { components } from './directed-graph.ts';
import { isOneOf } from './model/by-opcode.ts';
import { functionSubject } from './model/subject.ts';
import { visitTypes } from './model/tokens.ts';

const INSTANTIATES = isOneOf(['CallGeneric', 'PackClosureGeneric']);

/**
 * Type parameters by function, and type arguments by caller and signature: an edge leads from a type parameter to the
 * type arguments that it is in, and from there to the type parameters of the callees that get them. The nodes in
 * between bound the number of edges.
 */
class InstantiationGraph {
  readonly edges: number[][] = [];
  /** Edges into type arguments that are larger than the type parameter. */
  readonly growing: (readonly [from: number, to: number])[] = [];
  readonly #nodes = new Map<string, number>();

  #node(key: string): number {
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = this.edges.push([]) - 1;
      this.#nodes.set(key, node);
    }
    return node;
  }

  addArguments(caller: number, signature: number, types: readonly SignatureToken[]): void {
    types.forEach((type, place) => {
      const used = new Set<number>();
      visitTypes(type, (token) => {
        if (token.kind === 'typeParameter') used.add(token.index);
      });
      const to = this.#node(`${caller} ${signature} ${place}`);
      for (const typeParameter of used) {
        const from = this.#node(`${caller} ${typeParameter}`);
        this.edges[from]!.push(to);
        if (type.kind !== 'typeParameter') this.growing.push([from, to]);
      }
    });
  }

  addCall(caller: number, signature: number, callee: number, count: number): void {
    for (let place = 0; place < count; place += 1) {
      const from = this.#node(`${caller} ${signature} ${place}`);
      this.edges[from]!.push(this.#node(`${callee} ${place}`));
    }
  }
}

/** @throws VmError LOOP_IN_INSTANTIATION_GRAPH */
export function checkInstantiationLoops(module: CompiledModule): void {
  const { functionDefinitions, signatures } = module;
  const definitionOf = new Map(functionDefinitions.map(({ handle }, place) => [handle, place]));
  const graph = new InstantiationGraph();
  functionDefinitions.forEach(({ code }, caller) => {
    const seen = new Set<unknown>();
    const seenSignatures = new Set<number>();
    for (const instruction of code?.code ?? []) {
      if (!INSTANTIATES[instruction.opcode] || seen.has(instruction.operand)) continue;
      seen.add(instruction.operand);
      const { handleIndex, signature = 0 } = functionSubject(module, instruction);
      const callee = definitionOf.get(handleIndex);
      if (callee === undefined) continue;
      const types = signatures[signature]!;
      if (!seenSignatures.has(signature)) graph.addArguments(caller, signature, types);
      seenSignatures.add(signature);
      graph.addCall(caller, signature, callee, types.length);
    }
  });
  const component = components(graph.edges.length, graph.edges);
  if (graph.growing.some(([from, to]) => component[from] === component[to])) {
    throw new VmError('LOOP_IN_INSTANTIATION_GRAPH');
  }
}
