/** The PostgreSQL with the tables of the indexer: an embedded one in this process, or a server. */
import { IS_BUILT } from '../../built.ts';
import { isPostgresUrl } from '../../store/postgres/location.ts';
import { RequestThread } from '../../thread.ts';
import {
  answerRequest,
  asError,
  type EmbeddedAnswer,
  type EmbeddedRequest,
} from './embedded-requests.ts';
import {
  asTexts,
  type CopiedRows,
  type Database,
  EMBEDDED_SCHEMA,
  type Row,
  type Session,
  type Statement,
} from './session.ts';

/** @param location a folder, `postgres://…`, or absent: in memory */
export async function openDatabase(location: string | undefined): Promise<Database> {
  if (location !== undefined && isPostgresUrl(location)) {
    const { PostgresDatabase } = await import('./postgres-database.ts');
    return await PostgresDatabase.open(location);
  }
  if (IS_BUILT) return await ThreadDatabase.open(location);
  const { openEmbedded } = await import('./embedded-session.ts');
  return new EmbeddedDatabase(await openEmbedded(location));
}

/** A database that executes requests one after another. */
abstract class SerialDatabase implements Database {
  /** PGlite has no timeouts. */
  readonly stopsSlowQueries = false;
  readonly hasOtherWriters = false;
  readonly schema = EMBEDDED_SCHEMA;

  get hasEnded(): boolean {
    return false;
  }

  protected abstract send(request: EmbeddedRequest): Promise<EmbeddedAnswer>;

  async #rows(request: EmbeddedRequest): Promise<Row[]> {
    const answer = await this.send(request);
    if ('failure' in answer) throw asError(answer.failure);
    return answer.rows;
  }

  async query(text: string, parameters: readonly unknown[] = []): Promise<{ rows: Row[] }> {
    return { rows: await this.#rows({ kind: 'query', text, parameters: asTexts(parameters) }) };
  }

  async transaction(statements: readonly (Statement | CopiedRows)[]): Promise<void> {
    await this.#rows({ kind: 'transaction', statements });
  }

  async close(): Promise<void> {
    await this.#rows({ kind: 'close' });
  }
}

/** PGlite in this thread. */
class EmbeddedDatabase extends SerialDatabase {
  readonly #session: Session;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    super();
    this.#session = session;
  }

  protected override send(request: EmbeddedRequest): Promise<EmbeddedAnswer> {
    const answer = this.#queue.then(() => answerRequest(this.#session, request));
    this.#queue = answer;
    return answer;
  }
}

/** PGlite in a thread of its own. Starting it takes a second or more, which would block everything else. */
class ThreadDatabase extends SerialDatabase {
  readonly #thread: RequestThread<EmbeddedRequest, EmbeddedAnswer>;

  private constructor(location: string | undefined) {
    super();
    this.#thread = new RequestThread('embedded-thread', location);
  }

  static async open(location: string | undefined): Promise<ThreadDatabase> {
    const database = new ThreadDatabase(location);
    await database.query('SELECT 1');
    return database;
  }

  override get hasEnded(): boolean {
    return this.#thread.hasEnded;
  }

  protected override send(request: EmbeddedRequest): Promise<EmbeddedAnswer> {
    return this.#thread.send(request);
  }

  override async close(): Promise<void> {
    if (!this.#thread.hasEnded) await super.close();
    await this.#thread.close();
  }
}
