/** Forks of a served ledger: they respond as it does at their version, and continue without it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeStateKey } from '../../src/move/types/state-key.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { openView } from '../../src/store/read/view.ts';
import type { Store } from '../../src/store/store.ts';
import type { TestApi } from '../api/client.ts';
import { EventClient } from '../api/event-client.ts';
import { followerOf, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { Random, testSeed } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { NodeBetween } from './node-between.ts';
import { type AnyRequest, requestsFor } from './random-requests.ts';

const seed = testSeed('fork');

/** Status, headers and body of a response. */
async function answerOf(app: TestApi, { method, path, headers, body }: AnyRequest) {
  const reply = await app.request({ method, url: `/v1${path}`, headers, body });
  const { date: _, ...stable } = reply.headers;
  return { status: reply.statusCode, headers: stable, body: reply.bytes.toString('latin1') };
}

/** The ledger of a store as it was at a version that ends a block. */
async function truncated(store: Store, until: bigint): Promise<Store> {
  const upstream = await upstreamOver(store);
  const copy = new MemoryStore();
  const { follower, writer } = await followerOf(upstream.url, copy, { until });
  await follower.run(new AbortController().signal);
  expect(writer.head?.version).toBe(until);
  return copy;
}

describe(`a fork (seed ${seed})`, () => {
  it('answers as its upstream, and without it as before', { timeout: 120_000 }, async () => {
    const ledger = await sampleStore(300);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: upstream.url });
    const requests = await requestsFor(ledger, seed, 150);
    const expected: unknown[] = [];
    for (const request of requests) {
      const wanted = await answerOf(upstream.app, request);
      expect([request, await answerOf(fork.app, request)]).toEqual([request, wanted]);
      expected.push(wanted);
    }
    await fork.stop();
    await upstream.stop();
    const offline = await serveFork({ data, offline: true });
    for (const [index, request] of requests.entries()) {
      expect([request, await answerOf(offline.app, request)]).toEqual([request, expected[index]]);
    }
    const missed = await offline.app.request('/v1/accounts/0x1234567/resource/0x1::coin::Coin');
    expect(missed.statusCode).toBe(503);
    expect(missed.json().message).toContain('resource 0x1::coin::Coin of 0x1234567');
    expect(missed.json().message).toContain(`daybook serve --data ${data} --fork URL`);
    expect(missed.headers['retry-after']).toBeUndefined();
    for (const accept of ['application/json', 'text/event-stream']) {
      const url = '/v1/events/by_type/0x1::transaction_fee::FeeStatement';
      const unindexed = await offline.app.request({ url, headers: { accept } });
      expect(unindexed.statusCode).toBe(403);
      expect(unindexed.json()).toMatchObject({
        message: 'A fork has no index of events by type: ask the node that it was made from',
        error_code: 'api_disabled',
      });
    }
    const other = { data, fork: `${upstream.url}@7`, offline: true };
    await expect(serveFork(other)).rejects.toMatchObject({ code: 'bad_setting' });
  });

  it('shows the ledger at its version while the upstream goes on', async () => {
    const ledger = await sampleStore(300);
    const { head } = await openView(ledger);
    const block = await (await openView(ledger)).blockByHeight(head.blockHeight / 2n);
    const version = block!.firstVersion - 1n;
    const then = await truncated(ledger, version);
    const truth = await serveStore(then);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: `${upstream.url}@${version}` });
    for (const request of await requestsFor(then, seed, 150)) {
      const wanted = await answerOf(truth.app, request);
      expect([request, await answerOf(fork.app, request)]).toEqual([request, wanted]);
    }
  });
});

describe('versions by time on a fork', () => {
  it('are those of its upstream, also without it, and histories of balances are refused', async () => {
    const ledger = await sampleStore(300);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const { timestampUsecs } = (await openView(ledger)).head;
    const [random, first] = [new Random(seed), 1_767_225_600_000_000n];
    const paths = Array.from({ length: 12 }, () => {
      const usecs = first + BigInt(random.below(Number(timestampUsecs - first)));
      const time = `${new Date(Number(usecs / 1_000_000n) * 1_000).toISOString().slice(0, 19)}Z`;
      return [
        `/versions/by_timestamp/${usecs}`,
        `/accounts/0x1/resource/0x1::block::BlockResource?ledger_version=@${time}`,
      ];
    }).flat();
    const ask = async (app: TestApi, path: string) => {
      const { statusCode, body } = await app.request(`/v1${path}`);
      return [path, statusCode, body];
    };
    const expected: unknown[] = [];
    for (const path of paths) expected.push(await ask(upstream.app, path));
    const fork = await serveFork({ data, fork: upstream.url });
    for (const [at, path] of paths.entries())
      expect(await ask(fork.app, path)).toEqual(expected[at]);
    const refusal = await fork.app.request('/v1/accounts/0x1/balance/0xa/history');
    expect([refusal.statusCode, refusal.json()]).toEqual([
      403,
      expect.objectContaining({
        error_code: 'api_disabled',
        message: expect.stringContaining('This fork cannot'),
      }),
    ]);
    await fork.stop();
    await upstream.stop();
    const offline = await serveFork({ data, offline: true });
    for (const [at, path] of paths.entries()) {
      expect(await ask(offline.app, path)).toEqual(expected[at]);
    }
  });
});

describe('a submission that is encoded against a fork', () => {
  it('fetches the modules that it needs, each once, and nothing else', async () => {
    const ledger = await sampleStore(60);
    const upstream = await serveStore(ledger);
    const node = await NodeBetween.before(upstream.url);
    const fork = await serveFork({ data: join(temporaryFolder(), 'fork'), fork: node.url });
    node.got.length = 0;
    const request = {
      sender: '0xcafe',
      ...{ sequence_number: '0', max_gas_amount: '2000', gas_unit_price: '100' },
      expiration_timestamp_secs: '1893456000',
      payload: {
        type: 'entry_function_payload',
        function: '0x1::aptos_account::transfer',
        type_arguments: [],
        arguments: ['0x1', '5'],
      },
    };
    const encode = (app: TestApi) =>
      app.request({
        method: 'POST',
        url: '/v1/transactions/encode_submission',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
    const encoded = await encode(fork.app);
    expect([encoded.statusCode, encoded.body]).toEqual([200, (await encode(upstream.app)).body]);
    const keys = node.got.map((line) =>
      decodeStateKey(Buffer.from(/0x([0-9a-f]+)"/.exec(line)![1]!, 'hex')),
    );
    const paths = keys.map((key) => (key.kind === 'accessPath' ? key.parsed : undefined));
    const names = paths.map((path) =>
      path?.kind === 'code' ? path.module.name : path && formatStructTag(path.tag),
    );
    // The feature flags decide which modules load.
    expect(names.sort()).toEqual(['0x1::features::Features', 'aptos_account']);
    const before = node.got.length;
    expect((await encode(fork.app)).statusCode).toBe(200);
    expect(node.got.length).toBe(before);
  });
});

describe('event streams of a fork', () => {
  it('have the history that its version shows, and are silent then', async () => {
    const ledger = await sampleStore(300);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const path = '/accounts/0x1/events/3';
    const fork = await serveFork({ data, fork: `${upstream.url}@200` });
    const page = (await upstream.app.request(`/v1${path}?start=0`)).json<{ version: string }[]>();
    const shown = page.filter(({ version }) => Number(version) <= 200);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.length).toBeLessThan(page.length);
    const listenTo = async (url: string): Promise<void> => {
      const events = await new EventClient(`${url}${path}?start=0`).opened;
      await events.until(shown.length);
      const heads = await new EventClient(`${url}/-/heads`).opened;
      await heads.until(1);
      expect(heads.records.map((head) => head.ledger_version)).toEqual(['200']);
      expect(events.records).toEqual(shown);
      for (const client of [events, heads]) client.close();
    };
    await listenTo(fork.url);
    await fork.stop();
    await upstream.stop();
    await listenTo((await serveFork({ data, offline: true })).url);
  });
});
