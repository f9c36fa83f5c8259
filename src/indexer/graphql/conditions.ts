/** Compiles `where` to an SQL condition. */
import { tableOf } from '../catalogue/index.ts';
import type { Column, Relation, SqlType, Table } from '../catalogue/table.ts';
import { GraphqlFailure } from './failure.ts';
import { tableField } from './fields.ts';
import type { InputObject, InputValue } from './input-values.ts';
import { Allowance, checkLimit, type QueryLimits } from './limits.ts';
import { columnOf, joinCondition, type StatementParts, tableName } from './sql.ts';

type Scalar = string | number | boolean;

const COMPARED: Readonly<Record<string, string>> = {
  _eq: '=',
  _neq: '<>',
  _gt: '>',
  _gte: '>=',
  _lt: '<',
  _lte: '<=',
  _contains: '@>',
  _contained_in: '<@',
};
const LISTED: Readonly<Record<string, string>> = { _in: '= ANY', _nin: '<> ALL' };
const LIKE: Readonly<Record<string, string>> = {
  _like: 'LIKE',
  _nlike: 'NOT LIKE',
  _ilike: 'ILIKE',
  _nilike: 'NOT ILIKE',
};
const MATCHED: Readonly<Record<string, string>> = {
  _similar: 'SIMILAR TO',
  _nsimilar: 'NOT SIMILAR TO',
  _regex: '~',
  _nregex: '!~',
  _iregex: '~*',
  _niregex: '!~*',
};
const KEYED: Readonly<Record<string, string>> = { _has_keys_all: '?&', _has_keys_any: '?|' };

export class ConditionCompiler {
  readonly #parts: StatementParts;
  readonly #limits: QueryLimits;
  readonly #conditions: Allowance;
  readonly #regularExpressions: Allowance;

  constructor(parts: StatementParts, limits: QueryLimits, conditions: Allowance) {
    this.#parts = parts;
    this.#limits = limits;
    this.#conditions = conditions;
    const { regularExpressions } = limits;
    this.#regularExpressions = new Allowance(regularExpressions, 'regular expressions');
  }

  /** @param alias alias of the table's row */
  condition(table: Table, alias: string, where: InputObject, path: string): string {
    const all: string[] = [];
    for (const [name, value] of where) {
      all.push(this.#member(table, alias, name, value, `${path}.${name}`));
    }
    return allOf(all);
  }

  #member(table: Table, alias: string, name: string, value: InputValue, path: string): string {
    const compileAll = () =>
      (value as readonly InputObject[]).map((part, place) => {
        this.#conditions.add(1, path);
        return this.condition(table, alias, part, `${path}[${place}]`);
      });
    switch (name) {
      case '_and':
        return allOf(compileAll());
      case '_or':
        return anyOf(compileAll());
      case '_not':
        return `NOT (${this.condition(table, alias, value as InputObject, path)})`;
    }
    const field = tableField(table, name);
    switch (field.kind) {
      case 'column':
        return this.#comparison(alias, field.column, value as InputObject, path);
      case 'relation':
        return this.#exists(alias, field.relation, value as InputObject, path);
      case 'aggregate':
        return this.#aggregate(alias, field.relation, value as InputObject, path);
    }
  }

  #exists(alias: string, relation: Relation, where: InputObject, path: string): string {
    this.#conditions.add(1, path);
    return `EXISTS (SELECT 1 FROM ${this.#related(alias, relation, where, path).rows})`;
  }

  /** The rows of a relation that meet a condition, as the text after FROM. */
  #related(alias: string, relation: Relation, where: InputObject, path: string) {
    const table = tableOf(relation.table);
    const other = this.#parts.newAlias();
    const condition = this.condition(table, other, where, path);
    const join = joinCondition(relation, alias, other);
    return { other, rows: `${tableName(table)} AS ${other} WHERE ${join} AND (${condition})` };
  }

  #aggregate(alias: string, relation: Relation, predicates: InputObject, path: string): string {
    const all: string[] = [];
    for (const [operator, value] of predicates) {
      this.#conditions.add(1, `${path}.${operator}`);
      const options = value as InputObject;
      const filter = (options.get('filter') as InputObject | undefined) ?? new Map();
      const { other, rows } = this.#related(alias, relation, filter, `${path}.${operator}.filter`);
      const names = options.get('arguments') as string | readonly string[] | undefined;
      const isDistinct = options.get('distinct') === true;
      const aggregate =
        operator === 'count'
          ? countOf(other, names as readonly string[] | undefined, isDistinct)
          : `${operator}(${isDistinct ? 'DISTINCT ' : ''}${columnOf(other, names as string)})`;
      const predicate = options.get('predicate') as InputObject;
      all.push(
        this.#compared(
          `(SELECT ${aggregate} FROM ${rows})`,
          operator === 'count' ? 'bigint' : 'boolean',
          predicate,
          `${path}.${operator}.predicate`,
        ),
      );
    }
    return allOf(all);
  }

  #comparison(alias: string, { name, type }: Column, operators: InputObject, path: string): string {
    return this.#compared(columnOf(alias, name), type, operators, path);
  }

  #compared(left: string, type: SqlType, operators: InputObject, path: string): string {
    const all: string[] = [];
    for (const [operator, value] of operators) {
      this.#conditions.add(1, path);
      all.push(this.#operation(left, type, operator, value, `${path}.${operator}`));
    }
    return allOf(all);
  }

  #operation(
    left: string,
    type: SqlType,
    operator: string,
    value: InputValue,
    path: string,
  ): string {
    const parts = this.#parts;
    if (operator in COMPARED) {
      return `${left} ${COMPARED[operator]} ${parts.bind(value as Scalar, type)}`;
    }
    if (operator in LISTED) {
      return `${left} ${LISTED[operator]} (${parts.bindList(value as Scalar[], type)})`;
    }
    if (operator in LIKE || operator in MATCHED) {
      this.#checkPattern(value as string, operator in MATCHED, path);
      return `${left} ${LIKE[operator] ?? MATCHED[operator]} ${parts.bind(value as string, 'text')}`;
    }
    if (operator in KEYED) {
      return `${left} ${KEYED[operator]} ${parts.bindList(value as string[], 'text')}`;
    }
    switch (operator) {
      case '_has_key':
        return `${left} ? ${parts.bind(value as string, 'text')}`;
      case '_is_null':
        return `${left} IS ${value === true ? '' : 'NOT '}NULL`;
      case '_cast': {
        const texts = (value as InputObject).get('String') as InputObject | undefined;
        const cast = `(${left})::text COLLATE "C"`;
        return texts === undefined ? 'true' : this.#compared(cast, 'text', texts, path);
      }
      default:
        throw new RangeError(`no comparison ${operator}`);
    }
  }

  /** Rejects back references: without them, PostgreSQL's time for matching a regular expression grows slowly. */
  #checkPattern(pattern: string, isRegular: boolean, path: string): void {
    checkLimit(pattern.length, this.#limits.patternLength, 'characters of a pattern', path);
    if (isRegular) this.#regularExpressions.add(1, path);
    if (isRegular && /\\[1-9]/.test(pattern)) {
      throw new GraphqlFailure('not-supported', 'a pattern has no back references', path);
    }
  }
}

/** @param names of columns. If absent, rows are counted */
export function countOf(
  alias: string,
  names: readonly string[] | undefined,
  isDistinct: boolean,
): string {
  if (names === undefined || names.length === 0) return 'count(*)';
  const columns = names.map((name) => columnOf(alias, name)).join(', ');
  return `count(${isDistinct ? 'DISTINCT ' : ''}${names.length === 1 ? columns : `(${columns})`})`;
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.map((one) => `(${one})`).join(' AND ');
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'false' : conditions.map((one) => `(${one})`).join(' OR ');
}
