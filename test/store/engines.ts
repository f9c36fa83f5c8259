/** The stores for all contract tests, each new and removed after the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type PostgresLocation, parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { makePostgresStore, openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { CITUS_FOLDER, findPostgres } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { MemoryStore } from './memory-store.ts';

/** A folder that is removed when the test has finished. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A SQLite store in a folder of its own, closed when the test has finished. */
export async function temporarySqliteStore(directory = temporaryDirectory()): Promise<Store> {
  const store = await openSqliteStore({ directory });
  onTestFinished(() => store.close());
  return store;
}

/** A PostgreSQL store of its own, closed when the test has finished. */
export async function temporaryPostgresStore(): Promise<Store> {
  const store = await openPostgresStore(await postgresPlace());
  onTestFinished(() => store.close());
  return store;
}

/** A location for a PostgreSQL store; with Citus there is only one, which is distributed. */
async function postgresPlace(): Promise<PostgresLocation> {
  const location = parsePostgresUrl(await newPostgresLocation());
  if (CITUS_FOLDER !== undefined)
    await makePostgresStore(location, async () => undefined, { distribute: true });
  return location;
}

type Place = () => Promise<() => Promise<Store>>;

/** Engines whose stores can be reopened, by name. Each returns a function that opens one store. */
export const DURABLE_ENGINES: readonly (readonly [name: string, newPlace: Place])[] = [
  [
    'SQLite',
    async () => {
      const directory = temporaryDirectory();
      return () => openSqliteStore({ directory });
    },
  ],
  ...(findPostgres() === undefined
    ? []
    : [
        [
          'PostgreSQL',
          async () => {
            const location = await postgresPlace();
            return () => openPostgresStore(location);
          },
        ] as const,
      ]),
];

type Engine = readonly [name: string, open: () => Promise<Store>];

/** Engines by name, without PostgreSQL if it is not installed. */
export const ENGINES: readonly Engine[] = [
  ['memory', async () => new MemoryStore()],
  ['memory, answering later', async () => new MemoryStore({ answers: 'later' })],
  ['SQLite', () => temporarySqliteStore()],
  ...(findPostgres() === undefined
    ? []
    : [['PostgreSQL', () => temporaryPostgresStore()] as const]),
];
