/** A statement whose rows are taken as they come, in the binary format: nothing is asked or kept about their fields. */
import pg from 'pg';
import type { Field } from './row-messages.ts';

/** Of a statement: bytes, or the text of anything else. */
export type Parameter = Buffer | string;

export interface Answer {
  readonly rows: readonly (readonly Field[])[];
}

/** What this uses of a connection of `pg`, in its pinned version. */
interface Wire {
  /** Statements that the server knows, and those that it will know, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: {
    readonly statement: string;
    readonly values: readonly Parameter[];
    binary: true;
  }): void;
  execute(): void;
  sync(): void;
}

type Settle = (error: Error | undefined, answer: Answer) => void;

/** `pg` calls these methods; it sends no statement of another class without waiting for earlier ones. */
export class RowsQuery extends pg.Query {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Parameter[];
  readonly #settle: Settle;
  readonly #rows: (readonly Field[])[] = [];
  #isSettled = false;

  /** @param name stands for the text in later statements; empty for a statement that is needed once */
  constructor(name: string, text: string, values: readonly Parameter[], settle: Settle) {
    super('');
    this.name = name;
    this.text = text;
    this.values = values;
    this.#settle = settle;
  }

  override submit = (connection: pg.Connection): void => {
    const wire = connection as unknown as Wire;
    const { name, text, values } = this;
    const isKnown =
      name !== '' &&
      (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined;
    if (!isKnown) {
      wire.parse({ name, text });
      if (name !== '') wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values, binary: true });
    wire.execute();
    wire.sync();
  };

  handleDataRow({ fields }: { readonly fields: readonly Field[] }): void {
    this.#rows.push(fields);
  }

  /** The answer ends with handleReadyForQuery. */
  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#end(error);
  }

  handleReadyForQuery(): void {
    this.#end(undefined);
  }

  #end(error: Error | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(error, { rows: this.#rows });
  }
}
