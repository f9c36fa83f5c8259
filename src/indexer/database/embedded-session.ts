/** PGlite, which is PostgreSQL compiled to WebAssembly. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { INDEXER_SCHEMA } from '../catalogue/index.ts';
import type { Row, Session, SqlText } from './session.ts';

/** Numbers of the types whose values PGlite would make JavaScript of, and of their arrays. */
const TYPES = [
  ...[16, 17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 1700, 3802],
  ...[1000, 1005, 1007, 1009, 1015, 1016, 1115, 1231, 3807],
];
const asText = (value: unknown): string => String(value);
const AS_TEXT = Object.fromEntries(TYPES.map((type) => [type, asText]));

/** @param folder of its files; absent: in memory */
export async function openEmbedded(folder: string | undefined): Promise<Session> {
  if (folder !== undefined) mkdirSync(dirname(folder), { recursive: true });
  const database = await PGlite.create({
    dataDir: folder ?? 'memory://',
    parsers: AS_TEXT,
    serializers: AS_TEXT,
  });
  await database.exec(`SET search_path TO ${INDEXER_SCHEMA}`);
  return new EmbeddedSession(database);
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

  close(): Promise<void> {
    return this.#database.close();
  }
}
