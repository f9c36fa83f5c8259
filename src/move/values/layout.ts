/**
 * Layouts: what the codecs need to know about a type, resolved once and then used for any number of values. Plain,
 * immutable and shared: the same type inside one layout is the same object, so a layout is a graph without cycles.
 *
 * Two kinds, because the reference resolves stored bytes and arguments by different rules (docs/spec/move.md §4.3):
 * `DecodeLayout` (layout-decode.ts → value-json.ts) and `EncodeLayout` (layout-encode.ts → value-encode.ts,
 * value-decode.ts).
 */
import { MoveError } from '../errors.ts';
import {
  type CompiledModule,
  moduleIdOf,
  type StructDefinition,
  type StructHandle,
} from '../modules/compiled.ts';
import { debugString } from '../rust-debug.ts';
import { ADDRESS_ONE } from '../types/address.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { PrimitiveKind, StructTag } from '../types/type-tag.ts';

/**
 * Why a type has no layout:
 * - `module_not_found`, `module_not_loadable`, `struct_not_found`: what a type names;
 * - `type_argument_count`: more or fewer type arguments than declared;
 * - `native_struct`, `reference`, `signer`, `function_type`: types without a layout;
 * - `bad_option`: an enum of `0x1::option` in another shape than None and Some;
 * - `too_large`: over the node or byte budget;
 * - `too_deep`: over MAX_LAYOUT_DEPTH.
 */
type LayoutErrorCode =
  | 'module_not_found'
  | 'module_not_loadable'
  | 'struct_not_found'
  | 'type_argument_count'
  | 'native_struct'
  | 'reference'
  | 'signer'
  | 'function_type'
  | 'bad_option'
  | 'too_large'
  | 'too_deep';

/** A type without a layout; `message` is the interface's own text (docs/spec/encode.md §A4, B2). */
export class LayoutError extends MoveError<LayoutErrorCode> {}

/**
 * An object of the JSON output: `pieces[0] field[order[0]] pieces[1] field[order[1]] … pieces[n]`. The pieces
 * hold the names, sorted and escaped once for all values.
 */
export interface ObjectTemplate {
  /** Layouts of the fields in declared order, which is the order of their bytes. */
  readonly fields: readonly DecodeLayout[];
  readonly pieces: readonly string[];
  /** The index of the field at each position. */
  readonly order: readonly number[];
  /** Whether `order` is 0, 1, 2, … over all fields. */
  readonly inDeclaredOrder: boolean;
  /** The cost of one value in the byte budget for its field and variant names. */
  readonly nameBytes: number;
}

/**
 * How stored bytes of a type are rendered. `tagBytes` is the cost of one value's type in the byte budget
 * (docs/spec/encode.md §B2).
 */
export type DecodeLayout =
  | { readonly kind: PrimitiveKind }
  /** `vector<u8>`. */
  | { readonly kind: 'bytes' }
  | { readonly kind: 'vector'; readonly element: DecodeLayout; readonly tagBytes: number }
  /** `0x1::string::String`. */
  | { readonly kind: 'string'; readonly tagBytes: number }
  | { readonly kind: 'struct'; readonly template: ObjectTemplate; readonly tagBytes: number }
  | {
      readonly kind: 'enum';
      readonly variants: readonly ObjectTemplate[];
      readonly tagBytes: number;
    }
  /** A closure, which contains the layouts of its captured values (docs/spec/move.md §4.5). */
  | { readonly kind: 'function' };

export interface EncodeField {
  readonly name: string;
  readonly layout: EncodeLayout;
}

export interface EncodeVariant {
  readonly name: string;
  readonly fields: readonly EncodeField[];
}

/** How JSON arguments of a type are encoded, and their bytes decoded to the same JSON. */
export type EncodeLayout =
  | { readonly kind: Exclude<PrimitiveKind, 'signer'> }
  | { readonly kind: 'vector'; readonly element: EncodeLayout }
  | { readonly kind: 'struct'; readonly tag: StructTag; readonly fields: readonly EncodeField[] }
  /** `0x1::string::String`: its JSON is a string. */
  | { readonly kind: 'string'; readonly tag: StructTag; readonly fields: readonly EncodeField[] }
  | {
      readonly kind: 'enum';
      readonly tag: StructTag;
      readonly variants: readonly EncodeVariant[];
    }
  | { readonly kind: 'function' };

/** Deepest nesting of types in one layout: chains allow 128 in values, the reference 500 enums. */
export const MAX_LAYOUT_DEPTH = 512;

/** The cost of an address in the byte budget. */
export const ADDRESS_COST_BYTES = 32;

/** Whether a name is the framework's `0x1::string::String`. */
export function isStringStruct(id: ModuleId, name: string): boolean {
  return name === 'String' && id.name === 'string' && id.address === ADDRESS_ONE;
}

/** Whether a module is the framework's `0x1::option`. */
export function isOptionModule(id: ModuleId): boolean {
  return id.name === 'option' && id.address === ADDRESS_ONE;
}

/** `ModuleId { address: {64 hex}, name: Identifier("coin") }` (docs/spec/move.md §3.3). */
export function debugModuleId(id: ModuleId): string {
  return `ModuleId { address: ${id.address}, name: Identifier(${debugString(id.name)}) }`;
}

/** A struct or enum definition with its module. */
export interface FoundStruct {
  readonly id: ModuleId;
  readonly module: CompiledModule;
  readonly name: string;
  readonly handle: StructHandle;
  readonly definition: StructDefinition;
}

interface StructIndex {
  readonly byName: ReadonlyMap<string, FoundStruct>;
  /** First definition of each struct handle. */
  readonly byHandle: ReadonlyMap<number, FoundStruct>;
}

/** Loaded modules never change and live as long as they are cached. */
const indexes = new WeakMap<CompiledModule, StructIndex>();

function structIndex(module: CompiledModule): StructIndex {
  const known = indexes.get(module);
  if (known !== undefined) return known;
  const id = moduleIdOf(module);
  const byName = new Map<string, FoundStruct>();
  const byHandle = new Map<number, FoundStruct>();
  for (const definition of module.structDefinitions) {
    const handle = module.structHandles[definition.handle]!;
    const name = module.identifiers[handle.name]!;
    const found: FoundStruct = { id, module, name, handle, definition };
    if (!byName.has(name)) byName.set(name, found);
    if (!byHandle.has(definition.handle)) byHandle.set(definition.handle, found);
  }
  const index = { byName, byHandle };
  indexes.set(module, index);
  return index;
}

/** The first definition of a name in a module. */
export function findStruct(module: CompiledModule, name: string): FoundStruct | undefined {
  return structIndex(module).byName.get(name);
}

/** The first definition in a module of one of its struct handles. */
export function findStructByHandle(
  module: CompiledModule,
  structHandle: number,
): FoundStruct | undefined {
  return structIndex(module).byHandle.get(structHandle);
}

/** A field before its position is known. */
export interface NamedField {
  readonly name: string;
  readonly layout: DecodeLayout;
}

/** A member that is the same for all values; `json` is its JSON text. */
interface FixedMember {
  readonly name: string;
  readonly json: string;
}

/**
 * The object of some fields in declared order, all names sorted by bytes, with at most one fixed member among them. Of
 * equal names the last one wins, and a fixed member precedes all fields; the bytes of all fields are read in any case.
 */
export function objectTemplate(
  fields: readonly NamedField[],
  fixed: FixedMember | undefined,
  nameBytes: number,
): ObjectTemplate {
  const members = new Map<string, number | string>();
  if (fixed !== undefined) members.set(fixed.name, fixed.json);
  fields.forEach((field, index) => {
    members.set(field.name, index);
  });
  const pieces: string[] = [];
  const order: number[] = [];
  let piece = '{';
  let separator = '';
  // Names are ASCII, so UTF-16 order is byte order.
  for (const name of [...members.keys()].sort()) {
    const member = members.get(name)!;
    piece += `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (typeof member === 'string') {
      piece += member;
    } else {
      pieces.push(piece);
      order.push(member);
      piece = '';
    }
  }
  pieces.push(piece + '}');
  return finishTemplate(fields, pieces, order, nameBytes);
}

/** `{"vec":[…]}` around the fields of a variant of the enum `0x1::option::Option`. */
export function optionTemplate(fields: readonly NamedField[], nameBytes: number): ObjectTemplate {
  const pieces: string[] = fields.map((_, index) => (index === 0 ? '{"vec":[' : ','));
  pieces.push(fields.length === 0 ? '{"vec":[]}' : ']}');
  return finishTemplate(fields, pieces, [...fields.keys()], nameBytes);
}

function finishTemplate(
  fields: readonly NamedField[],
  pieces: readonly string[],
  order: readonly number[],
  nameBytes: number,
): ObjectTemplate {
  return {
    fields: fields.map((field) => field.layout),
    pieces,
    order,
    inDeclaredOrder:
      order.length === fields.length && order.every((field, place) => field === place),
    nameBytes,
  };
}
