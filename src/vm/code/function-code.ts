/** The code of functions, checked when it is first run and then remembered with its module. */
import type { CompiledModule } from '../../move/modules/compiled.ts';
import { refusedCode } from '../vm-error.ts';
import { CheckedTypes } from './checked-type.ts';
import { Checker } from './checker.ts';
import type { FunctionCode } from './operation.ts';
import { SIMPLE_RULES } from './simple-rules.ts';
import { STRUCTURE_RULES } from './structure-rules.ts';

const RULES = { ...SIMPLE_RULES, ...STRUCTURE_RULES };

/** Loaded modules never change and live as long as they are cached; code is about as large as its instructions. */
const codes = new WeakMap<CompiledModule, (FunctionCode | undefined)[]>();

/** The code of a function definition that is not native. @throws VmError VERIFICATION_ERROR */
export function functionCode(module: CompiledModule, definition: number): FunctionCode {
  let known = codes.get(module);
  if (known === undefined) {
    known = [];
    codes.set(module, known);
  }
  let code = known[definition];
  if (code === undefined) {
    const { handle: handleIndex, code: unit } = module.functionDefinitions[definition]!;
    if (unit === undefined) throw refusedCode('native function');
    const { parameters, return: results } = module.functionHandles[handleIndex]!;
    const types = new CheckedTypes(module);
    code = new Checker({ module, types, unit, parameters, results }).check(RULES);
    known[definition] = code;
  }
  return code;
}
