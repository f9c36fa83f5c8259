/**
 * A naive evaluator of random programs on references: values are immutable trees, a reference is the name of a root and
 * a path from there, and writing creates a new tree. It shares nothing with the machine except the names of
 * instructions.
 */
import { STRUCTS, VARIANTS } from './tree-shapes.ts';

interface Node {
  /** Variant of an enum. */
  readonly variant?: string;
  readonly kids: readonly Tree[];
}
interface Place {
  readonly root: string;
  readonly way: readonly number[];
}
interface Fn {
  readonly name: string;
  readonly mask: number;
  readonly captured: readonly Tree[];
}
export type Tree = bigint | boolean | Node | Place | Fn;

export interface TreeFunction {
  readonly parameters: readonly string[];
  /** Instructions, and labels with a colon. */
  readonly code: readonly string[];
}

/** The failure of a program: the status, and what failed in a vector. */
export class TreeFailure extends Error {
  readonly outcome: string;

  constructor(outcome: string) {
    super(outcome);
    this.outcome = outcome;
  }
}

const NAMES = Object.keys(VARIANTS);
const MAX_U64 = 2n ** 64n - 1n;
const isPlace = (value: Tree): value is Place => typeof value === 'object' && 'root' in value;

function walk(tree: Tree | undefined, way: readonly number[]): Tree {
  let at = tree;
  for (const step of way) at = (at as Node).kids[step];
  if (at === undefined) throw new RangeError('a way that leads nowhere');
  return at;
}

function replaced(tree: Tree, way: readonly number[], value: Tree): Tree {
  const [step, ...rest] = way;
  if (step === undefined) return value;
  const node = tree as Node;
  const kids = node.kids.map((kid, index) => (index === step ? replaced(kid, rest, value) : kid));
  return { ...node, kids };
}

function same(left: Tree, right: Tree): boolean {
  return JSON.stringify(left, asText) === JSON.stringify(right, asText);
}

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

function fieldAt(member: string): number {
  const [type, name] = member.split('.') as [string, string];
  return STRUCTS[type]!.findIndex(([field]) => field === name);
}

export class TreeMachine {
  readonly #functions: ReadonlyMap<string, TreeFunction>;
  readonly #roots = new Map<string, Tree>();
  readonly #stack: Tree[] = [];
  #calls = 0;

  constructor(functions: ReadonlyMap<string, TreeFunction>) {
    this.#functions = functions;
  }

  /** The results, with those of the last value last. @throws TreeFailure */
  run(name: string, args: readonly Tree[]): readonly Tree[] {
    this.#stack.push(...args);
    this.#call(name);
    return this.#stack;
  }

  #pop(): Tree {
    return this.#stack.pop()!;
  }

  #take(count: number): Tree[] {
    return this.#stack.splice(this.#stack.length - count, count);
  }

  #read(value: Tree): Tree {
    const { root, way } = value as Place;
    return walk(this.#roots.get(root), way);
  }

  #write({ root, way }: Place, value: Tree): void {
    this.#roots.set(root, replaced(this.#roots.get(root)!, way, value));
  }

  #call(name: string): void {
    const { parameters, code } = this.#functions.get(name.replace(/<.*/, ''))!;
    this.#calls += 1;
    const frame = `${this.#calls}`;
    const args = this.#take(parameters.length);
    for (const [index, parameter] of parameters.entries()) {
      this.#roots.set(`${frame}.${parameter}`, args[index]!);
    }
    let at = 0;
    for (;;) {
      const line = code[at]!;
      at += 1;
      if (line === 'Ret') return;
      if (line.endsWith(':')) continue;
      const [operation, operand = ''] = split(line);
      if (!operation.startsWith('Br')) this.#step(operation, operand, frame);
      else if (operation === 'Branch' || this.#pop() === (operation === 'BrTrue')) {
        at = code.indexOf(`${operand}:`);
      }
    }
  }

  #step(operation: string, operand: string, frame: string): void {
    const stack = this.#stack;
    const local = `${frame}.${operand}`;
    switch (operation) {
      case 'LdU8':
      case 'LdU64':
        stack.push(BigInt(operand));
        return;
      case 'LdTrue':
      case 'LdFalse':
        stack.push(operation === 'LdTrue');
        return;
      case 'LdConst':
        stack.push(BigInt(operand.split(' ')[1]!));
        return;
      case 'CopyLoc':
        stack.push(this.#roots.get(local)!);
        return;
      case 'MoveLoc':
        stack.push(this.#roots.get(local)!);
        this.#roots.delete(local);
        return;
      case 'StLoc':
        this.#roots.set(local, this.#pop());
        return;
      case 'Pop':
        this.#pop();
        return;
      case 'MutBorrowLoc':
      case 'ImmBorrowLoc':
        stack.push({ root: local, way: [] });
        return;
      case 'Call':
        this.#call(operand);
        return;
      default:
        if (operation.includes('Closure')) this.#closure(operation, operand);
        else if (operation.startsWith('Vec')) this.#vector(operation, operand);
        else if (operand === 'B' && !operation.includes('ack')) this.#global(operation);
        else if (operation.includes('Variant')) this.#variant(operation, operand);
        else this.#plain(operation, operand);
    }
  }

  #plain(operation: string, operand: string): void {
    const stack = this.#stack;
    switch (operation) {
      case 'ReadRef':
        stack.push(this.#read(this.#pop()));
        return;
      case 'WriteRef': {
        const place = this.#pop() as Place;
        this.#write(place, this.#pop());
        return;
      }
      case 'FreezeRef':
        return;
      case 'MutBorrowField':
      case 'ImmBorrowField': {
        const { root, way } = this.#pop() as Place;
        stack.push({ root, way: [...way, fieldAt(operand)] });
        return;
      }
      case 'Pack':
        stack.push({ kids: this.#take(STRUCTS[operand]!.length) });
        return;
      case 'Unpack':
        stack.push(...(this.#pop() as Node).kids);
        return;
      case 'Not':
        stack.push(this.#pop() === false);
        return;
      case 'Add':
      case 'Sub': {
        const right = this.#pop() as bigint;
        const left = this.#pop() as bigint;
        const sum = operation === 'Add' ? left + right : left - right;
        if (sum < 0n || sum > MAX_U64) throw new TreeFailure('ARITHMETIC_ERROR');
        stack.push(sum);
        return;
      }
      case 'Eq':
      case 'Neq': {
        const [left, right] = this.#take(2).map((one) => (isPlace(one) ? this.#read(one) : one));
        stack.push(same(left!, right!) === (operation === 'Eq'));
        return;
      }
      default:
        throw new RangeError(operation);
    }
  }

  #variant(operation: string, operand: string): void {
    const [, name, field] = operand.split('.') as [string, string, string | undefined];
    const mismatch = new TreeFailure('STRUCT_VARIANT_MISMATCH');
    const fields = VARIANTS[name]!;
    if (operation === 'PackVariant') {
      this.#stack.push({ variant: name, kids: this.#take(fields.length) });
      return;
    }
    const top = this.#pop();
    const node = (operation === 'UnpackVariant' ? top : this.#read(top)) as Node;
    if (operation === 'TestVariant') this.#stack.push(node.variant === name);
    else if (node.variant !== name) throw mismatch;
    else if (operation === 'UnpackVariant') this.#stack.push(...node.kids);
    else {
      const { root, way } = top as Place;
      this.#stack.push({ root, way: [...way, fields.findIndex(([one]) => one === field)] });
    }
  }

  #vector(operation: string, operand: string): void {
    const stack = this.#stack;
    const count = Number(/> (\d+)$/.exec(operand)?.[1]);
    if (operation === 'VecPack') {
      stack.push({ kids: this.#take(count) });
      return;
    }
    if (operation === 'VecUnpack') {
      const { kids } = this.#pop() as Node;
      if (kids.length !== count) throw new TreeFailure('VECTOR_OPERATION_ERROR 3');
      stack.push(...kids);
      return;
    }
    const others = { VecSwap: 2, VecPushBack: 1, VecMutBorrow: 1, VecImmBorrow: 1 };
    const given = this.#take(others[operation as keyof typeof others] ?? 0);
    const place = this.#pop() as Place;
    const { kids } = this.#read(place) as Node;
    const placeOf = (index: Tree | undefined): number => {
      if ((index as bigint) < BigInt(kids.length)) return Number(index);
      throw new TreeFailure('VECTOR_OPERATION_ERROR 1');
    };
    switch (operation) {
      case 'VecLen':
        stack.push(BigInt(kids.length));
        return;
      case 'VecPushBack':
        this.#write(place, { kids: [...kids, given[0]!] });
        return;
      case 'VecPopBack':
        if (kids.length === 0) throw new TreeFailure('VECTOR_OPERATION_ERROR 2');
        this.#write(place, { kids: kids.slice(0, -1) });
        stack.push(kids.at(-1)!);
        return;
      case 'VecSwap': {
        const [from, to] = [placeOf(given[0]), placeOf(given[1])];
        const order = kids.map((kid, at) =>
          at === from ? kids[to]! : at === to ? kids[from]! : kid,
        );
        this.#write(place, { kids: order });
        return;
      }
      default:
        stack.push({ root: place.root, way: [...place.way, placeOf(given[0])] });
    }
  }

  #closure(operation: string, operand: string): void {
    if (operation === 'PackClosure') {
      const [name, mask] = operand.split(' ') as [string, string];
      const count = [...Number(mask).toString(2)].filter((bit) => bit === '1').length;
      this.#stack.push({ name, mask: Number(mask), captured: this.#take(count) });
      return;
    }
    const { name, mask, captured } = this.#pop() as Fn;
    const { parameters } = this.#functions.get(name)!;
    const given = this.#take(parameters.length - captured.length);
    let nextCaptured = 0;
    let nextGiven = 0;
    for (let index = 0; index < parameters.length; index += 1) {
      const isCaptured = (mask & (1 << index)) !== 0;
      this.#stack.push(isCaptured ? captured[nextCaptured++]! : given[nextGiven++]!);
    }
    this.#call(name);
  }

  #global(operation: string): void {
    const value = operation === 'MoveTo' ? this.#pop() : undefined;
    const root = `global ${String(this.#pop())}`;
    const isThere = this.#roots.has(root);
    switch (operation) {
      case 'Exists':
        this.#stack.push(isThere);
        return;
      case 'MoveTo':
        if (isThere) throw new TreeFailure('RESOURCE_ALREADY_EXISTS');
        this.#roots.set(root, value!);
        return;
      default:
        if (!isThere) throw new TreeFailure('MISSING_DATA');
        if (operation !== 'MoveFrom') this.#stack.push({ root, way: [] });
        else {
          this.#stack.push(this.#roots.get(root)!);
          this.#roots.delete(root);
        }
    }
  }
}

function split(line: string): [operation: string, operand: string] {
  const at = line.indexOf(' ');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

/** A result in a form that both machines can produce: variants by number, before their fields. */
export function plainTree(value: Tree): unknown {
  if (typeof value !== 'object' || !('kids' in value)) return value;
  const kids = value.kids.map(plainTree);
  return value.variant === undefined ? kids : [BigInt(NAMES.indexOf(value.variant)), ...kids];
}
