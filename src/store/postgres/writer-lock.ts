/**
 * The lock of the process that writes a ledger. A session holds it, and ends when its connection does. But the kernel
 * keeps the connection of a stopped process alive. So the server ends a writer's session that is silent for too long
 * (`idle_session_timeout`, from PostgreSQL 14 on), and a live process sends pings (writer-session.ts). A process that
 * was silent but is still alive does no harm, because each commit checks the writer's term.
 *
 * A server that replaces another one does not know its locks. The former writer takes the lock there at once, and
 * waiting processes leave it time for that.
 */
import { StoreError } from '../store-error.ts';
import { isTrue, PostgresConnection, WRITER_SILENCE_LIMIT_MS } from './connection.ts';
import type { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';

/** How long a statement of a writer may take, in milliseconds. It may contain 64 MiB. */
export const WRITER_LIMIT_MS = 120_000;
const ATTEMPT_LIMIT_MS = 5_000;
const END_LIMIT_MS = 2_000;

const LOCK_KEY = "hashtextextended('daybook writer of ' || $1, 0)";
/** Sessions that hold the lock; the two halves of its key are in two columns. */
const HOLDERS =
  "from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and l.granted " +
  'and l.database = (select oid from pg_database where datname = current_database()) ' +
  `and l.objsubid = 1 and (l.classid::int8 << 32) | l.objid::int8 = ${LOCK_KEY}`;

export async function tryLock(connection: PostgresConnection, schema: string): Promise<boolean> {
  const { rows } = await connection.run(`select pg_try_advisory_lock(${LOCK_KEY})`, [schema]);
  return isTrue(rows[0]![0]);
}

export async function unlock(connection: PostgresConnection, schema: string): Promise<void> {
  await connection.run(`select pg_advisory_unlock(${LOCK_KEY})`, [schema]);
}

/** Describes the holder of the lock for messages. The server hides a session's address from unprivileged users. */
async function describeHolder(connection: PostgresConnection, schema: string): Promise<string> {
  const place =
    "case when a.backend_start is null then a.usename else coalesce(host(a.client_addr), 'the same machine') end";
  const { rows } = await connection.run(`select l.pid::text, ${place} ${HOLDERS}`, [schema]);
  return rows.length === 0 ? 'another process' : `session ${rows[0]![0]} of ${rows[0]![1]}`;
}

/** Ends a former session of this process, if it still has the lock. */
export async function endFormerSession(
  connection: PostgresConnection,
  schema: string,
  sessionId: string,
): Promise<void> {
  const text = `select pg_terminate_backend(l.pid, ${END_LIMIT_MS}) ${HOLDERS} and l.pid = $2::text::int4`;
  await connection.run(text, [schema, sessionId]);
}

/** The attempts of a process to take the lock, through one connection. */
export class WriterClaim {
  readonly #hosts: PostgresHosts;
  readonly #location: PostgresLocation;
  #connection: PostgresConnection | undefined;
  /** Whether another process had the lock at an earlier attempt. */
  #wasTaken = false;
  /** Until when (`performance.now()`) the lock on a newly connected server is left to that process. */
  #deferUntilMs = 0;

  constructor(hosts: PostgresHosts, location: PostgresLocation) {
    this.#hosts = hosts;
    this.#location = location;
  }

  /** @returns the connection whose session has the lock @throws StoreError `store_locked`, `store_unreachable`, … */
  async attempt(): Promise<PostgresConnection> {
    if (this.#connection?.isLost === true) this.#hosts.distrust();
    if (this.#connection === undefined || this.#connection.isLost) {
      const target = await this.#hosts.find();
      this.#connection = await PostgresConnection.open(target, 'writer', WRITER_LIMIT_MS);
      if (this.#wasTaken) this.#deferUntilMs = performance.now() + WRITER_SILENCE_LIMIT_MS;
    }
    const connection = this.#connection;
    // Gives up on a server that hangs, because it may be replaced meanwhile.
    const timer = setTimeout(() => connection.abandon(), ATTEMPT_LIMIT_MS);
    try {
      await this.#lock(connection);
      return connection;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  async #lock(connection: PostgresConnection): Promise<void> {
    const { schema, displayName } = this.#location;
    const isDeferred = performance.now() < this.#deferUntilMs;
    if (!isDeferred && (await tryLock(connection, schema))) return;
    this.#wasTaken = true;
    const holder = await describeHolder(connection, schema);
    throw new StoreError(
      'store_locked',
      `${displayName} is being written by ${holder}: stop it first, or open it for reading`,
    );
  }
}
