/**
 * Columns while a ledger of format 6 or older is upgraded: rows are read wherever they are, in the databases that each
 * column had of its own, or where they are now. Whatever is written goes to the present place and out of the old one
 * (lmdb-store.ts), so that writing every row again is the upgrade.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { type Column, type RowKey, STATE, type StoredRow } from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import type { ScanBounds } from '../store.ts';
import { closing } from './iteration.ts';
import { INDEXED_COLUMNS, type LmdbColumns, openColumn } from './lmdb-columns.ts';
import type { LmdbColumn, LmdbRange, ReadableColumn } from './lmdb-reads.ts';
import type { StateColumn } from './state-column.ts';
import { RECORD_COLUMNS, VERSION_ORDER_BYTES } from './version-record.ts';

type KeyedValue = { readonly key: Buffer; readonly value: Buffer };

/** Columns whose rows are put again in the order of their keys, one column after the other. */
const BY_KEY = [STATE, ...INDEXED_COLUMNS.map(({ column }) => column)];

/** The present columns, with the rows that are still in the old places. */
export function withOutdated(root: RootDatabase<never, string>, present: LmdbColumns): LmdbColumns {
  const { readable } = present;
  const outdated = new Map<number, LmdbColumn>();
  const united = new Map(readable);
  for (const column of [...RECORD_COLUMNS, ...BY_KEY]) {
    const database = openColumn(root, column, true)!;
    outdated.set(column.number, database);
    united.set(column.number, new UnitedColumn(database, readable.get(column.number)!));
  }
  return { ...present, readable: united, outdated };
}

/** Rows of one column that are in two places. */
class UnitedColumn implements ReadableColumn {
  readonly #old: ReadableColumn;
  readonly #present: ReadableColumn;

  constructor(old: ReadableColumn, present: ReadableColumn) {
    this.#old = old;
    this.#present = present;
  }

  get(key: RowKey): Buffer | undefined {
    return this.#old.get(key) ?? this.#present.get(key);
  }

  *getRange(range: LmdbRange): Generator<KeyedValue> {
    // The engine may write into the range that it gets.
    const places = [this.#old.getRange({ ...range }), this.#present.getRange({ ...range })];
    let count = 0;
    for (const row of merged(places, range.reverse ?? false)) {
      yield row;
      count += 1;
      if (count === range.limit) return;
    }
  }

  *getKeys(range: LmdbRange): Generator<Buffer> {
    for (const { key } of this.getRange(range)) yield key;
  }

  getStats() {
    const [old, present] = [this.#old.getStats(), this.#present.getStats()];
    return {
      entryCount: old.entryCount + present.entryCount,
      pageSize: present.pageSize,
      treeBranchPageCount: old.treeBranchPageCount + present.treeBranchPageCount,
      treeLeafPageCount: old.treeLeafPageCount + present.treeLeafPageCount,
      overflowPages: old.overflowPages + present.overflowPages,
    };
  }
}

/** Rows of both, in the order of their keys; no key is in both. */
function* merged(
  places: readonly Iterable<KeyedValue>[],
  isReverse: boolean,
): Generator<KeyedValue> {
  const iterators = places.map((place) => place[Symbol.iterator]());
  try {
    const next = iterators.map((iterator) => iterator.next());
    while (next.some(({ done }) => done !== true)) {
      const [first, second] = next as [IteratorResult<KeyedValue>, IteratorResult<KeyedValue>];
      const order =
        first.done === true
          ? 1
          : second.done === true
            ? -1
            : Buffer.compare(first.value.key, second.value.key) * (isReverse ? -1 : 1);
      const at = order < 0 ? 0 : 1;
      yield next[at]!.value;
      next[at] = iterators[at]!.next();
    }
  } finally {
    for (const iterator of iterators) iterator.return?.();
  }
}

/**
 * Some rows that are in the old places: those of whole versions first, then other columns, last what the index of state
 * lacks. None when nothing is left there. The part ends with the version, or the row, that reaches the bounds.
 */
export async function outdatedRows(
  outdated: ReadonlyMap<number, LmdbColumn>,
  state: UnindexedState,
  bounds: ScanBounds,
): Promise<readonly StoredRow[]> {
  const end = endOfVersions(outdated, bounds);
  if (end === undefined) {
    for (const column of BY_KEY) {
      const rows = [...firstRows(outdated, column, bounds)];
      if (rows.length > 0) return rows;
    }
    return await state.next(bounds);
  }
  const rows: StoredRow[] = [];
  for (const column of RECORD_COLUMNS) {
    const range = outdated.get(column.number)!.getRange({ ...FROM_FIRST, end });
    for (const { key, value } of closing(range)) {
      rows.push(storedRow(column, key, value));
    }
  }
  return rows;
}

/** All rows: the engine takes a missing end, but not a property that is not there. */
const FROM_FIRST = { start: undefined, end: undefined, limit: Number.POSITIVE_INFINITY };
/** More than any index after a version has. */
const AFTER_INDEXES = Buffer.alloc(5, 0xff);

/** The end of the last version of a part; `undefined` when no column by version has rows. */
function endOfVersions(
  outdated: ReadonlyMap<number, LmdbColumn>,
  bounds: ScanBounds,
): RowKey | undefined {
  let end: Buffer | undefined;
  for (const column of RECORD_COLUMNS) {
    let last: StoredRow | undefined;
    for (const row of firstRows(outdated, column, bounds)) last = row;
    if (last === undefined) continue;
    const version = [last.partition, last.order.subarray(0, VERSION_ORDER_BYTES)];
    const after = Buffer.concat([...version, AFTER_INDEXES]);
    if (end === undefined || Buffer.compare(after, end) < 0) end = after;
  }
  return end && { partition: end, order: NO_ORDER };
}

function* firstRows(
  outdated: ReadonlyMap<number, LmdbColumn>,
  column: Column,
  { maxRows, maxBytes }: ScanBounds,
): Generator<StoredRow> {
  let count = 0;
  let bytes = 0;
  const range = outdated.get(column.number)!.getRange({ ...FROM_FIRST });
  for (const { key, value } of closing(range)) {
    yield storedRow(column, key, value);
    count += 1;
    bytes += key.length + value.length;
    if (count >= maxRows || bytes >= maxBytes) return;
  }
}

function storedRow(column: Column, key: Buffer, value: Buffer): StoredRow {
  const split = column.partitionBytes;
  return { column, partition: key.subarray(0, split), order: key.subarray(split), value };
}

/** Rows looked up in the index between two turns of the event loop: a few milliseconds. */
const ROWS_PER_TURN = 1_000;

/** Rows of state that format 6 stored: they stay where they are, and the index gets to know them. */
export class UnindexedState {
  readonly #state: StateColumn;
  /** The index knows the rows up to here. */
  #known: RowKey | undefined;

  constructor(state: StateColumn) {
    this.#state = state;
  }

  async next(bounds: ScanBounds): Promise<readonly StoredRow[]> {
    for (;;) {
      const before = this.#known;
      const rows = this.#some(bounds);
      if (rows.length > 0 || this.#known === before) return rows;
      await nextTurn();
    }
  }

  /** Rows that the index lacks; none if it knows the next ones, or if there are no more. */
  #some({ maxRows, maxBytes }: ScanBounds): readonly StoredRow[] {
    const rows: StoredRow[] = [];
    let bytes = 0;
    let count = 0;
    const range = { ...FROM_FIRST, start: this.#known, exclusiveStart: this.#known !== undefined };
    for (const { key, value } of closing(this.#state.own.getRange(range))) {
      const row = storedRow(STATE, key, value);
      if (this.#state.placeOf(row) === undefined) {
        rows.push(row);
        bytes += key.length + value.length;
        if (rows.length >= maxRows || bytes >= maxBytes) break;
      } else if (rows.length === 0) this.#known = row;
      count += 1;
      if (count === ROWS_PER_TURN) break;
    }
    return rows;
  }
}
