/** Decodes the node's BCS responses about events and transactions, as a client does (docs/spec/ledger.md §3.1). */
import { type BcsReader, decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { ContractEvent } from '../../../src/move/transactions/event.ts';
import {
  type EncodedOnChainData,
  readOnChainData,
  TransactionOnChainData,
} from '../../../src/move/transactions/transaction.ts';
import { SignedTransaction } from '../../../src/move/transactions/user-transaction.ts';

/** An event with the version of its transaction. */
export interface VersionedEvent {
  readonly version: bigint;
  readonly event: ContractEvent;
}

/** Reads the BCS response of the events operation. @throws BcsError */
export function readVersionedEvents(reader: BcsReader): VersionedEvent[] {
  return reader.vector(8 + ContractEvent.minBytes, (inner) => {
    const version = inner.u64();
    return { version, event: ContractEvent.read(inner) };
  });
}

/** The response for one version or hash: committed or pending. */
export type TransactionData =
  | { readonly kind: 'onChain'; readonly item: EncodedOnChainData }
  | { readonly kind: 'pending'; readonly transaction: SignedTransaction };

/** A whole page of the feed. @throws BcsError */
export function decodeOnChainDataPage(page: Uint8Array): EncodedOnChainData[] {
  return decodeBcs(page, (reader) =>
    reader.vector(TransactionOnChainData.minBytes, readOnChainData),
  );
}

/** Reads the response for one version or hash. @throws BcsError */
export function readTransactionData(reader: BcsReader): TransactionData {
  if (reader.variant(2, 'TransactionData') === 0) {
    return { kind: 'onChain', item: readOnChainData(reader) };
  }
  return { kind: 'pending', transaction: SignedTransaction.read(reader) };
}
