/** Random queries of the dialect. */
import { CATALOGUE, tableOf } from '../../../src/indexer/catalogue/index.ts';
import type { Column, Relation, SqlType, Table } from '../../../src/indexer/catalogue/table.ts';
import { AGGREGATE_FUNCTIONS, PATTERN_OPERATORS } from '../../../src/indexer/graphql/scalars.ts';
import type { Random } from '../../random.ts';
import { LIKE_PATTERNS, REGULAR, SIMILAR } from './naive-values.ts';
import {
  type AggregateShown,
  EnumName,
  type Input,
  type InputObject,
  type RowMember,
  type RowsArguments,
  type RowsShown,
  Value,
} from './query-shape.ts';
import { type Row, type Rows, VALUES } from './random-rows.ts';

const DIRECTIONS = ['asc', 'asc_nulls_first', 'asc_nulls_last', 'desc', 'desc_nulls_first'];
const PATHS = [['a'], ['a', 'b'], ['a', 'b', '1'], ['1'], ['nothing']];
const KEYS = ['a', 'b', 'c', 'text', 'x', ''];
const MAX_DEPTH = 3;

export class RandomQuery {
  readonly #random: Random;
  readonly #rows: Rows;

  constructor(random: Random, rows: Rows) {
    this.#random = random;
    this.#rows = rows;
  }

  /** One to three root fields. */
  roots(): RowsShown[] {
    return Array.from({ length: 1 + this.#random.below(3) }, (_, place) => {
      const table = this.#random.pick(CATALOGUE);
      const kind = this.#random.pick(['rows', 'rows', 'rows', 'aggregate', 'one'] as const);
      const key = `root${place}`;
      if (kind === 'one' && table.key.length > 0) {
        const byKey = this.#byKey(table);
        const shown = this.#shown(table, MAX_DEPTH);
        const rest = { relation: undefined, arguments: {}, aggregates: [] };
        return { kind, key, table, byKey, shown, ...rest };
      }
      return this.#rowsOf(
        key,
        table,
        undefined,
        kind === 'aggregate' && table.hasAggregate ? kind : 'rows',
        MAX_DEPTH,
      );
    });
  }

  #chance(oneIn: number): boolean {
    return this.#random.below(oneIn) === 0;
  }

  #some<T>(items: readonly T[], most: number): T[] {
    const count = Math.min(items.length, 1 + this.#random.below(most));
    const left = [...items];
    return Array.from({ length: count }, () => left.splice(this.#random.below(left.length), 1)[0]!);
  }

  #byKey(table: Table): InputObject {
    const rows = this.#rows.get(table.name)!;
    const row: Row | undefined = rows.length > 0 ? this.#random.pick(rows) : undefined;
    const members = table.key.map((name) => {
      const { type } = table.columns.find((column) => column.name === name)!;
      const text =
        row !== undefined && !this.#chance(6) ? row[name]! : this.#random.pick(VALUES[type]);
      return [name, type === 'boolean' ? text === 'true' : new Value(type, text)] as const;
    });
    return Object.fromEntries(
      members.map(([name, value]) => [
        name,
        typeof value === 'boolean' ? new Value('boolean', String(value)) : value,
      ]),
    );
  }

  #rowsOf(
    key: string,
    table: Table,
    relation: Relation | undefined,
    kind: 'rows' | 'aggregate',
    depth: number,
  ): RowsShown {
    const isAggregate = kind === 'aggregate';
    const aggregates = isAggregate && !this.#chance(6) ? this.#aggregates(table) : [];
    const hasRows = !isAggregate || aggregates.length === 0 || this.#chance(2);
    return {
      kind,
      key,
      table,
      relation,
      arguments: this.#arguments(table),
      byKey: undefined,
      shown: hasRows ? this.#shown(table, depth - 1) : [],
      aggregates,
    };
  }

  #aggregates(table: Table): AggregateShown[] {
    const names = columnsOf(table).map(({ name }) => name);
    const functions = AGGREGATE_FUNCTIONS.filter(({ of }) =>
      columnsOf(table).some((c) => of(c.type)),
    );
    const shown = this.#some(functions, 3).map((one, place) => ({
      key: `f${place}`,
      function: one.name,
      columns: this.#some(
        columnsOf(table)
          .filter(({ type }) => one.of(type))
          .map(({ name }) => name),
        3,
      ),
      isDistinct: false,
    }));
    const columns = this.#chance(2) ? [] : this.#some(names, 2);
    const isDistinct = columns.length > 0 && this.#chance(2);
    return [...shown, { key: 'n', function: 'count', columns, isDistinct }];
  }

  #shown(table: Table, depth: number): RowMember[] {
    const members: RowMember[] = this.#some(columnsOf(table), 5).map((column, place) => ({
      kind: 'column',
      key: this.#chance(3) ? `c${place}` : column.name,
      name: column.name,
      type: column.type,
      path: column.type === 'jsonb' && this.#chance(2) ? this.#random.pick(PATHS) : undefined,
    }));
    if (this.#chance(6)) members.push({ kind: 'typename', key: '__typename' });
    const relations = depth <= 0 ? [] : table.relations.filter(isDefinite);
    for (const relation of relations.length === 0 ? [] : this.#some(relations, 2)) {
      const other = tableOf(relation.table);
      const key = `r_${relation.name}`;
      if (relation.kind === 'array') {
        const kind = other.hasAggregate && this.#chance(3) ? 'aggregate' : 'rows';
        members.push(this.#rowsOf(key, other, relation, kind, depth - 1));
        continue;
      }
      const shown = this.#shown(other, depth - 1);
      const rest = { relation, arguments: {}, byKey: undefined, aggregates: [] };
      members.push({ kind: 'one', key, table: other, shown, ...rest });
    }
    return members;
  }

  #arguments(table: Table): RowsArguments {
    const where = this.#chance(4) ? {} : { where: this.#where(table, 3) };
    if (this.#chance(3)) return where;
    const columns = columnsOf(table).filter(({ type }) => type !== 'jsonb');
    const distinct = this.#chance(4) ? this.#some(columns, 2) : [];
    // The order is total, so that a limit has only one result.
    const last = (table.key.length > 0 ? table.key : columns.map(({ name }) => name)).map(
      (name) => ({ [name]: new EnumName('asc') }),
    );
    const order_by = [
      ...distinct.map(({ name }) => ({ [name]: this.#direction() })),
      ...(this.#chance(3) ? [] : [this.#order(table, 2)]),
      ...last,
    ];
    return {
      ...where,
      order_by,
      ...(distinct.length > 0
        ? { distinct_on: distinct.map(({ name }) => new EnumName(name)) }
        : {}),
      ...(this.#chance(2) ? { limit: this.#random.below(12) } : {}),
      ...(this.#chance(3) ? { offset: this.#random.below(6) } : {}),
    };
  }

  #direction(): EnumName {
    return new EnumName(this.#random.pick([...DIRECTIONS, 'desc_nulls_last']));
  }

  #order(table: Table, depth: number): InputObject {
    const columns = this.#some(
      columnsOf(table).filter(({ type }) => type !== 'jsonb'),
      2,
    );
    const order: Record<string, Input> = {};
    for (const relation of table.relations) {
      if (depth <= 0 || !this.#chance(3)) continue;
      const other = tableOf(relation.table);
      if (relation.kind === 'object') {
        if (isDefinite(relation)) order[relation.name] = this.#order(other, depth - 1);
        continue;
      }
      order[`${relation.name}_aggregate`] = {
        count: this.#direction(),
        ...this.#aggregateOrder(other),
      };
    }
    for (const { name } of columns) order[name] = this.#direction();
    return order;
  }

  #aggregateOrder(table: Table): InputObject {
    const { name, of } = this.#random.pick(AGGREGATE_FUNCTIONS.slice(0, 3));
    const columns = columnsOf(table).filter(({ type }) => of(type));
    if (columns.length === 0 || this.#chance(2)) return {};
    return { [name]: { [this.#random.pick(columns).name]: this.#direction() } };
  }

  #where(table: Table, depth: number): InputObject {
    const where: Record<string, Input> = {};
    for (const column of this.#some(columnsOf(table), depth > 1 ? 2 : 1)) {
      if (!this.#chance(3)) where[column.name] = this.#comparison(column);
    }
    if (depth <= 0) return where;
    const parts = () =>
      Array.from({ length: this.#random.below(4) }, () => this.#where(table, depth - 1));
    if (this.#chance(3)) where['_or'] = parts();
    if (this.#chance(5)) where['_and'] = parts();
    if (this.#chance(4)) where['_not'] = this.#where(table, depth - 1);
    for (const relation of table.relations) {
      const other = tableOf(relation.table);
      if (this.#chance(4)) where[relation.name] = this.#where(other, depth - 1);
      if (relation.kind === 'array' && other.hasAggregate && this.#chance(4)) {
        where[`${relation.name}_aggregate`] = this.#aggregateCondition(other, depth - 1);
      }
    }
    return where;
  }

  #aggregateCondition(table: Table, depth: number): InputObject {
    const filter = this.#chance(2) ? {} : { filter: this.#where(table, depth) };
    const flags = columnsOf(table).filter(({ type }) => type === 'boolean');
    if (flags.length > 0 && this.#chance(2)) {
      const value = new Value('boolean', this.#random.pick(['true', 'false']));
      const column = new EnumName(this.#random.pick(flags).name);
      return {
        [this.#random.pick(['bool_and', 'bool_or'])]: {
          arguments: column,
          predicate: { _eq: value },
          ...filter,
        },
      };
    }
    const compared = this.#random.pick(['_eq', '_gt', '_lte']);
    const count = new Value('integer', String(this.#random.below(4)));
    const names = this.#some(columnsOf(table), 2).map(({ name }) => new EnumName(name));
    return {
      count: {
        ...(this.#chance(2) ? {} : { arguments: names, distinct: this.#chance(2) }),
        predicate: { [compared]: count },
        ...filter,
      },
    };
  }

  #comparison({ type }: Column): InputObject {
    const operators = ['_eq', '_neq', '_in', '_nin', '_is_null'];
    if (type !== 'jsonb') operators.push('_gt', '_gte', '_lt', '_lte');
    if (type === 'text') operators.push(...PATTERN_OPERATORS);
    if (type === 'jsonb') {
      operators.push('_contains', '_contained_in', '_has_key', '_has_keys_all', '_has_keys_any');
      operators.push('_cast');
    }
    const chosen = this.#some(operators, this.#chance(4) ? 2 : 1);
    return Object.fromEntries(chosen.map((operator) => [operator, this.#operand(operator, type)]));
  }

  #operand(operator: string, type: SqlType): Input {
    // A comparison with null is an error.
    const values = VALUES[type].filter((one) => one !== 'null');
    const value = () => new Value(type, this.#random.pick(values));
    const text = (texts: readonly string[]) => new Value('text', this.#random.pick(texts));
    if (operator === '_is_null') return this.#chance(2);
    if (operator === '_has_key') return text(KEYS);
    if (operator === '_cast') return { String: { _eq: text(VALUES.jsonb) } };
    if (operator.startsWith('_has_keys')) {
      return Array.from({ length: 1 + this.#random.below(3) }, () => text(KEYS));
    }
    if (operator === '_in' || operator === '_nin') {
      return Array.from({ length: this.#random.below(4) }, value);
    }
    if (operator.endsWith('like')) return text(LIKE_PATTERNS);
    if (operator.endsWith('similar')) return text(Object.keys(SIMILAR));
    return operator.endsWith('regex') ? text(Object.keys(REGULAR)) : value();
  }
}

function columnsOf({ columns }: Table): readonly Column[] {
  return columns.filter(({ hidden }) => !hidden);
}

/** Whether at most one row matches, so that an object relation has only one result. */
function isDefinite({ kind, table, columns }: Relation): boolean {
  const { key } = tableOf(table);
  const joined = columns.map(([, other]) => other);
  return kind === 'array' || (key.length > 0 && key.every((name) => joined.includes(name)));
}
