/**
 * The debug prints of argument layouts and of Move values, as messages show them (docs/spec/encode.md §A4, "{layout}"
 * and "Script" step 5).
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { isSmallInteger, readSmallInteger, readWideInteger } from '../bcs/integers.ts';
import { capitalized, debugString } from '../rust-debug.ts';
import type { PrimitiveKind, StructTag, TypeTag } from '../types/type-tag.ts';
import type { Layout, LayoutField } from './layout.ts';

/**
 * Longest print, in characters. Type arguments may occur inside each other any number of times, so a module
 * of a few lines could otherwise produce a text of any length.
 */
export const MAX_LAYOUT_DEBUG_CHARS = 1_000_000;

/** Replaces the rest of a print over the limit. */
const CUT = '…';

/**
 * `U64`, `Vector(U8)`, `Struct(WithTypes { type_: StructTag { … }, fields: [MoveFieldLayout { … }] })`, …; cut off
 * after MAX_LAYOUT_DEBUG_CHARS.
 */
export function debugLayout(layout: Layout): string {
  const printer = new LayoutPrinter();
  printer.layout(layout);
  return printer.finish();
}

class LayoutPrinter {
  #text = '';

  finish(): string {
    if (!this.#isFull()) return this.#text;
    return this.#text.slice(0, MAX_LAYOUT_DEBUG_CHARS) + CUT;
  }

  layout(layout: Layout): void {
    // Every item appends something, so this ends soon after the limit, however large the unfolded graph is.
    if (this.#isFull()) return;
    switch (layout.kind) {
      case 'bytes':
        this.#text += 'Vector(U8)';
        return;
      case 'vector':
        this.#text += 'Vector(';
        this.layout(layout.element);
        this.#text += ')';
        return;
      case 'struct':
      case 'string':
        this.#text += 'Struct(WithTypes { type_: ';
        this.#structTag(layout.tag!);
        this.#text += ', fields: ';
        this.#fields(layout.fields);
        this.#text += ' })';
        return;
      case 'enum':
        this.#text += 'Struct(WithVariants { type_: ';
        this.#structTag(layout.tag!);
        this.#text += ', variants: ';
        this.#list(layout.variants, (variant) => {
          this.#text += `MoveVariantLayout { name: ${identifier(variant.name)}, fields: `;
          this.#fields(variant.fields);
          this.#text += ' }';
        });
        this.#text += ' })';
        return;
      default:
        this.#text += capitalized(layout.kind);
    }
  }

  #fields(fields: readonly LayoutField[]): void {
    this.#list(fields, (field) => {
      this.#text += `MoveFieldLayout { name: ${identifier(field.name)}, layout: `;
      this.layout(field.layout);
      this.#text += ' }';
    });
  }

  #structTag(tag: StructTag): void {
    if (this.#isFull()) return;
    const { address, module, name } = tag;
    this.#text += `StructTag { address: ${address}, module: ${identifier(module)}`;
    this.#text += `, name: ${identifier(name)}, type_args: `;
    this.#list(tag.typeArguments, (argument) => this.#typeTag(argument));
    this.#text += ' }';
  }

  #typeTag(tag: TypeTag): void {
    if (this.#isFull()) return;
    if (tag.kind === 'vector') {
      this.#text += 'Vector(';
      this.#typeTag(tag.element);
      this.#text += ')';
    } else if (tag.kind === 'struct') {
      this.#text += 'Struct(';
      this.#structTag(tag.struct);
      this.#text += ')';
    } else {
      this.#text += capitalized(tag.kind);
    }
  }

  #list<T>(items: readonly T[], print: (item: T) => void): void {
    this.#text += '[';
    items.forEach((item, index) => {
      if (this.#isFull()) return;
      if (index > 0) this.#text += ', ';
      print(item);
    });
    this.#text += ']';
  }

  #isFull(): boolean {
    return this.#text.length > MAX_LAYOUT_DEBUG_CHARS;
  }
}

function identifier(name: string): string {
  return `Identifier(${debugString(name)})`;
}

/** Maximum print, in UTF-16 units, plus or minus one value; the rest is cut and ends in `…`. */
export const MAX_DEBUG_VALUE_LENGTH = 4 * 1024 * 1024;

/** Prints the value at the reader's position. The bytes are canonical: the caller encoded them. */
export function debugMoveValue(layout: Layout, reader: BcsReader): string {
  const printer = new ValuePrinter(reader);
  printer.value(layout);
  return printer.text;
}

type ScalarKind = Exclude<PrimitiveKind, 'signer'>;

class ValuePrinter {
  readonly #reader: BcsReader;
  text = '';
  #isCut = false;

  constructor(reader: BcsReader) {
    this.#reader = reader;
  }

  value(layout: Layout): void {
    switch (layout.kind) {
      case 'bytes':
      case 'vector': {
        const element: Layout = layout.kind === 'bytes' ? { kind: 'u8' } : layout.element;
        this.#append('Vector(');
        this.#items(this.#reader.length(0), () => this.value(element));
        this.#append(')');
        break;
      }
      case 'string':
      case 'struct':
        this.#struct('Runtime(', layout.fields);
        break;
      case 'enum': {
        const index = this.#reader.uleb32();
        this.#struct(`RuntimeVariant(${index}, `, layout.variants[index]!.fields);
        break;
      }
      case 'function':
      case 'signer':
        throw new TypeError(`no ${layout.kind} value can be made from JSON`);
      default: {
        this.#append(`${capitalized(layout.kind)}(${this.#scalar(layout.kind)})`);
      }
    }
  }

  #struct(open: string, fields: readonly LayoutField[]): void {
    this.#append(`Struct(${open}`);
    this.#items(fields.length, (index) => this.value(fields[index]!.layout));
    this.#append('))');
  }

  #items(count: number, item: (index: number) => void): void {
    this.#append('[');
    for (let index = 0; index < count && !this.#isCut; index += 1) {
      if (index > 0) this.#append(', ');
      item(index);
    }
    this.#append(']');
  }

  #scalar(kind: ScalarKind): string | number | bigint | boolean {
    const reader = this.#reader;
    switch (kind) {
      case 'bool':
        return reader.bool();
      case 'address':
        return reader.address();
      default:
        return isSmallInteger(kind)
          ? readSmallInteger(reader, kind)
          : readWideInteger(reader, kind);
    }
  }

  #append(text: string): void {
    if (this.#isCut) return;
    this.text += text;
    if (this.text.length <= MAX_DEBUG_VALUE_LENGTH) return;
    this.text += '…';
    this.#isCut = true;
  }
}
