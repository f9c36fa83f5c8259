/**
 * The SQL of the store. Each column has a table, whose primary key is the two parts of the row's key. Every statement
 * that the store runs more than once is prepared.
 */
import type { Column } from '../columns/columns.ts';
import { BYTEA, type Statement } from './connection.ts';

/** The table with the writer's row, which says which process may commit. */
export const WRITER_TABLE = 'writer';
/** Up to this many rows of a column are counted. If there are more, the number is the server's estimate. */
export const MAX_COUNTED_ROWS = 100_000;

export interface ColumnStatements {
  /** The name of the table in its schema, and the whole name, quoted. */
  readonly table: string;
  readonly name: string;
  readonly get: Statement;
  readonly getMany: Statement;
  readonly range: Statement;
  readonly rangeReverse: Statement;
  /** `undefined` if each range needs its own statement. */
  readonly rangeMany: Statement | undefined;
  readonly scan: Statement;
  readonly put: Statement;
  /** Puts rows that must become visible last. */
  readonly publish: Statement;
  readonly remove: Statement;
  readonly removeRanges: Statement;
  readonly statistics: Statement;
}

export function quotedName(schema: string, table: string): string {
  return `"${schema}"."${table}"`;
}

export function statementsOf(schema: string, column: Column): ColumnStatements {
  // Names may change, numbers never do; a name makes the table easier to recognise.
  const table = `c${String(column.number).padStart(2, '0')}_${column.name}`;
  const t = quotedName(schema, table);
  const statement = (what: string, text: string): Statement => ({
    name: `${what}_${table}`,
    text,
  });
  const keys = 'unnest($1::bytea[], $2::bytea[]) with ordinality as k(p, o, n)';
  return {
    table,
    name: t,
    get: statement('get', `select v from ${t} where p = $1 and o = $2`),
    getMany: statement(
      'getMany',
      `select k.n::int4, t.v from ${keys} join ${t} t on t.p = k.p and t.o = k.o`,
    ),
    range: statement(
      'range',
      `select o, v from ${t} where p = $1 and o >= $2 and o <= $3 order by o limit $4::int4`,
    ),
    rangeReverse: statement(
      'rangeReverse',
      `select o, v from ${t} where p = $1 and o >= $2 and o <= $3 order by o desc limit $4::int4`,
    ),
    // The fourth array contains limits. A negative limit means a range in reverse.
    rangeMany: statement(
      'rangeMany',
      'select k.n::int4, f.o, f.v from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::int4[]) ' +
        `with ordinality as k(p, a, b, l, n) cross join lateral (${['', ' desc']
          .map(
            (direction) =>
              `(select o, v from ${t} t where k.l ${direction === '' ? '>' : '<'} 0 and t.p = k.p ` +
              `and t.o >= k.a and t.o <= k.b order by t.o${direction} limit abs(k.l))`,
          )
          .join(' union all ')}) f`,
    ),
    // The sum counts the rows before each row, so a page ends with the row that reaches the bound.
    scan: statement(
      'scan',
      `select p, o, v from (select p, o, v, coalesce(sum(octet_length(p) + octet_length(o) + ` +
        `octet_length(v)) over (order by p, o rows between unbounded preceding and 1 preceding), 0) ` +
        `as before from (select p, o, v from ${t} where (p, o) > ($1, $2) order by p, o ` +
        'limit $3::int4) part) page where before < $4::int8 order by p, o',
    ),
    ...writesOf(t, statement),
    statistics: statement(
      'statistics',
      `${countOf(t)}, pg_total_relation_size(c.oid), c.reltuples::float8, c.relpages, ` +
        "pg_relation_size(c.oid) / current_setting('block_size')::int8 " +
        'from pg_class c where c.oid = $1::text::regclass',
    ),
  };
}

function writesOf(t: string, statement: (what: string, text: string) => Statement) {
  const put = statement(
    'put',
    `insert into ${t} (p, o, v) select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) ` +
      'on conflict (p, o) do update set v = excluded.v',
  );
  return {
    put,
    publish: put,
    remove: statement(
      'remove',
      `delete from ${t} t using unnest($1::bytea[], $2::bytea[]) as k(p, o) ` +
        'where t.p = k.p and t.o = k.o',
    ),
    removeRanges: statement(
      'removeRanges',
      `delete from ${t} t using unnest($1::bytea[], $2::bytea[], $3::bytea[]) as k(p, a, b) ` +
        'where t.p = k.p and t.o >= k.a and t.o <= k.b',
    ),
  };
}

/** The beginning of a statement that counts the rows of a table, up to one more than MAX_COUNTED_ROWS. */
export function countOf(name: string): string {
  return `select (select count(*) from (select 1 from ${name} limit ${MAX_COUNTED_ROWS + 1}) counted)`;
}

/** The statements that create the table of a column. Compressed values stay with their keys if a page has room. */
export function tableDefinition({ name }: ColumnStatements): readonly string[] {
  return [
    `create table ${name} ` +
      '(p bytea not null, o bytea not null, v bytea not null, primary key (p, o))',
    `alter table ${name} alter column v set storage main`,
    // A server may be built without LZ4.
    `do $$ begin alter table ${name} alter column v set compression lz4; ` +
      'exception when feature_not_supported then null; end $$',
  ];
}

/** Number of dimensions, whether there are nulls, type of the elements, length, lower bound: 4 bytes each. */
const HEADER_BYTES = 20;
const EMPTY_HEADER_BYTES = 12;
const LENGTH_BYTES = 4;

/** PostgreSQL's binary form of `bytea[]`: one parameter that contains the parts of many keys, or many values. */
export function encodeByteArrays(values: readonly Uint8Array[]): Buffer {
  if (values.length === 0) {
    const empty = Buffer.alloc(EMPTY_HEADER_BYTES);
    empty.writeInt32BE(BYTEA, 8);
    return empty;
  }
  let byteLength = HEADER_BYTES;
  for (const value of values) byteLength += LENGTH_BYTES + value.length;
  const array = Buffer.allocUnsafe(byteLength);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(BYTEA, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  for (const value of values) {
    array.writeInt32BE(value.length, offset);
    array.set(value, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + value.length;
  }
  return array;
}
