/** PGlite, which is PostgreSQL compiled to WebAssembly. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { builtFile } from '../../built.ts';
import {
  type CopiedRows,
  EMBEDDED_SCHEMA,
  type Row,
  type Session,
  type SqlText,
} from './session.ts';

/** OIDs of the types whose values PGlite would convert to JavaScript values, and of their arrays. */
const TYPES = [
  ...[16, 17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 1700, 3802],
  ...[1000, 1005, 1007, 1009, 1015, 1016, 1115, 1231, 3807],
];
const asText = (value: unknown): string => String(value);
const AS_TEXT = Object.fromEntries(TYPES.map((type) => [type, asText]));

/** The files of an empty database, created by the build. Creating them takes four times as long as unpacking them. */
const PREBUILT = builtFile('empty-database.tgz');
/** A file that every database has. */
const MARK = 'PG_VERSION';
/**
 * By default PostgreSQL has 128 MB of pages in memory, and a log of 1 GB, which is also in memory if there is no
 * folder.
 */
const CONFIGURATION = ['shared_buffers=8MB', 'min_wal_size=32MB', 'wal_init_zero=off'];
const IN_FOLDER = ['max_wal_size=128MB'];
/** A database in memory is lost in a crash anyway. */
const IN_MEMORY = ['max_wal_size=32MB', 'full_page_writes=off'];

/** @param folder of its files. If absent, the database is in memory */
export async function openEmbedded(folder: string | undefined): Promise<Session> {
  if (folder !== undefined) mkdirSync(dirname(folder), { recursive: true });
  const isNew = folder === undefined || !existsSync(join(folder, MARK));
  const prebuilt = isNew && existsSync(PREBUILT) ? readFileSync(PREBUILT) : undefined;
  const database = await PGlite.create({
    dataDir: folder ?? 'memory://',
    ...(prebuilt !== undefined && { loadDataDir: new Blob([prebuilt]) }),
    postgresqlconf: [...CONFIGURATION, ...(folder === undefined ? IN_MEMORY : IN_FOLDER)],
    parsers: AS_TEXT,
    serializers: AS_TEXT,
  });
  await database.exec(`SET search_path TO ${EMBEDDED_SCHEMA}`);
  // Pages are in memory: random access costs hardly more than sequential access.
  await database.exec('SET random_page_cost TO 1.1');
  return new EmbeddedSession(database);
}

/** The files of an empty database, for the build. */
export async function emptyDatabase(): Promise<Buffer> {
  const database = await PGlite.create('memory://');
  // The template databases are two thirds of the files.
  await database.exec('UPDATE pg_database SET datistemplate = false, datallowconn = true');
  for (const name of ['template0', 'template1']) await database.exec(`DROP DATABASE ${name}`);
  await database.exec('CHECKPOINT');
  const files = await database.dumpDataDir('gzip');
  await database.close();
  return Buffer.from(await files.arrayBuffer());
}

class EmbeddedSession implements Session {
  readonly #database: PGlite;

  constructor(database: PGlite) {
    this.#database = database;
  }

  async query(text: string, parameters: readonly SqlText[]): Promise<Row[]> {
    return (await this.#database.query<Row>(text, [...parameters])).rows;
  }

  async execute(text: string): Promise<void> {
    await this.#database.exec(text);
  }

  async copy({ table, lines }: CopiedRows): Promise<void> {
    const blob = new Blob([lines]);
    await this.#database.query(`COPY ${table} FROM '/dev/blob'`, [], { blob });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
