/**
 * The ledger infos that end epochs, each signed by the validators that the one before it names
 * (docs/spec/backup.md §4.2).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  readSignedLedgerInfo,
  type SignedLedgerInfo,
} from '../../move/transactions/ledger-info.ts';
import {
  SignatureError,
  ValidatorSignatures,
} from '../../move/transactions/validator-signatures.ts';
import {
  type EpochState,
  formatWaypoint,
  isSameWaypoint,
  type Waypoint,
  waypointOfParts,
} from '../../move/transactions/waypoint.ts';
import { readAhead } from '../read-ahead.ts';
import { BackupError, malformed, unproved } from './backup-error.ts';
import { decodeIn, readUnpacked, recordsOf } from './backup-files.ts';
import { type BackupIndex, type EpochBackup, smallestCover } from './backup-index.ts';
import type { BackupSource } from './backup-source.ts';
import type { FileRange } from './json-fields.ts';
import { readEpochManifest } from './manifests.ts';

/** The ledger infos that end epochs, beginning with the epoch that a waypoint ends. */
interface EpochEndings {
  readonly anchor: Waypoint;
  readonly firstEpoch: bigint;
  readonly lastEpoch: bigint;
  readonly backups: readonly EpochBackup[];
}

/**
 * Finds the backups of the epochs, beginning with the epoch that the waypoint ends.
 * @throws BackupError `backup_incomplete` for gaps; `waypoint_mismatch` if no epoch ends with the waypoint
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
  const backups = smallestCover(index.epochs, firstEpoch, 'epoch');
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
 * @param retainFrom the first epoch whose ledger infos the chain can check afterwards
 * @param onEpoch called after each epoch
 * @throws BackupError
 */
export async function verifyEpochEndings(
  source: BackupSource,
  { anchor, firstEpoch, backups }: EpochEndings,
  retainFrom: bigint,
  signal: AbortSignal,
  onEpoch: (epoch: bigint) => void,
): Promise<EpochChain> {
  const chain = new EpochChain(anchor, firstEpoch, retainFrom);
  const readManifest = (backup: EpochBackup) => readEpochManifest(source, backup, signal);
  const readChunk = ({ data }: FileRange) => readUnpacked(source, data, signal);
  for await (const [backup, { waypoints, chunks }] of readAhead(backups, readManifest)) {
    const needed = chunks.filter(({ last }) => last >= chain.nextEpoch);
    for await (const [chunk, bytes] of readAhead(needed, readChunk)) {
      const manifestWaypoints = waypoints.slice(Number(chunk.first - backup.first));
      for (const _ of addChunk(chain, chunk, bytes, manifestWaypoints)) {
        onEpoch(chain.nextEpoch - 1n);
        // Checking a signature takes so long that other work must get a turn after each one.
        await nextTurn(undefined, { signal });
      }
    }
  }
  return chain;
}

/** Adds the ledger infos of a chunk that are not in the chain yet; yields after each. */
function* addChunk(
  chain: EpochChain,
  { first, last, data }: FileRange,
  bytes: Buffer,
  manifestWaypoints: readonly Waypoint[],
): Generator<void> {
  let index = 0;
  for (const record of recordsOf(bytes, last - first + 1n, data)) {
    const epoch = first + BigInt(index);
    const waypoint = manifestWaypoints[index]!;
    index += 1;
    if (epoch < chain.nextEpoch) continue;
    // A copy, because views that the chain retains would hold the whole file in memory.
    const own = Buffer.from(record);
    const signed = decodeIn(data, `the end of epoch ${epoch}`, own, readSignedLedgerInfo);
    chain.add(signed, waypoint, data);
    yield;
  }
}

/** An epoch whose ledger infos can be checked. */
interface KnownEpoch {
  /** Its validators; unknown for the epoch that the waypoint ends. */
  readonly validators: EpochState['validators'] | undefined;
  ending: SignedLedgerInfo | undefined;
}

/**
 * Verifies ledger infos from a trusted waypoint on. It retains only the epochs that `check` needs later: about 14 kB
 * each on a chain of 140 validators.
 */
class EpochChain {
  readonly #anchor: Waypoint;
  readonly #retainFrom: bigint;
  readonly #signatures = new ValidatorSignatures();
  readonly #known = new Map<bigint, KnownEpoch>();
  #next: bigint;

  /**
   * @param anchor the waypoint of the ledger info that ends `firstEpoch`
   * @param retainFrom the first epoch whose ledger infos `check` accepts
   */
  constructor(anchor: Waypoint, firstEpoch: bigint, retainFrom: bigint) {
    this.#anchor = anchor;
    this.#next = firstEpoch;
    this.#retainFrom = retainFrom;
    this.#known.set(firstEpoch, { validators: undefined, ending: undefined });
  }

  /** The next epoch to add, which is the last one whose validators are known. */
  get nextEpoch(): bigint {
    return this.#next;
  }

  /**
   * Adds the ledger info that ends the next epoch.
   * @param manifestWaypoint its waypoint in the manifest
   * @throws BackupError `backup_unproved`, `waypoint_mismatch`, `backup_malformed`
   */
  add(signed: SignedLedgerInfo, manifestWaypoint: Waypoint, file: string): void {
    const { info } = signed;
    const epoch = this.#next;
    if (info.epoch !== epoch) {
      throw malformed(file, `a ledger info of epoch ${info.epoch} where ${epoch} comes next`);
    }
    const { nextEpochState } = info;
    if (nextEpochState?.epoch !== epoch + 1n) {
      throw malformed(file, `the ledger info of epoch ${epoch} does not begin the next one`);
    }
    const waypoint = waypointOfParts(info);
    if (!isSameWaypoint(waypoint, manifestWaypoint)) {
      const detail = `epoch ${epoch} has waypoint ${formatWaypoint(waypoint)}, not ${formatWaypoint(manifestWaypoint)}`;
      throw malformed(file, detail);
    }
    this.check(signed, file);
    const known = this.#known.get(epoch)!;
    known.ending = signed;
    if (epoch < this.#retainFrom) this.#known.delete(epoch);
    this.#next = epoch + 1n;
    const { validators } = nextEpochState;
    this.#known.set(epoch + 1n, { validators, ending: undefined });
  }

  /**
   * Checks a ledger info of a retained epoch, including one that does not end the epoch.
   * @throws BackupError `backup_unproved`, `waypoint_mismatch`
   */
  check(signed: SignedLedgerInfo, file: string): void {
    const { info } = signed;
    const known = this.#known.get(info.epoch);
    if (known === undefined) {
      const { epoch } = info;
      const why =
        epoch < this.#next
          ? `it is older than epoch ${this.#retainFrom}`
          : `no ledger info ends ${epoch - 1n}`;
      throw unproved(file, `a ledger info of epoch ${epoch} proves nothing here: ${why}`);
    }
    if (known.ending?.infoBytes.equals(signed.infoBytes) === true) return;
    if (info.version === this.#anchor.version) {
      checkAnchor(signed, this.#anchor, file);
      return;
    }
    if (known.validators === undefined) {
      const detail = `nothing vouches for version ${info.version}, which is before the waypoint`;
      throw unproved(file, detail);
    }
    try {
      this.#signatures.check(known.validators, signed);
    } catch (cause) {
      if (!(cause instanceof SignatureError)) throw cause;
      throw unproved(file, `epoch ${info.epoch}: ${cause.message}`, cause);
    }
  }
}

/** Fields that the waypoint does not cover are zero at genesis; later they are unknown (docs/spec/backup.md §4.1). */
function checkAnchor(
  { info, signers, signature }: SignedLedgerInfo,
  anchor: Waypoint,
  file: string,
): void {
  const waypoint = waypointOfParts(info);
  if (!isSameWaypoint(waypoint, anchor)) {
    const detail = `the backup is of waypoint ${formatWaypoint(waypoint)}, not ${formatWaypoint(anchor)}`;
    throw new BackupError('waypoint_mismatch', detail, file);
  }
  if (info.version !== 0n) return;
  const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);
  const isPlain = info.round === 0n && isZero(info.blockId) && isZero(info.consensusDataHash);
  if (isPlain && signers.length === 0 && signature === undefined) return;
  throw unproved(file, 'the ledger info of genesis has contents that no waypoint covers');
}
