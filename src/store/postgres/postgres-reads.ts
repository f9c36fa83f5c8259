/** Reading a store in PostgreSQL: everything of store.ts except the commit, each read one statement. */
import type { MaybePromise } from '../../maybe-promise.ts';
import {
  assertKeyShape,
  COLUMNS,
  type Column,
  HEAD,
  MAX_ORDER_BYTES,
  type OrderBounds,
  type Row,
  type RowKey,
  type ScannedRow,
} from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import {
  assertKeyCount,
  assertRange,
  assertRanges,
  assertScan,
  type ColumnStatistics,
  MAX_SCAN_ROWS,
  type PartitionRange,
  type RangeQuery,
  type ReadServer,
  type ScanQuery,
  type StoreReader,
} from '../store.ts';
import { StoreError } from '../store-error.ts';
import { encodeByteArrays } from './byte-arrays.ts';
import type { Answer, Field, Parameter, Statement } from './connection.ts';
import { distributedStatements } from './distribution.ts';
import { headOf, isOlder } from './host.ts';
import { MAX_UNCONFIRMED_MS, type PostgresHosts } from './hosts.ts';
import { type ColumnStatements, MAX_COUNTED_ROWS, statementsOf } from './statements.ts';

/**
 * How long a head is used again, in milliseconds: a request would otherwise take a round trip before it begins. The
 * process that commits reads its own commit at once.
 */
const HEAD_REUSE_MS = 5;
/** Rows of which a page of a scan is chosen at first; later as many as the sizes of rows suggest. */
const FIRST_SCAN_ROWS = 256;
/** Statements of one batch that wait for answers, where each key takes one. */
const BATCH_STATEMENTS = 200;
const BEFORE_ALL = Buffer.alloc(0);
/** Longer and higher than every order part. */
const AFTER_ALL = Buffer.alloc(MAX_ORDER_BYTES + 1, 0xff);

interface KnownHead {
  /** When it was asked for. */
  readonly askedMs: number;
  readonly read: Promise<Buffer | undefined>;
  /** Set when it has been read. */
  bytes?: Buffer | undefined;
  isRead: boolean;
}

export class PostgresReads implements StoreReader {
  protected readonly hosts: PostgresHosts;
  protected readonly shown: string;
  readonly #statements = new Map<number, ColumnStatements>();
  readonly #scanRows = new Map<number, number>();
  #head: KnownHead | undefined;
  #closing: Promise<void> | undefined;

  /** @param isDistributed whether the tables are those of Citus */
  constructor(hosts: PostgresHosts, schema: string, shown: string, isDistributed: boolean) {
    this.hosts = hosts;
    this.shown = shown;
    const statements = isDistributed ? distributedStatements : statementsOf;
    for (const column of COLUMNS) {
      this.#statements.set(column.number, statements(schema, column));
    }
  }

  get server(): ReadServer {
    return this.hosts.server;
  }

  get(column: Column, partition: Uint8Array, order: Uint8Array): MaybePromise<Buffer | undefined> {
    assertKeyShape(column, partition, order);
    const { get } = this.statements(column);
    if (column === HEAD) return this.#getHead(get, partition);
    return this.#get(get, partition, order);
  }

  getMany(column: Column, keys: readonly RowKey[]): Promise<readonly (Buffer | undefined)[]> {
    assertKeys(column, keys);
    const { getMany } = this.statements(column);
    return this.#many(getMany, keys, ([, value]) => value!);
  }

  seekLast(column: Column, partition: Uint8Array, order: Uint8Array): Promise<Row | undefined> {
    assertKeyShape(column, partition, order);
    const { seekLast } = this.statements(column);
    return this.hosts
      .query('quick', seekLast, copied(partition, order))
      .then(({ rows: [row] }) => (row === undefined ? undefined : rowOf(row)));
  }

  seekLastMany(column: Column, keys: readonly RowKey[]): Promise<readonly (Row | undefined)[]> {
    assertKeys(column, keys);
    const { seekLastMany } = this.statements(column);
    if (seekLastMany === undefined) {
      return oneByOne(keys, ({ partition, order }) => this.seekLast(column, partition, order));
    }
    return this.#many(seekLastMany, keys, ([, ...row]) => rowOf(row));
  }

  range(column: Column, partition: Uint8Array, query: RangeQuery): Promise<readonly Row[]> {
    assertRange(column, partition, query);
    const { range, rangeReverse } = this.statements(column);
    const { from = NO_ORDER, to = AFTER_ALL, limit, reverse = false } = query;
    return this.hosts
      .query('quick', reverse ? rangeReverse : range, [
        ...copied(partition, from, to),
        String(limit),
      ])
      .then(({ rows }) => rows.map(rowOf));
  }

  rangeMany(
    column: Column,
    ranges: readonly PartitionRange[],
  ): Promise<readonly (readonly Row[])[]> {
    assertRanges(column, ranges);
    const { rangeMany } = this.statements(column);
    if (rangeMany === undefined) {
      return oneByOne(ranges, (range) => this.range(column, range.partition, range));
    }
    return this.#rangeMany(rangeMany, ranges);
  }

  scan(column: Column, query: ScanQuery): Promise<readonly ScannedRow[]> {
    assertScan(column, query);
    const { scan } = this.statements(column);
    return this.#scan(scan, column, { ...query });
  }

  statistics(): Promise<readonly ColumnStatistics[]> {
    this.assertOpen();
    return Promise.all(COLUMNS.map((column) => this.#statisticsOf(column)));
  }

  waitingReads(): number {
    return this.hosts.waiting;
  }

  async close(): Promise<void> {
    this.#closing ??= this.release();
    await this.#closing;
  }

  /** Runs a statement that takes long. */
  protected askLong(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    return this.hosts.query('long', statement, values);
  }

  protected async release(): Promise<void> {
    await this.hosts.close();
  }

  /** @throws StoreError `store_closed` */
  protected statements(column: Column): ColumnStatements {
    this.assertOpen();
    const statements = this.#statements.get(column.number);
    if (statements === undefined) throw new RangeError(`no column ${column.number}`);
    return statements;
  }

  /** What is read from now on is newer than what was read or asked for before. */
  protected forgetHead(): void {
    this.#head = undefined;
  }

  async #get(
    statement: Statement,
    partition: Uint8Array,
    order: Uint8Array,
  ): Promise<Buffer | undefined> {
    const { rows } = await this.hosts.query('quick', statement, copied(partition, order));
    return rows[0]?.[0] ?? undefined;
  }

  #getHead(statement: Statement, partition: Uint8Array): MaybePromise<Buffer | undefined> {
    const nowMs = performance.now();
    const known = this.#head;
    const isNew = known !== undefined && nowMs - known.askedMs < HEAD_REUSE_MS;
    if (isNew && this.hosts.unconfirmedMs <= MAX_UNCONFIRMED_MS) {
      return known.isRead ? copyOf(known.bytes) : known.read.then(copyOf);
    }
    const read = this.#readHead(statement, partition);
    const head: KnownHead = { askedMs: nowMs, read, isRead: false };
    this.#head = head;
    read.then(
      (bytes) => {
        head.bytes = bytes;
        head.isRead = true;
      },
      () => {
        if (this.#head === head) this.#head = undefined;
      },
    );
    return read.then(copyOf);
  }

  /** The head of a server that has all that this process has seen. @throws StoreError `store_behind` and others */
  async #readHead(statement: Statement, partition: Uint8Array): Promise<Buffer | undefined> {
    const { seen } = this.hosts;
    const bytes = await this.#get(statement, partition, NO_ORDER);
    const head = headOf(bytes);
    const isDamaged = bytes !== undefined && head === undefined;
    if (!isDamaged && isOlder(head, seen)) {
      this.hosts.distrust();
      throw this.hosts.behindError();
    }
    if (head !== undefined) this.hosts.saw(head);
    return bytes;
  }

  /** Asks for many rows; the first field of an answer's row is the number of its key, from 1 on. */
  async #many<T>(
    statement: Statement,
    keys: readonly RowKey[],
    make: (row: readonly Field[]) => T,
  ): Promise<readonly (T | undefined)[]> {
    const found = new Array<T | undefined>(keys.length).fill(undefined);
    if (keys.length === 0) return found;
    const partitions = encodeByteArrays(keys.map(({ partition }) => partition));
    const orders = encodeByteArrays(keys.map(({ order }) => order));
    const { rows } = await this.hosts.query('quick', statement, [partitions, orders]);
    for (const row of rows) found[Number(row[0]) - 1] = make(row);
    return found;
  }

  async #rangeMany(
    statement: Statement,
    ranges: readonly PartitionRange[],
  ): Promise<readonly (readonly Row[])[]> {
    const found = ranges.map((): Row[] => []);
    if (ranges.length === 0) return found;
    const { rows } = await this.hosts.query('quick', statement, [
      encodeByteArrays(ranges.map(({ partition }) => partition)),
      ...boundArrays(ranges),
      `{${ranges.map(({ limit, reverse }) => (reverse === true ? -limit : limit))}}`,
    ]);
    for (const [number, ...row] of rows) found[Number(number) - 1]!.push(rowOf(row));
    return found;
  }

  async #scan(
    statement: Statement,
    column: Column,
    { after, maxRows, maxBytes }: ScanQuery,
  ): Promise<readonly ScannedRow[]> {
    const page: ScannedRow[] = [];
    let last: RowKey | undefined = after;
    let byteLength = 0;
    while (page.length < maxRows && (page.length === 0 || byteLength < maxBytes)) {
      const asked = this.#scanRows.get(column.number) ?? FIRST_SCAN_ROWS;
      const limit = Math.min(asked, maxRows - page.length);
      const { partition, order } = last ?? { partition: BEFORE_ALL, order: BEFORE_ALL };
      const restBytes = Math.max(1, Math.ceil(maxBytes - byteLength));
      const values = [...copied(partition, order), String(limit), String(restBytes)];
      const { rows } = await this.askLong(statement, values);
      let partBytes = 0;
      for (const [partition, order, value] of rows) {
        const row = { partition: partition!, order: order!, value: value! };
        page.push(row);
        partBytes += row.partition.length + row.order.length + row.value.length;
      }
      if (rows.length === 0) break;
      byteLength += partBytes;
      last = page[page.length - 1];
      const fitting = Math.ceil((maxBytes * rows.length) / partBytes);
      this.#scanRows.set(column.number, Math.max(1, Math.min(fitting, MAX_SCAN_ROWS)));
      // Fewer than asked for, and not because of their size: the end.
      if (rows.length < limit && byteLength < maxBytes) break;
    }
    return page;
  }

  async #statisticsOf(column: Column): Promise<ColumnStatistics> {
    const { name, statistics } = this.statements(column);
    const { rows } = await this.askLong(statistics, [name]);
    const [counted, bytes, estimated, estimatedPages, pages] = rows[0]!;
    const rowCount = Number(counted);
    const density = Number(estimated) / Math.max(1, Number(estimatedPages));
    const estimate = Math.round(density * Number(pages));
    const isCounted = rowCount <= MAX_COUNTED_ROWS;
    return {
      column,
      rows: isCounted ? rowCount : Math.max(rowCount, estimate),
      bytes: Number(bytes),
    };
  }

  /** @throws StoreError `store_closed` */
  protected assertOpen(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('store_closed', `the store ${this.shown} is closed`);
    }
  }
}

function assertKeys(column: Column, keys: readonly RowKey[]): void {
  assertKeyCount(keys);
  for (const { partition, order } of keys) assertKeyShape(column, partition, order);
}

/** Reads sent without waiting for the answers to others, so that a batch is still few round trips. */
async function oneByOne<K, T>(keys: readonly K[], read: (key: K) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < keys.length; at += BATCH_STATEMENTS) {
    const part = keys.slice(at, at + BATCH_STATEMENTS);
    found.push(...(await Promise.all(part.map(read))));
  }
  return found;
}

/** Keys may be used again by the caller when the call has returned, and are sent again when a connection is lost. */
function copied(...parts: readonly Uint8Array[]): Buffer[] {
  return parts.map((part) => Buffer.from(part));
}

/** Both bounds of many ranges. */
export function boundArrays(ranges: readonly OrderBounds[]): [lowest: Buffer, highest: Buffer] {
  return [
    encodeByteArrays(ranges.map(({ from }) => from ?? NO_ORDER)),
    encodeByteArrays(ranges.map(({ to }) => to ?? AFTER_ALL)),
  ];
}

function copyOf(bytes: Buffer | undefined): Buffer | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes);
}

function rowOf(row: readonly Field[]): Row {
  return { order: row[0]!, value: row[1]! };
}
