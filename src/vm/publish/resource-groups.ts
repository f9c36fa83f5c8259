/** Resource groups of new modules: their scopes, and that members stay members (docs/spec/verifier.md §6.4). */

import { tryParse } from '../../move/errors.ts';
import { type CompiledModule, moduleIdOf } from '../../move/modules/compiled.ts';
import {
  ATTRIBUTE_KINDS,
  hasMetadata,
  type MetadataAttribute,
  moduleMetadata,
} from '../../move/modules/metadata.ts';
import { type ModuleId, moduleKey } from '../../move/types/module-id.ts';
import { parseStructTag } from '../../move/types/type-parser.ts';
import { formatStructTag, type StructTag } from '../../move/types/type-tag.ts';
import { missingModule } from '../program/program.ts';
import { definedStructs } from './definitions.ts';
import { mismatch } from './mismatch.ts';

/** Whose members a group may have, the widest first. */
const SCOPES = ['global', 'address', 'module_'] as const;
type Scope = (typeof SCOPES)[number];

/** The scope of a group; absent for other attributes and for scopes that do not exist. */
export function groupScopeOf({ kind, args }: MetadataAttribute): Scope | undefined {
  if (kind !== ATTRIBUTE_KINDS.resourceGroup) return undefined;
  return SCOPES.find((scope) => scope === args[0]);
}

/** The group that a struct is a member of; absent for other attributes and for what is not the name of a struct. */
export function memberGroupOf({ kind, args }: MetadataAttribute): StructTag | undefined {
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

function demand(isRight: boolean, otherwise: string): void {
  if (!isRight) throw mismatch(otherwise);
}

function groupsOf(module: CompiledModule): Groups {
  const groups = new Map<string, Scope>();
  const members = new Map<string, StructTag>();
  for (const [name, attributes] of moduleMetadata(module).structAttributes) {
    for (const attribute of attributes) {
      if (attribute.kind === ATTRIBUTE_KINDS.resourceGroup) {
        const scope = groupScopeOf(attribute);
        demand(scope !== undefined, 'Invalid resource_group attribute');
        demand(!groups.has(name), 'Found duplicate resource_group attribute');
        groups.set(name, scope!);
      } else if (attribute.kind === ATTRIBUTE_KINDS.resourceGroupMember) {
        const group = memberGroupOf(attribute);
        demand(group !== undefined, 'Invalid resource_group_member attribute');
        demand(!members.has(name), 'Found duplicate resource_group_member attribute');
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
    demand(scope !== undefined, 'Invalid resource_group attribute');
    const isInScope =
      scope === 'global' ||
      (scope === 'address' && id.address === group.address) ||
      (scope === 'module_' && moduleKey(id) === key);
    demand(isInScope, 'Scope mismatch');
  }
}

/** Groups, and members that are not members already. What was a group or a member stays one, in the same group. */
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
    demand(isSame, 'Invalid removal of resource_group_member attribute');
    added.delete(name);
  }
  for (const [name, scope] of before.groups) {
    const now = groups.get(name);
    demand(now !== undefined, 'Invalid change in resource_group');
    const isAsWide = SCOPES.indexOf(now!) <= SCOPES.indexOf(scope);
    demand(isAsWide, 'Invalid removal of resource_group attribute');
  }
  if (hasMetadata(old)) {
    const structs = definedStructs(old);
    const isNewGroup = (name: string) => structs.has(name) && !before.groups.has(name);
    demand(![...groups.keys()].some(isNewGroup), 'Invalid addition of resource_group attribute');
    demand(
      ![...added.keys()].some((name) => structs.has(name)),
      'Invalid addition of resource_group_member attribute',
    );
  }
  return { groups, members: added };
}
