/**
 * The right to write a ledger. The writer's session holds a lock on the name of the ledger's schema, which ends with
 * the session. Every commit checks that the term in the writer's row is still its own. So a writer that was cut off and
 * replaced by another never commits again.
 */
import { randomInt } from 'node:crypto';
import { HEAD } from '../columns/columns.ts';
import { HEAD_KEY, type Head } from '../columns/head.ts';
import { type Standby, standBy } from '../standby.ts';
import { isStoreError, StoreError } from '../store-error.ts';
import { PostgresConnection, type Statement } from './connection.ts';
import { isDistributed, publishCommit, publishStaged } from './distribution.ts';
import { headOf, isOlder } from './host.ts';
import { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';
import { quotedName, statementsOf, WRITER_TABLE } from './statements.ts';
import { endFormerSession, tryLock, unlock, WRITER_LIMIT_MS, WriterClaim } from './writer-lock.ts';

/** How often this process sends a ping, in milliseconds. The server ends silent sessions. */
const PING_INTERVAL_MS = 1_000;
const RELEASE_LIMIT_MS = 2_000;
const MAX_TERM_STEP = 2 ** 20;

const COMMIT: Statement = { name: 'commit', text: 'commit' };
const ROLLBACK: Statement = { name: 'rollback', text: 'rollback' };

export class WriterSession {
  readonly #location: PostgresLocation;
  readonly #displayName: string;
  #hosts: PostgresHosts;
  /** The schema of the location, or one that will replace it. The lock is always that of the location. */
  #schema: string;
  #connection: PostgresConnection;
  #isDistributed = false;
  #term: string | undefined;
  #head: Head | undefined;
  #reconnecting: Promise<void> | undefined;
  /** The connection that will replace a lost one. */
  #opening: PostgresConnection | undefined;
  /** Whether the primary may have been replaced since it was found. */
  #isDoubtful = true;
  /** Why this process may never write again. */
  #end: StoreError | undefined;
  #isReleased = false;
  /** Whether a commit was stored but its response was lost, and this has not been reported yet. */
  #isAhead = false;
  readonly #ping: NodeJS.Timeout;

  private constructor(
    hosts: PostgresHosts,
    location: PostgresLocation,
    connection: PostgresConnection,
  ) {
    this.#hosts = hosts;
    this.#location = location;
    this.#schema = location.schema;
    this.#displayName = location.displayName;
    this.#connection = connection;
    this.#ping = setInterval(() => this.#keepAlive(), PING_INTERVAL_MS).unref();
  }

  /**
   * Takes the lock of a schema, which need not exist.
   * @param standby if given, waits as long as another process has the lock
   * @throws StoreError `store_locked`, `store_unreachable`, …
   */
  static async acquire(location: PostgresLocation, standby?: Standby): Promise<WriterSession> {
    const hosts = new PostgresHosts(location, 'read-write');
    const claim = new WriterClaim(hosts, location);
    try {
      const connection = await standBy(() => claim.attempt(), standby);
      return new WriterSession(hosts, location, connection);
    } catch (error) {
      await claim.close();
      await hosts.close();
      throw error;
    }
  }

  get hosts(): PostgresHosts {
    return this.#hosts;
  }

  /** Reads the writer's row if its term equals the parameter. No other writer can begin until the commit. */
  get fence(): Statement {
    const text = `select 1 from ${this.#table} where term = $1::text::int8 for share`;
    return { name: 'fence', text };
  }

  /** To be used while the lock is held and nothing is being committed. */
  get connection(): PostgresConnection {
    return this.#connection;
  }

  get term(): string {
    if (this.#term === undefined) throw new RangeError('the term has not begun');
    return this.#term;
  }

  /** Whether the ledger is on Citus; known when the term has begun. */
  get isDistributed(): boolean {
    return this.#isDistributed;
  }

  /** Switches to a different schema before the term begins. Servers are then judged by the head in that schema. */
  async moveTo(schema: string): Promise<void> {
    const { owner } = this.#hosts;
    await this.#hosts.close();
    this.#hosts = new PostgresHosts({ ...this.#location, schema }, 'read-write', owner);
    this.#schema = schema;
  }

  /** Begins the term. From now on no earlier writer can commit. */
  async beginTerm(): Promise<void> {
    const text = `update ${this.#table} set term = term + $1::text::int8 returning term::text`;
    // A standby may become the primary without the newest term. A random step keeps the writer there from reusing it.
    const step = String(randomInt(1, MAX_TERM_STEP + 1));
    const { rows } = await this.#connection.run(text, [step]);
    this.#term = String(rows[0]![0]);
    this.#isDistributed = await isDistributed(this.#connection, this.#schema);
    await this.#publishStaged(this.#connection);
    this.#head = await this.#readHead(this.#connection);
  }

  /** Commits the transaction after all its rows were stored. @throws StoreError; it may still have been committed */
  async commit(connection: PostgresConnection): Promise<void> {
    const committed = connection.query(COMMIT, []);
    if (!this.#isDistributed) {
      await committed;
      return;
    }
    const published = publishCommit(connection, this.#schema, this.term);
    try {
      const [, isPublished] = await Promise.all([committed, published]);
      if (!isPublished) await this.#publishStaged(connection);
    } catch (error) {
      // The next commit reconnects, makes what was stored visible, and reports it.
      connection.abandon();
      throw error;
    }
  }

  /** Rolls the transaction back. @returns the error to throw for a failed statement */
  async rolledBack(connection: PostgresConnection, failure: unknown): Promise<unknown> {
    await connection.query(ROLLBACK, []).catch(() => undefined);
    if (!this.#isDistributed) return failure;
    // Workers may still have parts of the transaction, which would block the next one.
    connection.abandon();
    // When rows are written, Citus does not report a worker's failure with a specific code.
    if (!isStoreError(failure, 'store_io')) return failure;
    return new StoreError('store_unreachable', failure.message, { cause: failure });
  }

  /** Makes commits on Citus visible. @throws StoreError `store_unreachable` */
  async #publishStaged(connection: PostgresConnection): Promise<void> {
    if (this.#isDistributed) await publishStaged(connection, this.#schema, this.term);
  }

  committed(head: Head | undefined): void {
    this.#head = head;
    this.hosts.committed(head);
  }

  /**
   * The connection, opened again if it was lost.
   * @throws StoreError `store_lock_lost` when another process has begun to write; `store_commits_lost`;
   *   `store_unreachable`, also once after a commit was stored but not acknowledged: the head must be read again
   */
  async reconnected(): Promise<PostgresConnection> {
    if (this.#end !== undefined) throw this.#end;
    if (this.#connection.isLost) {
      this.#isDoubtful = true;
      await this.#reconnect();
    }
    if (!this.#isAhead) return this.#connection;
    this.#isAhead = false;
    throw new StoreError(
      'store_unreachable',
      `a commit to ${this.#displayName} was stored as the connection was lost: it goes on after that`,
    );
  }

  /** Pings the server. If the server was replaced, takes the lock on the new one before a waiting process does. */
  #keepAlive(): void {
    const ping = this.#connection.isLost
      ? this.#term !== undefined && this.#reconnect()
      : this.#connection.pending === 0 && this.#connection.run('select 1');
    // The next commit reports the same failure.
    if (ping !== false) void ping.catch(() => undefined);
  }

  #reconnect(): Promise<void> {
    this.#reconnecting ??= this.#connect()
      .catch((error: unknown) => {
        if (isStoreError(error, 'store_lock_lost')) {
          this.#end = error;
          clearInterval(this.#ping);
        }
        throw error;
      })
      .finally(() => {
        this.#reconnecting = undefined;
        this.#opening = undefined;
      });
    return this.#reconnecting;
  }

  async #connect(): Promise<void> {
    // Searching for another server ends this process's reads, so do it only if there may be one.
    if (this.#isDoubtful) this.hosts.distrust();
    this.#isDoubtful = true;
    const target = await this.hosts.find().catch((error: unknown) => {
      // A primary never catches up with another server.
      throw isStoreError(error, 'store_behind') ? this.hosts.lostCommitsError() : error;
    });
    const connection = await PostgresConnection.open(target, 'writer', WRITER_LIMIT_MS);
    this.#isDoubtful = false;
    this.#opening = connection;
    if (this.#isReleased) connection.abandon();
    let found: Head | undefined;
    try {
      await this.#reacquireLock(connection);
      await this.#assertTerm(connection);
      await this.#publishStaged(connection);
      found = await this.#readHead(connection);
      if (isOlder(found, this.hosts.newestSeen)) throw this.hosts.lostCommitsError();
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#isDoubtful = true;
    if (isOlder(this.#head, found)) this.#isAhead = true;
    this.committed(found);
  }

  /** @throws StoreError `store_lock_lost`; `store_unreachable` while a former session of this process has the lock */
  async #reacquireLock(connection: PostgresConnection): Promise<void> {
    const { schema } = this.#location;
    if (await tryLock(connection, schema)) return;
    // The server may not have noticed yet that the former session is over.
    await endFormerSession(connection, schema, this.#connection.sessionId);
    if (await tryLock(connection, schema)) return;
    await this.#assertTerm(connection);
    throw new StoreError(
      'store_unreachable',
      `another session with ${this.#displayName} has the lock of its writer, and has not begun to write: it is waited for`,
    );
  }

  /** @throws StoreError `store_lock_lost` when another writer has begun, or removed a ledger in the making */
  async #assertTerm(connection: PostgresConnection): Promise<void> {
    try {
      const { rows } = await connection.run(`select term::text from ${this.#table}`);
      if (String(rows[0]?.[0]) === this.#term) return;
    } catch (error) {
      if (!isStoreError(error, 'store_not_found')) throw error;
    }
    throw this.lostError();
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
      `another process has taken over writing ${this.#displayName}: ` +
        'nothing was stored, stop this process',
    );
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearInterval(this.#ping);
    // Otherwise this would wait for a server that hangs as long as for a commit.
    const cut = setTimeout(() => {
      this.#opening?.abandon();
      this.#connection.abandon();
    }, RELEASE_LIMIT_MS);
    await this.#reconnecting?.catch(() => undefined);
    const connection = this.#connection;
    // Unlocks explicitly, because the server ends a closed session only a moment later.
    await unlock(connection, this.#location.schema).catch(() => undefined);
    clearTimeout(cut);
    await connection.close();
    await this.hosts.close();
  }

  get #table(): string {
    return quotedName(this.#schema, WRITER_TABLE);
  }
}
