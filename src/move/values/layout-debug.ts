/** The debug print of argument layouts, as messages show it (docs/spec/encode.md §A4, "{layout}"). */

import type { StructTag, TypeTag } from '../types/type-tag.ts';
import type { EncodeField, EncodeLayout } from './layout.ts';
import { debugString } from './rust-debug.ts';

/**
 * Longest print, in characters. Type arguments may stand any number of times in one another's place, so a module
 * of a few lines could otherwise ask for a text of any length.
 */
export const MAX_LAYOUT_DEBUG_CHARS = 1_000_000;

/** Stands for the rest of a print over the limit. */
const CUT = '…';

/**
 * `U64`, `Vector(U8)`, `Struct(WithTypes { type_: StructTag { … }, fields: [MoveFieldLayout { … }] })`, …; cut off
 * after MAX_LAYOUT_DEBUG_CHARS.
 */
export function debugLayout(layout: EncodeLayout): string {
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

  layout(layout: EncodeLayout): void {
    // Every item appends something, so this ends soon after the limit however large the graph unfolds.
    if (this.#isFull()) return;
    switch (layout.kind) {
      case 'vector':
        this.#text += 'Vector(';
        this.layout(layout.element);
        this.#text += ')';
        return;
      case 'struct':
      case 'string':
        this.#text += 'Struct(WithTypes { type_: ';
        this.#structTag(layout.tag);
        this.#text += ', fields: ';
        this.#fields(layout.fields);
        this.#text += ' })';
        return;
      case 'enum':
        this.#text += 'Struct(WithVariants { type_: ';
        this.#structTag(layout.tag);
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

  #fields(fields: readonly EncodeField[]): void {
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

function capitalized(kind: string): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
