/**
 * What accounts own: coins in coin stores, fungible assets in primary stores, or both. One Asset is a coin with its
 * paired fungible asset, or a fungible asset alone (docs/spec/http.md §9, layouts docs/spec/ledger.md §5.10).
 */

import type { BcsWriter } from '../move/bcs/bcs-writer.ts';
import { ADDRESS_BYTES, type Address, addressBytes, formatAddress } from '../move/types/address.ts';
import { primaryStoreOf } from '../move/types/derived-address.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import { formatStructTag } from '../move/types/type-tag.ts';
import type { Accounts, TypeInfoWriter } from './accounts.ts';
import { type Effects, type EventType, eventType } from './effects.ts';
import {
  type AccessPathKeys,
  type GroupMember,
  resourceGroupKeys,
  resourceKeys,
  SlotFamily,
  structTagBytes,
  writeEventHandle,
  writeResourceGroup,
} from './slots.ts';

const HAS_COIN_STORE = 1;
const HAS_FUNGIBLE_STORE = 2;
const IS_CONCURRENT = 4;

/** The first creation number of every object (docs/spec/ledger.md §5.7). */
export const OBJECT_CREATION_NUMBER = 0x4000000000000n;
export const OBJECT_GROUP = '0x1::object::ObjectGroup';

const MAX_U64 = 0xffff_ffff_ffff_ffffn;
/** Octas of bytes deposit of a primary store. */
const STORE_BYTES_DEPOSIT = 1_960n;

const CORE_TAG = structTagBytes('0x1::object::ObjectCore');
const STORE_TAG = structTagBytes('0x1::fungible_asset::FungibleStore');
const CONCURRENT_TAG = structTagBytes('0x1::fungible_asset::ConcurrentFungibleBalance');

const DEPOSIT_EVENT: EventType = eventType('0x1::coin::DepositEvent');
const WITHDRAW_EVENT: EventType = eventType('0x1::coin::WithdrawEvent');
const COIN_DEPOSIT: EventType = eventType('0x1::coin::CoinDeposit');
const COIN_WITHDRAW: EventType = eventType('0x1::coin::CoinWithdraw');
const STORE_DELETION: EventType = eventType('0x1::coin::CoinStoreDeletion');
const ASSET_DEPOSIT: EventType = eventType('0x1::fungible_asset::Deposit');
const ASSET_WITHDRAW: EventType = eventType('0x1::fungible_asset::Withdraw');

/** What the chain does at this moment of its history (see chain.ts). */
export interface LedgerMoment {
  /** Microseconds since 1970; 0 at genesis. */
  readonly now: number;
  /** Whether the framework emits module events where it emitted handle events before. */
  readonly moduleEvents: boolean;
}

/** Writes `0x1::object::ObjectCore` of an object with `handles` event handles in all, its own included. */
export function writeObjectCore(
  writer: BcsWriter,
  object: Uint8Array,
  owner: Uint8Array,
  ungated: boolean,
  transfers = 0,
  handles = 1,
): void {
  writer
    .u64(OBJECT_CREATION_NUMBER + BigInt(handles))
    .fixed(owner)
    .bool(ungated);
  writeEventHandle(writer, transfers, OBJECT_CREATION_NUMBER, object);
}

class CoinStoreSlots extends SlotFamily {
  readonly #asset: Asset;
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys;

  constructor(asset: Asset, accounts: Accounts, coinType: string) {
    super();
    this.#asset = asset;
    this.#accounts = accounts;
    this.#keys = resourceKeys(`0x1::coin::CoinStore<${coinType}>`);
  }

  key(index: number): Buffer {
    return this.#keys.at(this.#accounts.addresses, index * ADDRESS_BYTES);
  }

  createdAt(index: number): number {
    return this.#asset.coinStoreCreatedAt[index]!;
  }

  writeValue(writer: BcsWriter, index: number): void {
    const asset = this.#asset;
    const address = this.#accounts.addressBytes(index);
    const creationNumber = asset.handleNumbers[index]!;
    writer.u64(asset.coins[index]!).bool(false);
    writeEventHandle(writer, asset.deposits[index]!, creationNumber, address);
    writeEventHandle(writer, asset.withdrawals[index]!, creationNumber + 1, address);
  }
}

class FungibleStoreSlots extends SlotFamily {
  readonly #asset: Asset;
  readonly #accounts: Accounts;
  readonly #keys: AccessPathKeys = resourceGroupKeys(OBJECT_GROUP);

  constructor(asset: Asset, accounts: Accounts) {
    super();
    this.#asset = asset;
    this.#accounts = accounts;
  }

  key(index: number): Buffer {
    return this.#keys.at(this.#asset.storeAddress(index));
  }

  createdAt(index: number): number {
    return this.#asset.fungibleStoreCreatedAt[index]!;
  }

  override bytesDeposit(): bigint {
    return STORE_BYTES_DEPOSIT;
  }

  writeValue(writer: BcsWriter, index: number): void {
    const asset = this.#asset;
    const owner = this.#accounts.addressBytes(index);
    const isConcurrent = asset.isConcurrent(index);
    const balance = asset.fungible[index]!;
    const members: GroupMember[] = [
      {
        tag: CORE_TAG,
        write: (to) => writeObjectCore(to, asset.storeAddress(index), owner, false),
      },
      {
        tag: STORE_TAG,
        write: (to) =>
          to
            .fixed(asset.metadataBytes)
            .u64(isConcurrent ? 0n : balance)
            .bool(false),
      },
    ];
    if (isConcurrent) {
      members.push({ tag: CONCURRENT_TAG, write: (to) => to.u64(balance).u64(MAX_U64) });
    }
    writeResourceGroup(writer, members);
  }
}

export class Asset {
  /** Absent for an asset that never was a coin. */
  readonly coinType: string | undefined;
  /** Address of the fungible asset's metadata object. */
  readonly metadata: Address;
  readonly metadataBytes: Buffer;
  /** Accounts below this index can hold it. */
  readonly holders: number;
  /** Sum of all coin stores. */
  coinSupply = 0n;
  /** Sum of all fungible stores. */
  fungibleSupply = 0n;
  readonly coins: BigUint64Array;
  readonly fungible: BigUint64Array;
  /** Creation number of the deposit handle; the withdraw handle has the next. */
  readonly handleNumbers: Uint32Array;
  readonly deposits: Uint32Array;
  readonly withdrawals: Uint32Array;
  readonly coinStoreCreatedAt: Float64Array;
  readonly fungibleStoreCreatedAt: Float64Array;
  readonly #flags: Uint8Array;
  readonly #storeAddresses: (Buffer | undefined)[] = [];
  readonly #accounts: Accounts;
  readonly #coinSlots: SlotFamily | undefined;
  readonly #fungibleSlots: SlotFamily;
  readonly #writeTypeInfo: TypeInfoWriter | undefined;

  constructor(
    accounts: Accounts,
    holders: number,
    metadata: Address,
    coinType: string | undefined,
  ) {
    this.#accounts = accounts;
    this.holders = holders;
    this.metadata = metadata;
    this.metadataBytes = addressBytes(metadata);
    this.coinType = coinType === undefined ? undefined : formatStructTag(parseStructTag(coinType));
    this.coins = new BigUint64Array(holders);
    this.fungible = new BigUint64Array(holders);
    this.handleNumbers = new Uint32Array(holders);
    this.deposits = new Uint32Array(holders);
    this.withdrawals = new Uint32Array(holders);
    this.coinStoreCreatedAt = new Float64Array(holders);
    this.fungibleStoreCreatedAt = new Float64Array(holders);
    this.#flags = new Uint8Array(holders);
    this.#fungibleSlots = new FungibleStoreSlots(this, accounts);
    if (this.coinType === undefined) return;
    this.#coinSlots = new CoinStoreSlots(this, accounts, this.coinType);
    this.#writeTypeInfo = typeInfoWriter(this.coinType);
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

  /** What an account has of it in both stores together. */
  balance(account: number): bigint {
    return this.coins[account]! + this.fungible[account]!;
  }

  /** The 32 bytes of an account's primary store address (docs/spec/ledger.md §6.2); not to be changed. */
  storeAddress(account: number): Buffer {
    const known = this.#storeAddresses[account];
    if (known !== undefined) return known;
    const owner = this.#accounts.addressBytes(account);
    const address = primaryStoreOf(owner, this.metadataBytes);
    // Kept for those who act again and again; a million others would take a hundred megabytes.
    if (account < this.#accounts.signerLimit) this.#storeAddresses[account] = address;
    return address;
  }

  /** Opens a coin store; before the event migration that is itself an event of the account. */
  openCoinStore(effects: Effects, account: number, moment: LedgerMoment): void {
    if (this.#coinSlots === undefined || this.#writeTypeInfo === undefined) {
      throw new Error(`${formatAddress(this.metadata)} is no coin`);
    }
    this.#flags[account]! |= HAS_COIN_STORE;
    this.coinStoreCreatedAt[account] = moment.now;
    this.deposits[account] = 0;
    this.withdrawals[account] = 0;
    this.handleNumbers[account] = this.#accounts.takeCreationNumbers(effects, account, 2);
    this.#accounts.registerCoin(effects, account, this.#writeTypeInfo, moment.moduleEvents);
    effects.create(this.#coinSlots, account);
  }

  openFungibleStore(effects: Effects, account: number, moment: LedgerMoment): void {
    this.#flags[account]! |= HAS_FUNGIBLE_STORE;
    this.fungibleStoreCreatedAt[account] = moment.now;
    effects.create(this.#fungibleSlots, account);
  }

  /** Puts coins where a coin deposit puts them: the coin store, or the primary store of those who have none. */
  deposit(effects: Effects, account: number, amount: bigint, moment: LedgerMoment): void {
    if (!this.hasCoinStore(account)) {
      this.depositFungible(effects, account, amount, moment);
      return;
    }
    this.coins[account] = this.coins[account]! + amount;
    this.coinSupply += amount;
    effects.modify(this.#coinSlots!, account);
    if (moment.moduleEvents) this.#coinModuleEvent(effects, COIN_DEPOSIT, account, amount);
    else this.#coinStreamEvent(effects, DEPOSIT_EVENT, this.deposits, account, amount, 0);
  }

  /** Puts an amount into the primary store, which is opened when there is none. */
  depositFungible(effects: Effects, account: number, amount: bigint, moment: LedgerMoment): void {
    if (!this.hasFungibleStore(account)) this.openFungibleStore(effects, account, moment);
    this.fungible[account] = this.fungible[account]! + amount;
    effects.modify(this.#fungibleSlots, account);
    this.fungibleSupply += amount;
    effects.moduleEvent(ASSET_DEPOSIT, (writer) =>
      writer.fixed(this.storeAddress(account)).u64(amount),
    );
  }

  /** Takes coins, from the coin store as far as it goes. The caller has checked the balance. */
  withdraw(effects: Effects, account: number, amount: bigint, moment: LedgerMoment): void {
    const fromCoins = amount < this.coins[account]! ? amount : this.coins[account]!;
    if (fromCoins > 0n) {
      this.#takeCoins(effects, account, fromCoins);
      if (moment.moduleEvents) this.#coinModuleEvent(effects, COIN_WITHDRAW, account, fromCoins);
      else this.#coinStreamEvent(effects, WITHDRAW_EVENT, this.withdrawals, account, fromCoins, 1);
    }
    if (amount > fromCoins) this.withdrawFungible(effects, account, amount - fromCoins);
  }

  /** Takes an amount from the primary store. */
  withdrawFungible(effects: Effects, account: number, amount: bigint): void {
    this.#takeFungible(effects, account, amount);
    effects.moduleEvent(ASSET_WITHDRAW, (writer) =>
      writer.fixed(this.storeAddress(account)).u64(amount),
    );
  }

  /** Takes the fee of a transaction: without events (docs/spec/ledger.md has them in the fee statement). */
  takeFee(effects: Effects, account: number, amount: bigint): void {
    const fromCoins = amount < this.coins[account]! ? amount : this.coins[account]!;
    if (fromCoins > 0n) this.#takeCoins(effects, account, fromCoins);
    if (amount > fromCoins) this.#takeFungible(effects, account, amount - fromCoins);
  }

  /** Moves all coins to the primary store and takes the coin store away. */
  migrate(effects: Effects, account: number, moment: LedgerMoment): void {
    const amount = this.coins[account]!;
    const deposit = BigInt(this.handleNumbers[account]!);
    const address = this.#accounts.addressBytes(account);
    effects.delete(this.#coinSlots!, account);
    this.#flags[account]! &= ~HAS_COIN_STORE;
    this.coins[account] = 0n;
    this.coinSupply -= amount;
    effects.moduleEvent(STORE_DELETION, (writer) =>
      writer
        .string(this.coinType!)
        .fixed(address)
        .u64(deposit)
        .u64(deposit + 1n),
    );
    this.depositFungible(effects, account, amount, moment);
  }

  /** Turns a primary store's balance into a concurrent one. */
  makeConcurrent(effects: Effects, account: number): void {
    this.#flags[account]! |= IS_CONCURRENT;
    effects.modify(this.#fungibleSlots, account);
  }

  #takeCoins(effects: Effects, account: number, amount: bigint): void {
    this.coins[account] = less(this.coins[account]!, amount);
    this.coinSupply -= amount;
    effects.modify(this.#coinSlots!, account);
  }

  #takeFungible(effects: Effects, account: number, amount: bigint): void {
    this.fungible[account] = less(this.fungible[account]!, amount);
    this.fungibleSupply -= amount;
    effects.modify(this.#fungibleSlots, account);
  }

  #coinModuleEvent(effects: Effects, type: EventType, account: number, amount: bigint): void {
    const address = this.#accounts.addressBytes(account);
    effects.moduleEvent(type, (writer) => writer.string(this.coinType!).fixed(address).u64(amount));
  }

  #coinStreamEvent(
    effects: Effects,
    type: EventType,
    counts: Uint32Array,
    account: number,
    amount: bigint,
    handle: 0 | 1,
  ): void {
    const address = this.#accounts.addressBytes(account);
    const creationNumber = this.handleNumbers[account]! + handle;
    const sequenceNumber = counts[account]!;
    counts[account] = sequenceNumber + 1;
    effects.streamEvent(type, { address, creationNumber, sequenceNumber }, (writer) =>
      writer.u64(amount),
    );
  }
}

/** BigUint64Array wraps silently; a generator that overdraws an account is wrong and must say so. */
function less(balance: bigint, amount: bigint): bigint {
  if (balance < amount) throw new Error(`${amount} taken from ${balance}`);
  return balance - amount;
}

/** Writes `0x1::type_info::TypeInfo` of a struct without type arguments. */
export function typeInfoWriter(type: string): TypeInfoWriter {
  const { address, module, name } = parseStructTag(type);
  return (writer) => {
    writer.address(address).bytes(Buffer.from(module)).bytes(Buffer.from(name));
  };
}
