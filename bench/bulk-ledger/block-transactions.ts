/**
 * Unsigned transactions: those that begin a block, end it, or end an epoch. Their variants change as the ledger grows,
 * as they did on real chains, so that one ledger contains all of them (docs/spec/ledger.md §2.4–2.6).
 */

import { type BcsWriter, encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { TRANSACTION_KINDS, type Transaction } from '../../src/move/transactions/transaction.ts';
import type { ValueWriter } from '../../src/sample/calls.ts';
import { derivedBytes } from '../../src/sample/random.ts';
import type { BlockHeader } from './model/chain.ts';

/** First epochs with the newer variants. */
const EXTENDED_METADATA_EPOCH = 3;
const EPILOGUE_EPOCH = 3;
const FEE_DISTRIBUTION_EPOCH = 4;
const HOT_STATE_EPOCH = 5;
const DECRYPTION_KEY_EPOCH = 6;
/** From this epoch on, infos contain the position of a transaction in its block. */
const AUXILIARY_INFO_EPOCH = 3;

export function hasAuxiliaryInfo(epoch: number): boolean {
  return epoch >= AUXILIARY_INFO_EPOCH;
}

/** Whether a validator transaction ends the epoch: it ends every second one, once blocks have randomness. */
export function endsByValidators(epoch: number): boolean {
  return epoch >= EXTENDED_METADATA_EPOCH && epoch % 2 === 0;
}

/** The BCS of a transaction, with its leading variant. */
function transaction(kind: Transaction['kind'], write: ValueWriter): Buffer {
  return encodeBcs((writer) => write(writer.uleb32(TRANSACTION_KINDS.indexOf(kind))));
}

export function blockStart(seed: bigint, header: BlockHeader): Buffer {
  const { epoch, round, height } = header;
  if (epoch < EXTENDED_METADATA_EPOCH) {
    return transaction('blockMetadata', (writer) => writeMetadata(writer, header));
  }
  const writeRound = (writer: BcsWriter, bytes: Buffer): unknown =>
    writer.exactU64(epoch).exactU64(round).bytes(bytes);
  return transaction('blockMetadataExt', (writer) => {
    const hasKey = epoch >= DECRYPTION_KEY_EPOCH;
    // Variants v1 and v2.
    writeMetadata(writer.uleb32(hasKey ? 2 : 1), header);
    writer.option(derivedBytes(seed, 'randomness', epoch, round), writeRound);
    if (!hasKey) return;
    const key = derivedBytes(seed, 'decryption key', epoch, round);
    writer.option(height % 2 === 0 ? key : undefined, writeRound);
  });
}

function writeMetadata(writer: BcsWriter, header: BlockHeader): void {
  writer.fixed(header.id).exactU64(header.epoch).exactU64(header.round).address(header.proposer);
  writer.bytes(header.votes).vector(header.failedProposers, (to, index) => to.u32(index));
  writer.exactU64(header.timestamp);
}

/** The validators' transaction that ends an epoch: the result of their key generation. */
export function epochEnd(seed: bigint, { epoch, proposer }: BlockHeader): Buffer {
  const transcript = derivedBytes(seed, 'transcript', epoch);
  return transaction('validator', (writer) =>
    writer.uleb32(0).exactU64(epoch).address(proposer).bytes(transcript),
  );
}

export interface BlockTotals {
  /** Total gas units of the block's transactions. */
  readonly gasUsed: number;
  /** Fees in octas, and the validator that receives its share of them. */
  readonly fees: bigint;
  readonly proposerIndex: number;
  /** BCS of state keys that the block read often. */
  readonly hotKeys: readonly Buffer[];
}

export function blockEnd({ epoch, id }: BlockHeader, totals: BlockTotals): Buffer {
  if (epoch < EPILOGUE_EPOCH) return transaction('stateCheckpoint', (writer) => writer.fixed(id));
  const { gasUsed, fees, proposerIndex, hotKeys } = totals;
  const hasFees = epoch >= FEE_DISTRIBUTION_EPOCH;
  const hasHotKeys = epoch >= HOT_STATE_EPOCH;
  return transaction('blockEpilogue', (writer) => {
    // Variants v0 to v2; the block's limits on gas and output were not reached.
    writer.uleb32(Number(hasFees) + Number(hasHotKeys)).fixed(id);
    writer.uleb32(0).bool(false).bool(false);
    writer.exactU64(gasUsed).exactU64(2 * gasUsed);
    if (hasFees) {
      const shares = proposerIndex < 0 || fees === 0n ? [] : [fees];
      writer.uleb32(0).vector(shares, (to, share) => to.exactU64(proposerIndex).u64(share));
    }
    if (hasHotKeys) writer.vector(hotKeys, (to, key) => to.fixed(key));
  });
}

/** The write set of the transaction that ends a block: no account state, but hot keys (docs/spec/ledger.md §1.1). */
export function blockEndWriteSet({ epoch }: BlockHeader, { hotKeys }: BlockTotals): Buffer {
  // A V0 without writes.
  if (epoch < HOT_STATE_EPOCH) return Buffer.of(0, 0);
  // A V1 without writes and extensions.
  return encodeBcs((writer) =>
    writer
      .uleb32(1)
      .length32(0)
      .vector(hotKeys, (to, key) => to.fixed(key))
      .length32(0),
  );
}
