/**
 * Repairs what an examination found damaged (docs/storage.md). Versions come from another node and are proved against
 * this ledger's head; rows that follow from others are made again once every version holds. A cut is harmless: what
 * is written is right, and the next examination names the rest.
 */
import type { FeedClient } from '../../ingest/feed/feed-client.ts';
import { checkChain } from '../../ingest/feed/known-history.ts';
import { Batch } from '../../store/batch.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  BALANCES,
  COLUMNS,
  type Column,
  EVENT_TYPES,
  PRIMARY_STORES,
  STATE,
  STATE_KEYS,
} from '../../store/columns/columns.ts';
import { type Head, openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import { readPruneProgress } from '../../store/columns/pruning-column.ts';
import type { Store } from '../../store/store.ts';
import type { Damage } from '../context.ts';
import { repairDerived } from './derived-rows.ts';
import { Proof } from './proof.ts';
import { type NamedRow, repairVersions } from './version-rows.ts';
import { VersionSource } from './version-source.ts';

/** Maximum damages that are repaired after one examination; the next one names more. */
export const MAX_DAMAGES_AT_ONCE = 100_000;

/** Columns of known keys, and those whose rows follow from others. */
const KEYS: readonly Column[] = [ACCOUNT_KEYS, ACCOUNT_KEY_TAILS, STATE_KEYS];
/** Columns of which a row above the head may be a damaged one of a version that is there. */
const MADE_AGAIN: readonly Column[] = [...KEYS, BALANCES, PRIMARY_STORES];
const DERIVED = [BALANCES, PRIMARY_STORES, EVENT_TYPES].map(({ name }) => name);

export interface Repaired {
  /** Versions whose rows were written. */
  readonly versions: number;
  /** Rows that follow from others, made again or removed; and rows of no version, removed. */
  readonly rows: number;
}

/**
 * Repairs the damages of one examination as far as possible.
 * @throws FeedError when the source fails, or its versions are not those of this ledger: nothing was written
 */
export async function repairDamages(
  store: Store,
  damages: readonly Damage[],
  client: FeedClient,
  signal: AbortSignal,
  onVersions: (versions: number) => void,
): Promise<Repaired> {
  const head = await openHead(store);
  const identity = (await LEDGER_IDENTITY.get(store))!;
  const progress = await readPruneProgress(store);
  const { clearedBelow } = progress;
  const aboveRows = await removeAbove(store, damages, head);
  const versions = new Map<bigint, NamedRow[]>();
  for (const damage of damages) {
    const row = rowOf(damage);
    const version = await versionOf(store, damage, row, encodeU64Key(head.version));
    if (version === undefined || version < clearedBelow || version > head.version) continue;
    const rows = versions.get(version) ?? [];
    versions.set(version, rows);
    if (row !== undefined) rows.push(row);
  }
  if (versions.size > 0) {
    checkChain(identity, await client.state(signal));
    const sorted = new Map([...versions].sort(([a], [b]) => (a < b ? -1 : 1)));
    const source = new VersionSource(client, signal);
    const proof = await Proof.of(store, head, progress, [...sorted.keys()], source);
    const plan = { head, identity, clearedBelow, versions: sorted };
    await repairVersions(store, plan, source, proof, onVersions);
    return { versions: sorted.size, rows: aboveRows };
  }
  // What they follow from is proved only when nothing else is damaged.
  if (!damages.every(isDerived)) return { versions: 0, rows: aboveRows };
  const rows = damages.map(rowOf).filter((row) => row !== undefined);
  const anyBalance = damages.some(
    ({ column, key }) => column === BALANCES.name && key === undefined,
  );
  const derived = await repairDerived(store, { head, clearedBelow, rows, anyBalance });
  return { versions: 0, rows: aboveRows + derived };
}

/** Removes rows of versions that were never committed. Nobody else writes meanwhile. */
async function removeAbove(
  store: Store,
  damages: readonly Damage[],
  { version }: Head,
): Promise<number> {
  const batch = new Batch();
  for (const damage of damages) {
    const row = damage.isAbove === true ? rowOf(damage) : undefined;
    if (row === undefined || MADE_AGAIN.includes(row.column)) continue;
    // A window that begins below the head is made again too.
    if (row.column === EVENT_TYPES && decodeU64Key(row.order) <= version) continue;
    batch.delete(row.column, row.partition, row.order);
  }
  await store.commit(batch);
  return batch.size;
}

/** Whether a damage is of rows that follow from others, or only counts such rows. */
function isDerived({ column, key, version }: Damage): boolean {
  if (column === STATE.name) return key === undefined && version === undefined;
  return DERIVED.includes(column) || KEYS.some(({ name }) => name === column);
}

function rowOf({ column: name, key }: Damage): NamedRow | undefined {
  const column = COLUMNS.find((one) => one.name === name);
  const [partition, order] = (key ?? '').split('/').map((text) => Buffer.from(text, 'hex'));
  if (column === undefined || partition === undefined || order === undefined) return undefined;
  const [least, most] = column.orderBytes;
  const isWhole = order.length >= least && order.length <= most;
  return partition.length === column.partitionBytes && isWhole
    ? { column, partition, order }
    : undefined;
}

/** The version that writes a damaged row; `undefined` where none does, or it is not known. */
async function versionOf(
  store: Store,
  { column, key, version }: Damage,
  row: NamedRow | undefined,
  newest: Uint8Array,
): Promise<bigint | undefined> {
  if (DERIVED.includes(column)) return undefined;
  if (version !== undefined) return version;
  if (column === STATE.name && row !== undefined) return decodeU64Key(row.order);
  // State without its key, or a key that is not the one of its state: any version that wrote it names the key.
  const isOfState = column === STATE.name || column === STATE_KEYS.name;
  if (!isOfState || key === undefined) return undefined;
  const hash = Buffer.from(key.split('/')[0]!, 'hex');
  const last = await store.seekLast(STATE, hash, newest);
  return last && decodeU64Key(last.order);
}
