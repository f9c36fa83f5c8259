/** The tables in a PostgreSQL server: one session writes, others read. */
import pg from 'pg';
import { MAX_SCHEMA_CHARACTERS, parsePostgresUrl } from '../../store/postgres/location.ts';
import { StoreError } from '../../store/store-error.ts';
import {
  asTexts,
  type CopiedRows,
  type Database,
  type Row,
  runTransaction,
  type Statement,
} from './session.ts';

const MAX_READERS = 8;
/** Timeout of a query, in milliseconds. */
const QUERY_TIMEOUT_MS = 10_000;
/** How much longer than the server a connection waits for a statement, in milliseconds. */
const TIMEOUT_SLACK_MS = 2_000;
/** Timeout of a statement that writes, in milliseconds. */
const WRITE_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEPALIVE_DELAY_MS = 10_000;
/** Suffix that is added to the schema of a ledger. */
const SCHEMA_SUFFIX = '_indexer';
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/** As an option of a pool, the timeout would also apply to the wait for a busy connection. */
class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

export class PostgresDatabase implements Database {
  readonly stopsSlowQueries = true;
  readonly hasOtherWriters = true;
  /** Broken connections are replaced. */
  readonly hasEnded = false;
  readonly schema: string;
  readonly #writer: pg.Pool;
  readonly #readers: pg.Pool;

  private constructor(url: string, schema: string, queryTimeoutMs: number) {
    this.schema = schema;
    const shared = {
      ...{ types: AS_TEXT, application_name: 'daybook indexer', Client: Connection },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS },
    };
    const searchPath = `-c search_path=${schema}`;
    this.#writer = new pg.Pool({
      ...shared,
      connectionString: withOptions(url, searchPath, {
        statement_timeout: String(WRITE_TIMEOUT_MS),
      }),
      query_timeout: WRITE_TIMEOUT_MS + TIMEOUT_SLACK_MS,
      max: 1,
    });
    const readOnly = `${searchPath} -c default_transaction_read_only=on`;
    this.#readers = new pg.Pool({
      ...shared,
      connectionString: withOptions(url, readOnly, { statement_timeout: String(queryTimeoutMs) }),
      query_timeout: queryTimeoutMs + TIMEOUT_SLACK_MS,
      max: MAX_READERS,
    });
    // A connection that breaks while idle is replaced.
    for (const pool of [this.#writer, this.#readers]) pool.on('error', () => undefined);
  }

  /**
   * @param location as that of a ledger; the first of several hosts is used
   * @throws StoreError `store_location_invalid`
   */
  static async open(
    location: string,
    queryTimeoutMs = QUERY_TIMEOUT_MS,
  ): Promise<PostgresDatabase> {
    const { urls, schema } = parsePostgresUrl(location);
    const database = new PostgresDatabase(urls[0]!, indexerSchemaFor(schema), queryTimeoutMs);
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

  async transaction(statements: readonly (Statement | CopiedRows)[]): Promise<void> {
    const client = await this.#writer.connect();
    let failure: Error | undefined;
    try {
      await runTransaction(
        {
          query: async (text, parameters) => (await client.query<Row>(text, [...parameters])).rows,
          execute: async (text) => void (await client.query(text)),
          copy: (rows) => copyIn(client, rows),
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

/** A COPY statement that sends rows. The statements of `pg` cannot. */
class Copy extends pg.Query {
  readonly #lines: string;

  constructor({ table, lines }: CopiedRows, done: (error: Error | undefined) => void) {
    super(`COPY ${table} FROM STDIN`, done);
    this.#lines = lines;
  }

  /** Called by the client. */
  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#lines));
    connection.endCopyFrom();
  }
}

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

function copyIn(client: pg.ClientBase, rows: CopiedRows): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new Copy(rows, (error) => (error ? reject(error) : resolve())));
  });
}

/** The schema of the tables of a ledger. Ledgers that share a database have one each. */
function indexerSchemaFor(ledgerSchema: string): string {
  const schema = ledgerSchema + SCHEMA_SUFFIX;
  if (schema.length <= MAX_SCHEMA_CHARACTERS) return schema;
  const maxCharacters = MAX_SCHEMA_CHARACTERS - SCHEMA_SUFFIX.length;
  throw new StoreError(
    'store_location_invalid',
    `the tables of the indexer need a schema of at most ${maxCharacters} characters`,
  );
}

/** A URL with its settings replaced: `pg` prefers the settings in a URL, and the last value of `options` counts. */
function withOptions(url: string, options: string, settings: Record<string, string>): string {
  const [place, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('options', `${parameters.get('options') ?? ''} ${options}`.trim());
  for (const [name, value] of Object.entries(settings)) parameters.set(name, value);
  // PostgreSQL does not decode a plus as a space.
  return `${place}?${String(parameters).replaceAll('+', '%20')}`;
}
