/**
 * Observers of runs. Most runs have none, and then no work is done for one. What an observer is shown belongs to the
 * run and changes with it; observers must not change it. All parts are optional.
 */
import type { ContractEvent } from '../move/transactions/event.ts';
import type { Address } from '../move/types/address.ts';
import type { GasMeter } from './gas/gas-meter.ts';
import type { CallCosts } from './gas/instruction-prices.ts';
import type { Callee, LoadedFunction } from './program/loaded-module.ts';
import type { Program } from './program/program.ts';
import type { VmType } from './program/vm-type.ts';
import type { Value } from './value.ts';

interface ObservedFrame {
  readonly function: LoadedFunction;
  readonly costs: CallCosts;
  /** Offset of the next instruction. */
  readonly pc: number;
}

export interface ObservedRun {
  readonly program: Program;
  /** Gas of the running part. */
  readonly gas: GasMeter;
  readonly frame: ObservedFrame | undefined;
  readonly stack: readonly Value[];
}

/** The place of a resource; empty if it does not exist. */
export interface ObservedResource {
  readonly address: Address;
  readonly type: VmType;
  readonly place: readonly Value[];
}

/** The place of an item of a table. */
export interface ObservedItem {
  readonly handle: Address;
  readonly key: Value;
  readonly keyType: VmType;
  readonly valueType: VmType;
  /** It holds a struct whose only field is the value. */
  readonly place: readonly Value[];
}

export interface RunObserver {
  /** From now on, code and charges belong to this part of a transaction, or to none in a repeated run. */
  begin?(part: string | undefined, gas: GasMeter): void;
  /** Before an instruction, which has been charged for. */
  instruction?(run: ObservedRun): void;
  /** The instruction waits for something: it is refunded, and will be repeated. */
  retried?(run: ObservedRun): void;
  /** A function begins, native or not. */
  entered?(run: ObservedRun, callee: Callee, args: readonly Value[]): void;
  /** It has returned. @param results the last values are its results */
  left?(run: ObservedRun, results: readonly Value[]): void;
  /** The run fails here, in the running functions. */
  failed?(run: ObservedRun, error: unknown): void;
  /** Before a resource is used, but after it is read. */
  resource?(run: ObservedRun, resource: ObservedResource): void;
  item?(run: ObservedRun, item: ObservedItem): void;
  event?(run: ObservedRun, event: ContractEvent): void;
}
