/** `daybook index` with kills, `daybook serve --indexer`, and the built thread that has the tables. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTables } from '../../src/indexer/service.ts';
import { allRows } from '../indexer/tables.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { bundled } from './bundled.ts';
import { killLeftNodes, runCommand, ServedNode, startCommand, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const fileOf = await bundled([
  ...['indexer/service.ts', 'indexer/database/embedded-thread.ts', 'ledger/open.ts'],
  ...[
    'store/sqlite/sqlite-store.ts',
    'node/indexer/indexing.ts',
    'node/indexer/indexing-thread.ts',
  ],
]);
const { indexInThread } = (await import(
  fileOf('indexing')
)) as typeof import('../../src/node/indexer/indexing.ts');
const { IndexerService } = (await import(
  fileOf('service')
)) as typeof import('../../src/indexer/service.ts');
const { openLedger } = (await import(fileOf('open'))) as typeof import('../../src/ledger/open.ts');
const { openSqliteReader } = (await import(
  fileOf('sqlite-store')
)) as typeof import('../../src/store/sqlite/sqlite-store.ts');

const KILLS = roundsOf('INDEXER_KILLS', 2, 5);
const MAX_LIFE_MS = 4_000;

afterAll(killLeftNodes);

async function rowsIn(location: string): Promise<Map<string, string[]>> {
  const { database, close } = await openTables(location);
  try {
    return await allRows(database);
  } finally {
    await close();
  }
}

describe('the indexer', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'ledger');
  beforeAll(() => makeSample(data, 1_500));

  it('goes on where it was killed, and has the rows that are made at once', async () => {
    const random = new Random(testSeed());
    const killed = join(folder, 'killed');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startCommand(['index', '--data', data, '--indexer', killed]);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await Promise.race([ended, delay(random.below(MAX_LIFE_MS))]);
      child.kill('SIGKILL');
      await ended;
    }
    for (const location of [killed, join(folder, 'at-once')]) {
      const { code, stderr } = await runCommand(['index', '--data', data, '--indexer', location]);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    }
    const rows = await rowsIn(killed);
    expect(rows.get('user_transactions')!.length).toBeGreaterThan(500);
    expect(rows).toEqual(await rowsIn(join(folder, 'at-once')));
  });

  it('fails at once and ends where its thread cannot open the ledger', async () => {
    const failures: unknown[] = [];
    const indexed = { data: join(folder, 'no-ledger'), location: undefined };
    const indexing = await indexInThread(indexed, (error) => failures.push(error));
    const asked = () => indexing.answer(Buffer.from('{"query":"{__typename}"}'));
    await expect(asked()).rejects.toThrow();
    await expect(asked()).rejects.toThrow();
    await indexing.close();
    expect(failures.length).toBeGreaterThan(0);
  });

  it('is served with a ledger', async () => {
    const node = await ServedNode.start(data, [
      ...['--indexer', join(folder, 'served'), '--indexer-listen', '127.0.0.1:0'],
    ]);
    const { indexer_url: url, ledger_version: version } = node.ready as {
      indexer_url?: string;
      ledger_version: string;
    };
    const query =
      '{ processor_status(limit: 1) { last_success_version } ledger_infos { chain_id } }';
    const answer = await fetch(url!, { method: 'POST', body: JSON.stringify({ query }) });
    expect(await answer.json()).toEqual({
      data: {
        processor_status: [{ last_success_version: Number(version) }],
        ledger_infos: [{ chain_id: node.ready.chain_id }],
      },
    });
    const wrong = '{ledger_infos(where: {chain_id: {_eq: "99999999999999999999"}}) {chain_id}}';
    const refusal = await fetch(url!, { method: 'POST', body: JSON.stringify({ query: wrong }) });
    expect(refusal.status).toBe(200);
    expect(await refusal.json()).toMatchObject({
      errors: [{ extensions: { code: 'data-exception' } }],
    });
    await node.stop();
  });

  it('counts the versions of this ledger where the tables are of another one', async () => {
    const [other, location] = [join(folder, 'other'), join(folder, 'of-other')];
    await makeSample(other, 300);
    await runCommand(['index', '--data', data, '--indexer', location]);
    const { stdout } = await runCommand([
      'index',
      '--data',
      other,
      '--indexer',
      location,
      '--json',
    ]);
    const report = JSON.parse(stdout) as { ledger_version: string; indexed_versions: number };
    expect(report.indexed_versions).toBe(Number(report.ledger_version) + 1);
  });

  it('opens its tables when they can be, and again when their thread has ended', async () => {
    const store = openSqliteReader({ directory: data });
    const location = join(folder, 'later');
    writeFileSync(location, 'a file');
    const failures: unknown[] = [];
    const service = new IndexerService({
      ...{ ledger: openLedger(store), location },
      onFailure: (error) => failures.push(error),
    });
    try {
      await expect.poll(() => failures.length, { timeout: 20_000 }).toBeGreaterThan(0);
      rmSync(location);
      // It opens them without any request.
      await expect.poll(() => existsSync(join(location, 'tables')), { timeout: 20_000 }).toBe(true);
      const database = await service.database();
      await database.close();
      const count = 'SELECT count(*) AS rows FROM ledger_infos';
      await expect(database.query(count)).rejects.toThrow();
      const { rows } = await (await service.database()).query(count);
      expect(rows).toEqual([{ rows: '1' }]);
    } finally {
      await service.close();
      await store.close();
    }
  });
});
