/** Checks the metadata of a new module: attributes, events, resource groups (docs/spec/verifier.md §6.3–6.5). */
import { tryParse } from '../../move/errors.ts';
import {
  type CompiledModule,
  type CompiledScript,
  type FunctionDefinition,
  moduleIdOf,
  type SignatureToken,
  type StructDefinition,
} from '../../move/modules/compiled.ts';
import {
  ATTRIBUTE_KINDS,
  hasMetadata,
  isMetadataWellFormed,
  type MetadataAttribute,
  moduleMetadata,
} from '../../move/modules/metadata.ts';
import { hasAll, KEY } from '../../move/types/abilities.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { missingModule } from '../program/program.ts';
import { VmError } from '../status/status.ts';
import { flagsByOpcode, functionSubject } from '../verifier/model/instructions.ts';
import { definedFunctions, definedStructs, mismatch } from './compatibility.ts';

/** Scopes from which a group may have members, the widest first. */
const SCOPES = ['global', 'address', 'module_'] as const;
type Scope = (typeof SCOPES)[number];

/** The scope of a group; absent for other attributes and for scopes that do not exist. */
function groupScopeOf({ kind, args }: MetadataAttribute): Scope | undefined {
  if (kind !== ATTRIBUTE_KINDS.resourceGroup) return undefined;
  return SCOPES.find((scope) => scope === args[0]);
}

/** The group that a struct belongs to; absent for other attributes and for an invalid struct name. */
function memberGroupOf({ kind, args }: MetadataAttribute): StructTag | undefined {
  if (kind !== ATTRIBUTE_KINDS.resourceGroupMember || args[0] === undefined) return undefined;
  return tryParse(() => parseStructTag(args[0]!));
}

export function groupModulesOf(module: CompiledModule): ModuleId[] {
  return [...moduleMetadata(module).structAttributes.values()].flat().flatMap((attribute) => {
    const group = memberGroupOf(attribute);
    return group === undefined ? [] : [{ address: group.address, name: group.module }];
  });
}

interface Groups {
  readonly groups: ReadonlyMap<string, Scope>;
  readonly members: ReadonlyMap<string, StructTag>;
}

function demandGroup(condition: boolean, message: string): void {
  if (!condition) throw mismatch(message);
}

function groupsOf(module: CompiledModule): Groups {
  const groups = new Map<string, Scope>();
  const members = new Map<string, StructTag>();
  for (const [name, attributes] of moduleMetadata(module).structAttributes) {
    for (const attribute of attributes) {
      if (attribute.kind === ATTRIBUTE_KINDS.resourceGroup) {
        const scope = groupScopeOf(attribute);
        demandGroup(scope !== undefined, 'Invalid resource_group attribute');
        demandGroup(!groups.has(name), 'Found duplicate resource_group attribute');
        groups.set(name, scope!);
      } else if (attribute.kind === ATTRIBUTE_KINDS.resourceGroupMember) {
        const group = memberGroupOf(attribute);
        demandGroup(group !== undefined, 'Invalid resource_group_member attribute');
        demandGroup(!members.has(name), 'Found duplicate resource_group_member attribute');
        members.set(name, group!);
      }
    }
  }
  return { groups, members };
}

/**
 * @param stored modules before the publication
 * @throws VmError CONSTRAINT_NOT_SATISFIED; LINKER_ERROR for a group in a module that does not exist
 */
export function checkResourceGroups(
  modules: readonly CompiledModule[],
  stored: (id: ModuleId) => CompiledModule | undefined,
): void {
  const groups = new Map<string, ReadonlyMap<string, Scope>>();
  const joining: [ModuleId, StructTag][] = [];
  const added = modules.map((module) => [moduleIdOf(module), newGroups(module, stored)] as const);
  for (const [id, { groups: own }] of added) groups.set(moduleKey(id), own);
  const inOrder = [...added].sort(([a], [b]) => (moduleKey(a) < moduleKey(b) ? -1 : 1));
  for (const [id, { members }] of inOrder) {
    for (const group of members.values()) joining.push([id, group]);
  }
  for (const [id, group] of joining) {
    const groupModule = { address: group.address, name: group.module };
    const key = moduleKey(groupModule);
    if (!groups.has(key)) {
      const module = stored(groupModule);
      if (module === undefined) throw missingModule(groupModule);
      groups.set(key, groupsOf(module).groups);
    }
    const scope = groups.get(key)!.get(group.name);
    demandGroup(scope !== undefined, 'Invalid resource_group attribute');
    const isInScope =
      scope === 'global' ||
      (scope === 'address' && id.address === group.address) ||
      (scope === 'module_' && moduleKey(id) === key);
    demandGroup(isInScope, 'Scope mismatch');
  }
}

/** Groups, and new members. Existing groups and members must stay, members in the same group. */
function newGroups(
  module: CompiledModule,
  stored: (id: ModuleId) => CompiledModule | undefined,
): Groups {
  const { groups, members } = groupsOf(module);
  const old = stored(moduleIdOf(module));
  if (old === undefined) return { groups, members };
  const before = groupsOf(old);
  const added = new Map(members);
  for (const [name, group] of before.members) {
    const now = members.get(name);
    const isSame = now !== undefined && formatStructTag(now) === formatStructTag(group);
    demandGroup(isSame, 'Invalid removal of resource_group_member attribute');
    added.delete(name);
  }
  for (const [name, scope] of before.groups) {
    const now = groups.get(name);
    demandGroup(now !== undefined, 'Invalid change in resource_group');
    const isAtLeastAsWide = SCOPES.indexOf(now!) <= SCOPES.indexOf(scope);
    demandGroup(isAtLeastAsWide, 'Invalid removal of resource_group attribute');
  }
  if (hasMetadata(old)) {
    const structs = definedStructs(old);
    const isNewGroup = (name: string) => structs.has(name) && !before.groups.has(name);
    demandGroup(
      ![...groups.keys()].some(isNewGroup),
      'Invalid addition of resource_group attribute',
    );
    demandGroup(
      ![...added.keys()].some((name) => structs.has(name)),
      'Invalid addition of resource_group_member attribute',
    );
  }
  return { groups, members: added };
}

/** @throws VmError CONSTRAINT_NOT_SATISFIED */
export function checkMetadata(module: CompiledModule): void {
  demand(isMetadataWellFormed(module));
  const { functionAttributes, structAttributes } = moduleMetadata(module);
  const functions = definedFunctions(module);
  for (const [name, attributes] of functionAttributes) {
    const definition = functions.get(name);
    for (const { kind } of attributes) {
      demand(definition !== undefined && isValidFunctionAttribute(module, definition, kind));
    }
  }
  const structs = definedStructs(module);
  for (const [name, attributes] of structAttributes) {
    const definition = structs.get(name);
    for (const attribute of attributes) {
      demand(isValidStructAttribute(module, definition, attribute));
    }
  }
}

function demand(condition: boolean): void {
  if (!condition) throw new VmError('CONSTRAINT_NOT_SATISFIED');
}

/** Views return something; randomness is for entry functions that nobody else can call. */
function isValidFunctionAttribute(
  module: CompiledModule,
  definition: FunctionDefinition,
  kind: number,
): boolean {
  const { legacyViewFunction, viewFunction, randomness } = ATTRIBUTE_KINDS;
  if (kind === randomness) return definition.isEntry && definition.visibility !== 'public';
  const { return: results } = module.functionHandles[definition.handle]!;
  const isView = kind === legacyViewFunction || kind === viewFunction;
  return isView && module.signatures[results]!.length > 0;
}

/** A group is a struct without abilities and with one field, its members are resources. */
function isValidStructAttribute(
  module: CompiledModule,
  definition: StructDefinition | undefined,
  attribute: MetadataAttribute,
): boolean {
  if (attribute.kind === ATTRIBUTE_KINDS.event) return true;
  if (definition === undefined) return false;
  const { abilities, typeParameters } = module.structHandles[definition.handle]!;
  if (groupScopeOf(attribute) !== undefined) {
    const fieldCount = definition.kind === 'struct' ? definition.fields.length : 0;
    return abilities === 0 && typeParameters.length === 0 && fieldCount === 1;
  }
  return memberGroupOf(attribute) !== undefined && hasAll(abilities, KEY);
}

const INSTANTIATES = flagsByOpcode(['CallGeneric', 'PackClosureGeneric']);

function demandEvent(condition: boolean, message: string): void {
  if (!condition) throw mismatch(message, 'EVENT_METADATA_VALIDATION_ERROR');
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
  for (const name of eventsOf(old))
    demandEvent(events.has(name), 'Invalid change in event attributes');
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
  demandEvent(
    handle.module === module.selfHandle,
    `${name} passed to 0x1::event::emit function is not defined in the same module`,
  );
  demandEvent(
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
      demandEvent(!events.has(name), 'Found duplicate event attribute');
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
