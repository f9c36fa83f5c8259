/**
 * Restrictions for a module that is reentered while it runs. Only function values and dispatching natives can reenter
 * it (docs/spec/vm.md §4.6).
 */
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import type { LoadedFunction } from '../program/loaded-module.ts';
import type { VmType } from '../program/vm-type.ts';
import { VmError } from '../status/status.ts';

/** How a function was called: by its name in code, by a dispatching native, or as a function value. */
export type CallKind = 'static' | 'native' | 'closure';

interface RunningFunction {
  readonly function: LoadedFunction;
  readonly kind: CallKind;
}

/** The attribute of functions during which no running module may be entered (docs/spec/move.md §1.5). */
const MODULE_LOCK = 2;

function isSame(left: ModuleId, right: ModuleId): boolean {
  return left.name === right.name && left.address === right.address;
}

function isLocking({ function: { handle }, kind }: RunningFunction): boolean {
  return kind === 'native' || handle.attributes.some(({ code }) => code === MODULE_LOCK);
}

/** Refuses to enter a module that runs already, during a lock. @throws VmError RUNTIME_DISPATCH_ERROR */
export function checkEntry(running: readonly RunningFunction[], target: LoadedFunction): void {
  const { id } = target.module;
  const caller = running.at(-1);
  if (caller === undefined || isSame(caller.function.module.id, id)) return;
  if (!running.some(isLocking)) return;
  if (!running.some((one) => isSame(one.function.module.id, id))) return;
  const text =
    `Reentrancy disallowed: reentering \`${moduleKey(id)}\` via function \`${target.name}\` ` +
    '(module lock is active)';
  throw new VmError('RUNTIME_DISPATCH_ERROR', { text });
}

/** Refuses to use a resource of a module that was entered more than once. @throws VmError RUNTIME_DISPATCH_ERROR */
export function checkResource(running: readonly RunningFunction[], { tag }: VmType): void {
  if (tag.kind !== 'struct') return;
  const id = { address: tag.struct.address, name: tag.struct.module };
  let entries = 0;
  running.forEach((one, index) => {
    const { module } = one.function;
    if (!isSame(module.id, id)) return;
    const caller = running[index - 1]?.function.module.id;
    if (caller === undefined || !isSame(caller, id) || one.kind === 'closure') entries += 1;
  });
  if (entries <= 1) return;
  const text =
    `Resource \`${moduleKey(id)}::${tag.struct.name}\` cannot be accessed because of active reentrancy ` +
    'of defining module.';
  throw new VmError('RUNTIME_DISPATCH_ERROR', { text });
}
