/** Reads of the ledger's history: blocks and transactions (docs/spec/ledger.md §3.1, §3.2). */

import { andThen, type MaybePromise, mapInOrder, settle } from '../maybe-promise.ts';
import { U64_MAX } from '../move/bcs/bcs-reader.ts';
import { BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import { writeHash } from '../move/bcs/fixed-bytes.ts';
import { formatHex } from '../move/bcs/hex.ts';
import type { ReplayProtector } from '../move/transactions/transaction-origin.ts';
import { type Address, addressBytes, formatAddress } from '../move/types/address.ts';
import { isPruned, LedgerError, versionPruned } from '../state/ledger-error.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { HistorySource, LedgerSource } from '../state/source.ts';
import type { Block } from '../store/columns/block-column.ts';
import { type Head, oldestTransaction } from '../store/columns/head.ts';
import type { TransactionSummary } from '../store/read/transaction-lookup.ts';
import { YieldBudget } from '../yield-budget.ts';
import { storedAccount } from './accounts/accounts.ts';
import { TransactionArray, type TransactionRenderer } from './transactions/renderer.ts';

/** Variant of the answer for one version: committed. The other variant, pending, is in pending.ts. */
const ON_CHAIN_VARIANT = 0;
const MAX_ULEB32_BYTES = 5;
/** Height, hash, timestamp, first and last version, whether there are transactions. */
const BLOCK_BYTES = 8 + 32 + 8 + 8 + 8 + 1;

/** Transactions read in one turn of the event loop: a page takes one read, a large block many. */
const TRANSACTIONS_PER_READ = 100;

export interface BlockAnswer {
  readonly height: bigint;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly firstVersion: bigint;
  /** For the newest block, it advances with the ledger. */
  readonly lastVersion: bigint;
}

interface AccountTransactionsRequest {
  readonly address: Address;
  /** A sequence number; absent: the newest transactions. */
  readonly start: bigint | undefined;
  /** 1 to MAX_RANGE_ROWS. */
  readonly limit: number;
}

interface SummariesRequest {
  readonly address: Address;
  /** The first version; absent: the last transactions up to `to`. */
  readonly from: bigint | undefined;
  /** The last version; absent: the latest. Ignored if `from` is given. */
  readonly to: bigint | undefined;
  /** 0 to MAX_RANGE_ROWS. */
  readonly limit: number;
}

export class History {
  readonly renderer: TransactionRenderer;
  readonly #head: Head;
  readonly #source: HistorySource;
  readonly #hasTransactions: boolean;
  readonly #guard: PruningGuard;

  constructor(
    source: LedgerSource,
    hasTransactions: boolean,
    guard: PruningGuard,
    renderer: TransactionRenderer,
  ) {
    this.#head = source.head;
    this.#source = source.history;
    this.#hasTransactions = hasTransactions;
    this.#guard = guard;
    this.renderer = renderer;
  }

  /** Throws `block_pruned`, `block_not_found`. */
  async blockByHeight(height: bigint): Promise<BlockAnswer> {
    if (height < this.#head.oldestBlockHeight) throw blockPruned(height);
    const block = await this.#source.blockByHeight(height);
    if (block === undefined) {
      if (await this.#guard.isBlockPruned(height)) throw blockPruned(height);
      throw new LedgerError('block_not_found', `Block not found by Block height(${height})`);
    }
    return this.#answer(block);
  }

  /** Throws `version_pruned`, `version_not_found`, `block_not_found`. */
  async blockByVersion(version: bigint): Promise<BlockAnswer> {
    const resolved = this.#guard.resolveVersion(version);
    if (version < oldestTransaction(this.#head)) throw versionPruned(version);
    const block = await this.#source.blockOfVersion(resolved);
    await this.#guard.assertRetained(version);
    if (block === undefined) {
      throw new LedgerError('block_not_found', `Block not found by Ledger version(${version})`);
    }
    return this.#answer(block);
  }

  async #answer(block: Block): Promise<BlockAnswer> {
    const { height, id, timestampUsecs, firstVersion } = block;
    const lastVersion = await this.#source.lastVersionOfBlock(block);
    if (lastVersion === undefined) throw blockPruned(height);
    return { height, hash: id, timestampUsecs, firstVersion, lastVersion };
  }

  /**
   * BCS of the TransactionOnChainData of each version from `start` on, as stored; fewer than `limit` at the end of the
   * ledger. Without `start`, the newest ones. Throws `invalid_input` above the latest version, `version_pruned`,
   * `transactions_not_kept`.
   * @param operation its name in error messages
   */
  async transactions(
    start: bigint | undefined,
    limit: number,
    operation: string,
    pace = new YieldBudget(),
  ): Promise<readonly Buffer[]> {
    const { version } = this.#head;
    const first = this.#firstOfPage(start, limit, operation);
    const count = Math.min(limit, Number(version - first) + 1);
    const found: Buffer[] = [];
    while (found.length < count) {
      if (found.length > 0) await pace.nextTurn();
      const left = Math.min(count - found.length, TRANSACTIONS_PER_READ);
      const items = await this.#read(first + BigInt(found.length), left);
      pace.hold(bytesOf(items));
      found.push(...items);
    }
    return found;
  }

  /**
   * The same as a JSON array, in pieces of UTF-8. It ends early with the transaction that reaches
   * MAX_TRANSACTIONS_JSON_BYTES.
   */
  async transactionsJson(
    start: bigint | undefined,
    limit: number,
    operation: string,
    pace?: YieldBudget,
  ): Promise<readonly Buffer[]> {
    const { version } = this.#head;
    const array = new TransactionArray(this.renderer, pace);
    let next = this.#firstOfPage(start, limit, operation);
    for (let left = limit; left > 0 && next <= version && !array.isFull; ) {
      const items = await this.#read(next, Math.min(left, TRANSACTIONS_PER_READ));
      const sizeBytes = bytesOf(items);
      pace?.hold(sizeBytes);
      await array.add(items);
      pace?.hold(-sizeBytes);
      next += BigInt(items.length);
      left -= items.length;
    }
    return array.pieces;
  }

  #firstOfPage(start: bigint | undefined, limit: number, operation: string): bigint {
    const head = this.#head;
    if (start !== undefined) requireStart(start, head);
    this.#requireTransactions(operation);
    const newest = head.version - BigInt(limit) + 1n;
    const oldest = oldestTransaction(head);
    return start ?? (newest < oldest ? oldest : newest);
  }

  async #read(first: bigint, limit: number): Promise<readonly Buffer[]> {
    const found = await this.#source.transactions(first, limit);
    if (found.length === 0) {
      await this.#guard.assertRetained(first);
      throw missingTransaction(first);
    }
    return found;
  }

  /** The same for one version. Throws `transaction_not_found`, `version_pruned`, `transactions_not_kept`. */
  transaction(version: bigint, operation: string): MaybePromise<Buffer> {
    const head = this.#head;
    if (version > head.version) {
      throw new LedgerError(
        'transaction_not_found',
        `Transaction not found by Ledger version(${version})`,
      );
    }
    if (version < oldestTransaction(head)) throw versionPruned(version);
    this.#requireTransactions(operation);
    return andThen(this.#source.transaction(version), (found) => {
      if (found !== undefined) return found;
      return andThen(this.#guard.assertRetained(version), () => {
        throw missingTransaction(version);
      });
    });
  }

  /** The same for a transaction by its hash of 32 bytes. Throws `transaction_not_found`, `transactions_not_kept`. */
  transactionByHash(hash: Uint8Array, operation: string): MaybePromise<Buffer> {
    this.#requireTransactions(operation);
    return andThen(this.#source.versionOfHash(hash), (version) =>
      // A transaction that was pruned after this view was opened is returned while its rows still exist.
      andThen(version === undefined ? undefined : this.#retained(version), (found) => {
        if (found !== undefined) return found;
        const text = `Transaction not found by Transaction hash(${formatHex(hash)})`;
        throw new LedgerError('transaction_not_found', text);
      }),
    );
  }

  /**
   * The same for the transactions that an account has sent with sequence numbers from `start` on; without `start`, for
   * the newest ones that are retained. Throws `version_pruned`, `transactions_not_kept`, `internal_error`.
   */
  async accountTransactions(
    { address, start, limit }: AccountTransactionsRequest,
    operation: string,
    pace?: YieldBudget,
  ): Promise<readonly Buffer[]> {
    this.#requireTransactions(operation);
    const first = start ?? (await this.#firstOfNewest(address, BigInt(limit)));
    const last = first + BigInt(limit) - 1n;
    if (last >= U64_MAX) {
      const detail = `Too many items requested: at least ${first} requested, max is ${limit}`;
      throw new LedgerError('internal_error', `${ACCOUNT_LIST_FAILURE}${detail}`);
    }
    const sent = await this.#source.sender(address).bySequenceNumber(first, last, limit);
    const items = await mapInOrder(sent, ({ version }) => this.#retained(version));
    const isStartFound = sent[0]?.replayProtector.value === start && items[0] !== undefined;
    if (start !== undefined && !isStartFound) await this.#requireNotPruned(address, start);
    const found = items.filter((item) => item !== undefined);
    pace?.hold(bytesOf(found));
    return found;
  }

  /** The user transactions that an account has sent, ascending. Throws `transactions_not_kept`. */
  async transactionSummaries(
    { address, from, to = this.#head.version, limit }: SummariesRequest,
    operation: string,
  ): Promise<readonly TransactionSummary[]> {
    this.#requireTransactions(operation);
    if (limit === 0) return [];
    return this.#source.sender(address).byVersion(from === undefined ? { to } : { from }, limit);
  }

  /** The transaction of a version that was found in an index; `undefined` if it has been pruned. */
  #retained(version: bigint): MaybePromise<Buffer | undefined> {
    // A pruned transaction may still exist without its block, which contains its timestamp.
    if (version < oldestTransaction(this.#head)) return undefined;
    return andThen(
      this.#source.transaction(version),
      (found) => found ?? this.#assertPruned(version),
    );
  }

  async #assertPruned(version: bigint): Promise<undefined> {
    if (!(await this.#guard.isPruned(version))) throw missingTransaction(version);
  }

  /** The first of the newest sequence numbers that an account has used. */
  async #firstOfNewest(address: Address, limit: bigint): Promise<bigint> {
    const next = await this.#nextSequenceNumber(address);
    return next > limit ? next - limit : 0n;
  }

  async #requireNotPruned(address: Address, sequenceNumber: bigint): Promise<void> {
    if (oldestTransaction(this.#head) === 0n) return;
    if (sequenceNumber >= (await this.#nextSequenceNumber(address))) return;
    throw new LedgerError(
      'version_pruned',
      `Transaction ${sequenceNumber} of ${formatAddress(address)} has been pruned`,
    );
  }

  async #nextSequenceNumber(address: Address): Promise<bigint> {
    const account = await storedAccount(this.#guard, address, this.#head.version);
    return account?.sequenceNumber ?? 0n;
  }

  /**
   * Transactions of an account as a JSON array, in pieces of UTF-8. It ends early as that of `transactionsJson` does.
   * Transactions that are pruned before they are rendered are left out, like those pruned earlier.
   */
  renderedArray(items: readonly Buffer[], pace?: YieldBudget): MaybePromise<readonly Buffer[]> {
    const array = new TransactionArray(this.renderer, pace);
    const added = mapInOrder(items, (item) =>
      settle<unknown, unknown>(
        () => array.add([item]),
        () => undefined,
        (failure) => {
          if (!isPruned(failure)) throw failure;
        },
      ),
    );
    return andThen(added, () => array.pieces);
  }

  #requireTransactions(operation: string): void {
    if (this.#hasTransactions) return;
    throw new LedgerError(
      'transactions_not_kept',
      `${operation} is disabled on this endpoint: its ledger keeps no transactions`,
    );
  }
}

/**
 * Checks the first version of a page.
 * @throws LedgerError `invalid_input` above the latest version, `version_pruned` (docs/spec/decisions.md D4: not the
 *   reference's 500)
 */
export function requireStart(start: bigint, head: Head): void {
  const { version } = head;
  if (start > version) {
    throw new LedgerError(
      'invalid_input',
      `Given start value (${start}) is higher than the current ledger version, it must be < ${version}`,
    );
  }
  if (start < oldestTransaction(head)) throw versionPruned(start);
}

function bytesOf(items: readonly Buffer[]): number {
  return items.reduce((sum, { length }) => sum + length, 0);
}

function blockPruned(height: bigint): LedgerError {
  return new LedgerError('block_pruned', `Block(${height}) has been pruned`);
}

/** The reference names the layers that the failure has passed through (docs/spec/transactions.md §1.6). */
const ACCOUNT_LIST_FAILURE = 'Failed to retrieve account transactions: AptosDB Other Error: ';

/** A ledger with whole transactions has one for every version, so a missing one is damage. */
function missingTransaction(version: bigint): LedgerError {
  return new LedgerError(
    'internal_error',
    `Failed to read raw transactions from storage: there is none at version ${version}`,
  );
}

/** BCS of `vector<TransactionOnChainData>` from the bytes of its items, in pieces. */
export function transactionsBcs(items: readonly Buffer[]): readonly Buffer[] {
  return [encodeBcs((writer) => writer.uleb32(items.length)), ...items];
}

/** BCS of the answer for one version: the variant, then its TransactionOnChainData. */
export function transactionBcs(item: Buffer): Buffer {
  return new BcsWriter(1 + item.length).uleb32(ON_CHAIN_VARIANT).fixed(item).view();
}

const SUMMARY_V1 = 0;
/** Variant, sender, version, hash, variant and number of the replay protector. */
const SUMMARY_BYTES = 1 + 32 + 8 + 32 + 1 + 8;
const REPLAY_PROTECTORS: readonly ReplayProtector['kind'][] = ['nonce', 'sequenceNumber'];

export function summariesBcs(sender: Address, summaries: readonly TransactionSummary[]): Buffer {
  const writer = new BcsWriter(MAX_ULEB32_BYTES + summaries.length * SUMMARY_BYTES);
  writer.vector(summaries, (to, { version, hash, replayProtector: { kind, value } }) => {
    to.uleb32(SUMMARY_V1).fixed(addressBytes(sender)).u64(version);
    writeHash(to, hash);
    to.uleb32(REPLAY_PROTECTORS.indexOf(kind)).u64(value);
  });
  return writer.view();
}

/** Summaries as JSON text. A nonce and a sequence number look alike (docs/spec/transactions.md §1.7). */
export function summariesJson(sender: Address, summaries: readonly TransactionSummary[]): string {
  const records = summaries.map(({ version, hash, replayProtector }) => ({
    sender: formatAddress(sender),
    version: String(version),
    transaction_hash: formatHex(hash),
    replay_protector: String(replayProtector.value),
  }));
  return JSON.stringify(records);
}

export function blockBcs(block: BlockAnswer, transactions?: readonly Buffer[]): readonly Buffer[] {
  const writer = new BcsWriter(BLOCK_BYTES);
  writer.u64(block.height);
  writeHash(writer, block.hash);
  writer.u64(block.timestampUsecs).u64(block.firstVersion).u64(block.lastVersion);
  const head = writer.bool(transactions !== undefined).view();
  return transactions === undefined ? [head] : [head, ...transactionsBcs(transactions)];
}

export function blockJson(block: BlockAnswer, transactions?: readonly Buffer[]): readonly Buffer[] {
  const head =
    `{"block_height":"${block.height}","block_hash":"${formatHex(block.hash)}",` +
    `"block_timestamp":"${block.timestampUsecs}","first_version":"${block.firstVersion}",` +
    `"last_version":"${block.lastVersion}","transactions":`;
  const items = transactions ?? [Buffer.from('null')];
  return [Buffer.from(head), ...items, Buffer.from('}')];
}
