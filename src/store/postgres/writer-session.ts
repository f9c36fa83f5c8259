/**
 * The right to write a ledger. Its session holds a lock on the name of the ledger's schema, which ends with the
 * session, and every commit checks that the term in the writer's row is still its own. So a writer that was cut off,
 * and replaced by another, never commits again.
 */

import { HEAD } from '../columns/columns.ts';
import { HEAD_KEY, type Head } from '../columns/head.ts';
import { StoreError } from '../store-error.ts';
import { PostgresConnection, type Statement } from './connection.ts';
import { headOf, isOlder } from './host.ts';
import { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';
import { quotedName, statementsOf, WRITER_TABLE } from './statements.ts';

/** How long a statement of a commit may take, in milliseconds: it contains up to 64 MiB. */
const WRITER_LIMIT_MS = 120_000;
/** The lock of a writer, as its server knows it. */
const LOCK_KEY = "hashtextextended('daybook writer of ' || $1, 0)";

export class WriterSession {
  /** The servers, of which one can be written. */
  readonly hosts: PostgresHosts;
  readonly #shown: string;
  readonly #schema: string;
  /** Reads the writer's row if the term in it is the parameter; no other writer can begin until the commit. */
  readonly fence: Statement;
  #connection: PostgresConnection;
  #term: string | undefined;
  /** The head that is there, as far as this writer knows: of its last commit that was acknowledged. */
  #head: Head | undefined;

  private constructor(
    hosts: PostgresHosts,
    { schema, shown }: PostgresLocation,
    connection: PostgresConnection,
  ) {
    this.hosts = hosts;
    this.#schema = schema;
    this.#shown = shown;
    this.#connection = connection;
    const text = `select 1 from ${this.#table} where term = $1::text::int8 for share`;
    this.fence = { name: 'fence', text };
  }

  /** Takes the lock of a schema, which need not exist. @throws StoreError `store_locked`, `store_unreachable`, … */
  static async acquire(location: PostgresLocation): Promise<WriterSession> {
    const hosts = new PostgresHosts(location, 'read-write');
    let connection: PostgresConnection | undefined;
    try {
      connection = await PostgresConnection.open(await hosts.find(), 'writer', WRITER_LIMIT_MS);
      if (!(await tryLock(connection, location.schema)))
        throw await lockedError(connection, location);
      return new WriterSession(hosts, location, connection);
    } catch (error) {
      await connection?.close();
      await hosts.close();
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
    this.#head = await this.#readHead(this.#connection);
  }

  /** Notes the head of a commit that was acknowledged. */
  committed(head: Head | undefined): void {
    this.#head = head;
    this.hosts.committed(head);
  }

  /**
   * The connection, opened again if it was lost.
   * @throws StoreError `store_lock_lost` when another process has begun to write; `store_commits_lost`;
   *   `store_unreachable`, also once when a commit was stored and not acknowledged: the head has to be read again
   */
  async reconnected(): Promise<PostgresConnection> {
    if (!this.#connection.isLost) return this.#connection;
    const { sessionId: lostSession } = this.#connection;
    // The server may be another one by now, which is looked for.
    this.hosts.distrust();
    const target = await this.hosts.find();
    const connection = await PostgresConnection.open(target, 'writer', WRITER_LIMIT_MS);
    try {
      // The server may not have noticed yet that the old session is over.
      await endSession(connection, this.#schema, lostSession);
      const { rows } = await connection.run(`select term::text from ${this.#table}`);
      const isOwn = String(rows[0]?.[0]) === this.#term;
      if (!isOwn || !(await tryLock(connection, this.#schema))) throw this.lostError();
      this.#connection = connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
    await this.#compareHead(connection);
    return connection;
  }

  async #compareHead(connection: PostgresConnection): Promise<void> {
    const found = await this.#readHead(connection);
    if (isOlder(found, this.hosts.seen)) throw this.hosts.lostCommitsError();
    const isNewer = isOlder(this.#head, found);
    this.committed(found);
    if (!isNewer) return;
    throw new StoreError(
      'store_unreachable',
      `a commit to ${this.#shown} was stored as the connection was lost: it goes on after that`,
    );
  }

  async #readHead(connection: PostgresConnection): Promise<Head | undefined> {
    const { get } = statementsOf(this.#schema, HEAD);
    const key = [Buffer.from(HEAD_KEY.partition), Buffer.from(HEAD_KEY.order)];
    const { rows } = await connection.query(get, key);
    return headOf(rows[0]?.[0] ?? undefined);
  }

  lostError(): StoreError {
    return new StoreError(
      'store_lock_lost',
      `another process has taken over writing ${this.#shown}: ` +
        'nothing was stored, stop this process',
    );
  }

  async release(): Promise<void> {
    // Closing alone lets the server end the session a moment later.
    const unlock = `select pg_advisory_unlock(${LOCK_KEY})`;
    await this.#connection.run(unlock, [this.#schema]).catch(() => undefined);
    await this.#connection.close();
    await this.hosts.close();
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
  { shown, schema }: PostgresLocation,
): Promise<StoreError> {
  // Of other roles' sessions only those who may see them are told the address.
  const place =
    "case when a.backend_start is null then a.usename else coalesce(host(a.client_addr), 'the same machine') end";
  const text = `select l.pid::text, ${place} ${HOLDERS}`;
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
