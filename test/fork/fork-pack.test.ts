/** Packed forks: the same records make the same bytes, and whatever is not such a file is refused. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packRows, unpackRows } from '../../src/fork/fork-pack.ts';
import { startNode } from '../../src/index.ts';
import { packFork, unpackFork } from '../../src/node/fork-pack.ts';
import { withReader } from '../../src/node/open-store.ts';
import { ledgerStatus } from '../../src/node/status.ts';
import { FORK_LAYOUT } from '../../src/store/columns/fork-columns.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { openView } from '../../src/store/view.ts';
import type { TestApi } from '../api/client.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { Random, testSeed } from '../random.ts';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import { type ServedLedger, serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';
import { type AnyRequest, RequestSource, subjectsOf } from './random-requests.ts';

const seed = testSeed('fork-pack');
const HEAD_BYTES = 'daybook fork pack 1\n'.length + 32;

/** A fork of a served ledger, stopped after some requests. */
async function recordedFork(upstream: ServedLedger, paths: readonly string[]): Promise<string> {
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: upstream.url });
  for (const path of paths) expect((await fork.app.request(`/v1${path}`)).statusCode).toBe(200);
  await fork.stop();
  return data;
}

async function readsOf(store: Store, count: number): Promise<readonly AnyRequest[]> {
  const view = await openView(store);
  const { version, blockHeight } = view.head;
  const items = await view.transactions(0n, Number(version) + 1);
  const source = new RequestSource(new Random(seed), subjectsOf(items), version, blockHeight);
  return Array.from({ length: count }, () => source.next());
}

async function answerOf(app: TestApi, { method, path, headers, body }: AnyRequest) {
  const reply = await app.request({ method, url: `/v1${path}`, headers, body });
  return { status: reply.statusCode, etag: reply.headers.etag, body: reply.bytes };
}

/** A file with other rows and the right digest. */
function withRows(pack: Buffer, rows: Buffer): Buffer {
  const compressed = brotliCompressSync(rows);
  const digest = createHash('sha256').update(compressed).digest();
  return Buffer.concat([pack.subarray(0, HEAD_BYTES - digest.length), digest, compressed]);
}

const FEW = ['/accounts/0x1', '/accounts/0x1/module/coin'];

describe('a packed fork', () => {
  it('of a test with 50 reads is under 1 MB, and a node starts from it', async () => {
    const ledger = await sampleStore(300);
    const upstream = await serveStore(ledger);
    const data = join(temporaryFolder(), 'fork');
    const fork = await serveFork({ data, fork: upstream.url });
    const requests = await readsOf(ledger, 50);
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

  it('has the same bytes for the same records, whenever they were made', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const files = [];
    for (let count = 0; count < 2; count += 1) {
      const data = await recordedFork(upstream, FEW);
      const file = join(temporaryFolder(), 'fork.pack');
      await packFork(data, file);
      files.push(readFileSync(file));
      const unpacked = join(temporaryFolder(), 'unpacked');
      await unpackFork(file, unpacked);
      await packFork(unpacked, file);
      files.push(readFileSync(file));
    }
    for (const file of files) expect(file.equals(files[0]!)).toBe(true);
    const more = join(temporaryFolder(), 'fork.pack');
    await packFork(await recordedFork(upstream, [...FEW, '/accounts/0x1/module/account']), more);
    expect(readFileSync(more).equals(files[0]!)).toBe(false);
  });

  it('goes on recording where it was unpacked', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const file = join(temporaryFolder(), 'fork.pack');
    await packFork(await recordedFork(upstream, FEW), file);
    const data = join(temporaryFolder(), 'unpacked');
    await unpackFork(file, data);
    const before = upstream.got.length;
    const fork = await serveFork({ data, fork: upstream.url });
    // A fork that is opened compares its history.
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
      const code = expect.stringMatching(/^(damaged|bad_input)$/);
      await expect(unpackFork(file, data)).rejects.toMatchObject({ code });
    }
    expect(existsSync(data)).toBe(false);
  });

  it('is refused when its rows are not those of a fork', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const folder = temporaryFolder();
    const file = join(folder, 'fork.pack');
    await packFork(await recordedFork(upstream, ['/accounts/0x1']), file);
    const pack = readFileSync(file);
    const rows = brotliDecompressSync(pack.subarray(HEAD_BYTES));
    const data = join(folder, 'unpacked');
    const refusal = async (changed: Buffer) => {
      writeFileSync(file, withRows(pack, changed));
      return await unpackFork(file, data).then(
        () => 'unpacked',
        ({ code, message }) => `${code}: ${message}`,
      );
    };
    expect(await refusal(rows.subarray(0, -1))).toContain('damaged');
    expect(await refusal(Buffer.concat([rows, Buffer.of(0)]))).toContain('damaged');
    expect(await refusal(Buffer.alloc(0))).toContain('damaged');
    const other = Buffer.from(rows);
    other.writeUInt32LE(FORK_LAYOUT.format + 1);
    expect(await refusal(other)).toContain(`bad_input: ${file} is of a fork of format 1000002`);
    const noRows = Buffer.alloc(4 + FORK_LAYOUT.columns.length - 1);
    noRows.writeUInt32LE(FORK_LAYOUT.format);
    expect(await refusal(noRows)).toContain('it is of no ledger');
    expect(existsSync(join(data, 'ledger.db'))).toBe(false);
    expect(namesIn(data).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(await refusal(rows)).toBe('unpacked');
    expect(await refusal(rows)).toContain('ledger_exists');
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

  it('is bounded', async () => {
    const upstream = await serveStore(await sampleStore(60));
    const data = await recordedFork(upstream, []);
    const store = openSqliteReader({ directory: data, layout: FORK_LAYOUT });
    const rows = (await packRows(store))!;
    expect(await packRows(store, rows.length - 1)).toBeUndefined();
    expect(await packRows(store, rows.length)).toEqual(rows);
    expect(await packRows(store, rows.length + 1)).toEqual(rows);
    expect(unpackRows(rows)).not.toBeTypeOf('number');
    await store.close();
  });
});
