/** The rows of a recorded chain are the same in a PostgreSQL server as in the embedded one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Indexer } from '../../src/indexer/indexer.ts';
import { openTables } from '../../src/indexer/service.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
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
      // The tables still exist at the next start.
      expect(await indexed(store, url, allRows)).toEqual(there);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('are of several processes, whose ledgers have other heads', async () => {
    const net = await startLocalnet({ accounts: 1, mining: { kind: 'manual' } });
    const url = await emptyDatabase();
    const opened = await Promise.all([1, 2].map(() => openTables(url)));
    try {
      const viewNow = async () => (await net.branch()).ledger.view();
      const early = await viewNow();
      for (const receiver of ['0xa11', '0xb0b', '0xca1']) {
        await net.fund(receiver, 1_000n);
        await net.mine();
      }
      const [ahead, behind] = [viewNow, async () => early].map(
        (view, at) => new Indexer({ ledger: { view }, database: opened[at]!.database }),
      );
      // Both try to create the tables.
      await Promise.all([ahead!.reachHead(), behind!.reachHead()]);
      await ahead!.reachHead();
      const rows = await allRows(opened[0]!.database);
      expect(await ahead!.lag()).toBe(0n);
      await behind!.reachHead();
      expect(await behind!.lag()).toBeLessThanOrEqual(0n);
      expect(await allRows(opened[1]!.database)).toEqual(rows);
      // The one that was behind resumes once its ledger has caught up.
      await net.fund('0xd0d', 1_000n);
      await net.mine();
      const later = new Indexer({ ledger: { view: viewNow }, database: opened[1]!.database });
      await later.reachHead();
      const all = await allRows(opened[0]!.database);
      expect(all.get('account_transactions')!.join()).toContain('d0d');
      await later.removeTables();
      await later.reachHead();
      expect(await allRows(opened[0]!.database)).toEqual(all);
    } finally {
      await Promise.all(opened.map(({ close }) => close()));
      await net.stop();
    }
  });
});
