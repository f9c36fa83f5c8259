/** Sets of abilities, and the abilities required of inner types (docs/spec/transactions.md §9.3). */
import type { AbilitySet } from './type-tag.ts';

export const COPY = 1;
export const DROP = 2;
export const STORE = 4;
export const KEY = 8;
export const NO_ABILITIES: AbilitySet = 0;

export function hasAll(abilities: AbilitySet, required: AbilitySet): boolean {
  return (abilities & required) === required;
}

/** The abilities that the parts of a value need so that it has some abilities. */
export function requiredOfParts(abilities: AbilitySet): AbilitySet {
  return (abilities & (COPY | DROP | STORE)) | ((abilities & KEY) === 0 ? 0 : STORE);
}

/** Possible abilities of a struct that holds a value: it can have `key` if the value has `store`. */
export function abilitiesWithPart(part: AbilitySet): AbilitySet {
  return (part & (COPY | DROP | STORE)) | ((part & STORE) === 0 ? 0 : KEY);
}
