/**
 * A sample ledger, block by block: genesis, then an endless sequence of blocks of user transactions and ends of epochs.
 * There is no virtual machine: a model of the state changes as the called functions would change it, and its effects
 * are recorded. The same settings and clock changes always give the same bytes, whatever the requested size, in one run
 * or in several.
 */
import type { TransactionRecord } from '../../src/chain/recorder.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { ExecutionStatus } from '../../src/move/transactions/transaction-info.ts';
import { ADDRESS_ZERO } from '../../src/move/types/address.ts';
import { derivedBytes } from '../../src/sample/random.ts';
import type { SampleSettings } from '../../src/sample/settings.ts';
import { buildTransaction } from '../../src/sample/submission.ts';
import {
  type BlockTotals,
  blockEnd,
  blockEndWriteSet,
  blockStart,
  endsByValidators,
  epochEnd,
  hasAuxiliaryInfo,
} from './block-transactions.ts';
import { createGenesis, type SampleWorld } from './genesis.ts';
import { FAUCET_ACCOUNT } from './model/accounts.ts';
import {
  type BlockHeader,
  FIRST_BLOCK_TIME_USECS,
  GAS_UNIT_PRICE,
  SAMPLE_CHAIN_ID,
  VALIDATORS,
} from './model/chain.ts';
import { Effects } from './model/effects.ts';
import { eventType } from './model/events.ts';
import type { Call, World } from './model/world.ts';

/** Maximum number of user transactions in a block. */
export const MAX_BLOCK_USERS = 99;
/** The first blocks are short, so that a small ledger has several. */
const SHORT_BLOCKS = 20;
const MAX_SHORT_BLOCK_USERS = 9;
/** Minimum time between the starts of two blocks, in microseconds. */
const MIN_BLOCK_GAP_USECS = 150_000;
const MAX_BLOCK_GAP_USECS = 450_000;
/** Blocks per thousand without a proposer: they have no users and the timestamp of the previous block. */
const NIL_BLOCKS_PER_MILLE = 20;
const FAILED_PROPOSERS_PER_MILLE = 30;
const MAX_HOT_KEYS = 3;
const EXPIRATION_SECS = 600;
/** The chain remembers nonces only this long. */
const ORDERLESS_EXPIRATION_SECS = 60;

const MIN_GAS_UNITS = 5;
const MAX_GAS_UNITS = 900;
const LIMITS = {
  chainId: SAMPLE_CHAIN_ID,
  maxGasAmount: 200_000n,
  gasUnitPrice: BigInt(GAS_UNIT_PRICE),
};
/** Variant of a user transaction in `Transaction`. */
const USER_VARIANT = Buffer.of(0);
const STORAGE_FEE_OCTAS = 40_000;
const FEE_STATEMENT = eventType('0x1::transaction_fee::FeeStatement');
const SUCCESS: ExecutionStatus = { kind: 'success' };

export class BulkHistory {
  readonly #effects = new Effects();
  readonly #sample: SampleWorld;
  #nextVersion = 1n;
  #round = 0;
  #outcomes: TransactionRecord[] = [];
  #gasUsed = 0;
  #fees = 0n;

  constructor(settings: SampleSettings) {
    this.#sample = createGenesis(settings, this.#effects);
  }

  get nextVersion(): bigint {
    return this.#nextVersion;
  }

  /** The genesis file: BCS of the genesis transaction. Called once, before the first block. */
  takeGenesis(): Buffer {
    const writeSet = this.#effects.takeWriteSet();
    const events = this.#effects.takeEvents();
    return encodeBcs((writer) => {
      // Transaction::Genesis, WriteSetPayload::Direct.
      writer.uleb32(1).uleb32(0).fixed(writeSet);
      writer.vector(events, (to, event) => to.fixed(event));
    });
  }

  /** Generates the next block: the results of its transactions, in order. */
  nextBlock(): readonly TransactionRecord[] {
    const header = this.#drawHeader();
    const endsEpoch = this.#sample.chain.epochIsOver(header.timestamp);
    this.#outcomes = [];
    this.#gasUsed = 0;
    this.#fees = 0n;
    this.#startBlock(header, endsEpoch);
    if (!endsEpoch) {
      const users = header.proposer === ADDRESS_ZERO ? 0 : this.#drawUsers(header.height);
      for (let made = 0; made < users; made += 1) this.#userTransaction(header);
      this.#endBlock(header);
    }
    return this.#outcomes;
  }

  #drawHeader(): BlockHeader {
    const { chain, random, seed } = this.#sample;
    const height = chain.height + 1;
    const isFirst = height === 1;
    const isNil = !isFirst && random.perMille(NIL_BLOCKS_PER_MILLE);
    const gap = random.between(MIN_BLOCK_GAP_USECS, MAX_BLOCK_GAP_USECS);
    const proposerIndex = random.below(VALIDATORS);
    const failed = random.perMille(FAILED_PROPOSERS_PER_MILLE);
    this.#round += failed ? 2 : 1;
    const time = isFirst ? FIRST_BLOCK_TIME_USECS : this.#effects.now + gap;
    return {
      id: derivedBytes(seed, 'block', height),
      epoch: chain.epoch,
      round: this.#round,
      height,
      proposer: isNil ? ADDRESS_ZERO : chain.validators[proposerIndex]!.address,
      votes: Buffer.of(0x70 | (random.below(2) << 7)),
      failedProposers: failed ? [(proposerIndex + 1) % VALIDATORS] : [],
      timestamp: isNil ? this.#effects.now : time,
    };
  }

  #drawUsers(height: number): number {
    const most = height <= SHORT_BLOCKS ? MAX_SHORT_BLOCK_USERS : MAX_BLOCK_USERS;
    return this.#sample.random.between(1, most);
  }

  #startBlock(header: BlockHeader, endsEpoch: boolean): void {
    const { seed } = this.#sample;
    this.#sample.chain.startBlock(header);
    for (const info of this.#sample.assetInfos) info.update();
    const byValidators = endsEpoch && endsByValidators(header.epoch);
    if (endsEpoch && !byValidators) this.#reconfigure();
    this.#finish(header, () => blockStart(seed, header));
    if (!byValidators) return;
    this.#reconfigure();
    this.#finish(header, () => epochEnd(seed, header));
  }

  #reconfigure(): void {
    this.#sample.chain.reconfigure();
    this.#round = 0;
  }

  #userTransaction(header: BlockHeader): void {
    const { accounts, native, random } = this.#sample;
    const drawn = this.#sample.nextCall();
    const gasUsed = random.between(MIN_GAS_UNITS, MAX_GAS_UNITS);
    const nonce = BigInt(random.u32());
    const fee = BigInt(gasUsed * GAS_UNIT_PRICE);
    const call = withPayer(this.#sample, drawn, fee);
    const { sender } = call;
    const sequenceNumber = accounts.sequenceNumbers[sender]!;
    if (call.form !== 'orderless') {
      accounts.sequenceNumbers[sender] = sequenceNumber + 1;
      this.#effects.modify(accounts.slots, sender);
    }
    native.takeFee(call.form === 'feePayer' ? call.second! : sender, fee);
    this.#gasUsed += gasUsed;
    this.#fees += fee;
    this.#effects.moduleEvent(FEE_STATEMENT, (writer) => {
      const ioGas = Math.floor(gasUsed / 3);
      writer
        .exactU64(gasUsed)
        .exactU64(gasUsed - ioGas)
        .exactU64(ioGas);
      writer.exactU64(gasUsed > MAX_GAS_UNITS / 2 ? STORAGE_FEE_OCTAS : 0).exactU64(0);
    });
    const lifetime = call.form === 'orderless' ? ORDERLESS_EXPIRATION_SECS : EXPIRATION_SECS;
    const expiration = Math.floor(this.#effects.now / 1_000_000) + lifetime;
    this.#finish(
      header,
      () =>
        Buffer.concat([
          USER_VARIANT,
          buildTransaction(accounts, call, { ...LIMITS, sequenceNumber, expiration, nonce }),
        ]),
      gasUsed,
      call.status,
    );
  }

  #endBlock(header: BlockHeader): void {
    const { accounts, random } = this.#sample;
    const hot = Array.from({ length: random.between(1, MAX_HOT_KEYS) }, () =>
      random.below(accounts.count),
    );
    const hotKeys = [...new Set(hot)].map((account) => accounts.slots.shape.key(account));
    const totals: BlockTotals = {
      gasUsed: this.#gasUsed,
      fees: this.#fees,
      proposerIndex: this.#sample.chain.validators.findIndex(
        ({ address }) => address === header.proposer,
      ),
      hotKeys,
    };
    const writeSet = blockEndWriteSet(header, totals);
    this.#finish(header, () => blockEnd(header, totals), 0, SUCCESS, writeSet);
  }

  /** Records the transaction's effects as a version. */
  #finish(
    header: BlockHeader,
    transaction: () => Buffer,
    gasUsed = 0,
    status = SUCCESS,
    writeSet?: Buffer,
  ): void {
    this.#nextVersion += 1n;
    this.#outcomes.push({
      transaction: transaction(),
      events: this.#effects.takeEvents(),
      writeSet: writeSet ?? this.#effects.takeWriteSet(),
      gasUsed,
      status,
      indexInBlock: hasAuxiliaryInfo(header.epoch) ? this.#outcomes.length : undefined,
    });
  }
}

/** The faucet pays for accounts that cannot. An account is never the fee payer of its own transaction. */
function withPayer({ native }: World, call: Call, fee: bigint): Call {
  const payer = call.form === 'feePayer' ? call.second! : call.sender;
  const isOwnPayer = call.form === 'feePayer' && payer === call.sender;
  if (!isOwnPayer && native.balance(payer) >= fee) return call;
  if (call.sender === FAUCET_ACCOUNT) return { ...call, form: 'single' };
  return { ...call, form: 'feePayer', second: FAUCET_ACCOUNT };
}
