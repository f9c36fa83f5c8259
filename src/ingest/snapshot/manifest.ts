/** The manifest of a snapshot: what it is of, and its chunks with their digests. The format: docs/snapshots.md. */
import { createHash } from 'node:crypto';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { U64_MAX } from '../../store/columns/order-key.ts';
import { SnapshotError } from './snapshot-error.ts';

export const MANIFEST_NAME = 'manifest.json';
/** What is added to the name of the folder where a snapshot is made. */
export const UNFINISHED_ENDING = '.unfinished';
/** Largest manifest that is read, in bytes: of about 300,000 chunks. */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;
const FORMAT = 'daybook-snapshot-1';

/** In the order in which they come in a snapshot. */
const CHUNK_KINDS = ['state', 'streams', 'transactions'] as const;
export type ChunkKind = (typeof CHUNK_KINDS)[number];

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

/** What a manifest's beginning says the snapshot is of, unverified; `undefined` for anything else. */
export function manifestHead(bytes: Buffer) {
  const text = bytes.toString('latin1');
  const end = text.indexOf(',"chunks":[');
  if (end < 0) return undefined;
  try {
    const fields = new Fields(Buffer.from(`${text.slice(0, end)}}`));
    if (fields.text('format', /^.{0,64}$/) !== FORMAT) return undefined;
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
  const fields = new Fields(bytes);
  const format = fields.text('format', /^.{0,64}$/);
  if (format !== FORMAT) {
    const message = `the snapshot is of format ${format}, this program reads ${FORMAT}`;
    throw new SnapshotError('unknown_format', message);
  }
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
    chunks: fields.list('chunks').map(chunkOf),
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

/** The fields of an object of JSON. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(source: Uint8Array | unknown) {
    let value: unknown = source;
    if (source instanceof Uint8Array) {
      try {
        value = JSON.parse(Buffer.from(source).toString('utf8'));
      } catch {
        throw damagedManifest('it is not JSON');
      }
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

function chunkOf(value: unknown, index: number): ChunkEntry {
  const fields = new Fields(value);
  const kind = CHUNK_KINDS.find((one) => one === fields.text('kind', /^[a-z]+$/));
  if (kind === undefined) throw damagedManifest(`chunk ${index} is of an unknown kind`);
  const name = fields.text('name', CHUNK_NAME);
  if (!name.startsWith(`${kind}-`)) throw damagedManifest(`chunk ${index} has another name`);
  return {
    ...{ name, kind },
    records: fields.count('records', Number.MAX_SAFE_INTEGER),
    contentBytes: fields.count('content_bytes', Number.MAX_SAFE_INTEGER),
    bytes: fields.count('bytes', Number.MAX_SAFE_INTEGER),
    sha256: fields.text('sha256', /^[0-9a-f]{64}$/),
  };
}
