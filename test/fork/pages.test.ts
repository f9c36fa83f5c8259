/** Lists of a fork: recorded data serves pages of any size, and a page takes one page of its upstream. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { NodeBetween } from './node-between.ts';

const PUBLISHER = '/accounts/0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';

async function ask(app: TestApi, path: string) {
  const { statusCode, body, headers } = await app.request(`/v1${path}`);
  return { statusCode, body, cursor: headers['x-node-cursor'] };
}

describe('a list that is recorded', () => {
  it.each([
    ['events', '/accounts/0x1/events/3', 40, 'start=7'],
    ['transactions', `${PUBLISHER}/transactions`, 12, 'start=2'],
    ['summaries from a version', `${PUBLISHER}/transaction_summaries`, 12, 'start_version=5'],
    ['summaries up to a version', `${PUBLISHER}/transaction_summaries`, 12, 'end_version=250'],
    ['balances', `${PUBLISHER}/balances`, 4, ''],
    ['resources', `${PUBLISHER}/resources`, 9_999, ''],
    ['modules', '/accounts/0x1/modules', 9_999, ''],
  ])('answers %s in smaller pages without its node', async (_, path, whole, query) => {
    const upstream = await serveStore(await sampleStore(300));
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: upstream.url });
    const first = await ask(fork.app, `${path}?limit=${whole}&${query}`);
    expect(first.statusCode).toBe(200);
    const pages = [1, 2, 3, whole - 1].map((limit) => `${path}?limit=${limit}&${query}`);
    const wanted = await Promise.all(pages.map((page) => ask(upstream.app, page)));
    const { cursor } = wanted[1]!;
    if (cursor !== undefined) {
      pages.push(`${path}?limit=2&start=${cursor}`);
      wanted.push(await ask(upstream.app, pages.at(-1)!));
    }
    await fork.stop();
    await upstream.stop();
    const offline = await serveFork({ data, offline: true });
    for (const [at, page] of pages.entries()) {
      expect([page, await ask(offline.app, page)]).toEqual([page, wanted[at]]);
    }
  });

  it('goes on where it was recorded, with what was never asked for', async () => {
    const upstream = await serveStore(await sampleStore(300));
    const node = await NodeBetween.before(upstream.url);
    const fork = await serveFork({ data: join(temporaryFolder(), 'fork'), fork: node.url });
    const path = `${PUBLISHER}/transactions`;
    for (const query of ['start=4&limit=4', 'start=2&limit=9', 'start=0&limit=20', 'limit=5']) {
      const page = `${path}?${query}`;
      expect([page, await ask(fork.app, page)]).toEqual([page, await ask(upstream.app, page)]);
    }
    node.got.length = 0;
    await ask(fork.app, `${path}?start=3&limit=15`);
    expect(node.got).toEqual([]);
  });
});

describe('a page of a listing', () => {
  it.each(['resources', 'modules'])('asks for a page of %s', async (listed) => {
    // A node whose pages have at most five keys.
    const settings = {
      ...apiSettings(NO_LOAD_BOUNDS),
      ...{ maxAccountResourcesPageSize: 5, maxAccountModulesPageSize: 5 },
    };
    const ledger = await sampleStore(300);
    const app = new TestApi(buildApi(openLedger(ledger), settings, new LogLines()));
    const node = await NodeBetween.before(`http://127.0.0.1:${await app.port()}/v1`);
    const fork = await serveFork({ data: join(temporaryFolder(), 'fork'), fork: node.url });
    const account = listed === 'modules' ? '/accounts/0x1' : PUBLISHER;
    const pathOf = (start: string | undefined) =>
      `${account}/${listed}?limit=2${start === undefined ? '' : `&start=${start}`}`;
    const asked = () => node.got.filter((line) => line.includes(`/${listed}?`)).length;
    node.got.length = 0;
    expect((await ask(fork.app, pathOf(undefined))).statusCode).toBe(200);
    expect(asked()).toBe(1);
    let cursor: string | undefined;
    let count = 0;
    do {
      const wanted = await ask(app, pathOf(cursor));
      expect(await ask(fork.app, pathOf(cursor))).toEqual(wanted);
      count += JSON.parse(wanted.body).length;
      cursor = wanted.cursor as string | undefined;
    } while (cursor !== undefined);
    expect(count).toBeGreaterThan(5);
    expect(asked()).toBeLessThanOrEqual(Math.ceil(count / 2));
    await app.close();
  });
});
