/**
 * Records runs call by call. The first calls are recorded with their values. Above the limits, calls of the same
 * function by the same caller share one entry, so that memory is bounded however long a run is.
 */
import type { Instruction } from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import type { ContractEvent } from '../../move/transactions/event.ts';
import type { Address } from '../../move/types/address.ts';
import { GasMeter, NO_PRICES } from '../../vm/gas/gas-meter.ts';
import { Meter } from '../../vm/meter.ts';
import type {
  ObservedItem,
  ObservedResource,
  ObservedRun,
  RunObserver,
} from '../../vm/observer.ts';
import type { Callee, LoadedFunction } from '../../vm/program/loaded-module.ts';
import type { Program } from '../../vm/program/program.ts';
import type { VmType } from '../../vm/program/vm-type.ts';
import { VmError } from '../../vm/status/status.ts';
import { copyValue, Reference, type Value } from '../../vm/value.ts';
import {
  type Access,
  type Caller,
  type InstructionCount,
  RecordedCall,
  RecordedPart,
  type RecordedValue,
  type Step,
  type TableTypes,
} from './call-tree.ts';

interface TraceLimits {
  /** Calls, accesses to state and events that have an entry of their own. */
  readonly maxSteps: number;
  /** Additional entries that each stand for several calls. */
  readonly maxMerged: number;
  /** Memory of all values, in bytes. */
  readonly maxValueBytes: number;
  /** Elements of one value; 64 bytes of a vector count as one. */
  readonly maxValueUnits: number;
}

export const TRACE_LIMITS: TraceLimits = {
  maxSteps: 100_000,
  maxMerged: 10_000,
  maxValueBytes: 16 * 1024 * 1024,
  maxValueUnits: 1_024,
};

/** Kinds of gas besides opcodes: natives, and what is charged outside of calls. */
const NATIVE = 255;
const OUTSIDE = 256;

/** Instructions and natives that may change the value at a place. */
const MUTATING = new Set([
  ...['MutBorrowGlobal', 'MutBorrowGlobalGeneric', 'MoveFrom', 'MoveFromGeneric'],
  ...['MoveTo', 'MoveToGeneric', 'add_box', 'borrow_box_mut', 'remove_box'],
]);
/** Those that only check whether a value exists. */
const EXISTENCE_CHECKS = new Set(['Exists', 'ExistsGeneric', 'exists_at', 'contains_box']);

const NO_GAS = new GasMeter(NO_PRICES, 0);

/** An access that may change the value at a place. */
interface OpenAccess {
  readonly access: Access;
  readonly current: () => Value;
}

export class CallRecorder implements RunObserver {
  readonly parts: RecordedPart[] = [];
  /** Steps without an entry, and values that were not copied. */
  readonly omitted = { steps: 0, values: 0 };
  readonly tables = new Map<Address, TableTypes>();
  readonly #meter: Meter;
  readonly #counts = new Float64Array(OUTSIDE + 1);
  readonly #gasOf = new Float64Array(OUTSIDE + 1);
  readonly #open = new Map<readonly Value[], OpenAccess>();
  #stepsLeft: number;
  #mergedLeft: number;
  #gas = NO_GAS;
  #spent = 0;
  #charged = NO_GAS;
  #kind = OUTSIDE;
  /** The part, then the running functions that have an entry. */
  #stack: Caller[] = [];
  /** Whether the running code was recorded before and must not be recorded again. */
  #isRepeated = false;
  /** Number of running functions above them without an entry. */
  #hidden = 0;
  #running: LoadedFunction | undefined;
  #code: readonly Instruction[] = [];

  constructor({ maxSteps, maxMerged, maxValueBytes, maxValueUnits } = TRACE_LIMITS) {
    this.#stepsLeft = maxSteps;
    this.#mergedLeft = maxMerged;
    this.#meter = new Meter({
      maxUnits: Number.POSITIVE_INFINITY,
      maxOperationUnits: maxValueUnits,
      maxAllocatedBytes: maxValueBytes,
      ...{ maxFrames: 0, maxReads: 0 },
    });
  }

  /** Gas used by all parts together. */
  get charged(): GasMeter {
    return this.#charged;
  }

  /** Gas by kind of instruction, the most first. */
  instructions(): InstructionCount[] {
    const found: InstructionCount[] = [];
    for (let kind = 0; kind < OUTSIDE; kind += 1) {
      const [count, gas] = [this.#counts[kind]!, this.#gasOf[kind]!];
      if (count > 0) found.push({ name: nameOf(kind), count, gas });
    }
    return found.sort((left, right) => right.gas - left.gas || right.count - left.count);
  }

  /** A part that continues keeps its entry. @param name if undefined, nothing is recorded */
  begin(name: string | undefined, gas: GasMeter): void {
    this.end();
    this.#isRepeated = name === undefined;
    let part = this.parts.find((one) => one.name === name && one.failure === undefined);
    if (part === undefined) {
      part = new RecordedPart(name ?? '');
      if (name !== undefined) this.parts.push(part);
    }
    this.#stack = [part];
    this.#attributeGas(gas);
  }

  /** Records the last charges. */
  end(): void {
    this.#kind = OUTSIDE;
    this.#attributeGas(this.#gas);
    for (const open of this.#open.values()) this.#settle(open);
    this.#open.clear();
    this.#hidden = 0;
  }

  instruction({ gas, frame }: ObservedRun): void {
    if (this.#isRepeated) return;
    const { function: running, costs, pc } = frame!;
    if (running !== this.#running) {
      const { compiled } = running.module;
      this.#running = running;
      this.#code = compiled.functionDefinitions[running.definition]!.code!.code;
    }
    // The fixed cost of this instruction has been charged already.
    this.#attributeGas(gas, costs.amounts[pc - 1]!);
    this.#kind = this.#code[pc - 1]!.opcode;
    this.#counts[this.#kind]! += 1;
  }

  retried(): void {
    if (this.#isRepeated) return;
    this.#counts[this.#kind]! -= 1;
  }

  entered({ gas, program }: ObservedRun, callee: Callee, args: readonly Value[]): void {
    if (this.#isRepeated) return;
    this.#attributeGas(gas);
    if (callee.function.isNative) {
      this.#kind = NATIVE;
      this.#counts[NATIVE]! += 1;
    }
    const call = this.#entryOf(program, callee, args);
    if (call !== undefined) {
      this.#stack.push(call);
      return;
    }
    this.#hidden += 1;
    this.#stack.at(-1)!.hiddenCalls += 1;
  }

  left({ gas }: ObservedRun, results: readonly Value[]): void {
    if (this.#isRepeated) return;
    this.#attributeGas(gas);
    if (this.#hidden > 0) {
      this.#hidden -= 1;
      return;
    }
    const call = this.#stack.pop() as RecordedCall;
    call.returned += 1;
    if (call.args === undefined) return;
    const count = call.callee.function.results.length;
    call.results = results.slice(results.length - count).map((value) => this.#copy(value));
  }

  failed({ gas, frame, program }: ObservedRun, error: unknown): void {
    this.#attributeGas(gas);
    const part = this.#stack[0] as RecordedPart;
    const place = frame && { function: frame.function, at: frame.pc - 1 };
    part.failure ??= { program, error, place };
    this.#stack = [part];
    this.end();
  }

  resource({ program }: ObservedRun, { address, type, place }: ObservedResource): void {
    if (this.#isRepeated) return;
    this.#use(program, { address }, type, place, () => place[0]);
  }

  item({ program }: ObservedRun, item: ObservedItem): void {
    if (this.#isRepeated) return;
    const { handle, key, keyType, valueType, place } = item;
    if (!this.tables.has(handle)) this.tables.set(handle, { program, keyType, valueType });
    // A key is copied only if it is shown.
    const accessPlace = { handle, key: this.#isFull ? undefined : this.#copy(key), keyType };
    this.#use(program, accessPlace, valueType, place, () => (place[0] as Value[] | undefined)?.[0]);
  }

  event({ program }: ObservedRun, event: ContractEvent): void {
    if (!this.#isRepeated && this.#hasRoom()) this.#add({ kind: 'event', program, event });
  }

  #use(
    program: Program,
    accessPlace: Access['place'],
    type: VmType,
    place: readonly Value[],
    current: () => Value,
  ): void {
    this.#close(place);
    if (!this.#hasRoom()) return;
    const { callee } = this.#stack.at(-1) as RecordedCall;
    const operation = this.#kind === NATIVE ? callee.function.name : nameOf(this.#kind);
    const hasValue = current() !== undefined;
    const isRead = hasValue && !EXISTENCE_CHECKS.has(operation);
    const access: Access = {
      ...{ kind: 'access', operation, program, type, place: accessPlace, hasValue },
      before: isRead ? this.#copy(current()) : undefined,
      after: undefined,
    };
    this.#add(access);
    if (MUTATING.has(operation)) this.#open.set(place, { access, current });
  }

  /** Records what a place holds after the previous access. */
  #close(place: readonly Value[]): void {
    const open = this.#open.get(place);
    if (open === undefined) return;
    this.#open.delete(place);
    this.#settle(open);
  }

  #settle({ access, current }: OpenAccess): void {
    const value = current();
    const hasValue = value !== undefined;
    access.after = { hasValue, value: hasValue ? this.#copy(value) : undefined };
  }

  /** Whether a step cannot get its own entry. */
  get #isFull(): boolean {
    const caller = this.#stack.at(-1);
    const isMerged = caller instanceof RecordedCall && caller.args === undefined;
    return this.#stepsLeft <= 0 || this.#hidden > 0 || isMerged;
  }

  /** Whether a step gets an entry; otherwise it is counted as omitted. */
  #hasRoom(): boolean {
    if (!this.#isFull) return true;
    this.omitted.steps += 1;
    return false;
  }

  #add(step: Step): void {
    this.#stepsLeft -= 1;
    this.#stack.at(-1)!.add(step);
  }

  /** The entry of a call, its own or shared; `undefined` if there is no room for either. */
  #entryOf(program: Program, callee: Callee, args: readonly Value[]): RecordedCall | undefined {
    if (this.#hasRoom()) {
      const callArgs = args.slice(0, callee.function.parameters.length);
      const call = new RecordedCall(
        program,
        callee,
        callArgs.map((value) => this.#copy(value)),
      );
      this.#add(call);
      return call;
    }
    if (this.#hidden > 0) return undefined;
    const caller = this.#stack.at(-1)!;
    caller.merged ??= new Map();
    let merged = caller.merged.get(callee);
    if (merged !== undefined) merged.count += 1;
    else if (this.#mergedLeft > 0) {
      this.#mergedLeft -= 1;
      merged = new RecordedCall(program, callee, undefined);
      caller.merged.set(callee, merged);
    }
    return merged;
  }

  /** A copy of a value, or of the value that a reference points to. */
  #copy(value: Value): RecordedValue {
    const target = value instanceof Reference ? value.get() : value;
    this.#meter.beginOperation();
    try {
      return copyValue(target, this.#meter);
    } catch (error) {
      if (!(error instanceof VmError)) throw error;
      this.omitted.values += 1;
      return undefined;
    }
  }

  /**
   * Attributes the gas charged since the last call to the code that has run since then.
   * @param prepaid the part of it that was charged for what comes next
   */
  #attributeGas(meter: GasMeter, prepaid = 0): void {
    const spent = meter.spent - prepaid;
    if (meter !== this.#gas) {
      this.#attributeGas(this.#gas);
      this.#gas = meter;
      this.#spent = spent;
      if (meter.prices !== NO_PRICES) this.#charged = meter;
      return;
    }
    const gas = spent - this.#spent;
    if (gas === 0) return;
    this.#spent = spent;
    this.#gasOf[this.#kind]! += gas;
    this.#stack.at(-1)!.ownGas += gas;
  }
}

function nameOf(kind: number): string {
  return kind === NATIVE ? 'native functions' : OPCODES[kind]!.name;
}
