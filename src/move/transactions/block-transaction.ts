/** Transactions that begin and end blocks (docs/spec/ledger.md §2.4, §2.5). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';
import {
  MIN_STATE_KEY_BYTES,
  readStateKey,
  type StateKey,
  writeStateKey,
} from '../types/state-key.ts';

export interface BlockMetadata {
  /** Block id, 32 bytes. */
  readonly id: Buffer;
  readonly epoch: bigint;
  readonly round: bigint;
  readonly proposer: Address;
  readonly previousBlockVotesBitvec: Buffer;
  /** u32 each here; u64 in the block's event. */
  readonly failedProposerIndices: readonly number[];
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
}

/** Randomness of a block, or its decryption key: bytes made for an epoch and round. */
export interface RoundBytes {
  readonly epoch: bigint;
  readonly round: bigint;
  readonly bytes: Buffer;
}

export type BlockMetadataExt =
  | { readonly kind: 'v0'; readonly metadata: BlockMetadata }
  | {
      readonly kind: 'v1';
      readonly metadata: BlockMetadata;
      readonly randomness: RoundBytes | undefined;
    }
  | {
      readonly kind: 'v2';
      readonly metadata: BlockMetadata;
      readonly randomness: RoundBytes | undefined;
      readonly decryptionKey: RoundBytes | undefined;
    };

interface BlockEndInfo {
  readonly blockGasLimitReached: boolean;
  readonly blockOutputLimitReached: boolean;
  /** Gas units. */
  readonly effectiveBlockGasUnits: bigint;
  /** Bytes. */
  readonly approxOutputSize: bigint;
}

/** A validator's share of the block's fees. */
interface ValidatorFee {
  readonly validatorIndex: bigint;
  readonly octas: bigint;
}

interface BlockEnd {
  /** 32 bytes. */
  readonly blockId: Buffer;
  readonly endInfo: BlockEndInfo;
}

export type BlockEpilogue =
  | ({ readonly kind: 'v0' } & BlockEnd)
  | ({ readonly kind: 'v1'; readonly feeDistribution: readonly ValidatorFee[] } & BlockEnd)
  | ({
      readonly kind: 'v2';
      readonly feeDistribution: readonly ValidatorFee[];
      /** Keys to make hot, in the writer's order. */
      readonly toMakeHot: readonly StateKey[];
    } & BlockEnd);

/** Reads block metadata. @throws BcsError */
export function readBlockMetadata(reader: BcsReader): BlockMetadata {
  return {
    id: readHash(reader),
    epoch: reader.u64(),
    round: reader.u64(),
    proposer: reader.address(),
    previousBlockVotesBitvec: reader.bytes(),
    failedProposerIndices: reader.vector(4, (inner) => inner.u32()),
    timestampUsecs: reader.u64(),
  };
}

/** Writes block metadata. */
export function writeBlockMetadata(writer: BcsWriter, metadata: BlockMetadata): void {
  writeHash(writer, metadata.id);
  writer.u64(metadata.epoch).u64(metadata.round).address(metadata.proposer);
  writer.bytes(metadata.previousBlockVotesBitvec);
  writer.vector(metadata.failedProposerIndices, (inner, index) => inner.u32(index));
  writer.u64(metadata.timestampUsecs);
}

/** Reads extended block metadata. @throws BcsError */
export function readBlockMetadataExt(reader: BcsReader): BlockMetadataExt {
  const variant = reader.variant(3, 'BlockMetadataExt');
  const metadata = readBlockMetadata(reader);
  if (variant === 0) return { kind: 'v0', metadata };
  const randomness = reader.option(readRoundBytes);
  if (variant === 1) return { kind: 'v1', metadata, randomness };
  return { kind: 'v2', metadata, randomness, decryptionKey: reader.option(readRoundBytes) };
}

/** Writes extended block metadata. */
export function writeBlockMetadataExt(writer: BcsWriter, ext: BlockMetadataExt): void {
  writer.uleb32(['v0', 'v1', 'v2'].indexOf(ext.kind));
  writeBlockMetadata(writer, ext.metadata);
  if (ext.kind !== 'v0') writer.option(ext.randomness, writeRoundBytes);
  if (ext.kind === 'v2') writer.option(ext.decryptionKey, writeRoundBytes);
}

function readRoundBytes(reader: BcsReader): RoundBytes {
  const epoch = reader.u64();
  const round = reader.u64();
  return { epoch, round, bytes: reader.bytes() };
}

function writeRoundBytes(writer: BcsWriter, value: RoundBytes): void {
  writer.u64(value.epoch).u64(value.round).bytes(value.bytes);
}

/** Reads a block epilogue. @throws BcsError */
export function readBlockEpilogue(reader: BcsReader): BlockEpilogue {
  const variant = reader.variant(3, 'BlockEpiloguePayload');
  const blockId = readHash(reader);
  const endInfo = readBlockEndInfo(reader);
  if (variant === 0) return { kind: 'v0', blockId, endInfo };
  const feeDistribution = readFeeDistribution(reader);
  if (variant === 1) return { kind: 'v1', blockId, endInfo, feeDistribution };
  const toMakeHot = reader.vector(MIN_STATE_KEY_BYTES, readStateKey);
  return { kind: 'v2', blockId, endInfo, feeDistribution, toMakeHot };
}

/** Writes a block epilogue. @throws RangeError when a validator's fee is given twice. */
export function writeBlockEpilogue(writer: BcsWriter, epilogue: BlockEpilogue): void {
  writer.uleb32(['v0', 'v1', 'v2'].indexOf(epilogue.kind));
  writeHash(writer, epilogue.blockId);
  writeBlockEndInfo(writer, epilogue.endInfo);
  if (epilogue.kind === 'v0') return;
  writeFeeDistribution(writer, epilogue.feeDistribution);
  if (epilogue.kind === 'v2') writer.vector(epilogue.toMakeHot, writeStateKey);
}

function readBlockEndInfo(reader: BcsReader): BlockEndInfo {
  reader.variant(1, 'BlockEndInfo');
  return {
    blockGasLimitReached: reader.bool(),
    blockOutputLimitReached: reader.bool(),
    effectiveBlockGasUnits: reader.u64(),
    approxOutputSize: reader.u64(),
  };
}

function writeBlockEndInfo(writer: BcsWriter, info: BlockEndInfo): void {
  writer.uleb32(0).bool(info.blockGasLimitReached).bool(info.blockOutputLimitReached);
  writer.u64(info.effectiveBlockGasUnits).u64(info.approxOutputSize);
}

function readFeeDistribution(reader: BcsReader): ValidatorFee[] {
  reader.variant(1, 'FeeDistribution');
  const entries = reader.map(
    16,
    (inner) => inner.u64(),
    (inner) => inner.u64(),
  );
  return entries.map(([validatorIndex, octas]) => ({ validatorIndex, octas }));
}

function writeFeeDistribution(writer: BcsWriter, fees: readonly ValidatorFee[]): void {
  writer.uleb32(0).length32(fees.length);
  // Maps are ordered by the little-endian bytes of their keys: 256 stands before 1.
  const sorted = fees
    .map((fee) => ({ fee, key: littleEndian(fee.validatorIndex) }))
    .sort((left, right) => Buffer.compare(left.key, right.key));
  for (const [index, { fee, key }] of sorted.entries()) {
    if (sorted[index - 1]?.key.equals(key)) {
      throw new RangeError(`validator ${fee.validatorIndex} has two fees`);
    }
    writer.u64(fee.validatorIndex).u64(fee.octas);
  }
}

function littleEndian(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
