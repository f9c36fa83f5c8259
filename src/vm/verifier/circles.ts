/**
 * Checks that no struct contains itself and no generic function calls itself with ever larger types
 * (docs/spec/verifier.md §3.8, §3.9).
 */
import type { CompiledModule, SignatureToken } from '../../move/modules/compiled.ts';
import { VmError } from '../status/status.ts';
import { allFields, flagsByOpcode, functionSubject } from './model/instructions.ts';
import { partsOf, visitTypes } from './model/type-table.ts';

/**
 * The strongly connected component of each node: nodes have the same number if each can be reached from the other.
 * Iterative: graphs come from untrusted modules.
 */
export function components(nodeCount: number, edges: readonly (readonly number[])[]): number[] {
  const component = new Array<number>(nodeCount).fill(-1);
  const index = new Array<number>(nodeCount).fill(-1);
  const low = new Array<number>(nodeCount).fill(0);
  const open: number[] = [];
  let visited = 0;
  let found = 0;
  const enter = (node: number) => {
    index[node] = visited;
    low[node] = visited;
    visited += 1;
    open.push(node);
    return { node, next: 0 };
  };
  const leave = (node: number) => {
    if (low[node] !== index[node]) return;
    for (let member = open.pop()!; ; member = open.pop()!) {
      component[member] = found;
      if (member === node) break;
    }
    found += 1;
  };
  for (let root = 0; root < nodeCount; root += 1) {
    if (index[root] !== -1) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const top = path.at(-1)!;
      const target = edges[top.node]?.[top.next];
      top.next += 1;
      if (target === undefined) {
        path.pop();
        leave(top.node);
        const parent = path.at(-1);
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node]!, low[top.node]!);
      } else if (index[target] === -1) path.push(enter(target));
      else if (component[target] === -1) {
        low[top.node] = Math.min(low[top.node]!, index[target]!);
      }
    }
  }
  return component;
}

/** @throws VmError RECURSIVE_STRUCT_DEFINITION */
export function checkStructRecursion({ structDefinitions }: CompiledModule): void {
  const definitionOf = new Map(structDefinitions.map(({ handle }, place) => [handle, place]));
  const contained = structDefinitions.map((definition) => {
    const found = new Set<number>();
    for (const { type } of allFields(definition)) {
      checkReferences(type, false);
      visitTypes(type, (token) => {
        const place = token.kind === 'struct' ? definitionOf.get(token.handle) : undefined;
        if (place !== undefined) found.add(place);
      });
    }
    return [...found];
  });
  const component = components(structDefinitions.length, contained);
  // Contained structs get lower component numbers than their containers, so edges lead down except in a cycle.
  contained.forEach((targets, place) => {
    if (targets.some((target) => component[target] === component[place])) {
      throw new VmError('RECURSIVE_STRUCT_DEFINITION');
    }
  });
}

/** References may only be arguments and results of functions, which older signature rules do not enforce. */
function checkReferences(token: SignatureToken, isAllowed: boolean): void {
  const isReference = token.kind === 'reference';
  if (isReference && !isAllowed) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
  for (const part of partsOf(token)) checkReferences(part, token.kind === 'function');
}

const INSTANTIATES = flagsByOpcode(['CallGeneric', 'PackClosureGeneric']);

/**
 * Nodes are type parameters by function, and type arguments by caller and signature. An edge leads from a type
 * parameter to the type arguments that contain it, and from there to the type parameters of the callees that get them.
 * The nodes in between bound the number of edges.
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
