/**
 * The debug print of a Move value, as messages about script arguments show it (docs/spec/encode.md §A4, "Script" step
 * 5):
 * `Struct(Runtime([Vector([U8(97)])]))`.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { PrimitiveKind } from '../types/type-tag.ts';
import type { EncodeField, EncodeLayout } from './layout.ts';

/** Longest print, in UTF-16 units, give or take one value; the rest is cut and ends in `…`. */
export const MAX_DEBUG_VALUE_LENGTH = 4 * 1024 * 1024;

/** Prints the value that the reader stands at. The bytes are canonical: the caller has made them. */
export function debugMoveValue(layout: EncodeLayout, reader: BcsReader): string {
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

  value(layout: EncodeLayout): void {
    switch (layout.kind) {
      case 'vector':
        this.#append('Vector(');
        this.#items(this.#reader.length(0), () => this.value(layout.element));
        this.#append(')');
        break;
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
        throw new TypeError('no function value can be made from JSON');
      default: {
        const name = layout.kind.charAt(0).toUpperCase() + layout.kind.slice(1);
        this.#append(`${name}(${this.#scalar(layout.kind)})`);
      }
    }
  }

  #struct(open: string, fields: readonly EncodeField[]): void {
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
      case 'u8':
        return reader.u8();
      case 'u16':
        return reader.u16();
      case 'u32':
        return reader.u32();
      case 'u64':
        return reader.u64();
      case 'u128':
        return reader.u128();
      case 'u256':
        return reader.u256();
      case 'i8':
        return reader.signed(8);
      case 'i16':
        return reader.signed(16);
      case 'i32':
        return reader.signed(32);
      case 'i64':
        return reader.signed(64);
      case 'i128':
        return reader.signed(128);
      case 'i256':
        return reader.signed(256);
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
