/** Scripts as modules of one function, so that they are linked, checked and run as all code is. */
import type { CompiledModule, CompiledScript } from '../../move/modules/compiled.ts';
import { OPCODES, type OperandKind } from '../../move/modules/opcodes.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { refusedCode } from '../../vm/vm-error.ts';

/** No module has such a name. */
const SCRIPT_NAME = 'a script';
const MAIN = 'main';
/** Operands that name tables of modules: in scripts readers do not check them (docs/spec/move.md §1.11). */
const OF_MODULES: ReadonlySet<OperandKind> = new Set<OperandKind>([
  ...(['struct', 'structInstantiation', 'fieldHandle', 'fieldInstantiation'] as const),
  ...(['variantFieldHandle', 'variantFieldInstantiation'] as const),
  ...(['structVariantHandle', 'structVariantInstantiation'] as const),
]);

export function isScript({ name }: ModuleId): boolean {
  return name === SCRIPT_NAME;
}

/** @throws VmError VERIFICATION_ERROR for an instruction that only modules can have */
export function scriptModule(script: CompiledScript): CompiledModule {
  for (const { opcode } of script.code.code) {
    const { name, operand } = OPCODES[opcode]!;
    if (OF_MODULES.has(operand)) throw refusedCode(`${name} in a script`);
  }
  const { identifiers, addresses, signatures, moduleHandles, functionHandles } = script;
  const selfHandle = moduleHandles.length;
  return {
    ...script,
    kind: 'module',
    identifiers: [...identifiers, SCRIPT_NAME, MAIN],
    addresses: [...addresses, '0'.repeat(64)],
    signatures: [...signatures, []],
    moduleHandles: [...moduleHandles, { address: addresses.length, name: identifiers.length }],
    functionHandles: [
      ...functionHandles,
      {
        module: selfHandle,
        name: identifiers.length + 1,
        parameters: script.parameters,
        return: signatures.length,
        typeParameters: script.typeParameters,
        attributes: [],
      },
    ],
    functionDefinitions: [
      {
        handle: functionHandles.length,
        visibility: 'private',
        isEntry: true,
        isNative: false,
        acquires: [],
        code: script.code,
      },
    ],
    selfHandle,
    structDefinitions: [],
    structInstantiations: [],
    fieldHandles: [],
    fieldInstantiations: [],
    friends: [],
    variantFieldHandles: [],
    variantFieldInstantiations: [],
    structVariantHandles: [],
    structVariantInstantiations: [],
  };
}
