/**
 * Checks the code of one function and makes its operations (docs/spec/vm.md §3). Like the verifier of the reference it
 * knows the type of every value on the stack, because the stack is empty wherever code can be jumped to, and locals
 * have declared types. Abilities and borrows are not checked: code that is wrong there gives other results, but cannot
 * do harm. Locals that were moved out, places that are gone and variants are checked while code runs.
 */
import type { CodeUnit, CompiledModule, Instruction } from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import type { Value } from '../value.ts';
import { refusedCode } from '../vm-error.ts';
import type { CheckedType, CheckedTypes } from './checked-type.ts';
import {
  type ClosureSite,
  type FunctionCode,
  type OperationName,
  operationNumber,
} from './operation.ts';

/** Most values that one function may have on the stack: as many as the whole stack holds. */
export const MAX_STACK = 1_024;

const ENDS_BLOCK = new Set(['Ret', 'Abort', 'AbortMsg', 'Branch', 'BrTrue', 'BrFalse']);
const NEVER_GOES_ON = new Set(['Ret', 'Abort', 'AbortMsg', 'Branch']);

/** One instruction: its types are taken from the stack and given to it, its operation is emitted. */
export type Rule = (checker: Checker, instruction: Instruction) => void;
export type Rules = Readonly<Record<string, Rule>>;

interface FunctionUnderCheck {
  readonly module: CompiledModule;
  readonly types: CheckedTypes;
  readonly unit: CodeUnit;
  /** Their signatures. */
  readonly parameters: number;
  readonly results: number;
}

export class Checker {
  readonly module: CompiledModule;
  readonly types: CheckedTypes;
  readonly locals: readonly CheckedType[];
  readonly results: readonly CheckedType[];
  readonly constants: Value[] = [];
  readonly closures: ClosureSite[] = [];
  readonly #unit: CodeUnit;
  readonly #parameterCount: number;
  readonly #operations: Uint8Array;
  readonly #operands: Int32Array;
  readonly #stack: CheckedType[] = [];
  #maxStack = 0;
  #at = 0;

  constructor({ module, types, unit, parameters, results }: FunctionUnderCheck) {
    this.module = module;
    this.types = types;
    this.#unit = unit;
    const given = types.signature(parameters);
    this.#parameterCount = given.length;
    this.locals = [...given, ...types.signature(unit.locals)];
    this.results = types.signature(results);
    this.#operations = new Uint8Array(unit.code.length);
    this.#operands = new Int32Array(unit.code.length);
  }

  /** @throws VmError VERIFICATION_ERROR */
  check(rules: Rules): FunctionCode {
    const { code } = this.#unit;
    const targets = jumpTargets(code);
    let goesOn = true;
    for (this.#at = 0; this.#at < code.length; this.#at += 1) {
      if (targets.has(this.#at)) this.expectEmpty();
      const instruction = code[this.#at]!;
      const { name } = OPCODES[instruction.opcode]!;
      rules[name]!(this, instruction);
      if (ENDS_BLOCK.has(name)) this.expectEmpty();
      goesOn = !NEVER_GOES_ON.has(name);
    }
    if (goesOn) throw refusedCode('code without an end');
    return {
      operations: this.#operations,
      operands: this.#operands,
      constants: this.constants,
      closures: this.closures,
      localCount: this.locals.length,
      parameterCount: this.#parameterCount,
      resultCount: this.results.length,
      maxStack: this.#maxStack,
    };
  }

  emit(operation: OperationName, operand = 0): void {
    this.#operations[this.#at] = operationNumber(operation);
    this.#operands[this.#at] = operand;
  }

  push(type: CheckedType): void {
    this.#stack.push(type);
    if (this.#stack.length > MAX_STACK) throw refusedCode('too many values');
    this.#maxStack = Math.max(this.#maxStack, this.#stack.length);
  }

  pushKind(kind: CheckedType['kind']): void {
    this.push(this.types.primitive(kind));
  }

  pop(): CheckedType {
    const type = this.#stack.pop();
    if (type === undefined) throw refusedCode('stack underflow');
    return type;
  }

  /** Takes a value that must have a type. */
  expect(type: CheckedType): void {
    if (this.pop() !== type) throw refusedCode('value of another type');
  }

  expectKind(kind: CheckedType['kind']): void {
    this.expect(this.types.primitive(kind));
  }

  /** Takes values in the order in which they were given, the last one first. */
  expectAll(types: readonly CheckedType[]): void {
    for (let index = types.length - 1; index >= 0; index -= 1) this.expect(types[index]!);
  }

  /** Takes a reference and gives what it is to. */
  popReference(isMutable: boolean): CheckedType {
    const type = this.pop();
    if (type.kind !== 'reference' || (isMutable && !type.isMutable)) {
      throw refusedCode('not such a reference');
    }
    return type.parts[0]!;
  }

  expectEmpty(): void {
    if (this.#stack.length > 0) throw refusedCode('values left on the stack');
  }
}

function jumpTargets(code: readonly Instruction[]): ReadonlySet<number> {
  const targets = new Set<number>();
  for (const { opcode, operand } of code) {
    if (OPCODES[opcode]!.operand === 'offset') targets.add(operand as number);
  }
  return targets;
}
