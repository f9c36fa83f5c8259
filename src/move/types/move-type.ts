/**
 * Types as the interface reads and prints them in type arguments, ABIs and parameters: type tags plus references, type
 * parameters and texts that are not types (docs/spec/move.md §2.2, §3, §5).
 */
import { type BinaryTables, type SignatureToken, structPathOfHandle } from '../modules/compiled.ts';
import { formatAddress } from './address.ts';
import type { ModuleId } from './module-id.ts';
import type { AbilitySet, PrimitiveKind, StructTag } from './type-tag.ts';

export type MoveStructTag = StructTag<MoveType>;

export type MoveType =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'vector'; readonly element: MoveType }
  | { readonly kind: 'struct'; readonly struct: MoveStructTag }
  | {
      readonly kind: 'function';
      readonly args: readonly MoveType[];
      readonly results: readonly MoveType[];
      readonly abilities: AbilitySet;
    }
  | { readonly kind: 'typeParameter'; readonly index: number }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: MoveType }
  | { readonly kind: 'unparsable'; readonly text: string };

/** Types of both kinds, without those that name a struct. */
type Unnamed<Part> =
  | { readonly kind: PrimitiveKind }
  | { readonly kind: 'vector'; readonly element: Part }
  | { readonly kind: 'typeParameter'; readonly index: number }
  | { readonly kind: 'reference'; readonly mutable: boolean; readonly to: Part }
  | {
      readonly kind: 'function';
      readonly args: readonly Part[];
      readonly results: readonly Part[];
    };

/**
 * The interface's text of a type: short addresses, `, ` between type arguments, `|A,B|R` for
 * functions, `unparsable<text>` for a text that is not a type.
 */
export function formatMoveType(type: MoveType): string {
  switch (type.kind) {
    case 'struct': {
      const { address, module, name, typeArguments } = type.struct;
      const path = formatStructPath({ address, name: module }, name);
      return formatStruct(path, typeArguments, formatMoveType);
    }
    case 'unparsable':
      return `unparsable<${type.text}>`;
    default:
      return formatUnnamed(type, formatMoveType);
  }
}

/**
 * The same text for a type inside a binary. `structPath` returns the path of a struct handle; it is
 * called once per struct in the type, so it can cache the paths and count what is printed.
 */
export function formatSignatureToken(
  token: SignatureToken,
  structPath: (handle: number) => string,
): string {
  const format = (part: SignatureToken) => formatSignatureToken(part, structPath);
  if (token.kind !== 'struct') return formatUnnamed(token, format);
  return formatStruct(structPath(token.handle), token.typeArguments, format);
}

/** `0x1::coin::Coin`. */
export function formatStructPath(module: ModuleId, name: string): string {
  return `${formatAddress(module.address)}::${module.name}::${name}`;
}

function formatStruct<Part>(
  path: string,
  typeArguments: readonly Part[],
  format: (part: Part) => string,
): string {
  return typeArguments.length === 0 ? path : `${path}<${join(typeArguments, ', ', format)}>`;
}

function formatUnnamed<Part>(type: Unnamed<Part>, format: (part: Part) => string): string {
  switch (type.kind) {
    case 'vector':
      return `vector<${format(type.element)}>`;
    case 'typeParameter':
      return `T${type.index}`;
    case 'reference':
      return `${type.mutable ? '&mut ' : '&'}${format(type.to)}`;
    case 'function':
      return `|${join(type.args, ',', format)}|${join(type.results, ',', format)}`;
    default:
      return type.kind;
  }
}

/**
 * Appends instead of Array.join: the engine then holds the parts by reference and copies the text once at the end.
 * Joining would copy it once per level of nesting, and hostile binaries nest 255 levels.
 */
function join<Part>(
  parts: readonly Part[],
  separator: string,
  format: (part: Part) => string,
): string {
  let text = '';
  for (const [index, part] of parts.entries()) {
    text += index === 0 ? format(part) : separator + format(part);
  }
  return text;
}

/** A type of a binary with the names of its structs. The binary is loaded, so the token's handles exist. */
export function moveTypeOfToken(binary: BinaryTables, token: SignatureToken): MoveType {
  const convert = (part: SignatureToken) => moveTypeOfToken(binary, part);
  switch (token.kind) {
    case 'vector':
      return { kind: 'vector', element: convert(token.element) };
    case 'reference':
      return { kind: 'reference', mutable: token.mutable, to: convert(token.to) };
    case 'function': {
      const { abilities } = token;
      const args = token.args.map(convert);
      return { kind: 'function', args, results: token.results.map(convert), abilities };
    }
    case 'struct': {
      const { module, name } = structPathOfHandle(binary, token.handle);
      const typeArguments = token.typeArguments.map(convert);
      return {
        kind: 'struct',
        struct: { address: module.address, module: module.name, name, typeArguments },
      };
    }
    default:
      return token;
  }
}

/** Whether a type mentions a type parameter that `substituteTypeParameters` replaces. */
export function mentionsTypeParameter(type: MoveType): boolean {
  switch (type.kind) {
    case 'typeParameter':
      return true;
    case 'vector':
      return mentionsTypeParameter(type.element);
    case 'reference':
      return mentionsTypeParameter(type.to);
    case 'struct':
      return type.struct.typeArguments.some(mentionsTypeParameter);
    default:
      return false;
  }
}

/**
 * The type with `T{i}` replaced by the i-th type argument inside vectors, references and struct arguments but, as in
 * the reference, not inside function types. An index without an argument is not replaced.
 */
export function substituteTypeParameters(
  type: MoveType,
  typeArguments: readonly MoveType[],
): MoveType {
  switch (type.kind) {
    case 'typeParameter':
      return typeArguments[type.index] ?? type;
    case 'vector':
      return { kind: 'vector', element: substituteTypeParameters(type.element, typeArguments) };
    case 'reference':
      return { ...type, to: substituteTypeParameters(type.to, typeArguments) };
    case 'struct': {
      const { struct } = type;
      const replaced = struct.typeArguments.map((argument) =>
        substituteTypeParameters(argument, typeArguments),
      );
      return { kind: 'struct', struct: { ...struct, typeArguments: replaced } };
    }
    default:
      return type;
  }
}

/** Whether a parameter is `signer` or a reference to it, at any depth: such parameters have no argument. */
export function isSignerParameter(type: MoveType): boolean {
  if (type.kind === 'reference') return isSignerParameter(type.to);
  return type.kind === 'signer';
}

/** The name of a parameter's JSON type in messages: `integer<u8>`, `string<hex>`, `array<boolean>`, … */
export function parameterTypeName(type: MoveType): string {
  switch (type.kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
      return `integer<${type.kind}>`;
    case 'u64':
    case 'u128':
    case 'u256':
    case 'i64':
    case 'i128':
    case 'i256':
      return `string<${type.kind}>`;
    case 'bool':
      return 'boolean';
    case 'address':
    case 'signer':
      return 'string<address>';
    case 'vector':
      if (type.element.kind === 'u8') return 'string<hex>';
      return `array<${parameterTypeName(type.element)}>`;
    case 'struct':
    case 'typeParameter':
      return 'string<move_struct_tag_id>';
    case 'function':
      return 'string<move_function_id>';
    case 'reference':
      return parameterTypeName(type.to);
    case 'unparsable':
      return type.text;
  }
}
