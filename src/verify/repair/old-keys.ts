/** Restores the rows of keys whose state is from before the pruned versions. */
import { stateKeyHash } from '../../move/types/state-key.ts';
import { Batch } from '../../store/batch.ts';
import { STATE, STATE_KEYS } from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import { putKey, rowsOfKey } from '../../store/columns/state-key-column.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import { isDamaged } from '../../store/store-error.ts';
import type { Damage } from '../context.ts';
import { chunkOf } from './version-rows.ts';
import type { VersionSource } from './version-source.ts';

const NAMES = [STATE, STATE_KEYS].map(({ name }) => name);

/** The version of the newest row of a key; `undefined` if it is absent or unreadable. */
export async function newestVersionOf(
  store: StoreReader,
  hash: Buffer,
  newest: Uint8Array,
): Promise<bigint | undefined> {
  try {
    const last = await store.seekLast(STATE, hash, newest);
    return last && decodeU64Key(last.order);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return undefined;
  }
}

/**
 * The versions cannot be proved any more, but a key can: its hash is the one that state has.
 * @returns how many rows were written
 * @throws RemoteError
 */
export async function repairOldKeys(
  store: Store,
  damages: readonly Damage[],
  { version: newest }: Head,
  source: VersionSource,
): Promise<number> {
  const hashesByVersion = new Map<bigint, Set<string>>();
  for (const { column, key } of damages) {
    // A row of state itself has an order too.
    if (!NAMES.includes(column) || key?.endsWith('/') !== true) continue;
    const hash = Buffer.from(key.slice(0, -1), 'hex');
    if (hash.length !== STATE.partitionBytes) continue;
    const version = await newestVersionOf(store, hash, encodeU64Key(newest));
    if (version === undefined) continue;
    hashesByVersion.set(
      version,
      (hashesByVersion.get(version) ?? new Set()).add(hash.toString('hex')),
    );
  }
  if (hashesByVersion.size === 0) return 0;
  const state = await source.state();
  const versions = [...hashesByVersion.keys()].filter(
    (version) => version >= (state.oldestVersion ?? 0n),
  );
  versions.sort((a, b) => (a < b ? -1 : 1));
  const batch = new Batch();
  for await (const item of source.items(versions)) {
    const { version } = item.data;
    for (const { key } of chunkOf(item).transactions[0]!.writes) {
      const hash = stateKeyHash(key);
      if (!hashesByVersion.get(version)!.has(hash.toString('hex'))) continue;
      putKey(batch, rowsOfKey(key, hash), key, version);
    }
  }
  await store.commit(batch);
  return batch.size;
}
