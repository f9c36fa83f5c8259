/** Integers: results that do not fit are errors (docs/spec/vm.md §4.2). */
import { INTEGER_SIZES, type IntegerKind } from '../../move/bcs/integers.ts';
import { BIG_KINDS, CAST_TARGETS, NUMBER_KINDS } from '../code/operation.ts';
import { VmError } from '../status/status.ts';
import type { Machine } from './machine.ts';
import type { Operation } from './operation.ts';

function bigRange(kind: IntegerKind): readonly [bigint, bigint] {
  const { bits, signed } = INTEGER_SIZES[kind];
  return signed
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
}

const BIG_MIN = BIG_KINDS.map((kind) => bigRange(kind)[0]);
const BIG_MAX = BIG_KINDS.map((kind) => bigRange(kind)[1]);
const BIG_BITS = BIG_KINDS.map((kind) => INTEGER_SIZES[kind].bits);
const MIN = NUMBER_KINDS.map((kind) => Number(bigRange(kind)[0]));
const MAX = NUMBER_KINDS.map((kind) => Number(bigRange(kind)[1]));
const BITS = NUMBER_KINDS.map((kind) => INTEGER_SIZES[kind].bits);

function arithmeticError(text: string): VmError {
  return new VmError('ARITHMETIC_ERROR', { text });
}

/** Both operations of a kind; the result of `step` may be out of range. */
function onNumbers(step: (left: number, right: number) => number, overflow: string): Operation {
  return ({ stack }, place) => {
    const right = stack.pop() as number;
    const left = stack[stack.length - 1] as number;
    const result = step(left, right);
    if (result > MAX[place]! || result < MIN[place]!) throw arithmeticError(overflow);
    stack[stack.length - 1] = result;
  };
}

function onBigs(step: (left: bigint, right: bigint) => bigint, overflow: string): Operation {
  return ({ stack }, place) => {
    const right = stack.pop() as bigint;
    const left = stack[stack.length - 1] as bigint;
    const result = step(left, right);
    if (result > BIG_MAX[place]! || result < BIG_MIN[place]!) throw arithmeticError(overflow);
    stack[stack.length - 1] = result;
  };
}

const DIVISION_BY_ZERO = 'Division by zero';
const REMAINDER_BY_ZERO = 'Integer remainder by zero';

/** Adding 0 turns -0 into 0. */
function divideNumbers(left: number, right: number): number {
  if (right === 0) throw arithmeticError(DIVISION_BY_ZERO);
  return Math.trunc(left / right) + 0;
}

function divideBigs(left: bigint, right: bigint): bigint {
  if (right === 0n) throw arithmeticError(DIVISION_BY_ZERO);
  return left / right;
}

const modNumber: Operation = ({ stack }, place) => {
  const right = stack.pop() as number;
  const left = stack[stack.length - 1] as number;
  // The reference has no result if the quotient does not fit.
  if (right === 0 || (right === -1 && left === MIN[place]))
    throw arithmeticError(REMAINDER_BY_ZERO);
  stack[stack.length - 1] = (left % right) + 0;
};

const modBig: Operation = ({ stack }, place) => {
  const right = stack.pop() as bigint;
  const left = stack[stack.length - 1] as bigint;
  if (right === 0n || (right === -1n && left === BIG_MIN[place])) {
    throw arithmeticError(REMAINDER_BY_ZERO);
  }
  stack[stack.length - 1] = left % right;
};

function bitsOfNumbers(step: (left: number, right: number) => number): Operation {
  return ({ stack }) => {
    const right = stack.pop() as number;
    stack[stack.length - 1] = step(stack[stack.length - 1] as number, right) >>> 0;
  };
}

function bitsOfBigs(step: (left: bigint, right: bigint) => bigint): Operation {
  return ({ stack }) => {
    const right = stack.pop() as bigint;
    stack[stack.length - 1] = step(stack[stack.length - 1] as bigint, right);
  };
}

function shiftOf(machine: Machine, bits: number, overflow: string): number {
  const shift = machine.stack.pop() as number;
  if (shift >= bits) throw arithmeticError(overflow);
  return shift;
}

const SHL_OVERFLOW = 'Shift Left overflow';
const SHR_OVERFLOW = 'Shift Right overflow';

const shlNumber: Operation = (machine, place) => {
  const shift = shiftOf(machine, BITS[place]!, SHL_OVERFLOW);
  const { stack } = machine;
  const shifted = (stack[stack.length - 1] as number) << shift;
  stack[stack.length - 1] = (shifted & MAX[place]!) >>> 0;
};

const shrNumber: Operation = (machine, place) => {
  const shift = shiftOf(machine, BITS[place]!, SHR_OVERFLOW);
  const { stack } = machine;
  stack[stack.length - 1] = (stack[stack.length - 1] as number) >>> shift;
};

const shlBig: Operation = (machine, place) => {
  const shift = shiftOf(machine, BIG_BITS[place]!, SHL_OVERFLOW);
  const { stack } = machine;
  const shifted = (stack[stack.length - 1] as bigint) << BigInt(shift);
  stack[stack.length - 1] = shifted & BIG_MAX[place]!;
};

const shrBig: Operation = (machine, place) => {
  const shift = shiftOf(machine, BIG_BITS[place]!, SHR_OVERFLOW);
  const { stack } = machine;
  stack[stack.length - 1] = (stack[stack.length - 1] as bigint) >> BigInt(shift);
};

function negateNumber({ stack }: Machine, place: number): void {
  const value = stack[stack.length - 1] as number;
  if (value === MIN[place]) throw arithmeticError('Integer negation overflow');
  stack[stack.length - 1] = 0 - value;
}

function negateBig({ stack }: Machine, place: number): void {
  const value = stack[stack.length - 1] as bigint;
  if (value === BIG_MIN[place]) throw arithmeticError('Integer negation overflow');
  stack[stack.length - 1] = -value;
}

/** Types of 256 bits are shown as in the reference's messages. */
function shownSource(kind: IntegerKind, target: IntegerKind): string {
  if (kind === 'u256') return target === 'i256' ? 'int256::U256' : 'U256';
  return kind === 'i256' ? 'I256' : kind;
}

function shownTarget(kind: IntegerKind): string {
  if (kind === 'u256') return 'int256::U256';
  return kind === 'i256' ? 'int256::I256' : kind;
}

function castError(value: number | bigint, from: IntegerKind, to: IntegerKind): VmError {
  return arithmeticError(`Cannot cast ${shownSource(from, to)}(${value}) to ${shownTarget(to)}`);
}

/** A cast between two lists of integer types; `convert` changes the representation. */
function cast<From extends number | bigint, To extends number | bigint>(
  convert: (value: From) => To,
  from: readonly IntegerKind[],
  to: readonly IntegerKind[],
  min: readonly (number | bigint)[],
  max: readonly (number | bigint)[],
): Operation {
  return ({ stack }, operand) => {
    const place = operand % CAST_TARGETS;
    const value = stack[stack.length - 1] as From;
    if (value > max[place]! || value < min[place]!) {
      throw castError(value, from[(operand - place) / CAST_TARGETS]!, to[place]!);
    }
    stack[stack.length - 1] = convert(value);
  };
}

const same = <T>(value: T): T => value;

export const NUMBER_OPERATIONS = {
  addNumber: onNumbers((left, right) => left + right, 'Addition overflow'),
  subNumber: onNumbers((left, right) => left - right, 'Subtraction overflow'),
  // A product that is too large to be exact is also too large for the type.
  mulNumber: onNumbers((left, right) => left * right + 0, 'Multiplication overflow'),
  divNumber: onNumbers(divideNumbers, 'Division overflow'),
  modNumber,
  negateNumber,
  addBig: onBigs((left, right) => left + right, 'Addition overflow'),
  subBig: onBigs((left, right) => left - right, 'Subtraction overflow'),
  mulBig: onBigs((left, right) => left * right, 'Multiplication overflow'),
  divBig: onBigs(divideBigs, 'Division overflow'),
  modBig,
  negateBig,
  bitOrNumber: bitsOfNumbers((left, right) => left | right),
  bitAndNumber: bitsOfNumbers((left, right) => left & right),
  xorNumber: bitsOfNumbers((left, right) => left ^ right),
  shlNumber,
  shrNumber,
  bitOrBig: bitsOfBigs((left, right) => left | right),
  bitAndBig: bitsOfBigs((left, right) => left & right),
  xorBig: bitsOfBigs((left, right) => left ^ right),
  shlBig,
  shrBig,
  castNumberToNumber: cast<number, number>(same, NUMBER_KINDS, NUMBER_KINDS, MIN, MAX),
  castNumberToBig: cast<number, bigint>(BigInt, NUMBER_KINDS, BIG_KINDS, BIG_MIN, BIG_MAX),
  castBigToNumber: cast<bigint, number>(Number, BIG_KINDS, NUMBER_KINDS, MIN, MAX),
  castBigToBig: cast<bigint, bigint>(same, BIG_KINDS, BIG_KINDS, BIG_MIN, BIG_MAX),
} as const;
