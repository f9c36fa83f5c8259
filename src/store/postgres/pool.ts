/**
 * The connections through which one process reads from one server. A few are enough: each takes statements without
 * waiting for responses, and its process on the server can use a whole processor. Long reads have a separate
 * connection, so that quick ones do not wait behind them.
 */
import { StoreError } from '../store-error.ts';
import {
  type Answer,
  type ConnectionTarget,
  type Parameter,
  PostgresConnection,
  type Statement,
} from './connection.ts';

/** Statements that wait on one connection before the next is opened. */
const BUSY_STATEMENTS = 8;
const QUICK_LIMIT_MS = 10_000;
/** How long a page of a scan, or counting rows, may take, in milliseconds. */
export const LONG_LIMIT_MS = 120_000;

/** Whether a statement is quick, or takes long because it reads many or all rows. */
export type Lane = 'quick' | 'long';

const LIMIT_MS: Readonly<Record<Lane, number>> = { quick: QUICK_LIMIT_MS, long: LONG_LIMIT_MS };
const MAX_CONNECTIONS: Readonly<Record<Lane, number>> = { quick: 2, long: 1 };

export class PostgresPool {
  readonly #target: ConnectionTarget;
  #connections: Record<Lane, readonly PostgresConnection[]> = { quick: [], long: [] };
  readonly #opening = new Map<Lane, Promise<PostgresConnection>>();

  constructor(target: ConnectionTarget) {
    this.#target = target;
  }

  /** Opens the first connection if none is open. @throws StoreError `store_unreachable`, `store_refused` */
  async open(): Promise<void> {
    if (this.#liveConnections('quick').length === 0) await this.#open('quick');
  }

  get isOpening(): boolean {
    return this.#opening.size > 0;
  }

  /**
   * Sends a read. Quick reads need an open connection, because the server must be checked before it is used again.
   * @throws StoreError `store_unreachable` and others
   */
  query(lane: Lane, statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    const open = this.#liveConnections(lane);
    const [first] = open;
    if (first === undefined) {
      if (lane === 'quick') return Promise.reject(this.#lost());
      return this.#open(lane).then((opened) => opened.query(statement, values));
    }
    const idlest = open.reduce((low, one) => (one.pending < low.pending ? one : low), first);
    if (idlest.pending >= BUSY_STATEMENTS && open.length < MAX_CONNECTIONS[lane]) {
      this.#open(lane).catch(() => undefined);
    }
    return idlest.query(statement, values);
  }

  abandon(): void {
    for (const connection of this.#all) connection.abandon();
    this.#connections = { quick: [], long: [] };
  }

  async close(): Promise<void> {
    for (const opening of this.#opening.values()) {
      opening.then(
        (late) => late.abandon(),
        () => undefined,
      );
    }
    await Promise.all(this.#all.map((connection) => connection.close()));
  }

  get #all(): readonly PostgresConnection[] {
    return [...this.#connections.quick, ...this.#connections.long];
  }

  #liveConnections(lane: Lane): readonly PostgresConnection[] {
    return this.#connections[lane].filter(({ isLost }) => !isLost);
  }

  #open(lane: Lane): Promise<PostgresConnection> {
    const known = this.#opening.get(lane);
    if (known !== undefined) return known;
    const opening = PostgresConnection.open(this.#target, 'reader', LIMIT_MS[lane])
      .then((connection) => {
        this.#connections[lane] = [...this.#liveConnections(lane), connection];
        return connection;
      })
      .finally(() => this.#opening.delete(lane));
    this.#opening.set(lane, opening);
    return opening;
  }

  #lost(): StoreError {
    return new StoreError(
      'store_unreachable',
      `the connection to ${this.#target.displayName} is lost`,
    );
  }
}
