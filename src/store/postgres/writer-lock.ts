/**
 * The lock of the process that writes a ledger, and who has it. A session holds it, and ends when its connection does;
 * but the kernel of a machine answers for a process that is stopped, so its session stays. Whoever waits for the lock
 * therefore looks for signs of life. All sessions of a process have its name in theirs, and it looks at its servers
 * four times a second (hosts.ts): as long as it lives, the server notes a change of one of them. How long there was
 * none is measured by the clock of the one who waits, and no clocks are compared. Ending the session of a process that
 * lives after all does no harm: each commit checks the writer's term (writer-session.ts).
 *
 * A server that takes the place of another one knows nothing of its locks. The process that wrote takes the lock there
 * with its next commit; until then whoever waits leaves it to that process, as long as it lives.
 */
import type { Standby } from '../standby.ts';
import { isStoreError, StoreError } from '../store-error.ts';
import { isTrue, PostgresConnection } from './connection.ts';
import type { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';

/** How long a statement of a writer may take, in milliseconds: it contains up to 64 MiB. */
export const WRITER_LIMIT_MS = 120_000;
/** How long a process that writes may show no sign of life, in milliseconds. */
const SILENCE_LIMIT_MS = 3_000;
/** Looks further apart than this, in milliseconds, say nothing: the server hung, or this process was stopped. */
const MAX_LOOK_GAP_MS = 1_500;
const ATTEMPT_LIMIT_MS = 5_000;
const END_LIMIT_MS = 2_000;

const LOCK_KEY = "hashtextextended('daybook writer of ' || $1, 0)";
/** The process of a session, by the name of the session. */
const OWNER = "substring(a.application_name from '^daybook writer ([0-9a-f]{8})$')";
/** Sessions that hold the lock; the two halves of its key are in two columns. */
const HOLDERS =
  "from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and l.granted " +
  'and l.database = (select oid from pg_database where datname = current_database()) ' +
  `and l.objsubid = 1 and (l.classid::int8 << 32) | l.objid::int8 = ${LOCK_KEY}`;

interface LockHolder {
  readonly sessionId: string;
  /** The address of its process, or its role for those who may not see that. */
  readonly place: string;
  /** As in ConnectionTarget; `undefined` for a process of another program. */
  readonly owner: string | undefined;
  /** Changes as long as the process lives, empty where it has no session; `undefined` for those who may not see it. */
  readonly sign: string | undefined;
}

const signOf = (owner: string): string =>
  "(select case when count(*) = 0 then '' else max(s.state_change)::text end from pg_stat_activity s " +
  `where s.application_name like 'daybook % ' || ${owner})`;

export async function tryLock(connection: PostgresConnection, schema: string): Promise<boolean> {
  const { rows } = await connection.run(`select pg_try_advisory_lock(${LOCK_KEY})`, [schema]);
  return isTrue(rows[0]![0]);
}

export async function unlock(connection: PostgresConnection, schema: string): Promise<void> {
  await connection.run(`select pg_advisory_unlock(${LOCK_KEY})`, [schema]);
}

export async function holderOf(
  connection: PostgresConnection,
  schema: string,
): Promise<LockHolder | undefined> {
  const place =
    "case when a.backend_start is null then a.usename else coalesce(host(a.client_addr), 'the same machine') end";
  const text = `select l.pid::text, ${place}, ${OWNER}, ${signOf(OWNER)} ${HOLDERS}`;
  const { rows } = await connection.run(text, [schema]);
  if (rows.length === 0) return undefined;
  const [sessionId, found, owner, changed] = rows[0]!.map((field) => field?.toString());
  return { sessionId: sessionId!, place: found!, owner, sign: changed };
}

/** Ends a session that still has the lock. @throws StoreError `store_refused` without the right to */
export async function endHolder(
  connection: PostgresConnection,
  schema: string,
  { sessionId }: LockHolder,
): Promise<void> {
  const text = `select pg_terminate_backend(l.pid, ${END_LIMIT_MS}) ${HOLDERS} and l.pid = $2::text::int4`;
  await connection.run(text, [schema, sessionId]);
}

/** The attempts of a process to take the lock, through one connection, and its observations of the holder. */
export class WriterClaim {
  readonly #hosts: PostgresHosts;
  readonly #location: PostgresLocation;
  readonly #standby: Standby | undefined;
  #connection: PostgresConnection | undefined;
  /** The process that had the lock at the last look, and the connection of that look. */
  #writer: { readonly owner: string | undefined; readonly on: PostgresConnection } | undefined;
  #sign: string | undefined;
  /** When the sign had just changed, and when it was looked at last, as `performance.now()` gives it. */
  #changedMs = 0;
  #lookedMs = 0;

  constructor(hosts: PostgresHosts, location: PostgresLocation, standby: Standby | undefined) {
    this.#hosts = hosts;
    this.#location = location;
    this.#standby = standby;
  }

  /** @returns the connection whose session has the lock @throws StoreError `store_locked`, `store_unreachable`, … */
  async attempt(): Promise<PostgresConnection> {
    if (this.#connection?.isLost === true) this.#hosts.distrust();
    if (this.#connection === undefined || this.#connection.isLost) {
      const target = await this.#hosts.find();
      this.#connection = await PostgresConnection.open(target, 'writer', WRITER_LIMIT_MS);
    }
    const connection = this.#connection;
    // A server that hangs may be replaced meanwhile.
    const cut = setTimeout(() => connection.abandon(), ATTEMPT_LIMIT_MS);
    try {
      await this.#lock(connection);
      return connection;
    } finally {
      clearTimeout(cut);
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  async #lock(connection: PostgresConnection): Promise<void> {
    const { schema, shown } = this.#location;
    const isLeft = await this.#isLeftToWriter(connection);
    if (!isLeft && (await tryLock(connection, schema))) return;
    const holder = await holderOf(connection, schema);
    if (holder !== undefined) this.#writer = { owner: holder.owner, on: connection };
    const who = holder ? `session ${holder.sessionId} of ${holder.place}` : 'another process';
    const locked = new StoreError(
      'store_locked',
      `${shown} is being written by ${who}: stop it first, or open it for reading`,
    );
    if (holder === undefined || this.#standby === undefined || !this.#isSilent(holder.sign))
      throw locked;
    try {
      await endHolder(connection, schema, holder);
    } catch (error) {
      if (isStoreError(error, 'store_refused')) throw locked;
      throw error;
    }
    if (!(await tryLock(connection, schema))) throw locked;
    this.#standby.onSilent(locked);
  }

  /** Whether the process that wrote through another connection lives, and may take the lock here. */
  async #isLeftToWriter(connection: PostgresConnection): Promise<boolean> {
    const { owner, on } = this.#writer ?? {};
    if (owner === undefined || on === connection) return false;
    const { rows } = await connection.run(`select ${signOf('$1::text')}`, [owner]);
    return !this.#isSilent(rows[0]![0]?.toString());
  }

  #isSilent(sign: string | undefined): boolean {
    const nowMs = performance.now();
    const hasMissed = nowMs - this.#lookedMs > MAX_LOOK_GAP_MS;
    if (sign === undefined || sign !== this.#sign || hasMissed) this.#changedMs = nowMs;
    this.#sign = sign;
    this.#lookedMs = nowMs;
    return nowMs - this.#changedMs >= SILENCE_LIMIT_MS;
  }
}
