/**
 * Compares event pages of a node that caches them with those of one that does not, over one ledger that grows, is
 * upgraded and pruned: statuses, headers and bodies are the same, whatever happened between two requests.
 */

import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { Cache } from '../../src/cache.ts';
import type { CachedPage, EventPageForm } from '../../src/ledger/events/stream-pages.ts';
import { BlockPriceCache } from '../../src/ledger/gas-price.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import { TransactionCaches } from '../../src/ledger/transactions/renderer.ts';
import { ModuleCache, TypeCache } from '../../src/state/module-view.ts';
import type { Store } from '../../src/store/store.ts';
import { randomSource, roundsOf, someOf, testSeed } from '../random.ts';
import { temporarySqliteStore } from '../store/engines.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { GrowingStreams, STREAM_ACCOUNTS } from './growing-streams.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const CHANGES = 60;
const PAGES_BETWEEN = roundsOf('PAGES', 10, 100);
/** Headers that depend on the time of the response. */
const OF_THE_MOMENT = ['date'];
const ACCEPTS = { json: 'application/json', bcs: 'application/x-bcs' } as const;

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function ask(origin: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(origin + path, { agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const kept = Object.entries(response.headers).filter(
          ([name]) => !OF_THE_MOMENT.includes(name),
        );
        const body = Buffer.concat(parts).toString('latin1');
        resolve({ status: response.statusCode, headers: Object.fromEntries(kept), body });
      });
    }).on('error', reject);
  });
}

/** A listening node over a store; without a budget it caches no pages. */
async function node(store: Store, pagesBudgetBytes: number) {
  const pages = new Cache<CachedPage>('event_pages', pagesBudgetBytes);
  const caches = {
    modules: new ModuleCache(),
    types: new TypeCache(),
    pages,
    transactions: new TransactionCaches(),
    blockPrices: new BlockPriceCache(),
  };
  const ledger = openTestedLedger(store, caches);
  const app = new TestApi(
    buildApi(ledger, apiSettings({ ...NO_LOAD_BOUNDS, maxPageSize: 60 }), new LogLines()),
  );
  await app.port();
  const { port } = app.server.address() as AddressInfo;
  return {
    ledger,
    pages,
    origin: `http://127.0.0.1:${port}`,
    close: () => app.close(),
  };
}

function randomPage(random: () => number, lengths: readonly number[]) {
  const stream = Math.floor(random() * STREAM_ACCOUNTS.length);
  const length = lengths[stream]!;
  const start = random() < 0.4 ? undefined : Math.floor(random() * (length + 2));
  const limit = [1, 3, 5, 10, 25, 25, 60][Math.floor(random() * 7)]!;
  return { address: STREAM_ACCOUNTS[stream]!, start, limit };
}

function pathOf({ address, start, limit }: ReturnType<typeof randomPage>): string {
  const from = start === undefined ? '' : `&start=${start}`;
  return `/v1/accounts/0x${address}/events/2?limit=${limit}${from}`;
}

/** A view's response, or its error. */
async function shown(
  view: LedgerView,
  { address, start, limit }: ReturnType<typeof randomPage>,
  form: EventPageForm,
): Promise<string> {
  const from = start === undefined ? undefined : BigInt(start);
  try {
    const request = { address, creationNumber: 2n, start: from, limit };
    return Buffer.from((await view.pages.page(request, form)).body).toString('latin1');
  } catch (error) {
    return String(error);
  }
}

const BUDGETS: readonly (readonly [string, number])[] = [
  ['for a few', 16 * 1024],
  ['for all', 64 * 1024 * 1024],
  ['for most', 512 * 1024],
];

describe.each(someOf(BUDGETS, 2))('pages in a cache with a budget %s', (_, budgetBytes) => {
  it('are those of a node without one', async () => {
    const random = randomSource(testSeed());
    const streams = await GrowingStreams.open(await temporarySqliteStore(), random);
    const caching = await node(streams.store, budgetBytes);
    const plain = await node(streams.store, 0);
    const statuses = new Map<number | undefined, number>();
    let oldViews: LedgerView[] = [];
    try {
      for (let change = 0; change < CHANGES; change += 1) {
        if ((await streams.change()) === 'pruned') oldViews = [];
        for (let asked = 0; asked < PAGES_BETWEEN; asked += 1) {
          const page = randomPage(random, streams.lengths);
          const form = random() < 0.6 ? 'json' : 'bcs';
          const headers: Record<string, string> = { accept: ACCEPTS[form] };
          if (random() < 0.1) headers['accept-encoding'] = 'gzip';
          const expected = await ask(plain.origin, pathOf(page), headers);
          statuses.set(expected.status, (statuses.get(expected.status) ?? 0) + 1);
          // First the page is rendered or found in the page cache, then the view's response is cached.
          expect(await ask(caching.origin, pathOf(page), headers)).toEqual(expected);
          expect(await ask(caching.origin, pathOf(page), headers)).toEqual(expected);
          const { etag } = expected.headers;
          if (etag !== undefined) {
            const again = { ...headers, 'if-none-match': etag };
            expect((await ask(caching.origin, pathOf(page), again)).status).toBe(304);
          }
          const old = oldViews[Math.floor(random() * oldViews.length)];
          if (old === undefined) continue;
          const made = await shown(streams.plainTwin(old), page, form);
          expect(await shown(old, page, form)).toBe(made);
        }
        oldViews.push(await streams.remember(caching.ledger, plain.ledger));
      }
      expect(statuses.get(200)).toBeGreaterThan(CHANGES);
      expect(caching.pages.size.entries).toBeGreaterThan(0);
      expect(plain.pages.size.entries).toBe(0);
    } finally {
      await caching.close();
      await plain.close();
    }
  });
});

describe('pages of a stream that grows', () => {
  it('replace those that nobody will ask for again', async () => {
    const streams = await GrowingStreams.open(await temporarySqliteStore(), randomSource(1));
    const caching = await node(streams.store, 64 * 1024 * 1024);
    const requests = [
      { address: STREAM_ACCOUNTS[0]!, start: undefined, limit: 25 },
      { address: STREAM_ACCOUNTS[0]!, start: 0, limit: 60 },
    ];
    const lengths = new Set<number>();
    try {
      while (streams.lengths[0]! < 60) {
        await streams.grow();
        lengths.add(streams.lengths[0]!);
        for (const request of requests) {
          for (const accept of Object.values(ACCEPTS)) {
            const { status } = await ask(caching.origin, pathOf(request), { accept });
            expect(status).toBe(200);
          }
        }
      }
      expect(lengths.size).toBeGreaterThan(5);
      expect(caching.pages.size.entries).toBe(requests.length * Object.keys(ACCEPTS).length);
    } finally {
      await caching.close();
    }
  });
});
