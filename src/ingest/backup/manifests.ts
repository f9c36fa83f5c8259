/** The manifests of a backup (docs/spec/backup.md §3.5). */
import {
  parseWaypoint,
  type Waypoint,
  WaypointTextError,
} from '../../move/transactions/waypoint.ts';
import { malformed } from './backup-error.ts';
import { readUnpacked } from './backup-files.ts';
import type { EpochBackup, RangeBackup, SnapshotBackup } from './backup-index.ts';
import { type BackupSource, checkHandle, MAX_MANIFEST_BYTES } from './backup-source.ts';
import {
  type Fields,
  fieldsOf,
  hashIn,
  listIn,
  numberIn,
  objectOf,
  textIn,
} from './json-fields.ts';

/** A part of a manifest's range, ends included. */
export interface ManifestChunk {
  readonly first: bigint;
  readonly last: bigint;
  /** Handle of the records. */
  readonly data: string;
}

interface EpochManifest {
  /** One for each epoch. */
  readonly waypoints: readonly Waypoint[];
  readonly chunks: readonly ManifestChunk[];
}

export interface StateChunk extends ManifestChunk {
  /** Hashes of the first and the last state key. */
  readonly firstKey: Buffer;
  readonly lastKey: Buffer;
  readonly proof: string;
}

export interface StateManifest {
  readonly epoch: bigint;
  readonly version: bigint;
  readonly rootHash: Buffer;
  readonly chunks: readonly StateChunk[];
  readonly proof: string;
}

export interface TransactionChunk extends ManifestChunk {
  readonly proof: string;
  /** Whether the records have auxiliary infos: format V1. */
  readonly hasAuxiliaryInfo: boolean;
}

/** @throws BackupError for a manifest that is not whole, or not that of the backup */
export async function readEpochManifest(
  source: BackupSource,
  { manifest: file, first, last, firstVersion, lastVersion }: EpochBackup,
  signal: AbortSignal,
): Promise<EpochManifest> {
  const fields = await readManifest(source, file, signal);
  checkNumber(fields, 'first_epoch', first, file);
  checkNumber(fields, 'last_epoch', last, file);
  const waypoints = listIn(fields, 'waypoints', file).map((text) => waypointOf(text, file));
  const [begin, end] = [waypoints[0]!.version, waypoints[waypoints.length - 1]!.version];
  if (BigInt(waypoints.length) !== last - first + 1n) {
    throw malformed(file, `${waypoints.length} waypoints for epochs ${first} to ${last}`);
  }
  if (begin !== firstVersion || end !== lastVersion) {
    const detail = `versions ${begin} to ${end}, the metadata have ${firstVersion} to ${lastVersion}`;
    throw malformed(file, detail);
  }
  const chunks = listIn(fields, 'chunks', file).map((item): ManifestChunk => {
    const chunk = objectOf(item, file);
    return {
      first: numberIn(chunk, 'first_epoch', file),
      last: numberIn(chunk, 'last_epoch', file),
      data: handleIn(chunk, 'ledger_infos', file),
    };
  });
  checkChunks(chunks, first, last, file);
  return { waypoints, chunks };
}

/** @throws BackupError for a manifest that is not whole, or not that of the backup */
export async function readStateManifest(
  source: BackupSource,
  { manifest: file, epoch, version }: SnapshotBackup,
  signal: AbortSignal,
): Promise<StateManifest> {
  const fields = await readManifest(source, file, signal);
  checkNumber(fields, 'epoch', epoch, file);
  checkNumber(fields, 'version', version, file);
  const chunks = listIn(fields, 'chunks', file).map((item): StateChunk => {
    const chunk = objectOf(item, file);
    return {
      first: numberIn(chunk, 'first_idx', file),
      last: numberIn(chunk, 'last_idx', file),
      firstKey: hashIn(chunk, 'first_key', file),
      lastKey: hashIn(chunk, 'last_key', file),
      data: handleIn(chunk, 'blobs', file),
      proof: handleIn(chunk, 'proof', file),
    };
  });
  checkChunks(chunks, 0n, chunks[chunks.length - 1]!.last, file);
  const proof = handleIn(fields, 'proof', file);
  return { epoch, version, rootHash: hashIn(fields, 'root_hash', file), chunks, proof };
}

/** @throws BackupError for a manifest that is not whole, or not that of the backup */
export async function readTransactionManifest(
  source: BackupSource,
  { manifest: file, first, last }: RangeBackup,
  signal: AbortSignal,
): Promise<readonly TransactionChunk[]> {
  const fields = await readManifest(source, file, signal);
  checkNumber(fields, 'first_version', first, file);
  checkNumber(fields, 'last_version', last, file);
  const chunks = listIn(fields, 'chunks', file).map((item): TransactionChunk => {
    const chunk = objectOf(item, file);
    const format = chunk.format ?? 'V0';
    if (format !== 'V0' && format !== 'V1') throw malformed(file, 'a chunk of unknown format');
    return {
      first: numberIn(chunk, 'first_version', file),
      last: numberIn(chunk, 'last_version', file),
      data: handleIn(chunk, 'transactions', file),
      proof: handleIn(chunk, 'proof', file),
      hasAuxiliaryInfo: format === 'V1',
    };
  });
  checkChunks(chunks, first, last, file);
  return chunks;
}

async function readManifest(
  source: BackupSource,
  file: string,
  signal: AbortSignal,
): Promise<Fields> {
  const bytes = await readUnpacked(source, file, signal, MAX_MANIFEST_BYTES);
  return fieldsOf(bytes.toString('utf8'), file);
}

function checkNumber(fields: Fields, name: string, expected: bigint, file: string): void {
  const found = numberIn(fields, name, file);
  if (found === expected) return;
  throw malformed(file, `${name} is ${found}, the metadata of the backup have ${expected}`);
}

/** Chunks follow one another from the first item to the last. */
function checkChunks(
  chunks: readonly ManifestChunk[],
  first: bigint,
  last: bigint,
  file: string,
): void {
  let next = first;
  for (const chunk of chunks) {
    if (chunk.first !== next || chunk.last < chunk.first) {
      throw malformed(file, `a chunk of ${chunk.first} to ${chunk.last} where ${next} comes next`);
    }
    next = chunk.last + 1n;
  }
  if (next === last + 1n) return;
  throw malformed(file, `its chunks end with ${next - 1n}, the backup with ${last}`);
}

function handleIn(fields: Fields, name: string, file: string): string {
  return checkHandle(textIn(fields, name, file), file);
}

function waypointOf(text: unknown, file: string): Waypoint {
  try {
    return parseWaypoint(String(text));
  } catch (cause) {
    if (!(cause instanceof WaypointTextError)) throw cause;
    throw malformed(file, cause.message, cause);
  }
}
