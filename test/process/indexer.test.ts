/** `daybook index` that is killed, and `daybook serve --indexer`. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTables } from '../../src/indexer/service.ts';
import { allRows } from '../indexer/tables.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, ServedNode, startCommand, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const KILLS = roundsOf('INDEXER_KILLS', 2, 20);
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
    await node.stop();
  });
});
