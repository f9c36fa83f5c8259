/** Maps names of GraphQL fields to columns and relations of the catalogue's tables. */
import { CATALOGUE, tableOf } from '../catalogue/index.ts';
import type { Column, Relation, Table } from '../catalogue/table.ts';

type TableField =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'relation'; readonly relation: Relation }
  | { readonly kind: 'aggregate'; readonly relation: Relation };

/** A field of the query root: all rows of a table, one row by its key, or an aggregate. */
export interface RootField {
  readonly kind: 'rows' | 'row' | 'aggregate';
  readonly table: Table;
}

export const AGGREGATE_SUFFIX = '_aggregate';
export const BY_KEY_SUFFIX = '_by_pk';

export function shownColumns(table: Table): Column[] {
  return table.columns.filter((column) => !column.hidden);
}

/** Relations to many rows of a table that has aggregates have a field `NAME_aggregate`. */
export function hasAggregateField({ kind, table }: Relation): boolean {
  return kind === 'array' && tableOf(table).hasAggregate;
}

const TABLE_FIELDS = new Map(CATALOGUE.map((table) => [table, fieldsOf(table)]));

function fieldsOf(table: Table): Map<string, TableField> {
  const fields = new Map<string, TableField>();
  for (const column of shownColumns(table)) fields.set(column.name, { kind: 'column', column });
  for (const relation of table.relations) {
    fields.set(relation.name, { kind: 'relation', relation });
    // `order_by` has a field for the aggregates of every array relation.
    if (relation.kind === 'array') {
      fields.set(relation.name + AGGREGATE_SUFFIX, { kind: 'aggregate', relation });
    }
  }
  return fields;
}

/** @throws RangeError if the schema has a field that the catalogue does not have */
export function tableField(table: Table, name: string): TableField {
  const field = TABLE_FIELDS.get(table)?.get(name);
  if (field === undefined) throw new RangeError(`${table.name} has no field ${name}`);
  return field;
}

export const ROOT_FIELDS: ReadonlyMap<string, RootField> = new Map(
  CATALOGUE.flatMap((table): [string, RootField][] => [
    [table.name, { kind: 'rows', table }],
    ...(table.key.length > 0
      ? [[table.name + BY_KEY_SUFFIX, { kind: 'row', table }] as [string, RootField]]
      : []),
    ...(table.hasAggregate
      ? [[table.name + AGGREGATE_SUFFIX, { kind: 'aggregate', table }] as [string, RootField]]
      : []),
  ]),
);
