/**
 * What the checks of a ledger share: the store they read, and the list of damages. The checks are streams over
 * columns: their memory does not grow with the ledger.
 */
import type { Column, RowKey, ScannedRow } from '../store/columns/columns.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import { decodeBucketKey } from '../store/columns/order-key.ts';
import type { PinnedAccounts, PruneProgress } from '../store/columns/pruning-column.ts';
import { type VersionWrites, WRITES_OF_VERSION } from '../store/columns/version-writes-column.ts';
import type { StoreView } from '../store/read/view.ts';
import { compareRowKeys, type StoreReader, scanPages } from '../store/store.ts';
import { keyText, RowDamagedError, StoreError } from '../store/store-error.ts';

/** Maximum number of listed damages, unless more are wanted; all are counted. */
const MAX_LISTED_DAMAGES = 100;

export interface Damage {
  readonly column: string;
  /** The row's key in hex, `partition/order`; absent if no single row is damaged. */
  readonly key?: string | undefined;
  readonly version?: bigint | undefined;
  readonly detail: string;
  /** Whether the engine cannot walk its own pages there: writing to them is not safe. */
  readonly isOfEngine?: boolean | undefined;
  /** Whether it is in what the engine stores besides rows, and can mend. */
  readonly isOfIndex?: boolean | undefined;
  /** Whether it is a row of a version above the head. */
  readonly isAbove?: boolean | undefined;
  /** Whether it is a row of the indexes of transactions, of a version that pruning has cleared. */
  readonly isCleared?: boolean | undefined;
}

export class DamageList {
  readonly listed: Damage[] = [];
  readonly #maxListed: number;
  count = 0;

  constructor(maxListed = MAX_LISTED_DAMAGES) {
    this.#maxListed = maxListed;
  }

  add(damage: Damage): void {
    this.count += 1;
    if (this.listed.length < this.#maxListed) this.listed.push(damage);
  }

  addAll(other: DamageList): void {
    for (const damage of other.listed) this.add(damage);
    this.count += other.count - other.listed.length;
  }

  /** Reports damage of a column that is not in a single row. */
  column({ name }: Column, detail: string, version?: bigint): void {
    this.add({ column: name, version, detail });
  }

  failure({ name }: Column, what: string, error: StoreError): void {
    const isOfEngine = !(error instanceof RowDamagedError);
    this.add({ column: name, detail: `${what}: ${error.message}`, isOfEngine });
  }

  row(column: Column, key: RowKey, detail: string, version?: bigint): void {
    this.add({ column: column.name, key: keyText(key), version, detail });
  }

  /** Runs a decoder of rows; a row that does not decode becomes a damage. @returns `undefined` for such a row */
  async decoded<T>(decode: () => T | Promise<T>, version?: bigint): Promise<T | undefined> {
    try {
      return await decode();
    } catch (error) {
      if (!(error instanceof RowDamagedError)) throw error;
      const { column, key, message } = error;
      this.add({ column, key, version, detail: message });
      return undefined;
    }
  }
}

export interface VerifyContext {
  readonly store: StoreReader;
  /** At the head when verification began; versions above it are not checked. */
  readonly view: StoreView;
  readonly identity: LedgerIdentity;
  readonly progress: PruneProgress;
  readonly pinned: PinnedAccounts;
  readonly damages: DamageList;
  /** Rows above the head: written by a concurrent commit, or otherwise damage too. */
  readonly above: DamageList;
  readonly reached: {
    state: bigint;
    events: bigint;
    moduleEvents: bigint;
    writes: bigint;
    hashes: bigint;
    sent: bigint;
  };
  readonly onRows: (column: Column, rows: number) => void;
}

export function noteAbove({ above }: VerifyContext, column: Column, row: RowKey): void {
  const detail = 'it is above the head, and nobody is committing';
  above.add({ column: column.name, key: keyText(row), detail, isAbove: true });
}

/** All rows of a column in order. It reports those that cannot be read, and goes on as far as the engine can. */
export async function* scanColumn(
  { store, damages, onRows }: VerifyContext,
  column: Column,
): AsyncGenerator<ScannedRow> {
  let last: RowKey | undefined;
  for (;;) {
    try {
      for await (const page of scanPages(store, column, last)) {
        onRows(column, page.length);
        for (const row of page) {
          yield row;
          last = row;
        }
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const row = error instanceof RowDamagedError ? error.row : undefined;
      const isKnown = row?.partition.length === column.partitionBytes;
      if (!isKnown || (last !== undefined && compareRowKeys(last, row) >= 0)) {
        damages.failure(column, 'cannot be read further', error);
        return;
      }
      damages.row(column, row, error.message);
      last = row;
    }
  }
}

export async function* rowsByVersion(context: VerifyContext, column: Column) {
  for await (const row of scanColumn(context, column)) {
    const version = decodeBucketKey(row.partition, row.order);
    if (version > context.view.head.version) {
      noteAbove(context, column, row);
      continue;
    }
    yield { row, version };
  }
}

export async function recordedWrites(
  { store, damages }: VerifyContext,
  version: bigint,
): Promise<VersionWrites | undefined> {
  return damages.decoded(() => WRITES_OF_VERSION.get(store, version), version);
}

/**
 * Reports the rows of a column that no version wrote, if the column has more or fewer rows than versions wrote.
 * @param versionOf the version of a row; `undefined` for one that does not decode
 */
export async function nameUnwrittenRows(
  context: VerifyContext,
  column: Column,
  versionOf: (row: ScannedRow) => bigint | undefined | Promise<bigint | undefined>,
  isWritten: (writes: VersionWrites, row: ScannedRow) => boolean,
): Promise<void> {
  const { damages, progress, view } = context;
  const before = damages.count;
  for await (const row of scanColumn(context, column)) {
    const version = await versionOf(row);
    if (version === undefined) continue;
    if (version < progress.clearedBelow || version > view.head.version) continue;
    const writes = await recordedWrites(context, version);
    if (writes !== undefined && isWritten(writes, row)) continue;
    damages.row(column, row, 'its version did not write it', version);
  }
  if (damages.count > before) return;
  damages.column(column, 'it lacks rows that versions wrote');
}
