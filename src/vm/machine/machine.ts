/**
 * The state of one run: frames, the stack of values, the resources that were read. Operations (*-operations.ts)
 * change it; run.ts lets them follow each other.
 *
 * What is not there yet is asked for, and the operation that needs it is done again when it is there: at once when the
 * world answers at once, otherwise the run waits between two operations.
 */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import type { Address } from '../../move/types/address.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import type { FunctionCode } from '../code/operation.ts';
import { Meter, type RunLimits } from '../meter.ts';
import {
  missingNative,
  type Native,
  NativeAbort,
  NativeCall,
  type NativeContext,
  type NativeLookup,
  type NativeResult,
} from '../native.ts';
import { sameSignature } from '../program/link-check.ts';
import type { Callee, LoadedFunction, TypeList } from '../program/loaded-module.ts';
import type { Program } from '../program/program.ts';
import type { VmType } from '../program/vm-type.ts';
import type { TransactionFacts } from '../transaction-facts.ts';
import { Reference, type Value } from '../value.ts';
import { decodeValue } from '../values/bcs.ts';
import { refusedCode, VmError, type VmLocation } from '../vm-error.ts';
import type { RunTurns, World } from '../world.ts';
import { type CallKind, checkEntry, checkResource } from './reentrancy.ts';

/** Most values on the stack of one run. */
export const MAX_STACK = 1_024;

class Frame {
  readonly function: LoadedFunction;
  readonly code: FunctionCode;
  readonly typeArguments: TypeList;
  readonly locals: Value[];
  readonly kind: CallKind;
  pc = 0;

  constructor({ function: target, typeArguments }: Callee, locals: Value[], kind: CallKind) {
    this.function = target;
    this.code = target.code;
    this.typeArguments = typeArguments;
    this.locals = locals;
    this.kind = kind;
  }
}

export interface MachineParts {
  readonly program: Program;
  readonly world: World;
  readonly natives: NativeLookup;
  readonly limits: RunLimits;
  /** The transaction that the run is for; absent: a view, whose changes are dropped. */
  readonly transaction?: TransactionFacts | undefined;
  /** Absent: the run goes on until it is over. */
  readonly turns?: RunTurns | undefined;
}

/** A resource that a run for a transaction has looked at. */
interface SeenResource {
  readonly address: Address;
  readonly type: VmType;
  /** Without a value where there is none any more. */
  readonly place: readonly Value[];
  /** Its BCS before the run. */
  readonly before: Uint8Array | undefined;
}

/** Natives that were looked up, and by whom; they live as long as the function's program. */
const foundNatives = new WeakMap<
  LoadedFunction,
  { readonly by: NativeLookup; readonly native: Native | undefined }
>();

export class Machine {
  readonly program: Program;
  readonly world: World;
  readonly meter: Meter;
  readonly transaction: TransactionFacts | undefined;
  readonly turns: RunTurns | undefined;
  /** In the order in which they were read; none in a view. */
  readonly seenResources: SeenResource[] = [];
  readonly stack: Value[] = [];
  /** State that natives have for this run. */
  readonly extensions = new Map<unknown, unknown>();
  /** The callers of the function that runs, the outermost first. */
  readonly frames: Frame[] = [];
  /** Absent before the first call and after the last return. */
  frame: Frame | undefined;
  /** Set where the operation that comes next must not begin before it has resolved. */
  waiting: Promise<void> | undefined;
  /** A function value and the function that it names, once that was looked up. */
  resolved: { readonly closure: Value; readonly callee: Callee } | undefined;
  readonly #natives: NativeLookup;
  readonly #maxFrames: number;
  /** Frames that were not called by their names in code. */
  #dynamicFrames = 0;
  readonly #globals = new Map<VmType, Map<Address, Value[]>>();

  constructor({ program, world, natives, limits, transaction, turns }: MachineParts) {
    this.transaction = transaction;
    this.turns = turns;
    this.program = program;
    this.world = new RunWorld(world, limits.maxReads, turns);
    this.meter = new Meter(limits);
    this.#natives = natives;
    this.#maxFrames = limits.maxFrames;
  }

  /** Lets a promise be waited for, if it is one. @returns whether it is already done */
  #waitFor(work: MaybePromise<unknown>): boolean {
    let isDone = false;
    const done = andThen(work, () => {
      isDone = true;
    });
    if (!isDone) this.waiting = done as Promise<void>;
    return isDone;
  }

  /** Does the operation that runs again, once something is there that it needs. */
  retryAfter(work: MaybePromise<unknown>): void {
    this.frame!.pc -= 1;
    // It is done once, whatever was linked and read before.
    this.meter.refund();
    this.#waitFor(work);
  }

  /** The `count` values that were pushed last, in the order in which they were. */
  take(count: number): Value[] {
    const { stack } = this;
    const first = stack.length - count;
    const values = new Array<Value>(count);
    for (let index = 0; index < count; index += 1) values[index] = stack[first + index];
    stack.length = first;
    return values;
  }

  /** Calls a function whose arguments are on the stack. */
  call(callee: Callee, kind: CallKind = 'static'): void {
    if (this.#dynamicFrames > 0) this.#checkEntry(callee.function);
    if (callee.function.isNative) {
      this.#callNative(callee);
      return;
    }
    const { code } = callee.function;
    const { stack, frames } = this;
    const { parameterCount, localCount } = code;
    const first = stack.length - parameterCount;
    if (first + code.maxStack > MAX_STACK) throw new VmError('EXECUTION_STACK_OVERFLOW');
    const locals = new Array<Value>(localCount);
    for (let index = 0; index < parameterCount; index += 1) locals[index] = stack[first + index];
    stack.length = first;
    if (this.frame !== undefined) {
      if (frames.length >= this.#maxFrames) throw new VmError('CALL_STACK_OVERFLOW');
      frames.push(this.frame);
    }
    this.frame = new Frame(callee, locals, kind);
    if (kind !== 'static') this.#dynamicFrames += 1;
  }

  return(): void {
    if (this.frame!.kind !== 'static') this.#dynamicFrames -= 1;
    this.frame = this.frames.pop();
  }

  /** Frames of functions that run, the innermost last. */
  running(): readonly Frame[] {
    return this.frame === undefined ? this.frames : [...this.frames, this.frame];
  }

  /**
   * Checks that a resource of the function that runs may be used: not where its module was entered again through a
   * function value. Without one there is nothing to check, because modules do not depend on each other in circles.
   * @throws VmError RUNTIME_DISPATCH_ERROR
   */
  checkAccess(type: VmType): void {
    if (this.#dynamicFrames === 0) return;
    this.meter.charge(this.frames.length);
    checkResource(this.running(), type);
  }

  #checkEntry(target: LoadedFunction): void {
    this.meter.charge(this.frames.length);
    checkEntry(this.running(), target);
  }

  /** Where the operation is that runs. */
  get location(): VmLocation | undefined {
    if (this.frame === undefined) return undefined;
    const { function: running, pc } = this.frame;
    return locationIn(running, pc - 1);
  }

  /** The place of a resource if it was read; without a value where there is none. */
  knownGlobal(address: Address, type: VmType): Value[] | undefined {
    return this.#globals.get(type)?.get(address);
  }

  /** The place of a resource. @throws VmError IO_LIMIT_REACHED, FAILED_TO_DESERIALIZE_RESOURCE; or rejects with it */
  global(address: Address, type: VmType): MaybePromise<Value[]> {
    const known = this.knownGlobal(address, type);
    if (known !== undefined) return known;
    const { tag } = type;
    if (tag.kind !== 'struct') throw refusedCode('resource that is not a struct');
    return andThen(this.world.resource(address, tag.struct), (bytes) => {
      if (bytes === undefined) return this.#place(address, type, undefined, undefined);
      return andThen(this.program.layout(type), (layout) => {
        const value = this.#decode(() => decodeValue(layout, bytes, this.meter, this.program));
        return this.#place(address, type, value, bytes);
      });
    });
  }

  #place(address: Address, type: VmType, value: Value, bytes: Uint8Array | undefined): Value[] {
    let ofType = this.#globals.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#globals.set(type, ofType);
    }
    const place = [value];
    ofType.set(address, place);
    if (this.transaction !== undefined) {
      const before = bytes && Uint8Array.from(bytes);
      this.seenResources.push({ address, type, place, before });
    }
    return place;
  }

  #decode(decode: () => Value): Value {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof BcsError)) throw error;
      throw new VmError('FAILED_TO_DESERIALIZE_RESOURCE');
    }
  }

  #callNative(callee: Callee): void {
    const { function: target } = callee;
    const native = this.#nativeOf(target);
    const args = this.take(target.parameters.length);
    if (native === undefined) throw missingNative(target.module.id.name, target.name);
    const result = settle(
      () => native(new NativeScope(this, callee), args),
      (values) => this.#finishNative(callee, values),
      (error) => {
        throw error instanceof VmError ? error.at(locationIn(target, 0)) : error;
      },
    );
    this.#waitFor(result);
  }

  #nativeOf(target: LoadedFunction): Native | undefined {
    let known = foundNatives.get(target);
    if (known?.by !== this.#natives) {
      known = { by: this.#natives, native: this.#natives(target.module.id, target.name) };
      foundNatives.set(target, known);
    }
    return known.native;
  }

  #finishNative({ function: target }: Callee, result: NativeResult): MaybePromise<void> {
    if (result instanceof NativeAbort) {
      throw new VmError('ABORTED', { subStatus: result.code, text: result.message }).at(
        locationIn(target, 0),
      );
    }
    if (result instanceof NativeCall) return this.#dispatch(target, result);
    if (result.length !== target.results.length) {
      throw new RangeError(`native ${target.name} has ${result.length} results`);
    }
    for (const value of result) {
      if (Array.isArray(value)) this.meter.allocate(value.length);
      this.stack.push(value);
    }
  }

  /** A native has its function called instead of itself: one with the same parameters, but for the last. */
  #dispatch(native: LoadedFunction, { module, name, typeArguments, args }: NativeCall) {
    return andThen(this.program.function(module, name), (target) => {
      if (!sameSignature(native, target)) {
        const text = 'Invoking private or friend function during dispatch';
        throw new VmError('RUNTIME_DISPATCH_ERROR', { text }).at(locationIn(native, 0));
      }
      for (const value of args) this.stack.push(value);
      this.call(
        { function: target, typeArguments: this.program.typeList(typeArguments) },
        'native',
      );
    });
  }
}

/** A world of which one run may read only so much. */
class RunWorld implements World {
  readonly modules: ModuleLookup;
  readonly #world: World;
  readonly #turns: Pick<RunTurns, 'nextTurn'>;
  #readsLeft: number;

  constructor(world: World, maxReads: number, turns: RunTurns | undefined) {
    this.modules = world.modules;
    this.#world = world;
    this.#turns = turns ?? world;
    this.#readsLeft = maxReads;
  }

  nextTurn(): Promise<void> {
    return this.#turns.nextTurn();
  }

  isFeatureEnabled(flag: number): boolean {
    return this.#world.isFeatureEnabled(flag);
  }

  /** @throws VmError IO_LIMIT_REACHED */
  resource(address: Address, tag: StructTag): MaybePromise<Uint8Array | undefined> {
    this.#countRead();
    return this.#world.resource(address, tag);
  }

  /** @throws VmError IO_LIMIT_REACHED */
  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined> {
    this.#countRead();
    return this.#world.tableItem(handle, key);
  }

  #countRead(): void {
    this.#readsLeft -= 1;
    if (this.#readsLeft < 0) throw new VmError('IO_LIMIT_REACHED');
  }
}

function locationIn({ module, definition }: LoadedFunction, codeOffset: number): VmLocation {
  return { module: module.id, functionDefinition: definition, codeOffset };
}

/** What one call of a native has. */
class NativeScope implements NativeContext {
  readonly #machine: Machine;
  readonly typeArguments: readonly VmType[];

  constructor(machine: Machine, { typeArguments }: Callee) {
    this.#machine = machine;
    this.typeArguments = typeArguments.types;
  }

  get world(): World {
    return this.#machine.world;
  }

  get program(): Program {
    return this.#machine.program;
  }

  get transaction(): TransactionFacts | undefined {
    return this.#machine.transaction;
  }

  get extensions(): Map<unknown, unknown> {
    return this.#machine.extensions;
  }

  get meter(): Meter {
    return this.#machine.meter;
  }

  resource(address: Address, type: VmType): MaybePromise<Reference | undefined> {
    return andThen(this.#machine.global(address, type), (place) =>
      place[0] === undefined ? undefined : new Reference(place, 0),
    );
  }

  callers(): readonly LoadedFunction[] {
    this.#machine.meter.charge(this.#machine.frames.length);
    return this.#machine.running().map((frame) => frame.function);
  }
}
