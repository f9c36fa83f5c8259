/** The files of a backup, unpacked (docs/spec/backup.md §3). */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { MAX_UNVERIFIED_VALUES } from '../feed/page-verifier.ts';
import { malformed } from './backup-error.ts';
import { type BackupSource, isGzip, MAX_FILE_BYTES, unzip } from './backup-source.ts';

/** Bytes of the length before a record, big endian. */
const LENGTH_BYTES = 4;

/** A file whose compression can be seen: a manifest, a chunk, or metadata. */
export async function readUnpacked(
  source: BackupSource,
  handle: string,
  signal: AbortSignal,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer> {
  const bytes = await source.read(handle, signal, maxBytes);
  return isGzip(bytes) ? await unzip(bytes, handle, maxBytes) : bytes;
}

/** A data file and the proof of it, as they are stored. */
export interface StoredPair {
  readonly data: Buffer;
  readonly proof: Buffer;
}

interface PairNames {
  readonly data: string;
  readonly proof: string;
}

export async function readPair(
  source: BackupSource,
  { data, proof }: PairNames,
  signal: AbortSignal,
): Promise<StoredPair> {
  const [dataBytes, proofBytes] = await Promise.all([
    source.read(data, signal, MAX_FILE_BYTES),
    source.read(proof, signal, MAX_FILE_BYTES),
  ]);
  return { data: dataBytes, proof: proofBytes };
}

/** Unpacks both: a proof may begin with any bytes, so it is taken as compressed if the data is. */
export async function unpackPair(stored: StoredPair, names: PairNames): Promise<StoredPair> {
  if (!isGzip(stored.data)) return stored;
  const data = await unzip(stored.data, names.data);
  return { data, proof: await unzip(stored.proof, names.proof) };
}

/**
 * The records of a chunk, as views of its bytes.
 * @throws BackupError unless the file ends where the last of `count` records does
 */
export function* recordsOf(
  chunk: Buffer,
  count: bigint,
  file: string,
): Generator<Buffer, void, undefined> {
  let at = 0;
  let index = 0;
  for (; at < chunk.length; index += 1) {
    const start = at + LENGTH_BYTES;
    const end = start <= chunk.length ? start + chunk.readUInt32BE(at) : start;
    if (end > chunk.length || end === start) {
      throw malformed(file, `record ${index}, at byte ${at}, is empty or not complete`);
    }
    if (BigInt(index) === count) break;
    yield chunk.subarray(start, end);
    at = end;
  }
  if (BigInt(index) === count && at === chunk.length) return;
  const found = at === chunk.length ? String(index) : `more than ${index}`;
  throw malformed(file, `the chunk has ${found} records, the manifest says ${count}`);
}

/** The value whose BCS is exactly `bytes`. @throws BackupError naming file and place */
export function decodeIn<T>(
  file: string,
  what: string,
  bytes: Uint8Array,
  read: (reader: BcsReader) => T,
): T {
  const reader = new BcsReader(bytes, 0, bytes.length, MAX_UNVERIFIED_VALUES);
  try {
    const value = read(reader);
    reader.finish();
    return value;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw malformed(file, `${what} does not decode: ${cause.message}`, cause);
  }
}
