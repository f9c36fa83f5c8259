/** The history of a balance (docs/extensions.md): one request gives the same changes as reads of every version. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { ASSET_TYPE } from '../../src/api/endpoints/parameters.ts';
import {
  balanceHistory,
  MAX_CHANGES_PER_PAGE,
  WRITES_PER_READ,
} from '../../src/ledger/balances/balance-history.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { formatAddress } from '../../src/move/types/address.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import { openHead } from '../../src/store/columns/head.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { Random, testSeed } from '../random.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import {
  ASSETS,
  type Change,
  changesOf,
  coinWrite,
  HOLDERS,
  type OpenedBalances,
  openBalances,
  randomChunk,
  readSingly,
  storeWrite,
} from './balance-changes.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError } from './error-answers.ts';

const BCS = { accept: 'application/x-bcs' };
const [HOLDER, OTHER, THIRD] = HOLDERS as [string, string, string];
const [[COIN, coin], [STORE]] = ASSETS as [(typeof ASSETS)[0], (typeof ASSETS)[0]];

function* randomChunks(random: Random, versions: number): Generator<Chunk> {
  let last: Block | undefined;
  for (let first = 0; first < versions; ) {
    const count = first === 0 ? 1 : Math.min(versions - first, 1 + random.below(60));
    const made = randomChunk(random, first, count, last);
    last = made.blocks.at(-1);
    first += count;
    yield made;
  }
}

/** Compares whole histories and random ranges with reads of every version. */
async function compare(opened: OpenedBalances, random: Random, oldest: (holder: string) => bigint) {
  const view = await opened.ledger.view();
  const newest = view.state.version;
  for (const holder of HOLDERS) {
    for (const [name, asset] of ASSETS) {
      const first = oldest(holder);
      const reads = await readSingly(view, holder, asset, first);
      const whole = await opened.history(holder, name, 'limit=1000');
      expect(whole.changes).toEqual(changesOf(reads));
      for (let round = 0; round < 4; round += 1) {
        const bounds = [0, 0].map(() => first + BigInt(random.below(Number(newest - first) + 1)));
        const [from, to] = bounds.sort((a, b) => (a < b ? -1 : 1)) as [bigint, bigint];
        const expected = changesOf(reads, from, to);
        const limit = random.pick([3, 20, 100]);
        const query = `from_version=${from}&to_version=${to}&limit=${limit}`;
        const up = await opened.history(holder, name, query);
        expect([query, up.changes]).toEqual([query, expected]);
        const down = await opened.history(holder, name, `${query}&order=desc`);
        expect([query, down.changes.reverse()]).toEqual([query, expected]);
        // There is another page only if entries remain.
        const pages = Math.max(1, Math.ceil(expected.length / limit));
        expect([up.pages.length, down.pages.length]).toEqual([pages, pages]);
      }
    }
  }
}

describe('the history of balances of a random ledger', () => {
  it('is what reads of every version say, also when it is pruned, and further back for a pinned account', async () => {
    const random = new Random(testSeed());
    const opened = await openBalances(randomChunks(random, 700));
    await compare(opened, random, () => 0n);
    await opened.prune(450, [HOLDER]);
    await opened.prune(200, [OTHER]);
    const { oldestVersion } = (await opened.ledger.view()).state;
    const since = new Map([[HOLDER, 0n]]);
    expect(oldestVersion).toBeGreaterThan(400n);
    const view = await opened.ledger.view();
    // OTHER was pinned after part of its history was pruned.
    since.set(OTHER, await oldestOf(opened, OTHER));
    expect(since.get(OTHER)).toBeGreaterThan(0n);
    expect(since.get(OTHER)).toBeLessThan(view.state.oldestVersion);
    await compare(opened, random, (holder) => since.get(holder) ?? oldestVersion);
    await opened.close();
  });
});

/** The account's first version that is not pruned. */
async function oldestOf(opened: OpenedBalances, account: string): Promise<bigint> {
  for (let version = 0n; ; version += 1n) {
    const url = `/v1/accounts/${account}/balance/${COIN}?ledger_version=${version}`;
    if ((await opened.app.request(url)).statusCode === 200) return version;
  }
}

describe('the history of balances of a sample', () => {
  it('is what reads of every version say', async () => {
    const opened = await openBalances(bulkChunks({ seed: 5, transactions: 1_000, accounts: 30 }));
    const view = await opened.ledger.view();
    const senders = (await opened.app.request('/v1/transactions?start=600&limit=60')).json<
      { sender?: string }[]
    >();
    const accounts = new Set([CAFE_HEX, ...senders.flatMap(({ sender }) => sender ?? [])]);
    let changes = 0;
    for (const account of [...accounts].slice(0, 4)) {
      const held = await opened.app.request(`/v1/accounts/${account}/balances`);
      for (const { asset_type } of held.json<{ asset_type: string }[]>().slice(0, 2)) {
        const padded = account.slice(2).padStart(64, '0');
        const reads = await readSingly(view, padded, ASSET_TYPE.parse(asset_type));
        const expected = changesOf(reads);
        expect((await opened.history(account, asset_type)).changes).toEqual(expected);
        changes += expected.length;
      }
    }
    expect(changes).toBeGreaterThan(50);
    await opened.close();
  });
});

/** Versions 0 to 6: HOLDER's coins become a fungible asset, and are spent; a store is deleted. */
function* handMade(): Generator<Chunk> {
  const writes = [
    [coinWrite(HOLDER, 0n)],
    [coinWrite(HOLDER, 5n)],
    // Moving an amount from one store to the other is not a change.
    [coinWrite(HOLDER, 0n), storeWrite(HOLDER, 5n)],
    [coinWrite(HOLDER, undefined), storeWrite(HOLDER, 5n)],
    [storeWrite(HOLDER, 2n)],
    [storeWrite(HOLDER, undefined)],
    [{ ...coinWrite(THIRD, 1n), value: Buffer.of(1) }],
  ];
  yield {
    ...chunk(
      0,
      writes.map((one, at) => transaction(at, { writes: one })),
    ),
    blocks: [0, 1, 3, 5].map((first, height) => block(height, first)),
  };
}

describe('the history of a balance in a ledger made by hand', () => {
  let opened: OpenedBalances;
  const account = formatAddress(HOLDER);
  const url = (query = '', asset = COIN) =>
    `/v1/accounts/${account}/balance/${asset}/history?${query}`;
  const at = (version: number, amount: number, height: number): Change => ({
    ...{ version: String(version), amount: String(amount), timestamp: String(height * 1_000_000) },
  });
  beforeAll(async () => {
    opened = await openBalances(handMade());
  });
  afterAll(() => opened.close());

  it('begins with the version that makes it more than 0, and a deleted store has 0', async () => {
    const reply = await opened.app.request(url());
    expect(reply.json()).toEqual([at(1, 5, 1), at(4, 2, 2), at(5, 0, 3)]);
    expect(reply.body).toMatch(/^\[\{"version":"1","amount":"5","timestamp":"1000000"\},/);
    expect((await opened.history(HOLDER, STORE)).changes).toEqual([
      ...[at(2, 5, 1), at(4, 2, 2), at(5, 0, 3)],
    ]);
    expect((await opened.history(OTHER, COIN)).changes).toEqual([]);
  });

  it('is as the document has it, and the same in BCS', async () => {
    const spec = new DocumentSchemas((await opened.app.request('/v1/spec.json')).json<Json>());
    const shown = (await opened.app.request(url())).json<Json[]>();
    for (const one of shown) {
      expect(spec.problems({ $ref: '#/components/schemas/BalanceChange' }, one)).toEqual([]);
    }
    const { bytes, headers } = await opened.app.request({ url: url('limit=2'), headers: BCS });
    const reader = new BcsReader(bytes);
    const read = reader.vector(24, (from) => [from.u64(), from.u64(), from.u64()].map(String));
    reader.finish();
    expect(read).toEqual([
      ['1', '5', '1000000'],
      ['4', '2', '2000000'],
    ]);
    expect(headers['x-node-cursor']).toBe('5');
  });

  it.each([
    ['from_version=1&to_version=1', [1]],
    ['from_version=2&to_version=3', []],
    ['from_version=2&to_version=4', [4]],
    ['from_version=4&to_version=5', [4, 5]],
    ['from_version=5', [5]],
    ['to_version=4&order=desc', [4, 1]],
    ['order=desc&start=4', [4, 1]],
    ['order=desc&start=4&from_version=2', [4]],
    ['order=asc&start=2', [4, 5]],
    ['start=6&to_version=5', []],
    ['order=desc&start=0&from_version=1', []],
  ])('has both bounds: %s', async (query, versions) => {
    const { changes } = await opened.history(HOLDER, COIN, query);
    expect(changes.map(({ version }) => Number(version))).toEqual(versions);
  });

  it('never changes between two versions', async () => {
    const cached = async (query: string) =>
      String((await opened.app.request(url(query))).headers['cache-control']);
    expect(await cached('from_version=0&to_version=4')).toContain('immutable');
    expect(await cached('to_version=4')).not.toContain('immutable');
    expect(await cached('from_version=0')).not.toContain('immutable');
  });

  it.each([
    ['to_version=7', 404, 'version_not_found', 'Ledger version not found by Ledger version(7)'],
    ['from_version=7', 404, 'version_not_found', 'Ledger version not found by Ledger version(7)'],
    ['start=7', 404, 'version_not_found', 'Ledger version not found by Ledger version(7)'],
    [
      'from_version=3&to_version=2',
      ...[400, 'invalid_input', 'from_version (3) must not be above to_version (2)'],
    ],
    ['limit=0', 400, 'invalid_input', 'Given limit value (0) must not be zero'],
    [
      'order=up',
      ...[400, 'web_framework_error'],
      'failed to parse parameter `order`: failed to parse "string": it is not one of `asc`, `desc` ' +
        '(occurred while parsing "optional<string>")',
    ],
  ] as [string, number, string, string][])('refuses %s', async (query, status, code, message) => {
    expectError(await opened.app.request(url(query)), status, code, message);
  });

  it('fails where the balance does: a store that does not decode', async () => {
    const path = `/v1/accounts/${THIRD}/balance/${COIN}`;
    const single = await opened.app.request(`${path}?ledger_version=6`);
    expect(single.statusCode).toBe(500);
    const history = await opened.app.request(`${path}/history`);
    expect([history.statusCode, history.body]).toEqual([500, single.body]);
    expect((await opened.app.request(`${path}/history?to_version=5`)).body).toBe('[]');
    opened.log.warnings.length = 0;
  });
});

describe('the history of a balance with many writes', () => {
  const WRITES = 2 * WRITES_PER_READ + 1;
  let opened: OpenedBalances;
  /** HOLDER's coin changes at every version. OTHER's is written at every version and only changes at the last. */
  beforeAll(async () => {
    const versions = Math.max(WRITES, MAX_CHANGES_PER_PAGE + 1);
    const transactions = Array.from({ length: versions }, (_, version) => {
      const others = version === WRITES - 1 ? 2n : version === 0 ? 1n : undefined;
      const other = version < WRITES ? [coinWrite(OTHER, others ?? 1n, BigInt(version))] : [];
      return transaction(version, { writes: [coinWrite(HOLDER, BigInt(version + 1)), ...other] });
    });
    opened = await openBalances([chunk(0, transactions)]);
  });
  afterAll(() => opened.close());

  it.each([
    [MAX_CHANGES_PER_PAGE - 1, [MAX_CHANGES_PER_PAGE - 1, 2]],
    [MAX_CHANGES_PER_PAGE, [MAX_CHANGES_PER_PAGE, 1]],
    [MAX_CHANGES_PER_PAGE + 1, [MAX_CHANGES_PER_PAGE, 1]],
  ])('has pages of %i changes at most', async (limit, pages) => {
    for (const order of ['asc', 'desc']) {
      const walk = await opened.history(HOLDER, COIN, `limit=${limit}&order=${order}`);
      expect(walk.pages).toEqual(pages);
    }
    expect(
      (await opened.app.request(`/v1/accounts/${HOLDER}/balance/${COIN}/history`)).json(),
    ).toHaveLength(100);
  });

  it.each([WRITES_PER_READ - 1, WRITES_PER_READ, WRITES_PER_READ + 1])(
    'ends a page after %i writes that were looked at',
    async (maxWrites) => {
      const store = opened.writer.reader;
      const source = storedSource(store, await openHead(store));
      const guard = new PruningGuard(store, source, new Map(), performance.now());
      const request = { address: OTHER, asset: coin, from: undefined, to: BigInt(WRITES - 1) };
      const page = (isDescending: boolean, start?: bigint) =>
        balanceHistory({ source, guard }, { ...request, start, limit: 5, isDescending }, maxWrites);
      const reads = Math.ceil(maxWrites / WRITES_PER_READ);
      const up = await page(false);
      expect(up.next).toBe(BigInt(reads * WRITES_PER_READ));
      expect(up.changes.map(({ version }) => version)).toEqual([0n]);
      const down = await page(true);
      expect(down.next).toBe(BigInt(WRITES - 1 - reads * WRITES_PER_READ));
      expect(down.changes.map(({ version }) => version)).toEqual([BigInt(WRITES - 1)]);
    },
  );
});

it('stays where it is while the ledger grows and is pruned', async () => {
  const random = new Random(testSeed());
  const chunks = [...randomChunks(random, 400)];
  const opened = await openBalances(chunks.slice(0, -3));
  const first = `/v1/accounts/${HOLDER}/balance/${COIN}/history?limit=3`;
  const pageOf = async (query: string) => {
    const reply = await opened.app.request(`${first}${query}`);
    return { changes: reply.json<Change[]>(), cursor: String(reply.headers['x-node-cursor']) };
  };
  const down = await pageOf('&order=desc');
  const next = await pageOf(`&order=desc&start=${down.cursor}`);
  for (const one of chunks.slice(-3)) await opened.writer.append(one);
  expect(await pageOf(`&order=desc&start=${down.cursor}`)).toEqual(next);
  const up = await pageOf('');
  await opened.prune(100);
  const text = `Ledger version(${up.cursor}) has been pruned`;
  expectError(await opened.app.request(`${first}&start=${up.cursor}`), 410, 'version_pruned', text);
  expectError(
    await opened.app.request(`${first}&from_version=0`),
    ...([410, 'version_pruned', 'Ledger version(0) has been pruned'] as const),
  );
  // The first entry of a range from the oldest version was not an entry before pruning, so the response is not
  // immutable.
  const { oldestVersion, version } = (await opened.ledger.view()).state;
  const cached = async (from: bigint, order: string) => {
    const query = `from_version=${from}&to_version=${version}&limit=1000&order=${order}`;
    const { headers } = await opened.app.request(`${first.split('?')[0]}?${query}`);
    return String(headers['cache-control']);
  };
  for (const order of ['asc', 'desc']) {
    expect(await cached(oldestVersion, order)).not.toContain('immutable');
    expect(await cached(oldestVersion + 1n, order)).toContain('immutable');
  }
  await opened.close();
});
