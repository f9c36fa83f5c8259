/**
 * The assets of accounts: coins in coin stores, fungible assets in primary stores, or both. One Asset is a coin with
 * its paired fungible asset, or a fungible asset alone (docs/spec/http.md §9, layouts docs/spec/ledger.md §5.10).
 */

import { U64_MAX } from '../../../src/move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../../src/move/bcs/bcs-writer.ts';
import {
  ADDRESS_BYTES,
  type Address,
  addressBytes,
  formatAddress,
} from '../../../src/move/types/address.ts';
import { primaryStoreOf } from '../../../src/move/types/derived-address.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import { formatStructTag } from '../../../src/move/types/type-tag.ts';
import type { ValueWriter } from '../../../src/sample/calls.ts';
import type { Accounts } from './accounts.ts';
import type { Effects } from './effects.ts';
import {
  EventHandles,
  eventType,
  type MigratedEventType,
  migratedEventType,
  writeEventHandle,
} from './events.ts';
import {
  type GroupMember,
  resourceGroupKeys,
  resourceKeys,
  Slots,
  structTagBytes,
  writeGroup,
} from './slots.ts';

const HAS_COIN_STORE = 1;
const HAS_FUNGIBLE_STORE = 2;
const IS_CONCURRENT = 4;
const HAS_ADDRESS = 8;

/** The first creation number of every object (docs/spec/ledger.md §5.7). */
export const OBJECT_CREATION_NUMBER = 0x4000000000000n;
export const OBJECT_KEYS = resourceGroupKeys('0x1::object::ObjectGroup');

/** Octas of bytes deposit of a primary store. */
const STORE_BYTES_DEPOSIT = 1_960n;

const CORE_TAG = structTagBytes('0x1::object::ObjectCore');
const STORE_TAG = structTagBytes('0x1::fungible_asset::FungibleStore');
const CONCURRENT_TAG = structTagBytes('0x1::fungible_asset::ConcurrentFungibleBalance');

const COIN_DEPOSIT = migratedEventType('0x1::coin', 'DepositEvent', 'CoinDeposit');
const COIN_WITHDRAW = migratedEventType('0x1::coin', 'WithdrawEvent', 'CoinWithdraw');
const STORE_DELETION = eventType('0x1::coin::CoinStoreDeletion');
const ASSET_DEPOSIT = eventType('0x1::fungible_asset::Deposit');
const ASSET_WITHDRAW = eventType('0x1::fungible_asset::Withdraw');

/** Content of `0x1::object::ObjectCore`. */
interface ObjectCore {
  /** 32 bytes each. */
  readonly object: Uint8Array;
  readonly owner: Uint8Array;
  /** Whether owners may transfer it freely. */
  readonly ungated: boolean;
  /** Number of events that its own handle has emitted; 0 when absent. */
  readonly transfers?: number;
  /** Number of event handles, including its own; 1 when absent. */
  readonly handles?: number;
}

export function objectCore(core: ObjectCore): GroupMember {
  const { object, owner, ungated, transfers = 0, handles = 1 } = core;
  return [
    CORE_TAG,
    (to) => {
      to.u64(OBJECT_CREATION_NUMBER + BigInt(handles))
        .fixed(owner)
        .bool(ungated);
      writeEventHandle(to, transfers, OBJECT_CREATION_NUMBER, object);
    },
  ];
}

export class Asset {
  /** Absent for an asset that never was a coin. */
  readonly coinType: string | undefined;
  /** Address of the fungible asset's metadata object. */
  readonly metadata: Address;
  readonly metadataBytes: Buffer;
  /** Accounts below this index can hold it. */
  readonly holders: number;
  coinSupply = 0n;
  /** Sum of all fungible stores. */
  fungibleSupply = 0n;
  readonly #coins: BigUint64Array;
  readonly #fungible: BigUint64Array;
  readonly #flags: Uint8Array;
  /** Creation number of the deposit handle; the withdraw handle has the next. */
  readonly #handleNumbers: Uint32Array;
  readonly #deposits: EventHandles;
  readonly #withdrawals: EventHandles;
  readonly #coinStores: Slots | undefined;
  readonly #fungibleStores: Slots;
  /**
   * 32 bytes each, only for accounts that act often: the addresses of a million others would take a hundred megabytes.
   */
  readonly #storeAddresses: Buffer;
  readonly #accounts: Accounts;
  readonly #effects: Effects;

  constructor(accounts: Accounts, holders: number, metadata: Address, coinType?: string) {
    this.#accounts = accounts;
    this.#effects = accounts.effects;
    this.holders = holders;
    this.metadata = metadata;
    this.metadataBytes = addressBytes(metadata);
    this.coinType = coinType === undefined ? undefined : formatStructTag(parseStructTag(coinType));
    this.#coins = new BigUint64Array(holders);
    this.#fungible = new BigUint64Array(holders);
    this.#flags = new Uint8Array(holders);
    this.#handleNumbers = new Uint32Array(holders);
    this.#storeAddresses = Buffer.alloc(ADDRESS_BYTES * Math.min(holders, accounts.signerLimit));
    const address = (account: number): Buffer => accounts.addressBytes(account);
    this.#deposits = new EventHandles(holders, address, (account) => this.#handleNumbers[account]!);
    this.#withdrawals = new EventHandles(
      holders,
      address,
      (account) => this.#handleNumbers[account]! + 1,
    );
    this.#fungibleStores = new Slots({
      key: (account) => OBJECT_KEYS(this.storeAddress(account)),
      write: (writer, account) => this.#writeFungibleStore(writer, account),
      bytesDeposit: () => STORE_BYTES_DEPOSIT,
    });
    this.#coinStores = this.coinType === undefined ? undefined : this.#coinSlots(this.coinType);
  }

  #coinSlots(coinType: string): Slots {
    const keys = resourceKeys(`0x1::coin::CoinStore<${coinType}>`);
    return new Slots({
      key: (account) => keys(this.#accounts.addressBytes(account)),
      write: (writer, account) => {
        writer.u64(this.#coins[account]!).bool(false);
        this.#deposits.write(writer, account);
        this.#withdrawals.write(writer, account);
      },
    });
  }

  #writeFungibleStore(writer: BcsWriter, account: number): void {
    const isConcurrent = this.isConcurrent(account);
    const balance = this.#fungible[account]!;
    const object = this.storeAddress(account);
    const owner = this.#accounts.addressBytes(account);
    const plainBalance = isConcurrent ? 0n : balance;
    const members: GroupMember[] = [
      objectCore({ object, owner, ungated: false }),
      [STORE_TAG, (to) => to.fixed(this.metadataBytes).u64(plainBalance).bool(false)],
    ];
    if (isConcurrent) members.push([CONCURRENT_TAG, (to) => to.u64(balance).u64(U64_MAX)]);
    writeGroup(writer, members);
  }

  hasCoinStore(account: number): boolean {
    return (this.#flags[account]! & HAS_COIN_STORE) !== 0;
  }

  hasFungibleStore(account: number): boolean {
    return (this.#flags[account]! & HAS_FUNGIBLE_STORE) !== 0;
  }

  isConcurrent(account: number): boolean {
    return (this.#flags[account]! & IS_CONCURRENT) !== 0;
  }

  /** An account's total amount in both stores. */
  balance(account: number): bigint {
    return this.#coins[account]! + this.#fungible[account]!;
  }

  fungibleBalance(account: number): bigint {
    return this.#fungible[account]!;
  }

  /** The 32 bytes of an account's primary store address (docs/spec/ledger.md §6.2); not to be changed. */
  storeAddress(account: number): Buffer {
    const start = account * ADDRESS_BYTES;
    if ((this.#flags[account]! & HAS_ADDRESS) !== 0) {
      return this.#storeAddresses.subarray(start, start + ADDRESS_BYTES);
    }
    const address = primaryStoreOf(this.#accounts.addressBytes(account), this.metadataBytes);
    if (start < this.#storeAddresses.length) {
      this.#storeAddresses.set(address, start);
      this.#flags[account]! |= HAS_ADDRESS;
    }
    return address;
  }

  /** Opens a coin store. Before the event migration this emits an event of the account. */
  openCoinStore(account: number): void {
    if (this.#coinStores === undefined || this.coinType === undefined) {
      throw new Error(`${formatAddress(this.metadata)} is not a coin`);
    }
    this.#flags[account]! |= HAS_COIN_STORE;
    this.#handleNumbers[account] = this.#accounts.takeCreationNumbers(account, 2);
    this.#accounts.registerCoin(account, typeInfoWriter(this.coinType));
    this.#effects.create(this.#coinStores, account);
  }

  #openFungibleStore(account: number): void {
    this.#flags[account]! |= HAS_FUNGIBLE_STORE;
    this.#effects.create(this.#fungibleStores, account);
  }

  /** Deposits coins like the framework: into the coin store, or into the primary store of accounts without one. */
  deposit(account: number, amount: bigint): void {
    if (!this.hasCoinStore(account)) {
      this.depositFungible(account, amount);
      return;
    }
    this.#coins[account]! += amount;
    this.coinSupply += amount;
    this.#effects.modify(this.#coinStores!, account);
    this.#coinEvent(COIN_DEPOSIT, this.#deposits, account, amount);
  }

  /** Deposits an amount into the primary store, which is created if it does not exist. */
  depositFungible(account: number, amount: bigint): void {
    if (!this.hasFungibleStore(account)) this.#openFungibleStore(account);
    this.#fungible[account]! += amount;
    this.fungibleSupply += amount;
    this.#effects.modify(this.#fungibleStores, account);
    this.#effects.moduleEvent(ASSET_DEPOSIT, (writer) =>
      writer.fixed(this.storeAddress(account)).u64(amount),
    );
  }

  /** Withdraws from the coin store first, then from the primary store. The caller has checked the balance. */
  withdraw(account: number, amount: bigint): void {
    const fromCoins = this.#takeCoins(account, amount);
    if (fromCoins > 0n) this.#coinEvent(COIN_WITHDRAW, this.#withdrawals, account, fromCoins);
    if (amount > fromCoins) this.withdrawFungible(account, amount - fromCoins);
  }

  withdrawFungible(account: number, amount: bigint): void {
    this.#takeFungible(account, amount);
    this.#effects.moduleEvent(ASSET_WITHDRAW, (writer) =>
      writer.fixed(this.storeAddress(account)).u64(amount),
    );
  }

  /** Withdraws a transaction's fee without an event: the fee statement records it (docs/spec/ledger.md). */
  takeFee(account: number, amount: bigint): void {
    const fromCoins = this.#takeCoins(account, amount);
    if (amount > fromCoins) this.#takeFungible(account, amount - fromCoins);
  }

  /** Moves all coins to the primary store and removes the coin store. */
  migrate(account: number): void {
    const amount = this.#coins[account]!;
    const deposits = this.#handleNumbers[account]!;
    this.#effects.delete(this.#coinStores!, account);
    this.#flags[account]! &= ~HAS_COIN_STORE;
    this.#coins[account] = 0n;
    this.coinSupply -= amount;
    this.#effects.moduleEvent(STORE_DELETION, (writer) => {
      this.#writeHolder(writer, account);
      writer.exactU64(deposits).exactU64(deposits + 1);
    });
    this.depositFungible(account, amount);
  }

  makeConcurrent(account: number): void {
    this.#flags[account]! |= IS_CONCURRENT;
    this.#effects.modify(this.#fungibleStores, account);
  }

  /** Withdraws up to `most` from the coin store and returns the amount. */
  #takeCoins(account: number, most: bigint): bigint {
    const coins = this.#coins[account]!;
    const amount = most < coins ? most : coins;
    if (amount === 0n) return 0n;
    this.#coins[account] = coins - amount;
    this.coinSupply -= amount;
    this.#effects.modify(this.#coinStores!, account);
    return amount;
  }

  #takeFungible(account: number, amount: bigint): void {
    const balance = this.#fungible[account]!;
    // BigUint64Array wraps silently; a generator that overdraws an account is wrong and must stop.
    if (balance < amount) throw new Error(`${amount} taken from ${balance}`);
    this.#fungible[account] = balance - amount;
    this.fungibleSupply -= amount;
    this.#effects.modify(this.#fungibleStores, account);
  }

  #coinEvent(
    type: MigratedEventType,
    handles: EventHandles,
    account: number,
    amount: bigint,
  ): void {
    const write: ValueWriter = (writer) => writer.u64(amount);
    const writeOwner: ValueWriter = (writer) => this.#writeHolder(writer, account);
    this.#effects.migratedEvent(type, handles, account, write, writeOwner);
  }

  /** The coin and the account: the first fields of module events of coin stores. */
  #writeHolder(writer: BcsWriter, account: number): void {
    writer.string(this.coinType!).fixed(this.#accounts.addressBytes(account));
  }
}

/** Writes a `0x1::type_info::TypeInfo`. */
export function typeInfoWriter(type: string): ValueWriter {
  const { address, module, name } = parseStructTag(type);
  return (writer) => writer.address(address).bytes(Buffer.from(module)).bytes(Buffer.from(name));
}
