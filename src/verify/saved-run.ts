/** An examination that was saved, and whether it can be continued: what it has covered must still hold. */
import { sha3 } from '../move/crypto/hash.ts';
import { COLUMNS, IDENTITY, TRANSACTION_INFOS } from '../store/columns/columns.ts';
import { HEAD_KEY, HEAD_ROW, openHead } from '../store/columns/head.ts';
import { LEDGER_KEY } from '../store/columns/identity-column.ts';
import { encodeBucketKey } from '../store/columns/order-key.ts';
import { readPinnedAccounts, readPruneProgress } from '../store/columns/pruning-column.ts';
import type { StoreReader } from '../store/store.ts';
import { isTransient, StoreError } from '../store/store-error.ts';
import { type Damage, DamageList } from './context.ts';
import { NO_VALUE } from './row-sums.ts';

export interface SavedRun {
  /** The row of the head when the run began. */
  readonly head: Uint8Array;
  /** Tells the ledger from others. */
  readonly ledger: Uint8Array;
  /** Versions below it had been cleared by then. */
  readonly clearedBelow: bigint;
  /** Tells whether it was pruned since. */
  readonly pruning: Uint8Array;
  readonly secret: Uint8Array;
  /** The rows of DamagedRows. */
  readonly damagedRows: readonly DamagedRow[];
  /** Saved parts of the versions and of the columns; absent: nothing yet. */
  readonly versions?: Uint8Array | undefined;
  readonly columns?: Uint8Array | undefined;
}

type SavedRunErrorCode = 'other_ledger' | 'changed_ledger';

/** Why a run cannot be continued. */
export class SavedRunError extends Error {
  readonly code: SavedRunErrorCode;

  constructor(code: SavedRunErrorCode, message: string) {
    super(message);
    this.name = 'SavedRunError';
    this.code = code;
  }
}

/** @throws StoreError `ledger_empty`; RowDamagedError when the head does not decode */
export async function newRun(store: StoreReader, secret: Uint8Array): Promise<SavedRun> {
  const head = await openHead(store);
  const { clearedBelow } = await readPruneProgress(store);
  const ledger = await ledgerAt(store, head.version);
  const pruning = await pruningOf(store);
  return { head: HEAD_ROW.encode(head), ledger, clearedBelow, pruning, secret, damagedRows: [] };
}

/** @throws SavedRunError; StoreError, RowDamagedError as newRun */
export async function assertIsContinued(store: StoreReader, run: SavedRun): Promise<void> {
  const { version } = HEAD_ROW.decode(HEAD_KEY, run.head);
  const now = await openHead(store);
  if (now.version < version || !(await ledgerAt(store, version)).equals(run.ledger)) {
    throw new SavedRunError('other_ledger', 'it is of another ledger');
  }
  if (!(await pruningOf(store)).equals(run.pruning)) {
    throw new SavedRunError('changed_ledger', 'the ledger was pruned since');
  }
  if (await new DamagedRows(store, run.damagedRows).areUnchanged()) return;
  throw new SavedRunError('changed_ledger', 'damaged rows were written since');
}

type DamagedRow = readonly [column: string, key: string, digest: string];

/** Rows that were found damaged, as they are in the store: a repair changes them. */
export class DamagedRows {
  readonly #store: StoreReader;
  readonly #rows: Map<string, DamagedRow>;

  constructor(store: StoreReader, saved: readonly DamagedRow[]) {
    this.#store = store;
    this.#rows = new Map(saved.map((row) => [`${row[0]} ${row[1]}`, row]));
  }

  get all(): readonly DamagedRow[] {
    return [...this.#rows.values()];
  }

  async record(damages: readonly Damage[]): Promise<void> {
    for (const { column, key } of damages) {
      if (key === undefined || this.#rows.has(`${column} ${key}`)) continue;
      this.#rows.set(`${column} ${key}`, [column, key, await this.#digestOf(column, key)]);
    }
  }

  async areUnchanged(): Promise<boolean> {
    for (const [column, key, digest] of this.all) {
      if ((await this.#digestOf(column, key)) !== digest) return false;
    }
    return true;
  }

  async #digestOf(name: string, key: string): Promise<string> {
    const column = COLUMNS.find((one) => one.name === name)!;
    const [partition, order] = key.split('/').map((part) => Buffer.from(part, 'hex'));
    const [least, most] = column.orderBytes;
    if (order!.length < least || order!.length > most) return 'several rows';
    try {
      const value = await this.#store.get(column, partition!, order!);
      return value === undefined ? 'missing' : sha3(value).toString('hex');
    } catch (error) {
      if (!(error instanceof StoreError) || isTransient(error)) throw error;
      return 'unreadable';
    }
  }
}

/** A digest of the identity of a ledger, and of its info at a version. */
async function ledgerAt(store: StoreReader, version: bigint): Promise<Buffer> {
  const { partition, order } = encodeBucketKey(version);
  // One that is damaged is reported by the run.
  const info = await new DamageList().decoded(async () =>
    store.get(TRANSACTION_INFOS, partition, order),
  );
  const identity = await store.get(IDENTITY, LEDGER_KEY.partition, LEDGER_KEY.order);
  return sha3(Buffer.concat([sha3(identity ?? NO_VALUE), sha3(info ?? NO_VALUE)]));
}

/** A digest of what a prune changes. */
async function pruningOf(store: StoreReader): Promise<Buffer> {
  const { oldestVersion } = await openHead(store);
  const { clearedBelow } = await readPruneProgress(store);
  const pinned = [...(await readPinnedAccounts(store))].sort();
  return sha3(Buffer.from([oldestVersion, clearedBelow, ...pinned].join()));
}
