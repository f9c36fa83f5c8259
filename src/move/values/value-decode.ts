/**
 * Converts BCS arguments to JSON in the form of arguments, which is not the form in which events are shown:
 * `{Variant: {…}}`, `Option<u8>` as hex, a nested Object as `{inner}` (docs/spec/encode.md §A4, part C trap 6).
 * Counterpart of value-encode.ts: a value that decodes here encodes to the same bytes (names of fields and variants
 * are unique, which every chain checks when a module is published).
 */
import { BcsError, BcsReader } from '../bcs/bcs-reader.ts';
import { type JsonValue, parseJson } from '../json/json-text.ts';
import { JsonWriter } from '../json/json-writer.ts';
import type { EnumLayout, Layout, LayoutFields, LayoutVariant, ObjectTemplate } from './layout.ts';
import { ValueRenderer } from './value-json.ts';

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
  layout: Layout,
  bytes: Uint8Array,
  budget: ContainerBudget = { containersLeft: MAX_ARGUMENT_CONTAINERS },
): JsonValue {
  const reader = new BcsReader(bytes);
  const out = new JsonWriter();
  new ArgumentRenderer(reader, out, budget).value(layout, 0, 0);
  reader.finish();
  return parseJson(out.finish(), Number.POSITIVE_INFINITY);
}

class ArgumentRenderer extends ValueRenderer {
  readonly #budget: ContainerBudget;
  readonly #maxContainers: number;

  constructor(reader: BcsReader, out: JsonWriter, budget: ContainerBudget) {
    super(reader, out);
    this.#budget = budget;
    this.#maxContainers = budget.containersLeft;
  }

  protected override enter(): void {
    if (this.#budget.containersLeft === 0) {
      const text = `more than ${this.#maxContainers} structs and vectors in one argument`;
      throw new BcsError('size_limit', text, this.reader.offset);
    }
    this.#budget.containersLeft -= 1;
  }

  protected override text(): void {
    const { reader, out } = this;
    const before = reader.offset;
    const byteLength = reader.length(1);
    const start = reader.skip(byteLength);
    if (out.string(reader.buffer, start, start + byteLength)) return;
    throw new BcsError('bad_utf8', 'text is not UTF-8', before);
  }

  protected override object(
    chosen: LayoutFields | LayoutVariant,
    _template: ObjectTemplate | undefined,
    depth: number,
    containerDepth: number,
  ): void {
    const { out } = this;
    const isVariant = 'name' in chosen;
    if (isVariant) out.text(`{${JSON.stringify(chosen.name)}:`);
    let separator = '{';
    for (const { name, layout } of chosen.fields) {
      out.text(`${separator}${JSON.stringify(name)}:`);
      this.value(layout, depth, containerDepth);
      separator = ',';
    }
    out.units(chosen.fields.length === 0 ? '{}' : '}');
    if (isVariant) out.units('}');
  }

  protected override variant({ tag, variants }: EnumLayout): LayoutVariant {
    return variants[this.reader.variant(variants.length, tag!.name)]!;
  }

  protected override closure(): void {
    const text = 'function values cannot be arguments';
    throw new BcsError('function_value', text, this.reader.offset);
  }
}
