/** Walks through the types that a type is made of. */
import type { SignatureToken } from '../../../move/modules/compiled.ts';

/** What a type is directly made of, in the order of its bytes. */
export function partsOf(token: SignatureToken): readonly SignatureToken[] {
  switch (token.kind) {
    case 'reference':
      return [token.to];
    case 'vector':
      return [token.element];
    case 'struct':
      return token.typeArguments;
    case 'function':
      return [...token.args, ...token.results];
    default:
      return NO_PARTS;
  }
}

const NO_PARTS: readonly SignatureToken[] = [];

/** Visits a type and then its parts; the depth of the type itself is 1. Types of a binary are at most 256 deep. */
export function visitTypes(
  token: SignatureToken,
  visit: (token: SignatureToken, depth: number) => void,
  depth = 1,
): void {
  visit(token, depth);
  for (const part of partsOf(token)) visitTypes(part, visit, depth + 1);
}
