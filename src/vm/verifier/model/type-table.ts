/** Types of one module or script, one object for each: equal types are the same object. */
import type {
  BinaryTables,
  SignatureToken,
  StructTypeParameter,
} from '../../../move/modules/compiled.ts';
import { abilitiesWithPart, COPY, DROP, STORE } from '../../../move/types/abilities.ts';
import type { AbilitySet } from '../../../move/types/type-tag.ts';

export interface Type {
  readonly id: number;
  readonly kind: SignatureToken['kind'];
  /** An element, a reference's target, type arguments, or arguments and results of a function. */
  readonly parts: readonly Type[];
  /** The handle of a struct, the index of a type parameter, or the number of a function's arguments. */
  readonly index: number;
  readonly isMutable: boolean;
  readonly abilities: AbilitySet;
  /** Number of types in it, itself included. */
  readonly nodes: number;
  readonly isOpen: boolean;
}

type Form = Pick<Type, 'kind' | 'parts' | 'index' | 'isMutable' | 'abilities'>;

const NO_PARTS: readonly Type[] = [];

function form(kind: Type['kind'], parts = NO_PARTS, index = 0, abilities = 0): Form {
  return { kind, parts, index, isMutable: false, abilities };
}

/** The abilities of a type, in a function whose type parameters have some abilities. */
export type AbilitiesOf = (type: Type) => AbilitySet;

export class TypeTable {
  readonly #tables: BinaryTables;
  readonly #types = new Map<string, Type>();
  readonly #primitives = new Map<Type['kind'], Type>();
  readonly #wrappers = new Map<Type, { vector?: Type; shared?: Type; mutable?: Type }>();
  readonly #ofToken = new Map<SignatureToken, Type>();
  /** Those without type arguments, by handle. */
  readonly #structs: (Type | undefined)[] = [];
  readonly #signatures: (readonly Type[] | undefined)[] = [];
  readonly #substituted = new Map<readonly Type[], Map<Type, Type>>();
  readonly #closedAbilities = new Map<Type, AbilitySet>();

  constructor(tables: BinaryTables) {
    this.#tables = tables;
  }

  of(token: SignatureToken): Type {
    let type = this.#ofToken.get(token);
    if (type === undefined) {
      type = this.#make(this.#form(token));
      this.#ofToken.set(token, type);
    }
    return type;
  }

  /** The signature that an operand names; always the same list. */
  signature(index: number): readonly Type[] {
    let types = this.#signatures[index];
    if (types === undefined) {
      types = this.#tables.signatures[index]!.map((token) => this.of(token));
      this.#signatures[index] = types;
    }
    return types;
  }

  primitive(kind: Type['kind']): Type {
    let type = this.#primitives.get(kind);
    if (type === undefined) {
      type = this.#make(form(kind));
      this.#primitives.set(kind, type);
    }
    return type;
  }

  referenceTo(type: Type, isMutable: boolean): Type {
    const wrappers = this.#wrappersOf(type);
    const kind = isMutable ? 'mutable' : 'shared';
    wrappers[kind] ??= this.#make({ ...form('reference', [type]), isMutable });
    return wrappers[kind];
  }

  vectorOf(element: Type): Type {
    const wrappers = this.#wrappersOf(element);
    wrappers.vector ??= this.#make(form('vector', [element]));
    return wrappers.vector;
  }

  #wrappersOf(type: Type): { vector?: Type; shared?: Type; mutable?: Type } {
    let wrappers = this.#wrappers.get(type);
    if (wrappers === undefined) {
      wrappers = {};
      this.#wrappers.set(type, wrappers);
    }
    return wrappers;
  }

  struct(handle: number, typeArguments: readonly Type[]): Type {
    if (typeArguments.length > 0) return this.#make(form('struct', typeArguments, handle));
    this.#structs[handle] ??= this.#make(form('struct', NO_PARTS, handle));
    return this.#structs[handle];
  }

  functionType(args: readonly Type[], results: readonly Type[], abilities: AbilitySet): Type {
    return this.#make(form('function', [...args, ...results], args.length, abilities));
  }

  /** The type with type arguments substituted. @param typeArguments the same list each time */
  substitute(type: Type, typeArguments: readonly Type[]): Type {
    if (!type.isOpen || typeArguments.length === 0) return type;
    if (type.kind === 'typeParameter') return typeArguments[type.index]!;
    let known = this.#substituted.get(typeArguments);
    if (known === undefined) {
      known = new Map();
      this.#substituted.set(typeArguments, known);
    }
    let substituted = known.get(type);
    if (substituted === undefined) {
      const parts = type.parts.map((part) => this.substitute(part, typeArguments));
      substituted = this.#make({ ...type, parts });
      known.set(type, substituted);
    }
    return substituted;
  }

  abilitiesIn(typeParameters: readonly AbilitySet[]): AbilitiesOf {
    const open = new Map<Type, AbilitySet>();
    const abilitiesOf = (type: Type): AbilitySet => {
      if (type.kind === 'typeParameter') return typeParameters[type.index]!;
      const known = type.isOpen ? open : this.#closedAbilities;
      let abilities = known.get(type);
      if (abilities === undefined) {
        abilities = this.#abilities(type, abilitiesOf);
        known.set(type, abilities);
      }
      return abilities;
    };
    return abilitiesOf;
  }

  #abilities({ kind, parts, index, abilities }: Type, abilitiesOf: AbilitiesOf): AbilitySet {
    switch (kind) {
      case 'vector':
        return (COPY | DROP | STORE) & abilitiesOf(parts[0]!);
      case 'struct': {
        const handle = this.#tables.structHandles[index]!;
        const isStored = (parameter: StructTypeParameter) => !parameter.isPhantom;
        return parts.reduce(
          (left, part, place) =>
            isStored(handle.typeParameters[place]!)
              ? left & abilitiesWithPart(abilitiesOf(part))
              : left,
          handle.abilities,
        );
      }
      case 'reference':
        return COPY | DROP;
      case 'signer':
        return DROP;
      case 'function':
        return abilities;
      default:
        return COPY | DROP | STORE;
    }
  }

  #form(token: SignatureToken): Form {
    const all = (tokens: readonly SignatureToken[]) => tokens.map((part) => this.of(part));
    switch (token.kind) {
      case 'reference':
        return { ...form('reference', [this.of(token.to)]), isMutable: token.mutable };
      case 'vector':
        return form('vector', [this.of(token.element)]);
      case 'struct':
        return form('struct', all(token.typeArguments), token.handle);
      case 'function': {
        const parts = [...all(token.args), ...all(token.results)];
        return form('function', parts, token.args.length, token.abilities);
      }
      case 'typeParameter':
        return form('typeParameter', NO_PARTS, token.index);
      default:
        return form(token.kind);
    }
  }

  #make({ kind, parts, index, isMutable, abilities }: Form): Type {
    let key = isMutable ? `${kind}!` : `${kind} ${index} ${abilities}`;
    for (const { id } of parts) key += ` ${id}`;
    let type = this.#types.get(key);
    if (type === undefined) {
      const id = this.#types.size;
      const nodes = parts.reduce((sum, part) => sum + part.nodes, 1);
      const isOpen = kind === 'typeParameter' || parts.some((part) => part.isOpen);
      type = { id, kind, parts, index, isMutable, abilities, nodes, isOpen };
      this.#types.set(key, type);
    }
    return type;
  }
}

/**
 * Whether a value of a type can be used where another type is declared: a function value may have more abilities, also
 * behind an immutable reference.
 */
export function isAssignable(to: Type, from: Type): boolean {
  if (to === from) return true;
  if (to.kind !== from.kind) return false;
  if (to.kind === 'reference') {
    return !to.isMutable && !from.isMutable && isAssignable(to.parts[0]!, from.parts[0]!);
  }
  return (
    to.kind === 'function' &&
    to.index === from.index &&
    to.parts.length === from.parts.length &&
    to.parts.every((part, place) => part === from.parts[place]) &&
    (to.abilities & ~from.abilities) === 0
  );
}

/** The direct parts of a type, in the order of its bytes. */
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
      return NO_TOKENS;
  }
}

const NO_TOKENS: readonly SignatureToken[] = [];

/** Visits a type and then its parts; the depth of the type itself is 1. Types of a binary are at most 256 deep. */
export function visitTypes(
  token: SignatureToken,
  visit: (token: SignatureToken, depth: number) => void,
  depth = 1,
): void {
  visit(token, depth);
  for (const part of partsOf(token)) visitTypes(part, visit, depth + 1);
}
