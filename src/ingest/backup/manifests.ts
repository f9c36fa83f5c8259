/** The manifests of a backup (docs/spec/backup.md §3.5). All functions throw BackupError. */
import type { Waypoint } from '../../move/transactions/waypoint.ts';
import { malformed } from './backup-error.ts';
import { readUnpacked } from './backup-files.ts';
import type { EpochBackup, RangeBackup, SnapshotBackup } from './backup-index.ts';
import { type BackupSource, MAX_MANIFEST_BYTES } from './backup-source.ts';
import { type FileRange, JsonFields } from './json-fields.ts';

interface EpochManifest {
  readonly waypoints: readonly Waypoint[];
  readonly chunks: readonly FileRange[];
}

export interface StateChunk extends FileRange {
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
  /** False for snapshots of Daybook, whose manifests state that they are unsigned. */
  readonly isSigned: boolean;
  /** Present in Daybook's snapshots: the data besides the state (ledger-facts.ts). */
  readonly ledger: DigestedFile | undefined;
}

/** A file and the SHA-256 of its content. */
export interface DigestedFile {
  readonly file: string;
  readonly sha256: Buffer;
}

export interface TransactionChunk extends FileRange {
  readonly proof: string;
  /** Whether the records have auxiliary infos: format V1. */
  readonly hasAuxiliaryInfo: boolean;
}

export async function readEpochManifest(
  source: BackupSource,
  { manifest: file, first, last, firstVersion, lastVersion }: EpochBackup,
  signal: AbortSignal,
): Promise<EpochManifest> {
  const fields = await readManifest(source, file, { first_epoch: first, last_epoch: last }, signal);
  const waypoints = fields.waypoints('waypoints');
  const [begin, end] = [waypoints[0]!.version, waypoints[waypoints.length - 1]!.version];
  if (BigInt(waypoints.length) !== last - first + 1n) {
    throw malformed(file, `${waypoints.length} waypoints for epochs ${first} to ${last}`);
  }
  if (begin !== firstVersion || end !== lastVersion) {
    const detail = `versions ${begin} to ${end}, the metadata have ${firstVersion} to ${lastVersion}`;
    throw malformed(file, detail);
  }
  const chunks = fields.objects('chunks').map((chunk) => chunk.range('epoch', 'ledger_infos'));
  checkChunks(chunks, first, last, file);
  return { waypoints, chunks };
}

export async function readStateManifest(
  source: BackupSource,
  { manifest: file, epoch, version }: SnapshotBackup,
  signal: AbortSignal,
): Promise<StateManifest> {
  const fields = await readManifest(source, file, { epoch, version }, signal);
  const chunks = fields.objects('chunks').map((chunk) => ({
    ...chunk.range('idx', 'blobs'),
    firstKey: chunk.hash('first_key'),
    lastKey: chunk.hash('last_key'),
    proof: chunk.handle('proof'),
  }));
  checkChunks(chunks, 0n, chunks[chunks.length - 1]!.last, file);
  const ledger = fields.any('ledger') === undefined ? undefined : fields.object('ledger');
  return {
    ...{ epoch, version, chunks },
    rootHash: fields.hash('root_hash'),
    proof: fields.handle('proof'),
    isSigned: fields.any('signed') !== false,
    ledger: ledger && { file: ledger.handle('file'), sha256: ledger.hash('sha256') },
  };
}

export async function readTransactionManifest(
  source: BackupSource,
  { manifest: file, first, last }: RangeBackup,
  signal: AbortSignal,
): Promise<readonly TransactionChunk[]> {
  const expected = { first_version: first, last_version: last };
  const fields = await readManifest(source, file, expected, signal);
  const chunks = fields.objects('chunks').map((chunk): TransactionChunk => {
    const format = chunk.any('format') ?? 'V0';
    if (format !== 'V0' && format !== 'V1') throw malformed(file, 'a chunk of unknown format');
    return {
      ...chunk.range('version', 'transactions'),
      proof: chunk.handle('proof'),
      hasAuxiliaryInfo: format === 'V1',
    };
  });
  checkChunks(chunks, first, last, file);
  return chunks;
}

/** @param expectedNumbers numbers in the metadata of the backup, which the manifest must repeat */
async function readManifest(
  source: BackupSource,
  file: string,
  expectedNumbers: Readonly<Record<string, bigint>>,
  signal: AbortSignal,
): Promise<JsonFields> {
  const bytes = await readUnpacked(source, file, signal, MAX_MANIFEST_BYTES);
  const fields = JsonFields.parse(bytes.toString('utf8'), file);
  for (const [name, expected] of Object.entries(expectedNumbers)) {
    const found = fields.number(name);
    if (found === expected) continue;
    throw malformed(file, `${name} is ${found}, the metadata of the backup have ${expected}`);
  }
  return fields;
}

/** Checks that the chunks cover the items from first to last without gaps. @throws BackupError */
export function checkChunks(
  chunks: readonly FileRange[],
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
