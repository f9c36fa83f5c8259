/** Blocks of code without branches in between, and the order in which the analyses visit them. */
import type { Instruction } from '../../../move/modules/compiled.ts';
import { isOneOf } from '../model/by-opcode.ts';

export interface Block {
  readonly start: number;
  /** Offset of its last instruction. */
  readonly end: number;
  /** Places in the list of blocks, ascending. */
  readonly successors: readonly number[];
}

const NEVER_GOES_ON = isOneOf(['Ret', 'Abort', 'AbortMsg', 'Branch']);
const JUMPS = isOneOf(['Branch', 'BrTrue', 'BrFalse']);

/** Whether code never goes on to the next instruction. */
export function endsFlow({ opcode }: Instruction): boolean {
  return NEVER_GOES_ON[opcode]!;
}

export function jumpTarget({ opcode, operand }: Instruction): number | undefined {
  return JUMPS[opcode] ? (operand as number) : undefined;
}

export class FlowGraph {
  /** By offset, unreachable ones included; the first one is the entry. */
  readonly blocks: readonly Block[];
  /** Reachable blocks, each after all that lead to it but those that loop back. */
  readonly order: readonly number[];
  /** Place of each reachable block in `order`. */
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

/** 1 for each offset at which a block begins, and behind the last one. */
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

/** Depth-first: the reverse of the order in which blocks are left, and the edges to blocks not left yet. */
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
