/** Events that a new module emits are structs of its own with the attribute of events (docs/spec/verifier.md §6.5). */
import type {
  CompiledModule,
  CompiledScript,
  SignatureToken,
} from '../../move/modules/compiled.ts';
import { ATTRIBUTE_KINDS, moduleMetadata } from '../../move/modules/metadata.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { VmError } from '../status/vm-error.ts';
import { isOneOf } from '../verifier/model/by-opcode.ts';
import { functionSubject } from '../verifier/model/subject.ts';
import { mismatch } from './mismatch.ts';

const INSTANTIATES = isOneOf(['CallGeneric', 'PackClosureGeneric']);

function demand(isRight: boolean, otherwise: string): void {
  if (!isRight) throw mismatch(otherwise, 'EVENT_METADATA_VALIDATION_ERROR');
}

/**
 * @param old the module before the publication
 * @throws VmError EVENT_METADATA_VALIDATION_ERROR
 */
export function checkEvents(module: CompiledModule, old: CompiledModule | undefined): void {
  const events = eventsOf(module);
  for (const { code } of module.functionDefinitions) {
    for (const instruction of code?.code ?? []) {
      if (!INSTANTIATES[instruction.opcode]) continue;
      const { handleIndex, signature } = functionSubject(module, instruction);
      if (!isEmit(module, handleIndex)) continue;
      checkEmitted(module, module.signatures[signature!]![0], events);
    }
  }
  if (old === undefined) return;
  for (const name of eventsOf(old)) demand(events.has(name), 'Invalid change in event attributes');
}

function checkEmitted(
  module: CompiledModule,
  type: SignatureToken | undefined,
  events: ReadonlySet<string>,
): void {
  if (type?.kind !== 'struct') {
    const text = 'Passed in a non-struct parameter into 0x1::event::emit.';
    throw mismatch(text, 'EVENT_METADATA_VALIDATION_ERROR');
  }
  const handle = module.structHandles[type.handle]!;
  const name = module.identifiers[handle.name]!;
  demand(
    handle.module === module.selfHandle,
    `${name} passed to 0x1::event::emit function is not defined in the same module`,
  );
  demand(
    events.has(name),
    `Missing #[event] attribute on ${name}. The #[event] attribute is required for all structs ` +
      'passed into 0x1::event::emit.',
  );
}

function eventsOf(module: CompiledModule): ReadonlySet<string> {
  const events = new Set<string>();
  for (const [name, attributes] of moduleMetadata(module).structAttributes) {
    for (const { kind } of attributes) {
      if (kind !== ATTRIBUTE_KINDS.event) continue;
      demand(!events.has(name), 'Found duplicate event attribute');
      events.add(name);
    }
  }
  return events;
}

/** Scripts emit no events. @throws VmError INVALID_OPERATION_IN_SCRIPT */
export function checkScriptEvents(script: CompiledScript): void {
  if (script.functionHandles.some((_, handle) => isEmit(script, handle))) {
    throw new VmError('INVALID_OPERATION_IN_SCRIPT');
  }
}

function isEmit(
  { functionHandles, moduleHandles, identifiers, addresses }: CompiledModule | CompiledScript,
  handle: number,
): boolean {
  const { module, name } = functionHandles[handle]!;
  const { address, name: moduleName } = moduleHandles[module]!;
  return (
    identifiers[name] === 'emit' &&
    identifiers[moduleName] === 'event' &&
    addresses[address] === ADDRESS_ONE
  );
}
