/** Waypoints: a version and a hash that pin a ledger (docs/spec/ledger.md §2.7). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { readHash, readSizedBytes, writeHash, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import { MoveError } from '../errors.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import {
  type AggregateSignature,
  readAggregateSignature,
  writeAggregateSignature,
} from './validator-transaction.ts';

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

/** A text that is no waypoint. */
export class WaypointTextError extends MoveError<'bad_waypoint'> {
  /** The text, shortened. */
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

/** Whether two waypoints are the same. */
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

/** The waypoint of a ledger info. */
export function waypointOfLedgerInfo(info: LedgerInfo): Waypoint {
  const { epoch, executedStateId, version, timestampUsecs, nextEpochState } = info.commitInfo;
  return waypointOfParts({
    epoch,
    rootHash: executedStateId,
    version,
    timestampUsecs,
    nextEpochState,
  });
}

/** Size of a validator's BLS12-381 public key. */
export const CONSENSUS_KEY_BYTES = 48;

interface ValidatorPower {
  readonly address: Address;
  /** 48 bytes. */
  readonly consensusKey: Buffer;
  readonly votingPower: bigint;
}

/** An epoch and those who validate it. */
export interface EpochState {
  readonly epoch: bigint;
  readonly validators: readonly ValidatorPower[];
}

interface BlockInfo {
  readonly epoch: bigint;
  readonly round: bigint;
  /** 32 bytes. */
  readonly id: Buffer;
  /** Root of the transaction accumulator, 32 bytes. */
  readonly executedStateId: Buffer;
  readonly version: bigint;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  /** Present at the end of an epoch. */
  readonly nextEpochState: EpochState | undefined;
}

export interface LedgerInfo {
  readonly commitInfo: BlockInfo;
  /** 32 bytes. */
  readonly consensusDataHash: Buffer;
}

export interface LedgerInfoWithSignatures {
  readonly ledgerInfo: LedgerInfo;
  readonly signatures: AggregateSignature;
}

const MIN_VALIDATOR_BYTES = ADDRESS_BYTES + 1 + CONSENSUS_KEY_BYTES + 8;

/** Reads an epoch's state. @throws BcsError */
function readEpochState(reader: BcsReader): EpochState {
  const epoch = reader.u64();
  const validators = reader.vector(MIN_VALIDATOR_BYTES, (inner) => ({
    address: inner.address(),
    consensusKey: readSizedBytes(inner, CONSENSUS_KEY_BYTES, 'consensus key'),
    votingPower: inner.u64(),
  }));
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

/** Reads a block info. @throws BcsError */
function readBlockInfo(reader: BcsReader): BlockInfo {
  return {
    epoch: reader.u64(),
    round: reader.u64(),
    id: readHash(reader),
    executedStateId: readHash(reader),
    version: reader.u64(),
    timestampUsecs: reader.u64(),
    nextEpochState: reader.option(readEpochState),
  };
}

/** Writes a block info. */
function writeBlockInfo(writer: BcsWriter, info: BlockInfo): void {
  writer.u64(info.epoch).u64(info.round);
  writeHash(writer, info.id);
  writeHash(writer, info.executedStateId);
  writer.u64(info.version).u64(info.timestampUsecs);
  writer.option(info.nextEpochState, writeEpochState);
}

/** Reads a ledger info. @throws BcsError */
export function readLedgerInfo(reader: BcsReader): LedgerInfo {
  const commitInfo = readBlockInfo(reader);
  return { commitInfo, consensusDataHash: readHash(reader) };
}

/** Writes a ledger info. */
export function writeLedgerInfo(writer: BcsWriter, info: LedgerInfo): void {
  writeBlockInfo(writer, info.commitInfo);
  writeHash(writer, info.consensusDataHash);
}

/** Reads a signed ledger info. @throws BcsError */
export function readLedgerInfoWithSignatures(reader: BcsReader): LedgerInfoWithSignatures {
  reader.variant(1, 'LedgerInfoWithSignatures');
  const ledgerInfo = readLedgerInfo(reader);
  return { ledgerInfo, signatures: readAggregateSignature(reader) };
}

/** Writes a signed ledger info. */
export function writeLedgerInfoWithSignatures(
  writer: BcsWriter,
  signed: LedgerInfoWithSignatures,
): void {
  writer.uleb32(0);
  writeLedgerInfo(writer, signed.ledgerInfo);
  writeAggregateSignature(writer, signed.signatures);
}

/** The hash of a ledger info. */
export function ledgerInfoHash(info: LedgerInfo): Buffer {
  return domainHash(
    'LedgerInfo',
    encodeBcs((writer) => writeLedgerInfo(writer, info)),
  );
}
