/** Nodes over a ledger with disk damage: everything readable is answered. */
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { spoilPage } from '../store/stored-rows.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const data = join(temporaryFolder(), 'sample');
const DAMAGED_VERSION = 100n;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

describe('a read that meets a damaged page', () => {
  it('fails alone, with a code, a metric and a line of the log', async () => {
    const { partition, order } = encodeBucketKey(DAMAGED_VERSION);
    const reader = openSqliteReader({ directory: data });
    expect(await reader.get(TRANSACTIONS, partition, order)).toBeDefined();
    await reader.close();
    spoilPage(data, 'versions', Number(DAMAGED_VERSION));
    const node = await ServedNode.start(data, ['--metrics-listen', '127.0.0.1:0']);
    const path = `/transactions/by_version/${DAMAGED_VERSION}`;
    for (let round = 0; round < 20; round += 1) {
      const refused = await node.get(path);
      expect(refused.status).toBe(500);
      expect(await refused.json()).toEqual({
        message: 'The stored data of this answer is damaged',
        error_code: 'internal_error',
        vm_error_code: null,
      });
      for (const other of ['', '/transactions/by_version/10', '/accounts/0x1', '/-/healthy']) {
        expect((await node.get(other)).status).toBe(200);
      }
    }
    const url = String(node.log.find(({ msg }) => msg === 'metrics')?.['url']);
    const metrics = await (await fetch(url)).text();
    expect(metrics).toContain('daybook_damaged_reads_total{column="transactions"} 20\n');
    await node.stop();
    const [line] = node.log.filter(({ level }) => Number(level) >= 50);
    expect(line).toMatchObject({
      msg: 'a request met damage of the store: run daybook verify',
      column: 'transactions',
      url: `/v1${path}`,
    });
  });
});
