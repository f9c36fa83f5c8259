/**
 * A chain in this process: takes transactions, makes blocks of them, and commits those to a ledger. One thing happens
 * at a time: a transaction is validated between two blocks.
 */
import { randomBytes } from 'node:crypto';
import type { LinkedCode } from '../execution/executor.ts';
import { ORDERLESS_FLAG } from '../execution/run-user-transaction.ts';
import { readSubmitted } from '../execution/simulated-transaction.ts';
import type { CommitterOptions } from '../ingest/committer.ts';
import { OverrideError } from '../ledger/overrides/override-error.ts';
import type { StateEdit } from '../ledger/overrides/state-edits.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import { DEFAULT_ACCOUNT_FLAG } from '../state/features.ts';
import type { OpenSource } from '../state/source.ts';
import { StoreError } from '../store/store-error.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { STATUS } from '../vm/status/status.ts';
import { nextTurn } from '../yield-budget.ts';
import { BlockMaker } from './block-maker.ts';
import { writesOfEdit } from './chain-edits.ts';
import type { ChainWatch } from './chain-watch.ts';
import type { Impersonation } from './impersonation.ts';
import { Mempool } from './mempool.ts';
import { type PendingTransaction, pendingTransaction } from './pending-transaction.ts';
import type { ReplayProtection } from './signed-call.ts';
import { refusedByMachine } from './submit-error.ts';

/** How long transactions are added to a block that nobody has asked for, in milliseconds. */
const MAX_BLOCK_MS = 2_000;
export const MAX_BLOCK_TRANSACTIONS = 1_000;
/** How long a transaction of the chain's own can wait, in seconds: less than any framework allows without a number. */
const OWN_LIFE_SECS = 30n;
/** The same with a sequence number, where nobody knows when the next block comes. */
const OWN_LONG_LIFE_SECS = 600n;
/** For how long transactions are executed before others get their turn, in milliseconds. */
const TURN_MS = 5;
/** How far the ledger's time may be behind when a transaction is validated, in microseconds. */
const MAX_LAG_USECS = 1_000_000n;
/** How long no block is made without transactions, in milliseconds. */
const IDLE_MS = 60_000;
/** How long a block waits for transactions that are on their way, in milliseconds: a block costs as much as two. */
const MAX_GATHERING_MS = 20;

export type Mining =
  /** As soon as a transaction can be executed. */
  | { readonly kind: 'auto' }
  | { readonly kind: 'interval'; readonly intervalMs: number }
  /** On request. */
  | { readonly kind: 'manual' };

/** What a chain knows besides its ledger. */
export interface ChainMemory {
  readonly pending: readonly PendingTransaction[];
  readonly aheadUsecs: bigint;
  readonly nextUsecs: bigint | undefined;
  /** What is linked of its code: linking it again takes a tenth of a second. */
  readonly code: LinkedCode | undefined;
}

interface ChainOptions extends CommitterOptions {
  readonly mining: Mining;
  /** How the ledger is read; absent: it is all in its store. */
  readonly openSource?: OpenSource | undefined;
  /**
   * The first version that is not a fork's; absent: nothing is. The clock of a chain on top of a fork goes on from the
   * time of the ledger: by that of the machine, an old fork would begin with the end of an epoch.
   */
  readonly firstVersion?: bigint | undefined;
  /** Accounts for which nobody has to sign. */
  readonly impersonation: Impersonation;
  /** Whether old versions are pruned meanwhile. */
  readonly isPruned?: boolean;
  /** That of another chain whose ledger was the same. */
  readonly memory?: ChainMemory | undefined;
  readonly watch?: ChainWatch | undefined;
  /** Gets failures that say nothing about a transaction. */
  readonly onFault: (error: unknown, pending: PendingTransaction) => void;
}

export class LocalChain {
  readonly #maker: BlockMaker;
  readonly #mempool = new Mempool();
  readonly #impersonation: Impersonation;
  readonly #onFault: ChainOptions['onFault'];
  readonly #watch: ChainWatch | undefined;
  #mining: Mining;
  /** The end of what is being done. */
  #turn: Promise<unknown> = Promise.resolve();
  #isMining = false;
  /** Transactions that are being checked. */
  #arriving = 0;
  /** What the chain's clock is ahead of the machine's, in microseconds. */
  #aheadUsecs = 0n;
  /** The time of the next block, in microseconds since 1970. */
  #nextUsecs: bigint | undefined;
  #change: Promise<void> | undefined;
  #tellOfChange = (): void => undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #fail!: (reason: unknown) => void;
  /** Rejects when no block can be made any more. Never resolves. */
  readonly lost = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  private constructor(maker: BlockMaker, options: ChainOptions) {
    const { mining, onFault, impersonation, memory, firstVersion } = options;
    this.#maker = maker;
    this.#mining = mining;
    this.#impersonation = impersonation;
    const ahead = maker.timestampUsecs - this.#nowUsecs();
    if (memory !== undefined) this.#aheadUsecs = memory.aheadUsecs;
    // The clock was moved before the chain was ended, or the ledger is a fork's.
    else if (ahead > 0n || firstVersion !== undefined) this.#aheadUsecs = ahead;
    this.#nextUsecs = memory?.nextUsecs;
    this.#onFault = onFault;
    this.#watch = options.watch;
    maker.executor.observer = options.watch?.runs;
    this.lost.catch(() => undefined);
    this.#schedule();
  }

  /** Goes on after the head of a ledger. */
  static async open(writer: LedgerWriter, options: ChainOptions): Promise<LocalChain> {
    const { openSource, firstVersion, memory, isPruned = false } = options;
    const { code } = memory ?? {};
    const maker = await BlockMaker.open(writer, options, openSource, firstVersion, code);
    if (isPruned || writer.head!.oldestVersion > 0n) await maker.countsState(writer.reader);
    const chain = new LocalChain(maker, options);
    for (const pending of memory?.pending ?? []) {
      chain.#mempool.insert(pending, await maker.sequenceNumber(pending.sender));
    }
    chain.#mineSoon();
    return chain;
  }

  /** Gives what the chain knows while it does nothing. */
  atRest<T>(work: (memory: ChainMemory) => MaybePromise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const { code } = this.#maker.executor;
      const clock = { aheadUsecs: this.#aheadUsecs, nextUsecs: this.#nextUsecs };
      return await work({ pending: this.#mempool.all(), ...clock, code });
    });
  }

  get version(): bigint {
    return this.#maker.version;
  }

  /** The time of the newest block, in microseconds since 1970. */
  get timestampUsecs(): bigint {
    return this.#maker.timestampUsecs;
  }

  /** Whether an account exists: where accounts are made when they are needed, each does. */
  async hasAccount(account: Address): Promise<boolean> {
    if (await this.#maker.executor.isFeatureEnabled(DEFAULT_ACCOUNT_FLAG)) return true;
    return (await this.#maker.account(account)) !== undefined;
  }

  /** `undefined` where nothing is stored of the account. */
  async authenticationKey(account: Address): Promise<Buffer | undefined> {
    return (await this.#maker.account(account))?.authenticationKey;
  }

  get waiting(): readonly PendingTransaction[] {
    return this.#mempool.all();
  }

  pending(hash: Uint8Array): PendingTransaction | undefined {
    return this.#mempool.find(hash);
  }

  /**
   * Takes a transaction.
   * @param signed BCS of the SignedTransaction
   * @throws SubmitError; LedgerError `invalid_input` for bytes that are no transaction
   */
  async submit(signed: Buffer): Promise<PendingTransaction> {
    const [taken] = await this.submitAll([signed]);
    if (taken instanceof Error) throw taken;
    return taken!;
  }

  /** Takes transactions before any of them is in a block. @returns each, or why it is not taken */
  async submitAll(items: readonly Buffer[]): Promise<readonly (PendingTransaction | Error)[]> {
    this.#arriving += 1;
    try {
      const read = await Promise.all(
        items.map((signed) => orError(() => this.#impersonation.read(signed))),
      );
      return await this.#inTurn(async () => {
        const taken: (PendingTransaction | Error)[] = [];
        for (const one of read) {
          if (one instanceof Error) taken.push(one);
          else taken.push(await orError(() => this.#take(one.first, one.unsigned)));
        }
        return taken;
      });
    } finally {
      this.#arriving -= 1;
      this.#mineSoon();
    }
  }

  /**
   * Takes a transaction that is signed when it is its turn.
   * @param signFor gives BCS of the SignedTransaction
   */
  async submitNext(
    sender: Address,
    signFor: (replay: ReplayProtection, expirationTimestampSecs: bigint) => Buffer,
  ): Promise<PendingTransaction> {
    const pending = await this.#inTurn(async () => {
      const replay = await this.#nextReplayProtection(sender);
      const life = 'nonce' in replay ? OWN_LIFE_SECS : OWN_LONG_LIFE_SECS;
      const signed = signFor(replay, this.#nextTime() / 1_000_000n + life);
      return await this.#take(pendingTransaction(readSubmitted(signed).transaction, signed));
    });
    this.#mineSoon();
    return pending;
  }

  /** A nonce where the chain takes transactions without sequence numbers: any number of those can wait. */
  async #nextReplayProtection(sender: Address): Promise<ReplayProtection> {
    const isSoon = this.#mining.kind === 'auto';
    if (isSoon && (await this.#maker.executor.isFeatureEnabled(ORDERLESS_FLAG))) {
      return { nonce: randomBytes(8).readBigUInt64BE() };
    }
    const committed = await this.#maker.sequenceNumber(sender);
    return { sequenceNumber: this.#mempool.nextSequenceNumber(sender, committed) };
  }

  /**
   * @param unsigned what is taken where another key has signed than the account's
   * @returns what was taken
   */
  async #take(
    pending: PendingTransaction,
    unsigned?: PendingTransaction,
  ): Promise<PendingTransaction> {
    if (this.#mining.kind === 'auto' && this.#nowUsecs() - this.timestampUsecs > MAX_LAG_USECS) {
      await this.#block();
    }
    const facts = { index: 0, sizeBytes: pending.bytes.length - 1 };
    const refusal = await this.#maker.executor.validate(pending.transaction, facts);
    // One that comes too early waits for those before it.
    if (refusal !== undefined && refusal.status !== 'SEQUENCE_NUMBER_TOO_NEW') {
      if (refusal.status === 'INVALID_AUTH_KEY' && unsigned !== undefined) {
        return await this.#take(unsigned);
      }
      throw refusedByMachine(refusal.status);
    }
    this.#mempool.insert(pending, await this.#maker.sequenceNumber(pending.sender));
    return pending;
  }

  /** Makes blocks, whatever waits. @param count 1 or more */
  async mine(count = 1): Promise<void> {
    for (let made = 0; made < count; made += 1) await this.#inTurn(() => this.#block());
  }

  /**
   * Changes the state by a transaction in a block of its own. The block comes a microsecond after the one before, so an
   * edit moves no clock.
   * @returns the version of the transaction
   * @throws OverrideError for what no ledger could have; nothing is changed then
   */
  async edit(edit: StateEdit): Promise<bigint> {
    const version = await this.#inTurn(async () => {
      // What cannot be done is refused before the block begins.
      await writesOfEdit(edit, this.#maker.executor);
      const isDone = await this.#orEnd(async () => {
        const isOpen = (await this.#maker.begin(0n)) || (await this.#maker.begin(0n));
        if (!isOpen) return false;
        await this.#maker.edit(edit);
        await this.#maker.end();
        return true;
      });
      if (!isDone) throw new OverrideError('each block of this chain ends its epoch');
      return this.version - 1n;
    });
    this.#mineSoon();
    return version;
  }

  /** Changes when blocks are made. */
  setMining(mining: Mining): void {
    this.#mining = mining;
    this.#schedule();
    this.#mineSoon();
  }

  get mining(): Mining {
    return this.#mining;
  }

  /** Moves the chain's clock by microseconds; back, too, but a block is never earlier than the one before. */
  moveTime(usecs: bigint): void {
    checkTime(this.#nowUsecs() + usecs);
    this.#aheadUsecs += usecs;
  }

  /** Sets the time of the next block; the clock goes on from there. @param usecs after the newest block's */
  setNextTime(usecs: bigint): void {
    checkTime(usecs);
    this.#nextUsecs = usecs;
  }

  /** Removes transactions that wait, or one of them. @returns how many */
  async drop(hash?: Uint8Array): Promise<number> {
    const dropped = await this.#inTurn(async () => {
      if (hash === undefined) return this.#mempool.clear();
      const pending = this.#mempool.find(hash);
      if (pending === undefined) return 0;
      this.#mempool.remove(pending);
      return 1;
    });
    this.#tellOfChange();
    return dropped;
  }

  /** Resolves when a block is committed next, or a transaction dropped. */
  changed(): Promise<void> {
    this.#change ??= new Promise((resolve) => {
      this.#tellOfChange = () => {
        this.#change = undefined;
        this.#tellOfChange = () => undefined;
        resolve();
      };
    });
    return this.#change;
  }

  /** Ends it after the block that is being made. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#mining = { kind: 'manual' };
    this.#failure ??= { reason: new Error('the chain has ended') };
    await this.#turn;
  }

  /** The time of a block that would be made now. */
  #nextTime(): bigint {
    const usecs = this.#nextUsecs ?? this.#nowUsecs();
    if (usecs > this.timestampUsecs) return usecs;
    return this.timestampUsecs;
  }

  #nowUsecs(): bigint {
    return BigInt(Date.now()) * 1_000n + this.#aheadUsecs;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(() => {
      if (this.#failure !== undefined) throw this.#failure.reason;
      return work();
    });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Makes blocks until nothing waits that could be executed. */
  #mineSoon(): void {
    if (this.#isMining || this.#mining.kind !== 'auto' || !this.#mempool.hasCandidates) return;
    this.#isMining = true;
    const mine = async (): Promise<void> => {
      while (this.#mining.kind === 'auto' && this.#mempool.hasCandidates) {
        await this.#gather();
        await this.#inTurn(() => this.#block());
      }
    };
    void mine()
      .catch(() => undefined)
      .finally(() => {
        this.#isMining = false;
        this.#schedule();
      });
  }

  /** Waits for what is being checked, and for what a client has sent right after it. */
  async #gather(): Promise<void> {
    const endMs = performance.now() + MAX_GATHERING_MS;
    do await nextTurn();
    while (this.#arriving > 0 && performance.now() < endMs);
  }

  /** The next block that comes without being asked for. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#mining.kind === 'manual') return;
    const waitMs = this.#mining.kind === 'interval' ? this.#mining.intervalMs : IDLE_MS;
    this.#timer = setTimeout(() => {
      void this.#inTurn(() => this.#block())
        .catch(() => undefined)
        .finally(() => this.#schedule());
    }, waitMs).unref();
  }

  #block(): Promise<void> {
    return this.#orEnd(() => this.#makeBlock());
  }

  /** A block that fails ends the chain: what is committed stays. */
  async #orEnd<T>(makeBlock: () => Promise<T>): Promise<T> {
    try {
      const made = await makeBlock();
      this.#tellOfChange();
      return made;
    } catch (reason) {
      this.#failure ??= { reason };
      this.#fail(reason);
      throw reason;
    }
  }

  async #makeBlock(): Promise<void> {
    const next = this.#nextUsecs;
    if (next !== undefined) this.#aheadUsecs += next - this.#nowUsecs();
    this.#nextUsecs = undefined;
    // A block that ends the epoch has no transactions. Where each one does, others have their turn in between.
    const isOver = !(await this.#maker.begin(next ?? this.#nowUsecs()));
    if (isOver && !this.#mempool.hasCandidates) return;
    if (isOver && !(await this.#maker.begin(this.#nowUsecs()))) return;
    const { committed, endsEpoch } = await this.#addTransactions();
    if (endsEpoch) await this.#maker.commit();
    else await this.#maker.end();
    for (const pending of committed) this.#mempool.committed(pending);
    this.#mempool.expire(this.timestampUsecs / 1_000_000n);
  }

  /** Adds transactions to the open block until it is full, or one of them ends the epoch. */
  async #addTransactions() {
    const committed: PendingTransaction[] = [];
    let endsEpoch = false;
    let turnMs = performance.now();
    const isAuto = this.#mining.kind === 'auto';
    const endMs = isAuto ? performance.now() + MAX_BLOCK_MS : Number.POSITIVE_INFINITY;
    for (const pending of this.#mempool.candidates()) {
      const nowMs = performance.now();
      if (endsEpoch || committed.length >= MAX_BLOCK_TRANSACTIONS || nowMs > endMs) break;
      if (nowMs - turnMs > TURN_MS) {
        await nextTurn();
        turnMs = performance.now();
      }
      const outcome = await this.#outcomeOf(pending);
      if (outcome?.isCommitted === true) {
        committed.push(pending);
        endsEpoch = outcome.endsEpoch;
      } else if (outcome?.statusCode !== TOO_NEW) this.#mempool.remove(pending);
    }
    return { committed, endsEpoch };
  }

  /** `undefined` where this node cannot execute it: nothing of it is in the block then. */
  async #outcomeOf(pending: PendingTransaction) {
    let outcome: Awaited<ReturnType<BlockMaker['add']>>;
    try {
      outcome = await this.#maker.add(pending);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.#onFault(error, pending);
      return undefined;
    }
    if (outcome.isCommitted) this.#watch?.added(pending.transaction, outcome.output);
    return outcome;
  }
}

/** What comes of some work, or why it failed. */
async function orError<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** The end of the year 9999, in microseconds since 1970. */
const MAX_TIME_USECS = 253_402_300_799_999_999n;

/** @throws RangeError */
function checkTime(usecs: bigint): void {
  if (usecs >= 0n && usecs <= MAX_TIME_USECS) return;
  throw new RangeError(`a time of ${usecs} microseconds is not between the years 1970 and 9999`);
}

const TOO_NEW = BigInt(STATUS.SEQUENCE_NUMBER_TOO_NEW);
