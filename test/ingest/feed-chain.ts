/** Chains of random transactions of every wire form, with matching hashes: valid contents of a feed. */
import fc from 'fast-check';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { accumulatorRoot, MerkleAccumulator } from '../../src/move/crypto/accumulator.ts';
import { ContractEvent, contractEventHash } from '../../src/move/transactions/event.ts';
import {
  Transaction,
  TransactionOnChainData,
  transactionHash,
} from '../../src/move/transactions/transaction.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../src/move/transactions/transaction-info.ts';
import { WriteSet, writeSetHash } from '../../src/move/transactions/write-set.ts';
import { onChainData } from '../move/transactions/wire-arbitraries.ts';

/** Pages in which every byte matches its hashes. */
export interface MadePage {
  readonly firstVersion: bigint;
  /** Frozen roots of the accumulator before the page. */
  readonly frozenRoots: readonly Buffer[];
  readonly items: readonly Buffer[];
}

/**
 * Random items as a chain that continues after `firstVersion` arbitrary leaves.
 * @param change changes what the items contain
 */
export function randomChain(
  seed: number,
  count: number,
  firstVersion: bigint,
  change = (data: TransactionOnChainData): TransactionOnChainData => data,
): MadePage {
  const accumulator = new MerkleAccumulator('TransactionAccumulator');
  while (accumulator.leafCount < firstVersion) {
    accumulator.append(transactionInfoHash(Buffer.from(String(accumulator.leafCount))));
  }
  const frozenRoots = accumulator.frozenSubtreeRoots;
  const items = fc
    .sample(onChainData, { seed, numRuns: count })
    .map((data, index) => fitting(change(data), firstVersion + BigInt(index), accumulator));
  return { firstVersion, frozenRoots, items };
}

/** The item with all its hashes recomputed. */
function fitting(
  data: TransactionOnChainData,
  version: bigint,
  accumulator: MerkleAccumulator,
): Buffer {
  const changes = WriteSet.encode(data.changes);
  const leaves = data.events.map((event) => contractEventHash(ContractEvent.encode(event)));
  const info = {
    ...data.info,
    transactionHash: transactionHash(Transaction.encode(submitted(data.transaction))),
    eventRootHash: accumulatorRoot('EventAccumulator', leaves),
    stateChangeHash: writeSetHash(changes),
  };
  accumulator.append(transactionInfoHash(TransactionInfo.encode(info)));
  const accumulatorRootHash = accumulator.rootHash();
  return TransactionOnChainData.encode({ ...data, version, info, accumulatorRootHash });
}

/** A transaction before a node tried to decrypt its payload, which is what its hash covers. */
export function submitted(transaction: Transaction): Transaction {
  if (transaction.kind !== 'user') return transaction;
  const { raw } = transaction.transaction;
  if (raw.payload.kind !== 'encrypted') return transaction;
  const { content } = raw.payload.payload;
  const payload = { ...raw.payload, payload: { state: 'encrypted', content } } as const;
  return { ...transaction, transaction: { ...transaction.transaction, raw: { ...raw, payload } } };
}

/** A page of items, as it is sent. */
export function pageOf(items: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item))));
}
