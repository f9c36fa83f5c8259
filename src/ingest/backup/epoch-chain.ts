/** The chain of ledger infos that end epochs, each signed by the validators that the one before it names. */
import type { SignedLedgerInfo } from '../../move/transactions/ledger-info.ts';
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
import { BackupError, malformed, unproved } from './backup-error.ts';

/** What is known of an epoch. */
interface KnownEpoch {
  /** Who signs in it; unknown in the epoch that the waypoint ends. */
  readonly validators: EpochState['validators'] | undefined;
  /** The ledger info that ends it, when it is verified. */
  ending: SignedLedgerInfo | undefined;
}

/**
 * Verifies ledger infos from a trusted waypoint on (docs/spec/backup.md §4.2). Retained are the epochs from one on
 * that is of interest: some 14 kB each on a chain of 140 validators.
 */
export class EpochChain {
  readonly #anchor: Waypoint;
  readonly #retainFrom: bigint;
  readonly #signatures = new ValidatorSignatures();
  readonly #known = new Map<bigint, KnownEpoch>();
  #next: bigint;

  /**
   * @param anchor of the ledger info that ends `firstEpoch`
   * @param retainFrom the first epoch whose ledger infos `check` takes
   */
  constructor(anchor: Waypoint, firstEpoch: bigint, retainFrom: bigint) {
    this.#anchor = anchor;
    this.#next = firstEpoch;
    this.#retainFrom = retainFrom;
    this.#known.set(firstEpoch, { validators: undefined, ending: undefined });
  }

  /** The epoch that comes next: the last one whose validators are known. */
  get nextEpoch(): bigint {
    return this.#next;
  }

  /**
   * Adds the ledger info that ends the next epoch.
   * @param stated its waypoint in the manifest
   * @throws BackupError `backup_unproved`, `waypoint_mismatch`, `backup_malformed`
   */
  add(signed: SignedLedgerInfo, stated: Waypoint, file: string): void {
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
    if (!isSameWaypoint(waypoint, stated)) {
      const detail = `epoch ${epoch} has waypoint ${formatWaypoint(waypoint)}, not ${formatWaypoint(stated)}`;
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
   * Checks a ledger info of a retained epoch, also one that does not end it.
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

/** What the waypoint does not cover is zero at genesis; later it is not known (docs/spec/backup.md §4.1). */
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
