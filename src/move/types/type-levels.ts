/**
 * How deeply types of requests may nest, and that they are types at all (docs/spec/move.md §3.5, docs/spec/encode.md
 * §A3). The
 * text parser has a limit of its own (type-parser.ts), which counts a struct once; here it takes two levels.
 */
import { MoveError } from '../errors.ts';
import type { MoveStructTag, MoveType } from './move-type.ts';
import { formatMoveType } from './move-type-text.ts';

/** Deepest level of a type; a struct takes two levels, its place and its tag. */
const MAX_TYPE_LEVEL = 8;

/** A type that nests too deeply or is none; `message` is the interface's own text. */
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

/** The same for a struct tag that stands alone, as in paths. @throws TypeLevelError */
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
