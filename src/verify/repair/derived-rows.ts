/**
 * Rebuilds rows that derive from others of this store: known keys, balances and their primary stores, windows of
 * event types. Only when every version holds: then what they follow from is proved.
 */
import { primaryStoreOf } from '../../move/types/derived-address.ts';
import { stateKeyHash } from '../../move/types/state-key.ts';
import { Batch } from '../../store/batch.ts';
import { BALANCE, PRIMARY_STORE } from '../../store/columns/balance-column.ts';
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
import { decodeU64Key, encodeBucketKey } from '../../store/columns/order-key.ts';
import { putKey, rowsOfKey } from '../../store/columns/state-key-column.ts';
import { rowsBetween, type Store, scanPages } from '../../store/store.ts';
import { EventTypeIndex, type FilledWindow } from '../../store/write/event-type-index.ts';
import { BalancesInState } from '../balances.ts';
import type { NamedRow } from './version-rows.ts';

export interface DerivedRows {
  readonly head: Head;
  readonly clearedBelow: bigint;
  readonly rows: readonly NamedRow[];
}

/** @returns how many rows were rebuilt or removed */
export async function repairDerived(
  store: Store,
  { head, clearedBelow, rows }: DerivedRows,
): Promise<number> {
  const batch = new Batch();
  const of = (column: Column): NamedRow[] => rows.filter((row) => row.column === column);
  for (const key of of(ACCOUNT_KEYS)) await putAccountKey(batch, store, key);
  for (const { partition, order } of of(STATE_KEYS)) {
    const [first] = await store.range(STATE, partition, { limit: 1 });
    if (first === undefined) batch.delete(STATE_KEYS, partition, order);
  }
  // Balances are found by the keys of their accounts.
  await store.commit(batch);
  const later = new Batch();
  await putBalances(later, store, head, of(BALANCES));
  await putPrimaryStores(later, store, of(PRIMARY_STORES));
  await putWindows(later, store, head, clearedBelow, of(EVENT_TYPES));
  await store.commit(later);
  return batch.size + later.size;
}

/** A key that is one row and has state is known since its first write; other rows belong to nothing. */
async function putAccountKey(batch: Batch, store: Store, key: RowKey): Promise<void> {
  const physical = Buffer.concat([Buffer.of(0), key.partition, key.order]);
  const hash = stateKeyHash(physical);
  const [first] = await store.range(STATE, hash, { limit: 1 });
  if (first === undefined) batch.delete(ACCOUNT_KEYS, key.partition, key.order);
  else putKey(batch, rowsOfKey(physical, hash), physical, decodeU64Key(first.order));
}

async function putBalances(
  batch: Batch,
  store: Store,
  head: Head,
  keys: readonly NamedRow[],
): Promise<void> {
  const balances = new BalancesInState(store, head);
  const holders = keys.map(({ partition, order }) => ({ owner: partition, metadata: order }));
  for (const [index, balance] of (await balances.of(holders)).entries()) {
    const { owner, metadata } = holders[index]!;
    if (balance === undefined) batch.delete(BALANCES, owner, metadata);
    else {
      BALANCE.put(batch, { owner, metadata }, balance);
      PRIMARY_STORE.put(batch, primaryStoreOf(owner, metadata), { owner, metadata });
    }
  }
}

/** Rows without their balance belong to nothing. */
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
  const windowsByStart = new Map<bigint, readonly FilledWindow[]>();
  for (const { partition, order } of keys) {
    const start = decodeU64Key(order);
    if (start > head.version) continue;
    let windows = windowsByStart.get(start);
    if (windows === undefined) {
      windows = await windowsFrom(store, start, head, clearedBelow);
      windowsByStart.set(start, windows);
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
): Promise<readonly FilledWindow[]> {
  const types = new EventTypeIndex();
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
