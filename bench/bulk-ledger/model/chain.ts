/**
 * The chain itself: blocks, epochs, time, validators, features, and the resources at 0x1 that every block changes
 * (docs/spec/ledger.md §2.3). Time is part of the model: it begins on 2026-01-01 and does not depend on a clock.
 */

import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import {
  ADDRESS_ONE,
  ADDRESS_ZERO,
  type Address,
  addressBytes,
} from '../../../src/move/types/address.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import type { Effects } from './effects.ts';
import { EventHandles, eventType, writeEventHandle } from './events.ts';
import { resourceKey, Slots, singleSlot, tableItemKey } from './slots.ts';

/** Chain id of every sample ledger, different from all public networks. */
export const SAMPLE_CHAIN_ID = 204;
export const VALIDATORS = 4;
/** Octas that every user pays for a gas unit; also the minimum that the gas schedule allows. */
export const GAS_UNIT_PRICE = 100;
/** 2026-01-01T00:00:00Z in microseconds since 1970. */
export const FIRST_BLOCK_TIME_USECS = 1_767_225_600_000_000;
/** Ten seconds: even a ledger of a few thousand transactions has several epochs. */
const EPOCH_INTERVAL_USECS = 10_000_000;
/** From this epoch on the framework emits module events where it emitted handle events. */
export const MODULE_EVENT_EPOCH = 4;
/** Number of blocks in the commit history (docs/spec/ledger.md §2.3). */
const COMMIT_HISTORY_BLOCKS = 2_000;

const EPOCH_STREAM = 2;
const BLOCK_STREAM = 3;
const UPDATE_STREAM = 4;
const VALIDATOR_VOTING_POWER = 100_000_000_000_000n;
const CONSENSUS_KEY_BYTES = 48;
const MODULE_EVENT_FEATURE = 57;
/**
 * Feature bits that are on from the start: bytecode versions 6 to 10, identifiers of 255 bytes (docs/spec/move.md
 * §4.2), the coin and object features that the sample's stores rely on, and accounts without a resource
 * (docs/spec/http.md §1.5).
 */
const GENESIS_FEATURES = [5, 38, 40, 60, 64, 67, 86, 91, 102, 106];

const NEW_BLOCK = eventType('0x1::block::NewBlockEvent');
const NEW_EPOCH = eventType('0x1::reconfiguration::NewEpoch');
const NEW_EPOCH_EVENT = eventType('0x1::reconfiguration::NewEpochEvent');
const FRAMEWORK = addressBytes(ADDRESS_ONE);

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

/** Genesis counts as a block without a proposer. */
const GENESIS_HEADER: BlockHeader = {
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

export class Chain {
  epoch = 1;
  height = 0;
  readonly validators: readonly Validator[];
  readonly #effects: Effects;
  #lastReconfiguration = 0;
  /** The newest block. Older items in the ring of recent blocks are never written again. */
  #newest = GENESIS_HEADER;
  readonly #blockEvents = EventHandles.ofResource(FRAMEWORK, BLOCK_STREAM);
  readonly #epochEvents = EventHandles.ofResource(FRAMEWORK, EPOCH_STREAM);
  #features = featureBytes(GENESIS_FEATURES);
  readonly #historySlots: Slots;
  readonly #blockSlot: Slots;
  readonly #timeSlot: Slots;
  readonly #configurationSlot: Slots;
  readonly #historySlot: Slots;
  readonly #featureSlot: Slots;
  readonly #performanceSlot: Slots;
  readonly #validatorSlot: Slots;

  /** Creates these resources, with the first block and the first epoch. */
  constructor(seed: bigint, effects: Effects) {
    this.#effects = effects;
    this.validators = Array.from({ length: VALIDATORS }, (_, index) => newValidator(seed, index));
    const historyHandle = derivedBytes(seed, 'commit history').toString('hex');
    this.#historySlots = new Slots({
      key: (index) => tableItemKey(historyHandle, (writer) => writer.u32(index)),
      write: (writer) => writeNewBlockEvent(writer, this.#newest),
    });
    const create = (type: string, write: ValueWriter): Slots => {
      const slot = singleSlot(resourceKey(ADDRESS_ONE, type), write);
      effects.create(slot);
      return slot;
    };
    create('0x1::chain_id::ChainId', (to) => to.u8(SAMPLE_CHAIN_ID));
    this.#blockSlot = create('0x1::block::BlockResource', (to) => {
      to.exactU64(this.height).exactU64(EPOCH_INTERVAL_USECS);
      this.#blockEvents.write(to);
      writeEventHandle(to, 0, UPDATE_STREAM, FRAMEWORK);
    });
    this.#timeSlot = create('0x1::timestamp::CurrentTimeMicroseconds', (to) =>
      to.exactU64(effects.now),
    );
    this.#configurationSlot = create('0x1::reconfiguration::Configuration', (to) => {
      to.exactU64(this.epoch).exactU64(this.#lastReconfiguration);
      this.#epochEvents.write(to);
    });
    this.#historySlot = create('0x1::block::CommitHistory', (to) => {
      to.u32(COMMIT_HISTORY_BLOCKS).u32((this.height + 1) % COMMIT_HISTORY_BLOCKS);
      to.address(historyHandle).exactU64(Math.min(this.height + 1, COMMIT_HISTORY_BLOCKS));
    });
    this.#featureSlot = create('0x1::features::Features', (to) => to.bytes(this.#features));
    this.#performanceSlot = create('0x1::stake::ValidatorPerformance', (to) =>
      to.vector(this.validators, (inner, { successes, failures }) =>
        inner.exactU64(successes).exactU64(failures),
      ),
    );
    this.#validatorSlot = create('0x1::stake::ValidatorSet', (to) =>
      writeValidatorSet(to, this.validators),
    );
    this.#emitEpoch();
    this.#emitBlock(GENESIS_HEADER);
  }

  /** Begins a block: advances the time, emits the block's event and counts its proposer's work. */
  startBlock(header: BlockHeader): void {
    this.#effects.now = header.timestamp;
    this.height = header.height;
    const proposer = this.validators.find(({ address }) => address === header.proposer);
    if (proposer !== undefined) proposer.successes += 1;
    for (const index of header.failedProposers) this.validators[index]!.failures += 1;
    this.#modify(this.#blockSlot, this.#timeSlot, this.#historySlot, this.#performanceSlot);
    this.#emitBlock(header);
  }

  /** Whether a block at this time ends the epoch. */
  epochIsOver(timestamp: number): boolean {
    return timestamp - this.#lastReconfiguration >= EPOCH_INTERVAL_USECS;
  }

  /** Ends the epoch: resets the validators' counts and enables pending features. */
  reconfigure(): void {
    this.epoch += 1;
    this.#lastReconfiguration = this.#effects.now;
    for (const validator of this.validators) {
      validator.successes = 0;
      validator.failures = 0;
    }
    this.#modify(this.#configurationSlot, this.#validatorSlot, this.#performanceSlot);
    if (this.epoch === MODULE_EVENT_EPOCH) {
      this.#effects.moduleEvents = true;
      this.#features = featureBytes([...GENESIS_FEATURES, MODULE_EVENT_FEATURE]);
      this.#modify(this.#featureSlot);
    }
    this.#emitEpoch();
  }

  #modify(...slots: readonly Slots[]): void {
    for (const slot of slots) this.#effects.modify(slot);
  }

  #emitEpoch(): void {
    const write: ValueWriter = (writer) => writer.exactU64(this.epoch);
    this.#effects.moduleEvent(NEW_EPOCH, write);
    this.#effects.streamEvent(NEW_EPOCH_EVENT, this.#epochEvents, 0, write);
  }

  #emitBlock(header: BlockHeader): void {
    const place = header.height % COMMIT_HISTORY_BLOCKS;
    const isNew = place === header.height;
    this.#newest = header;
    if (isNew) this.#effects.create(this.#historySlots, place);
    else this.#effects.modify(this.#historySlots, place);
    this.#effects.streamEvent(NEW_BLOCK, this.#blockEvents, 0, (writer) =>
      writeNewBlockEvent(writer, header),
    );
  }
}

function newValidator(seed: bigint, index: number): Validator {
  const key = [0, 1].map((part) => derivedBytes(seed, 'consensus key', index, part));
  return {
    address: derivedBytes(seed, 'validator', index).toString('hex'),
    consensusKey: Buffer.concat(key).subarray(0, CONSENSUS_KEY_BYTES),
    successes: 0,
    failures: 0,
  };
}

function writeNewBlockEvent(writer: BcsWriter, header: BlockHeader): void {
  writer.fixed(header.id).exactU64(header.epoch).exactU64(header.round).exactU64(header.height);
  writer.bytes(header.votes).address(header.proposer);
  writer.vector(header.failedProposers, (to, index) => to.exactU64(index));
  writer.exactU64(header.timestamp);
}

function writeValidatorSet(writer: BcsWriter, validators: readonly Validator[]): void {
  const none = Buffer.alloc(0);
  writer.u8(0).length32(validators.length);
  for (const [index, { address, consensusKey }] of validators.entries()) {
    writer.address(address).u64(VALIDATOR_VOTING_POWER).bytes(consensusKey);
    writer.bytes(none).bytes(none).exactU64(index);
  }
  writer.length32(0).length32(0);
  writer.u128(VALIDATOR_VOTING_POWER * BigInt(validators.length)).u128(0n);
}

/** Features as the chain stores them: bit i is bit i mod 8 of byte i / 8. */
function featureBytes(features: readonly number[]): Buffer {
  const bytes = Buffer.alloc(Math.max(...features) / 8 + 1);
  for (const feature of features) bytes[feature >> 3]! |= 1 << (feature & 7);
  return bytes;
}
