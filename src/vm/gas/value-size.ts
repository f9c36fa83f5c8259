/** The abstract size of values, by which copies and comparisons are priced (docs/spec/gas.md §3). */
import type { Layout } from '../../move/values/layout.ts';
import { ByteVector, type Closure, Reference, type Value } from '../value.ts';
import type { GasPrices } from './gas-meter.ts';

/** In the reference, vectors of these kinds are one block of memory: an element counts its bytes. */
const PACKED_KINDS = [
  ...(['u8', 'u16', 'u32', 'u64', 'u128', 'u256'] as const),
  ...(['i8', 'i16', 'i32', 'i64', 'i128', 'i256', 'bool', 'address'] as const),
] as const;

export class ValueSizes {
  readonly #structure: number;
  readonly #closure: number;
  readonly #vector: number;
  readonly #reference: number;
  readonly #byKind = new Map<string, number>();
  readonly #packed = new Map<string, number>();

  constructor(prices: GasPrices) {
    const size = (name: string): number => prices.of(`misc.abs_val.${name}`);
    this.#structure = size('struct');
    this.#closure = size('closure');
    this.#vector = size('vector');
    this.#reference = size('reference');
    for (const kind of PACKED_KINDS) {
      this.#byKind.set(kind, size(kind));
      this.#packed.set(kind, size(`per_${kind}_packed`));
    }
    // A signer is an enum with an address.
    this.#byKind.set('signer', size('struct') + size('u16') + size('address'));
  }

  get reference(): number {
    return this.#reference;
  }

  ofKind(kind: string): number {
    return this.#byKind.get(kind) ?? 0;
  }

  of(layout: Layout, value: Value): number {
    switch (layout.kind) {
      case 'bytes':
        return this.#vector + this.#packed.get('u8')! * (value as ByteVector).length;
      case 'vector': {
        const elements = value as readonly Value[];
        const packed = this.#packed.get(layout.element.kind);
        if (packed !== undefined) return this.#vector + packed * elements.length;
        let size = this.#vector;
        for (const element of elements) size += this.of(layout.element, element);
        return size;
      }
      case 'struct':
      case 'string': {
        let size = this.#structure;
        const fields = value as readonly Value[];
        for (let index = 0; index < fields.length; index += 1) {
          size += this.of(layout.fields[index]!.layout, fields[index]);
        }
        return size;
      }
      case 'enum': {
        const [variant, ...fields] = value as readonly Value[];
        let size = this.#structure + this.ofKind('u16');
        const { fields: layouts } = layout.variants[variant as number]!;
        for (let index = 0; index < fields.length; index += 1) {
          size += this.of(layouts[index]!.layout, fields[index]);
        }
        return size;
      }
      case 'signer': {
        const more = (value as readonly Value[]).length - 1;
        return this.ofKind('signer') + more * this.ofKind('address');
      }
      case 'function':
        return this.#closure + this.#captured(value as Closure);
      default:
        return this.ofKind(layout.kind);
    }
  }

  /** The size of a closure's captures: primitive values, or values whose size does not matter yet. */
  #captured({ captured }: Closure): number {
    let size = 0;
    for (const value of captured) {
      if (value instanceof ByteVector) size += this.#vector + value.length;
      else if (Array.isArray(value)) size += this.#structure;
      else if (value instanceof Reference) size += this.#reference;
      else size += this.ofKind('u64');
    }
    return size;
  }
}
