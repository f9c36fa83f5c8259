/** Requests to the indexer's database and its answers: text, as PostgreSQL reads and writes it. */

/** A value as PostgreSQL writes it as text. */
export type SqlText = string | null;
export type Row = Readonly<Record<string, SqlText>>;

export interface Statement {
  readonly text: string;
  /** Without any, the text may be several statements. */
  readonly parameters: readonly SqlText[];
  /** Whether another process has moved the tables on if no row comes. */
  readonly isGuard?: true;
}

/** Rows that are added to a table, in all of its columns. */
export interface CopiedRows {
  readonly table: string;
  /** As PostgreSQL's COPY reads text. */
  readonly lines: string;
}

/** Whether a transaction was given up because another process writes the same tables, and has moved them on. */
export function hasMovedOn(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === MOVED_ON;
}

/** Arrives from other threads, too. */
const MOVED_ON = 'moved_on';

/** Names of tables without a schema are those of the indexer. Rejects with what PostgreSQL says. */
export interface Database {
  /** Whether a query that takes too long is given up. */
  readonly stopsSlowQueries: boolean;
  /** The schema of PostgreSQL that has the tables of the indexer, and nothing else. */
  readonly schema: string;
  /** Whether other processes may write the tables, too. */
  readonly hasOtherWriters: boolean;
  /** Whether it can answer nothing any more, and has to be opened again. */
  readonly hasEnded: boolean;
  query(text: string, parameters?: readonly unknown[]): Promise<{ rows: Row[] }>;
  /** All statements or none. */
  transaction(statements: readonly (Statement | CopiedRows)[]): Promise<void>;
  close(): Promise<void>;
}

/** The schema in an embedded PostgreSQL, which nothing else uses. */
export const EMBEDDED_SCHEMA = 'indexer';

/** What one session can do. */
export interface Session {
  query(text: string, parameters: readonly SqlText[]): Promise<Row[]>;
  /** Any number of statements. */
  execute(text: string): Promise<void>;
  copy(rows: CopiedRows): Promise<void>;
  close(): Promise<void>;
}

/** All statements or none. */
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
        throw Object.assign(new Error(message), { code: MOVED_ON });
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
