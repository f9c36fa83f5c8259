/** Nodes over a ledger that a disk has damaged: what can be read is answered. */
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_EARLY_ENDS } from '../../src/node/cluster/worker-pool.ts';
import { TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { openLmdbReader } from '../../src/store/lmdb/lmdb-store.ts';
import { findRow, spoilPage } from '../store/lmdb-pages.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { childrenOf, isAlive, until } from './worker-processes.ts';

const data = join(temporaryFolder(), 'sample');
const DAMAGED_VERSION = 100n;
const CRASHES = MAX_EARLY_ENDS + 2;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

describe('a read that meets a damaged page', () => {
  it('fails alone, with a code, a metric and a line of the log', async () => {
    const { partition, order } = encodeBucketKey(DAMAGED_VERSION);
    const reader = openLmdbReader({ directory: data });
    expect(await reader.get(TRANSACTIONS, partition, order)).toBeDefined();
    await reader.close();
    spoilPage(data, findRow(data, Buffer.concat([partition, order])));
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

describe.runIf(process.platform === 'linux')('a worker that a damaged page has ended', () => {
  it('is started again however often, and the cause is logged', async () => {
    const node = await ServedNode.start(data, ['--workers', '2']);
    const pid = node.process.pid!;
    const [survivor] = childrenOf(pid);
    for (let crash = 1; crash <= CRASHES; crash += 1) {
      await until(`two workers before crash ${crash}`, () => childrenOf(pid).length === 2);
      const answering = () => node.log.filter(({ msg }) => msg === 'a worker answers again').length;
      await until('the new one', () => answering() === crash - 1);
      const victim = childrenOf(pid).find((child) => child !== survivor)!;
      process.kill(victim, 'SIGBUS');
      await until('its end', () => !isAlive(victim));
      expect((await node.get('')).status).toBe(200);
    }
    const crashed = () => node.log.filter(({ ended_by }) => ended_by === 'SIGBUS');
    await until('all lines', () => crashed().length === CRASHES);
    expect((await node.stop()).code).toBe(0);
    expect(crashed()[0]).toMatchObject({ level: 50 });
  });
});
