/**
 * The transactions that nobody signs: those that begin a block, end it, or end an epoch. Their forms change as the
 * ledger grows older, as they did on real chains, so that one ledger has all of them (docs/spec/ledger.md §2.4–2.6).
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import type {
  BlockEpilogue,
  BlockMetadata,
  RoundBytes,
} from '../../move/transactions/block-transaction.ts';
import { readStateKey } from '../../move/types/state-key.ts';
import type { BlockHeader } from '../model/chain.ts';
import { derivedBytes } from '../model/random.ts';
import type { BlockTransaction } from './block-writers.ts';

/** First epochs of the newer forms. */
const EXTENDED_METADATA_EPOCH = 3;
const EPILOGUE_EPOCH = 3;
const FEE_DISTRIBUTION_EPOCH = 4;
const HOT_STATE_EPOCH = 5;
const DECRYPTION_KEY_EPOCH = 6;
/** From this epoch on infos say where a transaction stands in its block. */
const AUXILIARY_INFO_EPOCH = 3;

/** Whether infos of this epoch have the hash of an auxiliary info. */
export function hasAuxiliaryInfo(epoch: number): boolean {
  return epoch >= AUXILIARY_INFO_EPOCH;
}

/** Whether epochs end by a validator transaction: every second one, once there is randomness to be made. */
export function endsByValidators(epoch: number): boolean {
  return epoch >= EXTENDED_METADATA_EPOCH && epoch % 2 === 0;
}

/** The transaction that begins a block. */
export function blockStart(seed: bigint, header: BlockHeader): BlockTransaction {
  const metadata: BlockMetadata = {
    id: header.id,
    epoch: BigInt(header.epoch),
    round: BigInt(header.round),
    proposer: header.proposer,
    previousBlockVotesBitvec: header.votes,
    failedProposerIndices: header.failedProposers,
    timestampUsecs: BigInt(header.timestamp),
  };
  if (header.epoch < EXTENDED_METADATA_EPOCH) return { kind: 'blockMetadata', metadata };
  const randomness = roundBytes(seed, 'randomness', header);
  if (header.epoch < DECRYPTION_KEY_EPOCH) {
    return { kind: 'blockMetadataExt', metadata: { kind: 'v1', metadata, randomness } };
  }
  const decryptionKey =
    header.height % 2 === 0 ? roundBytes(seed, 'decryption key', header) : undefined;
  return {
    kind: 'blockMetadataExt',
    metadata: { kind: 'v2', metadata, randomness, decryptionKey },
  };
}

function roundBytes(seed: bigint, label: string, { epoch, round }: BlockHeader): RoundBytes {
  const bytes = derivedBytes(seed, label, epoch, round);
  return { epoch: BigInt(epoch), round: BigInt(round), bytes };
}

/** The validators' transaction that ends an epoch. */
export function epochEnd(seed: bigint, { epoch, proposer }: BlockHeader): BlockTransaction {
  const transcript = derivedBytes(seed, 'transcript', epoch);
  return {
    kind: 'validator',
    transaction: { kind: 'dkgResult', epoch: BigInt(epoch), author: proposer, transcript },
  };
}

/** What a block's end tells of it. */
export interface BlockTotals {
  /** Gas units of all its transactions. */
  readonly gasUsed: number;
  /** Octas of fees, and the validator who gets its share of them. */
  readonly fees: bigint;
  readonly proposerIndex: number;
  /** BCS of state keys that the block read often. */
  readonly hotKeys: readonly Buffer[];
}

/** The transaction that ends a block, and the BCS of its write set: nothing, or hot keys that are no account state. */
export function blockEnd(
  header: BlockHeader,
  totals: BlockTotals,
): { readonly transaction: BlockTransaction; readonly writeSet: Buffer } {
  const { epoch, id: blockId } = header;
  if (epoch < EPILOGUE_EPOCH) {
    return { transaction: { kind: 'stateCheckpoint', blockId }, writeSet: EMPTY_WRITE_SET };
  }
  const end = {
    blockId,
    endInfo: {
      blockGasLimitReached: false,
      blockOutputLimitReached: false,
      effectiveBlockGasUnits: BigInt(totals.gasUsed),
      approxOutputSize: BigInt(totals.gasUsed * 2),
    },
  };
  const feeDistribution =
    totals.proposerIndex < 0 || totals.fees === 0n
      ? []
      : [{ validatorIndex: BigInt(totals.proposerIndex), octas: totals.fees }];
  let epilogue: BlockEpilogue = { kind: 'v0', ...end };
  if (epoch >= FEE_DISTRIBUTION_EPOCH) epilogue = { kind: 'v1', ...end, feeDistribution };
  if (epoch < HOT_STATE_EPOCH) {
    return { transaction: { kind: 'blockEpilogue', epilogue }, writeSet: EMPTY_WRITE_SET };
  }
  const toMakeHot = totals.hotKeys.map((key) => readStateKey(new BcsReader(key)));
  epilogue = { kind: 'v2', ...end, feeDistribution, toMakeHot };
  return {
    transaction: { kind: 'blockEpilogue', epilogue },
    writeSet: hotWriteSet(totals.hotKeys),
  };
}

const EMPTY_WRITE_SET = Buffer.of(0, 0);

/** A write set V1 without writes and extensions (docs/spec/ledger.md §1.1). */
function hotWriteSet(hotKeys: readonly Buffer[]): Buffer {
  const writer = new BcsWriter();
  writer
    .uleb32(1)
    .length32(0)
    .vector(hotKeys, (to, key) => to.fixed(key))
    .length32(0);
  return writer.toBytes();
}
