/** Waypoints: a version and a hash that pin a ledger (docs/spec/ledger.md §2.7). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import { U64_MAX } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { address, byteString, structCodec, u64 } from '../bcs/codec.ts';
import { readSizedBytes, writeHash, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import { MoveError } from '../errors.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';

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
const WAYPOINT = /^(0|[1-9][0-9]{0,19}):([0-9a-fA-F]{64})$/;

/**
 * Reads `version:hash`; white space around it, such as a final newline, is trimmed.
 * @throws WaypointTextError
 */
export function parseWaypoint(text: string): Waypoint {
  const match = WAYPOINT.exec(text.trim());
  const version = match === null ? 0n : BigInt(match[1]!);
  if (match === null || version > U64_MAX) throw new WaypointTextError(text);
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

export interface ValidatorPower {
  readonly address: Address;
  /** 48 bytes. */
  readonly consensusKey: Buffer;
  readonly votingPower: bigint;
}

export interface EpochState {
  readonly epoch: bigint;
  readonly validators: readonly ValidatorPower[];
}

/** Fewest bytes of a validator in an epoch's state. */
const MIN_POWER_BYTES = ADDRESS_BYTES + 1 + CONSENSUS_KEY_BYTES + 8;

/** Reads an epoch's state; the keys are views of the input. @throws BcsError */
export function readEpochState(reader: BcsReader): EpochState {
  const epoch = reader.u64();
  const validators = reader.vector(MIN_POWER_BYTES, (inner): ValidatorPower => {
    const address = inner.address();
    const consensusKey = readSizedBytes(inner, CONSENSUS_KEY_BYTES, 'consensus key');
    return { address, consensusKey, votingPower: inner.u64() };
  });
  return { epoch, validators };
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

interface ValidatorInfo {
  readonly address: Address;
  readonly votingPower: bigint;
  /** BLS12-381, 48 bytes. */
  readonly consensusKey: Buffer;
  readonly networkAddresses: Buffer;
  readonly fullnodeAddresses: Buffer;
  readonly validatorIndex: bigint;
}

export interface ValidatorSet {
  readonly consensusScheme: number;
  readonly active: readonly ValidatorInfo[];
  /** Leave at the end of the epoch; they still validate. */
  readonly pendingInactive: readonly ValidatorInfo[];
  readonly pendingActive: readonly ValidatorInfo[];
  readonly totalVotingPower: bigint;
  readonly totalJoiningPower: bigint;
}

const MIN_VALIDATOR_BYTES = ADDRESS_BYTES + 8 + 1 + CONSENSUS_KEY_BYTES + 1 + 1 + 8;

const validatorInfoCodec = structCodec<ValidatorInfo>({
  address,
  votingPower: u64,
  consensusKey: {
    read: (at) => readSizedBytes(at, CONSENSUS_KEY_BYTES, 'consensus key'),
    write: (to, key) => writeSizedBytes(to, key, CONSENSUS_KEY_BYTES, 'consensus key'),
  },
  networkAddresses: byteString,
  fullnodeAddresses: byteString,
  validatorIndex: u64,
});

const validators = {
  read: (at: BcsReader) => at.vector(MIN_VALIDATOR_BYTES, validatorInfoCodec.read),
  write: (to: BcsWriter, infos: readonly ValidatorInfo[]) =>
    to.vector(infos, validatorInfoCodec.write),
};
const u128 = {
  read: (at: BcsReader) => at.u128(),
  write: (to: BcsWriter, value: bigint) => to.u128(value),
};

export const validatorSetCodec = structCodec<ValidatorSet>({
  consensusScheme: { read: (at) => at.u8(), write: (to, scheme) => to.u8(scheme) },
  active: validators,
  pendingInactive: validators,
  pendingActive: validators,
  totalVotingPower: u128,
  totalJoiningPower: u128,
});

export function epochStateOf(epoch: bigint, set: ValidatorSet): EpochState {
  const validators = [...set.active, ...set.pendingInactive]
    .sort((left, right) => compareIndices(left.validatorIndex, right.validatorIndex))
    .map(({ address, consensusKey, votingPower }) => ({ address, consensusKey, votingPower }));
  return { epoch, validators };
}

function compareIndices(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
