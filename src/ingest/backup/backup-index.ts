/** The metadata of a backup, which list its parts and their manifests (docs/spec/backup.md §3.3). */
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError, malformed } from './backup-error.ts';
import { readUnpacked } from './backup-files.ts';
import {
  type BackupSource,
  MAX_METADATA_BYTES,
  MAX_METADATA_FILES,
  MAX_METADATA_LINES,
} from './backup-source.ts';
import { JsonFields } from './json-fields.ts';

/** Number of metadata files that are read at once. They are small. */
const FILES_AT_ONCE = 16;
/** How often the list is read if a listed file is gone: files may be replaced while they are read. */
const LIST_ATTEMPTS = 3;

/** A backup that covers a range, both ends included. */
export interface RangeBackup {
  readonly first: bigint;
  readonly last: bigint;
  readonly manifest: string;
}

/** `first`, `last`: epochs. The versions are those of the ledger infos that end them. */
export interface EpochBackup extends RangeBackup {
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
}

export interface SnapshotBackup {
  readonly epoch: bigint;
  readonly version: bigint;
  readonly manifest: string;
}

export interface BackupIndex {
  readonly epochs: readonly EpochBackup[];
  readonly snapshots: readonly SnapshotBackup[];
  /** `first`, `last`: versions. */
  readonly transactions: readonly RangeBackup[];
}

interface IndexLimits {
  readonly maxFiles: number;
  /** Total number of lines of all files. */
  readonly maxLines: number;
  /** Size of one file, as stored and unpacked. */
  readonly maxFileBytes: number;
}

const LIMITS: IndexLimits = {
  maxFiles: MAX_METADATA_FILES,
  maxLines: MAX_METADATA_LINES,
  maxFileBytes: MAX_METADATA_BYTES,
};

export async function readBackupIndex(
  source: BackupSource,
  signal: AbortSignal,
  overrides: Partial<IndexLimits> = {},
): Promise<BackupIndex> {
  const limits = { ...LIMITS, ...overrides };
  for (let attempt = 1; ; attempt += 1) {
    const files = await source.metadataFiles(signal);
    if (files.length > limits.maxFiles) {
      const detail = `${files.length} metadata files, at most ${limits.maxFiles} are read`;
      throw new BackupError('backup_malformed', detail);
    }
    try {
      return await readFiles(source, files, limits, signal);
    } catch (error) {
      const isGone = error instanceof BackupError && error.code === 'backup_incomplete';
      if (!isGone || attempt === LIST_ATTEMPTS) throw error;
    }
  }
}

async function readFiles(
  source: BackupSource,
  files: readonly string[],
  { maxLines, maxFileBytes }: IndexLimits,
  signal: AbortSignal,
): Promise<BackupIndex> {
  const epochs: EpochBackup[] = [];
  const snapshots: SnapshotBackup[] = [];
  const transactions: RangeBackup[] = [];
  const read = (file: string) => readUnpacked(source, file, signal, maxFileBytes);
  let count = 0;
  for await (const [file, bytes] of readAhead(files, read, FILES_AT_ONCE)) {
    for (const [kind, fields] of linesOf(bytes, file)) {
      count += 1;
      if (count > maxLines) {
        throw malformed(file, `with it the metadata have more than ${maxLines} lines`);
      }
      if (kind === 'EpochEndingBackup') {
        const firstVersion = fields.number('first_version');
        const lastVersion = fields.number('last_version');
        epochs.push({ ...rangeOf(fields, 'epoch', file), firstVersion, lastVersion });
      } else if (kind === 'StateSnapshotBackup') {
        const [epoch, version] = [fields.number('epoch'), fields.number('version')];
        snapshots.push({ epoch, version, manifest: fields.handle('manifest') });
      } else if (kind === 'TransactionBackup') {
        transactions.push(rangeOf(fields, 'version', file));
      }
    }
  }
  return { epochs, snapshots, transactions };
}

/** The lines of a metadata file: a kind and its fields. Only the kinds of backups matter here. */
function* linesOf(bytes: Buffer, file: string): Generator<readonly [string, JsonFields]> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) throw malformed(file, 'its last line has no end');
    const line = JsonFields.parse(bytes.toString('utf8', start, end), file);
    start = end + 1;
    const [tagged, ...others] = line.entries;
    if (tagged === undefined || others.length > 0) {
      throw malformed(file, 'a line is not one object with one field');
    }
    yield [tagged[0], new JsonFields(tagged[1], file)];
  }
}

function rangeOf(fields: JsonFields, unit: 'epoch' | 'version', file: string): RangeBackup {
  const { first, last, data: manifest } = fields.range(unit, 'manifest');
  if (last < first) throw malformed(file, `${unit}s ${first} to ${last}`);
  return { first, last, manifest };
}

/**
 * The smallest list of backups that covers a range from `first` on without a gap, in order. Ranges may overlap.
 * @param what name of the unit of the ranges
 * @throws BackupError `backup_incomplete` if there are later backups after a gap
 */
export function smallestCover<B extends RangeBackup>(
  backups: readonly B[],
  first: bigint,
  what: string,
): B[] {
  const order = [...backups].sort((left, right) => (left.first < right.first ? -1 : 1));
  const cover: B[] = [];
  let next = first;
  let at = 0;
  for (;;) {
    let best: B | undefined;
    for (; at < order.length && order[at]!.first <= next; at += 1) {
      const backup = order[at]!;
      if (backup.last >= next && (best === undefined || backup.last > best.last)) best = backup;
    }
    if (best === undefined) break;
    cover.push(best);
    next = best.last + 1n;
  }
  const afterGap = order[at];
  if (afterGap === undefined) return cover;
  throw new BackupError(
    'backup_incomplete',
    `${what} ${next} is in no backup, the next one begins with ${afterGap.first}`,
  );
}

/**
 * The newest snapshot of the epochs `firstEpoch` to `lastEpoch`, both included. @throws BackupError `backup_incomplete`
 */
export function newestSnapshot(
  { snapshots }: BackupIndex,
  firstEpoch = 0n,
  lastEpoch = U64_MAX,
): SnapshotBackup {
  let newest: SnapshotBackup | undefined;
  for (const snapshot of snapshots) {
    const isKnown = snapshot.epoch >= firstEpoch && snapshot.epoch <= lastEpoch;
    if (isKnown && (newest === undefined || snapshot.version > newest.version)) newest = snapshot;
  }
  if (newest !== undefined) return newest;
  const detail =
    lastEpoch === U64_MAX
      ? 'it has no snapshot of the state'
      : `no snapshot is of an epoch from ${firstEpoch} to ${lastEpoch}`;
  throw new BackupError('backup_incomplete', detail);
}
