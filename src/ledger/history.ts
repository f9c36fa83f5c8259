/** Reads of the ledger's history: blocks and transactions (docs/spec/ledger.md §3.1, §3.2). */
import type { MaybePromise } from '../maybe-promise.ts';
import { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { writeHash } from '../move/bcs/fixed-bytes.ts';
import { formatHex } from '../move/bcs/hex.ts';
import type { Block } from '../store/columns/block-column.ts';
import type { StoreView } from '../store/view.ts';
import { LedgerError, versionPruned } from './ledger-error.ts';
import type { PruningGuard } from './pruning-guard.ts';
import { transactionJson } from './transactions/transaction-json.ts';

/** Variant of the answer for one version: committed. The other, pending, is for nodes with a mempool. */
const ON_CHAIN_VARIANT = 0;
const MAX_ULEB32_BYTES = 5;
/** Height, hash, timestamp, first and last version, whether there are transactions. */
const BLOCK_BYTES = 8 + 32 + 8 + 8 + 8 + 1;

export interface BlockAnswer {
  readonly height: bigint;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly firstVersion: bigint;
  /** Of the newest block it moves with the ledger. */
  readonly lastVersion: bigint;
}

export class History {
  readonly #view: StoreView;
  readonly #hasTransactions: boolean;
  readonly #guard: PruningGuard;

  /** @param hasTransactions whether the store has whole transactions */
  constructor(view: StoreView, hasTransactions: boolean, guard: PruningGuard) {
    this.#view = view;
    this.#hasTransactions = hasTransactions;
    this.#guard = guard;
  }

  /** Throws `block_pruned`, `block_not_found`. */
  async blockByHeight(height: bigint): Promise<BlockAnswer> {
    if (height < this.#view.head.oldestBlockHeight) throw blockPruned(height);
    const block = await this.#view.blockByHeight(height);
    if (block === undefined) {
      if (await this.#guard.isBlockPruned(height)) throw blockPruned(height);
      throw new LedgerError('block_not_found', `Block not found by Block height(${height})`);
    }
    return this.#answer(block);
  }

  /** Throws `version_pruned`, `version_not_found`, `block_not_found`. */
  async blockByVersion(version: bigint): Promise<BlockAnswer> {
    const block = await this.#view.blockOfVersion(this.#guard.resolveVersion(version));
    if (block === undefined) {
      await this.#guard.assertRetained(version);
      throw new LedgerError('block_not_found', `Block not found by Ledger version(${version})`);
    }
    return this.#answer(block);
  }

  async #answer(block: Block): Promise<BlockAnswer> {
    const { height, id, timestampUsecs, firstVersion } = block;
    const lastVersion = await this.#view.lastVersionOfBlock(block);
    return { height, hash: id, timestampUsecs, firstVersion, lastVersion };
  }

  /**
   * BCS of the TransactionOnChainData of each version from `start` on, as stored; fewer than `limit` where the ledger
   * ends. Without `start` the newest ones. Throws `invalid_input` above the latest version, `version_pruned`,
   * `transactions_not_kept`.
   * @param operation as messages name it
   */
  async transactions(
    start: bigint | undefined,
    limit: number,
    operation: string,
  ): Promise<readonly Buffer[]> {
    const { version, oldestVersion } = this.#view.head;
    if (start !== undefined && start > version) {
      throw new LedgerError(
        'invalid_input',
        `Given start value (${start}) is higher than the current ledger version, it must be < ${version}`,
      );
    }
    // docs/spec/decisions.md D4: not the reference's 500.
    if (start !== undefined && start < oldestVersion) throw versionPruned(start);
    this.#requireTransactions(operation);
    const newest = version - BigInt(limit) + 1n;
    const first = start ?? (newest < oldestVersion ? oldestVersion : newest);
    const found = await this.#view.transactions(first, limit);
    if (found.length === 0) {
      await this.#guard.assertRetained(first);
      throw missing(first);
    }
    return found;
  }

  /** The same of one version. Throws `transaction_not_found`, `version_pruned`, `transactions_not_kept`. */
  async transaction(version: bigint, operation: string): Promise<Buffer> {
    const { head } = this.#view;
    if (version > head.version) {
      throw new LedgerError(
        'transaction_not_found',
        `Transaction not found by Ledger version(${version})`,
      );
    }
    if (version < head.oldestVersion) throw versionPruned(version);
    this.#requireTransactions(operation);
    const [found] = await this.#view.transactions(version, 1);
    if (found === undefined) {
      await this.#guard.assertRetained(version);
      throw missing(version);
    }
    return found;
  }

  /** The JSON text of a stored transaction: the answer for its version, an item of lists and blocks. */
  transactionJson(item: Buffer): MaybePromise<string> {
    return transactionJson(item);
  }

  #requireTransactions(operation: string): void {
    if (this.#hasTransactions) return;
    throw new LedgerError(
      'transactions_not_kept',
      `${operation} is disabled on this endpoint: its ledger keeps no transactions`,
    );
  }
}

function blockPruned(height: bigint): LedgerError {
  return new LedgerError('block_pruned', `Block(${height}) has been pruned`);
}

/** A ledger with whole transactions has one for every version, so a missing one is damage. */
function missing(version: bigint): LedgerError {
  return new LedgerError(
    'internal_error',
    `Failed to read raw transactions from storage: there is none at version ${version}`,
  );
}

/** BCS of `vector<TransactionOnChainData>`, from the bytes of its items. */
export function transactionsBcs(items: readonly Buffer[]): Buffer {
  const sizeBytes = items.reduce((sum, { length }) => sum + length, MAX_ULEB32_BYTES);
  return new BcsWriter(sizeBytes).vector(items, (to, item) => to.fixed(item)).view();
}

/** BCS of the answer for one version: that it is committed, then its TransactionOnChainData. */
export function transactionBcs(item: Buffer): Buffer {
  return new BcsWriter(1 + item.length).uleb32(ON_CHAIN_VARIANT).fixed(item).view();
}

/** BCS of a block, with its transactions when they are given. */
export function blockBcs(block: BlockAnswer, transactions?: readonly Buffer[]): Buffer {
  const items = transactions && transactionsBcs(transactions);
  const writer = new BcsWriter(BLOCK_BYTES + (items?.length ?? 0));
  writer.u64(block.height);
  writeHash(writer, block.hash);
  writer.u64(block.timestampUsecs).u64(block.firstVersion).u64(block.lastVersion);
  return writer.option(items, (to, bytes) => to.fixed(bytes)).view();
}

/** The JSON text of a block without its transactions. */
export function blockJson(block: BlockAnswer): string {
  return JSON.stringify({
    block_height: String(block.height),
    block_hash: formatHex(block.hash),
    block_timestamp: String(block.timestampUsecs),
    first_version: String(block.firstVersion),
    last_version: String(block.lastVersion),
    transactions: null,
  });
}
