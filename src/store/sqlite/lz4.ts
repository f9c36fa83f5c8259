/**
 * Compression of single values: LZ4 blocks (the public format of lz4.org).
 *
 * A stored value begins with a tag byte. Tag 0 is followed by the uncompressed bytes. Tag 1 is followed by the
 * uncompressed length (u16) and the block.
 */
import { StoredValueError } from './stored-value.ts';

/** Longer values are stored uncompressed: offsets and lengths are u16. */
export const MAX_COMPRESSED_BYTES = 65_535;

const UNCOMPRESSED = 0;
const LZ4 = 1;
const HEADER_BYTES = 3;

/** The table is small because the processor's cache has to load it again for every value. */
const HASH_BITS = 12;
const HASH_MULTIPLIER = 0x9e37_79b1;
const MIN_MATCH_BYTES = 4;
const WORD_BYTES = 4;
/** The format demands that no match begins in the last 12 bytes or reaches into the last 5. */
const LAST_MATCH_BYTES = 12;
const LAST_LITERAL_BYTES = 5;
/** Lengths of this or more continue in further bytes. */
const LONG_LENGTH = 15;
const FULL_BYTE = 255;
/** The step to the next position grows by one after every 16 positions without a match. */
const SKIP_BITS = 4;
/** Where the value begins in the window. In the table, position 0 means that there is none. */
const START = 1;

const NO_BYTES = new Uint8Array(0);

/** The value that is being compressed or expanded. Whole words are copied, up to three bytes too many. */
const window = new Uint8Array(START + MAX_COMPRESSED_BYTES + WORD_BYTES);
const words = new DataView(window.buffer);
/** The stored form of the value. Incompressible data grows by one byte in 255. */
const stored = new Uint8Array(HEADER_BYTES + Math.ceil(MAX_COMPRESSED_BYTES * 1.01) + WORD_BYTES);
const storedWords = new DataView(stored.buffer);
/** The last position in the window of each sequence of four bytes, by its hash. */
const positions = new Uint16Array(1 << HASH_BITS);
let written = 0;

/**
 * The value whose beginning is in the window. A reader of one part usually reads another next, and resumes here. Stored
 * bytes never change, so the same buffer means the same value.
 */
let expanded: Buffer | undefined;
let expandedAt = 0;
/** Positions up to which the block was read and the value expanded. */
let expandedFrom = 0;
let expandedTo = 0;

/**
 * Encodes a value for storage, compressed if that makes it shorter.
 * @param parts the value's bytes, to be concatenated
 * @param head bytes to put in front of it, uncompressed
 */
export function compress(parts: readonly Uint8Array[], head: Uint8Array = NO_BYTES): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > MAX_COMPRESSED_BYTES) return encodeUncompressed(parts, head);
  expanded = undefined;
  let end = START;
  for (const part of parts) {
    window.set(part, end);
    end += part.length;
  }
  stored[0] = LZ4;
  stored[1] = length & FULL_BYTE;
  stored[2] = length >> 8;
  written = HEADER_BYTES;
  compressWindow(end);
  if (written > length) return encodeUncompressed(parts, head);
  const bytes = Buffer.allocUnsafe(head.length + written);
  bytes.set(head);
  bytes.set(stored.subarray(0, written), head.length);
  return bytes;
}

function encodeUncompressed(parts: readonly Uint8Array[], head: Uint8Array): Buffer {
  return Buffer.concat([head, Buffer.of(UNCOMPRESSED), ...parts]);
}

function compressWindow(end: number): void {
  positions.fill(0);
  const lastMatch = end - LAST_MATCH_BYTES;
  let anchor = START;
  let at = START;
  let misses = 1 << SKIP_BITS;
  while (at <= lastMatch) {
    const word = words.getInt32(at, true);
    const slot = Math.imul(word, HASH_MULTIPLIER) >>> (32 - HASH_BITS);
    let match = positions[slot]!;
    positions[slot] = at;
    if (match === 0 || words.getInt32(match, true) !== word) {
      at += misses >> SKIP_BITS;
      misses += 1;
      continue;
    }
    misses = 1 << SKIP_BITS;
    while (at > anchor && match > START && window[at - 1] === window[match - 1]) {
      at -= 1;
      match -= 1;
    }
    const distance = at - match;
    let matchEnd = at + MIN_MATCH_BYTES;
    const limit = end - LAST_LITERAL_BYTES;
    const lastWord = limit - WORD_BYTES;
    while (
      matchEnd <= lastWord &&
      words.getInt32(matchEnd, true) === words.getInt32(matchEnd - distance, true)
    ) {
      matchEnd += WORD_BYTES;
    }
    while (matchEnd < limit && window[matchEnd] === window[matchEnd - distance]) matchEnd += 1;
    writeSequence(anchor, at, distance, matchEnd - at);
    at = matchEnd;
    anchor = matchEnd;
  }
  writeLiterals(anchor, end, 0);
}

function writeSequence(from: number, to: number, offset: number, matchBytes: number): void {
  const extraBytes = matchBytes - MIN_MATCH_BYTES;
  writeLiterals(from, to, Math.min(extraBytes, LONG_LENGTH));
  stored[written] = offset & FULL_BYTE;
  stored[written + 1] = offset >> 8;
  written += 2;
  if (extraBytes >= LONG_LENGTH) writeLength(extraBytes - LONG_LENGTH);
}

/** @param low the token's low half: the length of the match that follows */
function writeLiterals(from: number, to: number, low: number): void {
  const literals = to - from;
  stored[written] = (Math.min(literals, LONG_LENGTH) << 4) | low;
  written += 1;
  if (literals >= LONG_LENGTH) writeLength(literals - LONG_LENGTH);
  const shift = written - from;
  for (let at = from; at < to; at += WORD_BYTES) {
    storedWords.setInt32(shift + at, words.getInt32(at, true), true);
  }
  written += literals;
}

function writeLength(length: number): void {
  let rest = length;
  for (; rest >= FULL_BYTE; rest -= FULL_BYTE) {
    stored[written] = FULL_BYTE;
    written += 1;
  }
  stored[written] = rest;
  written += 1;
}

/**
 * Decodes the first bytes of the value that is stored at `at`.
 * @param wanted how many bytes; if absent, the whole value
 * @throws StoredValueError
 */
export function expand(bytes: Buffer, at = 0, wanted?: number): Buffer {
  const tag = bytes[at];
  if (tag === UNCOMPRESSED) {
    const end = wanted === undefined ? bytes.length : at + 1 + wanted;
    if (end > bytes.length) throw damaged();
    return bytes.subarray(at + 1, end);
  }
  const end = bytes.length - at;
  if (tag !== LZ4 || end < HEADER_BYTES) throw damaged('without its header');
  const length = bytes[at + 1]! | (bytes[at + 2]! << 8);
  const wantedBytes = wanted ?? length;
  if (wantedBytes > length || end > stored.length - WORD_BYTES) throw damaged();
  if (expanded !== bytes || expandedAt !== at) {
    expandedAt = at;
    expandedFrom = HEADER_BYTES;
    expandedTo = START;
    stored.set(bytes.subarray(at));
  }
  // If the block is damaged, no later call may resume it.
  expanded = undefined;
  expandBlock(end, START + length, START + wantedBytes);
  expanded = bytes;
  const value = Buffer.allocUnsafe(wantedBytes);
  value.set(window.subarray(START, START + wantedBytes));
  return value;
}

/** Continues to expand the stored block into the window, at least up to `wanted`. The whole value ends at `end`. */
function expandBlock(storedEnd: number, end: number, wanted: number): void {
  const isWhole = wanted === end;
  let from = expandedFrom;
  let to = expandedTo;
  while (from < storedEnd && (isWhole || to < wanted)) {
    const token = stored[from]!;
    from += 1;
    let literals = token >> 4;
    if (literals === LONG_LENGTH) {
      for (let more = FULL_BYTE; more === FULL_BYTE && from < storedEnd; from += 1) {
        more = stored[from]!;
        literals += more;
      }
    }
    const literalsEnd = to + literals;
    if (from + literals > storedEnd || literalsEnd > end) throw damaged();
    for (let at = from; to < literalsEnd; at += WORD_BYTES, to += WORD_BYTES) {
      words.setInt32(to, storedWords.getInt32(at, true), true);
    }
    to = literalsEnd;
    from += literals;
    if (from === storedEnd) break;
    if (from + 2 > storedEnd) throw damaged();
    const offset = stored[from]! | (stored[from + 1]! << 8);
    from += 2;
    let matchLength = (token & LONG_LENGTH) + MIN_MATCH_BYTES;
    if (matchLength === LONG_LENGTH + MIN_MATCH_BYTES) {
      for (let more = FULL_BYTE; more === FULL_BYTE && from < storedEnd; from += 1) {
        more = stored[from]!;
        matchLength += more;
      }
    }
    const matchEnd = to + matchLength;
    // The last sequence has no match.
    if (offset === 0 || offset > to - START || matchEnd > end || from === storedEnd) {
      throw damaged();
    }
    if (offset >= WORD_BYTES) {
      for (; to < matchEnd; to += WORD_BYTES) {
        words.setInt32(to, words.getInt32(to - offset, true), true);
      }
      to = matchEnd;
    } else for (; to < matchEnd; to += 1) window[to] = window[to - offset]!;
  }
  if (isWhole ? to !== end || from < storedEnd : to < wanted) {
    throw damaged('of another length');
  }
  expandedFrom = from;
  expandedTo = to;
}

function damaged(problem = 'that is cut short or refers to nothing'): StoredValueError {
  return new StoredValueError(`a compressed value ${problem}`);
}
