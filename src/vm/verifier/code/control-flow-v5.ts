/**
 * Loops of code up to version 5, by the order of instructions: a loop is what lies between a target of jumps back and
 * the last of these jumps (docs/spec/verifier.md §3.11).
 */
import type { Instruction } from '../../../move/modules/compiled.ts';
import { VmError } from '../../status/vm-error.ts';
import type { VerifierConfig } from '../model/verifier-config.ts';
import { jumpTarget } from './flow-graph.ts';

interface Loop {
  readonly head: number;
  /** Offset of the last jump back to its head. */
  readonly last: number;
}

/** @throws VmError INVALID_LOOP_CONTINUE, INVALID_LOOP_BREAK, INVALID_LOOP_SPLIT, LOOP_MAX_DEPTH_REACHED */
export function checkLoopsOfVersion5(
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
 * Jumps with the loops around them. A jump back that is not to the innermost loop does not end it, which leaves
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
