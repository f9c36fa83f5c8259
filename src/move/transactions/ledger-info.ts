/** Ledger infos: what validators sign of a ledger at the end of a block (docs/spec/ledger.md §4.5). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { readHash, readSizedBytes, writeHash, writeSizedBytes } from '../bcs/fixed-bytes.ts';
import {
  type AggregateSignature,
  readAggregateSignature,
  writeAggregateSignature,
} from '../crypto/aggregate-signature.ts';
import { domainHash } from '../crypto/hash.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';

/** Size of a validator's BLS12-381 public key. */
export const CONSENSUS_KEY_BYTES = 48;

export interface ValidatorPower {
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

export interface BlockInfo {
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
export function writeEpochState(writer: BcsWriter, state: EpochState): void {
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
