/**
 * The connections through which one process reads from one server. Few are enough: each takes statements without
 * waiting for answers, and a server's process at its end is one processor's work. What takes long has a connection of
 * its own, so that nothing quick waits behind it.
 */
import { StoreError } from '../store-error.ts';
import {
  type Answer,
  type ConnectionTarget,
  type Parameter,
  PostgresConnection,
  type Statement,
} from './connection.ts';

/** Connections for quick reads. */
const QUICK_CONNECTIONS = 2;
/** Statements that wait on one connection before the next is opened. */
const BUSY_STATEMENTS = 8;
/** How long a quick read may take, in milliseconds. */
const QUICK_LIMIT_MS = 10_000;
/** How long a page of a scan, or counting rows, may take, in milliseconds. */
export const LONG_LIMIT_MS = 120_000;

/** Whether a statement is quick, or takes long: many rows, or all of them. */
export type Pace = 'quick' | 'long';

interface Slot {
  readonly limitMs: number;
  connection: PostgresConnection | undefined;
  opening: Promise<PostgresConnection> | undefined;
}

export class PostgresPool {
  readonly #target: ConnectionTarget;
  readonly #slots: Readonly<Record<Pace, readonly Slot[]>>;

  constructor(target: ConnectionTarget) {
    this.#target = target;
    this.#slots = {
      quick: Array.from({ length: QUICK_CONNECTIONS }, () => emptySlot(QUICK_LIMIT_MS)),
      long: [emptySlot(LONG_LIMIT_MS)],
    };
  }

  /** Opens the first connection if there is none. @throws StoreError `store_unreachable`, `store_refused` */
  async open(): Promise<void> {
    const { connection, free } = choose(this.#slots.quick);
    if (connection === undefined) await this.#open(free!);
  }

  get isOpening(): boolean {
    return this.#all.some(({ opening }) => opening !== undefined);
  }

  /**
   * Reads. Quick reads need a connection that is open: the server is looked at before it is used again.
   * @throws StoreError `store_unreachable` and others
   */
  query(pace: Pace, statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    const { connection, free } = choose(this.#slots[pace]);
    if (connection === undefined) {
      if (pace === 'quick') return Promise.reject(this.#lost());
      return this.#open(free!).then((opened) => opened.query(statement, values));
    }
    if (connection.pending >= BUSY_STATEMENTS && free !== undefined) {
      this.#open(free).catch(() => undefined);
    }
    return connection.query(statement, values);
  }

  /** Ends all connections at once: what waits for answers fails. */
  abandon(): void {
    for (const slot of this.#all) {
      slot.connection?.abandon();
      slot.connection = undefined;
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#all.map(async (slot) => {
        slot.opening?.then(
          (late) => late.abandon(),
          () => undefined,
        );
        await slot.connection?.close();
      }),
    );
  }

  get #all(): readonly Slot[] {
    return [...this.#slots.quick, ...this.#slots.long];
  }

  #open(slot: Slot): Promise<PostgresConnection> {
    slot.opening ??= PostgresConnection.open(this.#target, 'reader', slot.limitMs)
      .then((connection) => {
        slot.connection = connection;
        return connection;
      })
      .finally(() => {
        slot.opening = undefined;
      });
    return slot.opening;
  }

  #lost(): StoreError {
    return new StoreError('store_unreachable', `the connection to ${this.#target.shown} is lost`);
  }
}

function emptySlot(limitMs: number): Slot {
  return { limitMs, connection: undefined, opening: undefined };
}

/** The connection with the fewest waiting statements, and a slot without one. */
function choose(slots: readonly Slot[]) {
  let connection: PostgresConnection | undefined;
  let free: Slot | undefined;
  for (const slot of slots) {
    const candidate = slot.connection;
    if (candidate === undefined || candidate.isLost) free ??= slot;
    else if (connection === undefined || candidate.pending < connection.pending) {
      connection = candidate;
    }
  }
  return { connection, free };
}
