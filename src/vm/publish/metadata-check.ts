/** Attributes in the metadata of a new module fit what they are on (docs/spec/verifier.md §6.3). */
import type {
  CompiledModule,
  FunctionDefinition,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import {
  ATTRIBUTE_KINDS,
  isMetadataWellFormed,
  type MetadataAttribute,
  moduleMetadata,
} from '../../move/modules/metadata.ts';
import { hasAll, KEY } from '../../move/types/abilities.ts';
import { VmError } from '../status/vm-error.ts';
import { definedFunctions, definedStructs } from './definitions.ts';
import { groupScopeOf, memberGroupOf } from './resource-groups.ts';

/** @throws VmError CONSTRAINT_NOT_SATISFIED */
export function checkMetadata(module: CompiledModule): void {
  demand(isMetadataWellFormed(module));
  const { functionAttributes, structAttributes } = moduleMetadata(module);
  const functions = definedFunctions(module);
  for (const [name, attributes] of functionAttributes) {
    const definition = functions.get(name);
    for (const { kind } of attributes) {
      demand(definition !== undefined && isFunctionAttributeRight(module, definition, kind));
    }
  }
  const structs = definedStructs(module);
  for (const [name, attributes] of structAttributes) {
    const definition = structs.get(name);
    for (const attribute of attributes) {
      demand(isStructAttributeRight(module, definition, attribute));
    }
  }
}

function demand(isRight: boolean): void {
  if (!isRight) throw new VmError('CONSTRAINT_NOT_SATISFIED');
}

/** Views give something; randomness is for entry functions that nobody else can call. */
function isFunctionAttributeRight(
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
function isStructAttributeRight(
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
