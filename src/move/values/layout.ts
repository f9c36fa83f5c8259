/**
 * Layouts hold what the codecs need to know about a type, resolved once and used for any number of values. Plain,
 * immutable and shared: the same type inside one layout is the same object, so a layout is a graph without cycles.
 *
 * `layout-resolver.ts` resolves them for shown values and for arguments, `src/vm/program/layouts.ts` for running
 * code.
 */
import { byteTools } from '../bcs/bytes.ts';
import { MoveError } from '../errors.ts';
import {
  FIXED_BYTES,
  FIXED_KINDS,
  FIXED_TEXT_BYTES,
  type FixedKind,
  type FixedObject,
} from '../json/json-writer.ts';
import {
  type CompiledModule,
  type FieldDefinition,
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
 * - `module_not_found`, `module_not_loadable`, `struct_not_found`: something that a type names;
 * - `type_argument_count`: more or fewer type arguments than declared;
 * - `native_struct`, `reference`, `signer`, `function_type`: types without a layout;
 * - `bad_option`: an enum of `0x1::option` with a shape other than None and Some;
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

export interface LayoutField {
  readonly name: string;
  readonly layout: Layout;
}

/** The fields of a struct, or of a variant of an enum, in the order of their bytes. */
export interface LayoutFields {
  readonly fields: readonly LayoutField[];
  /** Template for showing their values; absent in layouts of arguments and of running code. */
  readonly template?: ObjectTemplate | undefined;
}

export interface LayoutVariant extends LayoutFields {
  readonly name: string;
}

/**
 * An object of the JSON output: `pieces[0] field[order[0]] pieces[1] field[order[1]] … pieces[n]`. The pieces
 * hold the names, sorted and escaped once for all values, in UTF-8.
 */
export interface ObjectTemplate {
  /** Layouts of the fields. Templates have one hidden class; objects with fields have several. */
  readonly layouts: readonly Layout[];
  readonly pieces: readonly Buffer[];
  /** The index of the field at each position. */
  readonly order: readonly number[];
  /** Whether `order` is 0, 1, 2, … over all fields. */
  readonly inDeclaredOrder: boolean;
  /** The cost of one value in the byte budget for its field and variant names. */
  readonly nameBytes: number;
  /** Set if all values have the same size; then one object holds them all, including those of inner structs. */
  readonly fixed: FixedTemplate | undefined;
}

export interface FixedTemplate extends FixedObject {
  readonly valueBytes: number;
  /** `nameBytes`, plus `nameBytes` and `tagBytes` of all structs inside. */
  readonly costBytes: number;
}

export interface VectorLayout {
  readonly kind: 'vector';
  readonly element: Layout;
  readonly tagBytes?: number;
}

export interface StructLayout<Kind = 'struct'> extends LayoutFields {
  readonly kind: Kind;
  readonly tag?: StructTag | undefined;
  readonly tagBytes?: number;
}

export interface EnumLayout {
  readonly kind: 'enum';
  readonly tag?: StructTag | undefined;
  readonly variants: readonly LayoutVariant[];
  readonly tagBytes?: number;
}

/**
 * The structure of a type's values, for BCS, JSON, debug texts and running code. `tag` is absent in layouts of shown
 * values and in closures. `tagBytes` is the cost of showing the type of one value (docs/spec/encode.md §B2); layouts
 * of arguments and of running code do not have it.
 */
export type Layout =
  | { readonly kind: PrimitiveKind }
  /** `vector<u8>`. */
  | { readonly kind: 'bytes' }
  | VectorLayout
  | StructLayout
  /** `0x1::string::String`, whose JSON is a string. Running code treats it as a struct. */
  | StructLayout<'string'>
  | EnumLayout
  /** A closure, which contains the layouts of its captured values (docs/spec/move.md §4.5). */
  | { readonly kind: 'function' };

/** Deepest nesting of types in one layout: chains allow 128 in values, the reference 500 enums. */
export const MAX_LAYOUT_DEPTH = 512;

export const ADDRESS_COST_BYTES = 32;

export function isStringStruct(id: ModuleId, name: string): boolean {
  return name === 'String' && id.name === 'string' && id.address === ADDRESS_ONE;
}

export function isOptionModule(id: ModuleId): boolean {
  return id.name === 'option' && id.address === ADDRESS_ONE;
}

/** `ModuleId { address: {64 hex}, name: Identifier("coin") }` (docs/spec/move.md §3.3). */
export function debugModuleId(id: ModuleId): string {
  return `ModuleId { address: ${id.address}, name: Identifier(${debugString(id.name)}) }`;
}

export interface FoundStruct {
  readonly id: ModuleId;
  readonly module: CompiledModule;
  readonly name: string;
  readonly handle: StructHandle;
  readonly definition: StructDefinition;
}

/** Loaded modules never change and live as long as they are cached. */
const structs = new WeakMap<CompiledModule, ReadonlyMap<string, FoundStruct>>();

export function findStruct(module: CompiledModule, name: string): FoundStruct | undefined {
  let byName = structs.get(module);
  if (byName === undefined) {
    byName = structsOf(module);
    structs.set(module, byName);
  }
  return byName.get(name);
}

function structsOf(module: CompiledModule): ReadonlyMap<string, FoundStruct> {
  const id = moduleIdOf(module);
  const byName = new Map<string, FoundStruct>();
  for (const definition of module.structDefinitions) {
    const handle = module.structHandles[definition.handle]!;
    const name = module.identifiers[handle.name]!;
    if (!byName.has(name)) byName.set(name, { id, module, name, handle, definition });
  }
  return byName;
}

/** The variants of an enum; a struct is one variant without a name. */
export function variantsOf({
  definition,
  module,
}: FoundStruct): readonly { readonly name: string; readonly fields: readonly FieldDefinition[] }[] {
  if (definition.kind === 'struct') return [{ name: '', fields: definition.fields }];
  if (definition.kind === 'native') return [];
  return definition.variants.map(({ name, fields }) => ({
    name: module.identifiers[name]!,
    fields,
  }));
}

/** A member that is the same for all values; `json` is its JSON text. */
interface FixedMember {
  readonly name: string;
  readonly json: string;
}

/**
 * The object of some fields in declared order, all names sorted by bytes, with at most one fixed member among them. If
 * names are equal, the last one wins, and a fixed member precedes all fields; the bytes of all fields are always read.
 */
export function objectTemplate(
  fields: readonly LayoutField[],
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
  const inDeclaredOrder =
    order.length === fields.length && order.every((field, place) => field === place);
  return templateOf(fields, pieces, { order, inDeclaredOrder, nameBytes });
}

/** `{"vec":[…]}` around the fields of a variant of the enum `0x1::option::Option`. */
export function optionTemplate(fields: readonly LayoutField[], nameBytes: number): ObjectTemplate {
  const order = fields.map((_, index) => index);
  const pieces: string[] = order.map((index) => (index === 0 ? '{"vec":[' : ','));
  pieces.push(fields.length === 0 ? '{"vec":[]}' : ']}');
  return templateOf(fields, pieces, { order, inDeclaredOrder: true, nameBytes });
}

function templateOf(
  fields: readonly LayoutField[],
  texts: readonly string[],
  form: Pick<ObjectTemplate, 'order' | 'inDeclaredOrder' | 'nameBytes'>,
): ObjectTemplate {
  const { order, inDeclaredOrder, nameBytes } = form;
  const layouts = fields.map(({ layout }) => layout);
  const pieces = texts.map((text) => byteTools.utf8Bytes(text));
  const fixed = fixedTemplate(layouts, pieces, order, nameBytes);
  return { layouts, pieces, order, inDeclaredOrder, nameBytes, fixed };
}

/** Most values in a fixed template. */
export const MAX_FIXED_VALUES = 64;
/** Longest text of an object that has a fixed template, in bytes: it repeats the names of all structs inside. */
export const MAX_FIXED_TEXT_BYTES = 8 * 1024;

/** The template of values of fixed length; `undefined` if a length varies or a value is not shown. */
function fixedTemplate(
  layouts: readonly Layout[],
  pieces: readonly Buffer[],
  order: readonly number[],
  nameBytes: number,
): FixedTemplate | undefined {
  if (order.length !== layouts.length) return undefined;
  const starts: number[] = [];
  let valueBytes = 0;
  let costBytes = nameBytes;
  for (const layout of layouts) {
    const bytes = fixedBytes(layout);
    if (bytes === undefined) return undefined;
    starts.push(valueBytes);
    valueBytes += bytes;
    if (layout.kind === 'struct') costBytes += layout.tagBytes! + layout.template!.fixed!.costBytes;
  }
  const kinds: number[] = [];
  const offsets: number[] = [];
  const texts: Buffer[][] = [[pieces[0]!]];
  let maxTextBytes = 0;
  for (const [place, index] of order.entries()) {
    const layout = layouts[index]!;
    const start = starts[index]!;
    if (layout.kind === 'struct') {
      const inner = layout.template!.fixed!;
      texts.at(-1)!.push(inner.pieces[0]!);
      inner.kinds.forEach((kind, at) => {
        kinds.push(kind);
        offsets.push(start + inner.offsets[at]!);
        texts.push([inner.pieces[at + 1]!]);
      });
      maxTextBytes += inner.maxTextBytes;
    } else {
      const kind = layout.kind as FixedKind;
      kinds.push(FIXED_KINDS[kind]);
      offsets.push(start);
      texts.push([]);
      maxTextBytes += FIXED_TEXT_BYTES[kind];
    }
    texts.at(-1)!.push(pieces[place + 1]!);
  }
  for (const piece of pieces) maxTextBytes += piece.length;
  if (kinds.length > MAX_FIXED_VALUES || maxTextBytes > MAX_FIXED_TEXT_BYTES) return undefined;
  const joined = texts.map(joinedBytes);
  const shape = { kinds: Uint8Array.from(kinds), offsets: Uint16Array.from(offsets) };
  return { ...shape, pieces: joined, maxTextBytes, valueBytes, costBytes };
}

function joinedBytes(parts: readonly Buffer[]): Buffer {
  if (parts.length === 1) return parts[0]!;
  const bytes = byteTools.allocate(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

function fixedBytes(layout: Layout): number | undefined {
  if (layout.kind === 'struct') return layout.template?.fixed?.valueBytes;
  return layout.kind in FIXED_BYTES ? FIXED_BYTES[layout.kind as FixedKind] : undefined;
}

/** Estimated memory in bytes of a struct or a variant, one of its fields, a template and a fixed one. */
const FIELDS_BYTES = 300;
const FIELD_BYTES = 120;
const TEMPLATE_BYTES = 250;
const FIXED_TEMPLATE_BYTES = 500;
/** Estimated memory of a Buffer without its bytes, and of a reference to it. */
const BUFFER_BYTES = 100;
const REFERENCE_BYTES = 8;

/** Estimated memory of some layouts in bytes; one that occurs in several places counts once. */
export function layoutBytes(layouts: readonly Layout[]): number {
  const seen = new Set<Layout>();
  const pieces = new Set<Buffer>();
  const left = [...layouts];
  let bytes = 0;
  for (let layout = left.pop(); layout !== undefined; layout = left.pop()) {
    if (seen.has(layout)) continue;
    seen.add(layout);
    if (layout.kind === 'vector') left.push(layout.element);
    const lists =
      layout.kind === 'struct' ? [layout] : layout.kind === 'enum' ? layout.variants : [];
    for (const { fields, template } of lists) {
      bytes += FIELDS_BYTES + fields.length * FIELD_BYTES;
      if (template !== undefined) bytes += templateBytes(template, pieces);
      for (const field of fields) left.push(field.layout);
    }
  }
  return bytes;
}

/** @param counted pieces of other templates, which may be shared */
function templateBytes({ pieces, fixed }: ObjectTemplate, counted: Set<Buffer>): number {
  let bytes = TEMPLATE_BYTES + (fixed === undefined ? 0 : FIXED_TEMPLATE_BYTES);
  for (const piece of fixed === undefined ? pieces : [...pieces, ...fixed.pieces]) {
    bytes += REFERENCE_BYTES;
    if (counted.has(piece)) continue;
    counted.add(piece);
    bytes += BUFFER_BYTES + piece.length;
  }
  return bytes;
}
