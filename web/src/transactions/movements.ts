/** Movements of a transaction, from its events and writes: coins and fungible assets between owners, and the fee. */
import type { ChangeJson, EventJson, Transaction } from '../asking/answers.ts';
import { isObject, type Json } from '../asking/exact-json.ts';
import { readU64 } from '../parts/number-text.ts';

const OBJECT_CORE = '0x1::object::ObjectCore';
const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore';
const FUNGIBLE_EVENT = /^0x1::fungible_asset::(Withdraw|Deposit)(?:Event)?$/;
const COIN_EVENT = /^0x1::coin::(?:Coin)?(Withdraw|Deposit)(?:Event)?$/;
const COIN_STORE = /^0x1::coin::CoinStore<(.+)>$/;
const STORE_DELETION = '0x1::fungible_asset::FungibleStoreDeletion';
const FEE_STATEMENT = '0x1::transaction_fee::FeeStatement';
/** The asset in which fees are paid, as a fungible asset and as its paired coin. */
export const NATIVE_ASSET = '0xa';
const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';

/** The amount of an asset that an owner received (more than 0) or gave, in smallest units. */
export interface Movement {
  readonly owner: string;
  /** The address of the metadata, or the type of a coin. */
  readonly asset: string;
  readonly amount: bigint;
}

/** The cost of a transaction. */
export interface Fee {
  readonly payer: string;
  readonly octas: bigint;
  /** Refund for deleted state; not subtracted from `octas`. */
  readonly refundOctas: bigint;
}

/** An address without leading zeros: the node writes some with them. */
export function shortAddress(address: string): string {
  return address.replace(/^0x0+(?=.)/, '0x');
}

/** A text inside of JSON; undefined if it is absent. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  let inner = value;
  for (const name of path) inner = isObject(inner) ? inner[name] : undefined;
  return typeof inner === 'string' ? inner : undefined;
}

/** The canonical name of an asset: the native one has the same name as a coin and as a fungible asset. */
export function assetOf(asset: string): string {
  return asset === NATIVE_COIN ? NATIVE_ASSET : shortAddress(asset);
}

interface Store {
  readonly owner?: string | undefined;
  readonly asset?: string | undefined;
}

/** The stores that a transaction wrote or deleted, by address. */
function storesOf({ changes = [], events = [] }: Transaction): ReadonlyMap<string, Store> {
  const stores = new Map<string, Store>();
  const add = (address: string | undefined, facts: Store): void => {
    if (address === undefined) return;
    const short = shortAddress(address);
    stores.set(short, { ...stores.get(short), ...facts });
  };
  for (const { address, data } of changes) {
    const type = textAt(data, 'type');
    const value = data?.['data'];
    if (type === OBJECT_CORE) add(address, { owner: textAt(value, 'owner') });
    if (type === FUNGIBLE_STORE) add(address, { asset: textAt(value, 'metadata', 'inner') });
  }
  for (const { type, data } of events) {
    if (type !== STORE_DELETION) continue;
    const [owner, asset] = [textAt(data, 'owner'), textAt(data, 'metadata')];
    add(textAt(data, 'store'), { owner, asset });
  }
  return stores;
}

/** The coin of an event in a coin store's own stream, found by the store's handles. */
function coinOfStream({ guid }: EventJson, changes: readonly ChangeJson[]): string | undefined {
  for (const { address, data } of changes) {
    const coin = COIN_STORE.exec(textAt(data, 'type') ?? '')?.[1];
    if (coin === undefined || address !== guid?.account_address) continue;
    const value = data?.['data'];
    const streams = ['deposit_events', 'withdraw_events'].map((name) =>
      textAt(value, name, 'guid', 'id', 'creation_num'),
    );
    if (streams.includes(guid?.creation_number)) return coin;
  }
  return undefined;
}

/** Deposits and withdrawals, in order, without the fee, for which there is no such event. */
export function movementsOf(transaction: Transaction): Movement[] {
  const { events = [], changes = [] } = transaction;
  const stores = storesOf(transaction);
  return events.flatMap((event) => {
    const { type, data, guid } = event;
    const amount = readU64(textAt(data, 'amount') ?? '');
    const way = FUNGIBLE_EVENT.exec(type)?.[1] ?? COIN_EVENT.exec(type)?.[1];
    if (way === undefined || amount === undefined || amount === 0n) return [];
    let found: Store | undefined;
    if (FUNGIBLE_EVENT.test(type)) {
      found = stores.get(shortAddress(textAt(data, 'store') ?? guid?.account_address ?? ''));
    } else {
      const asset = textAt(data, 'coin_type') ?? coinOfStream(event, changes);
      found = { owner: textAt(data, 'account') ?? guid?.account_address, asset };
    }
    const { owner, asset } = found ?? {};
    if (owner === undefined || asset === undefined) return [];
    const signed = way === 'Deposit' ? amount : -amount;
    return [{ owner: shortAddress(owner), asset: assetOf(asset), amount: signed }];
  });
}

/** The cost of a transaction; undefined if nobody pays for it. */
export function feeOf(transaction: Transaction): Fee | undefined {
  const { sender, signature, gas_used, gas_unit_price, events = [] } = transaction;
  const [used, price] = [readU64(gas_used ?? ''), readU64(gas_unit_price ?? '')];
  if (sender === undefined || used === undefined || price === undefined) return undefined;
  const statement = events.find(({ type }) => type === FEE_STATEMENT);
  const refund = readU64(textAt(statement?.data, 'storage_fee_refund_octas') ?? '') ?? 0n;
  const payer = shortAddress(signature?.fee_payer_address ?? sender);
  return { payer, octas: used * price, refundOctas: refund };
}

/** The sum of movements by owner and asset, in order of first appearance; zero sums are left out. */
export function netOf(movements: readonly Movement[]): Movement[] {
  const sums = new Map<string, Movement>();
  for (const { owner, asset, amount } of movements) {
    const key = `${owner} ${asset}`;
    sums.set(key, { owner, asset, amount: (sums.get(key)?.amount ?? 0n) + amount });
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n);
}

/** Changes of owners' balances, including the fee. */
export function netChangesOf(transaction: Transaction): Movement[] {
  const fee = feeOf(transaction);
  const paid = fee && {
    owner: fee.payer,
    asset: NATIVE_ASSET,
    amount: fee.refundOctas - fee.octas,
  };
  return netOf([...movementsOf(transaction), ...(paid === undefined ? [] : [paid])]);
}
