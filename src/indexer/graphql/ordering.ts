/** Compiles `order_by` and `distinct_on` to SQL. */
import { tableOf } from '../catalogue/index.ts';
import type { Relation, Table } from '../catalogue/table.ts';
import { countOf } from './conditions.ts';
import { GraphqlFailure } from './failure.ts';
import { tableField } from './fields.ts';
import type { InputObject, InputValue } from './input-values.ts';
import type { Allowance } from './limits.ts';
import { columnOf, joinCondition, type StatementParts, tableName } from './sql.ts';

const DIRECTIONS: Readonly<Record<string, string>> = {
  asc: 'ASC NULLS LAST',
  asc_nulls_first: 'ASC NULLS FIRST',
  asc_nulls_last: 'ASC NULLS LAST',
  desc: 'DESC NULLS FIRST',
  desc_nulls_first: 'DESC NULLS FIRST',
  desc_nulls_last: 'DESC NULLS LAST',
};

/** One item of an order. */
interface OrderedBy {
  readonly value: string;
  readonly direction: string;
}

export class OrderCompiler {
  readonly #parts: StatementParts;
  readonly #conditions: Allowance;

  constructor(parts: StatementParts, conditions: Allowance) {
    this.#parts = parts;
    this.#conditions = conditions;
  }

  /**
   * The text after SELECT, and the text at the end of a statement over rows of a table.
   * @throws GraphqlFailure if the order does not begin with the distinct columns, which PostgreSQL requires
   */
  order(
    table: Table,
    alias: string,
    orders: readonly InputObject[],
    distinctOn: readonly string[],
    path: string,
  ): { distinct: string; orderBy: string } {
    const items = orders.flatMap((order) => this.#items(table, alias, order, path));
    const distinct = [...new Set(distinctOn)].map((name) => columnOf(alias, name));
    const first = new Set(items.slice(0, distinct.length).map(({ value }) => value));
    if (items.length > 0 && [...first].some((value) => !distinct.includes(value)) && distinct[0]) {
      const message = '"distinct_on" columns must match initial "order_by" columns';
      throw new GraphqlFailure('validation-failed', message, path);
    }
    const places = items.map(({ value, direction }) => `${value} ${direction}`);
    return {
      distinct: distinct.length === 0 ? '' : `DISTINCT ON (${distinct.join(', ')}) `,
      orderBy: places.length === 0 ? '' : ` ORDER BY ${places.join(', ')}`,
    };
  }

  #items(table: Table, alias: string, order: InputObject, path: string): OrderedBy[] {
    const items: OrderedBy[] = [];
    for (const [name, value] of order) {
      this.#conditions.add(1, path);
      const field = tableField(table, name);
      if (field.kind === 'column') items.push(placed(columnOf(alias, name), value));
      else if (field.kind === 'relation') {
        items.push(...this.#relatedItems(alias, field.relation, value as InputObject, path));
      } else items.push(...this.#aggregateItems(alias, field.relation, value as InputObject));
    }
    return items;
  }

  #relatedItems(alias: string, relation: Relation, order: InputObject, path: string): OrderedBy[] {
    const table = tableOf(relation.table);
    const other = this.#parts.newAlias();
    const rows = `${tableName(table)} AS ${other} WHERE ${joinCondition(relation, alias, other)}`;
    return this.#items(table, other, order, path).map(({ value, direction }) => ({
      value: `(SELECT ${value} FROM ${rows} LIMIT 1)`,
      direction,
    }));
  }

  #aggregateItems(alias: string, relation: Relation, order: InputObject): OrderedBy[] {
    const other = this.#parts.newAlias();
    const rows = `${tableName(tableOf(relation.table))} AS ${other}`;
    const from = `FROM ${rows} WHERE ${joinCondition(relation, alias, other)}`;
    return [...order].flatMap(([name, value]) => {
      if (name === 'count') {
        return [placed(`(SELECT ${countOf(other, undefined, false)} ${from})`, value)];
      }
      return [...(value as InputObject)].map(([column, direction]) =>
        placed(`(SELECT ${name}(${columnOf(other, column)}) ${from})`, direction),
      );
    });
  }
}

function placed(value: string, direction: InputValue): OrderedBy {
  return { value, direction: DIRECTIONS[direction as string]! };
}
