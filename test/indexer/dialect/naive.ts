/**
 * The result of a query, computed from rows in memory, row by row: a second implementation of the dialect, without SQL.
 */
import { tableOf } from '../../../src/indexer/catalogue/index.ts';
import type { Relation, SqlType, Table } from '../../../src/indexer/catalogue/table.ts';
import { JsonNumber, type JsonValue, parseJson } from '../../../src/move/json/json-text.ts';
import { compareValues, isTrueOf } from './naive-values.ts';
import type {
  AggregateShown,
  ColumnShown,
  EnumName,
  Input,
  InputObject,
  RowMember,
  RowsArguments,
  RowsShown,
  Value,
} from './query-shape.ts';
import type { Row, Rows } from './random-rows.ts';

/** A number whose last digits may differ. */
export class Near {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Rows in any order. */
export class AnyOrder {
  readonly items: readonly Expected[];

  constructor(items: readonly Expected[]) {
    this.items = items;
  }
}

export type Expected = JsonValue | Near | AnyOrder | readonly Expected[] | Members;
export type Members = ReadonlyMap<string, Expected>;

/** Three-valued logic as in SQL: null is unknown. */
type Truth = boolean | null;

export class Naive {
  readonly #rows: Rows;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** @param row start of a relation */
  shown(field: RowsShown, row?: Row): Expected {
    const { table, relation } = field;
    const candidates =
      relation === undefined ? this.#rows.get(table.name)! : this.#related(relation, row!);
    if (field.kind === 'one') {
      const found = candidates.find((one) => isKeyOf(field.byKey, table, one));
      return found === undefined ? null : this.#members(table, field.shown, found);
    }
    const selected = this.#selected(table, candidates, field.arguments);
    const list = (rows: readonly Row[]): Expected => {
      const items = rows.map((one) => this.#members(table, field.shown, one));
      return field.arguments.order_by === undefined ? new AnyOrder(items) : items;
    };
    if (field.kind === 'rows') return list(selected);
    const members: [string, Expected][] = [];
    if (field.aggregates.length > 0) members.push(['aggregate', aggregatesOf(field, selected)]);
    if (field.shown.length > 0) members.push(['nodes', list(selected)]);
    return new Map(members);
  }

  #related(relation: Relation, row: Row): Row[] {
    return this.#rows
      .get(relation.table)!
      .filter((other) =>
        relation.columns.every(([own, name]) => row[own] !== null && row[own] === other[name]),
      );
  }

  #members(table: Table, members: readonly RowMember[], row: Row): Expected {
    return new Map(
      members.map((member): [string, Expected] => {
        if (member.kind === 'typename') return [member.key, table.name];
        if (member.kind === 'column') return [member.key, columnShown(member, row)];
        return [member.key, this.shown(member, row)];
      }),
    );
  }

  #selected(table: Table, rows: readonly Row[], given: RowsArguments): Row[] {
    const { where, order_by, distinct_on, limit, offset } = given;
    let selected = rows.filter(
      (row) => where === undefined || this.#isTrue(table, row, where) === true,
    );
    if (order_by !== undefined) {
      const orders = order_by.flatMap((order) => this.#orders(table, order));
      selected.sort((a, b) => {
        for (const order of orders) {
          const result = compareRows(order, a, b);
          if (result !== 0) return result;
        }
        return 0;
      });
    }
    if (distinct_on !== undefined) {
      const seen = new Set<string>();
      selected = selected.filter((row) => {
        const key = JSON.stringify(distinct_on.map(({ name }) => row[name]));
        return !seen.has(key) && seen.add(key);
      });
    }
    const from = offset ?? 0;
    return selected.slice(from, limit === undefined ? undefined : from + limit);
  }

  #isTrue(table: Table, row: Row, where: InputObject): Truth {
    return all(Object.entries(where).map(([name, value]) => this.#member(table, row, name, value)));
  }

  #member(table: Table, row: Row, name: string, value: Input): Truth {
    const each = () => (value as InputObject[]).map((part) => this.#isTrue(table, row, part));
    if (name === '_and') return all(each());
    if (name === '_or') return any(each());
    if (name === '_not') return not(this.#isTrue(table, row, value as InputObject));
    const column = table.columns.find((one) => one.name === name);
    if (column !== undefined) return compared(column.type, row[name]!, value as InputObject);
    const relation = relationOf(table, name.replace(/_aggregate$/, ''));
    const related = this.#related(relation, row);
    const other = tableOf(relation.table);
    if (!name.endsWith('_aggregate')) {
      return related.some((one) => this.#isTrue(other, one, value as InputObject) === true);
    }
    return all(
      Object.entries(value as InputObject).map(([operator, given]) => {
        const { filter, predicate, ...rest } = given as InputObject;
        const counted = related.filter(
          (one) => filter === undefined || this.#isTrue(other, one, filter as InputObject) === true,
        );
        return aggregateIs(operator, counted, rest, predicate as InputObject);
      }),
    );
  }

  #orders(table: Table, order: InputObject): OrderedBy[] {
    return Object.entries(order).flatMap(([name, value]): OrderedBy[] => {
      const column = table.columns.find((one) => one.name === name);
      if (column !== undefined) {
        return [{ type: column.type, direction: value, read: (row) => row[name]! }];
      }
      const relation = relationOf(table, name.replace(/_aggregate$/, ''));
      if (name.endsWith('_aggregate')) return this.#aggregateOrders(relation, value as InputObject);
      return this.#orders(tableOf(relation.table), value as InputObject).map((one) => ({
        ...one,
        read: (row) => {
          const [related] = this.#related(relation, row);
          return related === undefined ? null : one.read(related);
        },
      }));
    });
  }

  #aggregateOrders(relation: Relation, order: InputObject): OrderedBy[] {
    return Object.entries(order).flatMap(([operator, value]): OrderedBy[] => {
      if (operator === 'count') {
        const read = (row: Row) => String(this.#related(relation, row).length);
        return [{ type: 'bigint', direction: value, read }];
      }
      return Object.entries(value as InputObject).map(([name, direction]) => {
        const { type } = tableOf(relation.table).columns.find((one) => one.name === name)!;
        const read = (row: Row) =>
          aggregateText(operator, type, notNull(this.#related(relation, row), name));
        return { type: operator === 'sum' ? 'numeric' : type, direction, read };
      });
    });
  }
}

/** One term of an ORDER BY. */
interface OrderedBy {
  readonly type: SqlType;
  readonly direction: Input;
  readonly read: (row: Row) => string | null;
}

function isKeyOf(byKey: InputObject | undefined, table: Table, row: Row): boolean {
  return Object.entries(byKey ?? {}).every(([name, value]) => {
    const { type } = table.columns.find((column) => column.name === name)!;
    return compareValues(type, row[name]!, (value as Value).text) === 0;
  });
}

function relationOf(table: Table, name: string): Relation {
  return table.relations.find((one) => one.name === name)!;
}

function compared(type: SqlType, value: string | null, given: InputObject): Truth {
  return all(
    Object.entries(given).map(([operator, operand]) => isTrueOf(operator, type, value, operand)),
  );
}

function aggregateIs(
  operator: string,
  rows: readonly Row[],
  { arguments: names, distinct }: InputObject,
  predicate: InputObject,
): Truth {
  if (operator === 'count') {
    const columns = ((names ?? []) as EnumName[]).map(({ name }) => name);
    return compared('bigint', String(countOf(rows, columns, distinct === true)), predicate);
  }
  const flags = notNull(rows, (names as EnumName).name);
  if (flags.length === 0) return compared('boolean', null, predicate);
  const isTrue = operator === 'bool_and' ? !flags.includes('false') : flags.includes('true');
  return compared('boolean', String(isTrue), predicate);
}

function compareRows({ type, direction, read }: OrderedBy, one: Row, other: Row): number {
  const { name } = direction as EnumName;
  const nullsFirst = name === 'desc' || name.endsWith('nulls_first');
  const [a, b] = [read(one), read(other)];
  if (a === null || b === null) {
    if (a === b) return 0;
    return (a === null) === nullsFirst ? -1 : 1;
  }
  const result = compareValues(type, a, b);
  return name.startsWith('desc') ? -result : result;
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(null) ? null : true;
}

function any(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  return truths.includes(null) ? null : false;
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function columnShown({ name, type, path }: ColumnShown, row: Row): Expected {
  const value = row[name]!;
  if (value === null) return null;
  if (type === 'text' || type === 'timestamp') return value;
  let json = parseJson(Buffer.from(value));
  for (const step of path ?? []) {
    const next =
      json instanceof Map ? json.get(step) : Array.isArray(json) ? json[Number(step)] : null;
    if (next === undefined || next === null) return null;
    json = next as JsonValue;
  }
  return json;
}

function notNull(rows: readonly Row[], name: string): string[] {
  return rows.map((row) => row[name]!).filter((value) => value !== null);
}

function countOf(rows: readonly Row[], columns: readonly string[], isDistinct: boolean): number {
  if (columns.length === 0) return rows.length;
  const counted = columns.length === 1 ? rows.filter((row) => row[columns[0]!] !== null) : rows;
  if (!isDistinct) return counted.length;
  return new Set(counted.map((row) => JSON.stringify(columns.map((name) => row[name])))).size;
}

function aggregatesOf({ table, aggregates }: RowsShown, rows: readonly Row[]): Expected {
  const members = new Map<string, Expected>();
  for (const shown of aggregates) members.set(shown.key, aggregateOf(table, shown, rows));
  return members;
}

function aggregateOf(table: Table, shown: AggregateShown, rows: readonly Row[]): Expected {
  if (shown.function === 'count') {
    return new JsonNumber(String(countOf(rows, shown.columns, shown.isDistinct)));
  }
  return new Map(
    shown.columns.map((name): [string, Expected] => {
      const { type } = table.columns.find((column) => column.name === name)!;
      const values = notNull(rows, name);
      if (!['max', 'min', 'sum'].includes(shown.function)) {
        return [name, statisticOf(shown.function, values.map(Number))];
      }
      const text = aggregateText(shown.function, type, values);
      if (text === null) return [name, null];
      return [name, type === 'text' || type === 'timestamp' ? text : new JsonNumber(text)];
    }),
  );
}

function aggregateText(operator: string, type: SqlType, values: string[]): string | null {
  if (values.length === 0) return null;
  if (operator === 'sum') return sumOf(values);
  const sign = operator === 'max' ? 1 : -1;
  return values.reduce((a, b) => (compareValues(type, a, b) * sign >= 0 ? a : b));
}

function sumOf(values: readonly string[]): string {
  const digits = Math.max(...values.map((text) => (text.split('.')[1] ?? '').length));
  let sum = 0n;
  for (const text of values) {
    const [whole, fraction = ''] = text.split('.');
    sum += BigInt(whole! + fraction.padEnd(digits, '0'));
  }
  const text = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, '0');
  const point = text.length - digits;
  const shown = digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
  return sum < 0n ? `-${shown}` : shown;
}

/** `stddev` and `variance` are the sample versions, as in PostgreSQL. */
function statisticOf(name: string, values: readonly number[]): Expected {
  const count = values.length;
  const average = values.reduce((a, b) => a + b, 0) / count;
  if (name === 'avg') return count === 0 ? null : new Near(average);
  const isPopulation = name.endsWith('_pop');
  if (count < (isPopulation ? 1 : 2)) return null;
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const variance = squares / (isPopulation ? count : count - 1);
  return new Near(name.startsWith('var') ? variance : Math.sqrt(variance));
}
