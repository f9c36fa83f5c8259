/** Reads the epoch-ending backups and verifies their chain (docs/spec/backup.md §4.2). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readSignedLedgerInfo } from '../../move/transactions/ledger-info.ts';
import { formatWaypoint, isSameWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError } from './backup-error.ts';
import { decodeIn, readUnpacked, recordsOf } from './backup-files.ts';
import { type BackupIndex, covering, type EpochBackup } from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import { EpochChain } from './epoch-chain.ts';
import { type ManifestChunk, readEpochManifest } from './manifests.ts';

/** Ledger infos that end epochs, from the epoch on that a waypoint ends. */
export interface EpochEndings {
  readonly anchor: Waypoint;
  readonly firstEpoch: bigint;
  readonly lastEpoch: bigint;
  readonly backups: readonly EpochBackup[];
}

/**
 * Finds the backups of the epochs from the waypoint's on.
 * @throws BackupError `backup_incomplete` for gaps; `waypoint_mismatch` when no epoch ends with the waypoint
 */
export async function findEpochEndings(
  source: BackupSource,
  index: BackupIndex,
  anchor: Waypoint,
  signal: AbortSignal,
): Promise<EpochEndings> {
  const { version } = anchor;
  const firstEpoch =
    version === 0n ? 0n : await epochEndingWith(source, index.epochs, anchor, signal);
  const backups = covering(index.epochs, firstEpoch, 'epoch');
  const last = backups[backups.length - 1];
  if (last === undefined) {
    throw new BackupError('backup_incomplete', `no backup has the end of epoch ${firstEpoch}`);
  }
  return { anchor, firstEpoch, lastEpoch: last.last, backups };
}

async function epochEndingWith(
  source: BackupSource,
  backups: readonly EpochBackup[],
  anchor: Waypoint,
  signal: AbortSignal,
): Promise<bigint> {
  for (const backup of backups) {
    if (anchor.version < backup.firstVersion || anchor.version > backup.lastVersion) continue;
    const { waypoints } = await readEpochManifest(source, backup, signal);
    const index = waypoints.findIndex((waypoint) => isSameWaypoint(waypoint, anchor));
    if (index >= 0) return backup.first + BigInt(index);
  }
  const detail = `no epoch of the backup ends with waypoint ${formatWaypoint(anchor)}`;
  throw new BackupError('waypoint_mismatch', detail);
}

/**
 * Verifies the whole chain.
 * @param retainFrom the first epoch whose ledger infos the chain takes afterwards
 * @param onEpoch called after each epoch
 * @throws BackupError
 */
export async function verifyEpochEndings(
  source: BackupSource,
  { anchor, firstEpoch, backups }: EpochEndings,
  retainFrom: bigint,
  signal: AbortSignal,
  onEpoch: (epoch: bigint) => void = () => undefined,
): Promise<EpochChain> {
  const chain = new EpochChain(anchor, firstEpoch, retainFrom);
  const readManifest = (backup: EpochBackup) => readEpochManifest(source, backup, signal);
  const readChunk = ({ data }: ManifestChunk) => readUnpacked(source, data, signal);
  for await (const [backup, { waypoints, chunks }] of readAhead(backups, readManifest)) {
    const needed = chunks.filter(({ last }) => last >= chain.nextEpoch);
    for await (const [chunk, bytes] of readAhead(needed, readChunk)) {
      const stated = waypoints.slice(Number(chunk.first - backup.first));
      for (const _ of addChunk(chain, chunk, bytes, stated)) {
        onEpoch(chain.nextEpoch - 1n);
        // Checking a signature takes longer than anything else may wait.
        await nextTurn(undefined, { signal });
      }
    }
  }
  return chain;
}

/** Adds the ledger infos of a chunk that are not in the chain yet; yields after each. */
function* addChunk(
  chain: EpochChain,
  { first, last, data }: ManifestChunk,
  bytes: Buffer,
  stated: readonly Waypoint[],
): Generator<void> {
  let index = 0;
  for (const record of recordsOf(bytes, last - first + 1n, data)) {
    const epoch = first + BigInt(index);
    const waypoint = stated[index]!;
    index += 1;
    if (epoch < chain.nextEpoch) continue;
    // Of a copy: what is retained of a record would retain the file.
    const own = Buffer.from(record);
    const signed = decodeIn(data, `the end of epoch ${epoch}`, own, readSignedLedgerInfo);
    chain.add(signed, waypoint, data);
    yield;
  }
}
