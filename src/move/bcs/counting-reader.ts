import { BcsReader } from './bcs-reader.ts';

/** Counts the items of all lists before any is read. */
export class CountingReader extends BcsReader {
  readonly #maxItems: number;
  #itemsLeft: number;

  constructor(bytes: Uint8Array, offset: number, maxItems: number) {
    super(bytes, offset);
    this.#maxItems = maxItems;
    this.#itemsLeft = maxItems;
  }

  override vector<T>(minItemBytes: number, read: (reader: this) => T): T[] {
    const start = this.offset;
    const count = this.length(minItemBytes);
    if (count > this.#itemsLeft) {
      const text = `more than ${this.#maxItems} items in one message`;
      throw this.error('length_too_large', text, start);
    }
    this.#itemsLeft -= count;
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(read(this));
    return items;
  }
}
