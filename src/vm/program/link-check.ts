/** What a module says about a function of another one must be true of that one: checked when they are linked. */
import type { FunctionHandle } from '../../move/modules/compiled.ts';
import { areSameTypes, isSameSignature } from '../../move/modules/type-equality.ts';
import { VmError } from '../status/vm-error.ts';
import type { LoadedFunction, LoadedModule } from './loaded-module.ts';

/** @throws VmError LINKER_ERROR */
export function checkLink(
  from: LoadedModule,
  declared: FunctionHandle,
  target: LoadedFunction,
): void {
  const { module, handle } = target;
  if (from.compiled === module.compiled) {
    if (declared === handle) return;
  } else if (!isVisible(from, target)) {
    throw new VmError('LINKER_ERROR', { text: `${target.name} is not visible` });
  }
  const isSame =
    declared.typeParameters.length === handle.typeParameters.length &&
    isSameSignature(from.compiled, declared.parameters, module.compiled, handle.parameters) &&
    isSameSignature(from.compiled, declared.return, module.compiled, handle.return);
  if (!isSame) throw new VmError('LINKER_ERROR', { text: `${target.name} has another signature` });
}

/** Whether a function can be called instead of a native one whose last parameter only says which function that is. */
export function sameSignature(native: LoadedFunction, target: LoadedFunction): boolean {
  return (
    target.visibility === 'public' &&
    native.handle.typeParameters.length === target.handle.typeParameters.length &&
    areSameTypes(
      native.module.compiled,
      native.parameters.slice(0, -1),
      target.module.compiled,
      target.parameters,
    ) &&
    areSameTypes(native.module.compiled, native.results, target.module.compiled, target.results)
  );
}

function isVisible(from: LoadedModule, { visibility, module }: LoadedFunction): boolean {
  if (visibility !== 'friend') return visibility === 'public';
  const { friends, addresses, identifiers } = module.compiled;
  return friends.some(
    ({ address, name }) =>
      identifiers[name] === from.id.name && addresses[address] === from.id.address,
  );
}
