/** Abilities of the values of a type (docs/spec/transactions.md §9.3, Abilities). */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { abilitiesWithPart, COPY, DROP, hasAll, STORE } from '../../move/types/abilities.ts';
import type { AbilitySet } from '../../move/types/type-tag.ts';
import { VmError } from '../status/status.ts';
import { definitionOf, type TypeSource } from './layouts.ts';
import type { VmType } from './vm-type.ts';

/** Abilities of primitive types and of vectors, whose elements can restrict them. */
const VALUE_ABILITIES: AbilitySet = COPY | DROP | STORE;

/**
 * Checks that a type and everything that it names exist and fit together, from the outside in.
 * @throws VmError; or rejects with it
 */
export function abilitiesOf(source: TypeSource, type: VmType): MaybePromise<AbilitySet> {
  const { tag, parts } = type;
  switch (tag.kind) {
    case 'vector':
      return andThen(abilitiesOf(source, parts[0]!), (element) => VALUE_ABILITIES & element);
    case 'function':
      return andThen(
        mapInOrder(parts, (part) => abilitiesOf(source, part)),
        () => tag.abilities,
      );
    case 'struct':
      return andThen(definitionOf(source, tag.struct), ({ handle }) =>
        andThen(
          mapInOrder(parts, (part) => abilitiesOf(source, part)),
          (argumentAbilities) => {
            const { abilities, typeParameters } = handle;
            checkAbilities(
              typeParameters.map(({ constraints }) => constraints),
              argumentAbilities,
            );
            const nonPhantom = argumentAbilities.filter(
              (_, index) => !typeParameters[index]!.isPhantom,
            );
            return nonPhantom.reduce(
              (left, argument) => left & abilitiesWithPart(argument),
              abilities,
            );
          },
        ),
      );
    default:
      return tag.kind === 'signer' ? DROP : VALUE_ABILITIES;
  }
}

/** @throws VmError NUMBER_OF_TYPE_ARGUMENTS_MISMATCH, CONSTRAINT_NOT_SATISFIED */
export function checkAbilities(
  required: readonly AbilitySet[],
  actual: readonly AbilitySet[],
): void {
  if (required.length !== actual.length) throw new VmError('NUMBER_OF_TYPE_ARGUMENTS_MISMATCH');
  if (required.every((abilities, index) => hasAll(actual[index]!, abilities))) return;
  throw new VmError('CONSTRAINT_NOT_SATISFIED');
}
