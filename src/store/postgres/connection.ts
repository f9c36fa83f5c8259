/**
 * One connection to a PostgreSQL server. Statements are sent without waiting for the responses to earlier ones, which
 * arrive in order. If a server stops responding, the connection is given up, so every statement ends.
 */
import pg from 'pg';
import pgpass from 'pgpass';
import { StoreError } from '../store-error.ts';
import { asStoreError } from './postgres-error.ts';

/** A parameter of a statement: bytes, or the text of any other value. */
export type Parameter = Buffer | string;

/** A field of a row: the bytes of `bytea`, the text of anything else as bytes; `null` for SQL's null. */
export type Field = Buffer | null;

export interface Answer {
  readonly rows: readonly (readonly Field[])[];
}

const TRUE = 't'.charCodeAt(0);

export function isTrue(field: Field | undefined): boolean {
  return field?.[0] === TRUE;
}

export const BYTEA = 17;
const FIELD_TYPES = {
  // `bytea` arrives as `\\x` and hexadecimal digits (`bytea_output`, which the session sets).
  getTypeParser: (type: number) => (text: string) =>
    type === BYTEA ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text),
} as pg.CustomTypesConfig;

/** A prepared statement; its text is parsed once in a connection. */
export interface Statement {
  /** Identifies the text; at most 63 characters. */
  readonly name: string;
  readonly text: string;
}

export interface ConnectionTarget {
  readonly url: string;
  /** The URL that messages show, without secrets. */
  readonly displayName: string;
  /** Identifies the process in the names of its sessions: 8 hexadecimal digits. */
  readonly owner: string;
}

/** How long a writer's session may be silent before the server ends it, in milliseconds. */
export const WRITER_SILENCE_LIMIT_MS = 4_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_LIMIT_MS = 1_000;
/** How much later than the server a connection gives up a statement, in milliseconds. */
const TIMEOUT_SLACK_MS = 2_000;
/** How often a connection checks whether the server still responds, in milliseconds. */
const WATCH_INTERVAL_MS = 250;
const KEEPALIVE_DELAY_MS = 10_000;

/**
 * Plans must not depend on statistics of tables that grow by a million rows between two analyses, and compiling them
 * takes longer than running them. Settings that a server or a pooler refuses are skipped.
 */
const SESSION_SETTINGS = [
  'bytea_output = hex',
  'jit = off',
  'enable_seqscan = off',
  'enable_sort = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'max_parallel_workers_per_gather = 0',
];

/** Citus cannot make a generic plan of a statement for many shards. */
const GENERIC_PLANS =
  "select set_config('plan_cache_mode', 'force_generic_plan', false) " +
  "where not exists (select from pg_extension where extname = 'citus')";

/** With these settings, a writer that has vanished or is stopped does not lock the ledger for long. */
const WRITER_SETTINGS = [
  `idle_session_timeout = ${WRITER_SILENCE_LIMIT_MS}`,
  'idle_in_transaction_session_timeout = 5000',
  'tcp_keepalives_idle = 2',
  'tcp_keepalives_interval = 1',
  'tcp_keepalives_count = 2',
  'tcp_user_timeout = 4000',
  // A warning may say that no standby has confirmed a commit.
  'client_min_messages = warning',
  // A commit opens as many connections to each worker as it has shards. By default, Citus keeps only one open.
  'citus.max_cached_conns_per_worker = 16',
];

/**
 * The routine in which the server warns that a commit no longer waits for its standbys (`pg_cancel_backend`). It
 * responds as if they had confirmed the commit, so the connection is given up before the response: nobody knows whether
 * the commit will last.
 */
const UNCONFIRMED_ROUTINE = 'SyncRepWaitForLSN';

export class PostgresConnection {
  readonly #client: pg.Client;
  readonly #displayName: string;
  readonly #limitMs: number;
  /** When the last response arrived, or the oldest waiting statement was sent. */
  #progressMs = 0;
  #pending = 0;
  #isCorked = false;
  #isLost = false;
  #sessionId = '';
  readonly #watch: NodeJS.Timeout;

  private constructor(client: pg.Client, displayName: string, limitMs: number) {
    this.#client = client;
    this.#displayName = displayName;
    this.#limitMs = limitMs + TIMEOUT_SLACK_MS;
    client.on('error', () => this.#lose());
    client.on('end', () => this.#lose());
    client.on('notice', ({ routine }) => {
      if (routine === UNCONFIRMED_ROUTINE) this.#lose();
    });
    let watchedMs = performance.now();
    this.#watch = setInterval(() => {
      const nowMs = performance.now();
      // A process that was stopped or busy has had no time to read responses.
      const hasSlept = nowMs - watchedMs > 2 * WATCH_INTERVAL_MS;
      watchedMs = nowMs;
      if (hasSlept || this.#pending === 0 || nowMs - this.#progressMs < this.#limitMs) return;
      this.#lose();
    }, WATCH_INTERVAL_MS).unref();
  }

  /**
   * @param limitMs how long a statement may take, in milliseconds
   * @throws StoreError `store_unreachable`, `store_refused`
   */
  static async open(
    { url, displayName, owner }: ConnectionTarget,
    role: 'reader' | 'writer',
    limitMs: number,
  ): Promise<PostgresConnection> {
    let connection: PostgresConnection | undefined;
    try {
      const client = newClient(url);
      connection = new PostgresConnection(client, displayName, limitMs);
      await client.connect();
      const opened = connection;
      // Replaces any name from the location, because this name identifies the owner of the session.
      const name = `application_name = 'daybook ${role} ${owner}'`;
      const settings = [name, `statement_timeout = ${limitMs}`, ...SESSION_SETTINGS];
      if (role === 'writer') settings.push(...WRITER_SETTINGS);
      const texts = [...settings.map((setting) => `set ${setting}`), GENERIC_PLANS];
      const session = opened.run('select pg_backend_pid()::text');
      await Promise.all(texts.map((text) => opened.run(text).catch(() => undefined)));
      opened.#sessionId = String((await session).rows[0]![0]);
      return opened;
    } catch (cause) {
      if (connection !== undefined) connection.#lose();
      throw asStoreError(cause, `connecting to ${displayName}`, false);
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get pending(): number {
    return this.#pending;
  }

  /** The server's process id for this session. Behind a pooler, it differs from the one in the protocol. */
  get sessionId(): string {
    return this.#sessionId;
  }

  query(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    return this.#send(statement, values);
  }

  /** Runs a statement that is needed once. @throws StoreError */
  run(text: string, values: readonly Parameter[] = []): Promise<Answer> {
    return this.#send({ name: '', text }, values);
  }

  /** Restarts the time limit of the statements that wait for a response. */
  extend(): void {
    this.#progressMs = performance.now();
  }

  /** Ends the connection at once. Statements that wait for a response fail as if the server were gone. */
  abandon(): void {
    this.#lose();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    const { stream } = this.#client.connection;
    if (this.#isLost) {
      stream.destroy();
      return;
    }
    // Otherwise this would wait forever for a server that hangs.
    const cut = setTimeout(() => stream.destroy(), CLOSE_LIMIT_MS);
    await this.#client.end();
    clearTimeout(cut);
    this.#isLost = true;
  }

  #send({ name, text }: Statement, values: readonly Parameter[]): Promise<Answer> {
    if (this.#isLost) return Promise.reject(this.#failure(new Error('the connection is lost')));
    if (this.#pending === 0) this.#progressMs = performance.now();
    this.#pending += 1;
    this.#writeLater();
    const settled = (): void => {
      this.#pending -= 1;
      this.#progressMs = performance.now();
    };
    const query = {
      ...{ text, values: [...values], rowMode: 'array' as const, types: FIELD_TYPES },
      ...(name !== '' && { name }),
    };
    return this.#client.query<Field[]>(query).then(
      (answer) => {
        settled();
        if (this.#isLost) throw this.#failure(new Error('the connection is lost'));
        return answer;
      },
      (error: Error) => {
        settled();
        throw this.#failure(error);
      },
    );
  }

  /** Sends the statements of one turn of the event loop in one write, because a write costs more than a small read. */
  #writeLater(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  #failure(cause: Error): StoreError {
    return asStoreError(cause, `a statement to ${this.#displayName}`, !this.#isLost);
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    clearInterval(this.#watch);
    this.#client.connection.stream.destroy();
  }
}

function newClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // `pg` can read the password file itself, but prints a warning that it will not do so forever.
  const withPassword = client as unknown as { password: string | null | (() => Promise<string>) };
  withPassword.password ??= () => passwordOfFile(client);
  return client;
}

/** The password from PGPASSFILE or `~/.pgpass`. @throws StoreError `store_refused` */
function passwordOfFile(client: pg.Client): Promise<string> {
  const { connectionParameters } = client as unknown as { connectionParameters: object };
  return new Promise((resolve, reject) => {
    pgpass(connectionParameters, (password) => {
      if (password !== undefined) resolve(password);
      else reject(new StoreError('store_refused', 'the server wants a password: set PGPASSWORD'));
    });
  });
}
