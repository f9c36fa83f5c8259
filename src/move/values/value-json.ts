/**
 * Stored bytes to JSON text, in one pass over the bytes and without objects between (docs/spec/encode.md §B1, B2;
 * docs/spec/http.md §8.4). What a value's type looks like is all in its layout.
 */
import { BcsError, BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { byteTools } from '../bcs/bytes.ts';
import { formatHex } from '../bcs/hex.ts';
import { formatAddress } from '../types/address.ts';
import { ModuleId } from '../types/module-id.ts';
import { formatTypeTag, readTypeTag } from '../types/type-tag.ts';
import type {
  EnumLayout,
  Layout,
  LayoutFields,
  LayoutVariant,
  ObjectTemplate,
  StructLayout,
  VectorLayout,
} from './layout.ts';
import { enterContainer, FUNCTION_DATA_VERSION, readCapturedLayout } from './layout-captured.ts';

/**
 * Bytes of names that one value may cost: for every struct value the cost of its type's tag (32 for the address plus
 * the names of module and struct, and the same for its type arguments), plus its field and variant names. It also
 * limits values without bytes, such as two thousand million empty structs.
 */
export const VALUE_BUDGET_BYTES = 100_000_000;

/**
 * Deepest nesting of values. Layouts end before it; closures inside closures do not. A level uses up to 500 bytes of a
 * stack of about one MiB; 2,000 levels were measured to be too many.
 */
export const MAX_VALUE_DEPTH = 768;

/** Text between two steps of `renderInTurns`, in bytes: it takes a few milliseconds to make. */
export const JSON_PIECE_BYTES = 128 * 1024;

/** Below it a high half of a u64 leaves the number exact in a double. */
const EXACT_HIGH_HALF = 0x20_0000;
const TWO_32 = 0x1_0000_0000;
const BILLION = 1_000_000_000;
const BILLION_DIGITS = 9;

/** Highest index that the reference's reader can even hold. */
const MAX_VARIANT_INDEX = 0xffff;

/**
 * The JSON text of the value that takes all of `bytes`.
 * @throws BcsError, whose `detail` is the interface's text.
 */
export function renderValue(layout: Layout, bytes: Uint8Array): string {
  return decodeBcs(bytes, (reader) => new ValueRenderer(reader).value(layout, 0, 0));
}

/**
 * The UTF-8 of `renderValue`, one unit per byte, for output that is sent as bytes anyway.
 * @param start where the value begins in `bytes`
 * @param end where it ends
 * @throws BcsError exactly when `renderValue` does.
 */
export function renderValueUtf8(
  layout: Layout,
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): string {
  const reader = new BcsReader(bytes, start, end);
  const text = new ValueRenderer(reader, true).value(layout, 0, 0);
  reader.finish();
  return text;
}

/**
 * The text of `renderValueUtf8` in pieces, for values that take long: others should have their turn after each. A piece
 * may be empty.
 * @param text what comes before it
 * @returns the last piece
 * @throws BcsError exactly when `renderValue` does, from a step
 */
export function* renderInTurns(
  layout: Layout,
  bytes: Uint8Array,
  text: string,
): Generator<string, string> {
  const reader = new BcsReader(bytes);
  const rest = yield* new ValueRenderer(reader, true).inTurns(layout, text, 0, 0);
  reader.finish();
  return rest;
}

/** The UTF-8 of a text, a unit for each byte. */
export function utf8Units(text: string): string {
  const bytes = byteTools.utf8Bytes(text);
  return byteTools.latin1Text(bytes, 0, bytes.length);
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
  return decodeBcs(bytes, (reader) => new ValueRenderer(reader).split(layout));
}

/** Kinds of values that may have any number of parts. */
const LONG_KINDS: ReadonlySet<Layout['kind']> = new Set(['vector', 'struct', 'enum', 'bytes']);

/** Renders values as they are shown; arguments are rendered by a subclass (value-decode.ts). */
export class ValueRenderer {
  protected readonly reader: BcsReader;
  readonly #asUtf8: boolean;
  #leftBytes = VALUE_BUDGET_BYTES;

  /** @param asUtf8 whether texts are those of `renderValueUtf8`; all but strings and names are ASCII */
  constructor(reader: BcsReader, asUtf8 = false) {
    this.reader = reader;
    this.#asUtf8 = asUtf8;
  }

  /** `containerDepth` counts the named containers of BCS around the value: of values, only enums. */
  value(layout: Layout, depth: number, containerDepth: number): string {
    const { reader } = this;
    switch (layout.kind) {
      case 'bool':
        return reader.bool() ? 'true' : 'false';
      case 'u8':
        return String(reader.u8());
      case 'u16':
        return String(reader.u16());
      case 'u32':
        return String(reader.u32());
      case 'u64':
        return `"${this.#u64()}"`;
      case 'u128':
        return `"${reader.u128()}"`;
      case 'u256':
        return `"${reader.u256()}"`;
      case 'i8':
        return String(reader.signed(8));
      case 'i16':
        return String(reader.signed(16));
      case 'i32':
        return String(reader.signed(32));
      case 'i64':
        return `"${reader.signed(64)}"`;
      case 'i128':
        return `"${reader.signed(128)}"`;
      case 'i256':
        return `"${reader.signed(256)}"`;
      case 'address':
        return `"${formatAddress(reader.address())}"`;
      case 'bytes':
        return `"${formatHex(reader.bytes())}"`;
      case 'string':
        return this.text(layout);
      case 'signer':
        throw this.#error('signer', 'cannot deserialize signer');
      default:
        this.#checkDepth(depth);
        return this.#composite(layout, depth + 1, containerDepth);
    }
  }

  /** Renders a value in pieces behind `text`; a value without parts is one piece. @returns the last piece */
  *inTurns(
    layout: Layout,
    text: string,
    depth: number,
    containerDepth: number,
  ): Generator<string, string> {
    const { kind } = layout;
    if (kind === 'vector') {
      this.#checkDepth(depth);
      this.enter(layout.tagBytes);
      const count = this.reader.length(0);
      const { element } = layout;
      const isShort = !LONG_KINDS.has(element.kind);
      text += '[';
      for (let index = 0; index < count; index += 1) {
        if (index > 0) text += ',';
        if (isShort) text += this.value(element, depth + 1, containerDepth);
        else text = yield* this.inTurns(element, text, depth + 1, containerDepth);
        if (text.length >= JSON_PIECE_BYTES) {
          yield text;
          text = '';
        }
      }
      return text + ']';
    }
    if (kind === 'bytes') {
      const bytes = this.reader.bytes();
      text += '"0x';
      for (let from = 0; from < bytes.length; from += JSON_PIECE_BYTES) {
        if (from > 0) yield text;
        const digits = formatHex(bytes.subarray(from, from + JSON_PIECE_BYTES)).slice('0x'.length);
        text = from > 0 ? digits : text + digits;
      }
      return text + '"';
    }
    if (kind !== 'struct' && kind !== 'enum') {
      return text + this.value(layout, depth, containerDepth);
    }
    this.#checkDepth(depth);
    if (kind === 'enum') enterContainer(this.reader, containerDepth, 'enum');
    const { fields, template } = this.#fields(layout);
    const { pieces, order } = template!;
    const inside = kind === 'enum' ? containerDepth + 1 : containerDepth;
    const values: string[][] = [];
    for (const { layout: field } of fields) {
      const parts: string[] = [];
      const steps = this.inTurns(field, '', depth + 1, inside);
      for (let step = steps.next(); ; step = steps.next()) {
        parts.push(step.value);
        if (step.done) break;
        // Members are not in the order of their bytes.
        yield '';
      }
      values.push(parts);
    }
    for (const [place, piece] of pieces.entries()) {
      for (const part of place === 0 ? [] : values[order[place - 1]!]!) {
        text += part;
        if (text.length < JSON_PIECE_BYTES) continue;
        yield text;
        text = '';
      }
      text += piece;
    }
    return text;
  }

  /** Skips an outermost value field by field; the text is produced only to check the value. */
  split(layout: StructLayout | EnumLayout): FieldBytes {
    const { reader } = this;
    const isEnum = layout.kind === 'enum';
    const chosen = this.#fields(layout);
    const fields = chosen.fields.map(({ layout: field }) => {
      const start = reader.offset;
      this.value(field, 1, isEnum ? 1 : 0);
      return reader.buffer.subarray(start, reader.offset);
    });
    return { variant: isEnum ? layout.variants.indexOf(chosen as LayoutVariant) : 0, fields };
  }

  #composite(
    layout: VectorLayout | StructLayout | EnumLayout | { readonly kind: 'function' },
    depth: number,
    containerDepth: number,
  ): string {
    switch (layout.kind) {
      case 'vector':
        return this.#vector(layout, depth, containerDepth);
      case 'struct':
        this.enter(layout.tagBytes);
        return this.object(layout, layout.template!, depth, containerDepth);
      case 'enum': {
        enterContainer(this.reader, containerDepth, 'enum');
        this.enter(layout.tagBytes);
        const variant = this.variant(layout);
        return this.object(variant, variant.template!, depth, containerDepth + 1);
      }
      case 'function':
        return this.closure(depth, containerDepth);
    }
  }

  /** Counts a value against the limit. @throws BcsError `size_limit` */
  protected enter(tagBytes: number | undefined): void {
    this.#charge(tagBytes!);
  }

  #u64(): string {
    const { reader } = this;
    const low = reader.u32();
    const high = reader.u32();
    if (high === 0) return String(low);
    if (high < EXACT_HIGH_HALF) return exactText(high * TWO_32 + low);
    return String((BigInt(high) << 32n) | BigInt(low));
  }

  protected text(layout: StructLayout<'string'>): string {
    this.#charge(layout.tagBytes!);
    const { reader } = this;
    if (!this.#asUtf8) return jsonString(reader.bytes());
    const byteLength = reader.length(1);
    const start = reader.skip(byteLength);
    return jsonStringUtf8(reader.buffer, start, start + byteLength);
  }

  #vector(layout: VectorLayout, depth: number, containerDepth: number): string {
    this.enter(layout.tagBytes);
    // Items are read one by one, so that the first bad item decides, not the length.
    const count = this.reader.length(0);
    const { element } = layout;
    if (count === 0) return '[]';
    let text = '[' + this.value(element, depth, containerDepth);
    for (let index = 1; index < count; index += 1) {
      text += ',' + this.value(element, depth, containerDepth);
    }
    return text + ']';
  }

  /** @param template of the fields, read by the caller: there all layouts have one hidden class */
  protected object(
    _fields: LayoutFields,
    template: ObjectTemplate,
    depth: number,
    containerDepth: number,
  ): string {
    this.#charge(template.nameBytes);
    const { layouts, pieces, order } = template;
    let text = pieces[0]!;
    if (template.inDeclaredOrder) {
      for (let index = 0; index < layouts.length; index += 1) {
        text += this.value(layouts[index]!, depth, containerDepth) + pieces[index + 1]!;
      }
      return text;
    }
    const values: string[] = [];
    for (const layout of layouts) values.push(this.value(layout, depth, containerDepth));
    for (let place = 0; place < order.length; place += 1) {
      text += values[order[place]!]! + pieces[place + 1]!;
    }
    return text;
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
  protected closure(depth: number, containerDepth: number): string {
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
    const captured: string[] = [];
    for (const bit of mask) {
      if (bit === '0') continue;
      expectPart();
      const layout = readCapturedLayout(reader, containerDepth);
      if (partsLeft === 0) throw this.#wrongLength(captured.length);
      partsLeft -= 1;
      captured.push(this.value(layout, depth, containerDepth));
    }
    if (partsLeft !== 0) throw this.#wrongLength(captured.length);
    const capturedMember = captured.length === 0 ? '' : `"__captured__":[${captured.join(',')}],`;
    const typesMember =
      typeArguments.length === 0 ? '' : `,"__ty_args__":${JSON.stringify(typeArguments)}`;
    const functionName = JSON.stringify(`${formatAddress(address)}::${module}::${name}`);
    const [shownName, shownTypes] = this.#asUtf8
      ? [utf8Units(functionName), utf8Units(typesMember)]
      : [functionName, typesMember];
    return `{${capturedMember}"__fun_name__":${shownName},"__mask__":"${mask}"${shownTypes}}`;
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

/** The digits of a whole number from 2^32 to 2^53: small numbers convert much faster than large ones. */
function exactText(value: number): string {
  const high = Math.floor(value / BILLION);
  const low = value - high * BILLION;
  return String(high) + String(low).padStart(BILLION_DIGITS, '0');
}

function jsonString(bytes: Buffer): string {
  if (!byteTools.isUtf8(bytes)) return `"Unparsable utf-8 ${formatHex(bytes)}"`;
  return JSON.stringify(byteTools.utf8Text(bytes, 0, bytes.length));
}

/** The UTF-8 of `jsonString`, a unit for each byte: mostly the bytes themselves. */
function jsonStringUtf8(buffer: Buffer, start: number, end: number): string {
  let isAscii = true;
  for (let at = start; at < end; at += 1) {
    const byte = buffer[at]!;
    // Characters that JSON escapes.
    if (byte < 0x20 || byte === 0x22 || byte === 0x5c) {
      return utf8Units(jsonString(buffer.subarray(start, end)));
    }
    if (byte >= 0x80) isAscii = false;
  }
  if (!isAscii && !byteTools.isUtf8(buffer.subarray(start, end))) {
    return jsonString(buffer.subarray(start, end));
  }
  return `"${byteTools.latin1Text(buffer, start, end)}"`;
}
