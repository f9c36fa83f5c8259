/**
 * The estimate of gas prices, from the lowest price that got into each of the newest blocks
 * (docs/spec/transactions.md §7). A block's price never changes and is cached, so only new blocks are read after a
 * commit.
 */
import { Cache } from '../cache.ts';
import { type BlockLimits, blockLimits, minGasPrice } from '../execution/gas-settings.ts';
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import type { Executable } from '../move/transactions/executable.ts';
import type { TransactionPayload } from '../move/transactions/payload.ts';
import { TRANSACTION_KINDS } from '../move/transactions/transaction.ts';
import { TransactionInfo } from '../move/transactions/transaction-info.ts';
import { RawTransaction } from '../move/transactions/user-transaction.ts';
import { type Address, isReservedAddress } from '../move/types/address.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { LedgerSource } from '../state/source.ts';
import type { Block } from '../store/columns/block-column.ts';
import { nextTurn } from '../yield-budget.ts';

const FULL_BLOCK_TRANSACTIONS = 250;
/** Number of newest blocks that each estimate uses. */
const LOW_BLOCKS = 10;
const MARKET_BLOCKS = 30;
const AGGRESSIVE_BLOCKS = 120;
/** Lower bounds of the queues of other nodes. Smaller differences of prices do not matter to them. */
const BUCKETS = [0n, 150n, 300n, 500n, 1_000n, 3_000n, 5_000n, 10_000n, 100_000n, 1_000_000n];

/** Infos and transactions that are read before other requests get their turn. */
const INFOS_PER_TURN = 1_000;
const TRANSACTIONS_PER_TURN = 50;
const BLOCK_BYTES = 200;

export interface GasPrices {
  readonly low: bigint;
  readonly market: bigint;
  readonly aggressive: bigint;
}

interface PricedBlock extends Pick<Block, 'firstVersion' | 'epoch'> {
  /** The lowest price that would have got a transaction into it. */
  readonly price: bigint;
}

/** Blocks by height, last version, and the chain's settings for gas prices. */
export class BlockPriceCache extends Cache<PricedBlock> {
  constructor() {
    super('parsed');
  }
}

interface GasPriceSources {
  readonly source: LedgerSource;
  readonly guard: PruningGuard;
  readonly blocks: BlockPriceCache;
  /** Whether the store has whole transactions; without them every block counts as not full. */
  readonly hasTransactions: boolean;
}

/** The smallest bucket above a price; the price itself if there is none. */
function nextBucket(price: bigint): bigint {
  return BUCKETS.find((bucket) => bucket > price) ?? price;
}

/** The estimate at a view; rejects with LedgerError `internal_error` for a chain without a gas schedule. */
export async function estimateGasPrices(sources: GasPriceSources): Promise<GasPrices> {
  const { guard, source } = sources;
  const { version } = source.head;
  const min = await minGasPrice(guard, version);
  const limits = await blockLimits(guard, version);
  const prices = await new PriceReader(sources, min, limits).prices();
  const low = lowest(prices.slice(0, LOW_BLOCKS)) ?? min;
  const middle = sorted(prices.slice(0, MARKET_BLOCKS));
  const market = higher(low, middle[Math.floor(middle.length / 2)] ?? min);
  const high = sorted(prices)[Math.floor((prices.length * 9) / 10)] ?? min;
  return { low, market, aggressive: nextBucket(higher(market, high)) };
}

function sorted(prices: readonly bigint[]): readonly bigint[] {
  return [...prices].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
}

function lowest(prices: readonly bigint[]): bigint | undefined {
  return sorted(prices)[0];
}

function higher(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

class PriceReader {
  readonly #sources: GasPriceSources;
  readonly #min: bigint;
  readonly #limits: BlockLimits;
  readonly #chainKey: string;

  constructor(sources: GasPriceSources, min: bigint, limits: BlockLimits) {
    this.#sources = sources;
    this.#min = min;
    this.#limits = limits;
    this.#chainKey = `${min} ${limits.gas} ${limits.isUseCaseAware}`;
  }

  /** Prices of the blocks of the head's epoch, the newest first; the newest block itself is left out. */
  async prices(): Promise<readonly bigint[]> {
    const { head, history } = this.#sources.source;
    const prices: bigint[] = [];
    const newest = await history.blockByHeight(head.blockHeight);
    if (newest === undefined || newest.epoch !== head.epoch) return prices;
    let last = newest.firstVersion - 1n;
    for (let height = newest.height - 1n; height >= head.oldestBlockHeight; height -= 1n) {
      const block = await this.#block(height, last);
      if (block === undefined || block.epoch !== head.epoch) return prices;
      prices.push(block.price);
      last = block.firstVersion - 1n;
      if (prices.length === AGGRESSIVE_BLOCKS || last <= 0n) return prices;
    }
    return prices;
  }

  /** The block at a height, whose last version is `last`; `undefined` if it is not retained. */
  async #block(height: bigint, last: bigint): Promise<PricedBlock | undefined> {
    const { blocks, source } = this.#sources;
    const key = `${height} ${last} ${this.#chainKey}`;
    const known = blocks.get(key);
    if (known !== undefined) return known;
    const block = await source.history.blockByHeight(height);
    if (block === undefined) return undefined;
    const { firstVersion, epoch } = block;
    const isCurrentEpoch = epoch === source.head.epoch;
    const price = isCurrentEpoch ? await this.#price(firstVersion, last) : this.#min;
    if (price === undefined) return undefined;
    const priced = { firstVersion, epoch, price };
    blocks.set(key, priced, BLOCK_BYTES);
    return priced;
  }

  /** The price of a block from its versions, without the last one, its epilogue; `undefined` if some are pruned. */
  async #price(first: bigint, last: bigint): Promise<bigint | undefined> {
    const { gas, isUseCaseAware } = this.#limits;
    const count = Number(last - first);
    const gasUsed = gas === undefined ? 0n : await this.#gasUsed(first, count);
    if (gasUsed === undefined) return undefined;
    const isGasUsedUp = gas !== undefined && gasUsed >= gas;
    // Most blocks are far from full, and their transactions need not be read.
    const mayBeFull = isGasUsedUp || count >= FULL_BLOCK_TRANSACTIONS;
    if (!mayBeFull || !this.#sources.hasTransactions) return this.#min;
    const found = await this.#userTransactions(first, count);
    if (found === undefined) return undefined;
    const isFull = isGasUsedUp || found.count >= FULL_BLOCK_TRANSACTIONS;
    const isDominatedByOneContract = [...found.callsByContract.values()].some(
      (calls) => calls * 2 > found.count,
    );
    if (!isFull || (isUseCaseAware && isDominatedByOneContract) || found.lowestPrice === undefined)
      return this.#min;
    return nextBucket(found.lowestPrice);
  }

  /** Gas used by `count` versions; only user transactions use gas. */
  async #gasUsed(first: bigint, count: number): Promise<bigint | undefined> {
    let gasUsed = 0n;
    for (let done = 0; done < count; ) {
      const limit = Math.min(count - done, INFOS_PER_TURN);
      const infos = await this.#sources.source.history.transactionInfos(
        first + BigInt(done),
        limit,
      );
      if (infos.length < limit) return undefined;
      for (const info of infos) {
        const reader = new BcsReader(info);
        reader.variant(TransactionInfo.kinds.length, 'TransactionInfo');
        gasUsed += reader.u64();
      }
      done += limit;
      await nextTurn();
    }
    return gasUsed;
  }

  async #userTransactions(first: bigint, count: number): Promise<UserTransactions | undefined> {
    const found = new UserTransactions();
    for (let done = 0; done < count; ) {
      const limit = Math.min(count - done, TRANSACTIONS_PER_TURN);
      const items = await this.#sources.source.history.transactions(first + BigInt(done), limit);
      if (items.length < limit) return undefined;
      for (const item of items) found.add(item);
      done += limit;
      await nextTurn();
    }
    return found;
  }
}

class UserTransactions {
  count = 0;
  lowestPrice: bigint | undefined;
  /** Number of transactions that call modules of each address, without reserved addresses. */
  readonly callsByContract = new Map<Address, number>();

  /** @param item BCS of a TransactionOnChainData, of which only the beginning is read */
  add(item: Buffer): void {
    const reader = new BcsReader(item);
    reader.u64();
    const variant = reader.variant(TRANSACTION_KINDS.length, 'Transaction');
    if (TRANSACTION_KINDS[variant] !== 'user') return;
    const { gasUnitPrice, payload } = RawTransaction.read(reader);
    this.count += 1;
    const lowest = this.lowestPrice;
    if (lowest === undefined || gasUnitPrice < lowest) this.lowestPrice = gasUnitPrice;
    const contract = calledContract(payload);
    if (contract === undefined) return;
    this.callsByContract.set(contract, (this.callsByContract.get(contract) ?? 0) + 1);
  }
}

/** The address whose module an entry function calls; `undefined` for other payloads and for reserved addresses. */
function calledContract(payload: TransactionPayload): Address | undefined {
  const call = executableOf(payload);
  if (call.kind !== 'entryFunction' || isReservedAddress(call.module.address)) return undefined;
  return call.module.address;
}

/** The executable of a payload. The older form of multisig payload is returned itself and does not count as a call. */
function executableOf(payload: TransactionPayload): Executable | TransactionPayload {
  if (payload.kind === 'payload') return payload.executable;
  const isReadable = payload.kind === 'encrypted' && payload.payload.state === 'decrypted';
  return isReadable ? payload.payload.executable : payload;
}
