/**
 * The state of one run: frames, the stack of values, the resources that were read. Operations (*-operations.ts)
 * change it; run.ts executes them in sequence.
 *
 * Missing data suspends the run, and the instruction that needs it is retried: at once if the world answers at once,
 * otherwise the run waits between two instructions.
 */
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { type Address, isReservedAddress } from '../../move/types/address.ts';
import type { Layout } from '../../move/values/layout.ts';
import type { FunctionCode } from '../code/operation.ts';
import { callCosts } from '../gas/function-costs.ts';
import { GasMeter, modulesOf, NO_PRICES } from '../gas/gas-meter.ts';
import { type CallCosts, InstructionPrices } from '../gas/instruction-prices.ts';
import { chargeNative, nativePrice } from '../gas/native-prices.ts';
import type { ValueSizes } from '../gas/value-size.ts';
import { Meter, type RunLimits } from '../meter.ts';
import {
  Extensions,
  missingNative,
  type Native,
  NativeAbort,
  NativeCall,
  type NativeContext,
  type NativeLookup,
  type NativeResource,
  type NativeResult,
} from '../native.ts';
import type { ObservedRun, RunObserver } from '../observer.ts';
import {
  type Callee,
  type LoadedFunction,
  type LoadedModule,
  sameSignature,
  type TypeList,
} from '../program/loaded-module.ts';
import type { Program } from '../program/program.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError, type VmLocation } from '../status/status.ts';
import type { Value } from '../value.ts';
import type { RunTurns, Session, World } from '../world.ts';
import { Globals } from './globals.ts';
import { type CallKind, checkEntry, checkResource } from './reentrancy.ts';
import { RunWorld } from './run-world.ts';

class Frame {
  readonly function: LoadedFunction;
  readonly code: FunctionCode;
  readonly typeArguments: TypeList;
  readonly locals: Value[];
  readonly kind: CallKind;
  readonly costs: CallCosts;
  pc = 0;

  constructor(
    { function: target, typeArguments }: Callee,
    locals: Value[],
    kind: CallKind,
    costs: CallCosts,
  ) {
    this.function = target;
    this.code = target.code;
    this.typeArguments = typeArguments;
    this.locals = locals;
    this.kind = kind;
    this.costs = costs;
  }
}

export interface MachineParts {
  readonly program: Program;
  readonly world: World;
  readonly natives: NativeLookup;
  readonly limits: RunLimits;
  /** What the run is for; absent in a view, whose changes are dropped. */
  readonly session?: Session | undefined;
  /** If absent, the run continues until it is over. */
  readonly turns?: RunTurns | undefined;
  readonly observer?: RunObserver | undefined;
}

/** Natives that were found, and by which lookup; they live as long as the function's program. */
const foundNatives = new WeakMap<
  LoadedFunction,
  {
    readonly by: NativeLookup;
    readonly native: Native | undefined;
    readonly price: ReturnType<typeof nativePrice>;
  }
>();

const UNPRICED = new InstructionPrices(NO_PRICES);
const UNMETERED = new GasMeter(NO_PRICES, Number.POSITIVE_INFINITY);

export class Machine {
  program: Program;
  readonly world: RunWorld;
  readonly meter: Meter;
  /** Gas of the current session: a machine may have several, not all of them charged. */
  gas = UNMETERED;
  prices = UNPRICED;
  session: Session | undefined;
  readonly turns: RunTurns | undefined;
  readonly observer: RunObserver | undefined;
  readonly globals: Globals;
  readonly stack: Value[] = [];
  readonly extensions = new Extensions();
  sessionExtensions = new Extensions();
  /** The callers of the function that runs, the outermost first. */
  readonly frames: Frame[] = [];
  /** Absent before the first call and after the last return. */
  frame: Frame | undefined;
  /** Set if the next operation must not begin before it has resolved. */
  waiting: Promise<void> | undefined;
  /** A function value and the function that it names, once looked up. */
  resolved: { readonly closure: Value; readonly callee: Callee } | undefined;
  readonly #natives: NativeLookup;
  readonly #maxFrames: number;
  /** Type arguments that were created, by their cost entry in the function that creates them. */
  readonly #chargedTypes = new Set<CallCosts['typeArguments'][number]>();
  /** Frames that were not called by their names in code. */
  #dynamicFrames = 0;

  constructor({ program, world, natives, limits, session, turns, observer }: MachineParts) {
    this.session = session;
    this.turns = turns;
    this.observer = observer;
    this.program = program;
    this.world = new RunWorld(world, limits.maxReads, turns);
    this.meter = new Meter(limits);
    this.globals = new Globals(this);
    this.#natives = natives;
    this.#maxFrames = limits.maxFrames;
  }

  /** Waits for `work` if it is a promise. @returns whether it is already done */
  #waitFor(work: MaybePromise<unknown>): boolean {
    let isDone = false;
    const done = andThen(work, () => {
      isDone = true;
    });
    if (!isDone) this.waiting = done as Promise<void>;
    return isDone;
  }

  /** Retries the current instruction when the data that it needs has arrived. */
  retryAfter(work: MaybePromise<unknown>): void {
    this.frame!.pc -= 1;
    this.observer?.retried?.(this);
    // The instruction is charged once, however often it is retried.
    this.meter.refund();
    this.gas.refund(this.frame!.costs.amounts[this.frame!.pc]!);
    this.#waitFor(work);
  }

  /** Pops the `count` values that were pushed last, in pushing order. */
  take(count: number): Value[] {
    const { stack } = this;
    const values = new Array<Value>(count);
    for (let index = count - 1; index >= 0; index -= 1) values[index] = stack.pop();
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
    const costs = callCosts(this.prices, callee);
    this.gas.charge(costs.frame);
    const locals = new Array<Value>(code.localCount);
    for (let index = code.parameterCount - 1; index >= 0; index -= 1) locals[index] = stack.pop();
    if (this.frame !== undefined) {
      if (frames.length >= this.#maxFrames) throw new VmError('CALL_STACK_OVERFLOW');
      frames.push(this.frame);
    }
    this.observer?.entered?.(this, callee, locals);
    this.frame = new Frame(callee, locals, kind, costs);
    if (kind !== 'static') this.#dynamicFrames += 1;
  }

  /** Charges for a module on its first use. */
  chargeModule({ id, compiled, isFree }: LoadedModule): void {
    if (!isFree) this.gas.chargeModule(id, compiled.sizeBytes ?? 0);
  }

  /** Charges for the modules that declare the parts of a type. Rejects with VmError. */
  chargeTypes({ tag, parts }: VmType): MaybePromise<void> {
    const ofParts = (): MaybePromise<unknown> =>
      mapInOrder(parts, (part) => this.chargeTypes(part));
    if (tag.kind !== 'struct') return andThen(ofParts(), () => undefined);
    const { address, module: name } = tag.struct;
    if (isReservedAddress(address)) return andThen(ofParts(), () => undefined);
    return andThen(this.program.module({ address, name }), (module) => {
      this.chargeModule(module);
      return andThen(ofParts(), () => undefined);
    });
  }

  /** Charges for the modules of all parts of a layout. */
  chargeLayout(layout: Layout): MaybePromise<void> {
    const modules = modulesOf(layout);
    if (modules.length === 0) return undefined;
    const charged = mapInOrder(modules, (id) =>
      andThen(this.program.module(id), (module) => this.chargeModule(module)),
    );
    return andThen(charged, () => undefined);
  }

  /** Begins a session, which is charged again for what earlier ones have read. Without gas it is free. */
  beginSession(session: Session | undefined, gas: GasMeter = UNMETERED, prices = UNPRICED): void {
    this.session = session;
    this.sessionExtensions = new Extensions();
    this.gas = gas;
    this.prices = prices;
    this.globals.beginSession();
  }

  /** Makes the rest of the session free. */
  stopCharging(): void {
    this.gas = UNMETERED;
    this.prices = UNPRICED;
  }

  /** Begins one run, which is charged even for types that earlier ones have created. */
  beginRun(): void {
    if (this.#chargedTypes.size > 0) this.#chargedTypes.clear();
  }

  /** Charges for the type arguments of a call, which are created on the first such call. */
  chargeTypeArguments(instantiation: number): void {
    const cost = this.frame!.costs.typeArguments[instantiation]!;
    if (this.#chargedTypes.has(cost)) return;
    this.#chargedTypes.add(cost);
    this.gas.charge(cost.amount);
  }

  return(): void {
    this.observer?.left?.(this, this.stack);
    if (this.frame!.kind !== 'static') this.#dynamicFrames -= 1;
    this.frame = this.frames.pop();
  }

  /** Frames of the running functions, the innermost last. */
  running(): readonly Frame[] {
    return this.frame === undefined ? this.frames : [...this.frames, this.frame];
  }

  /**
   * Checks that the running function may use a resource: not if its module was reentered through a function value.
   * Without function values there is nothing to check, because module dependencies have no cycles.
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

  get location(): VmLocation | undefined {
    if (this.frame === undefined) return undefined;
    const { function: running, pc } = this.frame;
    return locationIn(running, pc - 1);
  }

  #callNative(callee: Callee): void {
    const { function: target } = callee;
    const { native, price } = this.#nativeOf(target);
    const { native: numbers } = callCosts(this.prices, callee);
    const args = this.take(target.parameters.length);
    if (native === undefined) throw missingNative(target.module.id.name, target.name);
    this.observer?.entered?.(this, callee, args);
    const result = settle(
      () => {
        const scope = new NativeScope(this, callee);
        if (price !== undefined) chargeNative(price, numbers, args, scope);
        return native(scope, args);
      },
      (values) => this.#finishNative(callee, values),
      (error) => {
        if (error instanceof NativeAbort) return this.#finishNative(callee, error);
        throw error instanceof VmError ? error.at(locationIn(target, 0)) : error;
      },
    );
    this.#waitFor(result);
  }

  #nativeOf(target: LoadedFunction) {
    let known = foundNatives.get(target);
    if (known?.by !== this.#natives) {
      const { id } = target.module;
      const native = this.#natives(id, target.name);
      known = { by: this.#natives, native, price: nativePrice(id.name, target.name) };
      foundNatives.set(target, known);
    }
    return known;
  }

  #finishNative({ function: target }: Callee, result: NativeResult): MaybePromise<void> {
    if (result instanceof NativeAbort) {
      throw new VmError('ABORTED', { subStatus: result.code, text: result.text }).at(
        locationIn(target, 0),
      );
    }
    if (result instanceof NativeCall) {
      this.observer?.left?.(this, []);
      return this.#dispatch(target, result);
    }
    if (result.length !== target.results.length) {
      throw new RangeError(`native ${target.name} has ${result.length} results`);
    }
    for (const value of result) {
      if (Array.isArray(value)) this.meter.allocate(value.length);
      this.stack.push(value);
    }
    this.observer?.left?.(this, result);
  }

  /** Calls a function in place of a native; it has the same parameters except for the last. */
  #dispatch(native: LoadedFunction, { module, name, typeArguments, args }: NativeCall) {
    return andThen(this.program.function(module, name), (target) => {
      if (!sameSignature(native, target)) {
        const text = 'Invoking private or friend function during dispatch';
        throw new VmError('RUNTIME_DISPATCH_ERROR', { text }).at(locationIn(native, 0));
      }
      for (const value of args) this.stack.push(value);
      this.call(this.program.callee(target, typeArguments), 'native');
    });
  }
}

function locationIn({ module, definition }: LoadedFunction, codeOffset: number): VmLocation {
  return { module: module.id, functionDefinition: definition, codeOffset };
}

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

  get session(): Session | undefined {
    return this.#machine.session;
  }

  get sessionExtensions(): Extensions {
    return this.#machine.sessionExtensions;
  }

  get extensions(): Extensions {
    return this.#machine.extensions;
  }

  get meter(): Meter {
    return this.#machine.meter;
  }

  get run(): ObservedRun {
    return this.#machine;
  }

  get observer(): RunObserver | undefined {
    return this.#machine.observer;
  }

  get gas(): GasMeter {
    return this.#machine.gas;
  }

  get sizes(): ValueSizes {
    return this.#machine.prices.sizes;
  }

  resource(address: Address, type: VmType): MaybePromise<NativeResource> {
    const { globals, observer } = this.#machine;
    return andThen(globals.read(address, type), (resource) => {
      observer?.resource?.(this.#machine, resource);
      return globals.forNative(resource);
    });
  }

  callers(): readonly LoadedFunction[] {
    this.#machine.meter.charge(this.#machine.frames.length);
    return this.#machine.running().map((frame) => frame.function);
  }
}
