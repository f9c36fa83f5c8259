/** Sizes of ABIs before they are printed. */
import { abiTooLarge } from './abi-error.ts';

const QUOTE_BYTES = 2;
const COLON_BYTES = 1;
const BRACKET_BYTES = 2;
const TRUE_BYTES = 4;
const FALSE_BYTES = 5;

/**
 * Counts the bytes that JSON.stringify would print of objects, arrays, booleans and strings. The
 * strings of an ABI are identifiers and types: ASCII with nothing to escape, one byte per
 * character.
 */
export class JsonSize {
  readonly #maxBytes: number;
  #byteLength = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws AbiError `abi_too_large` as soon as the limit is passed. */
  add(value: unknown): void {
    if (typeof value === 'string') this.#grow(value.length + QUOTE_BYTES);
    else if (typeof value === 'boolean') this.#grow(value ? TRUE_BYTES : FALSE_BYTES);
    else if (Array.isArray(value)) this.#list(value, (item) => this.add(item));
    else {
      this.#list(Object.entries(value as object), ([key, member]) => {
        this.#grow(key.length + QUOTE_BYTES + COLON_BYTES);
        this.add(member);
      });
    }
  }

  #list<T>(items: readonly T[], add: (item: T) => void): void {
    this.#grow(BRACKET_BYTES + Math.max(0, items.length - 1));
    for (const item of items) add(item);
  }

  #grow(byteLength: number): void {
    this.#byteLength += byteLength;
    if (this.#byteLength > this.#maxBytes) throw abiTooLarge();
  }
}
