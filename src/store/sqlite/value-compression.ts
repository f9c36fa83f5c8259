/**
 * Compression of single values: LZ4 blocks (the public format of lz4.org) after a dictionary.
 *
 * A value is one tag byte, then: 0: the bytes as they are; 1: their number u16, then the block. What is wanted most
 * comes first: expanding stops where the wanted bytes end.
 */
import { StoredValueError } from './stored-value.ts';

/** Offsets are u16: the dictionary and the value are within reach of one another. */
const MAX_WINDOW_BYTES = 65_536;

const AS_IS = 0;
const LZ4 = 1;
const HEADER_BYTES = 3;

/** Small tables: they have to come into the processor’s cache again for every value. */
const HASH_BITS = 12;
const HASH_MULTIPLIER = 0x9e37_79b1;
const MIN_MATCH_BYTES = 4;
const WORD_BYTES = 4;
/** The format: no match begins in the last 12 bytes or reaches into the last 5. */
const LAST_MATCH_BYTES = 12;
const LAST_LITERAL_BYTES = 5;
/** Lengths from this on continue in further bytes. */
const LONG_LENGTH = 15;
const FULL_BYTE = 255;
/** After each further 16 positions without a match, positions are skipped one more at a time. */
const SKIP_BITS = 4;

const NO_BYTES = new Uint8Array(0);

/** Bytes that are not a compressed value. */
export class CompressedValueError extends StoredValueError {
  constructor(detail: string) {
    super(`a compressed value ${detail}`);
  }
}

/** Compresses and expands values; one at a time. */
export class ValueCompressor {
  /** Longer values are stored as they are: few are that long, and compressing must not hold the event loop. */
  readonly maxBytes: number;
  readonly #dictionaryBytes: number;
  /** The dictionary, then the value: whether it is being compressed or expanded. */
  readonly #window: Uint8Array;
  readonly #words: DataView;
  /** A value as it is stored, which has been compressed or is being expanded. */
  readonly #stored: Uint8Array;
  readonly #storedWords: DataView;
  /** By hash of four bytes, where they are in the dictionary, and where they were last in the value; 0: nowhere. */
  readonly #inDictionary = new Uint16Array(1 << HASH_BITS);
  readonly #inValue = new Uint16Array(1 << HASH_BITS);
  #written = 0;
  /** What was expanded last, as far as it was: an answer takes several rows of one record. */
  #expanded: Uint8Array | undefined;
  #expandedBytes = 0;

  constructor(dictionary: Uint8Array) {
    this.#dictionaryBytes = dictionary.length;
    this.maxBytes = MAX_WINDOW_BYTES - dictionary.length;
    // Expanding writes whole words: up to three bytes too many.
    this.#window = new Uint8Array(MAX_WINDOW_BYTES + WORD_BYTES);
    this.#window.set(dictionary);
    this.#words = new DataView(this.#window.buffer);
    // Incompressible bytes grow by one in 255.
    this.#stored = new Uint8Array(HEADER_BYTES + Math.ceil(MAX_WINDOW_BYTES * 1.01) + WORD_BYTES);
    this.#storedWords = new DataView(this.#stored.buffer);
    for (let at = 1; at + MIN_MATCH_BYTES <= dictionary.length; at += 1) {
      this.#inDictionary[hashOf(this.#words.getInt32(at, true))] = at;
    }
  }

  /**
   * A value as it is stored.
   * @param parts the value's bytes, one part after the other
   * @param head bytes to be stored in front of it, as they are
   */
  compress(parts: readonly Uint8Array[], head = NO_BYTES): Buffer {
    let length = 0;
    for (const part of parts) length += part.length;
    if (length > this.maxBytes) return asIs(parts, head, length);
    this.#expanded = undefined;
    let end = this.#dictionaryBytes;
    for (const part of parts) {
      this.#window.set(part, end);
      end += part.length;
    }
    this.#stored[0] = LZ4;
    this.#stored[1] = length & FULL_BYTE;
    this.#stored[2] = length >> 8;
    this.#written = HEADER_BYTES;
    this.#compressWindow(end);
    if (this.#written > length) return asIs(parts, head, length);
    const stored = Buffer.allocUnsafe(head.length + this.#written);
    stored.set(head);
    stored.set(this.#stored.subarray(0, this.#written), head.length);
    return stored;
  }

  #compressWindow(end: number): void {
    const [window, words, inValue] = [this.#window, this.#words, this.#inValue];
    const start = this.#dictionaryBytes;
    const inDictionary = this.#inDictionary;
    inValue.fill(0);
    const lastMatch = end - LAST_MATCH_BYTES;
    let anchor = start;
    let at = start;
    let misses = 1 << SKIP_BITS;
    while (at <= lastMatch) {
      const word = words.getInt32(at, true);
      const slot = hashOf(word);
      // Position 0 is used by nothing: it stands for none.
      let match = inValue[slot]!;
      if (match === 0) match = inDictionary[slot]!;
      inValue[slot] = at;
      if (match === 0 || words.getInt32(match, true) !== word) {
        at += misses >> SKIP_BITS;
        misses += 1;
        continue;
      }
      misses = 1 << SKIP_BITS;
      while (at > anchor && match > 1 && window[at - 1] === window[match - 1]) {
        at -= 1;
        match -= 1;
      }
      const matchEnd = this.#matchEnd(at, match, end - LAST_LITERAL_BYTES);
      this.#writeSequence(anchor, at, at - match, matchEnd - at);
      at = matchEnd;
      anchor = matchEnd;
    }
    this.#writeLiterals(anchor, end, 0);
  }

  #matchEnd(at: number, match: number, limit: number): number {
    const [window, words] = [this.#window, this.#words];
    const distance = at - match;
    let end = at + MIN_MATCH_BYTES;
    const lastWord = limit - MIN_MATCH_BYTES;
    while (end <= lastWord && words.getInt32(end, true) === words.getInt32(end - distance, true)) {
      end += MIN_MATCH_BYTES;
    }
    while (end < limit && window[end] === window[end - distance]) end += 1;
    return end;
  }

  #writeSequence(from: number, to: number, offset: number, matchBytes: number): void {
    const stored = this.#stored;
    const extraBytes = matchBytes - MIN_MATCH_BYTES;
    this.#writeLiterals(from, to, Math.min(extraBytes, LONG_LENGTH));
    stored[this.#written] = offset & FULL_BYTE;
    stored[this.#written + 1] = offset >> 8;
    this.#written += 2;
    if (extraBytes >= LONG_LENGTH) this.#writeLength(extraBytes - LONG_LENGTH);
  }

  /** @param low the token's low half: the length of the match that follows */
  #writeLiterals(from: number, to: number, low: number): void {
    const literals = to - from;
    this.#stored[this.#written] = (Math.min(literals, LONG_LENGTH) << 4) | low;
    this.#written += 1;
    if (literals >= LONG_LENGTH) this.#writeLength(literals - LONG_LENGTH);
    const [words, storedWords] = [this.#words, this.#storedWords];
    const written = this.#written - from;
    for (let at = from; at < to; at += WORD_BYTES) {
      storedWords.setInt32(written + at, words.getInt32(at, true), true);
    }
    this.#written += literals;
  }

  #writeLength(length: number): void {
    let rest = length;
    for (; rest >= FULL_BYTE; rest -= FULL_BYTE) {
      this.#stored[this.#written] = FULL_BYTE;
      this.#written += 1;
    }
    this.#stored[this.#written] = rest;
    this.#written += 1;
  }

  /**
   * Bytes `from` to `to` of a value that is stored at `at`, after its head; without bounds, the whole value.
   * @throws CompressedValueError
   */
  expand(bytes: Uint8Array, at = 0, from = 0, to = -1): Buffer {
    const tag = bytes[at];
    if (tag === AS_IS) {
      const start = at + 1;
      const end = to < 0 ? bytes.length : start + to;
      if (end > bytes.length) throw cutShort();
      return copied(bytes, start + from, end);
    }
    if (tag !== LZ4 || bytes.length < at + HEADER_BYTES) {
      throw new CompressedValueError('without its header');
    }
    const length = bytes[at + 1]! | (bytes[at + 2]! << 8);
    const wanted = to < 0 ? length : to;
    if (length > this.maxBytes) throw new CompressedValueError('that is too long');
    const storedBytes = bytes.length - at;
    if (wanted > length || storedBytes > this.#stored.length - WORD_BYTES) throw cutShort();
    const start = this.#dictionaryBytes;
    const isSame = this.#expanded === bytes;
    if (!isSame || wanted > this.#expandedBytes) {
      this.#expanded = undefined;
      // Whole words are read: up to three bytes too many.
      this.#stored.set(at === 0 ? bytes : bytes.subarray(at));
      // Whoever comes back for more will come for the rest too.
      this.#expandedBytes = isSame ? length : wanted;
      this.#expandBlock(storedBytes, start + length, start + this.#expandedBytes);
      this.#expanded = bytes;
    }
    return copied(this.#window, start + from, start + wanted);
  }

  /** Expands the stored block into the window, which it fills exactly up to `end`, at least up to `wanted`. */
  #expandBlock(storedEnd: number, end: number, wanted: number): void {
    const [stored, storedWords] = [this.#stored, this.#storedWords];
    const [window, words] = [this.#window, this.#words];
    let from = HEADER_BYTES;
    let to = this.#dictionaryBytes;
    while (from < storedEnd && (to < wanted || wanted === end)) {
      const token = stored[from]!;
      from += 1;
      let literals = token >> 4;
      if (literals === LONG_LENGTH) {
        for (let more = FULL_BYTE; more === FULL_BYTE && from < storedEnd; from += 1) {
          more = stored[from]!;
          literals += more;
        }
      }
      // Nobody wants what comes after.
      if (wanted < end && to + literals > wanted) literals = wanted - to;
      const literalsEnd = to + literals;
      if (from + literals > storedEnd || literalsEnd > end) throw cutShort();
      for (let at = from; to < literalsEnd; at += WORD_BYTES, to += WORD_BYTES) {
        words.setInt32(to, storedWords.getInt32(at, true), true);
      }
      to = literalsEnd;
      from += literals;
      if (from === storedEnd || (to === wanted && wanted < end)) break;
      if (from + 2 > storedEnd) throw cutShort();
      const offset = stored[from]! | (stored[from + 1]! << 8);
      from += 2;
      let matched = (token & LONG_LENGTH) + MIN_MATCH_BYTES;
      if (matched === LONG_LENGTH + MIN_MATCH_BYTES) {
        for (let more = FULL_BYTE; more === FULL_BYTE && from < storedEnd; from += 1) {
          more = stored[from]!;
          matched += more;
        }
      }
      const matchEnd = to + matched;
      // The last sequence has no match.
      if (offset === 0 || offset > to || matchEnd > end || from === storedEnd) throw cutShort();
      if (offset >= WORD_BYTES) {
        for (; to < matchEnd; to += WORD_BYTES) {
          words.setInt32(to, words.getInt32(to - offset, true), true);
        }
        to = matchEnd;
      } else for (; to < matchEnd; to += 1) window[to] = window[to - offset]!;
    }
    if (wanted === end ? to !== end : to < wanted) {
      throw new CompressedValueError('of another length');
    }
  }
}

function hashOf(word: number): number {
  return Math.imul(word, HASH_MULTIPLIER) >>> (32 - HASH_BITS);
}

function asIs(parts: readonly Uint8Array[], head: Uint8Array, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + 1 + length);
  bytes.set(head);
  bytes[head.length] = AS_IS;
  let end = head.length + 1;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

function copied(bytes: Uint8Array, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

function cutShort(): CompressedValueError {
  return new CompressedValueError('that is cut short or refers to nothing');
}
