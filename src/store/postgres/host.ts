/** One of the servers of a ledger, with its state and the connections to it. */
import { HEAD } from '../columns/columns.ts';
import { HEAD_KEY, HEAD_ROW, type Head } from '../columns/head.ts';
import { isStoreError } from '../store-error.ts';
import { type ConnectionTarget, isTrue, PostgresConnection, type Statement } from './connection.ts';
import type { PostgresLocation, SessionAttributes } from './location.ts';
import { PostgresPool } from './pool.ts';
import { statementsOf } from './statements.ts';

const PROBE_TIMEOUT_MS = 1_000;

const ROLE: Statement = {
  name: 'role',
  text: "select pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on'",
};

export interface ServerState {
  readonly sentAtMs: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly head: Head | undefined;
}

export class PostgresHost {
  readonly target: ConnectionTarget;
  readonly pool: PostgresPool;
  /** The result of the newest probe that got a response. */
  state: ServerState | undefined;
  readonly #head: Statement;
  #connection: PostgresConnection | undefined;
  #isClosed = false;
  #probe: { readonly sentAtMs: number; readonly answer: Promise<ServerState> } | undefined;

  constructor(url: string, { schema, displayName }: PostgresLocation, owner: string) {
    this.target = { url, displayName, owner };
    this.pool = new PostgresPool(this.target);
    this.#head = statementsOf(schema, HEAD).get;
  }

  /** When the pending probe was sent; `undefined` if none is pending. */
  get silentSinceMs(): number | undefined {
    return this.#probe?.sentAtMs;
  }

  /** Whether the server has yet to respond to a probe, or to open a connection. */
  get isAwaited(): boolean {
    return this.#probe !== undefined || this.pool.isOpening;
  }

  probe(): Promise<ServerState> {
    if (this.#probe === undefined) {
      const sentAtMs = performance.now();
      const answer = this.#sendProbe(sentAtMs).finally(() => {
        this.#probe = undefined;
      });
      // Callers that share the probe handle its failure. If there are none, this prevents an unhandled rejection.
      answer.catch(() => undefined);
      this.#probe = { sentAtMs, answer };
    }
    return this.#probe.answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Does not wait for a server that hangs.
    this.#connection?.abandon();
    await this.pool.close();
  }

  async #sendProbe(sentAtMs: number): Promise<ServerState> {
    if (this.#connection === undefined || this.#connection.isLost) {
      this.#connection = await PostgresConnection.open(this.target, 'reader', PROBE_TIMEOUT_MS);
      if (this.#isClosed) this.#connection.abandon();
    }
    const key = [Buffer.from(HEAD_KEY.partition), Buffer.from(HEAD_KEY.order)];
    const [role, head] = await Promise.all([
      this.#connection.query(ROLE, []),
      this.#connection.query(this.#head, key).catch(noSuchTable),
    ]);
    const [isStandby, isReadOnly] = role.rows[0]!.map(isTrue);
    this.state = {
      sentAtMs,
      isStandby: isStandby!,
      isReadOnly: isReadOnly!,
      head: headOf(head?.rows[0]?.[0] ?? undefined),
    };
    return this.state;
  }
}

function noSuchTable(error: unknown): undefined {
  if (!isStoreError(error, 'store_not_found')) throw error;
}

/** How well a server fits: 2 means that it does, 1 only if no other server does, 0 that it does not. */
export function preferenceOf(
  attributes: SessionAttributes,
  { isStandby, isReadOnly }: ServerState,
): number {
  switch (attributes) {
    case 'any':
      return 2;
    case 'read-write':
      return isStandby || isReadOnly ? 0 : 2;
    case 'read-only':
      return isStandby || isReadOnly ? 2 : 0;
    case 'primary':
      return isStandby ? 0 : 2;
    case 'standby':
      return isStandby ? 2 : 0;
    case 'prefer-standby':
      return isStandby ? 2 : 1;
  }
}

/** The head in a row's value; `undefined` if there is no row or it is damaged. Reads report the damage. */
export function headOf(bytes: Uint8Array | undefined): Head | undefined {
  try {
    return bytes && HEAD_ROW.decode(HEAD_KEY, bytes);
  } catch {
    return undefined;
  }
}

/** Whether a head lacks something that another one has. */
export function isOlder(head: Head | undefined, other: Head | undefined): boolean {
  if (other === undefined) return false;
  if (head === undefined) return true;
  return head.version < other.version || head.oldestVersion < other.oldestVersion;
}

/** Most probes, and most heads, that are retained. With a probe every 250 ms, they cover half a minute or more. */
const MAX_PROBES = 128;

interface KnownHead {
  readonly head: Head;
  /** When it was first known (`performance.now()`). */
  readonly sinceMs: number;
}

/** How far servers are behind the newest head that this process knows. No clocks are compared. */
export class ReplicaLag {
  /** Oldest first, each newer than the one before. */
  readonly #heads: KnownHead[] = [];
  /** Results of probes of a primary; the newest last. */
  readonly #primaryStates: ServerState[] = [];

  record(state: ServerState): void {
    const { head, isStandby, sentAtMs } = state;
    if (!isStandby) this.#primaryStates.push(state);
    if (this.#primaryStates.length > MAX_PROBES) this.#primaryStates.shift();
    if (head === undefined || !isOlder(this.#heads.at(-1)?.head, head)) return;
    this.#heads.push({ head, sinceMs: sentAtMs });
    if (this.#heads.length > MAX_PROBES) this.#heads.shift();
  }

  of(head: Head | undefined): { readonly behindVersions: bigint; readonly behindMs: number } {
    const newest = this.#heads.at(-1);
    if (newest === undefined || !isOlder(head, newest.head)) {
      return { behindVersions: 0n, behindMs: 0 };
    }
    const missing = this.#heads.find((known) => isOlder(head, known.head))!;
    return {
      behindVersions: newest.head.version - (head?.version ?? -1n),
      behindMs: performance.now() - missing.sinceMs,
    };
  }

  /** How long ago a head was last known to be the newest, in milliseconds; Infinity if that is not known. */
  unconfirmedMs(head: Head | undefined): number {
    // Under load a standby is always a little behind: its head was the newest a moment ago.
    const confirming = this.#primaryStates.findLast((state) => !isOlder(head, state.head));
    return confirming === undefined ? Infinity : performance.now() - confirming.sentAtMs;
  }
}
