/**
 * The transactions and blocks of a fork. Recorded rows are read like those of any ledger; others are first requested
 * from the upstream (docs/fork.md). Reads reject with LedgerError as ForkSource does.
 */

import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { type EncodedOnChainData, readOnChainData } from '../../move/transactions/transaction.ts';
import type { Address } from '../../move/types/address.ts';
import type { Block } from '../../store/columns/block-column.ts';
import type { Head } from '../../store/columns/head.ts';
import { StoreView } from '../../store/read/view.ts';
import { LedgerError } from '../ledger-error.ts';
import type { HistorySource } from '../source.ts';
import { ForkSender } from './fork-sender.ts';
import {
  checkTransaction,
  decodeAnswer,
  fetchBlock,
  fetchBlockStart,
  fetchIfPresent,
  fetchTransactions,
  pathOf,
  putTransaction,
  TRANSACTIONS_PER_REQUEST,
} from './history-answers.ts';
import {
  type Fork,
  putAnswer,
  type RecordedQuery,
  recordedAnswer,
  recordedOrFetched,
} from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

const COMMITTED_VARIANT = 0;

export class ForkHistory implements HistorySource {
  readonly #fork: Fork;
  readonly #head: Head;
  readonly #rows: StoreView;

  constructor(fork: Fork, head: Head) {
    this.#fork = fork;
    this.#head = head;
    this.#rows = new StoreView(fork.store, head);
  }

  typedEvents(): never {
    const message = 'A fork has no index of events by type: ask the node that it was made from';
    throw new LedgerError('transactions_not_kept', message);
  }

  emitted(): undefined {
    return undefined;
  }

  async blockOfVersion(version: bigint): Promise<Block | undefined> {
    const known = await this.#rows.blockOfVersion(version);
    const last = known && (await this.#recordedEnd(known.height));
    if (last !== undefined && version <= last) return known;
    return await this.#rows.blockByHeight(await this.#fetchBlock('version', version));
  }

  blocksOfVersions(versions: readonly bigint[]): MaybePromise<readonly (Block | undefined)[]> {
    return mapInOrder(versions, (version) => this.blockOfVersion(version));
  }

  async blockByHeight(height: bigint): Promise<Block | undefined> {
    const known = await this.#rows.blockByHeight(height);
    if (known !== undefined && (await this.#recordedEnd(height)) !== undefined) return known;
    if (height > this.#head.blockHeight) return undefined;
    return await this.#rows.blockByHeight(await this.#fetchBlock('height', height));
  }

  async lastVersionOfBlock(block: Block): Promise<bigint | undefined> {
    const last = await this.#recordedEnd(block.height);
    return last === undefined || last > this.#head.version ? this.#head.version : last;
  }

  async #recordedEnd(height: bigint): Promise<bigint | undefined> {
    return (await recordedAnswer(this.#fork, endOfBlock(height)))?.answer;
  }

  async #fetchBlock(by: 'height' | 'version', number: bigint): Promise<bigint> {
    const description = `the block of ${by} ${number}`;
    return await this.#fork.source.record(description, async (client, batch) => {
      const reply = await fetchBlock(client, by, number);
      const { height, lastVersion } = reply;
      await fetchBlockStart(client, batch, reply);
      putAnswer(batch, endOfBlock(height), lastVersion);
      return height;
    });
  }

  async transactionInfos(first: bigint, limit: number): Promise<readonly Buffer[]> {
    const rows = this.#rows;
    return await this.#readOrFetch(first, limit, (from, most) => rows.transactionInfos(from, most));
  }

  async transactions(first: bigint, limit: number): Promise<readonly Buffer[]> {
    const rows = this.#rows;
    return await this.#readOrFetch(first, limit, (from, most) => rows.transactions(from, most));
  }

  transaction(version: bigint): MaybePromise<Buffer | undefined> {
    return andThen(this.#rows.transaction(version), (known) => {
      if (known !== undefined) return known;
      return andThen(this.#fetchFrom(version, 1), () => this.#rows.transaction(version));
    });
  }

  /** A fork has no such rows. */
  writtenKeys(): undefined {
    return undefined;
  }

  /** Rows from a version on; missing ones are requested from the upstream. */
  async #readOrFetch(
    first: bigint,
    limit: number,
    read: (first: bigint, limit: number) => Promise<readonly Buffer[]>,
  ): Promise<readonly Buffer[]> {
    const toHead = this.#head.version - first + 1n;
    const count = toHead < BigInt(limit) ? Math.max(0, Number(toHead)) : limit;
    const rows: Buffer[] = [];
    while (rows.length < count) {
      const from = first + BigInt(rows.length);
      const found = await read(from, count - rows.length);
      rows.push(...found);
      if (found.length === 0) {
        await this.#fetchFrom(from, Math.min(count - rows.length, TRANSACTIONS_PER_REQUEST));
      }
    }
    return rows;
  }

  async #fetchFrom(first: bigint, limit: number): Promise<void> {
    const description =
      limit === 1
        ? `the transaction of version ${first}`
        : `${limit} transactions from version ${first} on`;
    await this.#fork.source.record(description, async (client, batch) => {
      for (const item of await fetchTransactions(client, first, limit)) putTransaction(batch, item);
    });
  }

  versionOfHash(hash: Uint8Array): MaybePromise<bigint | undefined> {
    return andThen(this.#rows.versionOfHash(hash), (known) => known ?? this.#fetchVersion(hash));
  }

  #fetchVersion(hash: Uint8Array): MaybePromise<bigint | undefined> {
    const description = `the transaction with hash ${formatHex(hash)}`;
    const query: RecordedQuery<bigint | undefined> = {
      description,
      name: ['transaction by hash', hash],
      codec: {
        write: (writer, version) => writer.option(version, (to, number) => to.u64(number)),
        read: (reader) => reader.option((inner) => inner.u64()),
      },
    };
    return recordedOrFetched(this.#fork, query, async (client, batch) => {
      const path = pathOf('transactions', 'by_hash', formatHex(hash));
      const request = { path, absent: 'transaction_not_found' };
      const item = (await fetchIfPresent(client, description, request, readCommitted))?.answer;
      if (item === undefined || item.data.version > this.#head.version) return undefined;
      decodeAnswer(description, () => checkTransaction(item, item.data.version));
      if (!item.data.info.transactionHash.equals(hash))
        throw badAnswer(description, 'another hash');
      putTransaction(batch, item);
      return item.data.version;
    });
  }

  sender(address: Address): ForkSender {
    return new ForkSender(this.#fork, this.#head.version, address);
  }
}

function endOfBlock(height: bigint): RecordedQuery<bigint> {
  return {
    description: `the end of block ${height}`,
    name: ['end of block', height],
    codec: { write: (writer, version) => writer.u64(version), read: (reader) => reader.u64() },
  };
}

/** Reads a transaction that was requested by hash; `undefined` if it is pending. */
function readCommitted(reader: BcsReader): EncodedOnChainData | undefined {
  const isCommitted = reader.variant(2, 'TransactionData') === COMMITTED_VARIANT;
  if (isCommitted) return readOnChainData(reader);
  reader.fixed(reader.remaining);
  return undefined;
}
