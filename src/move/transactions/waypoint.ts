/** Waypoints: a version and a hash that pin a ledger (docs/spec/ledger.md §2.7). */
import { U64_MAX } from '../bcs/bcs-reader.ts';
import {
  address,
  byteString,
  type CodecValue,
  hash,
  list,
  option,
  sizedBytes,
  structCodec,
  u8,
  u64,
  u128,
} from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';
import { MoveError } from '../errors.ts';

export interface Waypoint {
  readonly version: bigint;
  /** 32 bytes. */
  readonly hash: Buffer;
}

export class WaypointTextError extends MoveError<'bad_waypoint'> {
  readonly text: string;

  constructor(text: string) {
    const shown = text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
    super(
      'bad_waypoint',
      `not a waypoint: ${JSON.stringify(shown)}; expected a version, a colon and 64 hex digits`,
    );
    this.text = shown;
  }
}

/** Characters of a bad text that a message shows. */
const MAX_QUOTED_CHARS = 100;
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

/** Size of a validator's BLS12-381 public key. */
export const CONSENSUS_KEY_BYTES = 48;
const consensusKey = sizedBytes(CONSENSUS_KEY_BYTES, 'consensus key');

const ValidatorPower = structCodec({ address, consensusKey, votingPower: u64 });
export type ValidatorPower = CodecValue<typeof ValidatorPower>;

/** Keys that are read are views of the input. */
export const EpochState = structCodec({ epoch: u64, validators: list(ValidatorPower) });
export type EpochState = CodecValue<typeof EpochState>;

/** The parts of a ledger info that its waypoint's hash covers. */
const WaypointParts = structCodec({
  epoch: u64,
  /** Root of the transaction accumulator. */
  rootHash: hash,
  version: u64,
  /** Microseconds since 1970. */
  timestampUsecs: u64,
  nextEpochState: option(EpochState),
});

/** The waypoint of these parts (docs/spec/ledger.md §2.7 step 8). */
export function waypointOfParts(parts: CodecValue<typeof WaypointParts>): Waypoint {
  const bytes = WaypointParts.encode(parts);
  return { version: parts.version, hash: domainHash('Ledger2WaypointConverter', bytes) };
}

const validators = list(
  structCodec({
    address,
    votingPower: u64,
    consensusKey,
    networkAddresses: byteString,
    fullnodeAddresses: byteString,
    validatorIndex: u64,
  }),
);

export const validatorSetCodec = structCodec({
  consensusScheme: u8,
  active: validators,
  /** Validators that leave at the end of the epoch but still validate. */
  pendingInactive: validators,
  pendingActive: validators,
  totalVotingPower: u128,
  totalJoiningPower: u128,
});
export type ValidatorSet = CodecValue<typeof validatorSetCodec>;

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
