/**
 * Turns what a transaction did into a version of the ledger: hashes, transaction info, accumulator, and the bytes
 * that the feed hands out (spec/ledger.md §2.7, §3.1, §3.3).
 *
 * `state_checkpoint_hash` is there for genesis only. A root over the whole state at every block's end would need the
 * whole state in memory and dozens of hashes a transaction: the sample stays flat and fast instead, and leaves the
 * field absent, which every reader must be able to take.
 */
import {
  ACCUMULATOR_PLACEHOLDER,
  accumulatorRoot,
  MerkleAccumulator,
} from '../../move/accumulator.ts';
import { BcsReader } from '../../move/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs-writer.ts';
import { contractEventHash } from '../../move/event.ts';
import { readStateValueMetadata } from '../../move/state-value.ts';
import { transactionHash } from '../../move/transaction.ts';
import {
  auxiliaryInfoHash,
  type ExecutionStatus,
  transactionInfoHash,
  writeTransactionInfo,
} from '../../move/transaction-info.ts';
import { writeSetHash } from '../../move/write-set.ts';
import type {
  ChunkModuleEvent,
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../../store/chunk.ts';
import { type EncodedEvent, type EncodedWriteSet, SPAN_FIELDS } from './effects.ts';

/** First byte of the BCS of a table item's key, and of its physical form. */
const TABLE_ITEM = 1;
const TABLE_ITEM_KEY_START = 1 + 32;
/** First byte of the BCS of a module event. */
const MODULE_EVENT = 1;
/** Variant, creation number, address, sequence number. */
const STREAM_EVENT_HEADER_BYTES = 1 + 8 + 32 + 8;
/** Variant of WriteOp. */
const FIRST_OPERATION_WITH_METADATA = 3;

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
  readonly indexInBlock: number | undefined;
}

export class LedgerRecorder {
  readonly #accumulator: MerkleAccumulator;
  readonly #keepsTransactions: boolean;
  readonly #writer = new BcsWriter(8192);
  /** Hashes of auxiliary infos by their index: blocks are short and indices come again. */
  readonly #auxiliaryHashes: Buffer[] = [];

  /**
   * Goes on after `nextVersion` transactions with these full subtrees. Without `keepsTransactions` versions come
   * without the feed's bytes, which saves the accumulator's root and a copy.
   */
  constructor(nextVersion: bigint, frozenRoots: readonly Buffer[], keepsTransactions: boolean) {
    this.#keepsTransactions = keepsTransactions;
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
      writes: stateWrites(outcome.writeSet),
      events: outcome.events.map(chunkEvent),
      info,
      transaction: this.#keepsTransactions ? this.#onChainData(version, outcome, info) : undefined,
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
    this.#auxiliaryHashes[transactionIndex] ??= auxiliaryInfoHash({
      kind: 'v1',
      transactionIndex,
    })!;
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

/** The store's form of an event, views on its bytes (layouts: spec/ledger.md §1.3). */
function chunkEvent({ bytes, typeTagBytes }: EncodedEvent): ChunkStreamEvent | ChunkModuleEvent {
  const isModuleEvent = bytes[0] === MODULE_EVENT;
  const tagEnd = (isModuleEvent ? 1 : STREAM_EVENT_HEADER_BYTES) + typeTagBytes;
  const typeTag = bytes.subarray(tagEnd - typeTagBytes, tagEnd);
  const data = new BcsReader(bytes, tagEnd).bytes();
  if (isModuleEvent) return { kind: 'module', typeTag, data };
  const reader = new BcsReader(bytes, 1);
  const creationNumber = reader.u64();
  const address = reader.address();
  return {
    kind: 'stream',
    address,
    creationNumber,
    sequenceNumber: reader.u64(),
    typeTag,
    data,
  };
}

/** The store's form of a write set, views on its bytes. */
function stateWrites({ bytes, spans }: EncodedWriteSet): StateWrite[] {
  const writes: StateWrite[] = [];
  for (let at = 0; at < spans.length; at += SPAN_FIELDS) {
    const keyEnd = spans[at + 1]!;
    const valueStart = spans[at + 2]!;
    const valueEnd = spans[at + 3]!;
    const hasMetadata = bytes[keyEnd]! >= FIRST_OPERATION_WITH_METADATA;
    writes.push({
      key: physicalKey(bytes.subarray(spans[at], keyEnd)),
      value: valueStart === 0 ? undefined : bytes.subarray(valueStart, valueEnd),
      metadata: hasMetadata ? readStateValueMetadata(new BcsReader(bytes, valueEnd)) : undefined,
    });
  }
  return writes;
}

/**
 * The physical form of a state key from its BCS: the same bytes under an account, and a table item's key without its
 * length (spec/ledger.md §1.2).
 */
function physicalKey(key: Buffer): Buffer {
  if (key[0] !== TABLE_ITEM) return key;
  const item = new BcsReader(key, TABLE_ITEM_KEY_START).bytes();
  return Buffer.concat([key.subarray(0, TABLE_ITEM_KEY_START), item]);
}
