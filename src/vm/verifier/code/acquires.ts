/** A function declares the resources of its module that it borrows or takes (docs/spec/verifier.md §3.16). */
import type { CompiledModule, FunctionDefinition } from '../../../move/modules/compiled.ts';
import { hasAll, KEY } from '../../../move/types/abilities.ts';
import { VmError } from '../../status/vm-error.ts';
import { isOneOf } from '../model/by-opcode.ts';
import { functionSubject, structSubject } from '../model/subject.ts';

const CALLS = isOneOf(['Call', 'CallGeneric']);
const ACQUIRES = isOneOf([
  ...['MoveFrom', 'MutBorrowGlobal', 'ImmBorrowGlobal'],
  ...['MoveFromGeneric', 'MutBorrowGlobalGeneric', 'ImmBorrowGlobalGeneric'],
]);

/** @param definitionOf function definitions by handle. @throws VmError */
export function checkAcquires(
  module: CompiledModule,
  { acquires, code }: FunctionDefinition,
  definitionOf: ReadonlyMap<number, FunctionDefinition>,
): void {
  const declared = new Set(acquires);
  const actual = new Set<number>();
  const acquire = (definition: number) => {
    if (!declared.has(definition)) throw new VmError('MISSING_ACQUIRES_ANNOTATION');
    actual.add(definition);
  };
  for (const instruction of code!.code) {
    if (CALLS[instruction.opcode]) {
      const callee = definitionOf.get(functionSubject(module, instruction).handleIndex);
      for (const definition of callee?.acquires ?? []) acquire(definition);
    } else if (ACQUIRES[instruction.opcode])
      acquire(structSubject(module, instruction).definitionIndex);
  }
  for (const definition of [...declared].sort((a, b) => a - b)) {
    if (!actual.has(definition)) throw new VmError('EXTRANEOUS_ACQUIRES_ANNOTATION');
    const { handle } = module.structDefinitions[definition]!;
    if (!hasAll(module.structHandles[handle]!.abilities, KEY)) {
      throw new VmError('INVALID_ACQUIRES_ANNOTATION');
    }
  }
}
