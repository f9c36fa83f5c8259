/** Transactions that the ledger does not have yet, but its upstream has (docs/spec/transactions.md §1.5, §2.4). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MAX_WAITING, PendingTransactions } from '../../src/api/endpoints/pending-transactions.ts';
import type { ApiError } from '../../src/api/error-table.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { HttpUpstream, UPSTREAM_LIMITS } from '../../src/node/serve/upstream.ts';
import type { Store } from '../../src/store/store.ts';
import { followerOf, NEVER } from '../ingest/feed-following.ts';
import {
  referenceTransaction,
  startReferenceFeed,
  storeReferenceChain,
} from '../reference/reference-chain.ts';
import { TestApi, type TestReply } from './client.ts';
import { expectError, LogLines } from './error-answers.ts';
import { type Script, ScriptedNode } from './scripted-node.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** The newest version at the start. Tests may follow further transactions. */
const HEAD = 300;
const CHAIN_ID = 4;
const BCS = 'application/x-bcs';
const NOT_FOUND = '{"message":"…","error_code":"transaction_not_found","vm_error_code":null}';

/** A transaction of the chain, as its parts. */
function transactionAt(version: number) {
  const item = referenceTransaction(version);
  const { data, bytes } = readOnChainData(new BcsReader(item));
  return {
    item,
    kind: data.transaction.kind,
    hash: formatHex(data.info.transactionHash),
    signed: bytes.transaction.subarray(1),
  };
}

/** The first user transaction or the first of another kind, from a version on. */
function firstFrom(version: number, isUser: boolean) {
  let at = version;
  while ((transactionAt(at).kind === 'user') !== isUser) at += 1;
  return { version: at, ...transactionAt(at) };
}

const inBcs =
  (...parts: Uint8Array[]): Script =>
  (response) =>
    response.writeHead(200, { 'content-type': BCS }).end(Buffer.concat(parts));
const committed = (item: Buffer): Script => inBcs(Buffer.of(0), item);
const pending = (signed: Buffer): Script => inBcs(Buffer.of(1), signed);
const answering =
  (status: number, contentType: string, body: string): Script =>
  (response) =>
    response.writeHead(status, { 'content-type': contentType }).end(body);
const notFound = answering(404, 'application/json', NOT_FOUND);

const folder = mkdtempSync(join(tmpdir(), 'daybook-pending-'));
let store: Store;
let feed: Awaited<ReturnType<typeof startReferenceFeed>>;
let node: ScriptedNode;
let upstream: HttpUpstream;
let app: TestApi;

beforeAll(async () => {
  await storeReferenceChain(folder, HEAD);
  store = await openTestedStore({ directory: folder });
  feed = await startReferenceFeed();
  node = await ScriptedNode.start(CHAIN_ID, notFound);
  upstream = upstreamWith(UPSTREAM_LIMITS.maxLookups);
  const settings = apiSettings(NO_LOAD_BOUNDS);
  app = new TestApi(buildApi(openTestedLedger(store), settings, new LogLines(), { upstream }));
});
afterEach(() => {
  node.script = notFound;
  node.got.length = 0;
});
afterAll(async () => {
  await app.close();
  upstream.close();
  await node.stop();
  feed.close();
  feed.closeAllConnections();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Follows everything up to a version into the ledger. */
async function follow(until: number): Promise<void> {
  const { follower } = await followerOf(feed.url, store, { until: BigInt(until) });
  await follower.run(NEVER);
}

const byHash = (hash: string, accept = 'application/json'): Promise<TestReply> =>
  app.request({ url: `/v1/transactions/by_hash/${hash}`, headers: { accept } });
const waitByHash = (hash: string): Promise<TestReply> =>
  app.request(`/v1/transactions/wait_by_hash/${hash}`);
/** The same upstream, with a limit of concurrent requests. */
function upstreamWith(maxLookups: number): HttpUpstream {
  // A busy machine must not count as a slow upstream.
  const limits = { ...UPSTREAM_LIMITS, maxLookups, lookupTimeoutMs: 60_000 };
  return new HttpUpstream(node.url, pino({ level: 'silent' }), limits);
}

const newestVersion = async (): Promise<number> => headOf(await app.request('/v1'));
const headOf = ({ headers }: TestReply): number => Number(headers['x-node-ledger-version']);

/** The pending form of a committed transaction's JSON. */
function asPending(json: string): string {
  const { hash, ...all } = JSON.parse(json) as Record<string, unknown>;
  const names = Object.keys(all);
  const request = names.slice(names.indexOf('sender'), names.indexOf('events'));
  const members = Object.fromEntries(request.map((name) => [name, all[name]]));
  return JSON.stringify({ hash, ...members, type: 'pending_transaction' });
}

describe('a transaction that the ledger has', () => {
  it('is answered without a question', async () => {
    const { hash, item } = firstFrom(10, true);
    const reply = await byHash(hash, BCS);
    expect([reply.statusCode, reply.bytes.subarray(1)]).toEqual([200, item]);
    expect((await waitByHash(hash)).json()).toMatchObject({ hash, type: 'user_transaction' });
    expect(node.got).toEqual([]);
  });
});

describe('a transaction that nobody has', () => {
  it.each([byHash, waitByHash])('is 404', async (ask) => {
    const hash = `0x${'ab'.repeat(32)}`;
    const text = `Transaction not found by Transaction hash(${hash})`;
    expectError(await ask(hash), 404, 'transaction_not_found', text);
    expect(node.got).toHaveLength(1);
    expect(node.got[0]).toMatchObject({
      method: 'GET',
      url: `/v1/transactions/by_hash/${hash}`,
      headers: { accept: BCS, via: '1.1 daybook' },
    });
  });
});

describe('a transaction that the upstream has', () => {
  const ahead = firstFrom(HEAD + 1, true);
  const { hash, signed, item } = ahead;

  it.each([
    ['pending', pending(signed)],
    ['committed', committed(item)],
  ])('%s there is pending here', async (_, script) => {
    node.script = script;
    const bcs = await byHash(hash, BCS);
    expect([bcs.statusCode, bcs.headers['content-type']]).toEqual([200, BCS]);
    expect(bcs.bytes).toEqual(Buffer.concat([Buffer.of(1), signed]));
    const json = await byHash(hash);
    expect(json.statusCode).toBe(200);
    expect(json.json()).toMatchObject({ hash, type: 'pending_transaction' });
    expect(headOf(json)).toBe(HEAD);
    for (const { headers } of [bcs, json]) expect(headers['cache-control']).toBeUndefined();
  });

  it('is 404 where no user signed it, since there is no pending form', async () => {
    const other = firstFrom(HEAD + 1, false);
    node.script = committed(other.item);
    expect((await byHash(other.hash)).statusCode).toBe(404);
    expect((await waitByHash(other.hash)).statusCode).toBe(404);
  });

  it('and that is pruned here is 404 at once', async () => {
    // The upstream's transaction has a version that the ledger has passed, with another transaction in its place.
    const old = { ...ahead, item: Buffer.from(item) };
    old.item.writeBigUInt64LE(BigInt(HEAD));
    node.script = committed(old.item);
    expect((await waitByHash(hash)).statusCode).toBe(404);
  });

  it('is waited for, a second and no more', async () => {
    node.script = pending(signed);
    const reply = await waitByHash(hash);
    expect(reply.json()).toMatchObject({ hash, type: 'pending_transaction' });
    expect(node.got).toHaveLength(1);
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])(
    'is waited for by the limit and %i more at once: %i are answered at once',
    async (more, extra) => {
      const next = firstFrom((await newestVersion()) + 1, true);
      node.script = pending(next.signed);
      const ledger = openTestedLedger(store);
      const roomy = upstreamWith(MAX_WAITING + 1);
      onTestFinished(() => roomy.close());
      // Long enough for the slowest machine to receive the transaction.
      const waiting = new PendingTransactions(ledger, roomy, 60_000);
      const count = MAX_WAITING + more;
      let done = 0;
      const finds = Array.from({ length: count }, async () => {
        const found = await waiting.find({
          hash: Buffer.from(next.hash.slice(2), 'hex'),
          headers: {},
          findCommitted: async (view) => {
            try {
              return await view.history.transactionByHash(
                Buffer.from(next.hash.slice(2), 'hex'),
                '',
              );
            } catch {
              return undefined;
            }
          },
          canWait: true,
        });
        done += 1;
        return found!;
      });
      await expect.poll(() => [roomy.waiting, done], { timeout: 30_000 }).toEqual([0, extra]);
      await follow(next.version);
      const found = await Promise.all(finds);
      expect(found.filter(({ signed }) => signed !== undefined).length).toBe(extra);
      expect(found.filter(({ item }) => item?.equals(next.item)).length).toBe(count - extra);
    },
  );

  it('comes as committed when the ledger has it, with the headers of then', async () => {
    const next = firstFrom((await newestVersion()) + 1, true);
    let asked = (): void => undefined;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    node.script = (response, request) => {
      // The ledger has the transaction before the upstream has responded.
      void wasAsked.then(() => pending(next.signed)(response, request));
      void follow(next.version).then(asked);
    };
    const reply = await waitByHash(next.hash);
    expect(reply.json()).toMatchObject({ hash: next.hash, type: 'user_transaction' });
    expect(headOf(reply)).toBeGreaterThanOrEqual(next.version);
    const again = await byHash(next.hash);
    expect(again.body).toBe(reply.body);
    // The pending form has the same request fields as the committed one.
    const later = firstFrom(next.version + 1, true);
    node.script = pending(later.signed);
    const before = await byHash(later.hash);
    await follow(later.version);
    expect(before.body).toBe(asPending((await byHash(later.hash)).body));
  });
});

describe('questions that wait for the upstream', () => {
  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])('the limit and %i more: %i are refused', async (more, refused) => {
    const maxLookups = 3;
    const limited = upstreamWith(maxLookups);
    onTestFinished(() => limited.close());
    const held: (() => void)[] = [];
    node.script = (response, request) => void held.push(() => notFound(response, request));
    const count = maxLookups + more;
    const asked = Array.from({ length: count }, () =>
      limited.transactionByHash(Buffer.alloc(32), CHAIN_ID, {}).then(
        () => 'answered',
        (error: unknown) => (error as ApiError).message,
      ),
    );
    await expect.poll(() => held.length, { timeout: 30_000 }).toBe(count - refused);
    expect(limited.waiting).toBe(count - refused);
    for (const release of held) release();
    const outcomes = await Promise.all(asked);
    const text = /Too many requests wait for the upstream node$/;
    expect(outcomes.filter((outcome) => text.test(outcome)).length).toBe(refused);
  });
});

describe('an upstream that cannot tell', () => {
  const hash = `0x${'cd'.repeat(32)}`;
  const CANNOT = 'This node does not have the transaction, and its upstream cannot tell: ';
  const NO_ANSWER = "The upstream node gave no answer of a node's interface: ";
  const other = firstFrom(10, true);

  it.each<readonly [string, Script, string]>([
    ['HTML', answering(404, 'text/html', '<p>'), 'status 404 with text/html'],
    [
      'a path that it does not know',
      answering(404, 'application/json', '{"error_code":"web_framework_error"}'),
      'status 404 with application/json',
    ],
    ['a failure', answering(500, 'application/json', '{}'), 'status 500 with application/json'],
    ['JSON', answering(200, 'application/json', '{}'), 'status 200 with application/json'],
    ['no transaction', inBcs(Buffer.of(1, 2, 3)), 'bytes that are no transaction'],
    ['another variant', inBcs(Buffer.of(2)), 'bytes that are no transaction'],
    [
      'more than a transaction',
      pending(Buffer.concat([other.signed, Buffer.of(0)])),
      'bytes that are no transaction',
    ],
    ['another transaction', committed(other.item), 'a transaction with another hash'],
    ['another pending one', pending(other.signed), 'a transaction with another hash'],
  ])('because it answers %s', async (_, script, problem) => {
    node.script = script;
    for (const ask of [byHash, waitByHash]) {
      const reply = await ask(hash);
      expectError(reply, 503, 'internal_error', CANNOT + NO_ANSWER + problem);
      expect(reply.headers['retry-after']).toBe('1');
      expect(headOf(reply)).toBeGreaterThanOrEqual(HEAD);
    }
  });
});
