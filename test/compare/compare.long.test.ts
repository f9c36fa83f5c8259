/** Two nodes of the same chain, one of them changed: the differences found, and what cannot be compared. */
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { padAddress } from '../../src/move/types/address.ts';
import {
  type Comparison,
  compareNodes,
  MAX_REPORTED,
  MAX_UNANSWERED_IN_ROW,
} from '../../src/node/commands/compare/compare.ts';
import { PRUNED_BY_ONE } from '../../src/node/commands/compare/known-differences.ts';
import { NodeClient } from '../../src/node/commands/compare/node-client.ts';
import { startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import type { NodeSettings } from '../../src/node/settings/settings.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { Batch } from '../../src/store/batch.ts';
import { BALANCE } from '../../src/store/columns/balance-column.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'daybook-compare-'));
const data = join(folder, 'ledger');
const NEVER = () => undefined;

const CHUNKS = [
  ...bulkChunks({ seed: 4, transactions: 400, accounts: 20, chunkTransactions: 100 }),
];
/** Chunks that only a longer ledger has. */
const LATER = CHUNKS.splice(-1);

beforeAll(async () => {
  const store = await openSqliteStore({ directory: data });
  const writer = await LedgerWriter.open(store);
  for (const chunk of CHUNKS) await writer.append(chunk);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The URL of a node serving a ledger. */
async function served(location: string, settings: Partial<NodeSettings> = {}): Promise<string> {
  const unbounded = { maxBacklogMs: 0 };
  const node = await startEmbeddedNode({ data: location, settings: { ...unbounded, ...settings } });
  onTestFinished(() => node.stop());
  return node.url;
}

/** A copy of the ledger with changes. */
async function changed(
  name: string,
  change: (
    writer: LedgerWriter,
    store: Awaited<ReturnType<typeof openSqliteStore>>,
  ) => Promise<unknown>,
): Promise<string> {
  const copy = join(folder, name);
  cpSync(data, copy, { recursive: true });
  const store = await openSqliteStore({ directory: copy });
  await change(await LedgerWriter.open(store), store);
  await store.close();
  return copy;
}

async function compare(
  url: string,
  requests?: readonly object[],
  location = data,
): Promise<Comparison> {
  let requestsFile: string | undefined;
  if (requests !== undefined) {
    requestsFile = join(folder, 'requests.jsonl');
    writeFileSync(requestsFile, requests.map((one) => `${JSON.stringify(one)}\n`).join(''));
  }
  return await compareNodes({ data: location, url, requestsFile, onProgress: NEVER });
}

/** A server that is not a node, or an unusual one. */
async function strange(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe('a comparison', () => {
  it('of a ledger with itself finds everything equal, of every operation that reads', async () => {
    const { counts, reported, fromVersion, toVersion } = await compare(
      await served(data, { headerPrefix: 'X-Aptos' }),
    );
    expect(reported).toEqual([]);
    expect(counts).toMatchObject({ different: 0, known: 0, skipped: 0, unanswered: 0 });
    expect(counts.equal).toBe(counts.requests);
    expect(counts.requests).toBeGreaterThan(400);
    expect(counts.requests).toBeLessThan(5_000);
    expect([fromVersion, toVersion]).toEqual([0n, LATER[0]!.firstVersion - 1n]);
  });

  it('finds one changed row', async () => {
    const copy = await changed('row', async (writer, store) => {
      const owner = Buffer.from(CAFE_HEX.slice(2).padStart(64, '0'), 'hex');
      const metadata = Buffer.from(padAddress('a'), 'hex');
      const row = (await BALANCE.get(store, { owner, metadata }))!;
      const batch = new Batch();
      BALANCE.put(batch, { owner, metadata }, { ...row, coin: row.coin! + 1n });
      await store.commit(batch);
      expect(writer.head).toBeDefined();
    });
    const { reported, counts } = await compare(await served(copy));
    expect(counts.different).toBe(reported.length);
    expect(reported.length).toBeGreaterThan(0);
    const places = [`/v1/accounts/${CAFE_HEX}/balance/`, '/v1/view'];
    for (const { path } of reported) expect(places.some((one) => path.startsWith(one))).toBe(true);
    const balances = reported.filter(({ path }) => path.includes('/balance/'));
    const json = balances.find(({ accept }) => accept === 'application/json')!;
    const [{ place, ours, theirs }] = json.differences as [
      Comparison['reported'][0]['differences'][0],
    ];
    expect(place).toBe('body $');
    expect(BigInt(theirs!) - BigInt(ours!)).toBe(1n);
    const bcs = balances.find(({ accept }) => accept === 'application/x-bcs')!;
    expect(bcs.differences[0]!.place).toBe('body byte 0 of 8');
  });

  it('finds another setting', async () => {
    const { reported } = await compare(await served(data, { maxPageSize: 1 }));
    expect(reported.length).toBeGreaterThan(0);
    for (const { path } of reported) expect(path).toMatch(/events|transactions/);
  });

  it('is at versions that both have', async () => {
    const longer = await changed('longer', async (writer) => {
      for (const chunk of LATER) await writer.append(chunk);
      await writer.advanceOldest(LATER[0]!.blocks[0]!);
    });
    const apart = compare(await served(longer));
    await expect(apart).rejects.toMatchObject({ code: 'not_comparable', exitCode: 2 });
    await expect(apart).rejects.toThrow(/^no version is in both ledgers: this one has 0 to /);
  });

  it('of a pruned copy finds only what is pruned, either way round', async () => {
    const copy = await changed('pruned', async (writer) => {
      await writer.advanceOldest(CHUNKS.at(-1)!.blocks[0]!);
    });
    const { counts, reported, known } = await compare(await served(copy));
    expect([counts.different, counts.skipped, reported]).toEqual([0, 0, []]);
    expect(known.get(PRUNED_BY_ONE)).toBeGreaterThan(5);
    const requests = [
      { path: '/v1/blocks/by_height/0' },
      { path: '/v1/transactions/by_version/1', headers: { accept: 'application/x-bcs' } },
    ];
    const url = await served(data);
    const other = await compare(url, requests, copy);
    expect(other.counts).toMatchObject({ requests: 2, known: 2, different: 0 });
    expect([...other.known]).toEqual([[PRUNED_BY_ONE, 2]]);
  });

  it('leaves out what depends on the newest version, and what is executed', async () => {
    const grown = await changed('grown', async (writer) => {
      for (const chunk of LATER) await writer.append(chunk);
    });
    const url = await served(grown);
    const { counts, known, reported } = await compare(url, [
      { path: '/v1' },
      { path: '/v1/transactions', method: 'GET', headers: {} },
      { path: '/v1/transactions', method: 'POST', headers: {}, body: '{}' },
      { path: `/v1/accounts/${CAFE_HEX}/resources`, answer: { status: 200 } },
      { path: '/v1/info' },
    ]);
    expect(reported).toEqual([]);
    expect(counts).toMatchObject({ requests: 5, skipped: 3, equal: 2 });
    expect(known.size).toBe(0);
  });

  it.each([MAX_REPORTED - 1, MAX_REPORTED, MAX_REPORTED + 1])(
    'reports %i requests',
    async (count) => {
      const own = await served(data);
      const url = await strange(async (request, response) => {
        const answer = await fetch(own + request.url!.slice('/v1'.length));
        const { 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
        response.writeHead(200, headers).end('1');
      });
      const requests = Array.from({ length: count }, () => ({ path: '/v1/accounts/0x1' }));
      const { counts, reported } = await compare(url, requests);
      expect(counts.different).toBe(count);
      expect(reported).toHaveLength(Math.min(count, MAX_REPORTED));
    },
  );
});

describe('what cannot be compared', () => {
  const NODE = {
    'x-aptos-chain-id': '204',
    'x-aptos-ledger-version': '400',
    'x-aptos-ledger-oldest-version': '0',
    'content-type': 'application/json',
  };

  it.each([
    ['ftp://x', 'bad_setting', /is not the URL of a node/],
    ['http://127.0.0.1:1/v1', 'not_comparable', /does not answer: cannot reach/],
  ])('%s', async (url, code, message) => {
    await expect(compare(url)).rejects.toMatchObject({
      code,
      exitCode: 2,
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    [{}, /without ledger headers: it is not a node/],
    [{ ...NODE, 'x-aptos-chain-id': '1' }, /is of chain 1, this ledger of chain 204/],
  ])('a node that answers with %o', async (headers, message) => {
    const url = await strange((_, response) => response.writeHead(200, headers).end('{}'));
    await expect(compare(url)).rejects.toMatchObject({
      code: 'not_comparable',
      message: expect.stringMatching(message) as string,
    });
  });

  it('an answer that breaks off, again and again', async () => {
    const url = await strange((request, response) => {
      response.writeHead(200, { ...NODE, 'content-length': '9' });
      if (request.url === '/v1') response.end('{}       ');
      else response.write('{}', () => response.destroy());
    });
    const { counts, firstFailure } = await compare(url, [{ path: '/v1/accounts/0x1' }]);
    expect(counts).toMatchObject({ requests: 1, unanswered: 1 });
    expect(firstFailure).toMatch(/^GET \/v1\/accounts\/0x1\?ledger_version=/);
  });

  it('a node that answers nothing any more is not asked all of it', async () => {
    const url = await strange((request, response) => {
      const busy = { ...NODE, 'retry-after': '999' };
      response.writeHead(request.url === '/v1' ? 200 : 503, busy).end('{}');
    });
    const { counts, isCutShort } = await compare(url);
    expect(isCutShort).toBe(true);
    expect(counts.unanswered).toBe(counts.requests);
    expect(counts.unanswered).toBeGreaterThanOrEqual(MAX_UNANSWERED_IN_ROW);
    expect(counts.unanswered).toBeLessThan(2 * MAX_UNANSWERED_IN_ROW);
  });

  it.each([MAX_UNANSWERED_IN_ROW - 1, MAX_UNANSWERED_IN_ROW])(
    'up to %i requests without an answer are all asked, and more where others have one',
    async (count) => {
      const url = await strange((request, response) => {
        const isAnswered = request.url === '/v1' || request.url!.includes('0x2');
        response.writeHead(isAnswered ? 200 : 503, { ...NODE, 'retry-after': '999' }).end('{}');
      });
      const row = Array.from({ length: count }, () => ({ path: '/v1/accounts/0x1' }));
      const found = await compare(url, row);
      expect([found.isCutShort, found.counts.unanswered]).toEqual([false, count]);
      const mixed = [...row, ...row].flatMap((one) => [one, { path: '/v1/accounts/0x2' }]);
      const other = await compare(url, mixed);
      expect([other.isCutShort, other.counts.requests]).toEqual([false, 4 * count]);
    },
  );

  it.each([
    ['{"path":"/v1"', /line 1: /],
    ['[]', /path must be a text that begins with \/v1/],
    ['{"path":"/v2"}', /path must be/],
    ['{"path":"/v1/a b"}', /path must be/],
    ['{"path":"/v1#x"}', /path must be/],
    ['{"path":"/v1","method":"PUT"}', /method must be GET or POST/],
    ['{"path":"/v1","headers":{"accept":1}}', /headers must be/],
    ['{"path":"/v1","headers":{"accept":"a\\r\\nb"}}', /headers must be/],
    ['{"path":"/v1","body":{}}', /body must be a text/],
    ['{"path":"/v1","body_hex":"0"}', /body_hex must be hex/],
  ])('a file with the line %s', async (line, message) => {
    const url = await served(data);
    const requestsFile = join(folder, 'bad.jsonl');
    writeFileSync(requestsFile, line);
    const comparison = compareNodes({ data, url, requestsFile, onProgress: NEVER });
    await expect(comparison).rejects.toMatchObject({
      code: 'bad_input',
      exitCode: 2,
      message: expect.stringMatching(message) as string,
    });
  });

  it('a file that is not there', async () => {
    const request = { data, url: await served(data), requestsFile: join(folder, 'none') };
    await expect(compareNodes({ ...request, onProgress: NEVER })).rejects.toMatchObject({
      code: 'file_not_readable',
      exitCode: 2,
    });
  });
});

describe('a busy node', () => {
  const LIMITS = { maxAttempts: 3, maxWaitMs: 2_000, timeoutMs: 10_000, maxAnswerBytes: 10 };
  const REQUEST = { method: 'GET', path: '/v1/x', headers: {} } as const;

  /** Refuses the first `times` requests. */
  async function refusing(times: number, status: number, retryAfter?: string) {
    let asked = 0;
    const url = await strange((_, response) => {
      asked += 1;
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      response.writeHead(asked <= times ? status : 200, asked <= times ? headers : {}).end();
    });
    const client = new NodeClient(new URL(url), LIMITS);
    onTestFinished(() => client.close());
    const answer = await client.send(REQUEST);
    return [typeof answer === 'string' ? answer : answer.status, asked];
  }

  it('is asked again when it says so', async () => {
    expect(await refusing(2, 429)).toEqual([200, 3]);
    expect(await refusing(1, 503, '1')).toEqual([200, 2]);
    expect(await refusing(1, 503)).toEqual([503, 1]);
    expect(await refusing(2, 503, '0')).toEqual([200, 3]);
    expect(await refusing(3, 503, '0')).toEqual(['it is busy: status 503', 3]);
  });

  it('is not waited for too long', async () => {
    expect(await refusing(1, 503, '2')).toEqual([200, 2]);
    expect(await refusing(1, 503, '3')).toEqual(['it is busy: status 503', 1]);
  });

  it.each([
    [LIMITS.maxAnswerBytes - 1, 200],
    [LIMITS.maxAnswerBytes, 200],
    [LIMITS.maxAnswerBytes + 1, undefined],
  ])('may answer with %i bytes', async (bytes, status) => {
    const url = await strange((_, response) => response.end('x'.repeat(bytes)));
    const client = new NodeClient(new URL(url), LIMITS);
    onTestFinished(() => client.close());
    const answer = await client.send(REQUEST);
    expect(typeof answer === 'string' ? undefined : answer.status).toBe(status);
  });
});
