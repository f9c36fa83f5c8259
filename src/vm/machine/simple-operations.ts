/** Control flow, locals, constants, references and comparisons. */
import { isUtf8 } from 'node:buffer';
import { andThen } from '../../maybe-promise.ts';
import type { Layout } from '../../move/values/layout.ts';
import { NO_PRICES } from '../gas/gas-meter.ts';
import { VmError, verificationError } from '../status/status.ts';
import {
  type ByteVector,
  type Container,
  copyValue,
  equalValues,
  Reference,
  type Value,
} from '../value.ts';
import type { Machine } from './machine.ts';
import type { Operation } from './operation.ts';

/** Longest text of an abort, in bytes. */
const MAX_ABORT_MESSAGE_BYTES = 1_024;

/** The value at a place. @throws VmError if the place is gone */
export function valueAt(reference: Value): Value {
  const value = (reference as Reference).get();
  if (value === undefined) throw verificationError('a place that is gone');
  return value;
}

function localOf({ frame }: Machine, index: number): Value {
  const value = frame!.locals[index];
  if (value === undefined) throw verificationError('a local without a value');
  return value;
}

function longMessage(bytes: number): VmError {
  const text = `Expected at most ${MAX_ABORT_MESSAGE_BYTES} bytes, got ${bytes} bytes`;
  return new VmError('ABORT_MESSAGE_LIMIT_EXCEEDED', { text });
}

const abortMsg: Operation = ({ stack, gas }) => {
  const { bytes } = stack.pop() as ByteVector;
  const code = stack.pop() as bigint;
  gas.charge(gas.prices.of('instr.abort_msg.per_byte') * bytes.length);
  if (bytes.length > MAX_ABORT_MESSAGE_BYTES) throw longMessage(bytes.length);
  if (!isUtf8(bytes)) throw new VmError('INVALID_ABORT_MESSAGE');
  throw new VmError('ABORTED', { subStatus: code, text: Buffer.from(bytes).toString() });
};

function compare(isTrue: (left: number | bigint, right: number | bigint) => boolean): Operation {
  return ({ stack }) => {
    const right = stack.pop() as number | bigint;
    stack[stack.length - 1] = isTrue(stack[stack.length - 1] as number | bigint, right);
  };
}

/** Layout of the value whose size the instruction is charged for; `undefined` if the operation is retried. */
function sizedLayout(machine: Machine): Layout | undefined {
  const { costs, code, function: running, typeArguments, pc } = machine.frame!;
  const place = code.sizedAt[pc - 1]!;
  const known = costs.layouts[place];
  if (known !== undefined) return known;
  const { program } = machine;
  const found = program.checkedLayout(running.module, code.sized[place]!, typeArguments);
  machine.retryAfter(
    andThen(found, (layout) => {
      costs.layouts[place] = layout;
    }),
  );
  return undefined;
}

/** Charges for a copy of a value. @returns false if the operation is retried instead */
function chargeSize(machine: Machine, price: string, value: Value): boolean {
  if (machine.gas.prices === NO_PRICES) return true;
  const layout = sizedLayout(machine);
  if (layout === undefined) return false;
  const { prices } = machine.gas;
  const size = machine.prices.sizes.of(layout, value);
  machine.gas.charge(prices.of(price) * size);
  return true;
}

function chargeEqual(machine: Machine, price: string): boolean {
  if (machine.gas.prices === NO_PRICES) return true;
  const layout = sizedLayout(machine);
  if (layout === undefined) return false;
  const { stack, gas } = machine;
  const { sizes } = machine.prices;
  let size = 0;
  for (let index = stack.length - 2; index < stack.length; index += 1) {
    const value = stack[index];
    size += sizes.of(layout, value instanceof Reference ? value.get() : value);
  }
  gas.charge(gas.prices.of(price) * size);
  return true;
}

function popEqual({ stack, meter }: Machine): boolean {
  const right = stack.pop();
  return equalValues(stack.pop(), right, meter);
}

export const SIMPLE_OPERATIONS = {
  nop: () => {},
  pop: ({ stack }: Machine) => {
    stack.pop();
  },
  ret: (machine: Machine) => machine.return(),
  brTrue: ({ stack, frame }: Machine, target: number) => {
    if (stack.pop() === true) frame!.pc = target;
  },
  brFalse: ({ stack, frame }: Machine, target: number) => {
    if (stack.pop() === false) frame!.pc = target;
  },
  branch: ({ frame }: Machine, target: number) => {
    frame!.pc = target;
  },
  abort: ({ stack }: Machine) => {
    throw new VmError('ABORTED', { subStatus: stack.pop() as bigint });
  },
  abortMsg,
  loadSmall: ({ stack }: Machine, value: number) => {
    stack.push(value);
  },
  loadConstant: ({ stack, frame }: Machine, place: number) => {
    stack.push(frame!.code.constants[place]);
  },
  loadCopy: ({ stack, frame, meter }: Machine, place: number) => {
    stack.push(copyValue(frame!.code.constants[place], meter));
  },
  copyLocal: (machine: Machine, index: number) => {
    machine.stack.push(localOf(machine, index));
  },
  copyLocalDeep: (machine: Machine, index: number) => {
    const value = localOf(machine, index);
    if (!chargeSize(machine, 'instr.copy_loc.per_abs_val_unit', value)) return;
    machine.stack.push(copyValue(value, machine.meter));
  },
  moveLocal: (machine: Machine, index: number) => {
    machine.stack.push(localOf(machine, index));
    machine.frame!.locals[index] = undefined;
  },
  storeLocal: ({ stack, frame }: Machine, index: number) => {
    frame!.locals[index] = stack.pop();
  },
  borrowLocal: (machine: Machine, index: number) => {
    localOf(machine, index);
    machine.stack.push(new Reference(machine.frame!.locals, index));
  },
  readRef: ({ stack }: Machine) => {
    stack[stack.length - 1] = valueAt(stack[stack.length - 1]);
  },
  readRefDeep: (machine: Machine) => {
    const { stack, meter } = machine;
    const value = valueAt(stack[stack.length - 1]);
    if (!chargeSize(machine, 'instr.read_ref.per_abs_val_unit', value)) return;
    stack[stack.length - 1] = copyValue(value, meter);
  },
  writeRef: ({ stack }: Machine) => {
    const reference = stack.pop() as Reference;
    valueAt(reference);
    reference.set(stack.pop());
  },
  borrowField: ({ stack }: Machine, field: number) => {
    const reference = stack[stack.length - 1] as Reference;
    const fields = valueAt(reference) as Container;
    stack[stack.length - 1] = new Reference(fields, field, reference.stored);
  },
  or: ({ stack }: Machine) => {
    const right = stack.pop() as boolean;
    stack[stack.length - 1] = (stack[stack.length - 1] as boolean) || right;
  },
  and: ({ stack }: Machine) => {
    const right = stack.pop() as boolean;
    stack[stack.length - 1] = (stack[stack.length - 1] as boolean) && right;
  },
  not: ({ stack }: Machine) => {
    stack[stack.length - 1] = !stack[stack.length - 1];
  },
  equal: ({ stack }: Machine) => {
    const right = stack.pop();
    stack[stack.length - 1] = stack[stack.length - 1] === right;
  },
  notEqual: ({ stack }: Machine) => {
    const right = stack.pop();
    stack[stack.length - 1] = stack[stack.length - 1] !== right;
  },
  equalDeep: (machine: Machine) => {
    if (chargeEqual(machine, 'instr.eq.per_abs_val_unit')) machine.stack.push(popEqual(machine));
  },
  notEqualDeep: (machine: Machine) => {
    if (chargeEqual(machine, 'instr.neq.per_abs_val_unit')) machine.stack.push(!popEqual(machine));
  },
  less: compare((left, right) => left < right),
  greater: compare((left, right) => left > right),
  lessOrEqual: compare((left, right) => left <= right),
  greaterOrEqual: compare((left, right) => left >= right),
} as const;
