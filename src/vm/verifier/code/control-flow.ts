/** Code ends, and its loops are entered at their heads and nest not too deeply (docs/spec/verifier.md §3.11). */
import type { Instruction } from '../../../move/modules/compiled.ts';
import { VmError } from '../../status/vm-error.ts';
import type { VerifierConfig } from '../model/verifier-config.ts';
import { checkLoopsOfVersion5 } from './control-flow-v5.ts';
import { endsFlow, FlowGraph } from './flow-graph.ts';

const VERSION_5 = 5;

/** @throws VmError */
export function checkControlFlow(
  code: readonly Instruction[],
  version: number,
  config: VerifierConfig,
): FlowGraph {
  const last = code.at(-1);
  if (last === undefined) throw new VmError('EMPTY_CODE_UNIT');
  if (!endsFlow(last)) throw new VmError('INVALID_FALL_THROUGH');
  if (version <= VERSION_5) checkLoopsOfVersion5(code, config);
  const graph = new FlowGraph(code);
  if (version > VERSION_5) checkLoops(graph, config);
  return graph;
}

/** A depth-first tree of the blocks; nodes are numbered as they are first reached. */
interface LoopTree {
  /** Nodes below each one: those that follow it by number. */
  readonly descendants: number[];
  /** Where edges come from that lead back to a node above, and where all others come from. */
  readonly back: number[][];
  readonly forward: number[][];
}

function loopTree({ blocks }: FlowGraph): LoopTree {
  const tree: LoopTree = { descendants: [], back: [], forward: [] };
  const nodeOf = new Map<number, number>();
  const isOpen = new Set<number>();
  const path: { readonly node: number; readonly left: number[] }[] = [];
  const enter = (block: number): number => {
    const node = nodeOf.size;
    nodeOf.set(block, node);
    isOpen.add(node);
    tree.descendants.push(0);
    tree.back.push([]);
    tree.forward.push([]);
    path.push({ node, left: [...blocks[block]!.successors] });
    return node;
  };
  enter(0);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const target = top.left.pop();
    if (target === undefined) {
      path.pop();
      isOpen.delete(top.node);
      tree.descendants[top.node] = nodeOf.size - 1 - top.node;
      continue;
    }
    const known = nodeOf.get(target);
    const edges = known !== undefined && isOpen.has(known) ? tree.back : tree.forward;
    edges[known ?? enter(target)]!.push(top.node);
  }
  return tree;
}

/** Inner loops are folded into their heads before the loops around them are looked at. */
function checkLoops(graph: FlowGraph, { maxLoopDepth }: VerifierConfig): void {
  const { descendants, back, forward } = loopTree(graph);
  const heads = descendants.map((_, node) => node);
  const depths = descendants.map(() => 0);
  const headOf = (node: number): number => {
    let head = node;
    while (heads[head] !== head) {
      heads[head] = heads[heads[head]!]!;
      head = heads[head]!;
    }
    return head;
  };
  for (let head = descendants.length - 1; head >= 0; head -= 1) {
    if (back[head]!.length === 0) continue;
    const body = new Set(back[head]!.map(headOf));
    body.delete(head);
    // A set goes on with what is added to it while it is walked through.
    for (const node of body) {
      for (const from of forward[node]!) {
        const before = headOf(from);
        const isBelow = head <= before && before <= head + descendants[head]!;
        if (!isBelow) throw new VmError('INVALID_LOOP_SPLIT');
        if (before !== head) body.add(before);
      }
    }
    let depth = depths[head]!;
    for (const node of body) {
      heads[node] = head;
      depth = Math.max(depth, depths[node]!);
    }
    depths[head] = depth + 1;
    if (depth + 1 > maxLoopDepth) throw new VmError('LOOP_MAX_DEPTH_REACHED');
  }
}
