/** An upstream that fails, lies or withholds data: no response is wrong, and nothing invalid is stored. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { ADDRESS_ONE, addressBytes, parseAddress } from '../../src/move/types/address.ts';
import {
  type HashedStateKey,
  hashedStateKey,
  moduleStateKey,
} from '../../src/move/types/state-key.ts';
import { FORK_LIMITS, ForkClient } from '../../src/state/fork/fork-client.ts';
import { forkSource } from '../../src/state/fork/fork-source.ts';
import { ForkState } from '../../src/state/fork/fork-state.ts';
import { forkAnchor } from '../../src/state/fork/make-fork.ts';
import { ForkRecorder, offlineSource } from '../../src/state/fork/recorder.ts';
import type { Batch } from '../../src/store/batch.ts';
import { FORK_LAYOUT, FORK_STATE } from '../../src/store/columns/fork-columns.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { answer, type Interference, NodeBetween } from './node-between.ts';

const BCS = 'application/x-bcs';
const RESOURCE = '/v1/accounts/0x1/resource/0x1::chain_id::ChainId';
const RAW = '/v1/experimental/state_values/raw';
const JSON_TYPE = 'application/json';

async function forkBetween() {
  const upstream = await serveStore(await sampleStore(60));
  const node = await NodeBetween.before(upstream.url);
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: node.url });
  return { upstream, node, data, fork };
}

async function rowsOfState(store: StoreReader): Promise<number> {
  const statistics = await store.statistics();
  return statistics.find(({ column }) => column === FORK_STATE)!.rows;
}

const HEADERS = { 'content-type': BCS, 'x-node-chain-id': '204', 'x-node-ledger-version': '9999' };
const JSON_HEADERS = { ...HEADERS, 'content-type': JSON_TYPE };
const error = (code: string) => JSON.stringify({ message: 'no', error_code: code });
/** BCS of one summary: account 0xcafe, version 7, a hash of zeros, sequence number 0. */
const SUMMARY_OF_7 = encodeBcs((writer) =>
  writer
    .u8(1)
    .u8(0)
    .fixed(addressBytes(parseAddress('0xcafe')))
    .u64(7n)
    .fixed(Buffer.alloc(32))
    .u8(1)
    .u64(0n),
);
/** BCS of a state value: variant 0, then the bytes 0xcc. */
const VALUE = Buffer.of(0, 1, 0xcc);
const SHORT = 'HTTP/1.1 200 OK\r\ncontent-type: application/x-bcs\r\ncontent-length: 9\r\n\r\n\0';

const FAULTS: readonly (readonly [what: string, fault: Interference, reason: string])[] = [
  ['a redirect', answer(302, { location: 'http://127.0.0.1:1/' }), 'upstream_not_a_node'],
  ['HTML', answer(200, { 'content-type': 'text/html' }, '<p>Welcome</p>'), 'upstream_not_a_node'],
  ['an HTML error', answer(502, { 'content-type': 'text/html' }, 'bad'), 'upstream_not_a_node'],
  ['a failure', answer(500, {}, '{"message":"no disk","error_code":"internal_error"}'), 'no disk'],
  ['JSON', answer(200, { ...HEADERS, 'content-type': JSON_TYPE }, '1'), 'upstream_not_a_node'],
  ['BCS cut short', answer(200, HEADERS, VALUE.subarray(0, 2)), 'bad_answer'],
  ['BCS with more', answer(200, HEADERS, Buffer.concat([VALUE, VALUE])), 'bad_answer'],
  ['no ledger headers', answer(200, { 'content-type': BCS }, VALUE), 'upstream_not_a_node'],
  ['another chain', answer(200, { ...HEADERS, 'x-node-chain-id': '77' }, VALUE), 'other_chain'],
  [
    'an old ledger',
    answer(200, { ...HEADERS, 'x-node-ledger-version': '3' }, VALUE),
    'upstream_behind',
  ],
  ['a cut answer', (response) => response.socket!.end(SHORT), 'upstream_cut'],
  ['a cut connection', (response) => response.destroy(), 'upstream_cut'],
  ['a coding', answer(200, { ...HEADERS, 'content-encoding': 'br' }, VALUE), 'not_a_node'],
];

describe('an upstream that gives', () => {
  it.each(FAULTS)('%s is a 503, and nothing is stored', async (_, fault, reason) => {
    const { node, fork } = await forkBetween();
    node.interfere = ({ url }) => (url!.startsWith(RAW) ? fault : undefined);
    const before = await rowsOfState(fork.store);
    const failed = await fork.app.request(RESOURCE);
    expect([failed.statusCode, failed.json().error_code]).toEqual([503, 'internal_error']);
    expect(failed.json().message).toContain(reason);
    expect(failed.headers['retry-after']).toBeDefined();
    expect(await rowsOfState(fork.store)).toBe(before);
    node.interfere = undefined;
    expect((await fork.app.request(RESOURCE)).statusCode).toBe(200);
  });
});

describe('an upstream', () => {
  it('that is busy is left alone for as long as it says', async () => {
    const { node, fork } = await forkBetween();
    let refused = 0;
    node.interfere = ({ url }) => {
      if (!url!.startsWith(RAW) || refused === 2) return undefined;
      refused += 1;
      return answer(refused === 1 ? 429 : 503, { 'retry-after': '1' });
    };
    const startedMs = performance.now();
    expect((await fork.app.request(RESOURCE)).statusCode).toBe(200);
    expect(refused).toBe(2);
    expect(performance.now() - startedMs).toBeGreaterThan(950);
  });

  it('that is busy for longer than a question may take is a 503 with its wait', async () => {
    const { node, fork } = await forkBetween();
    node.interfere = () => answer(429, { 'retry-after': '3600' });
    const failed = await fork.app.request(RESOURCE);
    expect([failed.statusCode, failed.headers['retry-after']]).toEqual([503, '3600']);
    expect(failed.json().message).toContain('upstream_busy');
    const asked = node.got.length;
    const again = await fork.app.request(RESOURCE);
    expect([again.statusCode, node.got.length]).toEqual([503, asked]);
  });

  it.each([
    ['/blocks/by_height/1', answer(404, JSON_HEADERS, error('block_not_found'))],
    ['/accounts/0xcafe/transaction_summaries', answer(200, HEADERS, SUMMARY_OF_7)],
    ['/accounts/0xcafe/balances', answer(200, { ...HEADERS, 'x-node-cursor': 'x' }, Buffer.of(0))],
  ])('that says what cannot be of %s is a 503', async (path, lie) => {
    const { node, fork } = await forkBetween();
    node.interfere = ({ url }) => (url!.startsWith(`/v1${path}`) ? lie : undefined);
    const query = path.endsWith('summaries') ? '?start_version=8' : '';
    const failed = await fork.app.request(`/v1${path}${query}`);
    expect([failed.statusCode, failed.json().error_code]).toEqual([503, 'internal_error']);
  });

  it('that has pruned a version is a 410, and nothing is stored', async () => {
    const { node, fork } = await forkBetween();
    const message = 'Ledger version(7) has been pruned';
    const pruned = answer(
      410,
      { ...HEADERS, 'content-type': JSON_TYPE },
      JSON.stringify({ message, error_code: 'version_pruned', vm_error_code: null }),
    );
    node.interfere = ({ url }) => (url!.startsWith(RAW) ? pruned : undefined);
    const failed = await fork.app.request(`${RESOURCE}?ledger_version=7`);
    expect(failed.statusCode).toBe(410);
    expect(failed.json()).toMatchObject({ message, error_code: 'version_pruned' });
    expect(await rowsOfState(fork.store)).toBe(0);
  });

  it('of another history is refused, at the start and while the fork runs', async () => {
    const { node, data, fork } = await forkBetween();
    const other = await serveStore(await sampleStore(60, { seed: 6 }));
    expect((await fork.app.request(RESOURCE)).statusCode).toBe(200);
    await fork.stop();
    const store = await openSqliteStore({ directory: data, layout: FORK_LAYOUT });
    const client = new ForkClient(new URL(node.url));
    onTestFinished(() => client.close());
    const alwaysMs = 0;
    const source = new ForkRecorder(store, client, (await forkAnchor(store))!, alwaysMs);
    const running = await serveStore(store, forkSource(source));
    expect((await running.app.request(`${RESOURCE}?ledger_version=5`)).statusCode).toBe(200);
    node.leadTo(other.url);
    const failed = await running.app.request(`${RESOURCE}?ledger_version=6`);
    expect([failed.statusCode, failed.json().message]).toEqual([
      503,
      expect.stringContaining('other_history'),
    ]);
    await running.stop();
    await store.close();
    await expect(serveFork({ data, fork: node.url })).rejects.toMatchObject({
      code: 'fork_failed',
      message: expect.stringContaining('other_history'),
    });
    const offline = await serveFork({ data, offline: true });
    expect((await offline.app.request(RESOURCE)).statusCode).toBe(200);
  });
});

describe('an upstream that hides raw values', () => {
  it.each([
    ['by a setting', answer(403, { 'content-type': JSON_TYPE }, '{"error_code":"api_disabled"}')],
    ['behind a proxy', answer(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>')],
  ])('%s is asked for single items', async (_, hidden) => {
    const ledger = await sampleStore(120);
    const upstream = await serveStore(ledger);
    const node = await NodeBetween.before(upstream.url);
    node.interfere = ({ url }) => (url!.startsWith(RAW) ? hidden : undefined);
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: node.url });
    const publisher = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
    for (const path of [
      '/accounts/0x1/resource/0x1::chain_id::ChainId',
      '/accounts/0xa/resource/0x1::object::ObjectCore',
      '/accounts/0xa/resource/0x1::fungible_asset::Metadata',
      '/accounts/0xa/resource/0x1::fungible_asset::FungibleStore',
      `/accounts/${publisher}/balance/0xa`,
      `/accounts/${publisher}/balance/0x1::aptos_coin::AptosCoin`,
      `/accounts/${publisher}/module/ticker`,
      `/accounts/${publisher}/modules`,
      `/accounts/${publisher}/resources`,
      '/accounts/0x77/balance/0xa',
    ]) {
      const wanted = await upstream.app.request(`/v1${path}`);
      const found = await fork.app.request(`/v1${path}`);
      expect([path, found.statusCode, found.body]).toEqual([path, wanted.statusCode, wanted.body]);
    }
    const asked = node.got.filter((request) => request.includes(RAW)).length;
    expect(asked).toBeLessThan(16);
    const failed = await fork.app.request({
      method: 'POST',
      url: RAW,
      headers: { 'content-type': JSON_TYPE, accept: BCS },
      body: JSON.stringify({ key: `0x02${'00'}` }),
    });
    expect([failed.statusCode, failed.json().message]).toEqual([
      503,
      expect.stringContaining('hidden'),
    ]);
  });
});

it('raw values that were hidden are asked for again after a while, by all views of a fork', async () => {
  const { node, data, fork } = await forkBetween();
  await fork.stop();
  const store = await openSqliteStore({ directory: data, layout: FORK_LAYOUT });
  onTestFinished(() => store.close());
  const key = (module: string) => hashedStateKey(moduleStateKey(ADDRESS_ONE, module));
  const asked = () => node.got.filter((request) => request.includes(RAW)).length;
  const hidden = answer(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>');
  const read = async (rawHiddenMs: number, version: bigint) => {
    node.got.length = 0;
    const client = new ForkClient(new URL(node.url), { ...FORK_LIMITS, rawHiddenMs });
    onTestFinished(() => client.close());
    const source = new ForkRecorder(store, client, (await forkAnchor(store))!);
    node.interfere = ({ url }) => (url!.startsWith(RAW) ? hidden : undefined);
    // Each request with overrides has a view of its own.
    for (const module of ['chain_id', 'account', 'coin']) {
      expect(await new ForkState({ store, source }).state(key(module), version)).toBeDefined();
    }
    const whileHidden = asked();
    node.interfere = undefined;
    const withMetadata: HashedStateKey = { ...key('object'), needsMetadata: true };
    const value = await Promise.resolve(
      new ForkState({ store, source }).state(withMetadata, version),
    ).catch(({ message }: Error) => message);
    return { whileHidden, value };
  };
  expect(await read(600_000, 9n)).toEqual({
    whileHidden: 1,
    value: expect.stringContaining('hidden'),
  });
  expect(await read(0, 8n)).toMatchObject({ whileHidden: 3, value: { version: 8n } });
});

describe('what is asked for', () => {
  it('with its metadata is not lost to a listing that is recorded meanwhile', async () => {
    const { node, data, fork } = await forkBetween();
    await fork.stop();
    const store = await openSqliteStore({ directory: data, layout: FORK_LAYOUT });
    onTestFinished(() => store.close());
    const client = new ForkClient(new URL(node.url));
    onTestFinished(() => client.close());
    const key = hashedStateKey(moduleStateKey(ADDRESS_ONE, 'chain_id'));
    const withMetadata: HashedStateKey = { ...key, needsMetadata: true };
    let asking: Promise<unknown> | undefined;
    // The value is requested between the listing's check and its commit.
    const slow: Store = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== 'commit') return typeof value === 'function' ? value.bind(target) : value;
        return async (batch: Batch) => {
          if (asking === undefined) {
            asking = state.state(withMetadata, 9n) as Promise<unknown>;
            await Promise.race([asking, sleep(300)]);
          }
          await target.commit(batch);
        };
      },
    });
    const source = new ForkRecorder(slow, client, (await forkAnchor(store))!);
    const state: ForkState = new ForkState({ store: slow, source });
    const { keys } = await state.accountKeys(ADDRESS_ONE, {
      version: 9n,
      limit: 1_000,
      kinds: ['code'],
    });
    expect(keys).toContainEqual(Buffer.from(key.physical));
    await asking;
    const offline = new ForkState({ store, source: offlineSource(data) });
    expect(await offline.state(withMetadata, 9n)).toMatchObject({ version: 9n });
  });

  it('by a thousand requests at once is fetched once', async () => {
    const { node, fork } = await forkBetween();
    node.got.length = 0;
    const url = `${RESOURCE}?ledger_version=9`;
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => fork.app.request(url)));
    expect(new Set(replies.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(replies[0]!.statusCode).toBe(200);
    expect(node.got.length).toBeGreaterThan(0);
    expect(new Set(node.got).size).toBe(node.got.length);
  });
});
