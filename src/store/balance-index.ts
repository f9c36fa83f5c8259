/** Keeping the balances of a store in step with its state: what a chunk changes, on top of what is there. */

import { addressFromBytes } from '../move/types/address.ts';
import { primaryStoreOf } from '../move/types/derived-address.ts';
import { OBJECT_GROUP_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, resourceGroupStateKey, stateKeyHash } from '../move/types/state-key.ts';
import {
  balancePathOf,
  type CoinStoreChange,
  coinStoreChange,
  type ObjectGroupChange,
  objectGroupChange,
} from '../move/values/balance-change.ts';
import type { Batch } from './batch.ts';
import {
  type BalanceHolder,
  balanceKey,
  decodeBalance,
  decodePrimaryStore,
  putBalance,
  putPrimaryStore,
  type StoredBalance,
} from './columns/balance-column.ts';
import { BALANCES, PRIMARY_STORES, STATE } from './columns/columns.ts';
import { encodeU64Key, NO_ORDER } from './columns/order-key.ts';
import { decodeStateRow } from './columns/state-column.ts';
import { getAll, type StoreReader } from './store.ts';

/** The last of a chunk's writes to a key that may hold a balance. */
export interface BalanceWrite {
  readonly version: bigint;
  readonly change: CoinStoreChange | ObjectGroupChange;
}

/** What a write to a key means for balances; `undefined` for a key that holds none. */
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

/** The last of a chunk's writes to an object group. */
interface ObjectWrite extends BalanceWrite {
  readonly change: ObjectGroupChange;
}

/** One balance on its way into the store. */
interface PendingBalance {
  readonly holder: BalanceHolder;
  coin?: CoinStoreChange;
  fungible?: ObjectGroupChange;
  version: bigint;
}

/**
 * Adds to a batch the balances that a chunk's writes change.
 * @param writes at most one for each key
 * @param firstVersion of the chunk: the store is read as it was before
 * @throws RowDamagedError
 */
export async function putBalances(
  batch: Batch,
  store: StoreReader,
  writes: readonly BalanceWrite[],
  firstVersion: bigint,
): Promise<void> {
  const pending = new Map<string, PendingBalance>();
  const objects = new Map<string, ObjectWrite>();
  const strangers: ObjectWrite[] = [];
  for (const { change, version } of writes) {
    if (change.kind === 'coinStore') {
      pendingOf(pending, change, version).coin = change;
      continue;
    }
    objects.set(change.address.toString('latin1'), { change, version });
    if (change.holder === undefined) strangers.push({ change, version });
    else pendingOf(pending, change.holder, version).fungible = change;
  }
  await findHolders(store, strangers, pending);
  const all = [...pending.values()];
  const stored = await getAll(
    store,
    BALANCES,
    all.map(({ holder }) => balanceKey(holder)),
  );
  for (const [index, balance] of all.entries()) {
    const value = stored[index];
    const known = value && decodeBalance(balanceKey(balance.holder), value);
    const before = known ?? (await beginBalance(batch, store, balance, objects, firstVersion));
    putBalance(batch, balance.holder, after(before, balance));
  }
}

function pendingOf(
  pending: Map<string, PendingBalance>,
  { owner, metadata }: BalanceHolder,
  version: bigint,
): PendingBalance {
  const name = owner.toString('latin1') + metadata.toString('latin1');
  let balance = pending.get(name);
  if (balance === undefined) {
    balance = { holder: { owner, metadata }, version };
    pending.set(name, balance);
  }
  if (version > balance.version) balance.version = version;
  return balance;
}

/** Objects that do not say whose primary store they are, and yet are one that is known. */
async function findHolders(
  store: StoreReader,
  strangers: readonly ObjectWrite[],
  pending: Map<string, PendingBalance>,
): Promise<void> {
  const keys = strangers.map(({ change }) => ({ partition: change.address, order: NO_ORDER }));
  const holders = await getAll(store, PRIMARY_STORES, keys);
  for (const [index, { change, version }] of strangers.entries()) {
    const value = holders[index];
    if (value === undefined) continue;
    pendingOf(pending, decodePrimaryStore(change.address, value), version).fungible = change;
  }
}

const NOTHING: StoredBalance = { version: 0n, coin: 0n, fungible: 0n };

/** What there was before the first row of a balance, which leads back to it from its primary store. */
async function beginBalance(
  batch: Batch,
  store: StoreReader,
  { holder, fungible }: PendingBalance,
  objects: ReadonlyMap<string, ObjectWrite>,
  firstVersion: bigint,
): Promise<StoredBalance> {
  const address = fungible?.address ?? primaryStoreOf(holder.owner, holder.metadata);
  putPrimaryStore(batch, address, holder);
  if (fungible !== undefined) return NOTHING;
  // The object may be there already and have said nothing of this owner.
  const object = objects.get(address.toString('latin1'));
  if (object === undefined) return storedObject(store, address, firstVersion);
  return { ...NOTHING, version: object.version, fungible: object.change.amount };
}

async function storedObject(
  store: StoreReader,
  address: Buffer,
  firstVersion: bigint,
): Promise<StoredBalance> {
  if (firstVersion === 0n) return NOTHING;
  const group = resourceGroupStateKey(addressFromBytes(address), OBJECT_GROUP_TAG);
  const physical = physicalStateKey(group);
  const hash = stateKeyHash(physical);
  const row = await store.seekLast(STATE, hash, encodeU64Key(firstVersion - 1n));
  if (row === undefined) return NOTHING;
  const { version, bytes } = decodeStateRow(hash, row);
  return { ...NOTHING, version, fungible: objectGroupChange(physical, bytes).amount };
}

function after(before: StoredBalance, { coin, fungible, version }: PendingBalance): StoredBalance {
  return {
    // A chunk may come again after a crash of an engine that stores rows one by one.
    version: version > before.version ? version : before.version,
    coin: coin === undefined ? before.coin : coin.amount,
    fungible: fungible === undefined ? before.fungible : fungible.amount,
  };
}
