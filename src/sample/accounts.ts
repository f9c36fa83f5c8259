/**
 * The accounts of the sample ledger: a few special ones, then the ordinary ones in the order of their creation. All
 * is kept in flat arrays, so that a million accounts cost memory by the byte and not by the object.
 *
 * Only the first ordinary accounts sign (MAX_SIGNERS); the others have addresses without known keys and receive.
 */

import type { BcsWriter } from '../move/bcs/bcs-writer.ts';
import type { Address } from '../move/types/address.ts';
import { ADDRESS_BYTES } from '../move/types/address.ts';
import { type Effects, type EventType, eventType } from './effects.ts';
import { type KeyRing, type SampleKey, signWith } from './history/keys.ts';
import { derivedBytes } from './random.ts';
import { type AccessPathKeys, resourceKeys, SlotFamily, writeEventHandle } from './slots.ts';

/** Special accounts come first, each at an index of its own. */
export const CAFE_ACCOUNT = 0;
export const BEEF_ACCOUNT = 1;
/** Mints, tops others up, and is never short of coins. */
export const FAUCET_ACCOUNT = 2;
/** Holds coins that its owners spend together; has no key. */
export const MULTISIG_ACCOUNT = 3;
export const FIRST_CREATOR_ACCOUNT = 4;
export const CREATOR_ACCOUNTS = 4;
export const FIRST_ORDINARY_ACCOUNT = FIRST_CREATOR_ACCOUNT + CREATOR_ACCOUNTS;

/** Ordinary accounts that sign transactions, at most: a key takes 2 KB and 100 µs. */
export const MAX_SIGNERS = 4_096;

const COIN_REGISTER_CREATION_NUMBER = 0;
const KEY_ROTATION_CREATION_NUMBER = 1;
/** First creation number that an account gives to something else. */
const FIRST_FREE_CREATION_NUMBER = 2;

const COIN_REGISTER_EVENT: EventType = eventType('0x1::account::CoinRegisterEvent');
const COIN_REGISTER: EventType = eventType('0x1::account::CoinRegister');
const KEY_ROTATION_EVENT: EventType = eventType('0x1::account::KeyRotationEvent');
const KEY_ROTATION: EventType = eventType('0x1::account::KeyRotation');

/** `0x1::account::Account` of every account (docs/spec/ledger.md §5.10). */
class AccountSlots extends SlotFamily {
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys = resourceKeys('0x1::account::Account');

  constructor(accounts: Accounts) {
    super();
    this.#accounts = accounts;
  }

  key(index: number): Buffer {
    return this.#keys.at(this.#accounts.addresses, index * ADDRESS_BYTES);
  }

  createdAt(index: number): number {
    return this.#accounts.createdAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    const accounts = this.#accounts;
    const address = accounts.addressBytes(index);
    writer.bytes(accounts.authenticationKey(index));
    writer.u64(BigInt(accounts.sequenceNumbers[index]!));
    writer.u64(BigInt(accounts.creationNumbers[index]!));
    const registrations = accounts.coinRegistrations[index]!;
    writeEventHandle(writer, registrations, COIN_REGISTER_CREATION_NUMBER, address);
    writeEventHandle(
      writer,
      accounts.countedRotations(index),
      KEY_ROTATION_CREATION_NUMBER,
      address,
    );
    // Nobody was offered the account's capabilities.
    writer.u8(0).u8(0);
  }
}

export class Accounts {
  /** How many there are; indices below are in use. */
  count = 0;
  readonly capacity: number;
  /** Accounts below this index can have a key. */
  readonly signerLimit: number;
  /** 32 bytes each. */
  readonly addresses: Buffer;
  readonly sequenceNumbers: Uint32Array;
  /** Next free creation number. */
  readonly creationNumbers: Uint32Array;
  /** Microseconds since 1970; 0: at genesis. */
  readonly createdAt: Float64Array;
  /** Events counted by the account's first handle. */
  readonly coinRegistrations: Uint32Array;
  readonly keyGenerations: Uint32Array;
  /** Events counted by the account's second handle: rotations after the event migration are not. */
  readonly #countedRotations: Uint32Array;
  readonly slots: SlotFamily;
  readonly #seed: bigint;
  readonly #ring: KeyRing;

  constructor(seed: bigint, ring: KeyRing, ordinaryAccounts: number) {
    this.#seed = seed;
    this.#ring = ring;
    this.capacity = FIRST_ORDINARY_ACCOUNT + ordinaryAccounts;
    this.signerLimit = FIRST_ORDINARY_ACCOUNT + Math.min(ordinaryAccounts, MAX_SIGNERS);
    this.addresses = Buffer.alloc(this.capacity * ADDRESS_BYTES);
    this.sequenceNumbers = new Uint32Array(this.capacity);
    this.creationNumbers = new Uint32Array(this.capacity);
    this.createdAt = new Float64Array(this.capacity);
    this.coinRegistrations = new Uint32Array(this.capacity);
    this.keyGenerations = new Uint32Array(this.capacity);
    this.#countedRotations = new Uint32Array(this.signerLimit);
    this.slots = new AccountSlots(this);
  }

  get isFull(): boolean {
    return this.count === this.capacity;
  }

  /** How many accounts can sign now. */
  get signers(): number {
    return Math.min(this.count, this.signerLimit);
  }

  /** Adds an account at the next index; `address` only for those whose address is not their first key's. */
  create(effects: Effects, now: number, address?: Uint8Array): number {
    const index = this.count;
    if (index === this.capacity) throw new Error(`no room for account ${index}`);
    this.count += 1;
    this.addresses.set(address ?? this.#addressOf(index), index * ADDRESS_BYTES);
    this.creationNumbers[index] = FIRST_FREE_CREATION_NUMBER;
    this.createdAt[index] = now;
    effects.create(this.slots, index);
    return index;
  }

  #addressOf(index: number): Uint8Array {
    if (index < this.signerLimit) return this.#ring.key(index, 0).authenticationKey;
    return derivedBytes(this.#seed, 'keyless account', index);
  }

  /** A view on the 32 bytes of an address. */
  addressBytes(index: number): Buffer {
    return this.addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES);
  }

  address(index: number): Address {
    return this.addresses.toString('hex', index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES);
  }

  /** The key that signs for an account now. */
  key(index: number): SampleKey {
    return this.#ring.key(index, this.keyGenerations[index]!);
  }

  sign(index: number, message: Uint8Array): Buffer {
    return signWith(this.key(index), message);
  }

  /** 32 bytes: the hash of the key that signs now, or the address of an account that never signs. */
  authenticationKey(index: number): Buffer {
    if (index >= this.signerLimit || index === MULTISIG_ACCOUNT) return this.addressBytes(index);
    return this.key(index).authenticationKey;
  }

  countedRotations(index: number): number {
    return index < this.signerLimit ? this.#countedRotations[index]! : 0;
  }

  /** Takes the next `count` creation numbers of an account; the answer is the first. */
  takeCreationNumbers(effects: Effects, index: number, count: number): number {
    const first = this.creationNumbers[index]!;
    this.creationNumbers[index] = first + count;
    effects.modify(this.slots, index);
    return first;
  }

  /** Tells that an account has a store for a coin now. */
  registerCoin(
    effects: Effects,
    index: number,
    writeTypeInfo: TypeInfoWriter,
    migrated: boolean,
  ): void {
    const address = this.addressBytes(index);
    if (migrated) {
      effects.moduleEvent(COIN_REGISTER, (writer) => writeTypeInfo(writer.fixed(address)));
      return;
    }
    const sequenceNumber = this.coinRegistrations[index]!;
    this.coinRegistrations[index] = sequenceNumber + 1;
    effects.modify(this.slots, index);
    effects.streamEvent(
      COIN_REGISTER_EVENT,
      { address, creationNumber: COIN_REGISTER_CREATION_NUMBER, sequenceNumber },
      writeTypeInfo,
    );
  }

  /** Gives an account its next key. */
  rotateKey(effects: Effects, index: number, migrated: boolean): void {
    const oldKey = this.authenticationKey(index);
    const generation = this.keyGenerations[index]! + 1;
    this.keyGenerations[index] = generation;
    const newKey = this.authenticationKey(index);
    const address = this.addressBytes(index);
    effects.modify(this.slots, index);
    if (migrated) {
      effects.moduleEvent(KEY_ROTATION, (writer) =>
        writer.fixed(address).bytes(oldKey).bytes(newKey),
      );
      return;
    }
    const sequenceNumber = this.#countedRotations[index]!;
    this.#countedRotations[index] = sequenceNumber + 1;
    effects.streamEvent(
      KEY_ROTATION_EVENT,
      { address, creationNumber: KEY_ROTATION_CREATION_NUMBER, sequenceNumber },
      (writer) => writer.bytes(oldKey).bytes(newKey),
    );
  }
}

/** Writes the `0x1::type_info::TypeInfo` of a coin. */
export type TypeInfoWriter = (writer: BcsWriter) => void;
