/** Control flow, locals, constants, references and comparisons. */
import { isUtf8 } from 'node:buffer';
import type { ByteVector, Container, Value } from '../value.ts';
import { Reference } from '../value.ts';
import { copyValue, equalValues } from '../values/copy.ts';
import { refusedCode, VmError } from '../vm-error.ts';
import type { Machine } from './machine.ts';
import type { Operation } from './operation.ts';

/** Longest text of an abort, in bytes. */
const MAX_ABORT_MESSAGE_BYTES = 1_024;

/** What a place holds. @throws VmError when there is nothing any more */
export function valueAt(reference: Value): Value {
  const value = (reference as Reference).get();
  if (value === undefined) throw refusedCode('a place that is gone');
  return value;
}

function localOf({ frame }: Machine, index: number): Value {
  const value = frame!.locals[index];
  if (value === undefined) throw refusedCode('a local without a value');
  return value;
}

function longMessage(bytes: number): VmError {
  const text = `Expected at most ${MAX_ABORT_MESSAGE_BYTES} bytes, got ${bytes} bytes`;
  return new VmError('ABORT_MESSAGE_LIMIT_EXCEEDED', { text });
}

const abortMsg: Operation = ({ stack }) => {
  const { bytes } = stack.pop() as ByteVector;
  const code = stack.pop() as bigint;
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
    machine.stack.push(copyValue(localOf(machine, index), machine.meter));
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
  readRefDeep: ({ stack, meter }: Machine) => {
    stack[stack.length - 1] = copyValue(valueAt(stack[stack.length - 1]), meter);
  },
  writeRef: ({ stack }: Machine) => {
    const reference = stack.pop() as Reference;
    valueAt(reference);
    reference.set(stack.pop());
  },
  borrowField: ({ stack }: Machine, field: number) => {
    const fields = valueAt(stack[stack.length - 1]) as Container;
    stack[stack.length - 1] = new Reference(fields, field);
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
    machine.stack.push(popEqual(machine));
  },
  notEqualDeep: (machine: Machine) => {
    machine.stack.push(!popEqual(machine));
  },
  less: compare((left, right) => left < right),
  greater: compare((left, right) => left > right),
  lessOrEqual: compare((left, right) => left <= right),
  greaterOrEqual: compare((left, right) => left >= right),
} as const;
