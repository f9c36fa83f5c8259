/** The tables in a PostgreSQL server: one session writes, others read. */
import pg from 'pg';
import { parsePostgresUrl } from '../../store/postgres/location.ts';
import { INDEXER_SCHEMA } from '../catalogue/index.ts';
import { asTexts, type Database, type Row, runTransaction, type Statement } from './session.ts';

const MAX_READERS = 8;
/** After this time a query is given up, in milliseconds. */
const QUERY_TIMEOUT_MS = 10_000;
const SEARCH_PATH = `-c search_path=${INDEXER_SCHEMA}`;
const AS_TEXT = { getTypeParser: () => (value: string) => value };

export class PostgresDatabase implements Database {
  readonly stopsSlowQueries = true;
  readonly #writer: pg.Pool;
  readonly #readers: pg.Pool;

  private constructor(url: string) {
    // What a URL has of options would replace these.
    const shared = { connectionString: url, types: AS_TEXT, application_name: 'daybook indexer' };
    this.#writer = new pg.Pool({ ...shared, options: SEARCH_PATH, max: 1 });
    this.#readers = new pg.Pool({
      ...shared,
      options: `${SEARCH_PATH} -c default_transaction_read_only=on -c statement_timeout=${QUERY_TIMEOUT_MS}`,
      max: MAX_READERS,
    });
    // A connection that breaks while nobody uses it is replaced.
    for (const pool of [this.#writer, this.#readers]) pool.on('error', () => undefined);
  }

  /** @param location as that of a ledger; the first of several hosts is used */
  static async open(location: string): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(parsePostgresUrl(location).urls[0]!);
    try {
      await database.query('SELECT 1');
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  }

  async query(text: string, parameters: readonly unknown[] = []): Promise<{ rows: Row[] }> {
    const { rows } = await this.#readers.query<Row>(text, asTexts(parameters));
    return { rows };
  }

  async transaction(statements: readonly Statement[]): Promise<void> {
    const client = await this.#writer.connect();
    let failure: Error | undefined;
    try {
      await runTransaction(
        {
          query: async (text, parameters) => (await client.query<Row>(text, [...parameters])).rows,
          execute: async (text) => void (await client.query(text)),
        },
        statements,
      );
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.end(), this.#readers.end()]);
  }
}
