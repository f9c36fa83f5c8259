/** Asking for pages: URLs, limits, waiting, large pages, and pages asked for ahead. */

import { once } from 'node:events';
import { Agent, createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAX_BACKOFF_MS, MAX_RETRY_AFTER_MS, retryDelayMs } from '../../src/ingest/feed/backoff.ts';
import { ChunkAssembler } from '../../src/ingest/feed/chunk-assembler.ts';
import { type ExchangeLimits, exchange } from '../../src/ingest/feed/exchange.ts';
import { FeedClient, parseRetryAfter } from '../../src/ingest/feed/feed-client.ts';
import { FeedError } from '../../src/ingest/feed/feed-error.ts';
import { CHUNK_TRANSACTIONS } from '../../src/ingest/feed/follower.ts';
import { interfaceBase } from '../../src/ingest/feed/interface-url.ts';
import { PageSource, type PageSourceOptions } from '../../src/ingest/feed/page-source.ts';
import {
  MAX_PAGE_ITEMS,
  MAX_UNVERIFIED_VALUES,
  PageVerifier,
} from '../../src/ingest/feed/page-verifier.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { encodeTransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/view.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { pageOf } from './feed-chain.ts';
import { followerOf, NEVER, sampleStore, upstreamOver } from './feed-following.ts';
import type { TestUpstream } from './feed-upstream.ts';
import { transactionOf } from './many-values.ts';

describe('the URL of an upstream', () => {
  it.each([
    ['http://node.example', 'http://node.example/v1'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/v1'],
    ['https://node.example/v1/', 'https://node.example/v1'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
    ['https://gateway.example/mainnet', 'https://gateway.example/mainnet/v1'],
  ])('%s', (text, base) => {
    expect(interfaceBase(text).href).toBe(base);
  });

  it.each([
    '',
    'node.example',
    'ftp://node.example',
    'http://u:p@node.example',
    'http://n.example/?a=1',
    'http://',
  ])('is not %j', (text) => {
    expect(() => interfaceBase(text)).toThrow(
      expect.objectContaining({ code: 'bad_upstream_url' }),
    );
  });

  it.each([
    ['http://user:secret@n.example/v1', '"http://…@n.example/v1"'],
    ['http://user:se/cr/et@n.example', '"http://…@n.example"'],
    ['user:secret@n.example', '"…@n.example"'],
    ['https://n.example/v1?key=secret', '"https://n.example/v1?…"'],
  ])('%s is refused without its secrets', (text, shown) => {
    expect(() => interfaceBase(text)).toThrow(`${shown} is not the URL of a node`);
  });
});

describe('waiting', () => {
  it('doubles up to a limit, half of it by chance', () => {
    const delays = [1, 2, 3, 4, 100].map((failures) => retryDelayMs(failures, undefined, () => 1));
    expect(delays).toEqual([250, 500, 1_000, 2_000, MAX_BACKOFF_MS]);
    expect(retryDelayMs(1, undefined, () => 0)).toBe(125);
  });

  it('is never shorter than what the upstream asks for, up to a limit', () => {
    expect(retryDelayMs(1, 5_000, () => 1)).toBe(5_000);
    expect(retryDelayMs(5, 10, () => 1)).toBe(4_000);
    for (const more of [-1, 0, 1]) {
      const asked = MAX_RETRY_AFTER_MS + more;
      expect(retryDelayMs(1, asked, () => 1)).toBe(Math.min(asked, MAX_RETRY_AFTER_MS));
    }
  });

  it('reads both forms of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(parseRetryAfter('120', now)).toBe(120_000);
    expect(parseRetryAfter(' 0 ', now)).toBe(0);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    for (const bad of [undefined, '', '-1', '1.5', 'soon', '2026-01-01', '99999999999', 'Thu, x']) {
      expect(parseRetryAfter(bad, now)).toBeUndefined();
    }
  });
});

const GET = { method: 'GET', headers: {} } as const;
const LIMITS: ExchangeLimits = { maxBytes: 1_000, silenceTimeoutMs: 5_000, totalTimeoutMs: 5_000 };

async function get(answer: RequestListener, limits: Partial<ExchangeLimits> = {}) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const { body } = await exchange(url, agent, GET, { ...LIMITS, ...limits }, NEVER);
  return body.length;
}

function code(expected: string) {
  return expect.objectContaining({ code: expected });
}

describe('an answer', () => {
  it('has at most so many bytes, declared or not', async () => {
    for (const declared of [true, false]) {
      const answer = (byteLength: number): RequestListener => {
        return (_, response) => {
          if (declared) response.setHeader('content-length', byteLength);
          response.write(Buffer.alloc(1));
          response.end(Buffer.alloc(byteLength - 1));
        };
      };
      await expect(get(answer(999))).resolves.toBe(999);
      await expect(get(answer(1_000))).resolves.toBe(1_000);
      await expect(get(answer(1_001))).rejects.toThrow(code('page_too_large'));
    }
  });

  it('that never ends is cut, and so is one that drips', async () => {
    let sentBytes = 0;
    const endless: RequestListener = (_, response) => {
      const more = (): void => {
        sentBytes += 1_000_000;
        if (!response.destroyed) response.write(Buffer.alloc(1_000_000), more);
      };
      more();
    };
    await expect(get(endless, { maxBytes: 5_000_000 })).rejects.toThrow(code('page_too_large'));
    expect(sentBytes).toBeLessThan(100_000_000);
    const dripping: RequestListener = (_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    };
    await expect(get(dripping, { totalTimeoutMs: 300 })).rejects.toThrow(code('upstream_timeout'));
    await expect(get(() => undefined, { silenceTimeoutMs: 100 })).rejects.toThrow(
      code('upstream_timeout'),
    );
  });

  it('is not waited for after an abort', async () => {
    const abort = new AbortController();
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    const server = createServer(() => abort.abort(new Error('enough'))).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    await once(server, 'listening');
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect(exchange(url, agent, GET, LIMITS, abort.signal)).rejects.toThrow('enough');
    await expect(exchange(url, agent, GET, LIMITS, abort.signal)).rejects.toThrow('enough');
  });
});

/** Takes all pages of an upstream up to a version; gives the versions they began with. */
async function takeAll(
  upstream: TestUpstream,
  options: Partial<PageSourceOptions>,
  limits?: ConstructorParameters<typeof PageSource>[3],
) {
  const timeouts = { silenceTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
  const client = new FeedClient(interfaceBase(upstream.url), timeouts, 8);
  onTestFinished(() => client.close());
  const state = await client.state(NEVER);
  const all: PageSourceOptions = {
    start: 0n,
    until: state.ledgerVersion,
    pageTransactions: 1_000,
    pollIntervalMs: 10,
    pagesInFlight: () => 8,
    onState: () => undefined,
    ...options,
  };
  const source = new PageSource(client, state, all, limits);
  const versions: bigint[] = [];
  for await (const event of source.events(NEVER)) {
    if (event.kind !== 'page') continue;
    const items = new BcsReader(event.bytes).vector(1, readOnChainData);
    for (const { data } of items) versions.push(data.version);
  }
  return versions;
}

describe('pages', () => {
  const upTo = (last: bigint) => Array.from({ length: Number(last) + 1 }, (_, at) => BigInt(at));

  it('come in order, whatever the upstream’s own limit is', async () => {
    const source = await sampleStore(900);
    const upstream = await upstreamOver(source);
    const last = (await openHead(source)).version;
    for (const maxPage of [1, 7, 100, 5_000]) {
      upstream.pages.length = 0;
      upstream.settings.maxPage = maxPage;
      const until = maxPage === 1 ? 40n : last;
      expect(await takeAll(upstream, { until })).toEqual(upTo(until));
      // After the first page it is known how many the upstream gives.
      for (const { limit } of upstream.pages.slice(1)) expect(limit).toBeLessThanOrEqual(maxPage);
    }
  });

  it('come in order when the upstream’s limit changes on the way', async () => {
    const source = await sampleStore(900);
    const upstream = await upstreamOver(source);
    upstream.settings.misbehave = () => {
      upstream.settings.maxPage = upstream.settings.maxPage === 30 ? 50 : 30;
      return false;
    };
    const last = (await openHead(source)).version;
    expect(await takeAll(upstream, {})).toEqual(upTo(last));
  });

  it('that are too large are asked for in parts, and alone', async () => {
    const source = await sampleStore(900);
    const upstream = await upstreamOver(source);
    const last = (await openHead(source)).version;
    const [genesis] = await (await openView(source)).transactions(0n, 1);
    // Genesis is the largest by far: alone, with the count before it, it just fits.
    const maxBytes = genesis!.length + 1;
    const limits = { maxBytes, maxAheadBytes: 20_000 };
    expect(await takeAll(upstream, {}, limits)).toEqual(upTo(last));
    const tooSmall = { ...limits, maxBytes: maxBytes - 1 };
    await expect(takeAll(upstream, {}, tooSmall)).rejects.toThrow(code('page_too_large'));
  });

  it('have a bounded number of items', () => {
    const claim = (count: number): Uint8Array<ArrayBuffer> =>
      Uint8Array.from(
        encodeBcs((writer) => writer.length32(count).fixed(Buffer.alloc(count * 200))),
      );
    const verify = (count: number) => () =>
      new PageVerifier({
        nextVersion: 0n,
        frozenRoots: [],
        trustedRoots: [],
        waypoint: undefined,
      }).verify(claim(count));
    expect(verify(0)).toThrow(expect.objectContaining({ code: 'page_malformed', field: 'page' }));
    expect(verify(MAX_PAGE_ITEMS - 1)).toThrow(expect.objectContaining({ field: 'transaction' }));
    expect(verify(MAX_PAGE_ITEMS)).toThrow(expect.objectContaining({ field: 'transaction' }));
    expect(verify(MAX_PAGE_ITEMS + 1)).toThrow(expect.objectContaining({ field: 'page' }));
  });

  it('have a bounded number of values in their vectors', () => {
    const page = (types: number): Uint8Array<ArrayBuffer> => {
      const parts = [
        Buffer.alloc(8),
        transactionOf({ types }),
        encodeTransactionInfo({
          ...{ kind: 'v0', gasUsed: 0n, status: { kind: 'success' }, auxiliaryInfoHash: undefined },
          ...{ transactionHash: Buffer.alloc(32), eventRootHash: Buffer.alloc(32) },
          ...{ stateChangeHash: Buffer.alloc(32), stateCheckpointHash: undefined },
        }),
        // No events; the root; no writes.
        Buffer.alloc(1 + 32 + 2),
      ];
      return Uint8Array.from(Buffer.concat([Buffer.of(1), ...parts]));
    };
    const start = { nextVersion: 0n, frozenRoots: [], trustedRoots: [], waypoint: undefined };
    const verify = (types: number) => () => new PageVerifier(start).verify(page(types));
    const unproved = expect.objectContaining({ code: 'page_unproved', field: 'transaction' });
    expect(verify(MAX_UNVERIFIED_VALUES - 1)).toThrow(unproved);
    expect(verify(MAX_UNVERIFIED_VALUES)).toThrow(unproved);
    const malformed = expect.objectContaining({ code: 'page_malformed', field: 'transaction' });
    expect(verify(MAX_UNVERIFIED_VALUES + 1)).toThrow(malformed);
  });
});

describe('commits', () => {
  it('end where blocks end', async () => {
    const source = await sampleStore(CHUNK_TRANSACTIONS + 500);
    const upstream = await upstreamOver(source);
    upstream.settings.maxPage = 33;
    const view = await openView(source);
    const heads = new Set<bigint>();
    const options = { until: view.head.version };
    const { follower } = await followerOf(upstream.url, new MemoryStore(), options, {
      progress: (head) => head !== undefined && heads.add(head.version),
    });
    await follower.run(NEVER);
    expect(heads.size).toBeGreaterThan(1);
    for (const version of heads) {
      const block = await view.blockOfVersion(version);
      expect(await view.lastVersionOfBlock(block!)).toBe(version);
    }
  });

  it('stop after any version that is asked for, and go on from there', async () => {
    const source = await sampleStore(400);
    const upstream = await upstreamOver(source);
    const copy = new MemoryStore();
    for (const until of [0n, 1n, 2n, 57n, 58n, 200n, 57n]) {
      const { follower } = await followerOf(upstream.url, copy, { until });
      const expected = until === 57n && (await openHead(copy)).version === 200n ? 200n : until;
      expect((await follower.run(NEVER))?.version).toBe(expected);
    }
  });

  it('do not wait for the end of a block that is too long', async () => {
    const source = await sampleStore(300);
    const view = await openView(source);
    const block = await view.blockByHeight(view.head.blockHeight - 1n);
    const first = block!.firstVersion;
    const items = await view.transactions(0n, 1_000);
    const inBlock = Number((await view.lastVersionOfBlock(block!))! - first);
    const pages = [
      items.slice(0, Number(first)),
      ...items.slice(Number(first), Number(first) + inBlock).map((item) => [item]),
    ];
    for (const more of [-1, 0, 1]) {
      const verifier = new PageVerifier({
        nextVersion: 0n,
        frozenRoots: [],
        trustedRoots: [],
        waypoint: undefined,
      });
      const limits = { maxTransactions: inBlock + more, maxBytes: 100_000_000 };
      const assembler = new ChunkAssembler(0n, true, limits);
      for (const page of pages) assembler.add(verifier.verify(pageOf(page)), false);
      const whole = Number(first);
      expect(assembler.completeTransactions).toBe(more < 0 ? whole + inBlock : whole);
    }
  });
});

describe('errors of a feed', () => {
  it('say what may be done next', () => {
    expect(new FeedError('upstream_busy', '').remedy).toBe('retry');
    expect(new FeedError('page_unproved', '').remedy).toBe('refetch');
    expect(new FeedError('other_chain', '').remedy).toBe('stop');
  });
});
