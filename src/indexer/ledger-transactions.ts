/** The transactions of a ledger, version after version, as processors take them. */
import type { LedgerView } from '../ledger/ledger-view.ts';
import { YieldBudget } from '../yield-budget.ts';
import { type ChainTransaction, TransactionFacts } from './processors/transaction-facts.ts';

/** Transactions that are read and parsed at once. */
const PAGE_TRANSACTIONS = 100;
const OPERATION = 'Indexing';
const ENCODING = 'utf8';

interface OpenBlock {
  readonly height: bigint;
  readonly lastVersion: bigint;
  readonly epoch: bigint;
}

export class LedgerTransactions {
  readonly #view: LedgerView;
  #block: OpenBlock | undefined;

  constructor(view: LedgerView) {
    this.#view = view;
  }

  /** Some transactions from a version on, at least one. Rejects with LedgerError. */
  async page(start: bigint): Promise<TransactionFacts[]> {
    const transactions = await this.#read(start, PAGE_TRANSACTIONS);
    const found: TransactionFacts[] = [];
    for (const transaction of transactions) {
      found.push(new TransactionFacts(transaction, await this.#blockOf(transaction)));
    }
    return found;
  }

  /** Root of the accumulator at a version. */
  async rootAt(version: bigint): Promise<string> {
    const [transaction] = await this.#read(version, 1);
    return transaction!.accumulator_root_hash;
  }

  async #read(start: bigint, limit: number): Promise<ChainTransaction[]> {
    const { history } = this.#view;
    const pieces = await history.transactionsJson(start, limit, OPERATION, new YieldBudget());
    return JSON.parse(Buffer.concat(pieces).toString(ENCODING)) as ChainTransaction[];
  }

  async #blockOf(transaction: ChainTransaction): Promise<OpenBlock> {
    const version = BigInt(transaction.version);
    if (this.#block === undefined || version > this.#block.lastVersion) {
      const { height, firstVersion, lastVersion } =
        await this.#view.history.blockByVersion(version);
      const [first] = firstVersion === version ? [transaction] : await this.#read(firstVersion, 1);
      // Only genesis begins a block without one.
      this.#block = { height, lastVersion, epoch: BigInt(first!.epoch ?? 0) };
    }
    return this.#block;
  }
}
