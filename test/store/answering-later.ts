/** A store that behaves like a distributed engine: every answer comes in a later turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import type { Batch } from '../../src/store/batch.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';

/** Returns the same rows later; counts the reads and the round trips. */
export class AnsweringLater implements StoreReader {
  /** Reads so far, by method and column, such as `get balances`. */
  readonly reads: string[] = [];
  /** Reads that begin in the same turn of the event loop count once, because none of them waits for another. */
  roundTrips = 0;
  readonly #store: StoreReader;
  #begunInThisTurn = false;
  #waiting = 0;

  constructor(store: StoreReader) {
    this.#store = store;
  }

  get: StoreReader['get'] = (column, ...rest) =>
    this.later(`get ${column.name}`, () => this.#store.get(column, ...rest));

  getMany: StoreReader['getMany'] = (column, ...rest) =>
    this.later(`getMany ${column.name}`, () => this.#store.getMany(column, ...rest));

  seekLast: StoreReader['seekLast'] = (column, ...rest) =>
    this.later(`seekLast ${column.name}`, () => this.#store.seekLast(column, ...rest));

  seekLastMany: StoreReader['seekLastMany'] = (column, ...rest) =>
    this.later(`seekLastMany ${column.name}`, () => this.#store.seekLastMany(column, ...rest));

  range: StoreReader['range'] = (column, ...rest) =>
    this.later(`range ${column.name}`, () => this.#store.range(column, ...rest));

  rangeMany: StoreReader['rangeMany'] = (column, ...rest) =>
    this.later(`rangeMany ${column.name}`, () => this.#store.rangeMany(column, ...rest));

  scan: StoreReader['scan'] = (column, ...rest) =>
    this.later(`scan ${column.name}`, () => this.#store.scan(column, ...rest));

  statistics: StoreReader['statistics'] = () =>
    this.later('statistics', () => this.#store.statistics());

  waitingReads(): number {
    return this.#waiting;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Callers may reuse a key's buffer once the call returns, so the read itself happens now. */
  protected async later<T>(what: string, read: () => MaybePromise<T>): Promise<T> {
    this.reads.push(what);
    if (!this.#begunInThisTurn) {
      this.#begunInThisTurn = true;
      this.roundTrips += 1;
      // Runs before any answer of this turn arrives.
      setImmediate(() => {
        this.#begunInThisTurn = false;
      });
    }
    const answer = read();
    this.#waiting += 1;
    await nextTurn();
    this.#waiting -= 1;
    return answer;
  }
}

/** A writable store whose commits are delayed too. */
export class CommittingLater extends AnsweringLater implements Store {
  readonly #store: Store;

  constructor(store: Store) {
    super(store);
    this.#store = store;
  }

  commit(batch: Batch): Promise<void> {
    return this.later('commit', () => this.#store.commit(batch));
  }
}
