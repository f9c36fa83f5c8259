/**
 * Turns the output of a transaction into a version of the ledger: hashes, transaction info, accumulator, and the bytes
 * that the feed serves (docs/spec/ledger.md §2.7, §3.1, §3.3).
 *
 * The info of the last transaction of each block has the root of the state (docs/spec/backup.md §2), as on a real
 * chain, so that snapshots can be verified. The tree of hashes is in memory for that: 150 bytes for each state key.
 */
import { type EncodedVersion, endsEpoch } from '../ingest/chunk-builder.ts';
import { stateWritesOf } from '../ingest/version-parts.ts';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import {
  ACCUMULATOR_PLACEHOLDER,
  accumulatorRoot,
  MerkleAccumulator,
} from '../move/crypto/accumulator.ts';
import type { StateTree } from '../move/crypto/state-tree.ts';
import { auxiliaryInfoHash } from '../move/transactions/auxiliary-info.ts';
import { contractEventHash } from '../move/transactions/event.ts';
import {
  BLOCK_ENDS,
  TRANSACTION_KINDS,
  transactionHash,
} from '../move/transactions/transaction.ts';
import {
  type ExecutionStatus,
  TransactionInfo,
  transactionInfoHash,
} from '../move/transactions/transaction-info.ts';
import { writeSetHash } from '../move/transactions/write-set.ts';
import { stateKeyHash } from '../move/types/state-key.ts';
import { stateValueHash } from '../move/types/state-value.ts';
import type { StateWrite } from '../store/write/chunk.ts';

/** A transaction with its output. */
export interface TransactionRecord {
  /** BCS, like the next two. */
  readonly transaction: Buffer;
  readonly events: readonly Buffer[];
  readonly writeSet: Buffer;
  readonly gasUsed: number;
  readonly status: ExecutionStatus;
  /** Position in its block; absent in epochs that did not record it. */
  readonly indexInBlock: number | undefined;
}

const BLOCK_END_NUMBERS = BLOCK_ENDS.map((kind) => TRANSACTION_KINDS.indexOf(kind));

export class LedgerRecorder {
  readonly #accumulator: MerkleAccumulator;
  readonly #keepsTransactions: boolean;
  readonly #state: StateTree;
  /** The last write to each key since the tree was updated. */
  readonly #written = new Map<string, StateWrite>();
  readonly #writer = new BcsWriter(8192);
  /** Hashes of auxiliary infos by index: blocks are short, so indices recur. */
  readonly #auxiliaryHashes: Buffer[] = [];

  /**
   * Continues after `nextVersion` transactions with these full subtrees and this state. Without `keepsTransactions`,
   * versions lack the feed's bytes, which saves computing the accumulator's root and a copy.
   */
  constructor(
    nextVersion: bigint,
    frozenRoots: readonly Buffer[],
    state: StateTree,
    keepsTransactions: boolean,
  ) {
    this.#state = state;
    this.#keepsTransactions = keepsTransactions;
    this.#accumulator = new MerkleAccumulator('TransactionAccumulator', nextVersion, frozenRoots);
  }

  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  /** Roots of the accumulator's full subtrees, largest first. */
  get frozenRoots(): readonly Buffer[] {
    return this.#accumulator.frozenSubtreeRoots;
  }

  record(record: TransactionRecord): EncodedVersion {
    const version = this.nextVersion;
    const { events, transaction, writeSet } = record;
    for (const write of stateWritesOf(writeSet)) {
      this.#written.set(write.key.toString('latin1'), write);
    }
    const endsBlock = BLOCK_END_NUMBERS.includes(transaction[0]!) || endsEpoch(version, events);
    const info = this.#info(record, endsBlock ? this.#stateRoot() : undefined);
    this.#accumulator.append(transactionInfoHash(info));
    return {
      info,
      events: record.events,
      writeSet: record.writeSet,
      transaction: this.#keepsTransactions ? this.#onChainData(version, record, info) : undefined,
    };
  }

  #stateRoot(): Buffer {
    for (const { key, value, metadata } of this.#written.values()) {
      const bytes = value as Buffer | undefined;
      this.#state.set(stateKeyHash(key), bytes && stateValueHash({ bytes, metadata }));
    }
    this.#written.clear();
    return this.#state.rootHash();
  }

  #info(record: TransactionRecord, stateCheckpointHash: Buffer | undefined): Buffer {
    const writer = this.#writer;
    writer.reset();
    TransactionInfo.write(writer, {
      kind: 'v0',
      gasUsed: BigInt(record.gasUsed),
      status: record.status,
      transactionHash: transactionHash(record.transaction),
      eventRootHash: eventRoot(record.events),
      stateChangeHash: writeSetHash(record.writeSet),
      stateCheckpointHash,
      auxiliaryInfoHash:
        record.indexInBlock === undefined ? undefined : this.#auxiliaryHash(record.indexInBlock),
    });
    return writer.toBytes();
  }

  #auxiliaryHash(transactionIndex: number): Buffer {
    this.#auxiliaryHashes[transactionIndex] ??= auxiliaryInfoHash(transactionIndex);
    return this.#auxiliaryHashes[transactionIndex];
  }

  #onChainData(version: bigint, record: TransactionRecord, info: Buffer): Buffer {
    const writer = this.#writer;
    writer.reset();
    writer.u64(version).fixed(record.transaction).fixed(info);
    writer.length32(record.events.length);
    for (const event of record.events) writer.fixed(event);
    return writer.fixed(this.#accumulator.rootHash()).fixed(record.writeSet).toBytes();
  }
}

/** Root over the events of a transaction (docs/spec/ledger.md §2.7 step 3). */
function eventRoot(events: readonly Buffer[]): Buffer {
  if (events.length === 0) return ACCUMULATOR_PLACEHOLDER;
  return accumulatorRoot('EventAccumulator', events.map(contractEventHash));
}
