/** The transactions that an account has sent: recorded by a fork, or requested from its upstream. */

import { type BcsReader, U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import type { ReplayProtector } from '../../move/transactions/transaction-origin.ts';
import { type Address, addressBytes, formatAddress } from '../../move/types/address.ts';
import type { Batch } from '../../store/batch.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import type { SenderTransaction } from '../../store/columns/transaction-index-column.ts';
import type { TransactionSummary, VersionBounds } from '../../store/read/transaction-lookup.ts';
import type { HistorySource } from '../source.ts';
import type { ForkClient } from './fork-client.ts';
import {
  checkTransaction,
  decodeAnswer,
  fetchDecoded,
  fetchIfPresent,
  pathOf,
  putTransaction,
  readTransactions,
  TRANSACTIONS_PER_REQUEST,
} from './history-answers.ts';
import { type AnswerCodec, type Fork, type ListPage, RecordedList } from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

/** Variant, sender, version, hash, variant and value of the replay protector. */
const MIN_SUMMARY_BYTES = 1 + 32 + 8 + 32 + 1 + 8;
const REPLAY_PROTECTORS: readonly ReplayProtector['kind'][] = ['nonce', 'sequenceNumber'];

const SUMMARY: AnswerCodec<TransactionSummary> = {
  write: (writer, { version, hash, replayProtector: { kind, value } }) => {
    writeHash(writer.u64(version), hash);
    writer.uleb32(REPLAY_PROTECTORS.indexOf(kind)).u64(value);
  },
  read: (reader) => {
    const version = reader.u64();
    const hash = Buffer.from(readHash(reader));
    const kind = REPLAY_PROTECTORS[reader.variant(REPLAY_PROTECTORS.length, 'ReplayProtector')]!;
    return { version, hash, replayProtector: { kind, value: reader.u64() } };
  },
};

export class ForkSender implements ReturnType<HistorySource['sender']> {
  readonly #fork: Fork;
  readonly #address: Address;
  readonly #version: bigint;

  constructor(fork: Fork, version: bigint, address: Address) {
    this.#fork = fork;
    this.#address = address;
    this.#version = version;
  }

  async bySequenceNumber(first: bigint, _: bigint, limit: number): Promise<SenderTransaction[]> {
    const list = new RecordedList<SenderTransaction>(this.#fork, {
      description: `transactions by sequence number of ${formatAddress(this.#address)}`,
      name: ['transactions by sequence number', addressBytes(this.#address)],
      codec: {
        write: (writer, { version, replayProtector: { value } }) => writer.u64(version).u64(value),
        read: (reader) => sentAt(reader.u64(), reader.u64()),
      },
      orderOf: ({ replayProtector }) => encodeU64Key(replayProtector.value),
      fetchPage: (client, batch, from, most) =>
        this.#fetchFrom(client, batch, decodeU64Key(from), most),
    });
    return [...(await list.all(encodeU64Key(first), limit))];
  }

  async #fetchFrom(
    client: ForkClient,
    batch: Batch,
    start: bigint,
    limit: number,
  ): Promise<ListPage<SenderTransaction>> {
    const account = formatAddress(this.#address);
    const what = `transactions from sequence number ${start} on of ${account}`;
    const pageLimit = Math.min(limit, TRANSACTIONS_PER_REQUEST);
    const path = pathOf('accounts', account, 'transactions');
    const query = { start: `${start}`, limit: `${pageLimit}` };
    const request = { path, query, absent: 'account_not_found' };
    const found = (await fetchIfPresent(client, what, request, readTransactions))?.answer ?? [];
    if (found.length > pageLimit) throw badAnswer(what, `${found.length} instead of ${pageLimit}`);
    const items: SenderTransaction[] = [];
    for (const item of found) {
      const { version, transaction } = item.data;
      const sequenceNumber = start + BigInt(items.length);
      decodeAnswer(what, () => checkTransaction(item, version));
      const raw = transaction.kind === 'user' ? transaction.transaction.raw : undefined;
      const isSent = raw?.sender === this.#address && raw.sequenceNumber === sequenceNumber;
      if (!isSent) throw badAnswer(what, 'another transaction');
      if (version > this.#version) return { items, next: undefined };
      putTransaction(batch, item);
      items.push(sentAt(version, sequenceNumber));
    }
    const next = found.length === 0 ? undefined : encodeU64Key(start + BigInt(found.length));
    return { items, next };
  }

  async byVersion(bounds: VersionBounds, limit: number): Promise<TransactionSummary[]> {
    if ('from' in bounds) {
      const list = this.#summaries('from', (version) => version);
      return [...(await list.all(encodeU64Key(bounds.from), limit))];
    }
    // This list is ordered by descending version.
    const list = this.#summaries('to', (version) => U64_MAX - version);
    let { to } = bounds;
    if (to > this.#version) to = this.#version;
    return [...(await list.all(encodeU64Key(U64_MAX - to), limit))].reverse();
  }

  #summaries(
    direction: 'from' | 'to',
    placeOf: (version: bigint) => bigint,
  ): RecordedList<TransactionSummary> {
    const account = formatAddress(this.#address);
    const orderOf = ({ version }: { version: bigint }) => encodeU64Key(placeOf(version));
    return new RecordedList<TransactionSummary>(this.#fork, {
      description: `summaries of transactions ${direction} a version of ${account}`,
      name: [`summaries ${direction}`, addressBytes(this.#address)],
      codec: SUMMARY,
      orderOf,
      fetchPage: async (client, _, from, limit) => {
        const bound = placeOf(decodeU64Key(from));
        const pageLimit = Math.min(limit, TRANSACTIONS_PER_REQUEST);
        const what = `summaries of transactions ${direction} version ${bound} of ${account}`;
        const name = direction === 'from' ? 'start_version' : 'end_version';
        const path = pathOf('accounts', account, 'transaction_summaries');
        const query = { [name]: `${bound}`, limit: `${pageLimit}` };
        const summaries = await fetchDecoded(client, what, { path, query }, this.#readSummaries);
        if (direction === 'to') summaries.reverse();
        const isInOrder = summaries.every((one, at) => {
          const before = at === 0 ? from : orderOf(summaries[at - 1]!);
          const side = Buffer.compare(orderOf(one), before);
          return side > 0 || (side === 0 && at === 0);
        });
        if (!isInOrder || summaries.length > pageLimit) {
          throw badAnswer(what, 'others than those that were asked for');
        }
        const items = summaries.filter(({ version }) => version <= this.#version);
        const last = items.length < pageLimit ? U64_MAX : placeOf(items[pageLimit - 1]!.version);
        return { items, next: last === U64_MAX ? undefined : encodeU64Key(last + 1n) };
      },
    });
  }

  readonly #readSummaries = (reader: BcsReader): TransactionSummary[] =>
    reader.vector(MIN_SUMMARY_BYTES, () => {
      reader.variant(1, 'IndexedTransactionSummary');
      const start = reader.offset;
      if (reader.address() === this.#address) return SUMMARY.read(reader);
      throw reader.error('bad_value', 'a transaction of another account', start);
    });
}

function sentAt(version: bigint, sequenceNumber: bigint): SenderTransaction {
  return { version, replayProtector: { kind: 'sequenceNumber', value: sequenceNumber } };
}
