/** Requests to the indexer's database and its results, as text in PostgreSQL's format. */

/** A value in PostgreSQL's text format. */
export type SqlText = string | null;
export type Row = Readonly<Record<string, SqlText>>;

export interface Statement {
  readonly text: string;
  /** If empty, the text may contain several statements. */
  readonly parameters: readonly SqlText[];
  /** If set, no returned row means that another process has advanced the tables. */
  readonly isGuard?: true;
}

/** Rows that are added to a table, with all of its columns. */
export interface CopiedRows {
  readonly table: string;
  /** In the text format of PostgreSQL's COPY. */
  readonly lines: string;
}

/** Whether a transaction was rolled back because another process has advanced the same tables. */
export function isConflict(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === CONFLICT_CODE;
}

/** Also passes between threads. */
const CONFLICT_CODE = 'moved_on';

/** Table names without a schema are those of the indexer. Rejects with errors of PostgreSQL. */
export interface Database {
  /** Whether a query that takes too long is stopped. */
  readonly stopsSlowQueries: boolean;
  /** The PostgreSQL schema that contains the tables of the indexer, and nothing else. */
  readonly schema: string;
  /** Whether other processes may write the tables, too. */
  readonly hasOtherWriters: boolean;
  /** Whether it no longer works and must be opened again. */
  readonly hasEnded: boolean;
  query(text: string, parameters?: readonly unknown[]): Promise<{ rows: Row[] }>;
  /** Runs all statements or none. */
  transaction(statements: readonly (Statement | CopiedRows)[]): Promise<void>;
  close(): Promise<void>;
}

/** The schema in an embedded PostgreSQL, which nothing else uses. */
export const EMBEDDED_SCHEMA = 'indexer';

/** The operations of one session. */
export interface Session {
  query(text: string, parameters: readonly SqlText[]): Promise<Row[]>;
  /** Runs any number of statements. */
  execute(text: string): Promise<void>;
  copy(rows: CopiedRows): Promise<void>;
  close(): Promise<void>;
}

/** Runs all statements or none. */
export async function runTransaction(
  session: Omit<Session, 'close'>,
  statements: readonly (Statement | CopiedRows)[],
): Promise<void> {
  await session.execute('BEGIN');
  try {
    for (const statement of statements) {
      if ('lines' in statement) {
        await session.copy(statement);
        continue;
      }
      const { text, parameters, isGuard } = statement;
      if (parameters.length === 0) await session.execute(text);
      else if ((await session.query(text, parameters)).length === 0 && isGuard === true) {
        const message = 'another process has moved the tables on';
        throw Object.assign(new Error(message), { code: CONFLICT_CODE });
      }
    }
    await session.execute('COMMIT');
  } catch (error) {
    await session.execute('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Parameters as text; arrays as PostgreSQL writes them. */
export function asTexts(parameters: readonly unknown[]): SqlText[] {
  return parameters.map((parameter) => {
    if (parameter === null || parameter === undefined) return null;
    return Array.isArray(parameter) ? arrayText(parameter) : String(parameter);
  });
}

function arrayText(items: readonly unknown[]): string {
  const texts = items.map((item) =>
    item === null ? 'NULL' : `"${String(item).replace(/["\\]/g, '\\$&')}"`,
  );
  return `{${texts.join(',')}}`;
}
