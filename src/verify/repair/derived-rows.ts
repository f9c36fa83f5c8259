/**
 * Makes rows again that follow from others of this store: known keys, balances and their primary stores, windows of
 * event types. Only when every version holds: then what they follow from is proved.
 */
import { addressFromBytes } from '../../move/types/address.ts';
import { primaryStoreOf } from '../../move/types/derived-address.ts';
import { OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  stateKeyHash,
} from '../../move/types/state-key.ts';
import { balanceWriteOf } from '../../store/balance-index.ts';
import { Batch } from '../../store/batch.ts';
import { BALANCE, PRIMARY_STORE, type StoredBalance } from '../../store/columns/balance-column.ts';
import {
  ACCOUNT_KEYS,
  BALANCES,
  type Column,
  EVENT_TYPES,
  MODULE_EVENTS,
  PRIMARY_STORES,
  type RowKey,
  STATE,
  STATE_KEYS,
} from '../../store/columns/columns.ts';
import { decodeModuleEventRow, moduleEventBounds } from '../../store/columns/event-column.ts';
import { TYPE_WINDOW, windowEnd } from '../../store/columns/event-type-column.ts';
import type { Head } from '../../store/columns/head.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from '../../store/columns/order-key.ts';
import { decodeStateRow } from '../../store/columns/state-column.ts';
import { putKey, rowsOfKey, walkAccountKeys } from '../../store/columns/state-key-column.ts';
import { rowsBetween, type Store, scanPages } from '../../store/store.ts';
import { type MadeWindow, TypeWindows } from '../../store/type-windows.ts';
import type { NamedRow } from './version-rows.ts';

export interface DerivedRows {
  readonly head: Head;
  readonly clearedBelow: bigint;
  readonly rows: readonly NamedRow[];
  /** Whether some balance is wrong that is not named. */
  readonly anyBalance: boolean;
}

/** @returns how many rows were made again, or removed */
export async function repairDerived(
  store: Store,
  { head, clearedBelow, rows, anyBalance }: DerivedRows,
): Promise<number> {
  const batch = new Batch();
  const of = (column: Column): NamedRow[] => rows.filter((row) => row.column === column);
  for (const key of of(ACCOUNT_KEYS)) await putAccountKey(batch, store, key);
  for (const key of of(STATE_KEYS)) await removeUnknownKey(batch, store, key);
  // Balances are found by the keys of their accounts.
  await store.commit(batch);
  const balances = anyBalance ? await putAllBalances(store, head) : 0;
  const later = new Batch();
  await putBalances(later, store, head, of(BALANCES));
  await putPrimaryStores(later, store, of(PRIMARY_STORES));
  await putWindows(later, store, head, clearedBelow, of(EVENT_TYPES));
  await store.commit(later);
  return batch.size + balances + later.size;
}

/** A key that is one row and has state is known since its first write; other rows belong to nothing. */
async function putAccountKey(batch: Batch, store: Store, key: RowKey): Promise<void> {
  const physical = Buffer.concat([Buffer.of(0), key.partition, key.order]);
  const hash = stateKeyHash(physical);
  const [first] = await store.range(STATE, hash, { limit: 1 });
  if (first === undefined) batch.delete(ACCOUNT_KEYS, key.partition, key.order);
  else putKey(batch, rowsOfKey(physical, hash), physical, decodeU64Key(first.order));
}

async function removeUnknownKey(batch: Batch, store: Store, key: RowKey): Promise<void> {
  const [first] = await store.range(STATE, key.partition, { limit: 1 });
  if (first === undefined) batch.delete(STATE_KEYS, key.partition, key.order);
}

/** A page of balances at a time: a ledger may have millions. @returns how many rows were written */
async function putAllBalances(store: Store, head: Head): Promise<number> {
  let count = 0;
  for await (const page of scanPages(store, BALANCES)) {
    const batch = new Batch();
    await putBalances(batch, store, head, page);
    await store.commit(batch);
    count += batch.size;
  }
  return count;
}

/** What the last write of a coin store left in it. */
interface CoinWrite {
  readonly amount: StoredBalance['coin'];
  readonly version: bigint;
}

/** @param keys those of an owner one after the other: his keys are walked once for all of them */
async function putBalances(
  batch: Batch,
  store: Store,
  head: Head,
  keys: readonly RowKey[],
): Promise<void> {
  let owner: Buffer | undefined;
  let coins: ReadonlyMap<string, CoinWrite> = new Map();
  for (const { partition, order } of keys) {
    if (owner?.equals(partition) !== true) {
      owner = Buffer.from(partition);
      coins = await coinsOf(store, head, owner);
    }
    await putBalance(batch, store, head, owner, Buffer.from(order), coins);
  }
}

/** The coin stores of an owner, by the metadata of their assets in hex. */
async function coinsOf(
  store: Store,
  head: Head,
  owner: Buffer,
): Promise<ReadonlyMap<string, CoinWrite>> {
  const coins = new Map<string, CoinWrite>();
  for await (const { key } of walkAccountKeys(store, addressFromBytes(owner))) {
    if (balanceWriteOf(key, undefined, 0n)?.change.kind !== 'coinStore') continue;
    const write = await newestWrite(store, head, key);
    if (write?.change.kind !== 'coinStore') continue;
    const { metadata, amount } = write.change;
    coins.set(metadata.toString('hex'), { amount, version: write.version });
  }
  return coins;
}

async function newestWrite(store: Store, head: Head, physical: Buffer) {
  const hash = stateKeyHash(physical);
  const row = await store.seekLast(STATE, hash, encodeU64Key(head.version));
  if (row === undefined) return undefined;
  const { bytes, version } = decodeStateRow(hash, row);
  const change = balanceWriteOf(physical, bytes, version)?.change;
  return change && { change, version };
}

/** The balance of an owner in an asset, from his coin stores and the newest state of his primary store. */
async function putBalance(
  batch: Batch,
  store: Store,
  head: Head,
  owner: Buffer,
  metadata: Buffer,
  coins: ReadonlyMap<string, CoinWrite>,
): Promise<void> {
  const address = primaryStoreOf(owner, metadata);
  const group = resourceGroupStateKey(addressFromBytes(address), OBJECT_GROUP_TAG);
  const coin = coins.get(metadata.toString('hex'));
  const write = await newestWrite(store, head, physicalStateKey(group));
  if (coin === undefined && write === undefined) {
    batch.delete(BALANCES, owner, metadata);
    return;
  }
  const [ofCoin, ofObject] = [coin?.version ?? 0n, write?.version ?? 0n];
  const balance = {
    version: ofCoin > ofObject ? ofCoin : ofObject,
    coin: coin === undefined ? 0n : coin.amount,
    fungible: write === undefined ? 0n : write.change.amount,
  };
  BALANCE.put(batch, { owner, metadata }, balance);
  PRIMARY_STORE.put(batch, address, { owner, metadata });
}

/** Rows whose balance is not there belong to nothing. */
async function putPrimaryStores(
  batch: Batch,
  store: Store,
  keys: readonly RowKey[],
): Promise<void> {
  if (keys.length === 0) return;
  const missing = new Map(keys.map((key) => [Buffer.from(key.partition).toString('hex'), key]));
  for await (const page of scanPages(store, BALANCES)) {
    for (const { partition, order } of page) {
      const address = primaryStoreOf(partition, order);
      if (!missing.delete(address.toString('hex'))) continue;
      const holder = { owner: Buffer.from(partition), metadata: Buffer.from(order) };
      PRIMARY_STORE.put(batch, address, holder);
    }
  }
  for (const { partition, order } of missing.values()) {
    batch.delete(PRIMARY_STORES, partition, order);
  }
}

async function putWindows(
  batch: Batch,
  store: Store,
  head: Head,
  clearedBelow: bigint,
  keys: readonly NamedRow[],
): Promise<void> {
  const made = new Map<bigint, readonly MadeWindow[]>();
  for (const { partition, order } of keys) {
    const start = decodeU64Key(order);
    if (start > head.version) continue;
    let windows = made.get(start);
    if (windows === undefined) {
      windows = await windowsFrom(store, start, head, clearedBelow);
      made.set(start, windows);
    }
    const window = windows.find(
      (one) => one.start === start && Buffer.compare(one.partition, partition) === 0,
    );
    if (window === undefined) batch.delete(EVENT_TYPES, partition, order);
    else TYPE_WINDOW.put(batch, window, window.versions);
  }
}

async function windowsFrom(
  store: Store,
  start: bigint,
  { version: newest }: Head,
  clearedBelow: bigint,
): Promise<readonly MadeWindow[]> {
  const types = new TypeWindows();
  const end = windowEnd(start);
  let version = start > clearedBelow ? start : clearedBelow;
  for (; version <= end && version <= newest; version += 1n) {
    const [partition, bounds] = moduleEventBounds(encodeBucketKey(version));
    for await (const row of rowsBetween(store, MODULE_EVENTS, partition, bounds)) {
      types.add(version, decodeModuleEventRow({ partition, ...row }).typeTag);
    }
  }
  return types.windows;
}
