/**
 * Looks at the session of a slow commit through another connection. The session may wait forever for a standby, which
 * nobody would notice. It may also be gone, or may never have received the statements, if the network lost bytes.
 */
import type { PostgresConnection, Statement } from './connection.ts';
import type { PostgresHosts } from './hosts.ts';

const CHECK_INTERVAL_MS = 1_000;
/** How long a commit may take before its session is checked, in milliseconds. */
const CHECK_DELAY_MS = 2_000;
/** After this many checks of a session that waits for a statement, the statements sent to it count as lost. */
const MAX_IDLE_CHECKS = 4;

const SESSION: Statement = {
  name: 'session',
  text:
    'select state, wait_event from pg_stat_activity ' +
    'where pid = $1::text::int4 and application_name = $2',
};

export class CommitWatch {
  readonly #hosts: PostgresHosts;
  readonly #onCommitsWait: ((isWaiting: boolean) => void) | undefined;
  #waitingSinceMs: number | undefined;

  constructor(hosts: PostgresHosts, onCommitsWait: ((isWaiting: boolean) => void) | undefined) {
    this.#hosts = hosts;
    this.#onCommitsWait = onCommitsWait;
  }

  /** How long commits have waited for a standby, in milliseconds; 0 when they do not wait. */
  get standbyWaitMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : performance.now() - this.#waitingSinceMs;
  }

  /** Runs a commit. Ends its connection if the server no longer has the session or did not receive the statements. */
  async watch(connection: PostgresConnection, commit: () => Promise<unknown>): Promise<void> {
    const beganMs = performance.now();
    let idleChecks = 0;
    let isChecking = false;
    let isOver = false;
    const check = async (): Promise<void> => {
      const session = [connection.sessionId, `daybook writer ${this.#hosts.owner}`];
      const { rows } = await this.#hosts.query('quick', SESSION, session);
      // The response is no longer valid after the commit.
      if (isOver) return;
      const [state, waitEvent] = rows[0]?.map(String) ?? [];
      idleChecks = state === 'idle' ? idleChecks + 1 : 0;
      if (rows.length === 0 || idleChecks >= MAX_IDLE_CHECKS) connection.abandon();
      if (waitEvent !== 'SyncRep') return;
      connection.extend();
      this.#setWaiting(this.#waitingSinceMs ?? beganMs);
    };
    const timer = setInterval(() => {
      if (isChecking || connection.isLost || performance.now() - beganMs < CHECK_DELAY_MS) return;
      isChecking = true;
      check()
        // If the server cannot be reached, the commit itself fails.
        .catch(() => undefined)
        .finally(() => {
          isChecking = false;
        });
    }, CHECK_INTERVAL_MS).unref();
    try {
      await commit();
      this.#setWaiting(undefined);
    } finally {
      isOver = true;
      clearInterval(timer);
    }
  }

  #setWaiting(sinceMs: number | undefined): void {
    const wasWaiting = this.#waitingSinceMs !== undefined;
    const isWaiting = sinceMs !== undefined;
    this.#waitingSinceMs = sinceMs;
    if (isWaiting !== wasWaiting) this.#onCommitsWait?.(isWaiting);
  }
}
