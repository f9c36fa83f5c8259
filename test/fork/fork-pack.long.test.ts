/** Packed forks: they respond like the original fork, and any other file is refused. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startNode } from '../../src/index.ts';
import { ledgerStatus } from '../../src/node/commands/status.ts';
import { packFork, unpackFork } from '../../src/node/fork-pack.ts';
import { withReader } from '../../src/node/open-store.ts';
import { packedStore } from '../../src/node/packed-store.ts';
import { FORK_LAYOUT, type StoreLayout } from '../../src/store/columns/fork-columns.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { TestApi } from '../api/client.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { Random, testSeed } from '../random.ts';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import { type ServedLedger, serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { type AnyRequest, requestsFor } from './random-requests.ts';

const seed = testSeed('fork-pack');
const HEAD_BYTES = 32;

/** A fork of a served ledger, stopped after some requests. */
async function recordedFork(upstream: ServedLedger, paths: readonly string[]): Promise<string> {
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: upstream.url });
  for (const path of paths) expect((await fork.app.request(`/v1${path}`)).statusCode).toBe(200);
  await fork.stop();
  return data;
}

async function answerOf(app: TestApi, { method, path, headers, body }: AnyRequest) {
  const reply = await app.request({ method, url: `/v1${path}`, headers, body });
  return { status: reply.statusCode, etag: reply.headers.etag, body: reply.bytes };
}

const FEW = ['/accounts/0x1', '/accounts/0x1/module/coin'];

describe('a packed fork', () => {
  it('of a test with 50 reads is under 1 MB, and a node starts from it', async () => {
    const ledger = await sampleStore(300);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: upstream.url });
    const requests = await requestsFor(ledger, seed, 50);
    const expected: Awaited<ReturnType<typeof answerOf>>[] = [];
    for (const request of requests) expected.push(await answerOf(fork.app, request));
    await fork.stop();
    await upstream.stop();
    const file = join(temporaryFolder(), 'fork.pack');
    const { packBytes } = await packFork(data, file);
    expect(packBytes).toBe(statSync(file).size);
    expect(packBytes).toBeLessThan(1_000_000);
    const unpacked = join(temporaryFolder(), 'unpacked');
    await unpackFork(file, unpacked);
    const again = await serveFork({ data: unpacked, offline: true });
    for (const [index, request] of requests.entries()) {
      expect([request, await answerOf(again.app, request)]).toEqual([request, expected[index]]);
    }
    const node = await startNode({ fork: { pack: file } });
    const index = requests.findIndex(({ method }) => method === 'GET');
    const { path, headers } = requests[index]!;
    const answered = await fetch(node.url + path, { headers });
    expect(Buffer.from(await answered.arrayBuffer())).toEqual(expected[index]!.body);
    const missed = await fetch(`${node.url}/accounts/0xabcdef/resource/0x1::coin::Coin`);
    expect(missed.status).toBe(503);
    await node.stop();
  });

  it('goes on recording where it was unpacked', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const file = join(temporaryFolder(), 'fork.pack');
    await packFork(await recordedFork(upstream, FEW), file);
    const data = join(temporaryFolder(), 'unpacked');
    await unpackFork(file, data);
    const before = upstream.got.length;
    const fork = await serveFork({ data, fork: upstream.url });
    // Opening a fork compares its history with the upstream's.
    const opened = upstream.got.length;
    for (const path of FEW) await fork.app.request(`/v1${path}`);
    expect(upstream.got.length).toBe(opened);
    expect(opened).toBeGreaterThan(before);
    expect((await fork.app.request('/v1/accounts/0x1/module/account')).statusCode).toBe(200);
    expect(upstream.got.length).toBeGreaterThan(opened);
    await packFork(data, join(temporaryFolder(), 'while-it-is-served.pack'));
  });

  it('is refused with any bit flipped, any part missing or anything after it', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const folder = temporaryFolder();
    const file = join(folder, 'fork.pack');
    await packFork(await recordedFork(upstream, ['/accounts/0x1']), file);
    const pack = readFileSync(file);
    const data = join(folder, 'unpacked');
    const random = new Random(seed);
    const places = new Set(Array.from({ length: HEAD_BYTES }, (_, index) => index));
    for (let more = 0; more < 100; more += 1) places.add(random.below(pack.length));
    const damaged = [...places].map((place) => {
      const bytes = Buffer.from(pack);
      bytes[place]! ^= 1 << random.below(8);
      return bytes;
    });
    damaged.push(Buffer.alloc(0), pack.subarray(0, HEAD_BYTES), pack.subarray(0, -1));
    damaged.push(Buffer.concat([pack, Buffer.of(0)]));
    for (const bytes of damaged) {
      writeFileSync(file, bytes);
      await expect(unpackFork(file, data)).rejects.toMatchObject({ code: 'damaged' });
    }
    expect(existsSync(data)).toBe(false);
  });

  it('is refused when its file is not that of a fork', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const folder = temporaryFolder();
    const file = join(folder, 'fork.pack');
    const data = join(folder, 'unpacked');
    const refusal = async (contents: Uint8Array) => {
      writeFileSync(file, await packedStore(contents));
      return await unpackFork(file, data).then(
        () => 'unpacked',
        ({ code, cause }) => `${code}: ${cause?.code}`,
      );
    };
    const fileOf = async (name: string, layout?: StoreLayout) => {
      const store = await openSqliteStore({
        directory: join(folder, name),
        ...(layout && { layout }),
      });
      await store.close();
      return readFileSync(join(folder, name, 'ledger.db'));
    };
    expect(await refusal(Buffer.alloc(0))).toMatch(/^data_not_usable: /);
    expect(await refusal(Buffer.alloc(8_192, 7))).toMatch(/^data_not_usable: /);
    expect(await refusal(await fileOf('ledger'))).toBe('data_not_usable: store_not_fork');
    expect(await refusal(await fileOf('empty', FORK_LAYOUT))).toBe('no_ledger: undefined');
    expect(existsSync(join(data, 'ledger.db'))).toBe(false);
    expect(namesIn(data).filter((name) => name.endsWith('.new'))).toEqual([]);
    await packFork(await recordedFork(upstream, ['/accounts/0x1']), file);
    await expect(unpackFork(file, data)).resolves.toBeDefined();
    await expect(unpackFork(file, data)).rejects.toMatchObject({ code: 'ledger_exists' });
    expect(namesIn(data)).toEqual(STORE_FILES);
  });

  it('is one of the three things that open a fork, as others say', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const data = await recordedFork(upstream, []);
    await expect(packFork(data, join(temporaryFolder(), 'fork.pack'))).resolves.toBeDefined();
    expect(await ledgerStatus(data)).toHaveProperty('fork_of');
    await expect(withReader(data, async () => undefined)).rejects.toMatchObject({
      cause: { code: 'store_is_fork' },
      message: expect.stringMatching(/ serve \(.*\), status and fork pack open it$/),
    });
  });

  it('is made of forks only', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'fork.pack');
    const data = join(folder, 'ledger');
    await expect(packFork(data, file)).rejects.toMatchObject({ code: 'no_ledger' });
    await (await openSqliteStore({ directory: data })).close();
    await expect(packFork(data, file)).rejects.toMatchObject({
      cause: { code: 'store_not_fork' },
    });
    const empty = join(folder, 'empty');
    await (await openSqliteStore({ directory: empty, layout: FORK_LAYOUT })).close();
    await expect(packFork(empty, file)).rejects.toMatchObject({ code: 'no_ledger' });
    expect(existsSync(file)).toBe(false);
    writeFileSync(join(folder, 'notes.txt'), '');
    const upstream = await serveStore(await sampleStore(60));
    await packFork(await recordedFork(upstream, []), file);
    await expect(unpackFork(file, folder)).rejects.toMatchObject({ code: 'data_not_usable' });
    await expect(packFork(data, join(folder, 'absent/fork.pack'))).rejects.toThrow();
  });
});
