/** The transactions of a ledger, version after version, in the form that processors take. */
import type { LedgerView } from '../ledger/ledger-view.ts';
import { type LedgerPage, type PageReader, readPage } from './ledger-pages.ts';
import { type ChainTransaction, TransactionFacts } from './processors/transaction-facts.ts';

/** Number of transactions that are read and parsed at once. */
const PAGE_TRANSACTIONS = 100;
const ENCODING = 'utf8';

interface OpenBlock {
  readonly height: bigint;
  readonly lastVersion: bigint;
  readonly epoch: bigint;
}

export class LedgerTransactions {
  readonly #view: LedgerView;
  readonly #reader: PageReader | undefined;
  #block: OpenBlock | undefined;
  /** The next page, which is read while the current one is used. */
  #ahead: { readonly start: bigint; readonly page: Promise<LedgerPage> } | undefined;

  /** @param reader reads pages ahead. If absent, pages are read in this thread on demand */
  constructor(view: LedgerView, reader?: PageReader) {
    this.#view = view;
    this.#reader = reader;
  }

  /** Some transactions from a version on, at least one. Rejects with LedgerError. */
  async page(start: bigint): Promise<TransactionFacts[]> {
    const ahead = this.#ahead?.start === start ? this.#ahead.page : undefined;
    const page = await (ahead ?? this.#read(start));
    const transactions = parsed(page);
    this.#readAhead(start + BigInt(transactions.length));
    const found: TransactionFacts[] = [];
    for (const transaction of transactions) {
      found.push(new TransactionFacts(transaction, await this.#blockOf(transaction, page)));
    }
    return found;
  }

  /** Root of the accumulator at a version. */
  async rootAt(version: bigint): Promise<string> {
    return (await this.#one(version)).accumulator_root_hash;
  }

  async #one(version: bigint): Promise<ChainTransaction> {
    const [transaction] = parsed(await readPage(this.#view, version, 1));
    return transaction!;
  }

  #read(start: bigint): Promise<LedgerPage> {
    const left = this.#view.state.version + 1n - start;
    const limit = left < PAGE_TRANSACTIONS ? Number(left) : PAGE_TRANSACTIONS;
    return this.#reader?.read(start, limit) ?? readPage(this.#view, start, limit);
  }

  #readAhead(start: bigint): void {
    if (this.#reader === undefined || start > this.#view.state.version) return;
    const page = this.#read(start);
    // The call that uses the page gets its failure.
    page.catch(() => undefined);
    this.#ahead = { start, page };
  }

  async #blockOf(transaction: ChainTransaction, { blocks }: LedgerPage): Promise<OpenBlock> {
    const version = BigInt(transaction.version);
    if (this.#block === undefined || version > this.#block.lastVersion) {
      const { height, firstVersion, lastVersion } = blocks.find(
        (one) => version <= one.lastVersion,
      )!;
      const first = firstVersion === version ? transaction : await this.#one(firstVersion);
      // Only genesis begins a block without an epoch.
      this.#block = { height, lastVersion, epoch: BigInt(first.epoch ?? 0) };
    }
    return this.#block;
  }
}

function parsed({ json }: LedgerPage): ChainTransaction[] {
  const { buffer, byteOffset, byteLength } = json;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString(ENCODING);
  return JSON.parse(text) as ChainTransaction[];
}
