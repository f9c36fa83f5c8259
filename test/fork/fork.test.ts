/** Forks of a served ledger: they answer as it does at their version, and go on without it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { openView } from '../../src/store/view.ts';
import type { TestApi } from '../api/client.ts';
import { followerOf, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { Random, testSeed } from '../random.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { type AnyRequest, RequestSource, subjectsOf } from './random-requests.ts';

const seed = testSeed('fork');

async function requestsFor(store: Store, count: number): Promise<readonly AnyRequest[]> {
  const view = await openView(store);
  const { version, blockHeight } = view.head;
  const items = await view.transactions(0n, Number(version) + 1);
  const source = new RequestSource(new Random(seed), subjectsOf(items), version, blockHeight);
  return Array.from({ length: count }, () => source.next());
}

/** Status, headers and body of an answer. */
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
    const requests = await requestsFor(ledger, 150);
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
    for (const request of await requestsFor(then, 150)) {
      const wanted = await answerOf(truth.app, request);
      expect([request, await answerOf(fork.app, request)]).toEqual([request, wanted]);
    }
  });
});
