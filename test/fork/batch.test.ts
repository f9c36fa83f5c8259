/**
 * Batches whose reads come from elsewhere: on a fork, which queries its upstream, and over a store that answers later.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MAX_BATCH_CONCURRENCY } from '../../src/api/endpoints/extensions/batch-run.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { AnsweringLater } from '../store/answering-later.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

async function batch(app: TestApi, paths: readonly string[], query = ''): Promise<Answered[]> {
  const body = JSON.stringify({ requests: paths.map((path) => ({ path })) });
  const headers = { 'content-type': 'application/json' };
  const reply = await app.request({ method: 'POST', url: `/v1/batch${query}`, headers, body });
  expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)]);
  return reply.json<{ responses: Answered[] }>().responses;
}

const balanceOf = (index: number) =>
  `/v1/accounts/0x${index.toString(16)}/balance/0x1::aptos_coin::AptosCoin`;

it('of a fork says what its upstream says, and offline what is recorded', {
  timeout: 120_000,
}, async () => {
  const upstream = await serveStore(await sampleStore(200));
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: upstream.url });
  const paths = [
    ...Array.from({ length: 20 }, (_, index) => balanceOf(index)),
    ...['/v1', '/v1/accounts/0x1/modules?limit=3', '/v1/transactions/by_version/7', '/v1/no'],
  ];
  const wanted = await batch(upstream.app, paths);
  expect(wanted.filter(({ status }) => status === 200)).toHaveLength(paths.length - 1);
  expect(await batch(fork.app, paths)).toEqual(wanted);
  await fork.stop();
  await upstream.stop();
  const offline = await serveFork({ data, offline: true });
  expect(await batch(offline.app, paths)).toEqual(wanted);
  const [missed, known] = await batch(offline.app, ['/v1/accounts/0x77/module/none', balanceOf(1)]);
  expect([missed!.status, known!.status]).toEqual([503, 200]);
});

it('waits for many reads of a store at once', async () => {
  const store = new AnsweringLater(await sampleStore(50));
  const log = new LogLines();
  const app = new TestApi(buildApi(openLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  const paths = Array.from({ length: 4 * MAX_BATCH_CONCURRENCY }, (_, index) =>
    balanceOf(index + 100),
  );
  await batch(app, paths.slice(0, 1));
  const before = { roundTrips: store.roundTrips, reads: store.reads.length };
  const answers = await batch(app, paths);
  expect(answers.map(({ body }) => body)).toEqual(paths.map(() => 0));
  expect(store.reads.length - before.reads).toBeGreaterThanOrEqual(paths.length);
  // Sequential reads would take a round trip each.
  expect(store.roundTrips - before.roundTrips).toBeLessThan(paths.length);
  await app.close();
  expect(log).toEqual(new LogLines());
});

it('takes a time for a version, for all of its reads or for one', async () => {
  const store = await sampleStore(50);
  const { app } = await serveStore(store);
  const block = (await app.request('/v1/blocks/by_version/30')).json<Record<string, string>>();
  const time = new Date(Number(block['block_timestamp']) / 1_000).toISOString();
  const path = '/v1/accounts/0x1/resources?limit=3';
  const [timed, usual] = await batch(app, [`${path}&ledger_version=@${time}`, path]);
  expect(timed!.status).toBe(200);
  const [byBatch] = await batch(app, [path], `?ledger_version=@${time}`);
  expect(byBatch).toEqual(timed);
  expect(usual!.status).toBe(200);
});
