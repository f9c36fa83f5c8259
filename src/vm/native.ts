/**
 * Native functions, which the framework declares and the machine provides (docs/spec/vm.md §6). A native gets its
 * arguments in order, owned by it (a reference is a place, `Reference`), and returns its results in order. It knows the
 * declared types of its arguments (src/vm/value.ts shows their representations), and nothing else.
 *
 *     const sha3: Native = ({ meter }, [argument]) => {
 *       const { bytes } = argument as ByteVector;
 *       meter.charge(bytes.length);
 *       return [new ByteVector(sha3_256(bytes))];
 *     };
 *
 * A native that reads state composes with `andThen` of src/maybe-promise.ts; the machine waits between instructions.
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import type { ModuleId } from '../move/types/module-id.ts';
import type { GasMeter } from './gas/gas-meter.ts';
import type { ValueSizes } from './gas/value-size.ts';
import type { Meter } from './meter.ts';
import type { ObservedRun, RunObserver } from './observer.ts';
import type { LoadedFunction } from './program/loaded-module.ts';
import type { Program } from './program/program.ts';
import type { VmType } from './program/vm-type.ts';
import { VmError } from './status/status.ts';
import type { Value } from './value.ts';
import type { Session, World } from './world.ts';

/** `[]`, the results, an abort, or a call that replaces this one. */
export type NativeResult = readonly Value[] | NativeAbort | NativeCall;

/** Returned or thrown by a native: ends the run as the instruction Abort does, in the module that declares it. */
export class NativeAbort extends Error {
  readonly code: bigint;
  /** Shown in place of the description in the module's error map. */
  readonly text: string | undefined;

  constructor(code: bigint | number, text?: string) {
    super(text);
    this.code = BigInt(code);
    this.text = text;
  }
}

/** A call whose results become the native's: this dispatches functions of fungible assets. */
export class NativeCall {
  readonly module: ModuleId;
  readonly name: string;
  readonly typeArguments: readonly VmType[];
  readonly args: readonly Value[];

  constructor(
    module: ModuleId,
    name: string,
    typeArguments: readonly VmType[],
    args: readonly Value[],
  ) {
    this.module = module;
    this.name = name;
    this.typeArguments = typeArguments;
    this.args = args;
  }
}

/** State of natives: one object of each class, created when it is first requested. */
export class Extensions {
  #parts: Map<new () => unknown, unknown> | undefined;

  of<T>(Part: new () => T): T {
    this.#parts ??= new Map();
    let part = this.#parts.get(Part) as T | undefined;
    if (part === undefined) {
      part = new Part();
      this.#parts.set(Part, part);
    }
    return part;
  }
}

export interface NativeResource {
  readonly isPresent: boolean;
  /** Bytes to charge for; `undefined` if it was read before. */
  readonly loadedBytes: number | undefined;
}

export interface NativeContext {
  readonly typeArguments: readonly VmType[];
  readonly world: World;
  /** Modules, functions, types and layouts at the world's version. */
  readonly program: Program;
  /** State that lives as long as the run. */
  readonly extensions: Extensions;
  /** State that lives as long as the session. */
  readonly sessionExtensions: Extensions;
  /** Absent in a view. */
  readonly session: Session | undefined;
  /** Charges what the chain charges. */
  readonly gas: GasMeter;
  readonly sizes: ValueSizes;
  /** Pays for work that is not constant. */
  readonly meter: Meter;
  /** Watches the run that this is a part of. */
  readonly observer?: RunObserver | undefined;
  readonly run?: ObservedRun;
  /**
   * Whether an account has a resource, and the bytes to charge for reading it.
   * @param type a struct with the ability key
   */
  resource(address: Address, type: VmType): MaybePromise<NativeResource>;
  /** The running functions, the caller of this native last. */
  callers(): readonly LoadedFunction[];
}

/** `args` are as many as declared. @throws VmError, NativeAbort; or rejects with them */
export type Native = (context: NativeContext, args: readonly Value[]) => MaybePromise<NativeResult>;

/**
 * Natives by module and name.
 * @returns undefined for one that this machine does not have; calling it is an error that names it
 */
export type NativeLookup = (module: ModuleId, name: string) => Native | undefined;

/** The error for a native that is declared but not implemented. */
export function missingNative(module: string, name: string): VmError {
  const text = `native function ${module}::${name} is not supported`;
  return new VmError('UNIMPLEMENTED_FUNCTIONALITY', { text });
}
