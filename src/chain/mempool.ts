/**
 * Transactions that wait for a block, as in the reference's mempool (docs/spec/transactions.md §9.5). Those of an
 * account are ordered by their sequence numbers and wait at a gap; orderless ones are identified by their nonces.
 */
import type { Address } from '../move/types/address.ts';
import type { PendingTransaction } from './pending-transaction.ts';
import { SubmitError } from './submit-error.ts';

export interface MempoolLimits {
  readonly maxTransactions: number;
  /** BCS of all transactions together. */
  readonly maxBytes: number;
  /** Transactions of one account with sequence numbers. */
  readonly maxOfAccount: number;
  /** Transactions of one account without sequence numbers. */
  readonly maxOrderlessOfAccount: number;
  /** Maximum time that a transaction waits, in milliseconds of the machine's clock. */
  readonly maxWaitMs: number;
}

/** The limits of one account and the maximum wait are the reference's. */
export const MEMPOOL_LIMITS: MempoolLimits = {
  maxTransactions: 50_000,
  maxBytes: 128 * 1024 * 1024,
  maxOfAccount: 100,
  maxOrderlessOfAccount: 5_000,
  maxWaitMs: 600_000,
};

interface Entry {
  readonly pending: PendingTransaction;
  /** Position in the order of arrival. */
  readonly place: number;
  readonly arrivedMs: number;
}

class Account {
  /** The next sequence number. */
  next = 0n;
  readonly ordered = new Map<bigint, Entry>();
  readonly orderless = new Map<bigint, Entry>();

  get isEmpty(): boolean {
    return this.ordered.size === 0 && this.orderless.size === 0;
  }

  /** The transactions that can be executed one after the other. */
  *ready(): Generator<Entry> {
    for (let at = this.next; this.ordered.has(at); at += 1n) yield this.ordered.get(at)!;
  }

  /** A transaction that waits for missing ones. */
  parked(): Entry | undefined {
    const ready = new Set(this.ready());
    if (ready.size === this.ordered.size) return undefined;
    for (const entry of this.ordered.values()) if (!ready.has(entry)) return entry;
    return undefined;
  }

  /** Whether no transaction before a sequence number is missing. */
  isNext(sequenceNumber: bigint): boolean {
    let at = this.next;
    while (at < sequenceNumber && this.ordered.has(at)) at += 1n;
    return at === sequenceNumber;
  }
}

/** A transaction that can be in the next block, with its sort keys. */
interface Candidate {
  readonly pending: PendingTransaction;
  /** The lowest price of it and of those that must come before it. */
  readonly price: bigint;
  /** The highest place of it and of those that must come before it. */
  readonly place: number;
}

export class Mempool {
  readonly #limits: MempoolLimits;
  readonly #accounts = new Map<Address, Account>();
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #places = 0;

  constructor(limits = MEMPOOL_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  all(): PendingTransaction[] {
    return [...this.#entries.values()].map(({ pending }) => pending);
  }

  find(hash: Uint8Array): PendingTransaction | undefined {
    return this.#entries.get(idOf(hash))?.pending;
  }

  /**
   * Adds a transaction.
   * @param sequenceNumber the next one of the sender on the chain
   * @throws SubmitError `sequence_number_too_old`, `invalid_transaction_update`, `mempool_is_full`
   */
  insert(pending: PendingTransaction, sequenceNumber: bigint): void {
    const { sender, nonce } = pending;
    const account = this.#accounts.get(sender) ?? new Account();
    if (sequenceNumber > account.next) account.next = sequenceNumber;
    const own = nonce === undefined ? account.ordered : account.orderless;
    const number = nonce ?? pending.transaction.raw.sequenceNumber;
    const known = own.get(number);
    if (known !== undefined) {
      if (!replaces(pending, known.pending)) return;
      this.#remove(known.pending);
    }
    if (nonce === undefined && number < account.next) {
      const text = `transaction sequence number is ${number}, current sequence number is  ${account.next}`;
      throw new SubmitError('sequence_number_too_old', text);
    }
    this.#assertSpace(pending, account);
    const { length } = pending.bytes;
    const entry = { pending, place: this.#places, arrivedMs: performance.now() };
    this.#places += 1;
    this.#bytes += length;
    own.set(number, entry);
    this.#entries.set(idOf(pending.hash), entry);
    this.#accounts.set(sender, account);
  }

  /** The transactions that can be in the next block, in order: by price, then by arrival. */
  candidates(): PendingTransaction[] {
    const found: Candidate[] = [];
    for (const account of this.#accounts.values()) {
      let price: bigint | undefined;
      let place = 0;
      for (const entry of account.ready()) {
        const own = priceOf(entry.pending);
        price = price === undefined || own < price ? own : price;
        place = Math.max(place, entry.place);
        found.push({ pending: entry.pending, price, place });
      }
      for (const { pending, place: own } of account.orderless.values()) {
        found.push({ pending, price: priceOf(pending), place: own });
      }
    }
    found.sort(byPriceAndPlace);
    return found.map(({ pending }) => pending);
  }

  /** The number that the next transaction of an account needs. @param committed the next one on the chain */
  nextSequenceNumber(sender: Address, committed: bigint): bigint {
    const account = this.#accounts.get(sender);
    let next = committed;
    while (account?.ordered.has(next) === true) next += 1n;
    return next;
  }

  get hasCandidates(): boolean {
    for (const account of this.#accounts.values()) {
      if (account.orderless.size > 0 || account.ordered.has(account.next)) return true;
    }
    return false;
  }

  committed(pending: PendingTransaction): void {
    const account = this.#accounts.get(pending.sender);
    const after = pending.transaction.raw.sequenceNumber + 1n;
    if (account !== undefined && pending.nonce === undefined && account.next < after) {
      account.next = after;
    }
    this.remove(pending);
  }

  remove(pending: PendingTransaction): void {
    if (this.#entries.get(idOf(pending.hash))?.pending === pending) this.#remove(pending);
  }

  /** Removes all. @returns how many */
  clear(): number {
    const { size } = this;
    this.#accounts.clear();
    this.#entries.clear();
    this.#bytes = 0;
    return size;
  }

  /**
   * Removes transactions that have expired or waited too long.
   * @param ledgerSecs the ledger's time, in seconds since 1970
   */
  expire(ledgerSecs: bigint): void {
    const oldestMs = performance.now() - this.#limits.maxWaitMs;
    for (const { pending, arrivedMs } of this.#entries.values()) {
      const { expirationTimestampSecs } = pending.transaction.raw;
      if (expirationTimestampSecs < ledgerSecs || arrivedMs < oldestMs) this.#remove(pending);
    }
  }

  /** @throws SubmitError `mempool_is_full` */
  #assertSpace(pending: PendingTransaction, account: Account): void {
    const { maxTransactions, maxOfAccount, maxOrderlessOfAccount } = this.#limits;
    const { nonce, transaction } = pending;
    const isReady = nonce !== undefined || account.isNext(transaction.raw.sequenceNumber);
    while (this.#isFullFor(pending)) {
      if (isReady && this.#evictParked()) continue;
      const text = `Mempool is full. Mempool size: ${this.size}, Capacity: ${maxTransactions}`;
      throw new SubmitError('mempool_is_full', text);
    }
    const isOrderless = nonce !== undefined;
    const { size } = isOrderless ? account.orderless : account.ordered;
    const limit = isOrderless ? maxOrderlessOfAccount : maxOfAccount;
    if (size < limit) return;
    const kind = isOrderless ? 'orderless' : 'seq number';
    const text =
      `Mempool over capacity for account. Number of ${kind} transactions from account: ${size} ` +
      `Capacity per account: ${limit}`;
    throw new SubmitError('mempool_is_full', text);
  }

  #isFullFor({ bytes }: PendingTransaction): boolean {
    const { maxTransactions, maxBytes } = this.#limits;
    return this.size >= maxTransactions || this.#bytes + bytes.length > maxBytes;
  }

  /** Removes a transaction that waits for missing ones, to make space for one that can be executed. */
  #evictParked(): boolean {
    for (const account of this.#accounts.values()) {
      const parked = account.parked();
      if (parked === undefined) continue;
      this.#remove(parked.pending);
      return true;
    }
    return false;
  }

  #remove({ sender, nonce, transaction, hash, bytes }: PendingTransaction): void {
    const account = this.#accounts.get(sender)!;
    if (nonce === undefined) account.ordered.delete(transaction.raw.sequenceNumber);
    else account.orderless.delete(nonce);
    if (account.isEmpty) this.#accounts.delete(sender);
    this.#entries.delete(idOf(hash));
    this.#bytes -= bytes.length;
  }
}

function idOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1');
}

function priceOf({ transaction }: PendingTransaction): bigint {
  return transaction.raw.gasUnitPrice;
}

function byPriceAndPlace(one: Candidate, other: Candidate): number {
  if (one.price !== other.price) return one.price > other.price ? -1 : 1;
  return one.place - other.place;
}

/**
 * Whether a transaction replaces one with the same number.
 * @returns false if both are the same
 * @throws SubmitError `invalid_transaction_update`
 */
function replaces(pending: PendingTransaction, known: PendingTransaction): boolean {
  const [ours, theirs] = [pending.transaction.raw, known.transaction.raw];
  const different = !pending.payload.equals(known.payload)
    ? 'a different payload'
    : ours.expirationTimestampSecs !== theirs.expirationTimestampSecs
      ? 'a different expiration timestamp'
      : ours.maxGasAmount !== theirs.maxGasAmount
        ? 'a different max gas amount'
        : ours.gasUnitPrice < theirs.gasUnitPrice
          ? 'a higher gas price'
          : undefined;
  if (different !== undefined) {
    const text = `Transaction already in mempool with ${different}`;
    throw new SubmitError('invalid_transaction_update', text);
  }
  return ours.gasUnitPrice > theirs.gasUnitPrice;
}
