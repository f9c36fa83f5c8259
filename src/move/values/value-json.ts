/**
 * Converts stored bytes to JSON text in one pass and without intermediate objects (docs/spec/encode.md §B1, B2;
 * docs/spec/http.md §8.4). Everything about a value's type is in its layout.
 */
import { BcsError, BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { byteTools } from '../bcs/bytes.ts';
import { formatHex } from '../bcs/hex.ts';
import { JsonWriter } from '../json/json-writer.ts';
import { ADDRESS_BYTES, formatAddress } from '../types/address.ts';
import { ModuleId } from '../types/module-id.ts';
import { formatTypeTag, readTypeTag } from '../types/type-tag.ts';
import {
  type EnumLayout,
  type FixedTemplate,
  type Layout,
  type LayoutFields,
  type LayoutVariant,
  MAX_LAYOUT_DEPTH,
  type ObjectTemplate,
  type StructLayout,
  type VectorLayout,
} from './layout.ts';
import { enterContainer, FUNCTION_DATA_VERSION, readCapturedLayout } from './layout-captured.ts';
import { MemberTexts } from './member-texts.ts';

/**
 * Bytes of names that one value may cost: for every struct value the cost of its type's tag (32 for the address plus
 * the names of module and struct, and the same for its type arguments), plus its field and variant names. It also
 * limits values without bytes, such as two billion empty structs.
 */
export const VALUE_BUDGET_BYTES = 100_000_000;

/**
 * Deepest nesting of values. Layouts are not as deep; closures inside closures can be. A level uses up to 500 bytes of
 * a stack of about one MiB; 2,000 levels were measured to be too many.
 */
export const MAX_VALUE_DEPTH = 768;

/** Text between two steps of `renderInTurns`, in bytes: it takes a few milliseconds to render. */
export const JSON_PIECE_BYTES = 128 * 1024;

/** Highest index that the reference's reader can even hold. */
const MAX_VARIANT_INDEX = 0xffff;

/**
 * The JSON text of the value that takes all of `bytes`.
 * @throws BcsError, whose `detail` is the interface's text.
 */
export function renderValue(layout: Layout, bytes: Uint8Array): string {
  const out = new JsonWriter();
  const reader = new BcsReader(bytes);
  writeValue(out, layout, reader);
  return out.finishText();
}

/**
 * Writes the JSON of the value that takes all bytes of a reader.
 * @throws BcsError exactly when `renderValue` does; a part may have been written
 */
export function writeValue(out: JsonWriter, layout: Layout, reader: BcsReader): void {
  new ValueRenderer(reader, out).value(layout, 0, 0);
  reader.finish();
}

/**
 * The UTF-8 of `renderValue` in pieces, for values that take long: others should have their turn after each. A piece
 * may be empty.
 * @param text ASCII text before it
 * @returns the last piece
 * @throws BcsError exactly when `renderValue` does, from a step
 */
export function* renderInTurns(
  layout: Layout,
  bytes: Uint8Array,
  text: string,
): Generator<Buffer, Buffer> {
  const reader = new BcsReader(bytes);
  const out = new JsonWriter();
  out.units(text);
  yield* new ValueRenderer(reader, out).chunks(layout, 0, 0);
  reader.finish();
  return out.finish();
}

/** The fields of a struct's value, in the order of their bytes. */
interface FieldBytes {
  /** Which variant of an enum the value is; 0 for a struct. */
  readonly variant: number;
  readonly fields: readonly Buffer[];
}

/**
 * The fields of the struct or enum whose value takes all of `bytes`; `undefined` for a layout that is neither.
 * @throws BcsError exactly when `renderValue` does.
 */
export function splitFields(layout: Layout, bytes: Uint8Array): FieldBytes | undefined {
  if (layout.kind !== 'struct' && layout.kind !== 'enum') return undefined;
  return decodeBcs(bytes, (reader) => new ValueRenderer(reader, new JsonWriter()).split(layout));
}

/** Kinds of values that may have any number of parts. */
const LONG_KINDS: ReadonlySet<Layout['kind']> = new Set(['vector', 'struct', 'enum', 'bytes']);

function isLong(layout: Layout): boolean {
  if (layout.kind === 'struct') return layout.template!.fixed === undefined;
  return LONG_KINDS.has(layout.kind);
}

const NO_BYTES = byteTools.allocate(0);
const TRUE = byteTools.utf8Bytes('true');
const FALSE = byteTools.utf8Bytes('false');
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BRACE = 0x7b;

/** Renders values as they are shown; a subclass renders arguments (value-decode.ts). */
export class ValueRenderer {
  protected readonly reader: BcsReader;
  protected readonly out: JsonWriter;
  #leftBytes = VALUE_BUDGET_BYTES;

  constructor(reader: BcsReader, out: JsonWriter) {
    this.reader = reader;
    this.out = out;
  }

  /** `containerDepth` counts the named containers of BCS around the value; among values, only enums are. */
  value(layout: Layout, depth: number, containerDepth: number): void {
    const { reader, out } = this;
    switch (layout.kind) {
      case 'bool':
        out.part(reader.bool() ? TRUE : FALSE);
        return;
      case 'u8':
        out.number(reader.u8());
        return;
      case 'u16':
        out.number(reader.u16());
        return;
      case 'u32':
        out.number(reader.u32());
        return;
      case 'u64':
        out.quotedU64(reader.buffer, reader.skip(8));
        return;
      case 'u128':
        this.#quoted(reader.u128());
        return;
      case 'u256':
        this.#quoted(reader.u256());
        return;
      case 'i8':
        out.units(String(reader.signed(8)));
        return;
      case 'i16':
        out.units(String(reader.signed(16)));
        return;
      case 'i32':
        out.units(String(reader.signed(32)));
        return;
      case 'i64':
        this.#quoted(reader.signed(64));
        return;
      case 'i128':
        this.#quoted(reader.signed(128));
        return;
      case 'i256':
        this.#quoted(reader.signed(256));
        return;
      case 'address':
        out.quotedAddress(reader.buffer, reader.skip(ADDRESS_BYTES));
        return;
      case 'bytes': {
        const byteLength = reader.length(1);
        const start = reader.skip(byteLength);
        out.hex(reader.buffer, start, start + byteLength);
        return;
      }
      case 'string':
        this.text(layout);
        return;
      case 'signer':
        throw this.#error('signer', 'cannot deserialize signer');
      default:
        this.#checkDepth(depth);
        this.#composite(layout, depth + 1, containerDepth);
    }
  }

  #quoted(number: bigint): void {
    const { out } = this;
    out.byte(QUOTE);
    out.units(String(number));
    out.byte(QUOTE);
  }

  /** Renders a value in pieces and leaves the last one in the writer. A value without long parts is one piece. */
  *chunks(layout: Layout, depth: number, containerDepth: number): Generator<Buffer> {
    const { kind } = layout;
    const { out } = this;
    if (!isLong(layout)) {
      this.value(layout, depth, containerDepth);
    } else if (kind === 'vector') {
      this.#checkDepth(depth);
      this.enter(layout.tagBytes);
      const count = this.reader.length(0);
      const { element } = layout;
      const isShort = !isLong(element);
      out.byte(OPEN);
      for (let index = 0; index < count; index += 1) {
        if (index > 0) out.byte(COMMA);
        if (isShort) this.value(element, depth + 1, containerDepth);
        else yield* this.chunks(element, depth + 1, containerDepth);
        if (out.length >= JSON_PIECE_BYTES) yield out.take();
      }
      out.byte(CLOSE);
    } else if (kind === 'bytes') {
      yield* this.#byteChunks();
    } else if (kind === 'struct' || kind === 'enum') {
      this.#checkDepth(depth);
      if (kind === 'enum') enterContainer(this.reader, containerDepth, 'enum');
      const template = this.#fields(layout).template!;
      const inside = kind === 'enum' ? containerDepth + 1 : containerDepth;
      if (template.inDeclaredOrder) yield* this.#memberChunks(template, depth + 1, inside);
      else yield* this.#arrangedChunks(template, depth + 1, inside);
    }
  }

  *#byteChunks(): Generator<Buffer> {
    const { out } = this;
    const bytes = this.reader.bytes();
    out.units('"0x');
    for (let from = 0; from < bytes.length; from += JSON_PIECE_BYTES) {
      if (from > 0) yield out.take();
      out.digits(bytes, from, Math.min(from + JSON_PIECE_BYTES, bytes.length));
    }
    out.byte(QUOTE);
  }

  *#memberChunks(
    { layouts, pieces }: ObjectTemplate,
    depth: number,
    containerDepth: number,
  ): Generator<Buffer> {
    const { out } = this;
    out.part(pieces[0]!);
    for (let index = 0; index < layouts.length; index += 1) {
      yield* this.chunks(layouts[index]!, depth, containerDepth);
      out.part(pieces[index + 1]!);
      if (out.length >= JSON_PIECE_BYTES) yield out.take();
    }
  }

  /** Members that are not in the order of their bytes; what is taken from the writer meanwhile is kept. */
  *#arrangedChunks(
    { layouts, pieces, order }: ObjectTemplate,
    depth: number,
    containerDepth: number,
  ): Generator<Buffer> {
    const { out } = this;
    const start = out.length;
    const ends: number[] = [];
    let memberTexts: MemberTexts | undefined;
    for (const layout of layouts) {
      for (const piece of this.chunks(layout, depth, containerDepth)) {
        const isFirst = memberTexts === undefined;
        memberTexts ??= new MemberTexts(layouts.length);
        memberTexts.add(piece, isFirst ? start : 0, ends);
        yield isFirst ? piece.subarray(0, start) : NO_BYTES;
      }
      ends.push(out.length);
    }
    if (memberTexts === undefined) {
      out.arrange(start, ends, pieces, order);
      return;
    }
    memberTexts.add(out.take(), 0, ends);
    for (const [place, piece] of pieces.entries()) {
      for (const part of place === 0 ? [] : memberTexts.parts[order[place - 1]!]!) {
        out.part(part);
        if (out.length >= JSON_PIECE_BYTES) yield out.take();
      }
      out.part(piece);
    }
  }

  /** Skips an outermost value field by field; the text is produced only to check the value. */
  split(layout: StructLayout | EnumLayout): FieldBytes {
    const { reader, out } = this;
    const isEnum = layout.kind === 'enum';
    const chosen = this.#fields(layout);
    const fields = chosen.fields.map(({ layout: field }) => {
      const start = reader.offset;
      this.value(field, 1, isEnum ? 1 : 0);
      out.cut(0);
      return reader.buffer.subarray(start, reader.offset);
    });
    out.finish();
    return { variant: isEnum ? layout.variants.indexOf(chosen as LayoutVariant) : 0, fields };
  }

  #composite(
    layout: VectorLayout | StructLayout | EnumLayout | { readonly kind: 'function' },
    depth: number,
    containerDepth: number,
  ): void {
    switch (layout.kind) {
      case 'vector':
        this.#vector(layout, depth, containerDepth);
        return;
      case 'struct':
        this.enter(layout.tagBytes);
        this.object(layout, layout.template!, depth, containerDepth);
        return;
      case 'enum': {
        enterContainer(this.reader, containerDepth, 'enum');
        this.enter(layout.tagBytes);
        const variant = this.variant(layout);
        this.object(variant, variant.template!, depth, containerDepth + 1);
        return;
      }
      case 'function':
        this.closure(depth, containerDepth);
    }
  }

  /** Counts a value against the limit. @throws BcsError `size_limit` */
  protected enter(tagBytes: number | undefined): void {
    this.#charge(tagBytes!);
  }

  protected text(layout: StructLayout<'string'>): void {
    this.#charge(layout.tagBytes!);
    const { reader, out } = this;
    const byteLength = reader.length(1);
    const start = reader.skip(byteLength);
    const end = start + byteLength;
    if (out.string(reader.buffer, start, end)) return;
    out.units(`"Unparsable utf-8 ${formatHex(reader.buffer.subarray(start, end))}"`);
  }

  #vector(layout: VectorLayout, depth: number, containerDepth: number): void {
    this.enter(layout.tagBytes);
    const { out } = this;
    // Items are read one by one, so that the first bad item decides, not the length.
    const count = this.reader.length(0);
    const { element } = layout;
    out.byte(OPEN);
    for (let index = 0; index < count; index += 1) {
      if (index > 0) out.byte(COMMA);
      this.value(element, depth, containerDepth);
    }
    out.byte(CLOSE);
  }

  /** @param template of the fields, read by the caller: there all layouts have one hidden class */
  protected object(
    _fields: LayoutFields,
    template: ObjectTemplate,
    depth: number,
    containerDepth: number,
  ): void {
    const { fixed } = template;
    if (fixed !== undefined && this.#fixedObject(fixed, depth)) return;
    this.#charge(template.nameBytes);
    const { out } = this;
    const { layouts, pieces, order } = template;
    if (template.inDeclaredOrder) {
      out.part(pieces[0]!);
      for (let index = 0; index < layouts.length; index += 1) {
        this.value(layouts[index]!, depth, containerDepth);
        out.part(pieces[index + 1]!);
      }
      return;
    }
    const start = out.length;
    const ends: number[] = [];
    for (let index = 0; index < layouts.length; index += 1) {
      this.value(layouts[index]!, depth, containerDepth);
      ends.push(out.length);
    }
    out.arrange(start, ends, pieces, order);
  }

  /** @returns false, writing nothing, for a refused value; the slow path reports why */
  #fixedObject(fixed: FixedTemplate, depth: number): boolean {
    const { reader, out } = this;
    const { valueBytes, costBytes } = fixed;
    const isRefused =
      reader.remaining < valueBytes ||
      this.#leftBytes < costBytes ||
      depth > MAX_VALUE_DEPTH - MAX_LAYOUT_DEPTH;
    if (isRefused || !out.fixedObject(fixed, reader.buffer, reader.offset)) return false;
    this.#leftBytes -= costBytes;
    reader.skip(valueBytes);
    return true;
  }

  #fields(layout: StructLayout | EnumLayout): LayoutFields {
    this.enter(layout.tagBytes);
    const fields = layout.kind === 'enum' ? this.variant(layout) : layout;
    this.#charge(fields.template!.nameBytes);
    return fields;
  }

  protected variant({ variants }: EnumLayout): LayoutVariant {
    const start = this.reader.offset;
    const index = this.reader.uleb32();
    const variant = variants[index];
    if (variant !== undefined) return variant;
    const text =
      index > MAX_VARIANT_INDEX
        ? `invalid value: integer \`${index}\`, expected u16`
        : 'invalid length 0, expected Variant';
    throw new BcsError('bad_variant', text, start);
  }

  /** A function value: a sequence of 5 + 2c parts (docs/spec/move.md §4.5, docs/spec/encode.md §B1). */
  protected closure(depth: number, containerDepth: number): void {
    const { reader } = this;
    let partsLeft = reader.length(0);
    const expectPart = () => {
      if (partsLeft === 0) throw this.#error('bad_closure', 'expected more elements');
      partsLeft -= 1;
    };
    expectPart();
    const version = reader.u16();
    if (version !== FUNCTION_DATA_VERSION) {
      throw this.#error('bad_closure', `unexpected function data version ${version}`);
    }
    expectPart();
    const { address, name: module } = ModuleId.read(reader);
    expectPart();
    const name = reader.string();
    expectPart();
    const typeArguments = reader.vector(1, () => formatTypeTag(readTypeTag(reader)));
    expectPart();
    const mask = reader.u64().toString(2);
    const { out } = this;
    out.byte(BRACE);
    let capturedCount = 0;
    for (const bit of mask) {
      if (bit === '0') continue;
      expectPart();
      const layout = readCapturedLayout(reader, containerDepth);
      if (partsLeft === 0) throw this.#wrongLength(capturedCount);
      partsLeft -= 1;
      out.units(capturedCount === 0 ? '"__captured__":[' : ',');
      this.value(layout, depth, containerDepth);
      capturedCount += 1;
    }
    if (partsLeft !== 0) throw this.#wrongLength(capturedCount);
    if (capturedCount > 0) out.units('],');
    const shownName = JSON.stringify(`${formatAddress(address)}::${module}::${name}`);
    const shownTypes =
      typeArguments.length === 0 ? '' : `,"__ty_args__":${JSON.stringify(typeArguments)}`;
    out.text(`"__fun_name__":${shownName},"__mask__":"${mask}"${shownTypes}}`);
  }

  #wrongLength(capturedCount: number): BcsError {
    return this.#error('bad_closure', `invalid length ${capturedCount}, expected Closure`);
  }

  #charge(costBytes: number): void {
    this.#leftBytes -= costBytes;
    if (this.#leftBytes < 0) throw this.#error('size_limit', 'Query exceeds size limit');
  }

  #checkDepth(depth: number): void {
    if (depth < MAX_VALUE_DEPTH) return;
    throw this.#error('too_deep', `value nests more than ${MAX_VALUE_DEPTH} levels deep`);
  }

  #error(code: BcsError['code'], text: string): BcsError {
    return new BcsError(code, text, this.reader.offset);
  }
}
