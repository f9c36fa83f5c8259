/**
 * A ledger at the version of a fork: what is recorded is read like any ledger's rows, what is not is asked of the
 * upstream first (docs/fork.md). Reads reject with LedgerError as ForkSource does.
 */
import { LedgerError } from '../ledger/ledger-error.ts';
import { andThen, type MaybePromise, together } from '../maybe-promise.ts';
import { BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { formatHex } from '../move/bcs/hex.ts';
import { unlessRefused } from '../move/errors.ts';
import { type EncodedOnChainData, readOnChainData } from '../move/transactions/transaction.ts';
import {
  type Address,
  addressBytes,
  addressFromBytes,
  formatAddress,
  parseAddress,
} from '../move/types/address.ts';
import type { HashedStateKey } from '../move/types/state-key.ts';
import { readStructTag } from '../move/types/type-tag.ts';
import type { StoredBalance } from '../store/columns/balance-column.ts';
import type { Block } from '../store/columns/block-column.ts';
import type { StreamId } from '../store/columns/event-column.ts';
import type { Head } from '../store/columns/head.ts';
import { U64_MAX } from '../store/columns/order-key.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { EventStreamView } from '../store/event-pages.ts';
import type { StoreReader } from '../store/store.ts';
import type { SenderView } from '../store/transaction-lookup.ts';
import {
  type AccountKeyPage,
  type AccountKeyQuery,
  type BalanceQuery,
  type BalanceRows,
  StoreView,
} from '../store/view.ts';
import { ForkEventStream } from './fork-events.ts';
import type { ForkSource } from './fork-recorder.ts';
import { ForkSender } from './fork-sender.ts';
import { ForkState } from './fork-state.ts';
import {
  askBlock,
  askTransactions,
  checkTransaction,
  decoded,
  pathOf,
  putTransaction,
  requireResult,
  TRANSACTIONS_PER_REQUEST,
  takeBlockStart,
} from './history-answers.ts';
import { type AnswerCodec, putAnswer, recordedAnswer } from './recorded-answers.ts';
import { badAnswer } from './upstream-failure.ts';

/** The last version of a block. */
const LAST_VERSION: AnswerCodec<bigint> = {
  write: (writer, version) => writer.u64(version),
  read: (reader) => reader.u64(),
};

/** That something is not there at the fork's version. */
const NOTHING: AnswerCodec<void> = { write: () => undefined, read: () => undefined };

const COMMITTED_VARIANT = 0;
/** Metadata, no coin, amount, no unit. */
const MIN_BALANCE_BYTES = 32 + 1 + 8 + 1;

/** Addresses of metadata, and where the next page begins. */
const ASSETS: AnswerCodec<{
  readonly metadata: readonly Address[];
  readonly next: Address | undefined;
}> = {
  write: (writer, { metadata, next }) =>
    writer
      .vector(metadata, (to, address) => to.address(address))
      .option(next, (to, address) => to.address(address)),
  read: (reader) => ({
    metadata: reader.vector(32, (inner) => inner.address()),
    next: reader.option((inner) => inner.address()),
  }),
};

export class ForkView extends StoreView {
  override readonly isPinned = true;
  readonly #store: StoreReader;
  readonly #source: ForkSource;
  readonly #state: ForkState;

  constructor(store: StoreReader, head: Head, source: ForkSource) {
    super(store, head);
    this.#store = store;
    this.#source = source;
    this.#state = new ForkState(store, source);
  }

  override state(
    key: HashedStateKey,
    version = this.head.version,
  ): MaybePromise<StateEntry | undefined> {
    return this.#state.value(key, version);
  }

  override stateMany(
    keys: readonly HashedStateKey[],
    version = this.head.version,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    return together(keys.map((key) => () => this.#state.value(key, version)));
  }

  /** A node is asked for the value at a version, not for all that was written. */
  override stateWrites(): never {
    const message = 'This fork cannot tell the history of a balance: read it version by version';
    throw new LedgerError('transactions_not_kept', message);
  }

  /** Unknown: state tells. */
  override balance(): undefined {
    return undefined;
  }

  /** The assets that the upstream's list of balances has; the amounts are read from state. */
  override async balances(
    owner: Uint8Array,
    { from, limit, version }: BalanceQuery,
  ): Promise<BalanceRows> {
    const address = addressFromBytes(owner);
    const start = from && formatAddress(addressFromBytes(from));
    const where = start === undefined ? '' : ` from ${start} on`;
    const question = `${limit} assets${where} of ${formatAddress(address)} at version ${version}`;
    const known = await recordedAnswer(this.#store, question, ASSETS);
    const { metadata, next } =
      known?.answer ?? (await this.#askAssets(question, address, { limit, start, version }));
    // Of no version: amounts are not taken from here.
    const row: StoredBalance = { version: U64_MAX, coin: 0n, fungible: 0n };
    return {
      rows: metadata.map((asset) => [
        { owner: Buffer.from(owner), metadata: Buffer.from(addressBytes(asset)) },
        row,
      ]),
      next: next === undefined ? undefined : Buffer.from(addressBytes(next)),
    };
  }

  async #askAssets(
    question: string,
    address: Address,
    { limit, start, version }: { limit: number; start: string | undefined; version: bigint },
  ) {
    return await this.#source.record(question, async (client, batch) => {
      const path = pathOf('accounts', formatAddress(address), 'balances');
      const query = { ledger_version: `${version}`, limit: `${limit}`, ...(start && { start }) };
      const reply = await client.ask({ path, query });
      if (
        reply.kind === 'refusal' &&
        reply.status === 404 &&
        reply.code === 'web_framework_error'
      ) {
        const message = 'This fork cannot list balances: its upstream has no such operation';
        throw new LedgerError('transactions_not_kept', message);
      }
      const { bytes, cursor } = requireResult(question, reply);
      const metadata = decoded(question, () =>
        decodeBcs(bytes, (reader) => reader.vector(MIN_BALANCE_BYTES, readHeldAsset)),
      );
      const next = cursor === undefined ? undefined : unlessRefused(() => parseAddress(cursor));
      if (cursor !== undefined && next === undefined) throw badAnswer(question, 'a bad cursor');
      const assets = { metadata, next };
      putAnswer(batch, question, ASSETS, assets);
      return assets;
    });
  }

  override eventStream(stream: StreamId, head = this.head): EventStreamView {
    return new ForkEventStream(this.#store, head, stream, this.#source);
  }

  override typedEvents(): never {
    const message = 'A fork has no index of events by type: ask the node that it was made from';
    throw new LedgerError('transactions_not_kept', message);
  }

  override async accountKeys(
    address: Address,
    { from, limit, version, kinds }: AccountKeyQuery,
  ): Promise<AccountKeyPage> {
    const all = await this.#state.accountKeys(address, version, kinds);
    const first = from === undefined ? 0 : all.findIndex((key) => Buffer.compare(key, from) >= 0);
    if (first === -1) return { keys: [], next: undefined };
    return { keys: all.slice(first, first + limit), next: all[first + limit] };
  }

  override async blockOfVersion(version: bigint): Promise<Block | undefined> {
    const known = await super.blockOfVersion(version);
    const last = known && (await this.#recordedEnd(known.height));
    if (last !== undefined && version <= last) return known;
    return await super.blockByHeight(await this.#askBlock('version', version));
  }

  override async blockByHeight(height: bigint): Promise<Block | undefined> {
    const known = await super.blockByHeight(height);
    if (known !== undefined && (await this.#recordedEnd(height)) !== undefined) return known;
    if (height > this.head.blockHeight) return undefined;
    return await super.blockByHeight(await this.#askBlock('height', height));
  }

  override async lastVersionOfBlock(block: Block): Promise<bigint | undefined> {
    const last = await this.#recordedEnd(block.height);
    return last === undefined || last > this.head.version ? this.head.version : last;
  }

  async #recordedEnd(height: bigint): Promise<bigint | undefined> {
    return (await recordedAnswer(this.#store, endOfBlock(height), LAST_VERSION))?.answer;
  }

  /** @returns the height of the block */
  async #askBlock(by: 'height' | 'version', number: bigint): Promise<bigint> {
    return await this.#source.record(`the block of ${by} ${number}`, async (client, batch) => {
      const reply = await askBlock(client, by, number);
      const { height, lastVersion } = reply;
      await takeBlockStart(client, batch, reply);
      putAnswer(batch, endOfBlock(height), LAST_VERSION, lastVersion);
      return height;
    });
  }

  override async transactionInfo(version: bigint): Promise<Buffer | undefined> {
    const known = await super.transactionInfo(version);
    if (known !== undefined) return known;
    await this.#askFrom(version, 1);
    return await super.transactionInfo(version);
  }

  override async transactionInfos(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return await this.#whole(first, limit, (from, most) => super.transactionInfos(from, most));
  }

  override async transactions(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return await this.#whole(first, limit, (from, most) => super.transactions(from, most));
  }

  override transaction(version: bigint): MaybePromise<Buffer | undefined> {
    return andThen(super.transaction(version), (known) => {
      if (known !== undefined) return known;
      return andThen(this.#askFrom(version, 1), () => super.transaction(version));
    });
  }

  /** Rows from a version on, with those in the gaps asked for. */
  async #whole(
    first: bigint,
    limit: number,
    read: (first: bigint, limit: number) => Promise<readonly Buffer[]>,
  ): Promise<readonly Buffer[]> {
    const toHead = this.head.version - first + 1n;
    const count = toHead < BigInt(limit) ? Math.max(0, Number(toHead)) : limit;
    const rows: Buffer[] = [];
    while (rows.length < count) {
      const from = first + BigInt(rows.length);
      const found = await read(from, count - rows.length);
      rows.push(...found);
      if (found.length === 0) {
        await this.#askFrom(from, Math.min(count - rows.length, TRANSACTIONS_PER_REQUEST));
      }
    }
    return rows;
  }

  async #askFrom(first: bigint, limit: number): Promise<void> {
    const question =
      limit === 1
        ? `the transaction of version ${first}`
        : `${limit} transactions from version ${first} on`;
    await this.#source.record(question, async (client, batch) => {
      for (const item of await askTransactions(client, first, limit)) putTransaction(batch, item);
    });
  }

  override versionOfHash(hash: Uint8Array): MaybePromise<bigint | undefined> {
    return andThen(super.versionOfHash(hash), (known) => known ?? this.#askVersion(hash));
  }

  async #askVersion(hash: Uint8Array): Promise<bigint | undefined> {
    const question = `the transaction with hash ${formatHex(hash)}`;
    if ((await recordedAnswer(this.#store, question, NOTHING)) !== undefined) return undefined;
    return await this.#source.record(question, async (client, batch) => {
      const reply = await client.ask({ path: pathOf('transactions', 'by_hash', formatHex(hash)) });
      const isMissing = reply.kind === 'refusal' && reply.code === 'transaction_not_found';
      const bytes = isMissing ? undefined : requireResult(question, reply).bytes;
      const item = bytes && decoded(question, () => committedItem(bytes));
      if (item === undefined || item.data.version > this.head.version) {
        putAnswer(batch, question, NOTHING, undefined);
        return undefined;
      }
      if (!item.data.info.transactionHash.equals(hash)) throw badAnswer(question, 'another hash');
      putTransaction(batch, item);
      return item.data.version;
    });
  }

  override sender(address: Address): SenderView {
    return new ForkSender(this.#store, this.head, address, this.#source);
  }
}

function endOfBlock(height: bigint): string {
  return `the end of block ${height}`;
}

/** A transaction as it is answered for a hash; `undefined` for one that is pending. @throws BcsError, PageError */
function committedItem(bytes: Buffer): EncodedOnChainData | undefined {
  const reader = new BcsReader(bytes);
  if (reader.variant(2, 'TransactionData') !== COMMITTED_VARIANT) return undefined;
  const item = readOnChainData(reader);
  reader.finish();
  checkTransaction(item, item.data.version);
  return item;
}

/** An item of the list of balances (docs/extensions.md), of which only the asset counts. */
function readHeldAsset(reader: BcsReader): Address {
  const metadata = reader.address();
  reader.option((inner) => readStructTag(inner));
  reader.u64();
  reader.option((inner) => [inner.string(), inner.string(), inner.u8()]);
  return metadata;
}
