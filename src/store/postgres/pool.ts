/**
 * The connections through which one process reads. Few are enough: each takes statements without waiting for answers,
 * and a server's process at its end is one processor's work. What takes long has a connection of its own, so that
 * nothing quick waits behind it.
 */
import { isStoreError, StoreError } from '../store-error.ts';
import { type ConnectionTarget, PostgresConnection, type Statement } from './connection.ts';
import type { Answer, Parameter } from './rows-query.ts';

/** Connections for quick reads. */
const QUICK_CONNECTIONS = 2;
/** Statements that wait on one connection before the next is opened. */
const BUSY_STATEMENTS = 8;
/** Statements of a process that may wait for answers; more are refused. */
export const MAX_WAITING_STATEMENTS = 2_000;
/** How long a quick read may take, in milliseconds. */
const QUICK_LIMIT_MS = 10_000;
/** How long a page of a scan, or counting rows, may take, in milliseconds. */
const LONG_LIMIT_MS = 120_000;

interface Slot {
  readonly limitMs: number;
  connection: PostgresConnection | undefined;
  opening: Promise<PostgresConnection> | undefined;
}

export class PostgresPool {
  readonly #target: ConnectionTarget;
  readonly #quick: readonly Slot[];
  readonly #long: readonly Slot[];
  #isClosed = false;

  constructor(target: ConnectionTarget) {
    this.#target = target;
    this.#quick = Array.from({ length: QUICK_CONNECTIONS }, () => emptySlot(QUICK_LIMIT_MS));
    this.#long = [emptySlot(LONG_LIMIT_MS)];
  }

  /**
   * Reads. When the connection is lost before the answer, the statement is sent once more on another.
   * @param values unchanged until the answer
   * @throws StoreError `store_busy`, `store_unreachable` and others
   */
  query(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    return this.#query(this.#quick, statement, values);
  }

  /** Reads what takes long: many rows, or all of them. @throws StoreError as `query` */
  queryLong(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    return this.#query(this.#long, statement, values);
  }

  /** Quick reads that have not been answered. */
  get waiting(): number {
    return this.#quick.reduce((sum, { connection }) => sum + (connection?.pending ?? 0), 0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const slots = [...this.#quick, ...this.#long];
    await Promise.all(
      slots.map(async (slot) => {
        await slot.opening?.catch(() => undefined);
        await slot.connection?.close();
      }),
    );
  }

  async #query(
    slots: readonly Slot[],
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<Answer> {
    try {
      return await this.#attempt(slots, statement, values);
    } catch (error) {
      if (this.#isClosed || !isStoreError(error, 'store_unreachable')) throw error;
      return await this.#attempt(slots, statement, values);
    }
  }

  #attempt(
    slots: readonly Slot[],
    statement: Statement,
    values: readonly Parameter[],
  ): Promise<Answer> {
    const { connection, free } = choose(slots);
    if (connection === undefined) {
      return this.#open(free!).then((opened) => opened.query(statement, values));
    }
    if (connection.pending >= MAX_WAITING_STATEMENTS) return Promise.reject(this.#busy());
    if (connection.pending >= BUSY_STATEMENTS && free !== undefined) {
      this.#open(free).catch(() => undefined);
    }
    return connection.query(statement, values);
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

  #busy(): StoreError {
    const message = `${this.#target.shown} is overloaded: more than ${MAX_WAITING_STATEMENTS} reads wait`;
    return new StoreError('store_busy', message);
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
