/**
 * What was last read from short texts: requests name the same functions and types again and again. Holds two
 * generations; when the young one is full, the old one is dropped, so it stays bounded whatever clients send, and
 * what is in use survives.
 */

/** Longest text that is kept, in UTF-16 units. */
export const MAX_CACHED_TEXT_LENGTH = 256;
/** Most texts of one generation: with their values some 2 MB. */
export const MAX_CACHED_TEXTS = 2_048;

/** A bounded cache by text. Values are immutable and follow from the text alone. */
export class TextCache<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** Texts held. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** The value of a text; `undefined` when it is not held. */
  get(text: string): V | undefined {
    const value = this.#young.get(text);
    if (value !== undefined) return value;
    const aged = this.#old.get(text);
    if (aged !== undefined) this.set(text, aged);
    return aged;
  }

  /** Keeps the value of a text that is short enough. */
  set(text: string, value: V): void {
    if (text.length > MAX_CACHED_TEXT_LENGTH) return;
    if (this.#young.size >= MAX_CACHED_TEXTS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(copiedText(text), value);
  }
}

/** The same text in memory of its own: a part of a request's body would keep the whole body alive. */
export function copiedText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
