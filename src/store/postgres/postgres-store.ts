/** The store in PostgreSQL. Any number of processes can read it, one can write it (writer-session.ts). */
import type { Batch, BatchOperation } from '../batch.ts';
import { type Column, HEAD } from '../columns/columns.ts';
import { standBy } from '../standby.ts';
import type {
  MakeOptions,
  ReadServer,
  Store,
  StoreReader,
  StoreSnapshot,
  WritingOptions,
} from '../store.ts';
import { StoreError } from '../store-error.ts';
import { CommitWatch } from './commit-watch.ts';
import { type Answer, type Parameter, PostgresConnection, type Statement } from './connection.ts';
import { isDistributed } from './distribution.ts';
import { headOf } from './host.ts';
import { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';
import { LONG_LIMIT_MS } from './pool.ts';
import { hasEndedIdle } from './postgres-error.ts';
import { boundArrays, PostgresReads } from './postgres-reads.ts';
import {
  checkSchema,
  dropSchema,
  hasSchema,
  makeSchema,
  newSchemaName,
  publishSchema,
  removeUnusedSchema,
  resumableSchema,
  unfinishedSchemas,
} from './schema.ts';
import { encodeByteArrays } from './statements.ts';
import { WriterSession } from './writer-session.ts';

/** Most bytes of keys and values in one statement; a single row may have more. */
const MAX_STATEMENT_BYTES = 16 * 1024 * 1024;
const MAX_UNANSWERED_BYTES = 2 * MAX_STATEMENT_BYTES;
const LOOK_LIMIT_MS = 10_000;

const BEGIN: Statement = { name: 'begin', text: 'begin' };

/** Whether the location has a store. @throws StoreError `store_unreachable`, `store_refused` */
export async function hasPostgresStore(location: PostgresLocation): Promise<boolean> {
  return await look(location, (connection) => hasSchema(connection, location.schema));
}

async function look(
  location: PostgresLocation,
  check: (connection: PostgresConnection) => Promise<boolean>,
): Promise<boolean> {
  const hosts = new PostgresHosts(location);
  try {
    return await withConnection(hosts, check);
  } finally {
    await hosts.close();
  }
}

export async function openPostgresReader(location: PostgresLocation): Promise<StoreReader> {
  return await openReads(location);
}

/**
 * Opens the current state of a store: scans and statistics are read in one transaction.
 * @throws StoreError `store_not_found` and others
 */
export async function openPostgresSnapshot(location: PostgresLocation): Promise<StoreSnapshot> {
  return await openReads(location, async (hosts) => {
    const connection = await PostgresConnection.open(await hosts.find(), 'reader', LONG_LIMIT_MS);
    try {
      // Between two pages, the caller may be busy writing for a long time.
      await connection.run('set idle_in_transaction_session_timeout = 0');
      await connection.run('begin isolation level repeatable read read only');
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  });
}

async function openReads(
  location: PostgresLocation,
  beginSnapshot?: (hosts: PostgresHosts) => Promise<PostgresConnection>,
): Promise<PostgresReads> {
  const { schema, displayName } = location;
  const hosts = new PostgresHosts(location);
  try {
    const onCitus = await withConnection(hosts, async (connection) => {
      if (!(await checkSchema(connection, schema, displayName))) {
        throw new StoreError(
          'store_not_found',
          `there is no ledger in ${displayName}: make one first`,
        );
      }
      return await isDistributed(connection, schema);
    });
    return new PostgresReads(hosts, schema, displayName, onCitus, await beginSnapshot?.(hosts));
  } catch (error) {
    await hosts.close();
    throw error;
  }
}

/**
 * Opens a store for writing, and creates it if it does not exist.
 * @throws StoreError `store_locked` when another process writes it, `store_format_mismatch`, `store_foreign` and others
 */
export async function openPostgresStore(
  location: PostgresLocation,
  options: WritingOptions = {},
): Promise<Store> {
  return await standBy(() => openForWriting(location, options), options.standby);
}

/**
 * Runs `work` with a new store, which is empty unless resumed. The store appears at the location only when `work` is
 * done: a process that ends earlier leaves none. It replaces a store without a head.
 * @throws StoreError `store_locked` when another process writes or creates one there, `store_exists`, `store_foreign`,
 *   `store_not_distributable`; errors of `work`
 */
export async function makePostgresStore<T>(
  location: PostgresLocation,
  work: (store: Store) => Promise<T>,
  { resumes = false, distribute = false }: MakeOptions = {},
): Promise<T> {
  const { displayName, schema: target } = location;
  const session = await WriterSession.acquire(location);
  const { store, schema } = await releasedOnFailure(session, async () => {
    const { connection } = session;
    await removeUnusedSchema(connection, target, displayName);
    const unfinished = await unfinishedSchemas(connection, target);
    const resumed = resumes
      ? await resumableSchema(connection, unfinished, displayName)
      : undefined;
    for (const other of unfinished) if (other !== resumed) await dropSchema(connection, other);
    const schema = resumed ?? newSchemaName(target);
    await session.moveTo(schema);
    const make = () => makeSchema(connection, schema, displayName, { target, distribute });
    const store = await openWith(session, { ...location, schema }, resumed ? undefined : make);
    return { store, schema };
  });
  try {
    const result = await work(store);
    await publishSchema(await session.reconnected(), schema, target, displayName);
    return result;
  } catch (error) {
    // If this fails, the next process that creates a ledger there drops the schema.
    if (!resumes) {
      await session
        .reconnected()
        .then((connection) => dropSchema(connection, schema))
        .catch(() => undefined);
    }
    throw error;
  } finally {
    await store.close();
  }
}

/** Whether a store there was started but not finished. @throws StoreError `store_unreachable`, `store_refused` */
export async function isPostgresUnfinished(location: PostgresLocation): Promise<boolean> {
  return await look(location, async (connection) => {
    return (await unfinishedSchemas(connection, location.schema)).length > 0;
  });
}

export async function removePostgresUnfinished(location: PostgresLocation): Promise<void> {
  const session = await WriterSession.acquire(location);
  try {
    const { connection } = session;
    for (const schema of await unfinishedSchemas(connection, location.schema)) {
      await dropSchema(connection, schema);
    }
  } finally {
    await session.release();
  }
}

async function openForWriting(location: PostgresLocation, options: WritingOptions): Promise<Store> {
  const { schema, displayName } = location;
  const session = await WriterSession.acquire(location, options.standby);
  return await releasedOnFailure(session, async () => {
    const { connection } = session;
    const isThere = await checkSchema(connection, schema, displayName);
    const make = () => makeSchema(connection, schema, displayName);
    return await openWith(session, location, isThere ? undefined : make, options);
  });
}

/** Opens a store whose lock is held. @param make creates its schema; absent if the schema exists */
async function openWith(
  session: WriterSession,
  { schema, displayName }: PostgresLocation,
  make: (() => Promise<void>) | undefined,
  { onCommitsWait }: WritingOptions = {},
): Promise<Store> {
  const watch = new CommitWatch(session.hosts, onCommitsWait);
  await watch.watch(session.connection, async () => {
    await make?.();
    await session.beginTerm();
  });
  return new PostgresStore(session, schema, displayName, watch);
}

interface Change {
  readonly statement: Statement;
  readonly values: readonly Buffer[];
}

class PostgresStore extends PostgresReads implements Store {
  readonly #session: WriterSession;
  readonly #watch: CommitWatch;
  /** Resolves when all commits begun so far have settled; never rejects. */
  #lastCommit: Promise<unknown> = Promise.resolve();

  constructor(session: WriterSession, schema: string, displayName: string, watch: CommitWatch) {
    super(session.hosts, schema, displayName, session.isDistributed);
    this.#session = session;
    this.#watch = watch;
  }

  override get server(): ReadServer {
    return { ...super.server, standbyWaitMs: this.#watch.standbyWaitMs };
  }

  async commit(batch: Batch): Promise<void> {
    this.assertOpen();
    if (batch.size === 0) return;
    const done = this.#lastCommit.then(() => this.#commit(batch));
    this.#lastCommit = done.catch(() => undefined);
    await done;
  }

  protected override async release(): Promise<void> {
    await this.#lastCommit;
    await this.#session.release();
  }

  async #commit(batch: Batch): Promise<void> {
    const attempt = async (): Promise<void> => {
      const connection = await this.#session.reconnected();
      await this.#watch.watch(connection, () => this.#commitOn(connection, batch));
    };
    try {
      await attempt();
    } catch (error) {
      // The server or this process was stopped for a while, so the idle session was ended.
      if (!hasEndedIdle(error)) throw error;
      await attempt();
    }
  }

  async #commitOn(connection: PostgresConnection, batch: Batch): Promise<void> {
    try {
      const sent: Promise<Answer>[] = [];
      const send = (statement: Statement, values: readonly Parameter[]): void => {
        const answer = connection.query(statement, values);
        // It is awaited later. Until then this prevents an unhandled rejection.
        answer.catch(() => undefined);
        sent.push(answer);
      };
      send(BEGIN, []);
      send(this.#session.fence, [this.#session.term]);
      let unansweredBytes = 0;
      for (const { statement, values } of this.#statementsOf(batch)) {
        send(statement, values);
        for (const { length } of values) unansweredBytes += length;
        if (unansweredBytes < MAX_UNANSWERED_BYTES) continue;
        await allAnswers(sent);
        unansweredBytes = 0;
      }
      const [, fence] = await allAnswers(sent);
      if (fence!.rows.length === 0) throw this.#session.lostError();
    } catch (error) {
      throw await this.#session.rolledBack(connection, error);
    }
    try {
      await this.#session.commit(connection);
    } finally {
      // Forgets the head even after a failure, because the commit may have been stored.
      this.forgetHead();
    }
    const isHead = ({ column }: BatchOperation): boolean => column === HEAD;
    const head = batch.published.findLast(isHead) ?? batch.rows.findLast(isHead);
    if (head !== undefined) this.#session.committed(headOf(head.value));
  }

  *#statementsOf({ ranges, rows, published }: Batch): Iterable<Change> {
    for (const [column, deleted] of byColumn(ranges)) {
      const partitions = encodeByteArrays(deleted.map(({ partition }) => partition));
      const { removeRanges: statement } = this.statements(column);
      yield { statement, values: [partitions, ...boundArrays(deleted)] };
    }
    for (const [column, changes] of byColumn(rows)) {
      const { put, remove } = this.statements(column);
      yield* changesOf(put, remove, lastChanges(changes));
    }
    for (const [column, changes] of byColumn(published)) {
      const { publish, remove } = this.statements(column);
      yield* changesOf(publish, remove, lastChanges(changes));
    }
  }
}

function* changesOf(
  put: Statement,
  remove: Statement,
  operations: Iterable<BatchOperation>,
): Iterable<Change> {
  const puts: BatchOperation[] = [];
  const removals: BatchOperation[] = [];
  for (const change of operations) (change.value === undefined ? removals : puts).push(change);
  for (const part of parts(removals)) yield { statement: remove, values: keyArrays(part) };
  for (const part of parts(puts)) {
    const values = encodeByteArrays(part.map(({ value }) => value!));
    yield { statement: put, values: [...keyArrays(part), values] };
  }
}

/** @throws StoreError of the first statement that failed: later ones fail because of it */
async function allAnswers(sent: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const answer of sent) answers.push(await answer);
  return answers;
}

function byColumn<T extends { readonly column: Column }>(changes: readonly T[]): Map<Column, T[]> {
  const found = new Map<Column, T[]>();
  for (const change of changes) {
    const ofColumn = found.get(change.column);
    if (ofColumn === undefined) found.set(change.column, [change]);
    else ofColumn.push(change);
  }
  return found;
}

/** The last change of each row: one statement cannot change a row twice. */
function lastChanges(operations: readonly BatchOperation[]): Iterable<BatchOperation> {
  const changes = new Map<string, BatchOperation>();
  for (const operation of operations) {
    changes.set(latin1(operation.partition) + latin1(operation.order), operation);
  }
  return changes.values();
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function* parts(operations: readonly BatchOperation[]): Iterable<readonly BatchOperation[]> {
  let part: BatchOperation[] = [];
  let byteLength = 0;
  for (const operation of operations) {
    const { partition, order, value } = operation;
    const bytes = partition.length + order.length + (value?.length ?? 0);
    if (part.length > 0 && byteLength + bytes > MAX_STATEMENT_BYTES) {
      yield part;
      part = [];
      byteLength = 0;
    }
    part.push(operation);
    byteLength += bytes;
  }
  if (part.length > 0) yield part;
}

function keyArrays(operations: readonly BatchOperation[]): [partitions: Buffer, orders: Buffer] {
  return [
    encodeByteArrays(operations.map(({ partition }) => partition)),
    encodeByteArrays(operations.map(({ order }) => order)),
  ];
}

async function withConnection<T>(
  hosts: PostgresHosts,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const connection = await PostgresConnection.open(await hosts.find(), 'reader', LOOK_LIMIT_MS);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function releasedOnFailure<T>(session: WriterSession, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await session.release();
    throw error;
  }
}
