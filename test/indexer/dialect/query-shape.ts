/** A query as the tests build it: the contents of a document before it is text. */
import type { Relation, SqlType, Table } from '../../../src/indexer/catalogue/table.ts';

/** A value of a column, in PostgreSQL's input format. */
export class Value {
  readonly type: SqlType;
  readonly text: string;

  constructor(type: SqlType, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** Input of a field, with members in order. Names of enums are marked texts. */
export type Input = boolean | number | Value | EnumName | readonly Input[] | InputObject;

export interface InputObject {
  readonly [name: string]: Input;
}

export class EnumName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export interface RowsArguments {
  readonly where?: InputObject;
  readonly order_by?: readonly InputObject[];
  readonly distinct_on?: readonly EnumName[];
  readonly limit?: number;
  readonly offset?: number;
}

interface Keyed {
  readonly key: string;
}

export interface ColumnShown extends Keyed {
  readonly kind: 'column';
  readonly name: string;
  readonly type: SqlType;
  readonly path: readonly string[] | undefined;
}

export interface TypeNameShown extends Keyed {
  readonly kind: 'typename';
}

/** Rows of a table: a list, an aggregate, or one row. `relation` is absent at the root. */
export interface RowsShown extends Keyed {
  readonly kind: 'rows' | 'one' | 'aggregate';
  readonly table: Table;
  readonly relation: Relation | undefined;
  readonly arguments: RowsArguments;
  /** Values of the key, for a root field that returns one row. */
  readonly byKey: InputObject | undefined;
  /** Fields of each row; for an aggregate, the fields of its nodes, or none. */
  readonly shown: readonly RowMember[];
  readonly aggregates: readonly AggregateShown[];
}

export type RowMember = ColumnShown | TypeNameShown | RowsShown;

export interface AggregateShown extends Keyed {
  readonly function: string;
  /** One for most functions; any number for `count`. */
  readonly columns: readonly string[];
  readonly isDistinct: boolean;
}
