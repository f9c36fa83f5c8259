/**
 * What the checks of a ledger share: what they read, what they know of it, and the list of what is
 * damaged. The checks are streams over columns: their memory does not grow with the ledger.
 */
import type { Column, RowKey, ScannedRow } from '../store/columns/column.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { PinnedAccounts, PruneProgress } from '../store/columns/pruning-column.ts';
import { MAX_SCAN_ROWS, type StoreReader } from '../store/store.ts';
import { RowDamagedError, StoreError } from '../store/store-error.ts';
import type { StoreView } from '../store/view.ts';

/** Most damages that are listed; all are counted. */
export const MAX_LISTED_DAMAGES = 100;
/** Bytes of rows read at a time. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Something that is not as it must be. */
export interface Damage {
  /** The column's name. */
  readonly column: string;
  /** The row's key in hex, `partition/order`; absent where no single row is at fault. */
  readonly key?: string | undefined;
  /** The version it belongs to, where it belongs to one. */
  readonly version?: bigint | undefined;
  readonly detail: string;
}

/** Collects damages. */
export class DamageList {
  readonly listed: Damage[] = [];
  #count = 0;

  /** All damages, listed or not. */
  get count(): number {
    return this.#count;
  }

  add(damage: Damage): void {
    this.#count += 1;
    if (this.listed.length < MAX_LISTED_DAMAGES) this.listed.push(damage);
  }

  /** Takes over all damages of another list. */
  addAll(other: DamageList): void {
    for (const damage of other.listed) this.add(damage);
    this.#count += other.count - other.listed.length;
  }

  /** Notes that a row is not as it must be. */
  row(column: Column, key: RowKey, detail: string, version?: bigint): void {
    this.add({ column: column.name, key: keyText(key), version, detail });
  }

  /**
   * Runs a decoder of rows; what the store's errors say of a row becomes a damage.
   * @returns `undefined` for a row that does not decode
   */
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

/** Notes a row above the head. */
export function noteAbove(
  { above }: Pick<VerifyContext, 'above'>,
  column: Column,
  row: RowKey,
): void {
  above.row(column, row, 'it lies above the head, and nobody is committing');
}

/** A ledger under examination. */
export interface VerifyContext {
  readonly store: StoreReader;
  /** At the head as it was when the examination began; what is above it is not looked at. */
  readonly view: StoreView;
  readonly identity: LedgerIdentity;
  readonly progress: PruneProgress;
  readonly kept: PinnedAccounts;
  readonly damages: DamageList;
  /** Rows above the head: of a commit that came meanwhile, or else damages too. */
  readonly above: DamageList;
  /** Rows found on the way from versions to what they wrote. */
  readonly reached: { state: bigint; events: bigint; moduleEvents: bigint; writes: bigint };
  /** Called as rows are looked at. */
  readonly onRows: (column: Column, rows: number) => void;
}

/**
 * All rows of a column in order; stops where the engine cannot read on, or gives keys out of order,
 * and notes that.
 */
export async function* scanColumn(
  { store, damages, onRows }: Pick<VerifyContext, 'store' | 'damages' | 'onRows'>,
  column: Column,
): AsyncGenerator<ScannedRow> {
  let after: ScannedRow | undefined;
  for (;;) {
    let page: readonly ScannedRow[];
    try {
      page = await store.scan(column, { after, maxRows: MAX_SCAN_ROWS, maxBytes: PAGE_BYTES });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      damages.add({ column: column.name, detail: `cannot be read on: ${error.message}` });
      return;
    }
    if (page.length === 0) return;
    onRows(column, page.length);
    for (const row of page) {
      if (after !== undefined && compareKeys(after, row) >= 0) {
        damages.row(column, row, 'it stands out of order: the engine’s tree is damaged');
        return;
      }
      yield row;
      after = row;
    }
  }
}

function compareKeys(left: RowKey, right: RowKey): number {
  return Buffer.compare(left.partition, right.partition) || Buffer.compare(left.order, right.order);
}

/** A row's key as damages name it. */
export function keyText({ partition, order }: RowKey): string {
  const hex = (bytes: Uint8Array) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex(partition)}/${hex(order)}`;
}
