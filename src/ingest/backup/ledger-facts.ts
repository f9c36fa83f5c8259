/**
 * The data that a new ledger needs besides the state, in a file that the manifest of a snapshot names. Only Daybook's
 * snapshots have it (docs/snapshots.md, Format). It cannot be proved: its digest only shows that the file is intact.
 */
import { createHash } from 'node:crypto';
import { formatWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { EVENTS, type ScannedRow } from '../../store/columns/columns.ts';
import { decodeEventRow } from '../../store/columns/event-column.ts';
import { U64_BYTES } from '../../store/columns/order-key.ts';
import { RowDamagedError } from '../../store/store-error.ts';
import type { StateImport } from '../../store/write/state-import.ts';
import { malformed } from './backup-error.ts';
import { inPortions, readChecked, readUnpacked, recordsOf, unpacked } from './backup-files.ts';
import { type BackupSource, MAX_FILE_BYTES, MAX_MANIFEST_BYTES } from './backup-source.ts';
import { type FileRange, JsonFields } from './json-fields.ts';
import { checkChunks, type DigestedFile } from './manifests.ts';

export const LEDGER_FILE = 'ledger.json';

/** A chunk of the newest events of streams, in ascending order of the streams. */
interface StreamChunk extends FileRange {
  /** SHA-256 of the records. */
  readonly sha256: Buffer;
}

export interface LedgerFacts {
  readonly chainId: number;
  readonly genesis: Waypoint;
  readonly timestampUsecs: bigint;
  /** The last version whose transaction is in the snapshot; that of the state if there are none. */
  readonly newestVersion: bigint;
  readonly streams: readonly StreamChunk[];
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** @param streams fields of the stream chunks as they are written to the file */
export function encodeLedgerFacts(
  { chainId, genesis, timestampUsecs, newestVersion }: Omit<LedgerFacts, 'streams'>,
  streams: readonly object[],
): Buffer {
  return Buffer.from(
    JSON.stringify({
      chain_id: chainId,
      genesis_waypoint: formatWaypoint(genesis),
      timestamp_usecs: Number(timestampUsecs),
      newest_version: Number(newestVersion),
      streams,
    }),
  );
}

/** @throws BackupError */
export function parseLedgerFacts(bytes: Buffer, file: string): LedgerFacts {
  const fields = JsonFields.parse(bytes.toString('utf8'), file);
  const streams = fields.objects('streams', 0).map((chunk): StreamChunk => {
    return { ...chunk.range('idx', 'blobs'), sha256: chunk.hash('sha256') };
  });
  checkChunks(streams, 0n, streams[streams.length - 1]?.last ?? -1n, file);
  return {
    chainId: Number(fields.number('chain_id')),
    genesis: fields.waypoint('genesis_waypoint'),
    timestampUsecs: fields.number('timestamp_usecs'),
    newestVersion: fields.number('newest_version'),
    streams,
  };
}

/** @throws BackupError */
export async function readLedgerFacts(
  source: BackupSource,
  { file, sha256: digest }: DigestedFile,
  signal: AbortSignal,
): Promise<LedgerFacts> {
  const bytes = await readUnpacked(source, file, signal, MAX_MANIFEST_BYTES);
  checkDigest(bytes, digest, file);
  return parseLedgerFacts(bytes, file);
}

/** Stores the newest event of each stream at the version of the state. @throws BackupError; StoreError */
export async function restoreStreams(
  source: BackupSource,
  { streams }: LedgerFacts,
  version: bigint,
  target: StateImport,
  signal: AbortSignal,
): Promise<void> {
  const read = ({ data }: StreamChunk) => source.read(data, signal, MAX_FILE_BYTES);
  let before: Buffer | undefined;
  const check = async (stored: Buffer, chunk: StreamChunk): Promise<Buffer> => {
    const content = await unpacked(stored, chunk.data);
    checkDigest(content, chunk.sha256, chunk.data);
    return content;
  };
  for await (const [chunk, bytes] of readChecked(source, streams, read, check)) {
    for (const rows of inPortions(rowsOf(chunk, bytes), ({ value }) => value.length)) {
      for (const row of rows) {
        checkStreamEnd(row, before, version, chunk.data);
        before = row.partition;
      }
      await target.add([], rows);
      signal.throwIfAborted();
    }
  }
  await target.settle();
}

function* rowsOf({ first, last, data }: StreamChunk, bytes: Buffer): Generator<ScannedRow> {
  const orderAt = EVENTS.partitionBytes;
  const valueAt = orderAt + U64_BYTES;
  for (const record of recordsOf(bytes, last - first + 1n, data)) {
    if (record.length < valueAt) throw malformed(data, 'a record is too short for an event');
    const partition = record.subarray(0, orderAt);
    const order = record.subarray(orderAt, valueAt);
    yield { partition, order, value: record.subarray(valueAt) };
  }
}

function checkStreamEnd(
  row: ScannedRow,
  before: Buffer | undefined,
  version: bigint,
  file: string,
): void {
  try {
    const event = decodeEventRow(row.partition, row);
    const isAfter = before === undefined || Buffer.compare(before, row.partition) < 0;
    if (isAfter && event.version <= version) return;
  } catch (cause) {
    if (!(cause instanceof RowDamagedError)) throw cause;
    throw malformed(file, cause.message, cause);
  }
  throw malformed(file, 'its events are out of order, or of later versions');
}

function checkDigest(bytes: Buffer, digest: Buffer, file: string): void {
  if (!sha256(bytes).equals(digest)) throw malformed(file, 'its digest is another one');
}
