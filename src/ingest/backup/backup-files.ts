/** The files of a backup, unpacked (docs/spec/backup.md §3). */
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { MAX_UNVERIFIED_VALUES } from '../feed/page-verifier.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError, malformed } from './backup-error.ts';
import { type BackupSource, isGzip, MAX_FILE_BYTES, unzip } from './backup-source.ts';

const DAMAGE: readonly string[] = ['backup_malformed', 'backup_unproved'];
/** Bytes of the big-endian length before each record. */
const LENGTH_BYTES = 4;

/** Reads a manifest, a chunk or metadata, whose first bytes show whether they are compressed. */
export async function readUnpacked(
  source: BackupSource,
  handle: string,
  signal: AbortSignal,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer> {
  return await unpacked(await source.read(handle, signal, maxBytes), handle, maxBytes);
}

/** Unpacks such a file if it is compressed. @throws BackupError */
export async function unpacked(
  stored: Buffer,
  handle: string,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer> {
  return isGzip(stored) ? await unzip(stored, handle, maxBytes) : stored;
}

/** A value for a data file and one for its proof. */
interface Pair<T> {
  readonly data: T;
  readonly proof: T;
}

/** The bytes of both files as they are stored. */
export type StoredPair = Pair<Buffer>;
type PairNames = Pair<string>;

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

/** Unpacks both. A proof may begin with any bytes, so it counts as compressed if its data is. */
export async function unpackPair(stored: StoredPair, names: PairNames): Promise<StoredPair> {
  if (!isGzip(stored.data)) return stored;
  const data = await unzip(stored.data, names.data);
  return { data, proof: await unzip(stored.proof, names.proof) };
}

/**
 * Reads files ahead and checks them in order. Damaged files are read again.
 * @throws BackupError for a file that stays damaged; what `check` throws
 */
export async function* readChecked<T, Stored, Checked>(
  { attempts }: BackupSource,
  items: Iterable<T>,
  read: (item: T) => Promise<Stored>,
  check: (stored: Stored, item: T) => Promise<Checked>,
): AsyncGenerator<readonly [T, Checked], void, undefined> {
  const checked = async (item: T, stored: Stored, attempt: number): Promise<Checked> => {
    try {
      return await check(stored, item);
    } catch (cause) {
      const isDamaged = cause instanceof BackupError && DAMAGE.includes(cause.code);
      if (!isDamaged || attempt === attempts) throw cause;
      return await checked(item, await read(item), attempt + 1);
    }
  };
  for await (const [item, stored] of readAhead(items, read)) {
    yield [item, await checked(item, stored, 1)];
  }
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

/** Maximum number of items of a portion, and its approximate maximum size in bytes. */
export const PORTION_ITEMS = 2_000;
const PORTION_BYTES = 4 * 1024 * 1024;

/** Splits items into portions, to bound the memory that they take. */
export function* inPortions<T>(items: Iterable<T>, bytesOf: (item: T) => number): Generator<T[]> {
  let portion: T[] = [];
  let byteLength = 0;
  for (const item of items) {
    portion.push(item);
    byteLength += bytesOf(item);
    if (portion.length < PORTION_ITEMS && byteLength < PORTION_BYTES) continue;
    yield portion;
    portion = [];
    byteLength = 0;
  }
  if (portion.length > 0) yield portion;
}

export class ChunkContent {
  readonly #content = new BcsWriter();
  readonly #record = new BcsWriter();
  records = 0;

  get byteLength(): number {
    return this.#content.length;
  }

  add(write: (record: BcsWriter) => void): void {
    this.#record.reset();
    write(this.#record);
    const bytes = this.#record.view();
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    this.#content.fixed(length).fixed(bytes);
    this.records += 1;
  }

  /** Empties the chunk. @returns its bytes, valid until the next record */
  take(): Buffer {
    const bytes = this.#content.view();
    this.#content.reset();
    this.records = 0;
    return bytes;
  }
}

/** The value whose BCS is exactly `bytes`. @throws BackupError that names file and position */
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
