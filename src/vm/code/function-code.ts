/** The code of functions, compiled on first run and cached with its module (docs/spec/vm.md §3). */
import type { CompiledModule } from '../../move/modules/compiled.ts';
import { VmError, verificationError } from '../status/status.ts';
import { blockStarts, endsFlow } from '../verifier/code/control-flow.ts';
import { TypeChecker } from '../verifier/code/type-checker.ts';
import { applyTypeRule } from '../verifier/code/type-rules.ts';
import { TypeTable } from '../verifier/model/type-table.ts';
import { DEFAULT_VERIFIER_CONFIG, VerifierMeter } from '../verifier/model/verifier-config.ts';
import { checkInstructions } from '../verifier/signatures.ts';
import { Emitter } from './emitter.ts';
import type { FunctionCode } from './operation.ts';

/** Most values that one function may have on the stack: the size of the whole stack. */
const MAX_STACK = 1_024;

interface Codes {
  readonly types: TypeTable;
  readonly functions: (FunctionCode | undefined)[];
}

/** Loaded modules never change and live as long as they are cached; code is about as large as its instructions. */
const codes = new WeakMap<CompiledModule, Codes>();

/** The code of a function definition that is not native. @throws VmError VERIFICATION_ERROR */
export function functionCode(module: CompiledModule, definition: number): FunctionCode {
  try {
    let known = codes.get(module);
    if (known === undefined) {
      known = { types: new TypeTable(module), functions: [] };
      codes.set(module, known);
    }
    known.functions[definition] ??= makeCode(module, known.types, definition);
    return known.functions[definition];
  } catch (error) {
    throw error instanceof VmError ? verificationError(error.message) : error;
  }
}

/** @throws VmError with the status of the verifier */
function makeCode(module: CompiledModule, types: TypeTable, definition: number): FunctionCode {
  const { handle: handleIndex, code: unit } = module.functionDefinitions[definition]!;
  if (unit === undefined) throw verificationError('native function');
  const { code } = unit;
  const { signatures } = module;
  const handle = module.functionHandles[handleIndex]!;
  const parameters = signatures[handle.parameters]!;
  const view = {
    binary: module,
    types,
    locals: [...parameters, ...signatures[unit.locals]!],
    results: signatures[handle.return]!,
    typeParameters: handle.typeParameters,
  };
  checkInstructions(module, code);
  const last = code.at(-1);
  if (last === undefined || !endsFlow(last)) throw verificationError('code without an end');
  const checker = new TypeChecker(
    view,
    new VerifierMeter(DEFAULT_VERIFIER_CONFIG.maxFunctionMeterUnits),
  );
  const emitter = new Emitter(module, code.length);
  const isStart = blockStarts(code);
  for (let at = 0; at < code.length; at += 1) {
    if (isStart[at] === 1 && checker.depth > 0) throw verificationError('values left on the stack');
    const instruction = code[at]!;
    const before = checker.top;
    applyTypeRule(checker, instruction);
    emitter.next(instruction, before, checker.top);
    if (checker.depth > MAX_STACK) throw verificationError('too many values');
  }
  if (checker.depth > 0) throw verificationError('values left on the stack');
  return {
    ...emitter.code,
    localCount: view.locals.length,
    parameterCount: parameters.length,
  };
}
