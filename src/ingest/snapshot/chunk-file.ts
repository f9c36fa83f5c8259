/**
 * Chunks of a snapshot: records one after the other, compressed with zstd. Node has zstd only from version 22.15 on, so
 * it is the library itself, as WebAssembly.
 */
import { Zstd } from '@hpcc-js/wasm-zstd';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { parsePhysicalStateKey, writeStateKey } from '../../move/types/state-key.ts';
import { readStateValue, type StateValue, writeStateValue } from '../../move/types/state-value.ts';
import { MAX_VALUE_BYTES } from '../../store/batch.ts';
import { EVENTS, type ScannedRow } from '../../store/columns/columns.ts';
import { U64_BYTES } from '../../store/columns/order-key.ts';
import type { ImportedValue } from '../../store/state-import.ts';
import { readPhysicalKey } from '../version-parts.ts';
import { type ChunkEntry, type ChunkKind, chunkName, sha256Hex } from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';

/** Bytes of content from which a chunk is closed; compressed about a third. */
const CHUNK_CONTENT_BYTES = 4 * 1024 * 1024;
/** Largest content or file of a chunk that is read: one of the largest records after an almost full chunk. */
export const MAX_CHUNK_BYTES = CHUNK_CONTENT_BYTES + MAX_VALUE_BYTES + 2 * 1024 * 1024;
/**
 * Records that are read and stored together, more than a chunk has of real data: one of four bytes takes hundreds in
 * memory.
 */
export const PART_RECORDS = 50_000;
/** Of zstd: 3 is its own default. */
const LEVEL = 3;
const ACCESS_PATH_TAG = 0;
const ZSTD_MAGIC = 0xfd2fb528;

let library: Promise<Zstd> | undefined;

function zstd(): Promise<Zstd> {
  library ??= Zstd.load().then(copyingBytes);
  return library;
}

interface LibraryMemory {
  heapView(of: unknown): Uint8Array;
  heapToUint8Array(of: unknown): Uint8Array;
}

/**
 * The library copies its results out through an array of numbers: for a chunk of MAX_CHUNK_BYTES that took 8 s and
 * 2.6 GB. Its version is pinned, so its private member is known.
 */
function copyingBytes(library: Zstd): Zstd {
  const { _mainModule: memory } = library as unknown as { readonly _mainModule: LibraryMemory };
  memory.heapToUint8Array = (of) => memory.heapView(of).slice();
  return library;
}

/** Collects the records of one chunk. */
export class ChunkContent {
  readonly #writer = new BcsWriter(CHUNK_CONTENT_BYTES + CHUNK_CONTENT_BYTES / 4);
  records = 0;

  get isFull(): boolean {
    return this.#writer.view().length >= CHUNK_CONTENT_BYTES;
  }

  /** A key, physical, with its value: BCS of StateKey and StateValue. */
  addValue(key: Buffer, value: StateValue): void {
    // The two forms of an access path are the same bytes (docs/spec/ledger.md §1.2).
    if (key[0] === ACCESS_PATH_TAG) this.#writer.fixed(key);
    else writeStateKey(this.#writer, parsePhysicalStateKey(key));
    writeStateValue(this.#writer, value);
    this.records += 1;
  }

  /** The newest event of a stream: its row as the store has it. */
  addStreamEnd({ partition, order, value }: ScannedRow): void {
    this.#writer.fixed(partition).fixed(order).bytes(value);
    this.records += 1;
  }

  /** BCS of a TransactionOnChainData. */
  addTransaction(item: Uint8Array): void {
    this.#writer.fixed(item);
    this.records += 1;
  }

  /** The file of the chunk and its entry in the manifest; the content is empty after it. */
  async take(kind: ChunkKind, index: number): Promise<{ entry: ChunkEntry; file: Uint8Array }> {
    const content = this.#writer.view();
    const file = (await zstd()).compress(content, LEVEL);
    const entry: ChunkEntry = {
      name: chunkName(kind, index),
      kind,
      records: this.records,
      contentBytes: content.length,
      bytes: file.length,
      sha256: sha256Hex(file),
    };
    this.#writer.reset();
    this.records = 0;
    return { entry, file };
  }
}

/** Before anything of a chunk is read: its size is what a stranger says. @throws SnapshotError `too_large` */
export function checkChunkSize({ name, bytes, contentBytes }: ChunkEntry): void {
  if (Math.max(bytes, contentBytes) <= MAX_CHUNK_BYTES) return;
  throw new SnapshotError('too_large', `chunk ${name} has more than ${MAX_CHUNK_BYTES} bytes`);
}

/**
 * The content of a chunk, from the bytes of its file.
 * @param entry one that `checkChunkSize` has passed
 * @throws SnapshotError `damaged`
 */
export async function chunkContent(entry: ChunkEntry, file: Uint8Array): Promise<Buffer> {
  const { bytes, contentBytes, sha256 } = entry;
  if (file.length !== bytes || sha256Hex(file) !== sha256) {
    throw damagedChunk(entry, 'it is not what its digest says');
  }
  // Looked at first: the library makes room for whatever the frame claims.
  if (frameContentBytes(Buffer.from(file.buffer, file.byteOffset, file.length)) !== contentBytes) {
    throw damagedChunk(entry, 'its frame has another length');
  }
  const library = await zstd();
  try {
    const content = library.decompress(file);
    if (content.length === contentBytes) {
      return Buffer.from(content.buffer, content.byteOffset, content.length);
    }
  } catch (cause) {
    throw damagedChunk(entry, 'it cannot be decompressed', cause);
  }
  throw damagedChunk(entry, 'its frame has another length');
}

/** The length that a zstd frame states (RFC 8878, section 3.1.1.1); `undefined` if it states none. */
function frameContentBytes(file: Buffer): number | undefined {
  if (file.length < 18 || file.readUInt32LE(0) !== ZSTD_MAGIC) return undefined;
  const descriptor = file[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  switch (descriptor >> 6) {
    case 0:
      return isSingleSegment ? file[at]! : undefined;
    case 1:
      return file.readUInt16LE(at) + 256;
    case 2:
      return file.readUInt32LE(at);
    default:
      return Number(file.readBigUInt64LE(at));
  }
}

/** Parts in which the records of a chunk are read. */
export function partCount({ records }: ChunkEntry): number {
  return Math.ceil(records / PART_RECORDS);
}

/** The values of a chunk of state in parts, as views on its content. @throws SnapshotError `damaged` */
export function valuesIn(entry: ChunkEntry, content: Buffer): Generator<ImportedValue[]> {
  return recordsIn(entry, content, (reader) => {
    const key = readPhysicalKey(reader);
    return { key, ...readStateValue(reader) };
  });
}

/** The rows of a chunk of streams in parts, as views on its content. @throws SnapshotError `damaged` */
export function streamEndsIn(entry: ChunkEntry, content: Buffer): Generator<ScannedRow[]> {
  return recordsIn(entry, content, (reader) => {
    const partition = reader.fixed(EVENTS.partitionBytes);
    const order = reader.fixed(U64_BYTES);
    return { partition, order, value: reader.bytes() };
  });
}

function* recordsIn<T>(
  entry: ChunkEntry,
  content: Buffer,
  read: (reader: BcsReader) => T,
): Generator<T[]> {
  try {
    const reader = new BcsReader(content);
    for (let left = entry.records; left > 0; left -= PART_RECORDS) {
      const length = Math.min(left, PART_RECORDS);
      yield Array.from({ length }, () => read(reader));
    }
    if (reader.remaining === 0) return;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw damagedChunk(entry, cause.message, cause);
  }
  throw damagedChunk(entry, 'it has more records than the manifest says');
}

export function damagedChunk({ name }: ChunkEntry, detail: string, cause?: unknown): SnapshotError {
  return new SnapshotError('damaged', `chunk ${name} of the snapshot is damaged: ${detail}`, {
    cause,
  });
}
