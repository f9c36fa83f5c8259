/**
 * Turns what a transaction did into a version of the ledger: hashes, transaction info, accumulator, and the bytes that
 * the feed serves (docs/spec/ledger.md §2.7, §3.1, §3.3).
 *
 * `state_checkpoint_hash` is there for genesis only. A root over the whole state at every block's end would need the
 * whole state in memory and dozens of hashes per transaction. To keep memory constant and generation fast, the field
 * is absent, which every reader must accept.
 */
import type { EncodedVersion } from '../../ingest/chunk-builder.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import {
  ACCUMULATOR_PLACEHOLDER,
  accumulatorRoot,
  MerkleAccumulator,
} from '../../move/crypto/accumulator.ts';
import { auxiliaryInfoHash } from '../../move/transactions/auxiliary-info.ts';
import { contractEventHash } from '../../move/transactions/event.ts';
import { transactionHash } from '../../move/transactions/transaction.ts';
import {
  type ExecutionStatus,
  transactionInfoHash,
  writeTransactionInfo,
} from '../../move/transactions/transaction-info.ts';
import { writeSetHash } from '../../move/transactions/write-set.ts';

/** One transaction with everything that came of it. */
export interface Outcome {
  /** BCS of the Transaction. */
  readonly transaction: Buffer;
  /** BCS of each ContractEvent. */
  readonly events: readonly Buffer[];
  /** BCS of the WriteSet. */
  readonly writeSet: Buffer;
  /** Gas units. */
  readonly gasUsed: number;
  readonly status: ExecutionStatus;
  /** Position in its block; absent in epochs that did not record it. */
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

  get nextVersion(): bigint {
    return this.#accumulator.leafCount;
  }

  /** Roots of the accumulator's full subtrees, largest first. */
  get frozenRoots(): readonly Buffer[] {
    return this.#accumulator.frozenSubtreeRoots;
  }

  /** Adds a version to the ledger. */
  record(outcome: Outcome): EncodedVersion {
    const version = this.nextVersion;
    const info = this.#info(outcome);
    this.#accumulator.append(transactionInfoHash(info));
    return {
      info,
      events: outcome.events,
      writeSet: outcome.writeSet,
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
      stateChangeHash: writeSetHash(outcome.writeSet),
      stateCheckpointHash: undefined,
      auxiliaryInfoHash:
        outcome.indexInBlock === undefined ? undefined : this.#auxiliaryHash(outcome.indexInBlock),
    });
    return writer.toBytes();
  }

  #auxiliaryHash(transactionIndex: number): Buffer {
    this.#auxiliaryHashes[transactionIndex] ??= auxiliaryInfoHash(transactionIndex);
    return this.#auxiliaryHashes[transactionIndex];
  }

  #onChainData(version: bigint, outcome: Outcome, info: Buffer): Buffer {
    const writer = this.#writer;
    writer.reset();
    writer.u64(version).fixed(outcome.transaction).fixed(info);
    writer.length32(outcome.events.length);
    for (const event of outcome.events) writer.fixed(event);
    return writer.fixed(this.#accumulator.rootHash()).fixed(outcome.writeSet).toBytes();
  }
}

/** Root over the events of a transaction (docs/spec/ledger.md §2.7 step 3). */
function eventRoot(events: readonly Buffer[]): Buffer {
  if (events.length === 0) return ACCUMULATOR_PLACEHOLDER;
  return accumulatorRoot('EventAccumulator', events.map(contractEventHash));
}
