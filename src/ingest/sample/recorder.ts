/**
 * Turns what a transaction did into a version of the ledger: hashes, transaction info, accumulator, and the bytes
 * that the feed hands out (spec/ledger.md §2.7, §3.1, §3.3).
 *
 * `state_checkpoint_hash` is there for genesis only. A root over the whole state at every block's end would need the
 * whole state in memory and dozens of hashes a transaction: the sample stays flat and fast instead, and leaves the
 * field absent, which every reader must be able to take.
 */
import { ACCUMULATOR_PLACEHOLDER, accumulatorRoot, MerkleAccumulator } from '../../move/accumulator.ts';
import { addressFromBytes } from '../../move/address.ts';
import { BcsWriter } from '../../move/bcs-writer.ts';
import { contractEventHash } from '../../move/event.ts';
import { transactionHash } from '../../move/transaction.ts';
import {
  auxiliaryInfoHash,
  type ExecutionStatus,
  transactionInfoHash,
  writeTransactionInfo,
} from '../../move/transaction-info.ts';
import { writeSetHash } from '../../move/write-set.ts';
import type { ChunkModuleEvent, ChunkStreamEvent, ChunkTransaction, StateWrite } from '../../store/chunk.ts';
import type { EncodedEvent, EncodedWrite, EncodedWriteSet } from './effects.ts';

/** First byte of the BCS of a table item's key, and of its physical form. */
const TABLE_ITEM = 1;

/** One transaction with everything that came of it. */
export interface Outcome {
  /** BCS of the Transaction. */
  readonly transaction: Buffer;
  readonly events: readonly EncodedEvent[];
  readonly writeSet: EncodedWriteSet;
  /** Gas units. */
  readonly gasUsed: number;
  readonly status: ExecutionStatus;
  /** Place in its block; absent while the ledger did not keep it. */
  readonly indexInBlock?: number | undefined;
}

export class LedgerRecorder {
  readonly #accumulator: MerkleAccumulator;
  readonly #writer = new BcsWriter(8192);
  /** Hashes of auxiliary infos by their index: blocks are short and indices come again. */
  readonly #auxiliaryHashes: Buffer[] = [];

  /** Goes on after `nextVersion` transactions with these full subtrees. */
  constructor(nextVersion: bigint, frozenRoots: readonly Buffer[]) {
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', nextVersion, frozenRoots);
  }

  /** The version that comes next. */
  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  /** Roots of the accumulator's full subtrees, largest first. */
  get frozenRoots(): readonly Buffer[] {
    return this.#accumulator.frozenSubtreeRoots;
  }

  /** Root of the accumulator, 32 bytes. */
  rootHash(): Buffer {
    return this.#accumulator.rootHash();
  }

  /** Adds a version to the ledger. */
  record(outcome: Outcome): ChunkTransaction {
    const version = this.nextVersion;
    const info = this.#info(outcome);
    this.#accumulator.append(transactionInfoHash(info));
    return {
      writes: outcome.writeSet.writes.map(stateWrite),
      events: outcome.events.map(chunkEvent),
      info,
      transaction: this.#onChainData(version, outcome, info),
    };
  }

  #info(outcome: Outcome): Buffer {
    const writer = this.#writer;
    writer.reset();
    writeTransactionInfo(writer, {
      kind: 'v0',
      gasUsed: BigInt(outcome.gasUsed),
      status: outcome.status,
      transactionHash: transactionHash(outcome.transaction),
      eventRootHash: eventRoot(outcome.events),
      stateChangeHash: writeSetHash(outcome.writeSet.bytes),
      stateCheckpointHash: undefined,
      auxiliaryInfoHash:
        outcome.indexInBlock === undefined ? undefined : this.#auxiliaryHash(outcome.indexInBlock),
    });
    return writer.toBytes();
  }

  #auxiliaryHash(transactionIndex: number): Buffer {
    this.#auxiliaryHashes[transactionIndex] ??= auxiliaryInfoHash({ kind: 'v1', transactionIndex })!;
    return this.#auxiliaryHashes[transactionIndex];
  }

  #onChainData(version: bigint, outcome: Outcome, info: Buffer): Buffer {
    const writer = this.#writer;
    writer.reset();
    writer.u64(version).fixed(outcome.transaction).fixed(info);
    writer.length32(outcome.events.length);
    for (const event of outcome.events) writer.fixed(event.bytes);
    return writer.fixed(this.rootHash()).fixed(outcome.writeSet.bytes).toBytes();
  }
}

/** Root over the events of a transaction (spec/ledger.md §2.7 step 3). */
function eventRoot(events: readonly EncodedEvent[]): Buffer {
  if (events.length === 0) return ACCUMULATOR_PLACEHOLDER;
  return accumulatorRoot(
    'EventAccumulator',
    events.map((event) => contractEventHash(event.bytes)),
  );
}

function chunkEvent({ position, typeTag, data }: EncodedEvent): ChunkStreamEvent | ChunkModuleEvent {
  if (position === undefined) return { kind: 'module', typeTag, data };
  return {
    kind: 'stream',
    address: addressFromBytes(position.address),
    creationNumber: BigInt(position.creationNumber),
    sequenceNumber: BigInt(position.sequenceNumber),
    typeTag,
    data,
  };
}

function stateWrite({ key, value, metadata }: EncodedWrite): StateWrite {
  return { key: physicalKey(key), value, metadata };
}

/**
 * The physical form of a state key from its BCS: the same bytes under an account, and a table item's key without its
 * length (spec/ledger.md §1.2).
 */
export function physicalKey(key: Buffer): Buffer {
  if (key[0] !== TABLE_ITEM) return key;
  const item = key.subarray(33);
  // Keys of the sample's tables are short, or of two length bytes at most.
  const lengthBytes = item[0]! < 0x80 ? 1 : 2;
  return Buffer.concat([key.subarray(0, 33), item.subarray(lengthBytes)]);
}
