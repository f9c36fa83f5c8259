/**
 * The store and the ledger of API tests. Other projects run all of these tests over a store that answers later, and
 * over PostgreSQL (vitest.config.ts).
 */
import { createHash } from 'node:crypto';
import { openLedger } from '../../src/ledger/open.ts';
import { openStoreReader, openStoreWriter } from '../../src/node/open-store.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { sharedPostgres } from '../postgres/shared.ts';
import { AnsweringLater } from '../store/answering-later.ts';

const ENGINE = process.env['TESTED_STORE'] ?? 'sqlite';

/**
 * The location of the ledger that a test creates in a folder: the folder itself, or a PostgreSQL schema in its place.
 */
export async function testedLocation(folder: string): Promise<string> {
  if (ENGINE !== 'postgres') return folder;
  const schema = `t${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`;
  return `${await sharedPostgres()}?schema=${schema}`;
}

export async function openTestedStore({ directory }: { directory: string }): Promise<Store> {
  return await openStoreWriter(await testedLocation(directory));
}

export async function openTestedReader({ directory }: { directory: string }): Promise<StoreReader> {
  return await openStoreReader(await testedLocation(directory));
}

/** Opens a ledger for reading; the caller must close the store. */
export function openTestedLedger(
  store: StoreReader,
  ...rest: Parameters<typeof openLedger> extends [unknown, ...infer R] ? R : never
): ReturnType<typeof openLedger> {
  return openLedger(ENGINE === 'later' ? new AnsweringLater(store) : store, ...rest);
}
