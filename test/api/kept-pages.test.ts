/**
 * Event pages of a node that keeps them beside those of one that does not, over one ledger that grows, is upgraded and
 * pruned: the same statuses, headers and bodies, whatever happened between two requests.
 */
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { apiSettings } from '../../src/api/settings.ts';
import type { EventPageForm, LedgerView } from '../../src/ledger/api-contract.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openKeptBytes } from '../../src/store/kept-bytes.ts';
import type { Store } from '../../src/store/store.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory, temporaryLmdbStore } from '../store/engines.ts';
import { LogLines } from './error-answers.ts';
import { GrowingStreams, STREAM_ACCOUNTS } from './growing-streams.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const CHANGES = 60;
const PAGES_BETWEEN = 40;
/** Headers that say when, not what. */
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

/** A node over a store that listens; with a ring it keeps pages. */
async function node(store: Store, ringBytes: number) {
  const stops: Error[] = [];
  const options = { folder: temporaryDirectory(), capacityBytes: ringBytes, minFreeBytes: 0 };
  const onStop = (reason: Error) => stops.push(reason);
  const pageBytes = ringBytes === 0 ? undefined : openKeptBytes({ ...options, onStop });
  const ledger = openLedger(store, { pageBytes });
  const app = buildApi(
    ledger,
    apiSettings({ ...NO_LOAD_BOUNDS, maxEventsPageSize: 60 }),
    new LogLines(),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    ...{ ledger, stops, pageBytes },
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      await app.close();
      pageBytes?.close();
    },
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

/** What a view answers, or what it refuses with. */
async function shown(
  view: LedgerView,
  { address, start, limit }: ReturnType<typeof randomPage>,
  form: EventPageForm,
): Promise<string> {
  const from = start === undefined ? undefined : BigInt(start);
  try {
    const request = { address, creationNumber: 2n, start: from, limit };
    return Buffer.from((await view.eventPage(request, form)).body).toString('latin1');
  } catch (error) {
    return String(error);
  }
}

describe.each([
  ['that is overwritten all the time', 16 * 1024],
  ['with room for most', 512 * 1024],
  ['with room for all', 64 * 1024 * 1024],
])('pages in a file %s', (_, ringBytes) => {
  it('are those of a node that keeps none', { timeout: 120_000 }, async () => {
    const random = randomSource(testSeed());
    const streams = await GrowingStreams.open(await temporaryLmdbStore(), random);
    const keeping = await node(streams.store, ringBytes);
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
          // Made or found, then as this view's answer.
          expect(await ask(keeping.origin, pathOf(page), headers)).toEqual(expected);
          expect(await ask(keeping.origin, pathOf(page), headers)).toEqual(expected);
          const { etag } = expected.headers;
          if (etag !== undefined) {
            const again = { ...headers, 'if-none-match': etag };
            expect((await ask(keeping.origin, pathOf(page), again)).status).toBe(304);
          }
          const old = oldViews[Math.floor(random() * oldViews.length)];
          if (old === undefined) continue;
          const made = await shown(streams.plainTwin(old), page, form);
          expect(await shown(old, page, form)).toBe(made);
        }
        oldViews.push(await streams.remember(keeping.ledger, plain.ledger));
      }
      expect(statuses.get(200)).toBeGreaterThan(CHANGES);
      expect([keeping.stops, keeping.pageBytes?.isOpen]).toEqual([[], true]);
    } finally {
      await keeping.close();
      await plain.close();
    }
  });
});

/** All that a connection gets for requests sent at once, when it is read only after a while. */
async function readLate(origin: string, paths: readonly string[], meanwhile: () => Promise<void>) {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  socket.write(requests.join('').replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'));
  await meanwhile();
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts)
    .toString('latin1')
    .replaceAll(/Date: [^\r]*/g, '');
}

describe('pages that are lent', () => {
  it('are whole for who takes them late, and where they are compressed', {
    timeout: 60_000,
  }, async () => {
    const random = randomSource(testSeed());
    const streams = await GrowingStreams.open(await temporaryLmdbStore(), random);
    for (let change = 0; change < CHANGES; change += 1) await streams.grow();
    const keeping = await node(streams.store, 64 * 1024 * 1024);
    const plain = await node(streams.store, 0);
    try {
      const paths = Array.from({ length: 2_000 }, () => {
        const page = randomPage(random, streams.lengths);
        return pathOf({ ...page, limit: 60 });
      });
      const identity = { accept: 'application/json' };
      for (const path of paths) await ask(keeping.origin, path, identity);
      const others = async (): Promise<void> => {
        for (const coding of ['identity', 'gzip', 'identity', 'gzip']) {
          const headers = { ...identity, 'accept-encoding': coding };
          // Fewer than are compressed at once.
          const some = paths.slice(0, 50);
          const found = await Promise.all(some.map((path) => ask(keeping.origin, path, headers)));
          for (const [index, path] of some.entries()) {
            const made = await ask(plain.origin, path, headers);
            expect(found[index]!.body === made.body).toBe(true);
          }
        }
      };
      const expected = await readLate(plain.origin, paths, () => Promise.resolve());
      // More than the system takes for a connection, so that the node holds the rest.
      expect(expected.length).toBeGreaterThan(4 * 1024 * 1024);
      expect((await readLate(keeping.origin, paths, others)) === expected).toBe(true);
    } finally {
      await keeping.close();
      await plain.close();
    }
  });
});
