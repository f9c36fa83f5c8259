/** Instructions with type arguments name generic things, others do not (docs/spec/verifier.md §3.5). */
import type { CompiledModule, CompiledScript, Instruction } from '../../move/modules/compiled.ts';
import { OPCODES } from '../../move/modules/opcodes.ts';
import { VmError } from '../status/vm-error.ts';
import { functionSubject, structSubject } from './model/subject.ts';

/** Most elements that VecPack and VecUnpack may name. */
const MAX_ELEMENTS = 65_535n;

const ON_FUNCTIONS = OPCODES.map((info) => info?.operand.startsWith('function') === true);
const ON_STRUCTS = OPCODES.map((info) => /struct|field/i.test(info?.operand ?? ''));

/** @throws VmError */
export function checkInstructions(
  binary: CompiledModule | CompiledScript,
  code: readonly Instruction[],
): void {
  for (const instruction of code) {
    const { opcode, count = 0n, mask = 0n } = instruction;
    if (count > MAX_ELEMENTS) throw new VmError('CONSTRAINT_NOT_SATISFIED');
    if (ON_STRUCTS[opcode]) {
      const { definition, signature } = structSubject(binary, instruction);
      checkGeneric(binary.structHandles[definition.handle]!, signature);
    } else if (ON_FUNCTIONS[opcode]) {
      const { handle, signature } = functionSubject(binary, instruction);
      checkGeneric(handle, signature);
      const { length } = binary.signatures[handle.parameters]!;
      if (mask >> BigInt(length) !== 0n) throw new VmError('INVALID_CLOSURE_MASK');
    }
  }
}

function checkGeneric(
  { typeParameters }: { readonly typeParameters: readonly unknown[] },
  signature: number | undefined,
): void {
  if (typeParameters.length > 0 !== (signature !== undefined)) {
    throw new VmError('GENERIC_MEMBER_OPCODE_MISMATCH');
  }
}
