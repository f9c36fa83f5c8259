/** Requesting pages: limits, large pages, and prefetched pages. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChunkAssembler } from '../../src/ingest/feed/chunk-assembler.ts';
import { FeedClient } from '../../src/ingest/feed/feed-client.ts';
import { CHUNK_TRANSACTIONS } from '../../src/ingest/feed/follower.ts';
import { PageSource, type PageSourceOptions } from '../../src/ingest/feed/page-source.ts';
import {
  MAX_PAGE_ITEMS,
  MAX_UNVERIFIED_VALUES,
  PageVerifier,
} from '../../src/ingest/feed/page-verifier.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { interfaceBase } from '../../src/remote/node-url.ts';
import { openHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/read/view.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { pageOf } from './feed-chain.ts';
import { followerOf, NEVER, sampleStore, upstreamOver } from './feed-following.ts';
import type { TestUpstream } from './feed-upstream.ts';
import { transactionOf } from './many-values.ts';

/** Takes all pages of an upstream up to a version; returns their first versions. */
async function takeAll(
  upstream: TestUpstream,
  options: Partial<PageSourceOptions>,
  limits?: ConstructorParameters<typeof PageSource>[3],
) {
  const timeouts = { silenceTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
  const client = new FeedClient(interfaceBase(upstream.url), 8, timeouts);
  onTestFinished(() => client.close());
  const state = await client.state(NEVER);
  const all: PageSourceOptions = {
    start: 0n,
    until: state.ledgerVersion,
    pageTransactions: 1_000,
    pollIntervalMs: 10,
    pagesInFlight: () => 8,
    onState: () => undefined,
    onBehind: () => Promise.resolve(),
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
      // After the first page the upstream's page size is known.
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
    await expect(takeAll(upstream, {}, tooSmall)).rejects.toThrow(
      expect.objectContaining({ code: 'page_too_large' }),
    );
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
        TransactionInfo.encode({
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
