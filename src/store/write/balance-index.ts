/**
 * Updates balances in the commit that changes state. This is the one exception to "the store does not know what a
 * resource means" (ARCHITECTURE.md): a row of balances changes in the same commit as the state that it is derived from,
 * and only then is the previous row known.
 */
import { addressFromBytes } from '../../move/types/address.ts';
import { primaryStoreOf } from '../../move/types/derived-address.ts';
import { OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  stateKeyHash,
} from '../../move/types/state-key.ts';
import {
  balancePathOf,
  type CoinStoreChange,
  coinStoreChange,
  type ObjectGroupChange,
  objectGroupChange,
} from '../../move/values/balance-values.ts';
import type { Batch } from '../batch.ts';
import {
  BALANCE,
  type BalanceHolder,
  PRIMARY_STORE,
  type StoredBalance,
} from '../columns/balance-column.ts';
import { BALANCES, PRIMARY_STORES, STATE } from '../columns/columns.ts';
import { encodeU64Key } from '../columns/order-key.ts';
import { decodeStateRow } from '../columns/state-column.ts';
import type { StoreReader } from '../store.ts';

/** A chunk's last write to a key that may hold a balance. */
export interface BalanceWrite {
  readonly version: bigint;
  readonly change: CoinStoreChange | ObjectGroupChange;
}

/** The effect of a write to a key on balances; `undefined` for a key that has no balance. */
export function balanceWriteOf(
  physical: Buffer,
  value: Uint8Array | undefined,
  version: bigint,
): BalanceWrite | undefined {
  const path = balancePathOf(physical);
  if (path === undefined) return undefined;
  const change =
    path.kind === 'coinStore'
      ? coinStoreChange(physical, path.metadata, value)
      : objectGroupChange(physical, value);
  return { version, change };
}

/** A chunk's last write to an object group. */
interface ObjectWrite extends BalanceWrite {
  readonly change: ObjectGroupChange;
}

interface BalanceUpdate {
  readonly holder: BalanceHolder;
  coin?: CoinStoreChange;
  fungible?: ObjectGroupChange;
  version: bigint;
}

/**
 * Adds to a batch the balances that a chunk's writes change.
 * @param writes at most one for each key
 * @param firstVersion of the chunk; state is read as it was before this version
 * @throws RowDamagedError
 */
export async function putBalances(
  batch: Batch,
  store: StoreReader,
  writes: readonly BalanceWrite[],
  firstVersion: bigint,
): Promise<void> {
  const updates = new Map<string, BalanceUpdate>();
  const objects = new Map<string, ObjectWrite>();
  for (const { change, version } of writes) {
    if (change.kind === 'coinStore') updateOf(updates, change, version).coin = change;
    else objects.set(change.address.toString('latin1'), { change, version });
  }
  const unresolved: ObjectWrite[] = [];
  for (const object of objects.values()) {
    const { change, version } = object;
    if (change.holder === undefined) unresolved.push(object);
    else updateOf(updates, change.holder, version).fungible = change;
  }
  // Objects without an owner in their value may still be a known primary store.
  const keys = unresolved.map(({ change }) => PRIMARY_STORE.keyOf(change.address));
  const holders = await store.getMany(PRIMARY_STORES, keys);
  for (const [index, { change, version }] of unresolved.entries()) {
    const value = holders[index];
    if (value === undefined) continue;
    const holder = PRIMARY_STORE.decode(keys[index]!, value);
    updateOf(updates, holder, version).fungible = change;
  }
  const all = [...updates.values()];
  const places = all.map(({ holder }) => BALANCE.keyOf(holder));
  const stored = await store.getMany(BALANCES, places);
  const added = all.filter((_, index) => stored[index] === undefined);
  const first = await firstBalances(batch, store, added, objects, firstVersion);
  for (const [index, update] of all.entries()) {
    const value = stored[index];
    const before =
      value === undefined ? (first.get(update) ?? NOTHING) : BALANCE.decode(places[index]!, value);
    BALANCE.put(batch, update.holder, balanceAfter(before, update));
  }
}

function updateOf(
  updates: Map<string, BalanceUpdate>,
  { owner, metadata }: BalanceHolder,
  version: bigint,
): BalanceUpdate {
  const name = owner.toString('latin1') + metadata.toString('latin1');
  let update = updates.get(name);
  if (update === undefined) {
    update = { holder: { owner, metadata }, version };
    updates.set(name, update);
  }
  if (version > update.version) update.version = version;
  return update;
}

const NOTHING: StoredBalance = { version: 0n, coin: 0n, fungible: 0n };

/**
 * The balances before their first rows, except those that were empty. Also puts the rows that map their primary stores
 * back to them.
 */
async function firstBalances(
  batch: Batch,
  store: StoreReader,
  added: readonly BalanceUpdate[],
  objects: ReadonlyMap<string, ObjectWrite>,
  firstVersion: bigint,
): Promise<ReadonlyMap<BalanceUpdate, StoredBalance>> {
  const balances = new Map<BalanceUpdate, StoredBalance>();
  const older: { update: BalanceUpdate; physical: Buffer; hash: Buffer }[] = [];
  for (const update of added) {
    const { holder, fungible } = update;
    const address = fungible?.address ?? primaryStoreOf(holder.owner, holder.metadata);
    PRIMARY_STORE.put(batch, address, holder);
    if (fungible !== undefined) continue;
    // The object may already exist without having named this owner.
    const object = objects.get(address.toString('latin1'));
    if (object !== undefined) {
      const { version, change } = object;
      balances.set(update, { ...NOTHING, version, fungible: change.amount });
    } else if (firstVersion > 0n) {
      const group = resourceGroupStateKey(addressFromBytes(address), OBJECT_GROUP_TAG);
      const physical = physicalStateKey(group);
      older.push({ update, physical, hash: stateKeyHash(physical) });
    }
  }
  const order = encodeU64Key(firstVersion === 0n ? 0n : firstVersion - 1n);
  const keys = older.map(({ hash }) => ({ partition: hash, order }));
  const rows = await store.seekLastMany(STATE, keys);
  for (const [index, { update, physical, hash }] of older.entries()) {
    const row = rows[index];
    if (row === undefined) continue;
    const { version, bytes } = decodeStateRow(hash, row);
    const { amount } = objectGroupChange(physical, bytes);
    balances.set(update, { ...NOTHING, version, fungible: amount });
  }
  return balances;
}

function balanceAfter(before: StoredBalance, update: BalanceUpdate): StoredBalance {
  const { coin, fungible } = update;
  // If an engine without atomic batches crashes, the same chunk is written again.
  const isOlder = update.version < before.version;
  return {
    version: isOlder ? before.version : update.version,
    coin: coin === undefined ? before.coin : coin.amount,
    fungible: fungible === undefined ? before.fungible : fungible.amount,
  };
}
