/**
 * Why a file is refused as a genesis, or a genesis by its waypoint. Messages are one line and say
 * where.
 */
import type { BcsError } from '../../move/bcs/bcs-reader.ts';
import { MoveError } from '../../move/errors.ts';
import { formatWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';

export type GenesisErrorCode =
  | 'empty_file'
  | 'file_too_large'
  | 'not_a_genesis'
  | 'script_genesis'
  | 'malformed'
  | 'too_many_items'
  | 'trailing_bytes'
  | 'missing_resource'
  | 'bad_resource'
  | 'waypoint_of_other_version'
  | 'waypoint_mismatch';

/** A file that is no genesis this node can load. */
export class GenesisError extends MoveError<GenesisErrorCode> {
  /** The byte of the file that the error is about, where there is one. */
  readonly offset: number | undefined;

  constructor(code: GenesisErrorCode, message: string, offset?: number) {
    super(code, offset === undefined ? message : `${message} at byte ${offset}`);
    this.offset = offset;
  }
}

/** Bytes that do not decode. */
export class MalformedGenesisError extends GenesisError {
  /** What was being read, such as `write 12`. */
  readonly part: string;
  override readonly cause: BcsError;

  constructor(part: string, cause: BcsError) {
    super('malformed', `the genesis does not decode: ${part}: ${cause.detail}`, cause.offset);
    this.part = part;
    this.cause = cause;
  }
}

/**
 * A resource at 0x1 that the waypoint or the chain id is computed from and that is absent or does
 * not decode.
 */
export class GenesisResourceError extends GenesisError {
  /** Canonical text of the resource's type. */
  readonly resource: string;

  constructor(resource: string, cause?: BcsError) {
    if (cause === undefined) {
      super('missing_resource', `the genesis does not write ${resource} at 0x1`);
    } else {
      super('bad_resource', `${resource} at 0x1 does not decode: ${cause.message} of its value`);
    }
    this.resource = resource;
  }
}

/** A genesis that is not the one the waypoint pins. */
export class WaypointMismatchError extends GenesisError {
  readonly expected: Waypoint;
  readonly actual: Waypoint;

  constructor(expected: Waypoint, actual: Waypoint) {
    if (expected.version === actual.version) {
      super(
        'waypoint_mismatch',
        `the genesis has waypoint ${formatWaypoint(actual)}, not ${formatWaypoint(expected)}`,
      );
    } else {
      super(
        'waypoint_of_other_version',
        `waypoint ${formatWaypoint(expected)} is of version ${expected.version} and cannot be ` +
          `compared with a genesis, whose waypoint is ${formatWaypoint(actual)}`,
      );
    }
    this.expected = expected;
    this.actual = actual;
  }
}
