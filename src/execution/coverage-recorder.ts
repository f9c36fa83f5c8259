/** Counts how often each instruction of published modules runs, and which way branches go (docs/traces.md). */
import type { CompiledModule, Instruction } from '../move/modules/compiled.ts';
import { functionNameOfHandle, moduleIdOf } from '../move/modules/compiled.ts';
import { OPCODES } from '../move/modules/opcodes.ts';
import { isReservedAddress } from '../move/types/address.ts';
import { type ModuleId, moduleKey } from '../move/types/module-id.ts';
import type { ObservedRun, RunObserver } from '../vm/observer.ts';
import type { LoadedFunction } from '../vm/program/loaded-module.ts';

/** Counts by instruction. */
export interface FunctionCoverage {
  readonly name: string;
  readonly definition: number;
  readonly code: readonly Instruction[];
  /** How often it ran. */
  readonly hits: Float64Array;
  /** How often a conditional branch jumped. */
  readonly jumps: Float64Array;
}

export interface ModuleCoverage {
  readonly id: ModuleId;
  /** Functions that are not native, in the order of the module. */
  readonly functions: readonly FunctionCoverage[];
}

/** Maximum number of modules that are counted. */
export const MAX_COVERED_MODULES = 10_000;

export class CoverageRecorder implements RunObserver {
  readonly #modules = new Map<string, ModuleCoverage>();
  readonly #known = new WeakMap<CompiledModule, ModuleCoverage>();
  /** Holds `undefined` for functions that are not counted. */
  readonly #functions = new WeakMap<LoadedFunction, FunctionCoverage | undefined>();

  /** Sorted by name. An upgraded module is shown in its last form. */
  get modules(): readonly ModuleCoverage[] {
    const all = [...this.#modules].sort(([left], [right]) => (left < right ? -1 : 1));
    return all.map(([, module]) => module);
  }

  /** Adds a module even if nothing of it has run. @returns undefined for those of the framework */
  add(compiled: CompiledModule): ModuleCoverage | undefined {
    const known = this.#known.get(compiled);
    if (known !== undefined) return known;
    const id = moduleIdOf(compiled);
    if (isReservedAddress(id.address)) return undefined;
    const key = moduleKey(id);
    const before = this.#modules.get(key);
    if (before === undefined && this.#modules.size >= MAX_COVERED_MODULES) return undefined;
    let module = coverageOf(id, compiled);
    // The same bytes may have been loaded twice.
    if (before !== undefined && isSameCode(before, module)) module = before;
    this.#modules.set(key, module);
    this.#known.set(compiled, module);
    return module;
  }

  instruction({ frame, stack }: ObservedRun): void {
    const { function: running, pc } = frame!;
    if (running.module.isFree) return;
    const known = this.#functions.get(running);
    const isKnown = known !== undefined || this.#functions.has(running);
    const found = isKnown ? known : this.#coverageOf(running);
    if (found === undefined) return;
    const at = pc - 1;
    found.hits[at]! += 1;
    const jumpsIf = CONDITIONS.get(found.code[at]!.opcode);
    if (jumpsIf !== undefined && stack.at(-1) === jumpsIf) found.jumps[at]! += 1;
  }

  retried({ frame }: ObservedRun): void {
    const found = this.#functions.get(frame!.function);
    if (found !== undefined) found.hits[frame!.pc]! -= 1;
  }

  #coverageOf(running: LoadedFunction): FunctionCoverage | undefined {
    const module = this.add(running.module.compiled);
    const found = module?.functions.find(({ definition }) => definition === running.definition);
    this.#functions.set(running, found);
    return found;
  }
}

/** Conditional branches, and the value that makes them jump. */
const CONDITIONS: ReadonlyMap<number, boolean> = new Map([
  [OPCODES.findIndex((info) => info?.name === 'BrTrue'), true],
  [OPCODES.findIndex((info) => info?.name === 'BrFalse'), false],
]);

/** Indexes of conditional branches. */
export function branchesOf({ code }: FunctionCoverage): number[] {
  return code.flatMap(({ opcode }, at) => (CONDITIONS.has(opcode) ? [at] : []));
}

function coverageOf(id: ModuleId, compiled: CompiledModule): ModuleCoverage {
  const functions = compiled.functionDefinitions.flatMap(({ handle, code }, definition) => {
    if (code === undefined) return [];
    const { length } = code.code;
    const name = functionNameOfHandle(compiled, handle);
    const [hits, jumps] = [new Float64Array(length), new Float64Array(length)];
    return [{ name, definition, code: code.code, hits, jumps }];
  });
  return { id, functions };
}

function isSameCode(left: ModuleCoverage, right: ModuleCoverage): boolean {
  const shapeOf = ({ functions }: ModuleCoverage) =>
    functions.map(({ name, code }) => [
      name,
      ...code.map(({ opcode, operand }) => `${opcode} ${operand}`),
    ]);
  return JSON.stringify(shapeOf(left)) === JSON.stringify(shapeOf(right));
}
