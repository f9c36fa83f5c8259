/**
 * The shape of a table of the indexer. The catalogue (`index.ts`) alone defines which tables and columns exist: the
 * tables in PostgreSQL and the GraphQL schema both follow from it.
 *
 * Names, nullability, keys and relations are those of the public indexer, as its GraphQL schema and the metadata of its
 * GraphQL server state them (facts from aptos-core up to commit 4f44a3dd8e, from the processors' table definitions and
 * from the TypeScript SDK's schema, all Apache-2.0).
 */

/** Types of columns, as PostgreSQL names them. A text is compared byte by byte (`COLLATE "C"`). */
export type SqlType = 'text' | 'bigint' | 'integer' | 'numeric' | 'boolean' | 'timestamp' | 'jsonb';

export interface Column {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  /** The expression over columns of the same row that PostgreSQL stores in this column. */
  readonly generated: string | undefined;
  /** Hidden columns are in the table, but not in GraphQL. */
  readonly hidden: boolean;
}

/** Rows of another table that belong to a row: those whose columns equal the row's. */
export interface Relation {
  readonly name: string;
  /** `object` relations show the first row that matches, or null; `array` relations show all. */
  readonly kind: 'object' | 'array';
  readonly table: string;
  /** Pairs of a column of this table and the column of the other table that equals it. */
  readonly columns: readonly (readonly [own: string, other: string])[];
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Empty if rows have no key: a view, or a table that mirrors a view of the public indexer. */
  readonly key: readonly string[];
  readonly relations: readonly Relation[];
  /** Whether GraphQL has a field `NAME_aggregate`. */
  readonly hasAggregate: boolean;
  /** The query behind a view; its tables are unqualified names of the catalogue. */
  readonly view: string | undefined;
  /** Columns of each index besides that of the key. */
  readonly indexes: readonly (readonly string[])[];
  /** Whether keys never repeat and rows never change. Such a table has no generated columns. */
  readonly hasNewRowsOnly: boolean;
}

/** A type, with a question mark if the column may be null. */
type ColumnSpec = SqlType | `${SqlType}?`;

interface RelationSpec {
  readonly kind: 'object' | 'array';
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
}

interface TableSpec {
  readonly key?: readonly string[];
  readonly columns: Readonly<Record<string, ColumnSpec>>;
  readonly relations?: Readonly<Record<string, RelationSpec>>;
  readonly hasAggregate?: boolean;
  readonly view?: string;
  readonly hidden?: Readonly<Record<string, ColumnSpec>>;
  readonly generated?: Readonly<Record<string, string>>;
  readonly indexes?: readonly (readonly string[])[];
  readonly hasNewRowsOnly?: boolean;
}

/** A relation to one row. `columns` maps columns of this table to those of the other. */
export function toOne(table: string, columns: Record<string, string>): RelationSpec {
  return { kind: 'object', table, columns };
}

/** A relation to any number of rows. `columns` maps columns of this table to those of the other. */
export function toMany(table: string, columns: Record<string, string>): RelationSpec {
  return { kind: 'array', table, columns };
}

export function defineTable(name: string, spec: TableSpec): Table {
  return {
    name,
    columns: [...columnsOf(spec.columns, spec, false), ...columnsOf(spec.hidden ?? {}, spec, true)],
    key: spec.key ?? [],
    relations: Object.entries(spec.relations ?? {}).map(([relation, { kind, table, columns }]) => ({
      name: relation,
      kind,
      table,
      columns: Object.entries(columns),
    })),
    hasAggregate: spec.hasAggregate ?? false,
    view: spec.view,
    indexes: spec.indexes ?? [],
    hasNewRowsOnly: spec.hasNewRowsOnly ?? false,
  };
}

function columnsOf(columns: TableSpec['columns'], spec: TableSpec, hidden: boolean): Column[] {
  return Object.entries(columns).map(([name, type]) => ({
    name,
    type: type.replace('?', '') as SqlType,
    nullable: type.endsWith('?'),
    generated: spec.generated?.[name],
    hidden,
  }));
}
