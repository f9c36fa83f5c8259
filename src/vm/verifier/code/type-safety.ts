/** Every instruction finds values of the types that it needs (docs/spec/verifier.md §3.13). */
import type { Instruction } from '../../../move/modules/compiled.ts';
import { byOpcode } from '../model/by-opcode.ts';
import type { VerifierMeter } from '../model/verifier-meter.ts';
import type { FunctionView } from './function-view.ts';
import { SIMPLE_TYPE_RULES } from './simple-type-rules.ts';
import { STRUCTURE_TYPE_RULES } from './structure-type-rules.ts';
import { TypeChecker, type TypeRule } from './type-checker.ts';

const RULES = byOpcode<TypeRule>({ ...SIMPLE_TYPE_RULES, ...STRUCTURE_TYPE_RULES });

/** Code that is not reached is checked too. @throws VmError */
export function checkTypes(view: FunctionView, meter: VerifierMeter): void {
  const checker = new TypeChecker(view, meter);
  for (const instruction of view.code) applyTypeRule(checker, instruction);
}

/** Takes from the stack what an instruction needs, and puts there what it gives. @throws VmError */
export function applyTypeRule(checker: TypeChecker, instruction: Instruction): void {
  RULES[instruction.opcode]!(checker, instruction);
}
