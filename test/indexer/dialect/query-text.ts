/** The text of a query, with its variables. Each part is written in a random one of the allowed ways. */
import { tableOf } from '../../../src/indexer/catalogue/index.ts';
import type { SqlType } from '../../../src/indexer/catalogue/table.ts';
import type { Random } from '../../random.ts';
import {
  type ColumnShown,
  EnumName,
  type Input,
  type InputObject,
  type RowMember,
  type RowsShown,
  Value,
} from './query-shape.ts';

const SCALARS: Readonly<Record<SqlType, string>> = {
  text: 'String',
  integer: 'Int',
  bigint: 'bigint',
  numeric: 'numeric',
  boolean: 'Boolean',
  timestamp: 'timestamp',
  jsonb: 'jsonb',
};

export interface QueryText {
  readonly query: string;
  /** Text of a JSON object. */
  readonly variables: string;
}

export class QueryWriter {
  readonly #random: Random;
  readonly #declared: string[] = [];
  readonly #variables: string[] = [];
  readonly #fragments: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  write(roots: readonly RowsShown[]): QueryText {
    const fields = roots.map((root) => `${root.key}: ${this.#rows(root, rootName(root))}`);
    const body = `{ ${fields.join(' ')} }`;
    const declared = this.#declared.length === 0 ? '' : `(${this.#declared.join(', ')})`;
    return {
      query: [`query random${declared} ${body}`, ...this.#fragments].join('\n'),
      variables: `{${this.#variables.join(',')}}`,
    };
  }

  #variable(type: string, json: string): string {
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: ${type}`);
    this.#variables.push(`"${name}":${json}`);
    return `$${name}`;
  }

  #rows(field: RowsShown, name: string): string {
    const given = Object.entries(field.byKey ?? field.arguments).map(([argument, value]) => {
      return `${argument}: ${this.#argument(field, argument, value as Input)}`;
    });
    return `${name}${given.length === 0 ? '' : `(${given.join(', ')})`} ${this.#selection(field)}`;
  }

  #argument({ table, byKey }: RowsShown, name: string, value: Input): string {
    if (byKey !== undefined || this.#random.below(2) === 0) return this.#literal(value);
    const types: Readonly<Record<string, string>> = {
      where: `${table.name}_bool_exp${this.#random.below(2) === 0 ? '!' : ''}`,
      order_by: `[${table.name}_order_by!]`,
      distinct_on: `[${table.name}_select_column!]`,
      limit: 'Int',
      offset: 'Int',
    };
    return this.#variable(types[name]!, jsonOf(value));
  }

  #literal(value: Input): string {
    if (value instanceof EnumName) return value.name;
    if (value instanceof Value) {
      if (value.type !== 'jsonb' && this.#random.below(4) === 0) {
        // Lists must not contain null, so a variable for a list's item has a non-null type.
        return this.#variable(`${SCALARS[value.type]}!`, jsonOf(value));
      }
      return this.#scalar(value);
    }
    if (Array.isArray(value)) {
      // A list of one item may be written without brackets.
      const [only] = value as Input[];
      if (value.length === 1 && only instanceof Value && this.#random.below(3) === 0) {
        return this.#scalar(only);
      }
      return `[${value.map((item) => this.#literal(item as Input)).join(', ')}]`;
    }
    if (typeof value !== 'object') return String(value);
    const members = Object.entries(value).map(([name, one]) => `${name}: ${this.#literal(one)}`);
    return `{${members.join(', ')}}`;
  }

  #scalar(value: Value): string {
    const { type, text } = value;
    if (type === 'jsonb') return literalOfJson(JSON.parse(text));
    const isNumber = type === 'bigint' || type === 'numeric';
    if (type === 'integer' || type === 'boolean' || (isNumber && this.#random.below(2) === 0)) {
      return text;
    }
    return JSON.stringify(text);
  }

  #selection(field: RowsShown): string {
    if (field.kind !== 'aggregate') return this.#members(field.table.name, field.shown);
    const parts: string[] = [];
    if (field.aggregates.length > 0) {
      const functions = field.aggregates.map((shown) => {
        const { key, function: name, columns, isDistinct } = shown;
        if (name !== 'count') return `${key}: ${name} { ${columns.join(' ')} }`;
        if (columns.length === 0) return `${key}: count`;
        return `${key}: count(columns: [${columns.join(', ')}], distinct: ${isDistinct})`;
      });
      parts.push(`aggregate { ${functions.join(' ')} }`);
    }
    if (field.shown.length > 0) parts.push(`nodes ${this.#members(field.table.name, field.shown)}`);
    return `{ ${parts.join(' ')} }`;
  }

  #members(type: string, members: readonly RowMember[]): string {
    const texts = members.map((member) => this.#member(member));
    const from = this.#random.below(texts.length + 1);
    const rest = texts.slice(from).join(' ');
    const before = texts.slice(0, from).join(' ');
    if (rest === '') return `{ ${before} }`;
    switch (this.#random.below(6)) {
      case 0:
        return `{ ${before} ... on ${type} { ${rest} } }`;
      case 1: {
        const name = `F${this.#fragments.length}`;
        this.#fragments.push(`fragment ${name} on ${type} { ${rest} }`);
        return `{ ${before} ...${name} }`;
      }
      case 2:
        return `{ ${before} ... @include(if: ${this.#flag(true)}) { ${rest} } left: __typename @skip(if: ${this.#flag(true)}) }`;
      default:
        return `{ ${before} ${rest} ${rest} }`;
    }
  }

  #flag(value: boolean): string {
    return this.#random.below(2) === 0 ? String(value) : this.#variable('Boolean!', String(value));
  }

  #member(member: RowMember): string {
    if (member.kind === 'typename') return '__typename';
    if (member.kind === 'column') return columnText(member);
    const isAggregate = member.kind === 'aggregate';
    const name = member.relation!.name + (isAggregate ? '_aggregate' : '');
    return `${member.key}: ${this.#rows(member, name)}`;
  }
}

function rootName({ kind, table }: RowsShown): string {
  const { name } = tableOf(table.name);
  return kind === 'one' ? `${name}_by_pk` : kind === 'aggregate' ? `${name}_aggregate` : name;
}

function columnText({ key, name, path }: ColumnShown): string {
  const steps = (path ?? []).map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`));
  const given = path === undefined ? '' : `(path: ${JSON.stringify(`$${steps.join('')}`)})`;
  return `${key === name ? '' : `${key}: `}${name}${given}`;
}

function jsonOf(value: Input): string {
  if (value instanceof EnumName) return JSON.stringify(value.name);
  if (value instanceof Value) {
    const { type, text } = value;
    if (type === 'text' || type === 'timestamp') return JSON.stringify(text);
    return text;
  }
  if (Array.isArray(value)) return `[${value.map((item) => jsonOf(item as Input)).join(',')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value as InputObject).map(
    ([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`,
  );
  return `{${members.join(',')}}`;
}

function literalOfJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOfJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${name}: ${literalOfJson(one)}`);
  return `{${members.join(', ')}}`;
}
