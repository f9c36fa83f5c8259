/** No struct contains itself (docs/spec/verifier.md §3.8). */
import type { CompiledModule, SignatureToken } from '../../move/modules/compiled.ts';
import { VmError } from '../status/vm-error.ts';
import { components } from './directed-graph.ts';
import { allFields } from './model/subject.ts';
import { partsOf, visitTypes } from './model/tokens.ts';

/** @throws VmError RECURSIVE_STRUCT_DEFINITION */
export function checkStructRecursion({ structDefinitions }: CompiledModule): void {
  const definitionOf = new Map(structDefinitions.map(({ handle }, place) => [handle, place]));
  const contained = structDefinitions.map((definition) => {
    const found = new Set<number>();
    for (const { type } of allFields(definition)) {
      checkReferences(type, false);
      visitTypes(type, (token) => {
        const place = token.kind === 'struct' ? definitionOf.get(token.handle) : undefined;
        if (place !== undefined) found.add(place);
      });
    }
    return [...found];
  });
  const component = components(structDefinitions.length, contained);
  // Components are numbered from what is contained to what contains it: an edge leads down, but within a circle.
  contained.forEach((targets, place) => {
    if (targets.some((target) => component[target] === component[place])) {
      throw new VmError('RECURSIVE_STRUCT_DEFINITION');
    }
  });
}

/** References are arguments and results of functions only, which older rules for signatures do not see to. */
function checkReferences(token: SignatureToken, isAllowed: boolean): void {
  const isReference = token.kind === 'reference';
  if (isReference && !isAllowed) throw new VmError('UNKNOWN_INVARIANT_VIOLATION_ERROR');
  for (const part of partsOf(token)) checkReferences(part, token.kind === 'function');
}
