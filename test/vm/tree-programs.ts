/**
 * Random programs on references: borrows of locals, fields, elements and resources, writes through them, calls with
 * references, function values. As the reference's verifier requires, no place is used in another way while a reference
 * to it is alive; otherwise anything is possible.
 */
import type { Random } from '../random.ts';
import type { TreeFunction } from './tree-machine.ts';
import { elementOf, STRUCTS, VALUE_TYPES, VARIANTS } from './tree-shapes.ts';

interface Variable {
  readonly name: string;
  /** For a reference, the type that it refers to. */
  readonly type: string;
  readonly reference?: 'mut' | 'imm';
}

export interface MadeFunction extends TreeFunction {
  readonly name: string;
  readonly declared: readonly Variable[];
  /** For the entry several types: those of the locals that all paths have set. */
  readonly result: string;
  readonly locals: readonly Variable[];
  readonly usesGlobals: boolean;
}

const GLOBALS = 'global';
const ADDRESSES = [...Array<string>(9).fill('0xcafe'), '0x2'];
const MAX_DEPTH = 3;
const typeText = ({ type, reference }: Variable): string =>
  reference === undefined ? type : `${reference === 'mut' ? '&mut ' : '&'}${type}`;

/** The paths from one type to another: instructions with `Imm` for the kind of borrow. */
function waysFrom(type: string, to: string, depth: number): string[][] {
  const found: string[][] = type === to ? [[]] : [];
  if (depth === 0) return found;
  const add = (step: string, next: string): void => {
    for (const rest of waysFrom(next, to, depth - 1)) found.push([step, ...rest]);
  };
  for (const [name, field] of STRUCTS[type] ?? []) add(`ImmBorrowField ${type}.${name}`, field);
  if (type === 'E') {
    for (const [variant, fields] of Object.entries(VARIANTS)) {
      for (const [name, field] of fields) add(`ImmBorrowVariantField E.${variant}.${name}`, field);
    }
  }
  const element = elementOf(type);
  if (element !== undefined) add(`VecImmBorrow <${element}>`, element);
  return found;
}

const knownWays = new Map<string, readonly string[][]>();
function ways(from: string, to: string): readonly string[][] {
  const key = `${from} ${to}`;
  const known = knownWays.get(key) ?? waysFrom(from, to, 4);
  knownWays.set(key, known);
  return known;
}

export class FunctionMaker {
  readonly #random: Random;
  readonly #callable: readonly MadeFunction[];
  readonly #variables: Variable[];
  readonly #locals: Variable[] = [];
  #code: string[] = [];
  /** Roots that may not be used otherwise, and those that may only be read. */
  readonly #locked = new Map<string, number>();
  readonly #frozen = new Map<string, number>();
  #names = 0;
  #usesGlobals = false;

  constructor(random: Random, callable: readonly MadeFunction[], parameters: readonly Variable[]) {
    this.#random = random;
    this.#callable = callable;
    this.#variables = parameters.filter(({ type }) => type !== 'signer');
  }

  /** @param isEntry returns all of its locals, and may create a resource */
  make(name: string, parameters: readonly Variable[], isEntry: boolean): MadeFunction {
    const random = this.#random;
    for (let count = 2 + random.below(4); count > 0; count -= 1) this.#declare(this.#anyType());
    if (isEntry && random.below(20) > 0) this.#moveTo();
    this.#statements(2 + random.below(7), 2);
    const result = random.pick(['u64', 'u8', 'bool', 'A', 'vector<u8>', 'B']);
    const given = this.#variables.filter((one) => this.#locals.includes(one));
    if (isEntry) for (const local of given) this.#emit(`CopyLoc ${local.name}`);
    else this.#value(result, 1);
    this.#emit('Ret');
    return {
      name,
      parameters: parameters.map((one) => one.name),
      declared: parameters,
      code: this.#code,
      result: isEntry ? given.map(({ type }) => type).join(', ') : result,
      locals: this.#locals,
      usesGlobals: this.#usesGlobals,
    };
  }

  #emit(...lines: string[]): void {
    this.#code.push(...lines);
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }

  #anyType(): string {
    return this.#random.pick(VALUE_TYPES);
  }

  #declare(type: string): Variable {
    const local = { name: this.#name('l'), type };
    this.#locals.push(local);
    this.#literal(type);
    this.#emit(`StLoc ${local.name}`);
    this.#variables.push(local);
    return local;
  }

  #isFree(root: string, forWriting: boolean): boolean {
    const isLocked = (this.#locked.get(root) ?? 0) > 0;
    return !isLocked && !(forWriting && (this.#frozen.get(root) ?? 0) > 0);
  }

  /** Runs `during` while a reference to a root is alive. */
  #holding(root: string, isMutable: boolean, during: () => void): void {
    const held = isMutable ? this.#locked : this.#frozen;
    held.set(root, (held.get(root) ?? 0) + 1);
    during();
    held.set(root, held.get(root)! - 1);
  }

  #free(type: string, forWriting: boolean): Variable[] {
    return this.#variables.filter(
      (one) =>
        one.reference === undefined && one.type === type && this.#isFree(one.name, forWriting),
    );
  }

  #statements(count: number, depth: number): void {
    for (let left = count; left > 0; left -= 1) this.#statement(depth);
  }

  #statement(depth: number): void {
    const type = this.#anyType();
    const kinds = [
      () => this.#assign(type),
      () => this.#write(type),
      () => this.#write(type),
      () => this.#swap(),
      () => this.#push(type),
      () => this.#pop(),
      () => this.#hold(type, depth),
      () => this.#hold(type, depth),
      () => this.#branch(depth),
      () => this.#takeGlobal(),
      () => this.#unpackVector(type),
      () => this.#throughLocal(type),
    ];
    this.#random.pick(kinds)();
  }

  #assign(type: string): void {
    const [local] = this.#free(type, true);
    if (local === undefined) return;
    this.#value(type, MAX_DEPTH);
    this.#emit(`StLoc ${local.name}`);
  }

  #write(type: string): void {
    const root = this.#rootOf(type, true);
    if (root === undefined) return;
    // The value comes first, when no reference is alive yet.
    this.#value(type, MAX_DEPTH);
    this.#borrow(root, type, true);
    this.#emit('WriteRef');
  }

  #swap(): void {
    const type = this.#random.pick(['vector<u8>', 'vector<u64>', 'vector<A>']);
    const root = this.#rootOf(type, true);
    if (root === undefined) return;
    this.#borrow(root, type, true);
    this.#emit(`LdU64 ${this.#index()}`, `LdU64 ${this.#index()}`, `VecSwap <${elementOf(type)}>`);
  }

  #push(element: string): void {
    const type = `vector<${element}>`;
    const root = this.#rootOf(type, true);
    if (root === undefined) return;
    this.#borrow(root, type, true);
    this.#holding(root.name, true, () => this.#value(element, MAX_DEPTH));
    this.#emit(`VecPushBack <${element}>`);
  }

  #pop(): void {
    const element = this.#random.pick(['u8', 'u64', 'A', 'vector<u64>']);
    const root = this.#rootOf(`vector<${element}>`, true);
    if (root === undefined) return;
    this.#borrow(root, `vector<${element}>`, true);
    this.#emit(`VecPopBack <${element}>`);
    const [local] = this.#free(element, true);
    this.#emit(local === undefined ? 'Pop' : `StLoc ${local.name}`);
  }

  /** Keeps a reference in a local and uses it for a while. */
  #hold(type: string, depth: number): void {
    const isMutable = this.#random.below(3) > 0;
    const root = this.#rootOf(type, isMutable);
    if (root === undefined || depth === 0) return;
    const held: Variable = { name: this.#name('r'), type, reference: isMutable ? 'mut' : 'imm' };
    this.#borrow(root, type, isMutable);
    this.#locals.push(held);
    this.#emit(`StLoc ${held.name}`);
    this.#holding(root.name, isMutable, () => {
      this.#variables.push(held);
      this.#statements(1 + this.#random.below(3), depth - 1);
      this.#variables.splice(this.#variables.indexOf(held), 1);
    });
    this.#emit(`MoveLoc ${held.name}`, 'Pop');
  }

  #branch(depth: number): void {
    if (depth === 0) return;
    const [end, other] = [this.#name('end'), this.#name('other')];
    this.#value('bool', 1);
    this.#emit(`BrFalse ${other}`);
    const before = this.#variables.length;
    this.#statements(1 + this.#random.below(2), depth - 1);
    this.#variables.length = before;
    this.#emit(`Branch ${end}`, `${other}:`);
    this.#statements(1, depth - 1);
    this.#variables.length = before;
    this.#emit(`${end}:`, 'LdTrue', 'Pop');
  }

  #moveTo(): void {
    this.#usesGlobals = true;
    this.#emit('CopyLoc s');
    this.#value('B', 1);
    this.#emit('MoveTo B');
  }

  #takeGlobal(): void {
    const [local] = this.#free('B', true);
    if (local === undefined || !this.#isFree(GLOBALS, true) || this.#random.below(3) > 0) return;
    this.#usesGlobals = true;
    this.#emit(`LdConst address ${this.#random.pick(ADDRESSES)}`, 'MoveFrom B');
    this.#emit(`StLoc ${local.name}`);
  }

  #unpackVector(element: string): void {
    const count = this.#random.below(3);
    for (let left = count; left > 0; left -= 1) this.#value(element, 1);
    this.#emit(`VecPack <${element}> ${count}`);
    const wanted = this.#random.below(8) === 0 ? count + 1 : count;
    this.#emit(`VecUnpack <${element}> ${wanted}`, ...Array<string>(wanted).fill('Pop'));
  }

  /** Moves a value out and back in, through another local. */
  #throughLocal(type: string): void {
    const [local, other] = this.#free(type, true);
    if (local === undefined || other === undefined) return;
    this.#emit(`MoveLoc ${local.name}`, `MoveLoc ${other.name}`);
    this.#emit(`StLoc ${local.name}`, `StLoc ${other.name}`);
  }

  #index(): number {
    return this.#random.pick([0, 0, 0, 0, 1, 2]);
  }

  /** A root from which a type can be reached. */
  #rootOf(type: string, isMutable: boolean): Variable | undefined {
    const roots = this.#variables.filter(
      (one) =>
        ways(one.type, type).length > 0 &&
        this.#isFree(one.name, isMutable) &&
        !(isMutable && one.reference === 'imm'),
    );
    if (this.#isFree(GLOBALS, isMutable) && this.#random.below(3) === 0) {
      if (ways('B', type).length > 0) roots.push({ name: GLOBALS, type: 'B' });
    }
    return roots.length === 0 ? undefined : this.#random.pick(roots);
  }

  #borrow(root: Variable, type: string, isMutable: boolean): void {
    const random = this.#random;
    // A mutable reference may be created and frozen afterwards, if nothing else reads the root.
    const canMutate =
      isMutable ||
      (root.reference !== 'imm' && this.#isFree(root.name, true) && random.below(3) === 0);
    const kind = canMutate ? 'Mut' : 'Imm';
    if (root.name === GLOBALS) {
      this.#usesGlobals = true;
      this.#emit(`LdConst address ${random.pick(ADDRESSES)}`, `${kind}BorrowGlobal B`);
    } else if (root.reference !== undefined) {
      this.#emit(`CopyLoc ${root.name}`);
      if (root.reference === 'mut' && kind === 'Imm') this.#emit('FreezeRef');
    } else this.#emit(`${kind}BorrowLoc ${root.name}`);
    for (const step of random.pick(ways(root.type, type))) {
      const element = /^VecImmBorrow <(.*)>$/.exec(step)?.[1];
      if (canMutate && step === 'ImmBorrowField A.x' && random.below(2) === 0)
        this.#emit('Call ax');
      else if (canMutate && element !== undefined && random.below(4) === 0) {
        this.#emit(`Call first<${element}>`);
      } else {
        if (element !== undefined) this.#emit(`LdU64 ${this.#index()}`);
        this.#emit(step.replace('Imm', kind));
      }
    }
    if (canMutate && !isMutable) this.#emit('FreezeRef');
  }

  #literal(type: string, depth = 2): void {
    const random = this.#random;
    const element = elementOf(type);
    if (type === 'u8' || type === 'u64') this.#emit(`Ld${type.toUpperCase()} ${random.below(4)}`);
    else if (type === 'bool') this.#emit(random.pick(['LdTrue', 'LdFalse']));
    else if (element !== undefined) {
      const count = depth === 0 ? 0 : 1 + random.below(3);
      for (let left = count; left > 0; left -= 1) this.#literal(element, depth - 1);
      this.#emit(`VecPack <${element}> ${count}`);
    } else if (type === 'E') {
      const [variant, fields] = random.pick(Object.entries(VARIANTS));
      for (const [, field] of fields) this.#literal(field, depth - 1);
      this.#emit(`PackVariant E.${variant}`);
    } else {
      for (const [, field] of STRUCTS[type]!) this.#literal(field, Math.max(0, depth - 1));
      this.#emit(`Pack ${type}`);
    }
  }

  #value(type: string, depth: number): void {
    if (depth === 0) {
      this.#literal(type, 1);
      return;
    }
    const kinds = [
      () => this.#literal(type),
      () => this.#copied(type),
      () => this.#readThrough(type),
      () => this.#readThrough(type),
      () => this.#called(type, depth),
      () => this.#derived(type, depth),
    ];
    this.#random.pick(kinds)();
  }

  #copied(type: string): void {
    const locals = this.#free(type, false);
    if (locals.length === 0) this.#literal(type);
    else this.#emit(`CopyLoc ${this.#random.pick(locals).name}`);
  }

  #readThrough(type: string): void {
    const root = this.#rootOf(type, false);
    if (root === undefined) {
      this.#literal(type);
      return;
    }
    this.#borrow(root, type, false);
    this.#emit('ReadRef');
  }

  /** Values that only some types can be derived from. */
  #derived(type: string, depth: number): void {
    const random = this.#random;
    if (type === 'u64') {
      this.#value('u64', depth - 1);
      this.#value('u64', depth - 1);
      this.#emit(random.below(6) === 0 ? 'Sub' : 'Add');
    } else if (type === 'bool') this.#compared(depth);
    else if (type === 'E') {
      const [variant] = random.pick(Object.entries(VARIANTS));
      this.#value('E', depth - 1);
      this.#emit(`UnpackVariant E.${variant}`, `PackVariant E.${variant}`);
    } else if (STRUCTS[type] !== undefined) {
      this.#value(type, depth - 1);
      this.#emit(`Unpack ${type}`, `Pack ${type}`);
    } else this.#copied(type);
  }

  #compared(depth: number): void {
    const random = this.#random;
    const type = this.#anyType();
    const root = this.#rootOf(random.below(4) === 0 ? 'E' : type, false);
    const kind = random.below(3);
    if (kind === 0 && root !== undefined && ways(root.type, 'E').length > 0) {
      this.#borrow(root, 'E', false);
      this.#emit(`TestVariant E.${random.pick(Object.keys(VARIANTS))}`);
    } else if (kind === 1 && root !== undefined && ways(root.type, type).length > 0) {
      this.#borrow(root, type, false);
      this.#holding(root.name, false, () => this.#borrow(root, type, false));
      this.#emit(random.pick(['Eq', 'Neq']));
    } else {
      this.#value(type, depth - 1);
      this.#value(type, depth - 1);
      this.#emit(random.pick(['Eq', 'Neq']), ...(random.below(2) === 0 ? ['Not'] : []));
    }
  }

  #called(type: string, depth: number): void {
    const fitting = this.#callable.filter(
      (one) => one.result === type && (!one.usesGlobals || this.#isFree(GLOBALS, true)),
    );
    if (fitting.length === 0) {
      this.#literal(type);
      return;
    }
    const target = this.#random.pick(fitting);
    this.#usesGlobals ||= target.usesGlobals;
    // Resources cannot be used if a function value has re-entered their module.
    const isPlain =
      !target.usesGlobals && target.declared.every(({ reference }) => reference === undefined);
    if (isPlain && this.#random.below(2) === 0) this.#closure(target, depth);
    else this.#arguments(target, 0, depth);
  }

  #arguments(target: MadeFunction, from: number, depth: number): void {
    const parameter = target.declared[from];
    if (parameter === undefined) {
      this.#emit(`Call ${target.name}`);
      return;
    }
    const { type, reference } = parameter;
    if (reference === undefined) {
      this.#value(type, depth - 1);
      this.#arguments(target, from + 1, depth);
      return;
    }
    const isMutable = reference === 'mut';
    const found = this.#rootOf(type, isMutable);
    // Resources that the function borrows itself must not be borrowed around the call.
    const isAllowed = found !== undefined && !(target.usesGlobals && found.name === GLOBALS);
    const root = isAllowed ? found : this.#declare(type);
    this.#borrow(root, type, isMutable);
    this.#holding(root.name, isMutable, () => this.#arguments(target, from + 1, depth));
  }

  /** Captured arguments come after the others, before the function value. */
  #closure(target: MadeFunction, depth: number): void {
    const { declared } = target;
    const mask = this.#random.below(1 << declared.length);
    const isCaptured = (index: number) => (mask & (1 << index)) !== 0;
    const given = declared.filter((_, index) => !isCaptured(index));
    for (const { type } of given) this.#value(type, depth - 1);
    declared.forEach(({ type }, index) => {
      if (isCaptured(index)) this.#value(type, depth - 1);
    });
    this.#emit(`PackClosure ${target.name} ${mask}`);
    const types = given.map(({ type }) => type).join(', ');
    this.#emit(`CallClosure <|${types}|${target.result}>`);
  }
}

/** The functions of a program, with the entry last. */
export function madeProgram(random: Random, prefix: string): MadeFunction[] {
  const made: MadeFunction[] = [];
  const helpers = random.below(3);
  for (let count = 0; count <= helpers; count += 1) {
    const isEntry = count === helpers;
    const parameters: Variable[] = isEntry
      ? [{ name: 's', type: 'signer', reference: 'imm' }]
      : Array.from({ length: random.below(3) }, (_, index) => ({
          name: `p${index}`,
          type: random.pick(VALUE_TYPES),
          ...random.pick([{}, { reference: 'mut' as const }, { reference: 'imm' as const }]),
        }));
    const maker = new FunctionMaker(random, made, parameters);
    made.push(maker.make(`${prefix}${isEntry ? '' : `_${count}`}`, parameters, isEntry));
  }
  return made;
}

export function functionText({ name, declared, code, result, locals }: MadeFunction): string {
  const parameters = declared.map((one) => `${one.name}: ${typeText(one)}`).join(', ');
  const declarations = locals.map((one) => `let ${one.name}: ${typeText(one)};`).join(' ');
  const lines = code.map((line) => (line.endsWith(':') ? line : `${line};`)).join(' ');
  return `fun ${name}(${parameters}): (${result}) { ${declarations} ${lines} }`;
}
