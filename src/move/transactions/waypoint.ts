/** Waypoints: a version and a hash that pin a ledger (docs/spec/ledger.md §2.7). */
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { writeHash, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import { MoveError } from '../errors.ts';
import type { Address } from '../types/address.ts';

export interface Waypoint {
  readonly version: bigint;
  /** 32 bytes. */
  readonly hash: Buffer;
}

/** The parts of a ledger info that its waypoint's hash covers. */
interface WaypointParts {
  readonly epoch: bigint;
  /** Root of the transaction accumulator, 32 bytes. */
  readonly rootHash: Buffer;
  readonly version: bigint;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly nextEpochState: EpochState | undefined;
}

export class WaypointTextError extends MoveError<'bad_waypoint'> {
  readonly text: string;

  constructor(text: string) {
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
    super(
      'bad_waypoint',
      `not a waypoint: ${JSON.stringify(shown)}; expected a version, a colon and 64 hex digits`,
    );
    this.text = shown;
  }
}

/** Characters of a bad text that a message shows. */
const MAX_SHOWN = 100;
const MAX_VERSION = 0xffff_ffff_ffff_ffffn;
const WAYPOINT = /^(0|[1-9][0-9]{0,19}):([0-9a-fA-F]{64})$/;

/**
 * Reads `version:hash`; white space around it, such as a final newline, is trimmed.
 * @throws WaypointTextError
 */
export function parseWaypoint(text: string): Waypoint {
  const match = WAYPOINT.exec(text.trim());
  const version = match === null ? 0n : BigInt(match[1]!);
  if (match === null || version > MAX_VERSION) throw new WaypointTextError(text);
  return { version, hash: Buffer.from(match[2]!, 'hex') };
}

/** `version:hash`, lower-case hex without 0x. */
export function formatWaypoint(waypoint: Waypoint): string {
  return `${waypoint.version}:${waypoint.hash.toString('hex')}`;
}

export function isSameWaypoint(left: Waypoint, right: Waypoint): boolean {
  return left.version === right.version && left.hash.equals(right.hash);
}

/** The waypoint of these parts (docs/spec/ledger.md §2.7 step 8). */
export function waypointOfParts(parts: WaypointParts): Waypoint {
  const bytes = encodeBcs((writer) => {
    writer.u64(parts.epoch);
    writeHash(writer, parts.rootHash);
    writer.u64(parts.version).u64(parts.timestampUsecs);
    writer.option(parts.nextEpochState, writeEpochState);
  });
  return { version: parts.version, hash: domainHash('Ledger2WaypointConverter', bytes) };
}

/** Size of a validator's BLS12-381 public key. */
export const CONSENSUS_KEY_BYTES = 48;

interface ValidatorPower {
  readonly address: Address;
  /** 48 bytes. */
  readonly consensusKey: Buffer;
  readonly votingPower: bigint;
}

export interface EpochState {
  readonly epoch: bigint;
  readonly validators: readonly ValidatorPower[];
}

/** Writes an epoch's state. @throws RangeError for a key that is not 48 bytes. */
function writeEpochState(writer: BcsWriter, state: EpochState): void {
  writer.u64(state.epoch);
  writer.vector(state.validators, (inner, validator) => {
    inner.address(validator.address);
    writeSizedBytes(inner, validator.consensusKey, CONSENSUS_KEY_BYTES, 'consensus key');
    inner.u64(validator.votingPower);
  });
}
