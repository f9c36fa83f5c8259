/** Whether a module can replace an older one (docs/spec/verifier.md §5). */
import {
  type BinaryTables,
  type CompiledModule,
  type FieldDefinition,
  type FunctionDefinition,
  moduleIdOf,
  type StructDefinition,
} from '../../move/modules/compiled.ts';
import { isSameSignature, isSameType } from '../../move/modules/type-equality.ts';
import { type StatusName, VmError } from '../status/status.ts';
import { hasAttributes, PERSISTENT } from '../verifier/model/instructions.ts';

export function definedStructs(module: CompiledModule): ReadonlyMap<string, StructDefinition> {
  return new Map(
    module.structDefinitions.map((definition) => {
      const { name } = module.structHandles[definition.handle]!;
      return [module.identifiers[name]!, definition];
    }),
  );
}

export function definedFunctions(module: CompiledModule): ReadonlyMap<string, FunctionDefinition> {
  return new Map(
    module.functionDefinitions.map((definition) => {
      const { name } = module.functionHandles[definition.handle]!;
      return [module.identifiers[name]!, definition];
    }),
  );
}

export interface CompatibilityRules {
  readonly checkStructLayout: boolean;
  readonly checkFriendLinking: boolean;
  readonly treatEntryAsPublic: boolean;
  /** Whether an entry function for friends may become a private entry function. */
  readonly allowFriendEntryToPrivate: boolean;
}

/** The rules of the networks since May 2026. */
export const DEFAULT_COMPATIBILITY: CompatibilityRules = {
  checkStructLayout: true,
  checkFriendLinking: false,
  treatEntryAsPublic: true,
  allowFriendEntryToPrivate: true,
};

/** @throws VmError BACKWARD_INCOMPATIBLE_MODULE_UPDATE */
export function checkCompatibility(
  old: CompiledModule,
  updated: CompiledModule,
  rules: CompatibilityRules = DEFAULT_COMPATIBILITY,
): void {
  const { address, name } = moduleIdOf(old);
  const id = moduleIdOf(updated);
  demand(id.address === address && id.name === name);
  const structs = definedStructs(updated);
  for (const [structName, definition] of definedStructs(old)) {
    const found = structs.get(structName);
    demand(found !== undefined);
    demand(isStructCompatible(old, definition, updated, found!, rules));
  }
  const functions = definedFunctions(updated);
  for (const [functionName, definition] of definedFunctions(old)) {
    const found = functions.get(functionName);
    demand(isFunctionCompatible(old, definition, updated, found, rules));
  }
  if (rules.checkFriendLinking) demand(hasFriends(updated, old));
}

function demand(condition: boolean): void {
  if (!condition) throw new VmError('BACKWARD_INCOMPATIBLE_MODULE_UPDATE');
}

function isStructCompatible(
  old: CompiledModule,
  definition: StructDefinition,
  updated: CompiledModule,
  found: StructDefinition,
  { checkStructLayout }: CompatibilityRules,
): boolean {
  const before = old.structHandles[definition.handle]!;
  const after = updated.structHandles[found.handle]!;
  return (
    (before.abilities & ~after.abilities) === 0 &&
    before.typeParameters.length === after.typeParameters.length &&
    before.typeParameters.every(({ constraints, isPhantom }, place) => {
      const parameter = after.typeParameters[place]!;
      return (!isPhantom || parameter.isPhantom) && (parameter.constraints & ~constraints) === 0;
    }) &&
    (!checkStructLayout || hasLayout(updated, found, old, definition))
  );
}

/** Fields must not change; an enum may get more variants at its end. */
function hasLayout(
  updated: CompiledModule,
  found: StructDefinition,
  old: CompiledModule,
  definition: StructDefinition,
): boolean {
  const areSame = (fields: readonly FieldDefinition[], others: readonly FieldDefinition[]) =>
    fields.length === others.length &&
    fields.every(
      ({ name, type }, place) =>
        isSameName(old, name, updated, others[place]!.name) &&
        isSameType(old, type, updated, others[place]!.type),
    );
  if (definition.kind !== 'enum') {
    const fields = definition.kind === 'struct' ? definition.fields : [];
    return found.kind !== 'enum' && areSame(fields, found.kind === 'struct' ? found.fields : []);
  }
  return definition.variants.every(({ name, fields }, place) => {
    const variant = found.kind === 'enum' ? found.variants[place] : undefined;
    return (
      variant !== undefined &&
      isSameName(old, name, updated, variant.name) &&
      areSame(fields, variant.fields)
    );
  });
}

function isSameName(
  old: BinaryTables,
  name: number,
  updated: BinaryTables,
  other: number,
): boolean {
  return old.identifiers[name] === updated.identifiers[other];
}

function isFunctionCompatible(
  old: CompiledModule,
  definition: FunctionDefinition,
  updated: CompiledModule,
  found: FunctionDefinition | undefined,
  rules: CompatibilityRules,
): boolean {
  const before = old.functionHandles[definition.handle]!;
  // Stored values name the function, so it is treated as public.
  const isPersistent = before.attributes.some(({ code }) => code === PERSISTENT);
  const isBound =
    isPersistent ||
    definition.visibility === 'public' ||
    (definition.visibility === 'friend' && rules.checkFriendLinking) ||
    (definition.isEntry && (rules.treatEntryAsPublic || definition.visibility === 'private'));
  if (!isBound || found === undefined) return !isBound;
  const after = updated.functionHandles[found.handle]!;
  return (
    isVisibilityCompatible(definition, found, rules) &&
    (!definition.isEntry || found.isEntry) &&
    hasAttributes(after.attributes, before.attributes) &&
    isSameSignature(old, before.parameters, updated, after.parameters) &&
    isSameSignature(old, before.return, updated, after.return) &&
    before.typeParameters.length === after.typeParameters.length &&
    before.typeParameters.every((abilities, at) => (after.typeParameters[at]! & ~abilities) === 0)
  );
}

function isVisibilityCompatible(
  definition: FunctionDefinition,
  found: FunctionDefinition,
  { allowFriendEntryToPrivate, checkFriendLinking }: CompatibilityRules,
): boolean {
  switch (definition.visibility) {
    case 'public':
      return found.visibility === 'public';
    case 'friend':
      if (found.visibility !== 'private') return true;
      return (
        allowFriendEntryToPrivate && !checkFriendLinking && definition.isEntry && found.isEntry
      );
    default:
      return true;
  }
}

function hasFriends(updated: CompiledModule, old: CompiledModule): boolean {
  const names = ({ friends, addresses, identifiers }: CompiledModule) =>
    friends.map(({ address, name }) => `${addresses[address]}::${identifiers[name]}`);
  const after = new Set(names(updated));
  return names(old).every((friend) => after.has(friend));
}

/** The error for code that does not match its package or its metadata, in the reference's words. */
export function mismatch(text: string, status: StatusName = 'CONSTRAINT_NOT_SATISFIED'): VmError {
  return new VmError(status, { text: `metadata and code bundle mismatch: ${text}` });
}
