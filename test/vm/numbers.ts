/**
 * A naive evaluator of random programs on integers: a list of values of known types, every operation on bigints by its
 * definition. It shares nothing with the machine except the names of instructions.
 */
import type { Random } from '../random.ts';

export const KINDS = [
  'u8',
  'u16',
  'u32',
  'u64',
  'u128',
  'u256',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const;
export type Kind = (typeof KINDS)[number];

export interface Typed {
  readonly kind: Kind | 'bool';
  /** 0 and 1 for bools. */
  readonly value: bigint;
}

export const bitsOf = (kind: Kind): bigint => BigInt(kind.slice(1));
const isSigned = (kind: Kind): boolean => kind.startsWith('i');
export const minOf = (kind: Kind): bigint => (isSigned(kind) ? -(2n ** (bitsOf(kind) - 1n)) : 0n);
export const maxOf = (kind: Kind): bigint =>
  2n ** (isSigned(kind) ? bitsOf(kind) - 1n : bitsOf(kind)) - 1n;
const fits = (kind: Kind, value: bigint): boolean => value >= minOf(kind) && value <= maxOf(kind);

/** A program: its code, and its outcome. */
export interface RandomProgram {
  readonly code: readonly string[];
  /** Results, the last value first; absent if it fails. */
  readonly results: readonly Typed[] | undefined;
  /** The types of the values on the machine's stack. */
  readonly kinds: readonly (Kind | 'bool')[];
}

const ARITHMETIC: Record<string, (left: bigint, right: bigint) => bigint | undefined> = {
  Add: (left, right) => left + right,
  Sub: (left, right) => left - right,
  Mul: (left, right) => left * right,
  Div: (left, right) => (right === 0n ? undefined : left / right),
  Mod: (left, right) => (right === 0n ? undefined : left % right),
  BitAnd: (left, right) => left & right,
  BitOr: (left, right) => left | right,
  Xor: (left, right) => left ^ right,
};
const BITWISE = ['BitAnd', 'BitOr', 'Xor'];
const COMPARISONS: Record<string, (left: bigint, right: bigint) => boolean> = {
  Eq: (left, right) => left === right,
  Neq: (left, right) => left !== right,
  Lt: (left, right) => left < right,
  Gt: (left, right) => left > right,
  Le: (left, right) => left <= right,
  Ge: (left, right) => left >= right,
};
const LOGIC: Record<string, (left: bigint, right: bigint) => bigint> = {
  And: (left, right) => left & right,
  Or: (left, right) => left | right,
};

function randomValue(random: Random, kind: Kind): bigint {
  switch (random.below(5)) {
    case 0:
      return maxOf(kind) - BigInt(random.below(3));
    case 1:
      return minOf(kind) + BigInt(random.below(3));
    case 2:
      return BigInt(random.below(5));
    default: {
      const width = 1 + random.below(Number(bitsOf(kind)));
      const bits = random.bytes(32).reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
      const value = BigInt.asUintN(width, bits);
      return isSigned(kind)
        ? BigInt.asIntN(Number(bitsOf(kind)), value)
        : value % (maxOf(kind) + 1n);
    }
  }
}

/** Generates a program and evaluates it at the same time. */
export class ProgramMaker {
  readonly #random: Random;
  readonly #code: string[] = [];
  readonly #stack: Typed[] = [];
  #hasFailed = false;

  constructor(random: Random) {
    this.#random = random;
  }

  make(steps: number): RandomProgram {
    for (let step = 0; step < steps; step += 1) this.#step();
    const results = this.#hasFailed ? undefined : [...this.#stack];
    return { code: this.#code, results, kinds: this.#stack.map(({ kind }) => kind) };
  }

  #push(kind: Kind | 'bool', value: bigint): void {
    this.#stack.push({ kind, value });
  }

  #load(kind: Kind): void {
    const value = randomValue(this.#random, kind);
    this.#code.push(`Ld${kind.toUpperCase()} ${value}`);
    this.#push(kind, value);
  }

  /** A value that does not fit is an error: later instructions only have types, no values. */
  #result(kind: Kind, value: bigint | undefined): void {
    if (value === undefined || !fits(kind, value)) this.#hasFailed = true;
    this.#push(kind, value ?? 0n);
  }

  #step(): void {
    const top = this.#stack.at(-1);
    if (top === undefined || this.#random.below(4) === 0) {
      this.#load(this.#random.pick(KINDS));
    } else if (top.kind === 'bool') {
      this.#onBool();
    } else {
      this.#onInteger(top.kind);
    }
  }

  #onBool(): void {
    const right = this.#stack.pop()!;
    const left = this.#stack.at(-1);
    if (left?.kind === 'bool') {
      this.#stack.pop();
      const name = this.#random.pick([...Object.keys(LOGIC), 'Eq', 'Neq']);
      this.#code.push(name);
      const value = LOGIC[name]?.(left.value, right.value);
      const compared = () => (COMPARISONS[name]!(left.value, right.value) ? 1n : 0n);
      this.#push('bool', value ?? compared());
    } else {
      this.#code.push('Not');
      this.#push('bool', 1n - right.value);
    }
  }

  #onInteger(kind: Kind): void {
    switch (this.#random.below(8)) {
      case 0:
        this.#cast();
        return;
      case 1:
        if (isSigned(kind)) this.#negate(kind);
        else this.#shift(kind);
        return;
      case 2:
        this.#load(kind);
        this.#compare();
        return;
      default:
        this.#load(kind);
        this.#arithmetic(kind);
    }
  }

  #cast(): void {
    const to = this.#random.pick(KINDS);
    this.#code.push(`Cast${to.toUpperCase()}`);
    this.#result(to, this.#stack.pop()!.value);
  }

  #negate(kind: Kind): void {
    this.#code.push('Negate');
    this.#result(kind, -this.#stack.pop()!.value);
  }

  #shift(kind: Kind): void {
    const bits = Number(bitsOf(kind));
    const shift =
      this.#random.below(5) === 0 ? Math.min(bits, 255) : this.#random.below(Math.min(bits, 256));
    const name = this.#random.pick(['Shl', 'Shr']);
    this.#code.push(`LdU8 ${shift}`, name);
    const { value } = this.#stack.pop()!;
    if (shift >= bits) this.#hasFailed = true;
    const shifted = name === 'Shl' ? value * 2n ** BigInt(shift) : value / 2n ** BigInt(shift);
    this.#push(kind, shifted % 2n ** bitsOf(kind));
  }

  #compare(): void {
    const right = this.#stack.pop()!;
    const left = this.#stack.pop()!;
    const name = this.#random.pick(Object.keys(COMPARISONS));
    this.#code.push(name);
    this.#push('bool', COMPARISONS[name]!(left.value, right.value) ? 1n : 0n);
  }

  #arithmetic(kind: Kind): void {
    const right = this.#stack.pop()!.value;
    const left = this.#stack.pop()!.value;
    const names = Object.keys(ARITHMETIC).filter(
      (name) => !isSigned(kind) || !BITWISE.includes(name),
    );
    const name = this.#random.pick(names);
    this.#code.push(name);
    // If the quotient does not fit, there is no remainder either.
    const isLost = name === 'Mod' && isSigned(kind) && right === -1n && left === minOf(kind);
    this.#result(kind, isLost ? undefined : ARITHMETIC[name]!(left, right));
  }
}
