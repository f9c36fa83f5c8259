/** Reads types, signatures and ability sets (docs/spec/move.md §1.5, §1.6). */
import type { AbilitySet } from '../types/type-tag.ts';
import type { BinaryCursor } from './binary-cursor.ts';
import type { SignatureToken, StructTypeParameter } from './compiled.ts';
import {
  ALL_ABILITIES,
  MAX_SIGNATURE_TOKENS,
  MAX_TOKEN_DEPTH,
  MAX_TYPE_PARAMETER_INDEX,
  MAX_TYPE_PARAMETERS,
  PRIMITIVE_CODES,
  TOKEN_CODES,
  VERSION_2_ABILITIES,
  VERSION_3_PHANTOM,
  VERSION_8_FUNCTION_VALUES,
} from './format.ts';

/** Where an ability set occurs: version 1 encoded each place differently. */
type AbilityPlace = 'struct' | 'functionTypeParameter' | 'structTypeParameter';

const COPY_DROP = 3;
const COPY_DROP_STORE = 7;
const STORE = 4;
const KEY = 8;
const STORE_KEY = 12;

const VERSION_1_ABILITIES: Readonly<Record<AbilityPlace, ReadonlyMap<number, AbilitySet>>> = {
  struct: new Map([
    [1, STORE_KEY],
    [2, COPY_DROP_STORE],
  ]),
  functionTypeParameter: new Map([
    [1, STORE],
    [2, COPY_DROP_STORE],
    [3, STORE_KEY],
  ]),
  structTypeParameter: new Map([
    [1, 0],
    [2, COPY_DROP],
    [3, KEY],
  ]),
};

export function readAbilities(cursor: BinaryCursor, place: AbilityPlace): AbilitySet {
  if (cursor.version >= VERSION_2_ABILITIES) return cursor.uleb(ALL_ABILITIES, 'ability set');
  const start = cursor.offset;
  const code = cursor.u8('kind');
  const abilities = VERSION_1_ABILITIES[place].get(code);
  if (abilities === undefined)
    throw cursor.error('unknown_ability', `kind ${code} of a ${place}`, start);
  return abilities;
}

export function readFunctionTypeParameters(cursor: BinaryCursor): readonly AbilitySet[] {
  return cursor.list(MAX_TYPE_PARAMETERS, 'type parameter count', (at) =>
    readAbilities(at, 'functionTypeParameter'),
  );
}

export function readStructTypeParameters(cursor: BinaryCursor): readonly StructTypeParameter[] {
  return cursor.list(MAX_TYPE_PARAMETERS, 'type parameter count', (at) => {
    const constraints = readAbilities(at, 'structTypeParameter');
    const isPhantom = at.version >= VERSION_3_PHANTOM && at.uleb(1, 'phantom flag') === 1;
    return { constraints, isPhantom };
  });
}

export function readSignature(cursor: BinaryCursor): readonly SignatureToken[] {
  return cursor.list(MAX_SIGNATURE_TOKENS, 'signature length', (at) => readToken(at));
}

/** Shared by all plain struct tokens. */
const NO_TYPE_ARGUMENTS: readonly SignatureToken[] = Object.freeze([]);

/** Shared objects for the first type parameters, like the tokens below. */
const TYPE_PARAMETERS: readonly SignatureToken[] = Array.from({ length: 32 }, (_, index) => ({
  kind: 'typeParameter',
  index,
}));

function typeParameter(index: number): SignatureToken {
  return TYPE_PARAMETERS[index] ?? { kind: 'typeParameter', index };
}

/** Shared objects for tokens without operands: files contain thousands of them. */
const PRIMITIVES: readonly (readonly [since: number, SignatureToken] | undefined)[] =
  primitiveTokens();

function primitiveTokens(): (readonly [number, SignatureToken] | undefined)[] {
  const tokens = new Array<readonly [number, SignatureToken] | undefined>(256).fill(undefined);
  for (const [kind, { code, since }] of PRIMITIVE_CODES) tokens[code] = [since, { kind }];
  return tokens;
}

/**
 * Reads one type. `depth` is the number of enclosing constructors, at most MAX_TOKEN_DEPTH - 1, so the recursion is
 * bounded.
 * @throws BinaryFormatError
 */
export function readToken(cursor: BinaryCursor, depth = 0): SignatureToken {
  const start = cursor.offset;
  if (depth >= MAX_TOKEN_DEPTH) {
    throw cursor.error('too_deep', `type nested deeper than ${MAX_TOKEN_DEPTH}`, start);
  }
  const code = cursor.u8('type');
  const primitive = PRIMITIVES[code];
  if (primitive !== undefined) {
    const [since, token] = primitive;
    cursor.requireVersion(since, token.kind);
    return token;
  }
  switch (code) {
    case TOKEN_CODES.reference:
    case TOKEN_CODES.mutableReference: {
      const mutable = code === TOKEN_CODES.mutableReference;
      return { kind: 'reference', mutable, to: readToken(cursor, depth + 1) };
    }
    case TOKEN_CODES.vector:
      return { kind: 'vector', element: readToken(cursor, depth + 1) };
    case TOKEN_CODES.typeParameter:
      return typeParameter(cursor.uleb(MAX_TYPE_PARAMETER_INDEX, 'type parameter'));
    case TOKEN_CODES.struct:
      return {
        kind: 'struct',
        handle: cursor.index('struct handle'),
        instantiated: false,
        typeArguments: NO_TYPE_ARGUMENTS,
      };
    case TOKEN_CODES.structInstantiation:
      return readStructInstantiation(cursor, depth);
    case TOKEN_CODES.functionType:
      return readFunctionType(cursor, depth);
    default:
      throw cursor.error('unknown_type', `type code ${code}`, start);
  }
}

function readStructInstantiation(cursor: BinaryCursor, depth: number): SignatureToken {
  const handle = cursor.index('struct handle');
  const start = cursor.offset;
  const arity = cursor.uleb(MAX_TYPE_PARAMETERS, 'type argument count');
  if (arity === 0) throw cursor.error('bad_value', 'instantiation without type arguments', start);
  const typeArguments = cursor.items(arity, 'type argument count', (at) =>
    readToken(at, depth + 1),
  );
  return { kind: 'struct', handle, instantiated: true, typeArguments };
}

function readFunctionType(cursor: BinaryCursor, depth: number): SignatureToken {
  cursor.requireVersion(VERSION_8_FUNCTION_VALUES, 'function type');
  const abilities = readAbilities(cursor, 'functionTypeParameter');
  const argCount = cursor.uleb(MAX_TYPE_PARAMETERS, 'argument count');
  const resultCount = cursor.uleb(MAX_TYPE_PARAMETERS, 'result count');
  const part = (at: BinaryCursor) => readToken(at, depth + 1);
  const args = cursor.items(argCount, 'argument count', part);
  const results = cursor.items(resultCount, 'result count', part);
  return { kind: 'function', args, results, abilities };
}
