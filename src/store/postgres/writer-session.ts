/**
 * The right to write a ledger. Its session holds a lock on the name of the ledger's schema, which ends with the
 * session, and every commit checks that the term in the writer's row is still its own. So a writer that was cut off,
 * and replaced by another, never commits again.
 */
import { StoreError } from '../store-error.ts';
import { type ConnectionTarget, PostgresConnection, type Statement } from './connection.ts';
import { quotedName, WRITER_TABLE } from './statements.ts';

/** How long a statement of a commit may take, in milliseconds: it contains up to 64 MiB. */
const WRITER_LIMIT_MS = 120_000;
/** The lock of a writer, as its server knows it. */
const LOCK_KEY = "hashtextextended('daybook writer of ' || $1, 0)";

export class WriterSession {
  readonly #target: ConnectionTarget;
  readonly #schema: string;
  /** Reads the writer's row if the term in it is the parameter; no other writer can begin until the commit. */
  readonly fence: Statement;
  #connection: PostgresConnection;
  #term: string | undefined;

  private constructor(target: ConnectionTarget, schema: string, connection: PostgresConnection) {
    this.#target = target;
    this.#schema = schema;
    this.#connection = connection;
    const text = `select 1 from ${this.#table} where term = $1::text::int8 for share`;
    this.fence = { name: 'fence', text };
  }

  /** Takes the lock of a schema, which need not exist. @throws StoreError `store_locked`, `store_unreachable`, … */
  static async acquire(target: ConnectionTarget, schema: string): Promise<WriterSession> {
    const connection = await PostgresConnection.open(target, 'writer', WRITER_LIMIT_MS);
    try {
      if (!(await tryLock(connection, schema))) throw await lockedError(connection, target, schema);
      return new WriterSession(target, schema, connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** While the lock is held and nothing is being committed. */
  get connection(): PostgresConnection {
    return this.#connection;
  }

  /** The parameter of `fence`. */
  get term(): string {
    if (this.#term === undefined) throw new RangeError('the term has not begun');
    return this.#term;
  }

  /** From now on no earlier writer commits. */
  async beginTerm(): Promise<void> {
    const text = `update ${this.#table} set term = term + 1 returning term::text`;
    const { rows } = await this.#connection.run(text);
    this.#term = String(rows[0]![0]);
  }

  /**
   * The connection, opened again if it was lost.
   * @throws StoreError `store_lock_lost` when another process has begun to write, `store_unreachable`
   */
  async reconnected(): Promise<PostgresConnection> {
    if (!this.#connection.isLost) return this.#connection;
    const { sessionId: lostSession } = this.#connection;
    const connection = await PostgresConnection.open(this.#target, 'writer', WRITER_LIMIT_MS);
    try {
      // The server may not have noticed yet that the old session is over.
      await endSession(connection, this.#schema, lostSession);
      const { rows } = await connection.run(`select term::text from ${this.#table}`);
      const isOwn = String(rows[0]?.[0]) === this.#term;
      if (!isOwn || !(await tryLock(connection, this.#schema))) throw this.lostError();
      this.#connection = connection;
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  lostError(): StoreError {
    return new StoreError(
      'store_lock_lost',
      `another process has taken over writing ${this.#target.shown}: ` +
        'nothing was stored, stop this process',
    );
  }

  async release(): Promise<void> {
    // Closing alone lets the server end the session a moment later.
    const unlock = `select pg_advisory_unlock(${LOCK_KEY})`;
    await this.#connection.run(unlock, [this.#schema]).catch(() => undefined);
    await this.#connection.close();
  }

  get #table(): string {
    return quotedName(this.#schema, WRITER_TABLE);
  }
}

async function tryLock(connection: PostgresConnection, schema: string): Promise<boolean> {
  const { rows } = await connection.run(`select pg_try_advisory_lock(${LOCK_KEY})`, [schema]);
  return rows[0]![0]![0] === 1;
}

/** Sessions that hold the lock; the two halves of its key are in two columns. */
const HOLDERS =
  "from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and l.granted " +
  'and l.database = (select oid from pg_database where datname = current_database()) ' +
  `and l.objsubid = 1 and (l.classid::int8 << 32) | l.objid::int8 = ${LOCK_KEY}`;

async function lockedError(
  connection: PostgresConnection,
  { shown }: ConnectionTarget,
  schema: string,
): Promise<StoreError> {
  const text = `select l.pid::text, coalesce(a.client_addr::text, 'the same machine') ${HOLDERS}`;
  const { rows } = await connection.run(text, [schema]);
  const [pid, address] = rows[0] ?? [];
  const who = pid ? `session ${pid} of ${address}` : 'another process';
  const message = `${shown} is being written by ${who}: stop it first, or open it for reading`;
  return new StoreError('store_locked', message);
}

/** Ends a session of this process that still holds the lock. */
async function endSession(
  connection: PostgresConnection,
  schema: string,
  sessionId: number,
): Promise<void> {
  const text = `select pg_terminate_backend(l.pid, 2000) ${HOLDERS} and l.pid = $2::text::int4`;
  await connection.run(text, [schema, String(sessionId)]);
}
