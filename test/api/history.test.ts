/** The feed and blocks: a sample ledger passed on, and the edge cases of a small one (docs/spec/ledger.md §3). */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import {
  readOnChainData,
  TransactionOnChainData,
} from '../../src/move/transactions/transaction.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { decodeOnChainDataPage, readTransactionData } from '../move/transactions/wire-answers.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { TestApi } from './client.ts';
import {
  blockHash,
  type ContentLedger,
  openContentLedger,
  transactionBytes,
} from './content-ledger.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError, LogLines, withoutLedger } from './error-answers.ts';
import { FileCursor } from './genesis-file.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const BCS = { accept: 'application/x-bcs' };

async function bcs(app: TestApi, url: string): Promise<Buffer> {
  const response = await app.request({ url, headers: BCS });
  expect([url, response.statusCode, response.headers['content-type']]).toEqual([
    url,
    200,
    BCS.accept,
  ]);
  return response.bytes;
}

describe('the feed of a sample ledger', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-feed-'));
  const chunks: Chunk[] = [];
  let store: Store;
  let app: TestApi;
  let newest: number;

  beforeAll(async () => {
    store = await openTestedStore({ directory: folder });
    const writer = await LedgerWriter.open(store);
    for (const chunk of bulkChunks({ seed: 11, transactions: 700, accounts: 60 })) {
      chunks.push(chunk);
      await writer.append(chunk);
    }
    newest = Number(writer.head!.version);
    app = new TestApi(
      buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), new LogLines()),
    );
  });
  afterAll(async () => {
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  function stored(): Buffer[] {
    return chunks.flatMap(({ transactions }) =>
      transactions.map(({ transaction }) => Buffer.from(transaction!)),
    );
  }

  it.each([1, 7, 99, 100, 101, 65_535])('is all of it in pages of %i', async (limit) => {
    const all = stored();
    const found: Buffer[] = [];
    while (found.length < all.length) {
      const page = await bcs(app, `/v1/transactions?start=${found.length}&limit=${limit}`);
      const items = decodeOnChainDataPage(page);
      const expected = Math.min(limit, 100, all.length - found.length);
      expect(items.length).toBe(expected);
      for (const { bytes, data } of items) {
        expect(data.version).toBe(BigInt(found.length));
        found.push(bytes.whole);
      }
      if (limit === 1 && found.length === 60) break;
    }
    expect(Buffer.concat(found).equals(Buffer.concat(all.slice(0, found.length)))).toBe(true);
  });

  it('is the same where a page takes several reads', async () => {
    const settings = apiSettings({ ...NO_LOAD_BOUNDS, maxPageSize: 10_000 });
    const wide = new TestApi(buildApi(openTestedLedger(store), settings, new LogLines()));
    const all = stored();
    for (const [start, limit] of [
      [0, 10_000],
      [1, 100],
      [1, 101],
      [3, 200],
      [newest - 250, 251],
      [newest - 250, 10_000],
    ] as const) {
      const page = await bcs(wide, `/v1/transactions?start=${start}&limit=${limit}`);
      const whole = Buffer.concat(decodeOnChainDataPage(page).map(({ bytes }) => bytes.whole));
      expect(whole.equals(Buffer.concat(all.slice(start, start + limit)))).toBe(true);
    }
    await wide.close();
  });

  it('has ten pages as one for a node that follows', async () => {
    const settings = apiSettings({ ...NO_LOAD_BOUNDS, maxPageSize: 7 });
    const narrow = new TestApi(buildApi(openTestedLedger(store), settings, new LogLines()));
    const all = stored();
    for (const [query, count] of [
      ['limit=69&feed=true', 69],
      ['limit=70&feed=true', 70],
      ['limit=71&feed=true', 70],
      ['limit=71', 7],
      // Parameters that the reference ignores, so every node must ignore them.
      ['limit=71&feed=false', 7],
      ['limit=71&feed=1', 7],
      ['limit=71&feed=', 7],
    ] as const) {
      const page = await bcs(narrow, `/v1/transactions?start=3&${query}`);
      const whole = Buffer.concat(decodeOnChainDataPage(page).map(({ bytes }) => bytes.whole));
      expect([query, whole.equals(Buffer.concat(all.slice(3, 3 + count)))]).toEqual([query, true]);
    }
    const { body } = await narrow.request('/v1/transactions?start=3&limit=71&feed=true');
    expect(JSON.parse(body)).toHaveLength(7);
    const { paths } = JSON.parse((await narrow.request('/v1/spec.json')).body);
    const taking = Object.keys(paths).flatMap((path) => {
      const parameters: { name: string; schema: { type: string } }[] =
        paths[path].get?.parameters ?? [];
      const feed = parameters.find(({ name }) => name === 'feed');
      return feed === undefined ? [] : [[path, feed.schema.type]];
    });
    // Any text is accepted.
    expect(taking).toEqual([['/transactions', 'string']]);
    await narrow.close();
  });

  it('has one version at a time, as committed', async () => {
    const all = stored();
    for (const version of [0, 1, 255, 256, newest]) {
      const body = await bcs(app, `/v1/transactions/by_version/${version}`);
      const reader = new BcsReader(body);
      const answer = readTransactionData(reader);
      reader.finish();
      if (answer.kind !== 'onChain') throw new Error('a pending transaction');
      expect(answer.item.bytes.whole.equals(all[version]!)).toBe(true);
    }
  });

  it('has every block with its transactions, by height and by each of its versions', async () => {
    const blocks = chunks.flatMap((chunk) => chunk.blocks);
    expect(blocks.length).toBeGreaterThan(15);
    for (const [index, block] of blocks.entries()) {
      const first = Number(block.firstVersion);
      const last = Number(blocks[index + 1]?.firstVersion ?? BigInt(newest + 1)) - 1;
      const url = `/v1/blocks/by_height/${block.height}`;
      const expected = {
        block_height: String(block.height),
        block_hash: `0x${block.id.toString('hex')}`,
        block_timestamp: String(block.timestampUsecs),
        first_version: String(first),
        last_version: String(last),
        transactions: null,
      };
      expect((await app.request(url)).body).toBe(JSON.stringify(expected));
      for (const version of [first, last]) {
        const response = await app.request(`/v1/blocks/by_version/${version}`);
        expect(response.body).toBe(JSON.stringify(expected));
      }
      const reader = new BcsReader(await bcs(app, `${url}?with_transactions=true`));
      expect([reader.u64(), reader.fixed(32).equals(block.id), reader.u64()]).toEqual([
        block.height,
        true,
        block.timestampUsecs,
      ]);
      expect([reader.u64(), reader.u64()]).toEqual([BigInt(first), BigInt(last)]);
      const items = reader.option((inner) =>
        inner.vector(TransactionOnChainData.minBytes, readOnChainData),
      );
      reader.finish();
      const versions = items!.map(({ data }) => Number(data.version));
      expect(versions).toEqual(Array.from({ length: last - first + 1 }, (_, at) => first + at));
      const whole = Buffer.concat(items!.map(({ bytes }) => bytes.whole));
      expect(whole.equals(Buffer.concat(stored().slice(first, last + 1)))).toBe(true);
    }
  });
});

it('between two steps of pruning, what is to be pruned is gone already, with or without its block', async () => {
  const store = await openTestedStore({ directory: temporaryDirectory() });
  const writer = await LedgerWriter.open(store);
  const sent: { block: number; version: number; hash: string; sender: string }[] = [];
  let block = 0;
  for (const chunk of bulkChunks({ seed: 12, transactions: 300, accounts: 20 })) {
    for (const { transaction } of chunk.transactions) {
      const { data } = readOnChainData(new BcsReader(Buffer.from(transaction!)));
      const { kind } = data.transaction;
      if (kind === 'blockMetadata') block = Number(data.version);
      if (kind !== 'user') continue;
      const sender = `0x${data.transaction.transaction.raw.sender}`;
      const hash = formatHex(data.info.transactionHash);
      sent.push({ block, version: Number(data.version), hash, sender });
    }
    await writer.append(chunk);
  }
  const cut = sent.findIndex((one, index) => index > 50 && one.block === sent[index - 1]!.block);
  const [gone, cutOff] = [sent[cut - 1]!, sent[cut]!];
  const withBlock = sent.find((one) => one.block > cutOff.block)!;
  const stop = new AbortController();
  const pruner = new Pruner(writer, {
    graceMs: 0,
    restFactor: 0,
    bounds: { maxRows: 1, maxMs: 0 },
    onProgress: ({ clearedBelow }) => {
      if (clearedBelow === BigInt(cutOff.version)) stop.abort();
    },
  });
  await pruner.run({ versions: 20 }, stop.signal);
  const { oldestVersion } = writer.head!;
  const retained = sent.find(({ version }) => BigInt(version) >= oldestVersion)!;
  expect(BigInt(withBlock.version)).toBeLessThan(oldestVersion);
  const log = new LogLines();
  const app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  for (const { accept } of [BCS, { accept: 'application/json' }]) {
    const ask = (url: string) => app.request({ url, headers: { accept } });
    const statusOf = async ({ hash }: { hash: string }) =>
      (await ask(`/v1/transactions/by_hash/${hash}`)).statusCode;
    const statuses = await Promise.all([gone, cutOff, withBlock, retained].map(statusOf));
    expect(statuses).toEqual([404, 404, 404, 200]);
    const list = await ask(`/v1/accounts/${cutOff.sender}/transactions`);
    expect(list.statusCode).toBe(200);
  }
  expect(log.errors).toEqual([]);
  await app.close();
  await store.close();
});

describe('the edges of the feed', () => {
  let ledger: ContentLedger;
  let pruned: ContentLedger;
  beforeAll(async () => {
    ledger = await openContentLedger({ maxPageSize: 3 });
    pruned = await openContentLedger();
    await pruned.prune();
  });
  afterAll(async () => {
    expect([...ledger.log.errors, ...pruned.log.errors]).toEqual([]);
    await ledger.close();
    await pruned.close();
  });

  function expectVersions(page: Buffer, versions: readonly number[]): void {
    const expected = Buffer.concat([
      Buffer.of(versions.length),
      ...versions.map((version) => transactionBytes(version)),
    ]);
    expect(page.toString('latin1')).toBe(expected.toString('latin1'));
  }

  it.each([
    ['', [2, 3, 4]],
    ['?limit=1', [4]],
    ['?limit=2', [3, 4]],
    ['?limit=65535', [2, 3, 4]],
    ['?start=0', [0, 1, 2]],
    ['?start=0&limit=2', [0, 1]],
    ['?start=2', [2, 3, 4]],
    ['?start=3', [3, 4]],
    ['?start=4&limit=3', [4]],
  ])('%s', async (query, versions) => {
    expectVersions(await bcs(ledger.app, `/v1/transactions${query}`), versions);
  });

  it('has 25 to a page by default, fewer where the ledger is shorter', async () => {
    const wide = await openContentLedger();
    expectVersions(await bcs(wide.app, '/v1/transactions'), [0, 1, 2, 3, 4]);
    expect(apiSettings().maxPageSize).toBe(100);
    await wide.close();
  });

  it.each(['5', '18446744073709551615'])('start=%s lies above the ledger', async (start) => {
    expectError(
      await ledger.app.request({ url: `/v1/transactions?start=${start}`, headers: BCS }),
      400,
      'invalid_input',
      `Given start value (${start}) is higher than the current ledger version, it must be < 4`,
    );
  });

  it('of a pruned ledger begins at its oldest version', async () => {
    const ask = (url: string) => pruned.app.request({ url, headers: BCS });
    const text = 'Ledger version(0) has been pruned';
    expectError(await ask('/v1/transactions?start=0'), 410, 'version_pruned', text);
    expectError(await ask('/v1/transactions/by_version/0'), 410, 'version_pruned', text);
    expectVersions((await ask('/v1/transactions?start=1')).bytes, [1, 2, 3, 4]);
    expectVersions((await ask('/v1/transactions')).bytes, [1, 2, 3, 4]);
    expectVersions((await ask('/v1/transactions?limit=4')).bytes, [1, 2, 3, 4]);
    expect((await ask('/v1/transactions/by_version/1')).statusCode).toBe(200);
  });

  it('of one version ends at the latest', async () => {
    const ask = (version: string) =>
      ledger.app.request({ url: `/v1/transactions/by_version/${version}`, headers: BCS });
    const last = await ask('4');
    expect(last.bytes.equals(Buffer.concat([Buffer.of(0), transactionBytes(4)]))).toBe(true);
    expectError(
      await ask('5'),
      404,
      'transaction_not_found',
      'Transaction not found by Ledger version(5)',
    );
    expectError(
      await ask('x'),
      400,
      'web_framework_error',
      'failed to parse path `txn_version`: failed to parse "string(U64)": Parsing u64 string "x" ' +
        'failed, caused by error: invalid digit found in string',
    );
  });

  it('takes a limit of 1 or more, looked at before the start', async () => {
    const zero = await ledger.app.request({
      url: '/v1/transactions?start=99&limit=0',
      headers: BCS,
    });
    expectError(zero, 400, 'invalid_input', 'Given limit value (0) must not be zero');
    expectError(
      await ledger.app.request('/v1/transactions?limit=65536'),
      400,
      'web_framework_error',
      'failed to parse parameter `limit`: failed to parse "integer(uint16)": number too large to ' +
        'fit in target type (occurred while parsing "optional<integer(uint16)>")',
    );
  });

  it('as JSON has what each version answers', async () => {
    const ask = async (url: string) => (await ledger.app.request(url)).body;
    const versions = [];
    for (const version of [0, 1, 2, 3, 4]) {
      versions.push(await ask(`/v1/transactions/by_version/${version}`));
    }
    expect(await ask('/v1/transactions?start=0')).toBe(`[${versions.slice(0, 3).join(',')}]`);
    expect(await ask('/v1/transactions')).toBe(`[${versions.slice(2).join(',')}]`);
    expect(await ask('/v1/transactions?start=4')).toBe(`[${versions[4]}]`);
  });

  it('is not there without a ledger', async () => {
    const bare = withoutLedger();
    expect((await bare.request({ url: '/v1/transactions', headers: BCS })).statusCode).toBe(503);
    await bare.close();
  });

  it('is closed where the ledger keeps no transactions', async () => {
    const without = await openContentLedger({}, false);
    for (const [url, operation] of [
      ['/v1/transactions', 'Get transactions'],
      ['/v1/transactions/by_version/0', 'Get transactions by version'],
      ['/v1/blocks/by_height/1?with_transactions=true', 'Get block by height with transactions'],
      ['/v1/blocks/by_version/1?with_transactions=true', 'Get block by version with transactions'],
    ] as const) {
      expectError(
        await without.app.request({ url, headers: BCS }),
        403,
        'api_disabled',
        `${operation} is disabled on this endpoint: its ledger keeps no transactions`,
      );
    }
    expect((await without.app.request('/v1/blocks/by_height/1')).statusCode).toBe(200);
    await without.close();
  });
});

describe('blocks', () => {
  let ledger: ContentLedger;
  let document: DocumentSchemas;
  beforeAll(async () => {
    ledger = await openContentLedger({ maxBlockTransactionsPageSize: 1 });
    document = new DocumentSchemas((await ledger.app.request('/v1/spec.json')).json<Json>());
  });
  afterAll(() => ledger.close());

  it.each([
    [0, 0, 0],
    [1, 1, 2],
    [2, 3, 4],
  ])('%i holds versions %i to %i', async (height, first, last) => {
    const expected = {
      block_height: String(height),
      block_hash: `0x${blockHash(height).toString('hex')}`,
      block_timestamp: String(height * 1_000_000),
      first_version: String(first),
      last_version: String(last),
      transactions: null,
    };
    for (const path of [`by_height/${height}`, `by_version/${first}`, `by_version/${last}`]) {
      for (const query of ['', '?with_transactions=false']) {
        const response = await ledger.app.request(`/v1/blocks/${path}${query}`);
        expect(response.body).toBe(JSON.stringify(expected));
        const reference = { $ref: '#/components/schemas/Block' };
        expect(document.problems(reference, response.json<Json>())).toEqual([]);
        const cursor = new FileCursor(await bcs(ledger.app, `/v1/blocks/${path}${query}`));
        expect(cursor.u64()).toBe(BigInt(height));
        expect(cursor.take(32).equals(blockHash(height))).toBe(true);
        expect([cursor.u64(), cursor.u64(), cursor.u64(), cursor.uleb()]).toEqual([
          BigInt(height * 1_000_000),
          BigInt(first),
          BigInt(last),
          0,
        ]);
        expect(cursor.isAtEnd).toBe(true);
      }
    }
  });

  it('with more transactions than the node gives are cut', async () => {
    const body = await bcs(ledger.app, '/v1/blocks/by_height/1?with_transactions=true');
    const expected = Buffer.concat([Buffer.of(1, 1), transactionBytes(1)]);
    expect(body.subarray(64).equals(expected)).toBe(true);
    const json = await ledger.app.request('/v1/blocks/by_height/1?with_transactions=true');
    const { body: first } = await ledger.app.request('/v1/transactions/by_version/1');
    expect(json.body.endsWith(`,"transactions":[${first}]}`)).toBe(true);
  });

  it('that are not there, and bad parameters', async () => {
    const ask = (path: string) => ledger.app.request(`/v1/blocks/${path}`);
    const notFound = 'Block not found by Block height(3)';
    expectError(await ask('by_height/3'), 404, 'block_not_found', notFound);
    expectError(
      await ask('by_version/5'),
      404,
      'version_not_found',
      'Ledger version not found by Ledger version(5)',
    );
    expectError(
      await ask('by_height/-1'),
      400,
      'web_framework_error',
      'failed to parse path `block_height`: failed to parse "integer(uint64)": invalid digit found ' +
        'in string',
    );
    expectError(
      await ask('by_version/18446744073709551616'),
      400,
      'web_framework_error',
      'failed to parse path `version`: failed to parse "integer(uint64)": number too large to fit in ' +
        'target type',
    );
    expectError(
      await ask('by_height/1?with_transactions=1'),
      400,
      'web_framework_error',
      'failed to parse parameter `with_transactions`: failed to parse "boolean": provided string was ' +
        'not `true` or `false` (occurred while parsing "optional<boolean>")',
    );
  });

  it('that were pruned', async () => {
    const pruned = await openContentLedger();
    await pruned.prune();
    const ask = (path: string) => pruned.app.request(`/v1/blocks/${path}`);
    expectError(await ask('by_height/0'), 410, 'block_pruned', 'Block(0) has been pruned');
    const text = 'Ledger version(0) has been pruned';
    expectError(await ask('by_version/0'), 410, 'version_pruned', text);
    expect((await ask('by_height/1')).statusCode).toBe(200);
    expect((await ask('by_version/1')).statusCode).toBe(200);
    await pruned.close();
  });
});
