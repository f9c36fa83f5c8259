/** Scripts as modules of one function, so that they run as all code does. */
import type { CompiledModule, CompiledScript } from '../move/modules/compiled.ts';
import type { ModuleId } from '../move/types/module-id.ts';

const SCRIPT_NAME = 'a script';
const MAIN = 'main';
export function isScript({ name }: ModuleId): boolean {
  return name === SCRIPT_NAME;
}

/** @param script verified before, so it has no instruction that only modules can have */
export function scriptModule(script: CompiledScript): CompiledModule {
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
