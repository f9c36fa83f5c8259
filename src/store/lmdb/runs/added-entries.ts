/** Entries that a commit adds to sorted runs, one after the other as words: no object for each waits for the commit. */
import { type RunShape, writeWords } from './run-shape.ts';

const FIRST_ENTRIES = 256;

export class AddedEntries {
  readonly shape: RunShape;
  #words: Uint32Array;
  #count = 0;

  constructor(shape: RunShape) {
    this.shape = shape;
    this.#words = new Uint32Array(FIRST_ENTRIES * shape.entryWords);
  }

  get count(): number {
    return this.#count;
  }

  /** Of all entries, in the order in which they were added: valid until the next one is. */
  get words(): Uint32Array {
    return this.#words.subarray(0, this.#count * this.shape.entryWords);
  }

  /**
   * @param place DELETED: the row is gone
   * @param value as long as the values that entries of the column have; absent: zeros
   */
  add(partition: Uint8Array, order: Uint8Array, place: number, value?: Uint8Array): void {
    const { entryWords, keyWords, partitionWords } = this.shape;
    const at = this.#count * entryWords;
    if (at === this.#words.length) this.#grow();
    const words = this.#words;
    writeWords(partition, words, at, partitionWords);
    writeWords(order, words, at + partitionWords, keyWords - partitionWords);
    words[at + keyWords] = place;
    if (value !== undefined) {
      writeWords(value, words, at + keyWords + 1, entryWords - keyWords - 1);
    }
    this.#count += 1;
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.#words.length);
    words.set(this.#words);
    this.#words = words;
  }
}
