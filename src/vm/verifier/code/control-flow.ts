/** Checks that code ends, and that loops are entered at their heads and not too deep (docs/spec/verifier.md §3.11). */
import type { Instruction } from '../../../move/modules/compiled.ts';
import { VmError } from '../../status/status.ts';
import { flagsByOpcode } from '../model/instructions.ts';
import type { VerifierConfig } from '../model/verifier-config.ts';

export interface Block {
  readonly start: number;
  /** Offset of its last instruction. */
  readonly end: number;
  /** Indexes into the list of blocks, ascending. */
  readonly successors: readonly number[];
}

const TERMINATORS = flagsByOpcode(['Ret', 'Abort', 'AbortMsg', 'Branch']);
const JUMPS = flagsByOpcode(['Branch', 'BrTrue', 'BrFalse']);

/** Whether code never continues with the next instruction. */
export function endsFlow({ opcode }: Instruction): boolean {
  return TERMINATORS[opcode]!;
}

function jumpTarget({ opcode, operand }: Instruction): number | undefined {
  return JUMPS[opcode] ? (operand as number) : undefined;
}

export class FlowGraph {
  /** Sorted by offset, unreachable ones included; the first one is the entry. */
  readonly blocks: readonly Block[];
  /** Reachable blocks, each after all its predecessors except those that loop back. */
  readonly order: readonly number[];
  /** Index of each reachable block in `order`. */
  readonly position: ReadonlyMap<number, number>;
  readonly #backEdges: ReadonlySet<number>;

  /** @param code with targets in bounds and an instruction at the end that ends the flow */
  constructor(code: readonly Instruction[]) {
    this.blocks = blocksOf(code);
    const { order, backEdges } = explore(this.blocks);
    this.order = order;
    this.position = new Map(order.map((block, position) => [block, position]));
    this.#backEdges = backEdges;
  }

  isBackEdge(from: number, to: number): boolean {
    return this.#backEdges.has(edgeKey(this.blocks, from, to));
  }
}

function edgeKey(blocks: readonly Block[], from: number, to: number): number {
  return from * blocks.length + to;
}

/** 1 for each offset at which a block begins, and for the end. */
export function blockStarts(code: readonly Instruction[]): Uint8Array {
  const isStart = new Uint8Array(code.length + 1);
  isStart[0] = 1;
  code.forEach((instruction, offset) => {
    const target = jumpTarget(instruction);
    if (target !== undefined) isStart[target] = 1;
    if (target !== undefined || endsFlow(instruction)) isStart[offset + 1] = 1;
  });
  return isStart;
}

function blocksOf(code: readonly Instruction[]): Block[] {
  const isStart = blockStarts(code);
  const starts: number[] = [];
  const placeOf = new Int32Array(code.length);
  for (let offset = 0; offset < code.length; offset += 1) {
    if (isStart[offset] === 1) placeOf[offset] = starts.push(offset) - 1;
  }
  return starts.map((start, place) => {
    const end = (starts[place + 1] ?? code.length) - 1;
    const target = jumpTarget(code[end]!);
    const jump = target === undefined ? -1 : placeOf[target]!;
    const next = endsFlow(code[end]!) ? -1 : place + 1;
    const successors = jump < next ? [jump, next] : [next, jump];
    return {
      start,
      end,
      successors: successors.filter((to, at) => to >= 0 && to !== successors[at - 1]),
    };
  });
}

/** Depth-first search: the reverse postorder of blocks, and the edges to unfinished blocks. */
function explore(blocks: readonly Block[]): { order: number[]; backEdges: ReadonlySet<number> } {
  const isDone = new Map<number, boolean>();
  const backEdges = new Set<number>();
  const order: number[] = [];
  const stack = [0];
  for (let block = stack.pop(); block !== undefined; block = stack.pop()) {
    const state = isDone.get(block);
    if (state === false) {
      order.push(block);
      isDone.set(block, true);
    }
    if (state !== undefined) continue;
    isDone.set(block, false);
    stack.push(block);
    for (const successor of blocks[block]!.successors) {
      const found = isDone.get(successor);
      if (found === undefined) stack.push(successor);
      else if (!found) backEdges.add(edgeKey(blocks, block, successor));
    }
  }
  return { order: order.reverse(), backEdges };
}

interface Loop {
  readonly head: number;
  /** Offset of the last jump back to its head. */
  readonly last: number;
}

/**
 * Checks loops of code up to version 5, by the order of instructions: a loop lies between a target of backward jumps
 * and the last of these jumps (docs/spec/verifier.md §3.11).
 * @throws VmError INVALID_LOOP_CONTINUE, INVALID_LOOP_BREAK, INVALID_LOOP_SPLIT, LOOP_MAX_DEPTH_REACHED
 */
function checkLoopsOfVersion5(
  code: readonly Instruction[],
  { maxLoopDepth }: VerifierConfig,
): void {
  const lastOf = new Map<number, number>();
  code.forEach((instruction, offset) => {
    const target = jumpTarget(instruction);
    if (target !== undefined && target <= offset) lastOf.set(target, offset);
  });
  const depths = depthsOf(code.length, lastOf);
  const jumps = jumpsWithin(code, lastOf);
  for (const { from, to, loop } of jumps) {
    if (to > from) continue;
    if (loop === undefined) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
    if (to !== loop.head) throw new VmError('INVALID_LOOP_CONTINUE');
  }
  for (const { from, to, loop } of jumps) {
    if (to > from && loop !== undefined && to > loop.last + 1) {
      throw new VmError('INVALID_LOOP_BREAK');
    }
  }
  for (const { from, to, loop } of jumps) {
    if (to <= from || (loop !== undefined && to > loop.last)) continue;
    const after = depths[to]! - (lastOf.has(to) ? 1 : 0);
    if (depths[from] !== after) throw new VmError('INVALID_LOOP_SPLIT');
  }
  if (depths.some((depth) => depth > maxLoopDepth)) throw new VmError('LOOP_MAX_DEPTH_REACHED');
}

/** How many loops each instruction is in. */
function depthsOf(length: number, lastOf: ReadonlyMap<number, number>): number[] {
  const ends = new Set(lastOf.values());
  let depth = 0;
  return Array.from({ length }, (_, offset) => {
    if (lastOf.has(offset)) depth += 1;
    const here = depth;
    if (ends.has(offset)) depth -= 1;
    return here;
  });
}

interface Jump {
  readonly from: number;
  readonly to: number;
  readonly loop: Loop | undefined;
}

/**
 * Jumps with the loops around them. A backward jump that is not to the innermost loop does not end it, which leaves
 * later jumps with a wrong loop; but that jump itself is refused first.
 */
function jumpsWithin(code: readonly Instruction[], lastOf: ReadonlyMap<number, number>): Jump[] {
  const loops: Loop[] = [];
  const jumps: Jump[] = [];
  code.forEach((instruction, from) => {
    const last = lastOf.get(from);
    if (last !== undefined) loops.push({ head: from, last });
    const to = jumpTarget(instruction);
    if (to === undefined) return;
    const loop = loops.at(-1);
    jumps.push({ from, to, loop });
    if (to <= from && loop?.last === from) loops.pop();
  });
  return jumps;
}

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
  /** Number of nodes below each one; they follow it by number. */
  readonly descendants: number[];
  /** Sources of edges that lead back to a node above, and of all other edges. */
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

/** Inner loops are collapsed into their heads before the loops around them are checked. */
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
    // Iterating over a set includes what is added meanwhile.
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
