/** Compiles an operation to one SQL statement that returns one row: the JSON text of each root field. */
import type { GraphQLObjectType } from 'graphql';
import { tableOf } from '../catalogue/index.ts';
import type { Relation, Table } from '../catalogue/table.ts';
import { ConditionCompiler, countOf } from './conditions.ts';
import { GraphqlFailure } from './failure.ts';
import { ROOT_FIELDS, type RootField, tableField } from './fields.ts';
import { type InputObject, type InputValue, readArguments } from './input-values.ts';
import { Allowance, checkLimit, type QueryLimits } from './limits.ts';
import { OrderCompiler } from './ordering.ts';
import { SCHEMA } from './schema.ts';
import type { SelectedField, Selector } from './selection.ts';
import {
  columnOf,
  joinCondition,
  jsonColumn,
  jsonName,
  jsonObject,
  jsonText,
  StatementParts,
  tableName,
} from './sql.ts';

/** The position of a selection. */
interface Place {
  readonly depth: number;
  /** Maximum number of rows that the selection is evaluated for. */
  readonly rows: number;
}

/** Rows of a table that a field selects. */
interface RowsQuery {
  readonly alias: string;
  /** A statement that selects all columns. */
  readonly sql: string;
  /** Maximum number of rows; undefined if there is no limit. */
  readonly limit: number | undefined;
}

/** A JSON value may be long, so it counts as this many values. */
const CELLS_OF_JSON = 25;
/** A longer key counts as several values. */
const CELL_KEY_LENGTH = 64;

/** Column with the number of a row in a query, besides the columns of the table. */
const ROW_NUMBER = 'row_number_';

export class OperationCompiler {
  readonly #selector: Selector;
  readonly #limits: QueryLimits;
  readonly #parts = new StatementParts();
  readonly #conditions: ConditionCompiler;
  readonly #orders: OrderCompiler;
  readonly #rows: Allowance;
  readonly #cells: Allowance;
  readonly #values: string[] = [];

  constructor(selector: Selector, limits: QueryLimits) {
    this.#selector = selector;
    this.#limits = limits;
    const conditions = new Allowance(limits.conditions, 'conditions and orders');
    this.#conditions = new ConditionCompiler(this.#parts, limits, conditions);
    this.#orders = new OrderCompiler(this.#parts, conditions);
    this.#cells = new Allowance(limits.cells, 'values, at the limits of rows of all fields');
    this.#rows = new Allowance(limits.totalRows, 'rows, at the limits of all its fields');
  }

  /** @returns the index of the column with the field's JSON text in the row that the statement returns */
  addRootField(field: SelectedField): number {
    this.#values.push(this.#rootValue(ROOT_FIELDS.get(field.name)!, field));
    return this.#values.length - 1;
  }

  /** Undefined if no field needs rows. Its columns are named `r0`, `r1`, … */
  statement(): { text: string; parameters: readonly string[] } | undefined {
    if (this.#values.length === 0) return undefined;
    const columns = this.#values.map((value, place) => `${value} AS r${place}`);
    return { text: `SELECT ${columns.join(', ')}`, parameters: this.#parts.parameters };
  }

  #rootValue({ kind, table }: RootField, field: SelectedField): string {
    const place = { depth: 0, rows: 1 };
    switch (kind) {
      case 'rows':
        return this.#list(table, field, place, undefined);
      case 'aggregate':
        return this.#aggregated(table, field, place, undefined);
      case 'row': {
        const alias = this.#parts.newAlias();
        const key = this.#arguments('query_root', field);
        const conditions = [...key].map(([name, value]) => {
          const { type } = table.columns.find((column) => column.name === name)!;
          return `${columnOf(alias, name)} = ${this.#parts.bind(value as string, type)}`;
        });
        return this.#one(table, alias, conditions.join(' AND '), field, place);
      }
    }
  }

  #arguments(typeName: string, { name, node, path }: SelectedField): Map<string, InputValue> {
    const type = SCHEMA.getType(typeName) as GraphQLObjectType;
    const { args } = type.getFields()[name]!;
    return readArguments(node.arguments, args, this.#selector.variables, path);
  }

  /** The JSON text of one row, or null. */
  #one(table: Table, alias: string, condition: string, field: SelectedField, place: Place): string {
    const row = this.#row(table, alias, field, this.#inner(field, place, 1));
    return `coalesce((SELECT ${row} FROM ${tableName(table)} AS ${alias} WHERE ${condition} LIMIT 1), 'null')`;
  }

  #list(table: Table, field: SelectedField, place: Place, relation: ParentRow | undefined): string {
    const { alias, sql, limit } = this.#query(table, field, relation, this.#limits.rows);
    const row = this.#row(table, alias, field, this.#inner(field, place, limit!));
    return `(SELECT concat('[', string_agg(${row}, ','), ']') FROM (${sql}) AS ${alias})`;
  }

  /** The position of a field's selections. @throws GraphqlFailure if depth or rows exceed their limits */
  #inner({ path }: SelectedField, { depth, rows }: Place, limit: number): Place {
    checkLimit(depth + 1, this.#limits.depth, 'fields within each other', path);
    this.#rows.add(rows * limit, path);
    return { depth: depth + 1, rows: rows * limit };
  }

  /** @param maxRows maximum number of rows; undefined for no limit */
  #query(
    table: Table,
    field: SelectedField,
    relation: ParentRow | undefined,
    maxRows: number | undefined,
  ): RowsQuery {
    const args = this.#arguments(relation?.parent.name ?? 'query_root', field);
    const path = `${field.path}.args`;
    const alias = this.#parts.newAlias();
    const where = args.get('where') as InputObject | undefined;
    const conditions = [
      ...(relation === undefined ? [] : [joinCondition(relation.relation, relation.alias, alias)]),
      ...(where === undefined
        ? []
        : [this.#conditions.condition(table, alias, where, `${path}.where`)]),
    ];
    const { distinct, orderBy } = this.#orders.order(
      table,
      alias,
      (args.get('order_by') as InputObject[] | undefined) ?? [],
      (args.get('distinct_on') as string[] | undefined) ?? [],
      `${path}.order_by`,
    );
    const limit = smaller(nonNegative(args.get('limit'), `${path}.limit`), maxRows);
    const offset = nonNegative(args.get('offset'), `${path}.offset`);
    const sql =
      `SELECT ${distinct}${alias}.* FROM ${tableName(table)} AS ${alias}` +
      (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`) +
      orderBy +
      (limit === undefined ? '' : ` LIMIT ${this.#parts.bind(limit, 'bigint')}`) +
      (offset === undefined ? '' : ` OFFSET ${this.#parts.bind(offset, 'bigint')}`);
    return { alias, sql, limit };
  }

  /** The JSON text of a field's selections from a row. */
  #row(table: Table, alias: string, field: SelectedField, place: Place): string {
    return this.#object(field, place, (selected) => this.#member(table, alias, selected, place));
  }

  /** The JSON text of a field's selections. */
  #object(
    { selections, path }: SelectedField,
    { rows }: Place,
    textOf: (selected: SelectedField) => string,
  ): string {
    const members = this.#selector.fields(selections, path).map((selected) => {
      const { key } = selected;
      this.#cells.add(rows * Math.ceil(key.length / CELL_KEY_LENGTH), selected.path);
      return [key, textOf(selected)] as const;
    });
    return jsonObject(members);
  }

  #member(table: Table, alias: string, field: SelectedField, place: Place): string {
    if (field.name === '__typename') return jsonName(table.name);
    const member = tableField(table, field.name);
    if (member.kind === 'column') {
      if (member.column.type !== 'jsonb') return jsonColumn(alias, member.column);
      this.#cells.add(place.rows * (CELLS_OF_JSON - 1), field.path);
      const path = this.#arguments(table.name, field).get('path');
      if (path === undefined) return jsonColumn(alias, member.column);
      const steps = this.#parts.bindList(stepsOf(path as string, field.path), 'text');
      return jsonText(`(${columnOf(alias, field.name)} #> ${steps})`, 'jsonb');
    }
    const { relation } = member;
    const other = tableOf(relation.table);
    const parentRow = { relation, alias, parent: table };
    if (member.kind === 'aggregate') return this.#aggregated(other, field, place, parentRow);
    if (relation.kind === 'array') return this.#list(other, field, place, parentRow);
    const row = this.#parts.newAlias();
    return this.#one(other, row, joinCondition(relation, alias, row), field, place);
  }

  /** `aggregate` covers all rows of the query; `nodes` shows as many as a list would. */
  #aggregated(
    table: Table,
    field: SelectedField,
    place: Place,
    relation: ParentRow | undefined,
  ): string {
    const query = this.#query(table, field, relation, undefined);
    const maxNodes = smaller(query.limit, this.#limits.rows)!;
    const { alias } = query;
    const inner = this.#inner(field, place, 1);
    let showsNodes = false;
    const object = this.#object(field, inner, (selected) => {
      switch (selected.name) {
        case '__typename':
          return jsonName(`${table.name}_aggregate`);
        case 'nodes': {
          showsNodes = true;
          const row = this.#row(table, alias, selected, this.#inner(selected, inner, maxNodes));
          const number = columnOf(alias, ROW_NUMBER);
          const rows = `string_agg(${row}, ',' ORDER BY ${number}) FILTER (WHERE ${number} <= ${maxNodes})`;
          return `concat('[', ${rows}, ']')`;
        }
        default:
          return this.#aggregates(table, alias, selected, inner);
      }
    });
    const rows = showsNodes ? this.#numbered(query) : query.sql;
    // HAVING makes one row of all, even if no aggregate function is requested.
    return `(SELECT ${object} FROM (${rows}) AS ${alias} HAVING true)`;
  }

  #numbered({ sql }: RowsQuery): string {
    const alias = this.#parts.newAlias();
    return `SELECT ${alias}.*, row_number() OVER () AS ${ROW_NUMBER} FROM (${sql}) AS ${alias}`;
  }

  #aggregates(table: Table, alias: string, field: SelectedField, place: Place): string {
    const typeName = `${table.name}_aggregate_fields`;
    return this.#object(field, place, (selected) => {
      if (selected.name === '__typename') return jsonName(typeName);
      if (selected.name === 'count') {
        const args = this.#arguments(typeName, selected);
        const columns = args.get('columns') as string[] | undefined;
        const count = countOf(alias, columns, args.get('distinct') === true);
        return jsonText(count, 'bigint');
      }
      return this.#aggregateOf(table, alias, selected, place);
    });
  }

  #aggregateOf(table: Table, alias: string, field: SelectedField, place: Place): string {
    return this.#object(field, place, (selected) => {
      if (selected.name === '__typename') return jsonName(`${table.name}_${field.name}_fields`);
      const { name, type } = table.columns.find((column) => column.name === selected.name)!;
      return jsonText(`${field.name}(${columnOf(alias, name)})`, type);
    });
  }
}

/** The relation by which rows belong to a row of another table. */
interface ParentRow {
  readonly relation: Relation;
  readonly alias: string;
  readonly parent: Table;
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

function nonNegative(value: InputValue | undefined, path: string): number | undefined {
  if (value === undefined) return undefined;
  if ((value as number) < 0) {
    throw new GraphqlFailure('validation-failed', 'unexpected negative value', path);
  }
  return value as number;
}

/** Steps of a path into JSON: `$.a.b[0]`, `a`, `$["a b"]`. */
function stepsOf(path: string, place: string): string[] {
  const steps: string[] = [];
  const step = /(?:^|\.)([^.[\]]+)|\[(\d+)\]|\["([^"]*)"\]|\['([^']*)'\]/gy;
  const text = path.startsWith('$') ? path.slice(1) : path;
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (found === null) {
      throw new GraphqlFailure('parse-failed', `invalid json path: ${path}`, `${place}.args.path`);
    }
    steps.push(found.slice(1).find((part) => part !== undefined)!);
  }
  return steps;
}
