/**
 * A chain in this process: accepts transactions, makes blocks of them, and commits the blocks to a ledger. Work is done
 * one piece at a time: a transaction is validated between two blocks.
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
import { vmRejection } from './submit-error.ts';

/** How long transactions are added to a block if mining is automatic, in milliseconds. */
const MAX_BLOCK_MS = 2_000;
export const MAX_BLOCK_TRANSACTIONS = 1_000;
/** Lifetime of the chain's own transactions, in seconds: less than any framework's limit for orderless ones. */
const OWN_LIFETIME_SECS = 30n;
/** The same with a sequence number: the next block may come much later. */
const OWN_LONG_LIFETIME_SECS = 600n;
/** How long transactions are executed before other work gets its turn, in milliseconds. */
const YIELD_INTERVAL_MS = 5;
/** How far the ledger's time may be behind when a transaction is validated with automatic mining, in microseconds. */
const MAX_LAG_USECS = 1_000_000n;
/** Time between blocks without transactions if mining is automatic, in milliseconds. */
const IDLE_MS = 60_000;
/** How long a block waits for more transactions, in milliseconds: a block itself costs as much as two of them. */
const MAX_SUBMISSION_WAIT_MS = 20;

export type Mining =
  /** Makes a block as soon as a transaction can be executed. */
  | { readonly kind: 'auto' }
  | { readonly kind: 'interval'; readonly intervalMs: number }
  /** Makes blocks on request only. */
  | { readonly kind: 'manual' };

/** State of a chain that is not in its ledger. */
export interface ChainMemory {
  readonly pending: readonly PendingTransaction[];
  readonly aheadUsecs: bigint;
  readonly nextUsecs: bigint | undefined;
  /** The linked code, if any: linking it again takes a tenth of a second. */
  readonly code: LinkedCode | undefined;
}

interface ChainOptions extends CommitterOptions {
  readonly mining: Mining;
  /** How the ledger is read; absent if its store has all of it. */
  readonly openSource?: OpenSource | undefined;
  /**
   * The first version that is not a fork's; absent without a fork. The clock of a chain on top of a fork continues from
   * the ledger's time: with the machine's time, the first block on an old fork would end the epoch.
   */
  readonly firstVersion?: bigint | undefined;
  /** Accounts for which nobody has to sign. */
  readonly impersonation: Impersonation;
  /** Whether old versions are pruned while the chain runs. */
  readonly isPruned?: boolean;
  /** The memory of an earlier chain with the same ledger. */
  readonly memory?: ChainMemory | undefined;
  readonly watch?: ChainWatch | undefined;
  /** Gets failures of this node to execute a transaction, which is then dropped. */
  readonly onFault: (error: unknown, pending: PendingTransaction) => void;
}

export class LocalChain {
  readonly #maker: BlockMaker;
  readonly #mempool = new Mempool();
  readonly #impersonation: Impersonation;
  readonly #onFault: ChainOptions['onFault'];
  readonly #watch: ChainWatch | undefined;
  #mining: Mining;
  /** Resolves when all work so far is done. */
  #queue: Promise<unknown> = Promise.resolve();
  #isMining = false;
  /** Calls of `submitAll` that are not finished. */
  #openSubmissions = 0;
  /** How far the chain's clock is ahead of the machine's, in microseconds. */
  #aheadUsecs = 0n;
  /** The time of the next block, in microseconds since 1970. */
  #nextUsecs: bigint | undefined;
  #change: Promise<void> | undefined;
  #notifyChange = (): void => undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #fail!: (reason: unknown) => void;
  /** Rejects when no more blocks can be made. Never resolves. */
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
    // The clock was moved before an earlier chain ended, or the ledger continues a fork.
    else if (ahead > 0n || firstVersion !== undefined) this.#aheadUsecs = ahead;
    this.#nextUsecs = memory?.nextUsecs;
    this.#onFault = onFault;
    this.#watch = options.watch;
    maker.executor.observer = options.watch?.runs;
    this.lost.catch(() => undefined);
    this.#schedule();
  }

  /** Continues after the head of a ledger. */
  static async open(writer: LedgerWriter, options: ChainOptions): Promise<LocalChain> {
    const { openSource, firstVersion, memory, isPruned = false } = options;
    const { code } = memory ?? {};
    const maker = await BlockMaker.open(writer, options, openSource, firstVersion, code);
    if (isPruned || writer.head!.oldestVersion > 0n) await maker.startCountingState(writer.reader);
    const chain = new LocalChain(maker, options);
    for (const pending of memory?.pending ?? []) {
      chain.#mempool.insert(pending, await maker.sequenceNumber(pending.sender));
    }
    chain.#mineSoon();
    return chain;
  }

  /** Runs `work` with the chain's memory while the chain does nothing else. */
  runExclusive<T>(work: (memory: ChainMemory) => MaybePromise<T>): Promise<T> {
    return this.#enqueue(async () => {
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

  /** Whether an account exists. If the chain creates accounts on demand, each one does. */
  async hasAccount(account: Address): Promise<boolean> {
    if (await this.#maker.executor.isFeatureEnabled(DEFAULT_ACCOUNT_FLAG)) return true;
    return (await this.#maker.account(account)) !== undefined;
  }

  /** `undefined` if no resource of the account is stored. */
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
   * Accepts a transaction.
   * @param signed BCS of the SignedTransaction
   * @throws SubmitError; LedgerError `invalid_input` for bytes that are no transaction
   */
  async submit(signed: Buffer): Promise<PendingTransaction> {
    const [accepted] = await this.submitAll([signed]);
    if (accepted instanceof Error) throw accepted;
    return accepted!;
  }

  /** Accepts transactions before any of them is in a block. @returns each, or the error that refuses it */
  async submitAll(items: readonly Buffer[]): Promise<readonly (PendingTransaction | Error)[]> {
    this.#openSubmissions += 1;
    try {
      const read = await Promise.all(
        items.map((signed) => orError(() => this.#impersonation.read(signed))),
      );
      return await this.#enqueue(async () => {
        const accepted: (PendingTransaction | Error)[] = [];
        for (const one of read) {
          if (one instanceof Error) accepted.push(one);
          else accepted.push(await orError(() => this.#accept(one.first, one.unsigned)));
        }
        return accepted;
      });
    } finally {
      this.#openSubmissions -= 1;
      this.#mineSoon();
    }
  }

  /**
   * Accepts a transaction that is signed when its turn comes.
   * @param signFor returns the BCS of the SignedTransaction
   */
  async submitNext(
    sender: Address,
    signFor: (replay: ReplayProtection, expirationTimestampSecs: bigint) => Buffer,
  ): Promise<PendingTransaction> {
    const pending = await this.#enqueue(async () => {
      const replay = await this.#nextReplayProtection(sender);
      const lifetimeSecs = 'nonce' in replay ? OWN_LIFETIME_SECS : OWN_LONG_LIFETIME_SECS;
      const signed = signFor(replay, this.#nextTime() / 1_000_000n + lifetimeSecs);
      return await this.#accept(pendingTransaction(readSubmitted(signed).transaction, signed));
    });
    this.#mineSoon();
    return pending;
  }

  /** A nonce if mining is automatic and orderless transactions are enabled: more of them can wait. */
  async #nextReplayProtection(sender: Address): Promise<ReplayProtection> {
    const isAutomatic = this.#mining.kind === 'auto';
    if (isAutomatic && (await this.#maker.executor.isFeatureEnabled(ORDERLESS_FLAG))) {
      return { nonce: randomBytes(8).readBigUInt64BE() };
    }
    const committed = await this.#maker.sequenceNumber(sender);
    return { sequenceNumber: this.#mempool.nextSequenceNumber(sender, committed) };
  }

  /**
   * @param unsigned accepted instead if a key other than the account's has signed `pending`
   * @returns the accepted one
   */
  async #accept(
    pending: PendingTransaction,
    unsigned?: PendingTransaction,
  ): Promise<PendingTransaction> {
    if (this.#mining.kind === 'auto' && this.#nowUsecs() - this.timestampUsecs > MAX_LAG_USECS) {
      await this.#block();
    }
    const facts = { index: 0, sizeBytes: pending.bytes.length - 1 };
    const refusal = await this.#maker.executor.validate(pending.transaction, facts);
    // A transaction that arrives too early waits for those before it.
    if (refusal !== undefined && refusal.status !== 'SEQUENCE_NUMBER_TOO_NEW') {
      if (refusal.status === 'INVALID_AUTH_KEY' && unsigned !== undefined) {
        return await this.#accept(unsigned);
      }
      throw vmRejection(refusal.status);
    }
    this.#mempool.insert(pending, await this.#maker.sequenceNumber(pending.sender));
    return pending;
  }

  /** Makes blocks, with or without transactions. @param count 1 or more */
  async mine(count = 1): Promise<void> {
    for (let mined = 0; mined < count; mined += 1) await this.#enqueue(() => this.#block());
  }

  /**
   * Changes the state by a transaction in a block of its own. The block is only a microsecond after the previous one,
   * so an edit does not move the clock.
   * @returns the version of the transaction
   * @throws OverrideError for values that no ledger could have, or if each block ends its epoch; nothing is edited then
   */
  async edit(edit: StateEdit): Promise<bigint> {
    const version = await this.#enqueue(async () => {
      // Impossible edits are refused before the block begins.
      await writesOfEdit(edit, this.#maker.executor);
      const isDone = await this.#stopOnFailure(async () => {
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

  /** Moves the chain's clock, forward or back; a block is still never earlier than the previous one. */
  moveTime(usecs: bigint): void {
    checkTime(this.#nowUsecs() + usecs);
    this.#aheadUsecs += usecs;
  }

  /** Sets the time of the next block; the clock continues from it. @param usecs since 1970, after the newest block */
  setNextTime(usecs: bigint): void {
    checkTime(usecs);
    this.#nextUsecs = usecs;
  }

  /** Removes all pending transactions, or one of them. @returns how many */
  async drop(hash?: Uint8Array): Promise<number> {
    const dropped = await this.#enqueue(async () => {
      if (hash === undefined) return this.#mempool.clear();
      const pending = this.#mempool.find(hash);
      if (pending === undefined) return 0;
      this.#mempool.remove(pending);
      return 1;
    });
    this.#notifyChange();
    return dropped;
  }

  /** Resolves when the next block is committed or transactions are dropped. */
  changed(): Promise<void> {
    this.#change ??= new Promise((resolve) => {
      this.#notifyChange = () => {
        this.#change = undefined;
        this.#notifyChange = () => undefined;
        resolve();
      };
    });
    return this.#change;
  }

  /** Ends the chain after the block that is being made. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#mining = { kind: 'manual' };
    this.#failure ??= { reason: new Error('the chain has ended') };
    await this.#queue;
  }

  /** The time of a block made now. */
  #nextTime(): bigint {
    const usecs = this.#nextUsecs ?? this.#nowUsecs();
    if (usecs > this.timestampUsecs) return usecs;
    return this.timestampUsecs;
  }

  #nowUsecs(): bigint {
    return BigInt(Date.now()) * 1_000n + this.#aheadUsecs;
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(() => {
      if (this.#failure !== undefined) throw this.#failure.reason;
      return work();
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Makes blocks until no pending transaction can be executed. */
  #mineSoon(): void {
    if (this.#isMining || this.#mining.kind !== 'auto' || !this.#mempool.hasCandidates) return;
    this.#isMining = true;
    const mine = async (): Promise<void> => {
      while (this.#mining.kind === 'auto' && this.#mempool.hasCandidates) {
        await this.#awaitSubmissions();
        await this.#enqueue(() => this.#block());
      }
    };
    void mine()
      .catch(() => undefined)
      .finally(() => {
        this.#isMining = false;
        this.#schedule();
      });
  }

  /** Waits for transactions that are being checked, and for those that a client has sent right after them. */
  async #awaitSubmissions(): Promise<void> {
    const endMs = performance.now() + MAX_SUBMISSION_WAIT_MS;
    do await nextTurn();
    while (this.#openSubmissions > 0 && performance.now() < endMs);
  }

  /** Sets the timer of the next block that is made without a request. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#mining.kind === 'manual') return;
    const waitMs = this.#mining.kind === 'interval' ? this.#mining.intervalMs : IDLE_MS;
    this.#timer = setTimeout(() => {
      void this.#enqueue(() => this.#block())
        .catch(() => undefined)
        .finally(() => this.#schedule());
    }, waitMs).unref();
  }

  #block(): Promise<void> {
    return this.#stopOnFailure(() => this.#makeBlock());
  }

  /** A block that fails ends the chain; committed blocks stay. */
  async #stopOnFailure<T>(makeBlock: () => Promise<T>): Promise<T> {
    try {
      const result = await makeBlock();
      this.#notifyChange();
      return result;
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
    // A block that ends the epoch has no transactions. If each block ends one, other work gets its turn in between.
    const isComplete = !(await this.#maker.begin(next ?? this.#nowUsecs()));
    if (isComplete && !this.#mempool.hasCandidates) return;
    if (isComplete && !(await this.#maker.begin(this.#nowUsecs()))) return;
    const { committed, endsEpoch } = await this.#addTransactions();
    if (endsEpoch) await this.#maker.commit();
    else await this.#maker.end();
    for (const pending of committed) this.#mempool.committed(pending);
    this.#mempool.expire(this.timestampUsecs / 1_000_000n);
  }

  /** Adds transactions to the open block until it is full or one of them ends the epoch. */
  async #addTransactions() {
    const committed: PendingTransaction[] = [];
    let endsEpoch = false;
    let yieldedMs = performance.now();
    const isAuto = this.#mining.kind === 'auto';
    const endMs = isAuto ? performance.now() + MAX_BLOCK_MS : Number.POSITIVE_INFINITY;
    for (const pending of this.#mempool.candidates()) {
      const nowMs = performance.now();
      if (endsEpoch || committed.length >= MAX_BLOCK_TRANSACTIONS || nowMs > endMs) break;
      if (nowMs - yieldedMs > YIELD_INTERVAL_MS) {
        await nextTurn();
        yieldedMs = performance.now();
      }
      const outcome = await this.#outcomeOf(pending);
      if (outcome?.isCommitted === true) {
        committed.push(pending);
        endsEpoch = outcome.endsEpoch;
      } else if (outcome?.statusCode !== SEQUENCE_NUMBER_TOO_NEW) this.#mempool.remove(pending);
    }
    return { committed, endsEpoch };
  }

  /** `undefined` if this node cannot execute the transaction; the block contains nothing of it then. */
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

/** The result of `work`, or its error. */
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

const SEQUENCE_NUMBER_TOO_NEW = BigInt(STATUS.SEQUENCE_NUMBER_TOO_NEW);
