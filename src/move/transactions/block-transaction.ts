/** Transactions that begin and end blocks (docs/spec/ledger.md §2.4, §2.5). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import type { Address } from '../types/address.ts';
import { MIN_STATE_KEY_BYTES, readStateKey, type StateKey } from '../types/state-key.ts';

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
  readonly approxOutputSize: bigint;
}

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

export function readBlockMetadataExt(reader: BcsReader): BlockMetadataExt {
  const variant = reader.variant(3, 'BlockMetadataExt');
  const metadata = readBlockMetadata(reader);
  if (variant === 0) return { kind: 'v0', metadata };
  const randomness = reader.option(readRoundBytes);
  if (variant === 1) return { kind: 'v1', metadata, randomness };
  return { kind: 'v2', metadata, randomness, decryptionKey: reader.option(readRoundBytes) };
}

function readRoundBytes(reader: BcsReader): RoundBytes {
  const epoch = reader.u64();
  const round = reader.u64();
  return { epoch, round, bytes: reader.bytes() };
}

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

function readBlockEndInfo(reader: BcsReader): BlockEndInfo {
  reader.variant(1, 'BlockEndInfo');
  return {
    blockGasLimitReached: reader.bool(),
    blockOutputLimitReached: reader.bool(),
    effectiveBlockGasUnits: reader.u64(),
    approxOutputSize: reader.u64(),
  };
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

export function writeBlockMetadata(writer: BcsWriter, metadata: BlockMetadata): void {
  writeHash(writer, metadata.id);
  writer.u64(metadata.epoch).u64(metadata.round).address(metadata.proposer);
  writer.bytes(metadata.previousBlockVotesBitvec);
  writer.vector(metadata.failedProposerIndices, (to, index) => to.u32(index));
  writer.u64(metadata.timestampUsecs);
}

/** Writes metadata with the randomness of its block, `v1`. */
export function writeRandomMetadata(
  writer: BcsWriter,
  metadata: BlockMetadata,
  { epoch, round, bytes }: RoundBytes,
): void {
  writeBlockMetadata(writer.uleb32(1), metadata);
  writer.bool(true).u64(epoch).u64(round).bytes(bytes);
}

type WrittenEpilogue = Exclude<BlockEpilogue, { readonly kind: 'v2' }>;

export function writeBlockEpilogue(writer: BcsWriter, epilogue: WrittenEpilogue): void {
  const { endInfo } = epilogue;
  writeHash(writer.uleb32(epilogue.kind === 'v0' ? 0 : 1), epilogue.blockId);
  writer.uleb32(0).bool(endInfo.blockGasLimitReached).bool(endInfo.blockOutputLimitReached);
  writer.u64(endInfo.effectiveBlockGasUnits).u64(endInfo.approxOutputSize);
  if (epilogue.kind === 'v0') return;
  writer.uleb32(0).vector(epilogue.feeDistribution, (to, { validatorIndex, octas }) => {
    to.u64(validatorIndex).u64(octas);
  });
}
