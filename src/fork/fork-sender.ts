/** The transactions that an account has sent, as a fork has them or asks for them. */
import { type BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { readHash, writeHash } from '../move/bcs/fixed-bytes.ts';
import {
  type EncodedOnChainData,
  MIN_ON_CHAIN_DATA_BYTES,
  readOnChainData,
} from '../move/transactions/transaction.ts';
import type { ReplayProtector } from '../move/transactions/transaction-origin.ts';
import { type Address, addressBytes, formatAddress } from '../move/types/address.ts';
import type { Head } from '../store/columns/head.ts';
import type { SenderTransaction } from '../store/columns/transaction-index-column.ts';
import type { StoreReader } from '../store/store.ts';
import {
  SenderView,
  type TransactionSummary,
  type VersionBounds,
} from '../store/transaction-lookup.ts';
import type { ForkClient } from './fork-client.ts';
import type { ForkSource } from './fork-recorder.ts';
import {
  checkTransaction,
  decoded,
  pathOf,
  putTransaction,
  requireResult,
  TRANSACTIONS_PER_REQUEST,
} from './history-answers.ts';
import { type AnswerCodec, putAnswer, recordedAnswer } from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

/** That the transactions of a question are recorded. */
const RECORDED: AnswerCodec<void> = { write: () => undefined, read: () => undefined };

/** Variant, sender, version, hash, variant and number of the replay protector. */
const MIN_SUMMARY_BYTES = 1 + 32 + 8 + 32 + 1 + 8;
const REPLAY_PROTECTORS: readonly ReplayProtector['kind'][] = ['nonce', 'sequenceNumber'];

const SUMMARIES: AnswerCodec<readonly TransactionSummary[]> = {
  write: (writer, summaries) =>
    writer.vector(summaries, (to, { version, hash, replayProtector: { kind, value } }) => {
      to.u64(version);
      writeHash(to, hash);
      to.uleb32(REPLAY_PROTECTORS.indexOf(kind)).u64(value);
    }),
  read: (reader) => reader.vector(MIN_SUMMARY_BYTES - 33, readSummaryEnd),
};

export class ForkSender extends SenderView {
  readonly #store: StoreReader;
  readonly #source: ForkSource;
  readonly #address: Address;
  /** The fork's version. */
  readonly #version: bigint;

  constructor(store: StoreReader, head: Head, address: Address, source: ForkSource) {
    super(store, head, addressBytes(address));
    this.#store = store;
    this.#source = source;
    this.#address = address;
    this.#version = head.version;
  }

  override async bySequenceNumber(
    first: bigint,
    last: bigint,
    limit: number,
  ): Promise<SenderTransaction[]> {
    const shown = formatAddress(this.#address);
    const question = `${limit} transactions from sequence number ${first} on of ${shown}`;
    if ((await recordedAnswer(this.#store, question, RECORDED)) === undefined) {
      await this.#source.record(question, async (client, batch) => {
        const items = await this.#ask(client, question, first, limit);
        for (const item of items) putTransaction(batch, item);
        putAnswer(batch, question, RECORDED, undefined);
      });
    }
    return await super.bySequenceNumber(first, last, limit);
  }

  /** The transactions up to the fork's version. */
  async #ask(
    client: ForkClient,
    what: string,
    first: bigint,
    limit: number,
  ): Promise<readonly EncodedOnChainData[]> {
    const path = pathOf('accounts', formatAddress(this.#address), 'transactions');
    const found: EncodedOnChainData[] = [];
    while (found.length < limit) {
      const start = first + BigInt(found.length);
      const wanted = Math.min(limit - found.length, TRANSACTIONS_PER_REQUEST);
      const reply = await client.ask({ path, query: { start: `${start}`, limit: `${wanted}` } });
      if (reply.kind === 'refusal' && reply.code === 'account_not_found') return found;
      const { bytes } = requireResult(what, reply);
      const items = decoded(what, () =>
        decodeBcs(bytes, (reader) => reader.vector(MIN_ON_CHAIN_DATA_BYTES, readOnChainData)),
      );
      for (const [at, item] of items.entries()) {
        decoded(what, () => checkTransaction(item, item.data.version));
        if (!this.#isSent(item, start + BigInt(at))) throw badAnswer(what, 'another transaction');
        if (item.data.version > this.#version) return found;
        found.push(item);
      }
      if (items.length === 0) return found;
    }
    if (found.length === limit) return found;
    throw badAnswer(what, `${found.length} instead of ${limit}`);
  }

  #isSent({ data }: EncodedOnChainData, sequenceNumber: bigint): boolean {
    if (data.transaction.kind !== 'user') return false;
    const { raw } = data.transaction.transaction;
    return raw.sender === this.#address && raw.sequenceNumber === sequenceNumber;
  }

  override async byVersion(bounds: VersionBounds, limit: number): Promise<TransactionSummary[]> {
    const shown = formatAddress(this.#address);
    const [where, query] =
      'from' in bounds
        ? [`from version ${bounds.from} on`, { start_version: `${bounds.from}` }]
        : [`up to version ${bounds.to}`, { end_version: `${bounds.to}` }];
    const question = `summaries of ${limit} transactions ${where} of ${shown}`;
    const known = await recordedAnswer(this.#store, question, SUMMARIES);
    if (known !== undefined) return [...known.answer];
    return await this.#source.record(question, async (client, batch) => {
      const path = pathOf('accounts', shown, 'transaction_summaries');
      const reply = await client.ask({ path, query: { ...query, limit: `${limit}` } });
      const { bytes } = requireResult(question, reply);
      const summaries = decoded(question, () => this.#decode(bytes)).filter(
        ({ version }) => version <= this.#version,
      );
      const isAscending = summaries.every(
        ({ version }, at) => at === 0 || version > summaries[at - 1]!.version,
      );
      const isWithin = summaries.every(({ version }) =>
        'from' in bounds ? version >= bounds.from : version <= bounds.to,
      );
      if (!isAscending || !isWithin || summaries.length > limit) {
        throw badAnswer(question, 'others than those that were asked for');
      }
      putAnswer(batch, question, SUMMARIES, summaries);
      return summaries;
    });
  }

  #decode(bytes: Buffer): TransactionSummary[] {
    return decodeBcs(bytes, (reader) =>
      reader.vector(MIN_SUMMARY_BYTES, () => {
        reader.variant(1, 'IndexedTransactionSummary');
        const start = reader.offset;
        if (reader.address() === this.#address) return readSummaryEnd(reader);
        throw reader.error('bad_value', 'a transaction of another account', start);
      }),
    );
  }
}

function readSummaryEnd(reader: BcsReader): TransactionSummary {
  const version = reader.u64();
  const hash = Buffer.from(readHash(reader));
  const kind = REPLAY_PROTECTORS[reader.variant(REPLAY_PROTECTORS.length, 'ReplayProtector')]!;
  return { version, hash, replayProtector: { kind, value: reader.u64() } };
}
