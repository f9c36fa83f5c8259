/**
 * Converts types of requests and ABIs to type tags: checks their nesting and that they are types, and prints types
 * without a tag for messages (docs/spec/move.md §3.5, docs/spec/encode.md §A3, §A4 step 7). The text parser has its
 * own limit (type-parser.ts), which counts a struct as one level; here it is two.
 */
import { MoveError } from '../errors.ts';
import { capitalized, debugString } from '../rust-debug.ts';
import { formatMoveType, type MoveStructTag, type MoveType } from './move-type.ts';
import { abilityNames, type FunctionTypePart, type TypeTag } from './type-tag.ts';

/** Deepest level of a type; a struct takes two levels, its place and its tag. */
const MAX_TYPE_LEVEL = 8;

/** A type that nests too deeply or is not a type; `message` is the interface's own text. */
export class TypeLevelError extends MoveError<'unparsable_type' | 'type_too_deep'> {}

/** @param level that of the type itself @throws TypeLevelError */
export function checkTypeLevels(type: MoveType, level = 0): void {
  if (level > MAX_TYPE_LEVEL) throw tooDeep(`Move type ${formatMoveType(type)}`);
  switch (type.kind) {
    case 'unparsable':
      throw new TypeLevelError('unparsable_type', `Unable to parse move type ${type.text}`);
    case 'vector':
      checkTypeLevels(type.element, level + 1);
      break;
    case 'reference':
      checkTypeLevels(type.to, level + 1);
      break;
    case 'struct':
      checkStructLevels(type.struct, level + 1);
      break;
    case 'function':
      for (const part of [...type.args, ...type.results]) checkTypeLevels(part, level + 1);
  }
}

/** The same for a struct tag on its own, as in paths. @throws TypeLevelError */
export function checkStructLevels(tag: MoveStructTag, level = 0): void {
  if (level > MAX_TYPE_LEVEL) throw tooDeep(`Move struct tag ${formatStruct(tag)}`);
  for (const argument of tag.typeArguments) {
    try {
      checkTypeLevels(argument, level + 1);
    } catch (error) {
      if (!(error instanceof TypeLevelError)) throw error;
      const outer = `Invalid struct tag for generic type params: ${formatStruct(tag)}`;
      throw new TypeLevelError(error.code, `${outer} ${error.message}`);
    }
  }
}

function tooDeep(what: string): TypeLevelError {
  const text = `${what} has gone over the limit of recursive types ${MAX_TYPE_LEVEL}`;
  return new TypeLevelError('type_too_deep', text);
}

function formatStruct(struct: MoveStructTag): string {
  return formatMoveType({ kind: 'struct', struct });
}

const ADDRESS: TypeTag = { kind: 'address' };

/** A reference or an unparsable text instead of a type tag; `message` is the interface's own text. */
export class MoveTypeError extends MoveError<'no_type_tag'> {
  constructor(type: MoveType) {
    super(
      'no_type_tag',
      `Invalid move type for converting into \`TypeTag\`: ${debugMoveType(type)}`,
    );
  }
}

/** Tags of converted types, by type object. */
export type ConvertedTypes = Map<MoveType, TypeTag>;

/**
 * The type tag of a type; a type parameter becomes `address`. Parts that are the same object are converted once, even
 * across types that share `done`: a type argument of a megabyte may occur hundreds of times in one parameter, and in
 * hundreds of parameters.
 * @throws MoveTypeError
 */
export function typeTagOf(type: MoveType, done: ConvertedTypes = new Map()): TypeTag {
  return convert(type, done);
}

function convert(type: MoveType, done: ConvertedTypes): TypeTag {
  switch (type.kind) {
    case 'typeParameter':
      return ADDRESS;
    case 'reference':
    case 'unparsable':
      throw new MoveTypeError(type);
    case 'vector':
    case 'struct':
    case 'function': {
      const known = done.get(type);
      if (known !== undefined) return known;
      const tag = convertParts(type, done);
      done.set(type, tag);
      return tag;
    }
    default:
      return type;
  }
}

function convertParts(
  type: MoveType & { readonly kind: 'vector' | 'struct' | 'function' },
  done: ConvertedTypes,
): TypeTag {
  switch (type.kind) {
    case 'vector':
      return { kind: 'vector', element: convert(type.element, done) };
    case 'struct': {
      const typeArguments = type.struct.typeArguments.map((argument) => convert(argument, done));
      return { kind: 'struct', struct: { ...type.struct, typeArguments } };
    }
    case 'function': {
      const part = (one: MoveType): FunctionTypePart =>
        one.kind === 'reference'
          ? { kind: 'reference', mutable: one.mutable, to: convert(one.to, done) }
          : convert(one, done);
      const { args, results, abilities } = type;
      return { kind: 'function', args: args.map(part), results: results.map(part), abilities };
    }
  }
}

/** The debug print of the reference: `Reference { mutable: false, to: U8 }`, `Unparsable("T0")`. */
export function debugMoveType(type: MoveType): string {
  switch (type.kind) {
    case 'vector':
      return `Vector { items: ${debugMoveType(type.element)} }`;
    case 'struct':
      return `Struct(${debugMoveStructTag(type.struct)})`;
    case 'function': {
      const abilities = abilityNames(type.abilities).map((name) => `${capitalized(name)}, `);
      return (
        `Function { args: ${debugList(type.args)}, results: ${debugList(type.results)}, ` +
        `abilities: [${abilities.join('')}] }`
      );
    }
    case 'typeParameter':
      return `GenericTypeParam { index: ${type.index} }`;
    case 'reference':
      return `Reference { mutable: ${type.mutable}, to: ${debugMoveType(type.to)} }`;
    case 'unparsable':
      return `Unparsable(${debugString(type.text)})`;
    default:
      return capitalized(type.kind);
  }
}

function debugMoveStructTag(tag: MoveStructTag): string {
  return (
    `MoveStructTag { address: Address(${tag.address}), module: ${debugIdentifier(tag.module)}, ` +
    `name: ${debugIdentifier(tag.name)}, generic_type_params: ${debugList(tag.typeArguments)} }`
  );
}

function debugIdentifier(name: string): string {
  return `IdentifierWrapper(Identifier(${debugString(name)}))`;
}

function debugList(types: readonly MoveType[]): string {
  return `[${types.map(debugMoveType).join(', ')}]`;
}
