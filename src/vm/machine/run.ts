/** Runs functions (docs/spec/vm.md §4). */
import type { MaybePromise } from '../../maybe-promise.ts';
import { OPERATIONS } from '../code/operation.ts';
import type { RunLimits } from '../meter.ts';
import type { LoadedFunction } from '../program/loaded-module.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { CALL_OPERATIONS } from './call-operations.ts';
import { LARGE_RUN_BYTES, LARGE_RUNS } from './large-runs.ts';
import { Machine, type MachineParts } from './machine.ts';
import { NUMBER_OPERATIONS } from './number-operations.ts';
import type { Operation, Operations } from './operation.ts';
import { SIMPLE_OPERATIONS } from './simple-operations.ts';
import { STRUCTURE_OPERATIONS } from './structure-operations.ts';

/** Time between two turns of the event loop, in milliseconds: that of all runs of the process together. */
const SLICE_MS = 5;
/** Work between two checks of the clock, in units: operations, and what they are charged in addition. */
const BATCH = 1_024;

/** Most values on the stack of one run. */
const MAX_STACK = 1_024;

/** Runs of this process that were not over within their first slice. */
let longRuns = 0;

export function longRunCount(): number {
  return longRuns;
}

/** The limits of a view function: about two seconds of work. */
export const VIEW_LIMITS: RunLimits = {
  maxUnits: 100_000_000,
  // About 20 ms. Reading the largest value that state can have, 1 MiB, takes fewer.
  maxOperationUnits: 1_250_000,
  maxAllocatedBytes: 256 * 1024 * 1024,
  maxFrames: 1_024,
  maxReads: 10_000,
};

const IMPLEMENTATIONS: Operations<(typeof OPERATIONS)[number]> = {
  ...SIMPLE_OPERATIONS,
  ...NUMBER_OPERATIONS,
  ...STRUCTURE_OPERATIONS,
  ...CALL_OPERATIONS,
};
const BY_NUMBER: readonly Operation[] = OPERATIONS.map((name) => IMPLEMENTATIONS[name]);
const OBSERVED: readonly Operation[] = BY_NUMBER.map((operation) => (machine, operand) => {
  machine.observer!.instruction?.(machine);
  operation(machine, operand);
});

export interface Call {
  readonly function: LoadedFunction;
  readonly typeArguments: readonly VmType[];
  /** For a reference parameter, pass `new Reference([value], 0)`. */
  readonly args: readonly Value[];
}

/**
 * The results of a function: synchronously if the world answers synchronously and the run is short.
 * @throws VmError, or rejects with it; what the world fails with
 */
export function run(
  parts: Omit<MachineParts, 'limits'>,
  call: Call,
  limits: RunLimits = VIEW_LIMITS,
): MaybePromise<readonly Value[]> {
  return runIn(new Machine({ ...parts, limits }), call);
}

/** The same in a machine in which no run has failed and which accumulates the effects of its runs. */
export function runIn(machine: Machine, call: Call): MaybePromise<readonly Value[]> {
  const { function: target, typeArguments, args } = call;
  machine.beginRun();
  for (const value of args) machine.stack.push(value);
  try {
    machine.call(machine.program.callee(target, typeArguments));
  } catch (error) {
    throw withLocation(machine, error);
  }
  runSlice(machine);
  return isOver(machine) ? machine.stack : resume(machine);
}

function isOver({ frame, waiting }: Machine): boolean {
  return frame === undefined && waiting === undefined;
}

async function resume(machine: Machine): Promise<readonly Value[]> {
  let isLarge = false;
  longRuns += 1;
  try {
    while (!isOver(machine)) {
      const { waiting } = machine;
      machine.waiting = undefined;
      if (waiting === undefined) await machine.world.nextTurn();
      else await awaitLocated(machine, waiting);
      if (!isLarge && machine.meter.allocatedBytes > LARGE_RUN_BYTES) {
        await LARGE_RUNS.enter(machine.turns?.signal);
        isLarge = true;
      }
      runSlice(machine);
    }
    return machine.stack;
  } finally {
    longRuns -= 1;
    if (isLarge) LARGE_RUNS.leave();
  }
}

/** Awaits pending work and adds the current location to its errors. */
async function awaitLocated(machine: Machine, waiting: Promise<void>): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    throw withLocation(machine, error);
  }
}

/** Runs operations until it has to wait, the run is over, or others should have their turn. */
function runSlice(machine: Machine): void {
  try {
    runBatch(machine);
    if (canContinue(machine)) runBatches(machine);
  } catch (error) {
    throw withLocation(machine, error);
  }
}

/** Most runs are over before they check the clock. */
function runBatches(machine: Machine): void {
  const end = performance.now() + SLICE_MS / Math.max(1, longRuns);
  do runBatch(machine);
  while (canContinue(machine) && performance.now() < end);
}

function canContinue({ frame, waiting }: Machine): boolean {
  return frame !== undefined && waiting === undefined;
}

function runBatch(machine: Machine): void {
  const { meter, stack } = machine;
  if (machine.frame === undefined || machine.waiting !== undefined) return;
  const operations = machine.observer === undefined ? BY_NUMBER : OBSERVED;
  const most = Math.min(BATCH, meter.unitsLeft);
  if (most === 0) meter.chargeInTurns(1);
  const unitsAfterBatch = meter.unitsLeft - most;
  let done = 0;
  while (done < most) {
    const { frame } = machine;
    if (frame === undefined || machine.waiting !== undefined || meter.unitsLeft < unitsAfterBatch)
      break;
    const { code, pc } = frame;
    frame.pc = pc + 1;
    meter.beginOperation();
    machine.gas.charge(frame.costs.amounts[pc]!);
    operations[code.operations[pc]!]!(machine, code.operands[pc]!);
    if (stack.length > MAX_STACK) throw new VmError('EXECUTION_STACK_OVERFLOW');
    done += 1;
  }
  meter.chargeInTurns(done);
}

function withLocation(machine: Machine, error: unknown): unknown {
  const { location } = machine;
  const located = error instanceof VmError && location !== undefined ? error.at(location) : error;
  machine.observer?.failed?.(machine, located);
  return located;
}
