/** The manifest of a snapshot: what it is of, and its chunks with their digests. The format: docs/snapshots.md. */
import { createHash } from 'node:crypto';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { U64_MAX } from '../../store/columns/order-key.ts';
import { SnapshotError } from './snapshot-error.ts';

export const MANIFEST_NAME = 'manifest.json';
/** What is added to the name of the folder where a snapshot is made. */
export const UNFINISHED_ENDING = '.unfinished';
/** Largest manifest that is read, in bytes: of 380,000 chunks, or 1.4 TiB of content. */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const FORMAT = 'daybook-snapshot-1';

/** In the order in which they come in a snapshot. */
export type ChunkKind = 'state' | 'streams' | 'transactions';

export interface ChunkEntry {
  readonly name: string;
  readonly kind: ChunkKind;
  readonly records: number;
  /** Of the content, before compression. */
  readonly contentBytes: number;
  /** Of the file. */
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly sha256: string;
}

export interface SnapshotManifest {
  readonly chainId: number;
  readonly genesisWaypointHash: Buffer;
  /** Of the state. */
  readonly version: bigint;
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly blockHeight: bigint;
  /** BCS of the TransactionInfo of the version, which contains the root of the state. */
  readonly info: Buffer;
  /** The transaction accumulator's full subtrees before the version, the largest first. */
  readonly rootsBefore: readonly Buffer[];
  /** The last version whose transaction is in the snapshot; that of the state if there are none. */
  readonly newestVersion: bigint;
  readonly chunks: readonly ChunkEntry[];
}

/** Bytes of a manifest that are enough for what `manifestHead` reads. */
export const MANIFEST_HEAD_BYTES = 64 * 1024;
/** The names that chunks have. */
export const CHUNK_NAME = /^[a-z]+-\d{6,12}\.zst$/;

/** What is between the head of a manifest and its chunks. */
const CHUNKS = ',"chunks":[';
/** A chunk, as `encodeManifest` writes it. */
const CHUNK =
  /\{"name":"((state|streams|transactions)-\d{6,12}\.zst)","kind":"\2","records":(\d{1,15}),"content_bytes":(\d{1,15}),"bytes":(\d{1,15}),"sha256":"([0-9a-f]{64})"\},?/y;

/** What a manifest's beginning says the snapshot is of, unverified; `undefined` for anything else. */
export function manifestHead(bytes: Uint8Array) {
  try {
    const { fields } = headOf(bytes);
    return {
      chainId: fields.count('chain_id', 0xff),
      version: fields.u64('version'),
      newestVersion: fields.u64('newest_version'),
      timestampUsecs: fields.u64('timestamp_usecs'),
    };
  } catch (error) {
    if (error instanceof SnapshotError) return undefined;
    throw error;
  }
}

export function chunkName(kind: ChunkKind, index: number): string {
  return `${kind}-${String(index).padStart(6, '0')}.zst`;
}

/** One line of JSON, its digest last. */
export function encodeManifest(manifest: SnapshotManifest): Buffer {
  const content = {
    format: FORMAT,
    chain_id: manifest.chainId,
    genesis_waypoint_hash: manifest.genesisWaypointHash.toString('hex'),
    version: String(manifest.version),
    timestamp_usecs: String(manifest.timestampUsecs),
    epoch: String(manifest.epoch),
    block_height: String(manifest.blockHeight),
    transaction_info: manifest.info.toString('hex'),
    accumulator_roots_before: manifest.rootsBefore.map((root) => root.toString('hex')),
    newest_version: String(manifest.newestVersion),
    chunks: manifest.chunks.map(({ name, kind, records, contentBytes, bytes, sha256 }) => ({
      ...{ name, kind, records, content_bytes: contentBytes, bytes, sha256 },
    })),
  };
  const digest = sha256Hex(Buffer.from(JSON.stringify(content)));
  return Buffer.from(`${JSON.stringify({ ...content, sha256: digest })}\n`);
}

/** Reads exactly what `encodeManifest` writes. @throws SnapshotError `damaged`, `unknown_format`, `too_large` */
export function parseManifest(bytes: Uint8Array): SnapshotManifest {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    const message = `the manifest has ${bytes.length} bytes, more than ${MAX_MANIFEST_BYTES}`;
    throw new SnapshotError('too_large', message);
  }
  const { fields, chunksAt } = headOf(bytes);
  const manifest: SnapshotManifest = {
    chainId: fields.count('chain_id', 0xff),
    genesisWaypointHash: fields.hash('genesis_waypoint_hash'),
    version: fields.u64('version'),
    timestampUsecs: fields.u64('timestamp_usecs'),
    epoch: fields.u64('epoch'),
    blockHeight: fields.u64('block_height'),
    info: Buffer.from(fields.text('transaction_info', /^(?:[0-9a-f]{2})*$/), 'hex'),
    rootsBefore: fields.list('accumulator_roots_before').map(hashOf),
    newestVersion: fields.u64('newest_version'),
    chunks: chunksIn(bytes, chunksAt),
  };
  // Nothing but this encoding is accepted, so that a changed byte is noticed wherever it is.
  if (!encodeManifest(manifest).equals(bytes))
    throw damagedManifest('it is not what its digest says');
  return manifest;
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function damagedManifest(detail: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot’s manifest is damaged: ${detail}`);
}

/** @throws SnapshotError `damaged`, `unknown_format` */
function headOf(bytes: Uint8Array) {
  const text = Buffer.from(bytes.subarray(0, MANIFEST_HEAD_BYTES)).toString('latin1');
  const end = text.indexOf(CHUNKS);
  if (end < 0) throw damagedManifest('it has no chunks');
  const fields = new Fields(`${text.slice(0, end)}}`);
  const format = fields.text('format', /^.{0,64}$/);
  if (format === FORMAT) return { fields, chunksAt: end + CHUNKS.length };
  const message = `the snapshot is of format ${format}, this program reads ${FORMAT}`;
  throw new SnapshotError('unknown_format', message);
}

/** Chunks up to the first that is malformed: whatever else is there, parsed as JSON, might take 50 times its bytes. */
function chunksIn(bytes: Uint8Array, at: number): readonly ChunkEntry[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', at);
  const chunks: ChunkEntry[] = [];
  CHUNK.lastIndex = 0;
  for (let match = CHUNK.exec(text); match !== null; match = CHUNK.exec(text)) {
    const [, name, kind, records, contentBytes, size, sha256] = match;
    chunks.push({
      ...{ name: name!, kind: kind as ChunkKind, records: Number(records), sha256: sha256! },
      ...{ contentBytes: Number(contentBytes), bytes: Number(size) },
    });
  }
  return chunks;
}

/** The fields of an object of JSON. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(text: string) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw damagedManifest('it is not JSON');
    }
    if (typeof value !== 'object' || value === null) throw damagedManifest('it is not an object');
    this.#values = value as Record<string, unknown>;
  }

  text(name: string, pattern: RegExp): string {
    const value = this.#values[name];
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw damagedManifest(`its ${name} is malformed`);
  }

  count(name: string, most: number): number {
    const value = this.#values[name];
    const isCount = typeof value === 'number' && Number.isSafeInteger(value);
    if (isCount && value >= 0 && value <= most) return value;
    throw damagedManifest(`its ${name} is malformed`);
  }

  u64(name: string): bigint {
    const value = BigInt(this.text(name, /^\d{1,20}$/));
    if (value <= U64_MAX) return value;
    throw damagedManifest(`its ${name} is malformed`);
  }

  hash(name: string): Buffer {
    return hashOf(this.#values[name]);
  }

  list(name: string): readonly unknown[] {
    const value = this.#values[name];
    if (Array.isArray(value)) return value;
    throw damagedManifest(`its ${name} is malformed`);
  }
}

function hashOf(value: unknown): Buffer {
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'hex');
  if (bytes.length === HASH_BYTES) return bytes;
  throw damagedManifest('it has a malformed hash');
}
