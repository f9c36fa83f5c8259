/** Calls, function values and global state. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { ClosureSite } from '../code/operation.ts';
import { callCosts } from '../gas/function-costs.ts';
import type { Callee } from '../program/loaded-module.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError, verificationError } from '../status/status.ts';
import { Closure, Reference, type Value } from '../value.ts';
import type { GlobalResource } from './globals.ts';
import type { Machine } from './machine.ts';
import type { Operation } from './operation.ts';
import { valueAt } from './simple-operations.ts';
import { type CalledType, checkStored } from './stored-closure.ts';

/** The function of a handle; `undefined` if it has to be looked up first and the operation is retried. */
function calleeOf(machine: Machine, handle: number): Callee | undefined {
  const { module } = machine.frame!.function;
  const callee = module.callees[handle];
  if (callee === undefined) machine.retryAfter(machine.program.link(module, handle));
  return callee;
}

function genericCalleeOf(machine: Machine, index: number): Callee | undefined {
  const { function: running, typeArguments } = machine.frame!;
  const { module } = running;
  const instantiation = module.compiled.functionInstantiations[index]!;
  const callee = typeArguments.callees.get(instantiation);
  if (callee === undefined) {
    machine.retryAfter(machine.program.linkGeneric(module, instantiation, typeArguments));
  }
  return callee;
}

const call: Operation = (machine, handle) => {
  const callee = calleeOf(machine, handle);
  if (callee === undefined) return;
  machine.chargeModule(callee.function.module);
  machine.gas.charge(callCosts(machine.prices, callee).named);
  machine.call(callee);
};

const callGeneric: Operation = (machine, index) => {
  const callee = genericCalleeOf(machine, index);
  if (callee === undefined) return;
  machine.chargeTypeArguments(index);
  machine.chargeModule(callee.function.module);
  machine.gas.charge(callCosts(machine.prices, callee).named);
  machine.call(callee);
};

function pushClosure(machine: Machine, callee: Callee | undefined, site: ClosureSite): void {
  if (callee === undefined) return;
  const { function: target, typeArguments } = callee;
  machine.meter.allocate(site.capturedCount);
  const captured = machine.take(site.capturedCount);
  const { id } = target.module;
  machine.stack.push(new Closure(id, target.name, typeArguments.types, site.mask, captured));
}

const packClosure: Operation = (machine, place) => {
  const site = machine.frame!.code.closures[place]!;
  pushClosure(machine, calleeOf(machine, site.target), site);
};

const packClosureGeneric: Operation = (machine, place) => {
  const site = machine.frame!.code.closures[place]!;
  pushClosure(machine, genericCalleeOf(machine, site.target), site);
};

function calledType({ frame }: Machine, signature: number): CalledType {
  const { module } = frame!.function;
  const [token] = module.compiled.signatures[signature]!;
  if (token?.kind !== 'function') throw verificationError('not a function type');
  const { args, results } = token;
  return { module: module.compiled, args, results, typeArguments: frame!.typeArguments.types };
}

/** Looks up the function of a function value. @throws VmError; or rejects with it */
function resolve(machine: Machine, closure: Closure, called: CalledType): MaybePromise<void> {
  const { program } = machine;
  const { module, name, typeArguments, stored } = closure;
  return andThen(program.function(module, name), (target) => {
    const checked =
      stored === undefined ? undefined : checkStored(program, closure, target, called);
    return andThen(checked, () => {
      const callee = program.callee(target, typeArguments);
      machine.resolved = { closure, callee };
    });
  });
}

const callClosure: Operation = (machine, signature) => {
  const { stack } = machine;
  const closure = stack[stack.length - 1] as Closure;
  const called = calledType(machine, signature);
  if (machine.resolved?.closure !== closure) {
    machine.retryAfter(resolve(machine, closure, called));
    return;
  }
  const { callee } = machine.resolved;
  machine.resolved = undefined;
  stack.pop();
  const supplied = machine.take(called.args.length);
  const { captured, mask } = closure;
  const count = callee.function.parameters.length;
  if (captured.length + supplied.length !== count) throw verificationError('number of arguments');
  let nextCaptured = 0;
  let nextSupplied = 0;
  for (let index = 0; index < count; index += 1) {
    const isCaptured = ((mask >> BigInt(index)) & 1n) === 1n;
    stack.push(isCaptured ? captured[nextCaptured++] : supplied[nextSupplied++]);
  }
  machine.chargeModule(callee.function.module);
  machine.gas.charge(callCosts(machine.prices, callee).dynamic);
  machine.call(callee, 'closure');
};

type StructOperand = (machine: Machine, operand: number) => VmType;

const plainStruct: StructOperand = ({ program, frame }, definition) =>
  program.definedStruct(frame!.function.module, definition);

const genericStruct: StructOperand = ({ program, frame }, index) => {
  const { function: running, typeArguments } = frame!;
  const instantiation = running.module.compiled.structInstantiations[index]!;
  return program.definedGenericStruct(running.module, instantiation, typeArguments);
};

/** A resource; `undefined` if it has to be read first and the operation is retried. */
function resourceAt(machine: Machine, address: Value, type: VmType): GlobalResource | undefined {
  machine.checkAccess(type);
  const { globals } = machine;
  let resource = globals.known(address as string, type);
  if (resource === undefined) {
    const read = andThen(globals.read(address as string, type), (found) => {
      resource = found;
    });
    if (resource === undefined) {
      machine.retryAfter(read);
      return undefined;
    }
    globals.pay(resource);
  }
  machine.observer?.resource?.(machine, resource);
  return resource;
}

function exists(structOf: StructOperand): Operation {
  return (machine, operand) => {
    const { stack } = machine;
    const resource = resourceAt(machine, stack[stack.length - 1], structOf(machine, operand));
    if (resource !== undefined) stack[stack.length - 1] = resource.place[0] !== undefined;
  };
}

function borrowGlobal(structOf: StructOperand): Operation {
  return (machine, operand) => {
    const { stack } = machine;
    const address = stack[stack.length - 1];
    const resource = resourceAt(machine, address, structOf(machine, operand));
    if (resource === undefined) return;
    if (resource.place[0] === undefined) {
      const text = `Failed to borrow global resource from ${address as string}`;
      throw new VmError('MISSING_DATA', { text });
    }
    stack[stack.length - 1] = new Reference(resource.place, 0, resource);
  };
}

function moveFrom(structOf: StructOperand): Operation {
  return (machine, operand) => {
    const { stack } = machine;
    const address = stack[stack.length - 1];
    const resource = resourceAt(machine, address, structOf(machine, operand));
    if (resource === undefined) return;
    const { place } = resource;
    if (place[0] === undefined) {
      const text = `Failed to move resource from ${address as string}`;
      throw new VmError('MISSING_DATA', { text });
    }
    stack[stack.length - 1] = place[0];
    place[0] = undefined;
  };
}

function moveTo(structOf: StructOperand): Operation {
  return (machine, operand) => {
    const { stack } = machine;
    const [address] = valueAt(stack[stack.length - 2]) as Value[];
    const resource = resourceAt(machine, address, structOf(machine, operand));
    if (resource === undefined) return;
    if (resource.place[0] !== undefined) {
      const text = `Failed to move resource into ${address as string}`;
      throw new VmError('RESOURCE_ALREADY_EXISTS', { text });
    }
    resource.place[0] = stack.pop();
    resource.isAssigned = true;
    stack.pop();
  };
}

export const CALL_OPERATIONS = {
  call,
  callGeneric,
  packClosure,
  packClosureGeneric,
  callClosure,
  exists: exists(plainStruct),
  existsGeneric: exists(genericStruct),
  borrowGlobal: borrowGlobal(plainStruct),
  borrowGlobalGeneric: borrowGlobal(genericStruct),
  moveFrom: moveFrom(plainStruct),
  moveFromGeneric: moveFrom(genericStruct),
  moveTo: moveTo(plainStruct),
  moveToGeneric: moveTo(genericStruct),
} as const;
