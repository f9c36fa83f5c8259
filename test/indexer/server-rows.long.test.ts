/** The rows of a recorded chain are the same in a server's PostgreSQL as in the embedded one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Indexer } from '../../src/indexer/indexer.ts';
import { openTables } from '../../src/indexer/service.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import { findPostgres, NO_POSTGRES } from '../postgres/cluster.ts';
import { sharedPostgres } from '../postgres/shared.ts';
import { storeReferenceChain } from '../reference/reference-chain.ts';
import { allRows } from './tables.ts';

async function emptyDatabase(): Promise<string> {
  const server = await sharedPostgres();
  const name = `rows${Date.now()}`;
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return server.replace(/\/postgres$/, `/${name}`);
}

async function indexed<T>(
  store: StoreReader,
  location: string | undefined,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { database, close } = await openTables(location);
  try {
    await new Indexer({ ledger: openLedger(store), database }).reachHead();
    return await use(database);
  } finally {
    await close();
  }
}

describe.skipIf(findPostgres() === undefined)(`${NO_POSTGRES}tables in a server`, () => {
  it('have the rows of embedded ones', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-indexer-'));
    await storeReferenceChain(folder);
    const store = await openTestedReader({ directory: folder });
    try {
      const url = await emptyDatabase();
      const there = await indexed(store, url, allRows);
      expect(there.get('fungible_asset_activities')!.length).toBeGreaterThan(1_000);
      expect(there).toEqual(await indexed(store, undefined, allRows));
      // It is there at the next start.
      expect(await indexed(store, url, allRows)).toEqual(there);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
});
