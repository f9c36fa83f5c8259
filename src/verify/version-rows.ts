/** A column by version, read in the order of versions, as each of them is examined. */
import type { Column, RowKey, ScannedRow } from '../store/columns/columns.ts';
import { RowCursor, reportAbove, type VerifyContext } from './context.ts';

/** Rows of a page: so few that a store still caches the records of their versions when they are examined. */
const PAGE_ROWS = 256;
const BUCKET_VERSIONS = 65_536;
const PARTITION_BYTES = 6;

type OnStrayRow = (row: ScannedRow, version: bigint) => void | Promise<void>;

export interface SavedVersionRows {
  readonly examinedBelow: number;
  /** Versions from there on with damaged rows. */
  readonly damaged: readonly number[];
}

export class VersionRows {
  readonly column: Column;
  readonly #context: VerifyContext;
  readonly #cursor: RowCursor;
  readonly #damaged: Set<number>;
  readonly #onStray: OnStrayRow;
  readonly #examinedBelow: number;

  /**
   * @param saved progress of the run that is continued
   * @param onStray gets rows up to the head of versions that are never requested
   */
  constructor(
    context: VerifyContext,
    column: Column,
    saved: SavedVersionRows | undefined,
    onStray?: OnStrayRow,
  ) {
    this.column = column;
    this.#examinedBelow = saved?.examinedBelow ?? 0;
    this.#damaged = new Set(saved?.damaged);
    this.#context = context;
    const onDamaged = (row: RowKey, detail: string): void => {
      const version = versionOf(row);
      this.#damaged.add(version);
      context.damages.row(column, row, detail, BigInt(version));
    };
    const options = { maxRows: PAGE_ROWS, isInOneTurn: true, isNeeded: true, onDamaged };
    this.#cursor = new RowCursor(context, column, options);
    this.#onStray = onStray ?? ((row, version) => this.#reportStray(row, version));
  }

  /** @param examinedBelow the version after the last requested one */
  save(examinedBelow: number): SavedVersionRows {
    return { examinedBelow, damaged: [...this.#damaged] };
  }

  get isAtEndOfPage(): boolean {
    return this.#cursor.row === undefined;
  }

  /** The rows of a version, which must be higher than in the calls before; `undefined` if one of them is damaged. */
  async of(version: bigint): Promise<readonly ScannedRow[] | undefined> {
    const target = Number(version);
    const rows: ScannedRow[] = [];
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      const found = versionOf(row);
      if (found > target) break;
      this.#cursor.take();
      if (found === target) rows.push(row);
      else await this.#examineStray(row, found);
    }
    return this.#damaged.delete(target) ? undefined : rows;
  }

  /** Reads the rest of the column. */
  async finish(): Promise<void> {
    const highest = Number(this.#context.view.head.version);
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      this.#cursor.take();
      const version = versionOf(row);
      if (version > highest) reportAbove(this.#context, this.column, row);
      else await this.#examineStray(row, version);
    }
  }

  #next(): ScannedRow | undefined | Promise<ScannedRow | undefined> {
    const { row } = this.#cursor;
    return row ?? this.#cursor.loadRow().then(() => this.#cursor.row);
  }

  /** The page at which a run is continued begins with rows that it has examined. */
  async #examineStray(row: ScannedRow, version: number): Promise<void> {
    if (version >= this.#examinedBelow) await this.#onStray(row, BigInt(version));
  }

  #reportStray(row: ScannedRow, version: bigint): void {
    this.#context.damages.row(this.column, row, 'there should be no such row', version);
  }
}

/** The version in a key. Above 2^53 - 1, where no ledger ends, it is not exact. */
function versionOf({ partition, order }: RowKey): number {
  let bucket = 0;
  for (let at = 0; at < PARTITION_BYTES; at += 1) bucket = bucket * 256 + partition[at]!;
  return bucket * BUCKET_VERSIONS + order[0]! * 256 + order[1]!;
}
