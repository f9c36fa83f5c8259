/**
 * The index of module events by type: a row has the versions of a window in which a type has events
 * (docs/data-layout.md, "Index of module events by type"). Two types may share a partition, so readers compare tags.
 */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { sha3 } from '../../move/crypto/hash.ts';
import { EVENT_TYPES } from './columns.ts';
import { encodeU64Key } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

/** Versions in a window; a power of two. */
export const WINDOW_VERSIONS = 4_096;
const WINDOW_MASK = BigInt(WINDOW_VERSIONS - 1);
const BITMAP_BYTES = WINDOW_VERSIONS / 8;
/** Bytes of a version's place in its window. */
const PLACE_BYTES = 2;
/** From this many versions on, a bitmap is no longer than a list of places. */
const MIN_BITMAP_VERSIONS = BITMAP_BYTES / PLACE_BYTES;

export function windowStart(version: bigint): bigint {
  return version & ~WINDOW_MASK;
}

export function windowEnd(version: bigint): bigint {
  return version | WINDOW_MASK;
}

export function placeInWindow(version: bigint): number {
  return Number(version & WINDOW_MASK);
}

/** The partition of a type. @param typeTag BCS */
export function typePartition(typeTag: Uint8Array): Buffer {
  return sha3(typeTag).subarray(0, EVENT_TYPES.partitionBytes);
}

export class WindowVersions {
  readonly #bits: Uint8Array;

  constructor(bits = new Uint8Array(BITMAP_BYTES)) {
    this.#bits = bits;
  }

  get count(): number {
    let count = 0;
    for (const byte of this.#bits) count += BITS_IN[byte]!;
    return count;
  }

  get bits(): Uint8Array {
    return this.#bits;
  }

  add(place: number): void {
    this.#bits[place >> 3]! |= 1 << (place & 7);
  }

  addAll({ bits }: WindowVersions): void {
    for (let at = 0; at < BITMAP_BYTES; at += 1) this.#bits[at]! |= bits[at]!;
  }

  between(first: number, last: number): WindowVersions {
    const bits = this.#bits.slice();
    bits.fill(0, 0, first >> 3);
    bits[first >> 3]! &= 0xff << (first & 7);
    bits[last >> 3]! &= 0xff >> (7 - (last & 7));
    bits.fill(0, (last >> 3) + 1);
    return new WindowVersions(bits);
  }

  *places(): Generator<number> {
    for (let at = 0; at < BITMAP_BYTES; at += 1) {
      const byte = this.#bits[at]!;
      if (byte === 0) continue;
      for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) yield at * 8 + bit;
    }
  }

  equals({ bits }: WindowVersions): boolean {
    return Buffer.compare(this.#bits, bits) === 0;
  }
}

const BITS_IN = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});

export interface TypeWindow {
  readonly partition: Uint8Array;
  readonly start: bigint;
}

/** A row has at least one version: a window without events of the type has no row. */
export const TYPE_WINDOW = new RowCodec<TypeWindow, WindowVersions>(
  EVENT_TYPES,
  ({ partition, start }) => ({ partition, order: encodeU64Key(start) }),
  { write: writeVersions, read: readVersions },
);

function writeVersions(writer: BcsWriter, versions: WindowVersions): void {
  if (versions.count >= MIN_BITMAP_VERSIONS) writer.fixed(versions.bits);
  else for (const place of versions.places()) writer.u16(place);
}

function readVersions(reader: BcsReader): WindowVersions {
  if (reader.remaining === BITMAP_BYTES) {
    const versions = new WindowVersions(Uint8Array.from(reader.fixed(BITMAP_BYTES)));
    if (versions.count >= MIN_BITMAP_VERSIONS) return versions;
    throw reader.error('bad_value', `a bitmap of ${versions.count} versions`);
  }
  const versions = new WindowVersions();
  let previous = -1;
  do {
    const place = reader.u16();
    if (place <= previous || place >= WINDOW_VERSIONS) {
      throw reader.error('bad_value', `version ${place} of the window after ${previous}`);
    }
    versions.add(place);
    previous = place;
  } while (reader.remaining > 0 && reader.offset < BITMAP_BYTES);
  return versions;
}
