/** Pieces of SQL. Values of clients are parameters. All other text comes from the catalogue or is a GraphQL name. */
import type { Column, Relation, SqlType, Table } from '../catalogue/table.ts';

/** PostgreSQL passes at most 100 arguments to a function. */
const MAX_ARGUMENTS = 100;

/** Names and parameters of one statement. */
export class StatementParts {
  readonly parameters: string[] = [];
  #aliases = 0;

  bind(value: string | number | boolean, type: SqlType | 'text[]'): string {
    this.parameters.push(String(value));
    return `$${this.parameters.length}::${type}`;
  }

  bindList(values: readonly (string | number | boolean)[], type: SqlType): string {
    this.parameters.push(arrayText(values));
    return `$${this.parameters.length}::${type}[]`;
  }

  newAlias(): string {
    this.#aliases += 1;
    return `t${this.#aliases}`;
  }
}

function arrayText(values: readonly (string | number | boolean)[]): string {
  const items = values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`);
  return `{${items.join(',')}}`;
}

export function tableName({ name }: Table): string {
  return identifier(name);
}

export function columnOf(alias: string, column: string): string {
  return `${alias}.${identifier(column)}`;
}

/** A quoted name. @throws RangeError for anything but a GraphQL name, so it needs no escapes */
function identifier(name: string): string {
  return `"${checkedName(name)}"`;
}

function checkedName(name: string): string {
  if (!/^[_A-Za-z][_0-9A-Za-z]*$/.test(name)) throw new RangeError(`${name} is not a name`);
  return name;
}

export function joinCondition({ columns }: Relation, own: string, other: string): string {
  return columns
    .map(([ownName, otherName]) => `${columnOf(other, otherName)} = ${columnOf(own, ownName)}`)
    .join(' AND ');
}

/** The JSON text of a value of SQL; `null` for NULL. */
export function jsonText(value: string, type: SqlType): string {
  const text =
    type === 'text' || type === 'timestamp' ? `to_json(${value})::text` : `${value}::text`;
  return `coalesce(${text}, 'null')`;
}

export function jsonColumn(alias: string, { name, type }: Column): string {
  return jsonText(columnOf(alias, name), type);
}

/** The JSON text of an object. Its members are expressions of JSON text that are never NULL. */
export function jsonObject(members: readonly (readonly [key: string, value: string])[]): string {
  if (members.length === 0) return `'{}'`;
  const parts = members.flatMap(([key, value], place) => [
    `'${place === 0 ? '{' : ','}"${checkedName(key)}":'`,
    value,
  ]);
  return concatenated([...parts, `'}'`]);
}

export function jsonName(name: string): string {
  return `'"${checkedName(name)}"'`;
}

function concatenated(parts: readonly string[]): string {
  if (parts.length <= MAX_ARGUMENTS) return `concat(${parts.join(', ')})`;
  const groups: string[] = [];
  for (let from = 0; from < parts.length; from += MAX_ARGUMENTS) {
    groups.push(concatenated(parts.slice(from, from + MAX_ARGUMENTS)));
  }
  return concatenated(groups);
}
