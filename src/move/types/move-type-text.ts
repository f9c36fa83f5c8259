/**
 * Types as the interface prints them, and types of binaries with their names filled in
 * (docs/spec/move.md §2.2, §3.3).
 */

import type { BinaryTables, ModuleId, SignatureToken } from '../modules/compiled.ts';
import { structPathOfHandle } from '../modules/names.ts';
import { formatAddress } from './address.ts';
import type { MoveType } from './move-type.ts';
import type { PrimitiveKind } from './type-tag.ts';

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
 * functions, `unparsable<text>` for what is no type.
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
 * The same text for a type inside a binary. `structPath` gives the path of a struct handle; it is
 * called once per struct in the type, so it can keep the paths and count what is printed.
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
 * Appends instead of Array.join: the engine then keeps the parts by reference and copies the text
 * once at the end. Joining would copy it once per level of nesting, and hostile binaries nest 255
 * levels.
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

/**
 * A type of a binary with the names of its structs. The token is one of a loaded binary: its
 * handles exist.
 */
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
