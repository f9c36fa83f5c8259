/** Reads a store in PostgreSQL: everything in store.ts except the commit. Each read is one statement. */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
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
  assertRange,
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
import type { Answer, Field, Parameter, PostgresConnection, Statement } from './connection.ts';
import { distributedStatements } from './distribution.ts';
import { headOf, isOlder } from './host.ts';
import { MAX_UNCONFIRMED_MS, type PostgresHosts } from './hosts.ts';
import {
  type ColumnStatements,
  encodeByteArrays,
  MAX_COUNTED_ROWS,
  statementsOf,
} from './statements.ts';

/**
 * How long a head is reused, in milliseconds. Otherwise each request would begin with a round trip. The process that
 * commits reads its own commit at once.
 */
const HEAD_REUSE_MS = 5;
/** Rows that a scan requests at first. Later it requests as many as the sizes of rows suggest. */
const FIRST_SCAN_ROWS = 256;
/** Most keys, or rows of ranges, that one statement requests. */
const MAX_STATEMENT_ROWS = 100_000;
/** Most statements of one batch that wait for responses, if each range needs its own statement. */
const BATCH_STATEMENTS = 200;
const BEFORE_ALL = Buffer.alloc(0);
/** Longer and higher than every order part. */
const AFTER_ALL = Buffer.alloc(MAX_ORDER_BYTES + 1, 0xff);

interface KnownHead {
  readonly askedMs: number;
  bytes: MaybePromise<Buffer | undefined>;
}

export class PostgresReads implements StoreReader {
  protected readonly hosts: PostgresHosts;
  protected readonly displayName: string;
  readonly #statements = new Map<number, ColumnStatements>();
  readonly #scanRows = new Map<number, number>();
  readonly #snapshot: PostgresConnection | undefined;
  #head: KnownHead | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param isDistributed whether the tables are distributed by Citus
   * @param snapshot a connection in whose transaction scans and statistics are read
   */
  constructor(
    hosts: PostgresHosts,
    schema: string,
    displayName: string,
    isDistributed: boolean,
    snapshot?: PostgresConnection,
  ) {
    this.hosts = hosts;
    this.displayName = displayName;
    this.#snapshot = snapshot;
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

  async getMany(column: Column, keys: readonly RowKey[]): Promise<readonly (Buffer | undefined)[]> {
    for (const { partition, order } of keys) assertKeyShape(column, partition, order);
    const { getMany } = this.statements(column);
    const found: (Buffer | undefined)[] = [];
    for (const part of parts(keys, () => 1)) {
      const values = new Array<Buffer | undefined>(part.length).fill(undefined);
      const arrays = [part.map(({ partition }) => partition), part.map(({ order }) => order)];
      const { rows } = await this.hosts.query('quick', getMany, arrays.map(encodeByteArrays));
      // The first field is the number of the key, from 1 on.
      for (const [number, value] of rows) values[Number(number) - 1] = value!;
      for (const value of values) found.push(value);
    }
    return found;
  }

  async seekLast(
    column: Column,
    partition: Uint8Array,
    order: Uint8Array,
  ): Promise<Row | undefined> {
    assertKeyShape(column, partition, order);
    return (await this.range(column, partition, { to: order, limit: 1, reverse: true }))[0];
  }

  async seekLastMany(
    column: Column,
    keys: readonly RowKey[],
  ): Promise<readonly (Row | undefined)[]> {
    const ranges = keys.map(({ partition, order }) => {
      assertKeyShape(column, partition, order);
      return { partition, to: order, limit: 1, reverse: true };
    });
    return (await this.rangeMany(column, ranges)).map(([row]) => row);
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
    for (const range of ranges) assertRange(column, range.partition, range);
    const { rangeMany } = this.statements(column);
    if (rangeMany === undefined) return this.#oneByOne(column, ranges);
    return this.#rangeMany(rangeMany, ranges);
  }

  scan(column: Column, query: ScanQuery): Promise<readonly ScannedRow[]> {
    assertScan(column, query);
    return this.#scan(this.statements(column).scan, column, query);
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

  protected async release(): Promise<void> {
    await this.#snapshot?.close();
    await this.hosts.close();
  }

  #queryLong(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    if (this.#snapshot !== undefined) return this.#snapshot.query(statement, values);
    return this.hosts.query('long', statement, values);
  }

  /** @throws StoreError `store_closed` */
  protected statements(column: Column): ColumnStatements {
    this.assertOpen();
    const statements = this.#statements.get(column.number);
    if (statements === undefined) throw new RangeError(`no column ${column.number}`);
    return statements;
  }

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
      return andThen(known.bytes, copyOf);
    }
    const read = this.#readHead(statement, partition);
    const head: KnownHead = { askedMs: nowMs, bytes: read };
    this.#head = head;
    read.then(
      (bytes) => {
        head.bytes = bytes;
      },
      () => {
        if (this.#head === head) this.#head = undefined;
      },
    );
    return read.then(copyOf);
  }

  /** Reads the head of a server that has everything seen so far. @throws StoreError `store_behind` and others */
  async #readHead(statement: Statement, partition: Uint8Array): Promise<Buffer | undefined> {
    const { newestSeen: seen } = this.hosts;
    const bytes = await this.#get(statement, partition, NO_ORDER);
    const head = headOf(bytes);
    const isDamaged = bytes !== undefined && head === undefined;
    if (!isDamaged && isOlder(head, seen)) {
      this.hosts.distrust();
      throw this.hosts.behindError();
    }
    if (head !== undefined) this.hosts.recordHead(head);
    return bytes;
  }

  async #rangeMany(
    statement: Statement,
    ranges: readonly PartitionRange[],
  ): Promise<readonly (readonly Row[])[]> {
    const found: Row[][] = [];
    for (const part of parts(ranges, ({ limit }) => limit)) {
      const ofPart = part.map((): Row[] => []);
      const { rows } = await this.hosts.query('quick', statement, [
        encodeByteArrays(part.map(({ partition }) => partition)),
        ...boundArrays(part),
        `{${part.map(({ limit, reverse }) => (reverse === true ? -limit : limit))}}`,
      ]);
      for (const [number, ...row] of rows) ofPart[Number(number) - 1]!.push(rowOf(row));
      for (const rows of ofPart) found.push(rows);
    }
    return found;
  }

  /** Sends ranges without waiting for earlier responses, so that a batch still takes few round trips. */
  async #oneByOne(column: Column, ranges: readonly PartitionRange[]): Promise<(readonly Row[])[]> {
    const found: (readonly Row[])[] = [];
    for (let at = 0; at < ranges.length; at += BATCH_STATEMENTS) {
      const part = ranges.slice(at, at + BATCH_STATEMENTS);
      found.push(
        ...(await Promise.all(part.map((range) => this.range(column, range.partition, range)))),
      );
    }
    return found;
  }

  async #scan(
    statement: Statement,
    column: Column,
    { after, maxRows, maxBytes }: ScanQuery,
  ): Promise<readonly ScannedRow[]> {
    const page: ScannedRow[] = [];
    let last: RowKey = after ?? { partition: BEFORE_ALL, order: BEFORE_ALL };
    let byteLength = 0;
    while (page.length < maxRows && (page.length === 0 || byteLength < maxBytes)) {
      const rowLimit = this.#scanRows.get(column.number) ?? FIRST_SCAN_ROWS;
      const limit = Math.min(rowLimit, maxRows - page.length);
      const restBytes = Math.max(1, Math.ceil(maxBytes - byteLength));
      const values = [...copied(last.partition, last.order), String(limit), String(restBytes)];
      const { rows } = await this.#queryLong(statement, values);
      let partBytes = 0;
      for (const [partition, order, value] of rows) {
        const row = { partition: partition!, order: order!, value: value! };
        page.push(row);
        partBytes += row.partition.length + row.order.length + row.value.length;
        last = row;
      }
      if (rows.length === 0) break;
      byteLength += partBytes;
      const fitting = Math.ceil((maxBytes * rows.length) / partBytes);
      this.#scanRows.set(column.number, Math.max(1, Math.min(fitting, MAX_SCAN_ROWS)));
      // If there are fewer rows than requested, and not because of their size, this is the end.
      if (rows.length < limit && byteLength < maxBytes) break;
    }
    return page;
  }

  async #statisticsOf(column: Column): Promise<ColumnStatistics> {
    const { name, statistics } = this.statements(column);
    const { rows } = await this.#queryLong(statistics, [name]);
    const [counted, bytes, estimated, estimatedPages, pages] = rows[0]!;
    const rowCount = Number(counted);
    const density = Number(estimated) / Math.max(1, Number(estimatedPages));
    const estimate = Math.round(density * Number(pages));
    const isCounted = rowCount <= MAX_COUNTED_ROWS;
    return {
      column,
      rows: isCounted ? rowCount : Math.max(rowCount, estimate),
      isEstimated: !isCounted,
      bytes: Number(bytes),
    };
  }

  /** @throws StoreError `store_closed` */
  protected assertOpen(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('store_closed', `the store ${this.displayName} is closed`);
    }
  }
}

/** Splits a list into parts of one statement each. @param rowsOf how many rows an item requests */
function* parts<T>(items: readonly T[], rowsOf: (item: T) => number): Generator<readonly T[]> {
  for (let first = 0; first < items.length; ) {
    let end = first;
    for (let rows = 0; end < items.length; end += 1) {
      rows += rowsOf(items[end]!);
      if (rows > MAX_STATEMENT_ROWS && end > first) break;
    }
    yield items.slice(first, end);
    first = end;
  }
}

/** Copies keys: the caller may reuse them after the call, and they are sent again if a connection is lost. */
function copied(...parts: readonly Uint8Array[]): Buffer[] {
  return parts.map((part) => Buffer.from(part));
}

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
