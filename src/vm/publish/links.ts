/** What a module or script says of other modules is true of them (docs/spec/verifier.md §4). */
import {
  type BinaryTables,
  type CompiledModule,
  type CompiledScript,
  type FunctionHandle,
  moduleIdOfHandle,
  type StructHandle,
} from '../../move/modules/compiled.ts';
import { isSameSignature } from '../../move/modules/type-equality.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { missingModule } from '../program/program.ts';
import { VmError } from '../status/vm-error.ts';
import { hasAttributes, PERSISTENT } from '../verifier/model/attributes.ts';
import { definedFunctions, definedStructs } from './definitions.ts';

/**
 * @param moduleOf the modules that this one is linked with
 * @throws VmError LINKER_ERROR, LOOKUP_FAILED, TYPE_MISMATCH
 */
export function checkLinks(
  binary: CompiledModule | CompiledScript,
  moduleOf: (id: ModuleId) => CompiledModule | undefined,
): void {
  const self = binary.kind === 'module' ? binary.selfHandle : undefined;
  const imported = binary.moduleHandles.map((handle, index) => {
    if (index === self) return undefined;
    const id = moduleIdOfHandle(binary, handle);
    const module = moduleOf(id);
    if (module === undefined) throw missingModule(id);
    return module;
  });
  for (const handle of binary.structHandles) {
    const module = imported[handle.module];
    if (module !== undefined) checkStruct(binary, handle, module);
  }
  for (const handle of binary.functionHandles) {
    const module = imported[handle.module];
    if (module !== undefined) checkFunction(binary, handle, module);
  }
}

function checkStruct(binary: BinaryTables, handle: StructHandle, module: CompiledModule): void {
  const definition = definedStructs(module).get(binary.identifiers[handle.name]!);
  if (definition === undefined) throw new VmError('LOOKUP_FAILED');
  const defined = module.structHandles[definition.handle]!;
  const { typeParameters } = handle;
  const isRight =
    (handle.abilities & ~defined.abilities) === 0 &&
    typeParameters.length === defined.typeParameters.length &&
    typeParameters.every(({ constraints, isPhantom }, place) => {
      const parameter = defined.typeParameters[place]!;
      return (!isPhantom || parameter.isPhantom) && (parameter.constraints & ~constraints) === 0;
    });
  if (!isRight) throw new VmError('TYPE_MISMATCH');
}

function checkFunction(
  binary: CompiledModule | CompiledScript,
  handle: FunctionHandle,
  module: CompiledModule,
): void {
  const definition = definedFunctions(module).get(binary.identifiers[handle.name]!);
  if (definition === undefined) throw new VmError('LOOKUP_FAILED');
  const { visibility } = definition;
  const isVisible =
    visibility === 'public' || (visibility === 'friend' && isFriend(binary, module));
  if (!isVisible) throw new VmError('LOOKUP_FAILED');
  const defined = module.functionHandles[definition.handle]!;
  const { typeParameters } = handle;
  const isRight =
    typeParameters.length === defined.typeParameters.length &&
    typeParameters.every((abilities, at) => (defined.typeParameters[at]! & ~abilities) === 0) &&
    isSameSignature(binary, handle.parameters, module, defined.parameters) &&
    isSameSignature(binary, handle.return, module, defined.return);
  if (!isRight) throw new VmError('TYPE_MISMATCH');
  let { attributes } = defined;
  // A public function of older compilers has no attribute that says that it persists.
  if (attributes.length === 0 && visibility === 'public') attributes = [{ code: PERSISTENT }];
  if (!hasAttributes(attributes, handle.attributes)) throw new VmError('LINKER_ERROR');
}

function isFriend(binary: CompiledModule | CompiledScript, module: CompiledModule): boolean {
  if (binary.kind === 'script') return false;
  const self = binary.moduleHandles[binary.selfHandle]!;
  return module.friends.some(
    ({ address, name }) =>
      module.addresses[address] === binary.addresses[self.address] &&
      module.identifiers[name] === binary.identifiers[self.name],
  );
}
