/**
 * The chain of a sample ledger: users' scenarios are signed, executed and committed block by block, as on a local
 * network. `daybook sample` and `--produce` use it. The contents of a block follow from the seed and its height, so
 * `growTo` gives the same bytes for the same settings, and a longer ledger begins with the shorter one.
 */
import { BlockMaker } from '../chain/block-maker.ts';
import { DEFAULT_CHAIN_ID, readDefaultGenesis } from '../chain/genesis/default-genesis.ts';
import { CORE_RESOURCES } from '../chain/genesis/genesis-keys.ts';
import { pendingTransaction } from '../chain/pending-transaction.ts';
import { readSubmitted } from '../execution/simulated-transaction.ts';
import { Committer, type CommitterOptions } from '../ingest/committer.ts';
import { readGenesis } from '../ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../ingest/genesis/genesis-waypoint.ts';
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { Address } from '../move/types/address.ts';
import { resourceAccountAddress } from '../move/types/derived-address.ts';
import { hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import {
  BEEF_ACCOUNT,
  FIRST_CREATOR_ACCOUNT,
  FIRST_ORDINARY_ACCOUNT,
  SampleAccounts,
} from './accounts.ts';
import { fundings, fundingTransaction, openingCalls } from './opening.ts';
import { Random } from './random.ts';
import { nextCalls } from './scenarios.ts';
import {
  checkSettings,
  readSampleSettings,
  SAMPLE_RESOURCE,
  SampleError,
  type SampleSettings,
} from './settings.ts';
import { buildTransaction, type Call } from './submission.ts';
import type { World } from './world.ts';

/**
 * Time of the first block, 2026-01-01, in microseconds since 1970. The gaps to the next blocks are in microseconds too.
 */
const FIRST_BLOCK_USECS = 1_767_225_600_000_000n;
const MIN_BLOCK_GAP_USECS = 150_000;
const MAX_BLOCK_GAP_USECS = 2_000_000;

/**
 * Maximum number of user transactions that are requested for a block; its last scenario may exceed it. The first blocks
 * are short, so that even a small ledger has several.
 */
export const MAX_BLOCK_USERS = 99;
const SHORT_BLOCKS = 20;
const MAX_SHORT_BLOCK_USERS = 9;
/** Number of ordinary accounts that become known with each block, until all are known. */
const NEW_ACCOUNTS = 20;

const EXPIRATION_SECS = 600;
/** The chain remembers nonces only for this long. */
const ORDERLESS_EXPIRATION_SECS = 60;
const GAS_UNIT_PRICE = 100n;
const LIMITS = { chainId: DEFAULT_CHAIN_ID, gasUnitPrice: GAS_UNIT_PRICE };
const MAX_GAS_AMOUNT = 200_000n;
/** Gas limit of the transactions that set up the ledger. */
const MAX_OPENING_GAS = 2_000_000n;

const MULTISIG_SEED = 'aptos_framework::multisig_account';
const PACKAGES = parseStructTag('0x1::code::PackageRegistry');

export class SampleChain {
  readonly #writer: LedgerWriter;
  readonly #maker: BlockMaker;
  readonly #settings: SampleSettings;
  readonly #accounts: SampleAccounts;
  readonly #multisig: Address;

  private constructor(writer: LedgerWriter, maker: BlockMaker, settings: SampleSettings) {
    this.#writer = writer;
    this.#maker = maker;
    this.#settings = settings;
    this.#accounts = new SampleAccounts(settings.seed, settings.accounts);
    this.#multisig = multisigOf(this.#accounts);
  }

  /** Begins a ledger in an empty store with genesis and the set-up of every sample. @throws SampleError */
  static async begin(
    writer: LedgerWriter,
    settings: SampleSettings,
    options?: CommitterOptions,
  ): Promise<SampleChain> {
    const checked = checkSettings(settings);
    const genesis = readGenesis(readDefaultGenesis().transaction);
    const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis));
    await new Committer(writer, options).pushAll([chunk]);
    const maker = await BlockMaker.open(writer, options);
    const chain = new SampleChain(writer, maker, checked);
    await chain.#open();
    return chain;
  }

  /**
   * Continues after the head of a ledger that this generator has begun.
   * @throws SampleError `not_this_sample`
   */
  static async resume(writer: LedgerWriter, options?: CommitterOptions): Promise<SampleChain> {
    const maker = await BlockMaker.open(writer, options);
    await maker.startCountingState(writer.reader);
    const tag = parseStructTag(SAMPLE_RESOURCE);
    const key = hashedStateKey(resourceStateKey(tag.address, tag));
    const bytes = await maker.executor.state(key);
    if (bytes === undefined) {
      throw new SampleError('not_this_sample', 'the ledger is not a sample ledger');
    }
    return new SampleChain(writer, maker, readSampleSettings(bytes));
  }

  get version(): bigint {
    return this.#maker.version;
  }

  /** Adds blocks until the ledger has at least this many transactions. The last block is completed. */
  async growTo(transactions: number): Promise<void> {
    while (this.version + 1n < BigInt(transactions)) {
      const random = this.#nextRandom();
      const gap = BigInt(random.between(MIN_BLOCK_GAP_USECS, MAX_BLOCK_GAP_USECS));
      const most = this.#height < SHORT_BLOCKS ? MAX_SHORT_BLOCK_USERS : MAX_BLOCK_USERS;
      await this.#makeBlock(random, random.between(1, most), this.#maker.timestampUsecs + gap);
    }
  }

  /**
   * Adds one block. @param usecs its time in microseconds since 1970; must be later than the previous block to take
   * effect
   */
  async addBlock(users: number, usecs: bigint): Promise<void> {
    await this.#makeBlock(this.#nextRandom(), users, usecs);
  }

  get #height(): number {
    return Number(this.#writer.head!.blockHeight);
  }

  #nextRandom(): Random {
    return new Random(this.#settings.seed, `block ${this.#height + 1}`);
  }

  async #open(): Promise<void> {
    const facts = {
      ...LIMITS,
      maxGasAmount: MAX_OPENING_GAS,
      expirationTimestampSecs: FIRST_BLOCK_USECS / 1_000_000n + BigInt(EXPIRATION_SECS),
    };
    let usecs = FIRST_BLOCK_USECS;
    // The first block ends the epoch of genesis.
    while (!(await this.#maker.begin(usecs))) usecs += 1_000_000n;
    for (const call of fundings(this.#accounts)) {
      const next = await this.#maker.sequenceNumber(CORE_RESOURCES);
      await this.#submit(fundingTransaction(call, next, facts));
    }
    const random = this.#nextRandom();
    for (const call of openingCalls(this.#settings, this.#accounts)) {
      await this.#add({ maxGasAmount: MAX_OPENING_GAS, ...call }, random);
    }
    await this.#maker.end();
  }

  async #makeBlock(random: Random, users: number, usecs: bigint): Promise<void> {
    // A block that ends the epoch takes no transactions.
    if (!(await this.#maker.begin(usecs))) return;
    for (let added = 0; added < users; ) {
      const calls = nextCalls(await this.#world(random));
      for (const call of calls) await this.#add(call, random);
      added += calls.length;
    }
    await this.#maker.end();
  }

  async #world(random: Random): Promise<World> {
    const accounts = this.#accounts;
    const { signers } = accounts;
    const known = Math.min(this.#settings.accounts, signers + NEW_ACCOUNTS * this.#height);
    return {
      random,
      accounts,
      known: FIRST_ORDINARY_ACCOUNT + known,
      multisig: this.#multisig,
      publications: await this.#publications(),
    };
  }

  async #publications(): Promise<number> {
    const key = hashedStateKey(resourceStateKey(this.#accounts.address(BEEF_ACCOUNT), PACKAGES));
    const bytes = await this.#maker.executor.state(key);
    if (bytes === undefined) return 0;
    const reader = new BcsReader(Buffer.from(bytes));
    // The registry begins with the count of packages, then the name, the policy and the upgrade count of the only one.
    reader.uleb32();
    reader.bytes();
    reader.u8();
    return Number(reader.u64()) + 1;
  }

  async #add(call: Call, random: Random): Promise<void> {
    const accounts = this.#accounts;
    const account = await this.#maker.account(accounts.address(call.sender));
    if (account !== undefined) accounts.switchToKey(call.sender, account.authenticationKey);
    const seconds = Number(this.#maker.timestampUsecs / 1_000_000n);
    const lifetimeSecs = call.form === 'orderless' ? ORDERLESS_EXPIRATION_SECS : EXPIRATION_SECS;
    const signed = buildTransaction(accounts, call, {
      ...LIMITS,
      maxGasAmount: MAX_GAS_AMOUNT,
      sequenceNumber: Number(account?.sequenceNumber ?? 0n),
      expiration: seconds + lifetimeSecs,
      nonce: (BigInt(random.u32()) << 32n) | BigInt(random.u32()),
    });
    await this.#submit(signed);
  }

  /**
   * Adds a transaction to the block. One that cannot be committed is dropped, such as that of an account without coins.
   * @param signed BCS of the SignedTransaction
   */
  async #submit(signed: Buffer): Promise<void> {
    const { transaction } = readSubmitted(signed);
    await this.#maker.add(pendingTransaction(transaction, signed));
  }
}

/** The multisig account that the first creator creates with its first transaction. */
function multisigOf(accounts: SampleAccounts): Address {
  const seed = Buffer.concat([Buffer.from(MULTISIG_SEED), encodeBcs((to) => to.u64(0n))]);
  return resourceAccountAddress(accounts.address(FIRST_CREATOR_ACCOUNT), seed);
}
