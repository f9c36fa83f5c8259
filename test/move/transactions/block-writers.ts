/** Writes unsigned transactions; src/move/transactions reads them (docs/spec/ledger.md §2.4–2.6). */
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import { writeHash } from '../../../src/move/bcs/fixed-bytes.ts';
import type {
  BlockEpilogue,
  BlockMetadata,
  BlockMetadataExt,
  RoundBytes,
} from '../../../src/move/transactions/block-transaction.ts';
import { writeStateKey } from '../../../src/move/types/state-key.ts';

type FeeDistribution = Extract<BlockEpilogue, { kind: 'v2' }>['feeDistribution'];

export function writeBlockMetadata(writer: BcsWriter, metadata: BlockMetadata): void {
  writeHash(writer, metadata.id);
  writer.u64(metadata.epoch).u64(metadata.round).address(metadata.proposer);
  writer.bytes(metadata.previousBlockVotesBitvec);
  writer.vector(metadata.failedProposerIndices, (inner, index) => inner.u32(index));
  writer.u64(metadata.timestampUsecs);
}

export function writeBlockMetadataExt(writer: BcsWriter, ext: BlockMetadataExt): void {
  writer.uleb32(['v0', 'v1', 'v2'].indexOf(ext.kind));
  writeBlockMetadata(writer, ext.metadata);
  if (ext.kind !== 'v0') writer.option(ext.randomness, writeRoundBytes);
  if (ext.kind === 'v2') writer.option(ext.decryptionKey, writeRoundBytes);
}

function writeRoundBytes(writer: BcsWriter, value: RoundBytes): void {
  writer.u64(value.epoch).u64(value.round).bytes(value.bytes);
}

/** @throws RangeError when a validator's fee is given twice. */
export function writeBlockEpilogue(writer: BcsWriter, epilogue: BlockEpilogue): void {
  writer.uleb32(['v0', 'v1', 'v2'].indexOf(epilogue.kind));
  writeHash(writer, epilogue.blockId);
  writeBlockEndInfo(writer, epilogue.endInfo);
  if (epilogue.kind === 'v0') return;
  writeFeeDistribution(writer, epilogue.feeDistribution);
  if (epilogue.kind === 'v2') writer.vector(epilogue.toMakeHot, writeStateKey);
}

function writeBlockEndInfo(writer: BcsWriter, info: BlockEpilogue['endInfo']): void {
  writer.uleb32(0).bool(info.blockGasLimitReached).bool(info.blockOutputLimitReached);
  writer.u64(info.effectiveBlockGasUnits).u64(info.approxOutputSize);
}

function writeFeeDistribution(writer: BcsWriter, fees: FeeDistribution): void {
  writer.uleb32(0).length32(fees.length);
  // Maps are ordered by the little-endian bytes of their keys: 256 comes before 1.
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
