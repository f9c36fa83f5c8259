/**
 * Makes blocks as a validator of the reference does: block metadata, user transactions, epilogue. Each transaction runs
 * on the state that the previous one has left, and a block is committed as a whole (docs/spec/ledger.md §2.4, §2.5).
 */
import type { EncodedTransaction, TransactionOutput } from '../execution/execute.ts';
import { Executor, type LinkedCode } from '../execution/executor.ts';
import { ChunkBuilder } from '../ingest/chunk-builder.ts';
import { Committer, type CommitterOptions } from '../ingest/committer.ts';
import type { StateEdit } from '../ledger/overrides/state-edits.ts';
import { BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import { domainHash, sha3 } from '../move/crypto/hash.ts';
import { type BlockEpilogue, BlockMetadata } from '../move/transactions/block-transaction.ts';
import { ContractEvent } from '../move/transactions/event.ts';
import { encodeWriteSetTransaction, Transaction } from '../move/transactions/transaction.ts';
import { validatorSetCodec } from '../move/transactions/waypoint.ts';
import { WriteSet } from '../move/transactions/write-set.ts';
import { ADDRESS_ONE, ADDRESS_ZERO, type Address } from '../move/types/address.ts';
import {
  ACCOUNT_TAG,
  frameworkTag,
  isFrameworkStruct,
  VALIDATOR_SET_TAG,
} from '../move/types/framework-tag.ts';
import { type HashedStateKey, hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import type { StructTag } from '../move/types/type-tag.ts';
import {
  type Account,
  accountCodec,
  blockResourceCodec,
} from '../move/values/framework-resource.ts';
import { type OpenSource, storedSource } from '../state/source.ts';
import { readHead } from '../store/columns/head.ts';
import { stateTreeAt } from '../store/read/live-state.ts';
import type { StoreReader } from '../store/store.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { writesOfEdit } from './chain-edits.ts';
import { liveUsage } from './live-usage.ts';
import type { PendingTransaction } from './pending-transaction.ts';
import { LedgerRecorder } from './recorder.ts';

/** The result of adding a user transaction to a block. */
type BlockOutcome =
  | {
      readonly isCommitted: true;
      readonly output: TransactionOutput;
      /** If so, nothing more may be added to the block. */
      readonly endsEpoch: boolean;
    }
  /** The transaction is not in the block. */
  | { readonly isCommitted: false; readonly statusCode: bigint };

interface OpenBlock {
  readonly id: Buffer;
  readonly builder: ChunkBuilder;
  /** The validators' part of its fees, in octas. */
  fees: bigint;
  gasUsed: bigint;
  outputBytes: number;
  index: number;
}

const CONFIGURATION_KEY = frameworkKey(frameworkTag('reconfiguration', 'Configuration'));
const KEY_GENERATION_KEY = frameworkKey(frameworkTag('dkg', 'DKGState'));
const DECRYPTION_KEYS_KEY = frameworkKey(frameworkTag('chunky_dkg', 'ChunkyDKGState'));
const BLOCK_KEY = frameworkKey(frameworkTag('block', 'BlockResource'));
const VALIDATORS_KEY = frameworkKey(VALIDATOR_SET_TAG);
const RANDOMNESS_KEY = frameworkKey(frameworkTag('randomness', 'PerBlockRandomness'));

/** Feature flag of the reference: validators get the fees of a block at its end. */
const FEE_DISTRIBUTION_FLAG = 96;
/** The part of the gas price that is burnt, in octas per unit; the reference's default. */
const BURNT_GAS_PRICE = 90n;
/** Bit vector with the vote of the first validator only. */
const ONE_VOTE = Buffer.of(0x80);

export class BlockMaker {
  readonly #executor: Executor;
  readonly #recorder: LedgerRecorder;
  readonly #committer: Committer;
  /** The id of the newest block. */
  #parent: Buffer;
  #round: bigint;
  #epoch: bigint;
  #timestampUsecs: bigint;
  /** Index of the validator that proposes the open block. */
  #validatorIndex: bigint | undefined;
  #open: OpenBlock | undefined;
  /** Whether the state is counted with each block; otherwise only when an epoch ends. */
  #countsState = false;

  private constructor(
    executor: Executor,
    recorder: LedgerRecorder,
    committer: Committer,
    newest: { readonly id: Buffer; readonly round: bigint; readonly epoch: bigint },
    timestampUsecs: bigint,
  ) {
    this.#executor = executor;
    this.#recorder = recorder;
    this.#committer = committer;
    this.#parent = newest.id;
    this.#round = newest.round;
    this.#epoch = newest.epoch;
    this.#timestampUsecs = timestampUsecs;
  }

  /** Continues after the head of a ledger that ends with a whole block. @param openSource how the ledger is read */
  static async open(
    writer: LedgerWriter,
    options?: CommitterOptions,
    openSource: OpenSource = storedSource,
    firstVersion?: bigint,
    code?: LinkedCode,
  ): Promise<BlockMaker> {
    const head = writer.head!;
    const store = writer.reader;
    const { history } = openSource(store, head);
    const newest = (await history.blockByHeight(head.blockHeight))!;
    const executor = await Executor.open(store, head, openSource, firstVersion, code);
    const tree = await stateTreeAt(store, head.version);
    const recorder = new LedgerRecorder(head.version + 1n, head.frozenRoots, tree, true);
    const committer = new Committer(writer, options);
    return new BlockMaker(executor, recorder, committer, newest, head.timestampUsecs);
  }

  /** Time of the newest block, in microseconds since 1970. */
  get timestampUsecs(): bigint {
    return this.#timestampUsecs;
  }

  /** The version after which transactions are run. */
  get version(): bigint {
    return this.#executor.version;
  }

  /** Runs transactions after the newest one, without recording them. */
  get executor(): Executor {
    return this.#executor;
  }

  /** The resource of an account; `undefined` if none is stored. */
  async account(address: Address): Promise<Account | undefined> {
    const key = hashedStateKey(resourceStateKey(address, ACCOUNT_TAG));
    const bytes = await this.#executor.state(key);
    return bytes && accountCodec.decode(bytes);
  }

  /** The next sequence number of an account. */
  async sequenceNumber(address: Address): Promise<bigint> {
    return (await this.account(address))?.sequenceNumber ?? 0n;
  }

  /**
   * Begins a block. If that ends the epoch, the block is complete and gets committed.
   * @param timestampUsecs microseconds since 1970; raised if not after the previous block, ignored without a proposer
   * @returns whether transactions can be added
   */
  async begin(timestampUsecs: bigint): Promise<boolean> {
    const metadata = await this.#nextMetadata(timestampUsecs);
    const builder = new ChunkBuilder(this.#recorder.nextVersion);
    this.#open = { id: metadata.id, builder, fees: 0n, gasUsed: 0n, outputBytes: 0, index: 0 };
    this.#parent = metadata.id;
    this.#round = metadata.round;
    this.#epoch = metadata.epoch;
    this.#timestampUsecs = metadata.timestampUsecs;
    const started = await this.#run(await this.#blockStart(metadata));
    const isComplete = endsEpoch(started) || (await this.#finishKeyGeneration(metadata));
    if (isComplete) await this.commit();
    return !isComplete;
  }

  /**
   * Ends a key generation that is under way, as validators do when they have made keys. This ends the epoch, and the
   * configuration for the next one takes effect.
   */
  async #finishKeyGeneration({ epoch, proposer }: BlockMetadata): Promise<boolean> {
    const state = await this.#executor.state(KEY_GENERATION_KEY);
    const isOwn = state !== undefined && !(await this.#hasDecryptionKeys());
    if (!isOwn || !isGeneratingKeys(state)) return false;
    // The framework accepts any transcript: only validators check it.
    const transaction = {
      kind: 'dkgResult',
      epoch,
      author: proposer,
      transcript: NO_BYTES,
    } as const;
    return endsEpoch(await this.#run(executable({ kind: 'validator', transaction })));
  }

  /** Runs a user transaction in the open block; one that cannot be committed leaves no trace. */
  async add({ transaction, bytes }: PendingTransaction): Promise<BlockOutcome> {
    const block = this.#open!;
    const executable = { transaction: { kind: 'user', transaction }, bytes } as const;
    const facts = { index: block.index, sizeBytes: bytes.length - 1 };
    const executed = await this.#executor.run(executable, facts);
    const { status, writes, gasUsed } = executed;
    if (writes.length === 0) {
      const { statusCode } = status as Extract<typeof status, { kind: 'miscellaneousError' }>;
      return { isCommitted: false, statusCode: statusCode! };
    }
    this.#record(executable.bytes, executed);
    block.gasUsed += gasUsed;
    block.fees +=
      status.kind === 'success' ? distributedFees(transaction.raw.gasUnitPrice, executed) : 0n;
    return { isCommitted: true, output: executed, endsEpoch: endsEpoch(executed) };
  }

  /** Changes the state in the open block by a transaction with a direct write set. */
  async edit(edit: StateEdit): Promise<void> {
    const writes = await writesOfEdit(edit, this.#executor);
    const writeSet = { kind: 'v0', writes } as const;
    const payload = { kind: 'direct', writeSet, events: [] } as const;
    const bytes = encodeWriteSetTransaction(writes, []);
    await this.#run({ transaction: { kind: 'genesis', payload }, bytes });
  }

  /** Ends the open block and commits it. Rejects as Committer does; this object is unusable then. */
  async end(): Promise<void> {
    const { id, gasUsed, fees, outputBytes } = this.#open!;
    const endInfo = {
      blockGasLimitReached: false,
      blockOutputLimitReached: false,
      effectiveBlockGasUnits: gasUsed,
      approxOutputSize: BigInt(outputBytes),
    };
    const validatorIndex = this.#validatorIndex;
    const feeDistribution =
      fees === 0n || validatorIndex === undefined ? [] : [{ validatorIndex, octas: fees }];
    const distributes = await this.#executor.isFeatureEnabled(FEE_DISTRIBUTION_FLAG);
    const epilogue: BlockEpilogue = distributes
      ? { kind: 'v1', blockId: id, endInfo, feeDistribution }
      : { kind: 'v0', blockId: id, endInfo };
    await this.#run(executable({ kind: 'blockEpilogue', epilogue }));
    await this.commit();
  }

  /**
   * From now on, counts the state with each block, not at the end of an epoch: by then the ledger may have pruned the
   * writes of the epoch.
   */
  async startCountingState(store: StoreReader): Promise<void> {
    if ((await readHead(store))!.oldestVersion > 0n) {
      this.#executor.countFrom(await liveUsage(store, this.version));
    }
    this.#countsState = true;
  }

  /** Commits the open block without an epilogue. Only for a block that has ended the epoch; otherwise call `end`. */
  async commit(): Promise<void> {
    const { builder } = this.#open!;
    this.#open = undefined;
    // After the commit, earlier versions may be pruned.
    if (this.#countsState) await this.#executor.countState();
    const head = await this.#committer.pushAll([builder.finish(this.#recorder.frozenRoots)]);
    this.#executor.markStored(head!);
  }

  async #nextMetadata(timestampUsecs: bigint): Promise<BlockMetadata> {
    const configuration = await this.#executor.state(CONFIGURATION_KEY);
    const epoch = configuration === undefined ? this.#epoch : new BcsReader(configuration).u64();
    const validators = await this.#executor.state(VALIDATORS_KEY);
    const validator = validators && validatorSetCodec.decode(Buffer.from(validators)).active[0];
    const proposer = validator?.address;
    this.#validatorIndex = validator?.validatorIndex;
    const next = {
      epoch,
      round: epoch === this.#epoch ? this.#round + 1n : 1n,
      // A block without a proposer has the time of the previous one.
      proposer: proposer ?? ADDRESS_ZERO,
      previousBlockVotesBitvec: ONE_VOTE,
      failedProposerIndices: [],
      timestampUsecs:
        proposer === undefined || timestampUsecs <= this.#timestampUsecs
          ? this.#timestampUsecs + (proposer === undefined ? 0n : 1n)
          : timestampUsecs,
    };
    const id = domainHash(
      'Block',
      Buffer.concat([this.#parent, BlockMetadata.encode({ ...next, id: this.#parent })]),
    );
    return { ...next, id };
  }

  /**
   * The transaction that begins a block. If the chain draws random numbers, the block has a seed. No validators agree
   * on one here, so it is derived from the block's id. With a seed, the framework begins to generate keys when an epoch
   * ends. If these include decryption keys, which cannot be made here, the block that ends an epoch has no seed.
   */
  async #blockStart(metadata: BlockMetadata): Promise<EncodedTransaction> {
    const { epoch, round, id, timestampUsecs } = metadata;
    const lacksKeysAtEnd =
      (await this.#hasDecryptionKeys()) && (await this.#isEpochOver(timestampUsecs));
    if (!lacksKeysAtEnd && (await this.#hasRandomness())) {
      const randomness = { epoch, round, bytes: sha3(id) };
      const extended = { kind: 'v1', metadata, randomness } as const;
      return executable({ kind: 'blockMetadataExt', metadata: extended });
    }
    return executable({ kind: 'blockMetadata', metadata });
  }

  async #hasDecryptionKeys(): Promise<boolean> {
    return (await this.#executor.state(DECRYPTION_KEYS_KEY)) !== undefined;
  }

  async #isEpochOver(timestampUsecs: bigint): Promise<boolean> {
    const [configuration, block] = await Promise.all(
      [CONFIGURATION_KEY, BLOCK_KEY].map((key) => this.#executor.state(key)),
    );
    if (configuration === undefined || block === undefined) return false;
    const reader = new BcsReader(configuration);
    reader.u64();
    const { epochIntervalUsecs } = blockResourceCodec.decode(block);
    return timestampUsecs - reader.u64() >= epochIntervalUsecs;
  }

  async #hasRandomness(): Promise<boolean> {
    const keys = [RANDOMNESS_KEY, KEY_GENERATION_KEY];
    const values = await Promise.all(keys.map((key) => this.#executor.state(key)));
    return !values.includes(undefined);
  }

  async #run(executable: EncodedTransaction): Promise<TransactionOutput> {
    const executed = await this.#executor.run(executable, { index: this.#open!.index });
    this.#record(executable.bytes, executed);
    return executed;
  }

  #record(transaction: Buffer, { status, gasUsed, writes, events }: TransactionOutput): void {
    const block = this.#open!;
    const writeSet = WriteSet.encode({ kind: 'v0', writes });
    const encoded = this.#recorder.record({
      transaction,
      events: events.map(ContractEvent.encode),
      writeSet,
      gasUsed: Number(gasUsed),
      status,
      indexInBlock: block.index,
    });
    block.builder.add(encoded);
    block.outputBytes += encoded.transaction!.length;
    block.index += 1;
    this.#executor.advance(writes, false);
  }
}

const NO_BYTES = Buffer.alloc(0);

/** Whether a transaction has ended the epoch. */
function endsEpoch({ events }: TransactionOutput): boolean {
  return events.some(
    ({ typeTag }) =>
      typeTag.kind === 'struct' &&
      (isFrameworkStruct(typeTag.struct, 'reconfiguration', 'NewEpochEvent') ||
        isFrameworkStruct(typeTag.struct, 'reconfiguration', 'NewEpoch')),
  );
}

/** Whether `0x1::dkg::DKGState` has a session under way; the last completed one precedes it. @throws BcsError */
function isGeneratingKeys(bytes: Uint8Array): boolean {
  const reader = new BcsReader(Buffer.from(bytes));
  const skipValidators = (): unknown =>
    reader.vector(MIN_VALIDATOR_BYTES, () => [reader.address(), reader.bytes(), reader.u64()]);
  const skipSession = (): void => {
    // Epoch, configuration of randomness (a type's name and its value), validators of both epochs, start, transcript.
    reader.u64();
    reader.bytes();
    reader.bytes();
    skipValidators();
    skipValidators();
    reader.u64();
    reader.bytes();
  };
  reader.option(skipSession);
  return reader.bool();
}

/** Address, empty key with its length, voting power. */
const MIN_VALIDATOR_BYTES = 32 + 1 + 8;

function frameworkKey(tag: StructTag): HashedStateKey {
  return hashedStateKey(resourceStateKey(ADDRESS_ONE, tag));
}

function executable(transaction: Transaction): EncodedTransaction {
  return { transaction, bytes: Transaction.encode(transaction) };
}

/** The validators' part of a transaction's fee: the price above the burnt part, without the storage fee. */
function distributedFees(price: bigint, { events }: TransactionOutput): bigint {
  if (price <= BURNT_GAS_PRICE) return 0n;
  const statement = events.findLast(
    ({ typeTag }) =>
      typeTag.kind === 'struct' &&
      isFrameworkStruct(typeTag.struct, 'transaction_fee', 'FeeStatement'),
  );
  if (statement === undefined) return 0n;
  const [total, storageFee] = decodeBcs(statement.data, (reader) => {
    const [gas, , , fee] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()];
    reader.u64();
    return [gas, fee] as const;
  });
  const units = total - (storageFee + price - 1n) / price;
  return units > 0n ? units * (price - BURNT_GAS_PRICE) : 0n;
}
