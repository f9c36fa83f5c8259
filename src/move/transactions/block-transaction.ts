/** Transactions that begin and end blocks (docs/spec/ledger.md §2.4, §2.5). */
import {
  address,
  bool,
  byteString,
  type CodecValue,
  hash,
  list,
  mapList,
  option,
  soleVariant,
  structCodec,
  u32,
  u64,
  variants,
} from '../bcs/codec.ts';
import { StateKey } from '../types/state-key.ts';

export const BlockMetadata = structCodec({
  /** Block id. */
  id: hash,
  epoch: u64,
  round: u64,
  proposer: address,
  previousBlockVotesBitvec: byteString,
  /** u64 each in the block's event. */
  failedProposerIndices: list(u32),
  /** Microseconds since 1970. */
  timestampUsecs: u64,
});
export type BlockMetadata = CodecValue<typeof BlockMetadata>;

/** Randomness of a block, or its decryption key: bytes generated for an epoch and round. */
const RoundBytes = structCodec({ epoch: u64, round: u64, bytes: byteString });

const WITH_RANDOMNESS = { metadata: BlockMetadata, randomness: option(RoundBytes) };

export const BlockMetadataExt = variants('BlockMetadataExt', {
  v0: { metadata: BlockMetadata },
  v1: WITH_RANDOMNESS,
  v2: { ...WITH_RANDOMNESS, decryptionKey: option(RoundBytes) },
});
export type BlockMetadataExt = CodecValue<typeof BlockMetadataExt>;

const BLOCK_END = {
  blockId: hash,
  endInfo: soleVariant(
    'BlockEndInfo',
    structCodec({
      blockGasLimitReached: bool,
      blockOutputLimitReached: bool,
      /** Gas units. */
      effectiveBlockGasUnits: u64,
      approxOutputSize: u64,
    }),
  ),
};
const WITH_FEES = {
  ...BLOCK_END,
  feeDistribution: soleVariant(
    'FeeDistribution',
    mapList(
      u64,
      u64,
      (validatorIndex, octas) => ({ validatorIndex, octas }),
      ({ validatorIndex, octas }) => [validatorIndex, octas],
    ),
  ),
};

export const BlockEpilogue = variants('BlockEpiloguePayload', {
  v0: BLOCK_END,
  v1: WITH_FEES,
  v2: {
    ...WITH_FEES,
    /** Keys to make hot, in the writer's order. */
    toMakeHot: list(StateKey),
  },
});
export type BlockEpilogue = CodecValue<typeof BlockEpilogue>;
