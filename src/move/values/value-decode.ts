/**
 * BCS arguments to JSON in the form that arguments are given in, which is not the form that events are shown in:
 * `{Variant: {…}}`, `Option<u8>` as hex, a nested Object as `{inner}` (docs/spec/encode.md §A4, part C trap 6).
 * Counterpart of value-encode.ts: a value that decodes here encodes to the same bytes (names of fields and variants
 * are unique, which every chain checks when a module is published).
 */
import { BcsError, type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { formatHex } from '../bcs/hex.ts';
import { isSmallInteger, readSmallInteger, readWideInteger } from '../bcs/integers.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../json/json-text.ts';
import { formatAddress } from '../types/address.ts';
import type { EncodeField, EncodeLayout } from './layout.ts';

/**
 * Most structs, enums and vectors in one argument. A struct can have no bytes at all, so the bytes alone are not a
 * limit; a transaction of 64 KiB cannot contain more than 65,536 non-empty ones.
 */
export const MAX_ARGUMENT_CONTAINERS = 262_144;

/** Structs, enums and vectors that may still be read; several arguments can share one. */
export interface ContainerBudget {
  containersLeft: number;
}

/**
 * The JSON whose encoding is exactly `bytes`.
 * @throws BcsError: bytes that are not a value of the layout, text that is not UTF-8 (no JSON encodes to it),
 * `function_value`, `size_limit` above the budget, which is MAX_ARGUMENT_CONTAINERS unless given.
 */
export function decodeArgument(
  layout: EncodeLayout,
  bytes: Uint8Array,
  budget: ContainerBudget = { containersLeft: MAX_ARGUMENT_CONTAINERS },
): JsonValue {
  return decodeBcs(bytes, (reader) => new ArgumentDecoder(reader, budget).value(layout));
}

type CompositeLayout = Extract<
  EncodeLayout,
  { readonly kind: 'vector' | 'struct' | 'enum' | 'function' }
>;

class ArgumentDecoder {
  readonly #reader: BcsReader;
  readonly #budget: ContainerBudget;
  readonly #maxContainers: number;

  constructor(reader: BcsReader, budget: ContainerBudget) {
    this.#reader = reader;
    this.#budget = budget;
    this.#maxContainers = budget.containersLeft;
  }

  value(layout: EncodeLayout): JsonValue {
    const reader = this.#reader;
    switch (layout.kind) {
      case 'bool':
        return reader.bool();
      case 'address':
        return formatAddress(reader.address());
      case 'string':
        return this.#text();
      case 'vector':
      case 'struct':
      case 'enum':
      case 'function':
        return this.#composite(layout);
      default:
        return isSmallInteger(layout.kind)
          ? new JsonNumber(String(readSmallInteger(reader, layout.kind)))
          : String(readWideInteger(reader, layout.kind));
    }
  }

  #composite(layout: CompositeLayout): JsonValue {
    const reader = this.#reader;
    if (this.#budget.containersLeft === 0) {
      const text = `more than ${this.#maxContainers} structs and vectors in one argument`;
      throw new BcsError('size_limit', text, reader.offset);
    }
    this.#budget.containersLeft -= 1;
    switch (layout.kind) {
      case 'vector':
        if (layout.element.kind === 'u8') return formatHex(reader.bytes());
        return this.#vector(layout.element);
      case 'struct':
        return this.#fields(layout.fields);
      case 'enum': {
        const { variants, tag } = layout;
        const variant = variants[reader.variant(variants.length, tag.name)]!;
        return new Map([[variant.name, this.#fields(variant.fields)]]);
      }
      case 'function': {
        const text = 'function values cannot be arguments';
        throw new BcsError('function_value', text, reader.offset);
      }
    }
  }

  #text(): string {
    const start = this.#reader.offset;
    const text = this.#reader.text();
    if (text !== undefined) return text;
    throw new BcsError('bad_utf8', 'text is not UTF-8', start);
  }

  #vector(element: EncodeLayout): JsonValue[] {
    // Items can be empty: only structs are, and those are counted.
    const count = this.#reader.length(0);
    const items: JsonValue[] = [];
    for (let index = 0; index < count; index += 1) items.push(this.value(element));
    return items;
  }

  #fields(fields: readonly EncodeField[]): JsonObject {
    const members = new Map<string, JsonValue>();
    for (const { name, layout } of fields) members.set(name, this.value(layout));
    return members;
  }
}
