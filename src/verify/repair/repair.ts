/**
 * Repairs what an examination found damaged (docs/storage.md). Versions come from another node and are proved against
 * this ledger's head; derived rows are rebuilt once every version holds. An interruption is harmless: what
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
  HEAD,
  IDENTITY,
  PRIMARY_STORES,
  PRUNING,
  STATE,
  STATE_KEYS,
  TRANSACTIONS,
} from '../../store/columns/columns.ts';
import { type Head, openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import { type PruneProgress, readPruneProgress } from '../../store/columns/pruning-column.ts';
import type { Store } from '../../store/store.ts';
import { RowDamagedError } from '../../store/store-error.ts';
import type { Damage } from '../context.ts';
import type { VerifyReport } from '../ledger.ts';
import { removeDeleted } from './deleted-state.ts';
import { type DerivedRows, repairDerived } from './derived-rows.ts';
import { newestVersionOf, repairOldKeys } from './old-keys.ts';
import { Proof } from './proof.ts';
import { type NamedRow, repairVersions, type VersionsToRepair } from './version-rows.ts';
import { VersionSource } from './version-source.ts';

/** Maximum damages that are repaired after one examination; the next one names more. */
export const MAX_DAMAGES_AT_ONCE = 100_000;

const COMMIT_BYTES = 8 * 1024 * 1024;

/** How often a version is written at most: its translated events may have to wait for others. */
const MAX_TIMES = 3;

/** Columns of known keys, and those whose rows follow from others. */
const KEYS: readonly Column[] = [ACCOUNT_KEYS, ACCOUNT_KEY_TAILS, STATE_KEYS];
/** Columns in which a row above the head may be a damaged row of a version below it. */
const REBUILT_COLUMNS: readonly Column[] = [...KEYS, BALANCES, PRIMARY_STORES];
/** Columns of the rows that nothing in the ledger follows from. */
const FIXED = [IDENTITY, HEAD, PRUNING].map(({ name }) => name);
const DERIVED = [BALANCES, PRIMARY_STORES, EVENT_TYPES].map(({ name }) => name);

/** The rows that a repair has written so far. They are right however the repair ends. */
export interface RepairCounts {
  versions: number;
  /** Derived rows that were rebuilt or removed, and removed rows of no version. */
  rows: number;
  /** Damaged versions that the source does not have: pruned there, or above its newest one. */
  unavailable: number;
}

interface RepairOptions {
  readonly onVersions: (versions: number) => void;
  readonly commitBytes?: number | undefined;
}

/** Repairs a ledger, one examination after the other. Nobody else writes it meanwhile. */
export class LedgerRepair {
  readonly repaired: RepairCounts = { versions: 0, rows: 0, unavailable: 0 };
  readonly #store: Store;
  readonly #source: VersionSource;
  readonly #onVersions: (versions: number) => void;
  readonly #commitBytes: number;
  readonly #written = new Map<bigint, number>();

  constructor(
    store: Store,
    client: FeedClient,
    { onVersions, commitBytes = COMMIT_BYTES }: RepairOptions,
  ) {
    this.#store = store;
    this.#source = new VersionSource(client);
    this.#onVersions = onVersions;
    this.#commitBytes = commitBytes;
  }

  /**
   * Repairs the damages of a report as far as possible. Nothing is written unless all transaction infos add up to the
   * accumulator in the head.
   * @throws RemoteError when the source fails, or its versions are not those of this ledger; StoreError
   */
  async repair(report: VerifyReport): Promise<void> {
    const store = this.#store;
    const { damages } = report;
    const head = await openHead(store);
    const identity = (await LEDGER_IDENTITY.get(store))!;
    const progress = await readPruneProgress(store);
    const { clearedBelow } = progress;
    if (!identity.keepsTransactions) await throwIfTransactionsStored(store);
    if (damages.some(({ isIndexDamage }) => isIndexDamage === true)) {
      // Lost rows are missing then: the next examination names them.
      this.repaired.rows += (await store.repair?.()) ?? 0;
      return;
    }
    const versions = await damagedVersions(store, damages, head, clearedBelow);
    // Damage that is still named then is not in the rows of the version.
    for (const [version, times] of this.#written) if (times >= MAX_TIMES) versions.delete(version);
    if (versions.size > 0) {
      await this.#repairVersions(damages, versions, { head, identity, clearedBelow }, progress);
      return;
    }
    // No data of another node can prove these.
    if (damages.some(({ column }) => FIXED.includes(column))) return;
    const { repaired } = this;
    repaired.rows += await removeStray(store, damages, head);
    repaired.rows += await removeDeleted(store, head, oldStateRows(damages, clearedBelow));
    repaired.rows += await repairOldKeys(store, damages, head, this.#source);
    repaired.rows += await repairDerived(store, derivedRows(report, head, clearedBelow));
  }

  async #repairVersions(
    damages: readonly Damage[],
    versions: ReadonlyMap<bigint, readonly NamedRow[]>,
    ledger: Pick<VersionsToRepair, 'head' | 'identity' | 'clearedBelow'>,
    progress: PruneProgress,
  ): Promise<void> {
    const { head, identity } = ledger;
    const { repaired } = this;
    const [store, source] = [this.#store, this.#source];
    const state = await source.state();
    checkChain(identity, state);
    const { oldestVersion = 0n, ledgerVersion = head.version } = state;
    const isAvailable = (version: bigint) => version >= oldestVersion && version <= ledgerVersion;
    const available = new Map([...versions].filter(([version]) => isAvailable(version)));
    repaired.unavailable = versions.size - available.size;
    if (available.size === 0) return;
    const found = [...available.keys()];
    const proof = await Proof.of(store, head, progress, found, source, repaired.unavailable);
    repaired.rows += await removeStray(store, damages, head);
    const firstUnavailable = [...versions.keys()].find((version) => !available.has(version));
    const plan = {
      ...ledger,
      versions: available,
      commitBytes: this.#commitBytes,
      firstUnavailable,
    };
    const before = repaired.versions;
    await repairVersions(store, plan, source, proof, (done) => {
      repaired.versions = before + done;
      this.#onVersions(repaired.versions);
    });
    for (const version of found) this.#written.set(version, (this.#written.get(version) ?? 0) + 1);
  }
}

function oldStateRows(damages: readonly Damage[], clearedBelow: bigint): readonly NamedRow[] {
  const rows = damages.map(rowOf).filter((row) => row !== undefined);
  return rows.filter(({ column, order }) => column === STATE && decodeU64Key(order) < clearedBelow);
}

/** The derived rows to rebuild once all versions hold. */
function derivedRows(
  { damages, stateRootVersion }: VerifyReport,
  head: Head,
  clearedBelow: bigint,
): DerivedRows {
  // Only the root tells that state from before the pruned versions is whole.
  const isStateIntact =
    (clearedBelow === 0n || stateRootVersion !== undefined) &&
    damages.every(({ column, key, version }) => {
      // Numbers of keys, or of rows, may differ.
      return column !== STATE.name || (key === undefined && version === undefined);
    });
  const columns = isStateIntact ? [...REBUILT_COLUMNS, EVENT_TYPES] : [EVENT_TYPES];
  const rows = damages.map(rowOf).filter((row) => row !== undefined);
  return { head, clearedBelow, rows: rows.filter(({ column }) => columns.includes(column)) };
}

/**
 * An identity that says that no transactions are stored is damaged where there are some: repairing would delete them.
 * @throws RowDamagedError
 */
async function throwIfTransactionsStored(store: Store): Promise<void> {
  if ((await store.scan(TRANSACTIONS, { maxRows: 1, maxBytes: 1 })).length === 0) return;
  const detail = 'it says that no transactions are stored, and there are some';
  throw new RowDamagedError(IDENTITY, LEDGER_IDENTITY.keyOf(), detail);
}

async function damagedVersions(
  store: Store,
  damages: readonly Damage[],
  head: Head,
  clearedBelow: bigint,
): Promise<Map<bigint, readonly NamedRow[]>> {
  const versions = new Map<bigint, NamedRow[]>();
  for (const damage of damages) {
    const row = rowOf(damage);
    const version = await versionOf(store, damage, row, encodeU64Key(head.version));
    if (version === undefined || version < clearedBelow || version > head.version) continue;
    const rows = versions.get(version) ?? [];
    versions.set(version, rows);
    if (row !== undefined) rows.push(row);
  }
  return new Map([...versions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Removes rows of versions that were never committed, or are cleared. Nobody else writes meanwhile. */
async function removeStray(
  store: Store,
  damages: readonly Damage[],
  { version }: Head,
): Promise<number> {
  const batch = new Batch();
  for (const damage of damages) {
    const isStray = damage.isAboveHead === true || damage.isCleared === true;
    const row = isStray ? rowOf(damage) : undefined;
    if (row === undefined || REBUILT_COLUMNS.includes(row.column)) continue;
    // A window that begins below the head is rebuilt too.
    if (row.column === EVENT_TYPES && decodeU64Key(row.order) <= version) continue;
    batch.delete(row.column, row.partition, row.order);
  }
  await store.commit(batch);
  return batch.size;
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

/** The version that writes a damaged row; `undefined` if none does, or it is unknown. */
async function versionOf(
  store: Store,
  { column, key, version }: Damage,
  row: NamedRow | undefined,
  newest: Uint8Array,
): Promise<bigint | undefined> {
  if (DERIVED.includes(column) || FIXED.includes(column)) return undefined;
  // The root of the state does not tell which value is damaged.
  if (column === STATE.name && key === undefined) return undefined;
  if (version !== undefined) return version;
  if (column === STATE.name && row !== undefined) return decodeU64Key(row.order);
  // State without its key, or a key that is not the one of its state: any version that wrote it names the key.
  const isStateColumn = column === STATE.name || column === STATE_KEYS.name;
  if (!isStateColumn || key === undefined) return undefined;
  const hash = Buffer.from(key.split('/')[0]!, 'hex');
  if (hash.length !== STATE.partitionBytes) return undefined;
  return await newestVersionOf(store, hash, newest);
}
