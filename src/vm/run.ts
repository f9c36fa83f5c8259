/** Runs functions (docs/spec/vm.md §4). */
import type { MaybePromise } from '../maybe-promise.ts';
import type { LoadedFunction } from './program/loaded-function.ts';
import type { Program } from './program/program.ts';
import type { VmType } from './program/vm-type.ts';
import type { Value } from './value.ts';
import type { World } from './world.ts';

export interface Call {
  readonly function: LoadedFunction;
  readonly typeArguments: readonly VmType[];
  /** For parameters that are references: `new Reference([value], 0)`. */
  readonly args: readonly Value[];
}

export interface RunLimits {
  /** Units of work. */
  readonly maxUnits: number;
}

/**
 * The results of a function, at once when the world answers at once and the run is short.
 * @throws VmError, or rejects with it; what the world fails with
 */
export declare function run(
  program: Program,
  world: World,
  call: Call,
  limits?: RunLimits,
): MaybePromise<readonly Value[]>;
