/**
 * The chain itself: blocks, epochs, time, validators, features; the resources at 0x1 that every block changes
 * (docs/spec/ledger.md §2.3). Time is the ledger's own: it begins on 2026-01-01 and is read from no clock.
 */

import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, ADDRESS_ZERO, type Address, addressBytes } from '../move/types/address.ts';
import type { LedgerMoment } from './assets.ts';
import { type Effects, eventType } from './effects.ts';
import { derivedBytes } from './random.ts';
import { resourceKey, SingleSlots, SlotFamily, tableItemKey, writeEventHandle } from './slots.ts';

/** Chain id of every sample ledger: none of the public networks'. */
export const SAMPLE_CHAIN_ID = 204;
export const VALIDATORS = 4;
/** 2026-01-01T00:00:00Z in microseconds since 1970. */
export const FIRST_BLOCK_TIME_USECS = 1_767_225_600_000_000;
/** Ten seconds: even a ledger of a few thousand transactions has several epochs. */
export const EPOCH_INTERVAL_USECS = 10_000_000;
/** From this epoch on the framework emits module events where it emitted handle events. */
export const MODULE_EVENT_EPOCH = 4;
/** Blocks that the commit history remembers (docs/spec/ledger.md §2.3). */
export const COMMIT_HISTORY_BLOCKS = 2_000;

const EPOCH_STREAM = 2;
const BLOCK_STREAM = 3;
const UPDATE_STREAM = 4;
const VALIDATOR_VOTING_POWER = 100_000_000_000_000n;
const CONSENSUS_KEY_BYTES = 48;
const MODULE_EVENT_FEATURE = 57;
/**
 * Feature bits that are on from the start: bytecode versions 6 to 10, identifiers of 255 bytes (docs/spec/move.md
 * §4.2),
 * and the coin and object features that the sample's stores rely on.
 */
const GENESIS_FEATURES = [5, 38, 40, 60, 64, 67, 86, 102, 106];

const NEW_BLOCK = eventType('0x1::block::NewBlockEvent');
const NEW_EPOCH = eventType('0x1::reconfiguration::NewEpoch');
const NEW_EPOCH_EVENT = eventType('0x1::reconfiguration::NewEpochEvent');
const FRAMEWORK = addressBytes(ADDRESS_ONE);

/** The head of a block. */
export interface BlockHeader {
  /** 32 bytes. */
  readonly id: Buffer;
  readonly epoch: number;
  readonly round: number;
  readonly height: number;
  readonly proposer: Address;
  readonly votes: Buffer;
  readonly failedProposers: readonly number[];
  /** Microseconds since 1970. */
  readonly timestamp: number;
}

/** Genesis counts as a block without anybody who made it. */
export const GENESIS_HEADER: BlockHeader = {
  id: Buffer.alloc(32),
  epoch: 0,
  round: 0,
  height: 0,
  proposer: ADDRESS_ZERO,
  votes: Buffer.alloc(0),
  failedProposers: [],
  timestamp: 0,
};

interface Validator {
  readonly address: Address;
  /** 48 bytes. */
  readonly consensusKey: Buffer;
  successes: number;
  failures: number;
}

/** Writes the data of a `0x1::block::NewBlockEvent`. */
export function writeNewBlockEvent(writer: BcsWriter, header: BlockHeader): void {
  writer.fixed(header.id).u64(BigInt(header.epoch)).u64(BigInt(header.round));
  writer.u64(BigInt(header.height)).bytes(header.votes).address(header.proposer);
  writer.vector(header.failedProposers, (to, index) => to.u64(BigInt(index)));
  writer.u64(BigInt(header.timestamp));
}

/** The ring of the last blocks, items of a table. */
class CommitHistorySlots extends SlotFamily {
  readonly handle: Address;
  readonly #blocks: BlockHeader[] = [];
  readonly #createdAt = new Float64Array(COMMIT_HISTORY_BLOCKS);

  constructor(handle: Address) {
    super();
    this.handle = handle;
  }

  get length(): number {
    return this.#blocks.length;
  }

  /** Puts a block into its place; true when the place is new. */
  put(header: BlockHeader, now: number): boolean {
    const index = header.height % COMMIT_HISTORY_BLOCKS;
    const isNew = index === this.#blocks.length;
    if (isNew) this.#createdAt[index] = now;
    this.#blocks[index] = header;
    return isNew;
  }

  key(index: number): Buffer {
    return tableItemKey(
      this.handle,
      encodeBcs((writer) => writer.u32(index)),
    );
  }

  createdAt(index: number): number {
    return this.#createdAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    writeNewBlockEvent(writer, this.#blocks[index]!);
  }
}

export class Chain implements LedgerMoment {
  now = 0;
  epoch = 1;
  height = 0;
  moduleEvents = false;
  lastReconfiguration = 0;
  readonly validators: readonly Validator[];
  readonly slots = new SingleSlots();
  readonly #history: CommitHistorySlots;
  #blockEvents = 0;
  #epochEvents = 0;
  #features = featureBytes(GENESIS_FEATURES);
  readonly #block: number;
  readonly #time: number;
  readonly #configuration: number;
  readonly #historyResource: number;
  readonly #featureResource: number;
  readonly #performance: number;
  readonly #validatorSet: number;
  readonly #chainId: number;

  constructor(seed: bigint) {
    this.validators = Array.from({ length: VALIDATORS }, (_, index) => ({
      address: derivedBytes(seed, 'validator', index).toString('hex'),
      consensusKey: Buffer.concat([
        derivedBytes(seed, 'consensus key', index, 0),
        derivedBytes(seed, 'consensus key', index, 1),
      ]).subarray(0, CONSENSUS_KEY_BYTES),
      successes: 0,
      failures: 0,
    }));
    this.#history = new CommitHistorySlots(derivedBytes(seed, 'commit history').toString('hex'));
    const add = (type: string, write: (writer: BcsWriter) => void): number =>
      this.slots.add(resourceKey(ADDRESS_ONE, type), write);
    this.#chainId = add('0x1::chain_id::ChainId', (to) => to.u8(SAMPLE_CHAIN_ID));
    this.#block = add('0x1::block::BlockResource', (to) => this.#writeBlockResource(to));
    this.#time = add('0x1::timestamp::CurrentTimeMicroseconds', (to) => to.u64(BigInt(this.now)));
    this.#configuration = add('0x1::reconfiguration::Configuration', (to) => {
      to.u64(BigInt(this.epoch)).u64(BigInt(this.lastReconfiguration));
      writeEventHandle(to, this.#epochEvents, EPOCH_STREAM, FRAMEWORK);
    });
    this.#historyResource = add('0x1::block::CommitHistory', (to) => {
      to.u32(COMMIT_HISTORY_BLOCKS).u32((this.height + 1) % COMMIT_HISTORY_BLOCKS);
      to.address(this.#history.handle).u64(BigInt(this.#history.length));
    });
    this.#featureResource = add('0x1::features::Features', (to) => to.bytes(this.#features));
    this.#performance = add('0x1::stake::ValidatorPerformance', (to) =>
      to.vector(this.validators, (inner, { successes, failures }) =>
        inner.u64(BigInt(successes)).u64(BigInt(failures)),
      ),
    );
    this.#validatorSet = add('0x1::stake::ValidatorSet', (to) => this.#writeValidatorSet(to));
  }

  /** Everything of this file that genesis creates, with the first block and the first epoch. */
  genesis(effects: Effects): void {
    for (const index of [this.#chainId, this.#validatorSet, this.#featureResource]) {
      effects.create(this.slots, index);
    }
    for (const index of [this.#block, this.#time, this.#configuration, this.#historyResource]) {
      effects.create(this.slots, index);
    }
    effects.create(this.slots, this.#performance);
    this.#emitEpoch(effects);
    this.#emitBlock(effects, GENESIS_HEADER);
  }

  /** Begins a block: time moves on, its event is given out, its proposer's work is counted. */
  startBlock(effects: Effects, header: BlockHeader): void {
    this.now = header.timestamp;
    this.height = header.height;
    for (const slot of [this.#block, this.#time, this.#historyResource, this.#performance]) {
      effects.modify(this.slots, slot);
    }
    const proposer = this.validators.find(({ address }) => address === header.proposer);
    if (proposer !== undefined) proposer.successes += 1;
    for (const index of header.failedProposers) this.validators[index]!.failures += 1;
    this.#emitBlock(effects, header);
  }

  /** Whether a block at this time ends the epoch. */
  epochIsOver(timestamp: number): boolean {
    return timestamp - this.lastReconfiguration >= EPOCH_INTERVAL_USECS;
  }

  /** Ends the epoch; validators' counts start over and features that waited for it come on. */
  reconfigure(effects: Effects): void {
    this.epoch += 1;
    this.lastReconfiguration = this.now;
    for (const validator of this.validators) {
      validator.successes = 0;
      validator.failures = 0;
    }
    for (const slot of [this.#configuration, this.#validatorSet, this.#performance]) {
      effects.modify(this.slots, slot);
    }
    if (this.epoch === MODULE_EVENT_EPOCH) {
      this.moduleEvents = true;
      this.#features = featureBytes([...GENESIS_FEATURES, MODULE_EVENT_FEATURE]);
      effects.modify(this.slots, this.#featureResource);
    }
    this.#emitEpoch(effects);
  }

  #emitEpoch(effects: Effects): void {
    const epoch = BigInt(this.epoch);
    effects.moduleEvent(NEW_EPOCH, (writer) => writer.u64(epoch));
    const sequenceNumber = this.#epochEvents;
    this.#epochEvents += 1;
    effects.streamEvent(
      NEW_EPOCH_EVENT,
      { address: FRAMEWORK, creationNumber: EPOCH_STREAM, sequenceNumber },
      (writer) => writer.u64(epoch),
    );
  }

  #emitBlock(effects: Effects, header: BlockHeader): void {
    const isNew = this.#history.put(header, this.now);
    const place = header.height % COMMIT_HISTORY_BLOCKS;
    if (isNew) effects.create(this.#history, place);
    else effects.modify(this.#history, place);
    const sequenceNumber = this.#blockEvents;
    this.#blockEvents += 1;
    effects.streamEvent(
      NEW_BLOCK,
      { address: FRAMEWORK, creationNumber: BLOCK_STREAM, sequenceNumber },
      (writer) => writeNewBlockEvent(writer, header),
    );
  }

  #writeBlockResource(writer: BcsWriter): void {
    writer.u64(BigInt(this.height)).u64(BigInt(EPOCH_INTERVAL_USECS));
    writeEventHandle(writer, this.#blockEvents, BLOCK_STREAM, FRAMEWORK);
    writeEventHandle(writer, 0, UPDATE_STREAM, FRAMEWORK);
  }

  #writeValidatorSet(writer: BcsWriter): void {
    const none = Buffer.alloc(0);
    writer.u8(0).length32(this.validators.length);
    for (const [index, { address, consensusKey }] of this.validators.entries()) {
      writer.address(address).u64(VALIDATOR_VOTING_POWER).bytes(consensusKey);
      writer.bytes(none).bytes(none).u64(BigInt(index));
    }
    writer.length32(0).length32(0);
    writer.u128(VALIDATOR_VOTING_POWER * BigInt(this.validators.length)).u128(0n);
  }
}

/** Features as the chain holds them: bit i is bit i mod 8 of byte i / 8. */
function featureBytes(features: readonly number[]): Buffer {
  const bytes = Buffer.alloc(Math.max(...features) / 8 + 1);
  for (const feature of features) bytes[feature >> 3]! |= 1 << (feature & 7);
  return bytes;
}
