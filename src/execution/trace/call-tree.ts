/** The calls of a run, as a recorder stores and a trace shows them (docs/traces.md). */
import type { ContractEvent } from '../../move/transactions/event.ts';
import type { Address } from '../../move/types/address.ts';
import type { Callee, LoadedFunction } from '../../vm/program/loaded-module.ts';
import type { Program } from '../../vm/program/program.ts';
import type { VmType } from '../../vm/program/vm-type.ts';
import type { Value } from '../../vm/value.ts';

/** A copy of a value at that time; `undefined` if it was too large to copy. */
export type RecordedValue = Value;

export interface Access {
  readonly kind: 'access';
  /** The name of the instruction, or of the native function. */
  readonly operation: string;
  readonly program: Program;
  readonly type: VmType;
  readonly place:
    | { readonly address: Address }
    | { readonly handle: Address; readonly key: RecordedValue; readonly keyType: VmType };
  /** Whether a value existed. */
  readonly hasValue: boolean;
  /** Also absent if the operation does not read it. */
  readonly before: RecordedValue;
  /** The value when the place was next used or the run was over; absent if it cannot have changed. */
  after: { readonly hasValue: boolean; readonly value: RecordedValue } | undefined;
}

interface EmittedEvent {
  readonly kind: 'event';
  readonly program: Program;
  readonly event: ContractEvent;
}

export type Step = RecordedCall | Access | EmittedEvent;

/** A caller: a function, or a part of a transaction. */
export class Caller {
  /** Internal gas, without that of the functions that it calls. */
  ownGas = 0;
  /** Most functions call no others. */
  steps: readonly Step[] = NO_STEPS;
  /** Calls above the limits of a trace: one entry per function. */
  merged: Map<Callee, RecordedCall> | undefined;
  /** Calls without an entry, including those below them; their gas is counted here. */
  hiddenCalls = 0;

  #totalGas: number | undefined;

  /** Includes all calls below, once the run is over. The machine limits how deep calls nest. */
  get totalGas(): number {
    if (this.#totalGas === undefined) {
      this.#totalGas = this.ownGas;
      for (const step of this.all()) if (step.kind === 'call') this.#totalGas += step.totalGas;
    }
    return this.#totalGas;
  }

  add(step: Step): void {
    if (this.steps === NO_STEPS) this.steps = [step];
    else (this.steps as Step[]).push(step);
  }

  /** Its steps, then the merged ones. */
  all(): readonly Step[] {
    return this.merged === undefined ? this.steps : [...this.steps, ...this.merged.values()];
  }
}

const NO_STEPS: readonly Step[] = [];

/** A call; or, above the limits of a trace, all calls of one function by the same caller. */
export class RecordedCall extends Caller {
  readonly kind = 'call';
  readonly program: Program;
  readonly callee: Callee;
  /** Absent if it stands for several calls. */
  readonly args: readonly RecordedValue[] | undefined;
  /** Absent if it stands for several calls or has not returned. */
  results: readonly RecordedValue[] | undefined;
  count = 1;
  returned = 0;

  constructor(program: Program, callee: Callee, args: readonly RecordedValue[] | undefined) {
    super();
    this.program = program;
    this.callee = callee;
    this.args = args;
  }
}

export interface RecordedFailure {
  readonly program: Program;
  readonly error: unknown;
  /** The instruction of the innermost function that is not native. */
  readonly place: { readonly function: LoadedFunction; readonly at: number } | undefined;
}

/** A part of a transaction: its prologue, its function, its epilogue. Its gas is what was charged outside of calls. */
export class RecordedPart extends Caller {
  readonly name: string;
  failure: RecordedFailure | undefined;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/** Types of the items of a table. */
export interface TableTypes {
  readonly program: Program;
  readonly keyType: VmType;
  readonly valueType: VmType;
}

/** How often instructions of a kind ran, and their internal gas. */
export interface InstructionCount {
  readonly name: string;
  readonly count: number;
  readonly gas: number;
}
