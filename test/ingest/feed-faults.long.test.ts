/** An upstream that is slow, broken or gone: following continues, and what is stored is right. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAX_PAGE_ATTEMPTS } from '../../src/ingest/feed/follower.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import type { RemoteError } from '../../src/remote/remote-error.ts';
import { openHead } from '../../src/store/columns/head.ts';
import type { Store } from '../../src/store/store.ts';
import { MemoryStore } from '../store/memory-store.ts';
import {
  digests,
  followError,
  followerOf,
  NEVER,
  sampleStore,
  upstreamOver,
} from './feed-following.ts';
import type { Misbehaviour } from './feed-upstream.ts';

type Fault = (request: IncomingMessage, response: ServerResponse, page: Buffer) => void;

function status(code: number, headers: Record<string, string> = {}): Fault {
  return (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end('{"message":"not now","error_code":"internal_error","vm_error_code":null}');
  };
}

function body(contentType: string, make: (page: Buffer) => Uint8Array): Fault {
  return (_, response, page) => {
    response.setHeader('content-type', contentType);
    response.end(make(page));
  };
}

const BCS = 'application/x-bcs';

/** All temporary faults, with their error codes. */
const FAULTS: Readonly<Record<string, readonly [code: string, fault: Fault]>> = {
  busy: ['upstream_busy', status(429, { 'retry-after': '0' })],
  'busy until a date': ['upstream_busy', status(503, { 'retry-after': new Date(0).toUTCString() })],
  failing: ['upstream_failed', status(500)],
  'behind a broken proxy': ['upstream_failed', status(502)],
  'hung up': ['upstream_cut', (request) => request.socket.destroy()],
  'cut in the middle of a body': [
    'upstream_cut',
    (request, response, page) => {
      response.writeHead(200, { 'content-type': BCS, 'content-length': String(page.length + 1) });
      response.write(page.subarray(0, page.length / 2), () => request.socket.destroy());
    },
  ],
  silent: ['upstream_timeout', () => undefined],
  'silent in the middle': [
    'upstream_timeout',
    (_, response, page) => {
      response.writeHead(200, { 'content-type': BCS });
      response.write(page.subarray(0, 1));
    },
  ],
  'sending a page for people': [
    'upstream_not_a_feed',
    body('text/html', () => Buffer.from('<p>Soon')),
  ],
  'sending nothing': ['page_malformed', body(BCS, () => Buffer.alloc(0))],
  'sending garbage': ['page_malformed', body(BCS, (page) => Buffer.alloc(page.length, 0xa5))],
  'sending half a page': ['page_malformed', body(BCS, (page) => page.subarray(0, page.length / 2))],
  'flipping a bit': [
    'page_unproved',
    body(BCS, (page) => {
      const damaged = Buffer.from(page);
      damaged[damaged.length - 40]! ^= 1;
      return damaged;
    }),
  ],
};

/** Misbehaves once, at the nth requested page. */
function once(fault: Fault, at: number): Misbehaviour {
  let pages = 0;
  return (request, response, page) => {
    if (page.length === 0) return false;
    pages += 1;
    if (pages !== at) return false;
    fault(request, response, page);
    return true;
  };
}

const TIMEOUTS = { silenceTimeoutMs: 1_500, totalTimeoutMs: 5_000 };

describe('an upstream that for a moment is', () => {
  let made: Promise<Store> | undefined;
  const smallSource = (): Promise<Store> => {
    made ??= sampleStore(500);
    return made;
  };

  it.each(Object.entries(FAULTS))('%s', async (_, [code, fault]) => {
    const source = await smallSource();
    const upstream = await upstreamOver(source);
    const until = (await openHead(source)).version;
    // The history check requests nothing for an empty store, so pages are counted from the first one.
    upstream.settings.misbehave = once(fault, 3);
    const copy = new MemoryStore();
    const { follower, told } = await followerOf(upstream.url, copy, { until, timeouts: TIMEOUTS });
    await follower.run(NEVER);
    expect(told.troubles.map((error) => (error as RemoteError).code)).toEqual([code]);
    expect(await digests(copy)).toEqual(await digests(source));
  });
});

describe('an upstream that is faulty all the time', () => {
  it('is followed all the same', async () => {
    const source = await sampleStore(2_000);
    const upstream = await upstreamOver(source);
    const faults = Object.values(FAULTS).filter(([code]) => !code.startsWith('page_'));
    let pages = 0;
    upstream.settings.misbehave = (request, response, page) => {
      pages += 1;
      // Every fourth page, one fault after the other: random faults might not occur at all.
      if (pages % 4 !== 0) return false;
      faults[(pages / 4) % faults.length]![1](request, response, page);
      return true;
    };
    const copy = new MemoryStore();
    const until = (await openHead(source)).version;
    const { follower, told } = await followerOf(upstream.url, copy, { until, timeouts: TIMEOUTS });
    await follower.run(NEVER);
    expect(told.troubles.length).toBeGreaterThan(0);
    expect(await digests(copy)).toEqual(await digests(source));
  });

  it('is waited for while it restarts, and while it lags behind', async () => {
    const source = await sampleStore(600);
    const upstream = await upstreamOver(source);
    upstream.settings.newest = 250n;
    const copy = new MemoryStore();
    const until = (await openHead(source)).version;
    let restarts = 0;
    const progress = async (version: bigint | undefined): Promise<void> => {
      if (version !== 250n || restarts > 0) return;
      restarts += 1;
      await upstream.stop();
      // It returns first with less than it had, and then with more.
      upstream.settings.newest = 100n;
      await sleep(100);
      await upstream.listen();
      setTimeout(() => {
        upstream.settings.newest = undefined;
      }, 200);
    };
    const { follower, told } = await followerOf(
      upstream.url,
      copy,
      { until },
      { progress: (head) => void progress(head?.version) },
    );
    await follower.run(NEVER);
    expect(restarts).toBe(1);
    expect(told.troubles.length).toBeGreaterThan(0);
    expect(await digests(copy)).toEqual(await digests(source));
  });
});

describe('an upstream that stays wrong', () => {
  it('is given up, and named by version and field', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    upstream.settings.misbehave = (_, response, page) => {
      if (page.length === 0) return false;
      const items = new BcsReader(page).vector(1, readOnChainData);
      const wrong = items.find(({ data }) => data.version === 199n);
      const changes = wrong?.bytes.changes;
      if (changes !== undefined) changes[changes.length - 1]! ^= 1;
      response.setHeader('content-type', BCS);
      response.end(page);
      return true;
    };
    const copy = new MemoryStore();
    const { follower, told } = await followerOf(upstream.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error).toMatchObject({ code: 'page_unproved', version: 199n, field: 'changes' });
    expect(error.message).toMatch(/^version 199, changes: /);
    // The page was requested again, and the versions proved before it are kept.
    expect(told.troubles.length).toBeGreaterThanOrEqual(MAX_PAGE_ATTEMPTS - 1);
    for (const trouble of told.troubles) expect(trouble).toMatchObject({ version: 199n });
    const head = await openHead(copy);
    expect(head.version).toBeGreaterThan(0n);
    expect(head.version).toBeLessThan(199n);
  });

  it.each([
    ['does not know the path', 404, 'upstream_not_a_feed'],
    ['wants nothing to do with us', 403, 'upstream_refused'],
    ['does not keep the beginning', 410, 'upstream_pruned'],
  ])('and %s is not asked twice', async (_, code, expected) => {
    const upstream = await upstreamOver(await sampleStore(10));
    upstream.settings.misbehave = (request, response, page) => {
      if (code === 410 && page.length === 0) return false;
      status(code)(request, response, page);
      return true;
    };
    const { follower, told } = await followerOf(upstream.url, new MemoryStore());
    expect((await followError(follower.run(NEVER))).code).toBe(expected);
    expect(told.troubles).toEqual([]);
  });

  it('in that it pruned what comes next here, is left with its first version in the message', async () => {
    const source = await sampleStore(300);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    const part = await followerOf(upstream.url, copy, { until: 99n });
    await part.follower.run(NEVER);
    upstream.settings.oldest = 101n;
    const { follower } = await followerOf(upstream.url, copy);
    const error = await followError(follower.run(NEVER));
    expect(error.code).toBe('upstream_pruned');
    expect(error.message).toContain('101');
    upstream.settings.oldest = 100n;
    const until = (await openHead(source)).version;
    const rest = await followerOf(upstream.url, copy, { until });
    await rest.follower.run(NEVER);
    expect(await digests(copy)).toEqual(await digests(source));
  });

  it('in that nobody listens, is asked again until it is told to stop', async () => {
    const upstream = await upstreamOver(await sampleStore(10));
    await upstream.stop();
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const { follower, told } = await followerOf(
      upstream.url,
      new MemoryStore(),
      {},
      { retrying: (error) => told.troubles.push(error) === 2 && abort.abort() },
    );
    await follower.run(abort.signal);
    expect(told.troubles).toEqual([
      expect.objectContaining({ code: 'upstream_unreachable' }),
      expect.objectContaining({ code: 'upstream_unreachable' }),
    ]);
  });
});
