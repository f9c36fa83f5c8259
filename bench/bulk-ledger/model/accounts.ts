/**
 * The accounts of the sample ledger: a few special ones, then the ordinary ones in the order of their creation. Flat
 * arrays hold all of it, because a million objects would take too much memory.
 *
 * Only the first ordinary accounts sign (MAX_SIGNERS); the others only receive, and their addresses have no known keys.
 */

import { ADDRESS_BYTES, type Address } from '../../../src/move/types/address.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';
import { KEY_SCHEMES, KeyRing, type KeyScheme, type SampleKey } from '../../../src/sample/keys.ts';
import { derivedBytes } from '../../../src/sample/random.ts';
import type { Effects } from './effects.ts';
import { EventHandles, migratedEventType } from './events.ts';
import { resourceKeys, Slots } from './slots.ts';

/** Special accounts come first, each at a fixed index. */
export const CAFE_ACCOUNT = 0;
export const BEEF_ACCOUNT = 1;
/** Mints, tops others up, and is never short of coins. */
export const FAUCET_ACCOUNT = 2;
/** Holds coins that its owners spend together; has no key. */
export const MULTISIG_ACCOUNT = 3;
export const FIRST_CREATOR_ACCOUNT = 4;
/** The key schemes of the creators; all other accounts have one Ed25519 key. */
const CREATOR_SCHEMES: readonly KeyScheme[] = KEY_SCHEMES;
export const CREATOR_ACCOUNTS = CREATOR_SCHEMES.length;
export const FIRST_ORDINARY_ACCOUNT = FIRST_CREATOR_ACCOUNT + CREATOR_ACCOUNTS;

/** Maximum number of ordinary accounts that sign transactions: a key takes 2 KB and 100 µs. */
const MAX_SIGNERS = 4_096;

const COIN_REGISTER_CREATION_NUMBER = 0;
const KEY_ROTATION_CREATION_NUMBER = 1;
const FIRST_FREE_CREATION_NUMBER = 2;

const COIN_REGISTER = migratedEventType('0x1::account', 'CoinRegisterEvent', 'CoinRegister');
const KEY_ROTATION = migratedEventType('0x1::account', 'KeyRotationEvent', 'KeyRotation');

const ACCOUNT_KEYS = resourceKeys('0x1::account::Account');

export class Accounts {
  /** Number of accounts; their indices are below it. */
  count = 0;
  readonly effects: Effects;
  readonly capacity: number;
  /** Accounts below this index can have a key. */
  readonly signerLimit: number;
  readonly sequenceNumbers: Uint32Array;
  /** `0x1::account::Account` of every account (docs/spec/ledger.md §5.10). */
  readonly slots: Slots;
  /** 32 bytes each. */
  readonly #addresses: Buffer;
  readonly #creationNumbers: Uint32Array;
  readonly #keyGenerations: Uint32Array;
  readonly #coinRegistrations: EventHandles;
  readonly #keyRotations: EventHandles;
  readonly #seed: bigint;
  readonly #ring: KeyRing;

  constructor(seed: bigint, effects: Effects, ordinaryAccounts: number) {
    this.#seed = seed;
    this.#ring = new KeyRing(
      seed,
      (account) => CREATOR_SCHEMES[account - FIRST_CREATOR_ACCOUNT] ?? 'ed25519',
    );
    this.effects = effects;
    this.capacity = FIRST_ORDINARY_ACCOUNT + ordinaryAccounts;
    this.signerLimit = FIRST_ORDINARY_ACCOUNT + Math.min(ordinaryAccounts, MAX_SIGNERS);
    this.#addresses = Buffer.alloc(this.capacity * ADDRESS_BYTES);
    this.sequenceNumbers = new Uint32Array(this.capacity);
    this.#creationNumbers = new Uint32Array(this.capacity);
    this.#keyGenerations = new Uint32Array(this.capacity);
    const address = (index: number): Buffer => this.addressBytes(index);
    this.#coinRegistrations = new EventHandles(
      this.capacity,
      address,
      () => COIN_REGISTER_CREATION_NUMBER,
    );
    this.#keyRotations = new EventHandles(
      this.signerLimit,
      address,
      () => KEY_ROTATION_CREATION_NUMBER,
    );
    this.slots = new Slots({
      key: (index) => ACCOUNT_KEYS(this.addressBytes(index)),
      write: (writer, index) => {
        writer.bytes(this.authenticationKey(index)).exactU64(this.sequenceNumbers[index]!);
        writer.exactU64(this.#creationNumbers[index]!);
        this.#coinRegistrations.write(writer, index);
        this.#keyRotations.write(writer, index);
        // Nobody has been offered the account's capabilities.
        writer.u8(0).u8(0);
      },
    });
  }

  get isFull(): boolean {
    return this.count === this.capacity;
  }

  get signers(): number {
    return Math.min(this.count, this.signerLimit);
  }

  /** Adds an account at the next index. */
  create(): number {
    const index = this.count;
    if (index === this.capacity) throw new Error(`no space for account ${index}`);
    this.count += 1;
    this.#addresses.set(this.#addressOf(index), index * ADDRESS_BYTES);
    this.#creationNumbers[index] = FIRST_FREE_CREATION_NUMBER;
    this.effects.create(this.slots, index);
    return index;
  }

  #addressOf(index: number): Uint8Array {
    if (index < this.signerLimit && index !== MULTISIG_ACCOUNT) {
      return this.#ring.key(index, 0).authenticationKey;
    }
    return derivedBytes(this.#seed, 'keyless account', index);
  }

  /** A view on 32 bytes. */
  addressBytes(index: number): Buffer {
    return this.#addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES);
  }

  address(index: number): Address {
    return this.#addresses.toString('hex', index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES);
  }

  /** The account's current signing key. */
  key(index: number): SampleKey {
    return this.#ring.key(index, this.#keyGenerations[index]!);
  }

  /** 32 bytes: the hash of the current signing key, or the address of an account that never signs. */
  authenticationKey(index: number): Buffer {
    if (index >= this.signerLimit || index === MULTISIG_ACCOUNT) return this.addressBytes(index);
    return this.key(index).authenticationKey;
  }

  /** Reserves the next `count` creation numbers of an account and returns the first. */
  takeCreationNumbers(index: number, count: number): number {
    const first = this.#creationNumbers[index]!;
    this.#creationNumbers[index] = first + count;
    this.effects.modify(this.slots, index);
    return first;
  }

  /** Records that an account now has a store for a coin, given the coin's `0x1::type_info::TypeInfo`. */
  registerCoin(index: number, writeTypeInfo: ValueWriter): void {
    // Only a handle event changes the account.
    if (!this.effects.moduleEvents) this.effects.modify(this.slots, index);
    this.#emit(COIN_REGISTER, this.#coinRegistrations, index, writeTypeInfo);
  }

  rotateKey(index: number): void {
    const oldKey = this.authenticationKey(index);
    this.#keyGenerations[index]! += 1;
    const newKey = this.authenticationKey(index);
    this.effects.modify(this.slots, index);
    this.#emit(KEY_ROTATION, this.#keyRotations, index, (writer) =>
      writer.bytes(oldKey).bytes(newKey),
    );
  }

  /** An event of one of the account's own handles; the module event has the account as its first field. */
  #emit(
    type: typeof COIN_REGISTER,
    handles: EventHandles,
    index: number,
    write: ValueWriter,
  ): void {
    const writeOwner: ValueWriter = (writer) => writer.fixed(this.addressBytes(index));
    this.effects.migratedEvent(type, handles, index, write, writeOwner);
  }
}
