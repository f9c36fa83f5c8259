/** All holdings of an account (docs/extensions.md): the list agrees with single balances at every version. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { listBalances, MAX_BALANCES_PER_PAGE } from '../../src/ledger/balances/balance-list.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatAddress, padAddress } from '../../src/move/types/address.ts';
import {
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import {
  coinInfoTag,
  coinStoreTag,
  FUNGIBLE_METADATA_TAG,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../../src/move/types/state-key.ts';
import { formatStructTag, readStructTag } from '../../src/move/types/type-tag.ts';
import { coinStoreCodec, fungibleStoreCodec } from '../../src/move/values/framework-resource.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { PruningGuard } from '../../src/state/pruning-guard.ts';
import { storedSource } from '../../src/state/source.ts';
import { openHead } from '../../src/store/columns/head.ts';
import type { Chunk, StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { Random, testSeed } from '../random.ts';
import { TestApi } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError, LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

interface Held {
  readonly asset_type: string;
  readonly metadata: string;
  readonly amount: string;
  readonly name?: string;
  readonly symbol?: string;
  readonly decimals?: number;
}

const BCS = { accept: 'application/x-bcs' };

async function openChunks(chunks: Iterable<Chunk>) {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-balances-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  for (const chunk of chunks) await writer.append(chunk);
  const log = new LogLines();
  const app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  const close = async () => {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(log).toEqual(new LogLines());
  };
  /** All pages of a list, and their number. */
  const list = async (account: string, query = ''): Promise<{ held: Held[]; pages: number }> => {
    const held: Held[] = [];
    let start = '';
    for (let pages = 1; ; pages += 1) {
      const response = await app.request(`/v1/accounts/${account}/balances?${query}${start}`);
      expect([response.statusCode, response.body]).toEqual([200, expect.any(String)]);
      held.push(...response.json<Held[]>());
      const cursor = response.headers['x-node-cursor'];
      if (cursor === undefined) return { held, pages };
      start = `&start=${String(cursor)}`;
    }
  };
  return { app, store, writer, list, close };
}

type Opened = Awaited<ReturnType<typeof openChunks>>;

describe('the list of balances of a sample ledger', () => {
  let ledger: Opened;
  let head: number;
  /** The assets of some accounts, by metadata. */
  const assetsOf = new Map<string, Map<string, string>>();

  beforeAll(async () => {
    ledger = await openChunks(bulkChunks({ seed: 5, transactions: 1_500, accounts: 30 }));
    head = Number(ledger.writer.head!.version);
    const response = await ledger.app.request('/v1/transactions?start=600&limit=100');
    for (const { sender } of response.json<{ sender?: string }[]>()) {
      if (sender !== undefined) assetsOf.set(sender, new Map());
    }
    assetsOf.set(CAFE_HEX, new Map());
    for (const [account, assets] of assetsOf) {
      for (const { asset_type, metadata } of (await ledger.list(account)).held) {
        assets.set(metadata, asset_type);
      }
    }
  });
  afterAll(() => ledger.close());

  it('has every asset, with its unit', async () => {
    const all = [...assetsOf.values()].flatMap((assets) => [...assets.values()]);
    expect(new Set(all).size).toBeGreaterThan(1);
    const { held } = await ledger.list(CAFE_HEX);
    expect(held).toContainEqual(
      expect.objectContaining({
        asset_type: '0x1::aptos_coin::AptosCoin',
        metadata: '0xa',
        symbol: 'APT',
        decimals: 8,
      }),
    );
  });

  it('says what single balances say, at any version', async () => {
    const random = new Random(testSeed());
    for (const [account, assets] of assetsOf) {
      const version = random.below(head + 1);
      const expected: [string, string][] = [];
      for (const [metadata, asset] of assets) {
        const url = `/v1/accounts/${account}/balance/${asset}?ledger_version=${version}`;
        const { body } = await ledger.app.request(url);
        if (body !== '0') expected.push([metadata, body]);
      }
      const { held } = await ledger.list(account, `ledger_version=${version}`);
      const found = held
        .filter(({ metadata }) => assets.has(metadata))
        .map(({ metadata, amount }) => [metadata, amount]);
      expect([account, version, found.sort()]).toEqual([account, version, expected.sort()]);
    }
  });

  it('refuses a version that is pruned or not there yet, and a limit of 0', async () => {
    const at = (query: string) => ledger.app.request(`/v1/accounts/${CAFE_HEX}/balances?${query}`);
    expectError(
      await at(`ledger_version=${head + 1}`),
      404,
      'version_not_found',
      `Ledger version not found by Ledger version(${head + 1})`,
    );
    expect((await at('limit=0')).statusCode).toBe(400);
    expect((await at('start=xyz')).statusCode).toBe(400);
  });
});

const OWNER = padAddress('cafe');
const MAKER = padAddress('7');
const GOLD = { address: MAKER, module: 'gold', name: 'Gold', typeArguments: [] } as const;
const ASSETS = Array.from({ length: MAX_BALANCES_PER_PAGE + 1 }, (_, at) =>
  padAddress((0x1000 + at).toString(16)),
);

function write(key: StateKey, value: Uint8Array): StateWrite {
  return { key: physicalStateKey(key), value };
}

function goldWrite(amount: bigint): StateWrite {
  const handle = { counter: 0n, key: { creationNumber: 2n, address: OWNER } };
  const handles = { depositEvents: handle, withdrawEvents: handle };
  const bytes = coinStoreCodec.encode({ amount, frozen: false, ...handles });
  return write(resourceStateKey(OWNER, coinStoreTag(GOLD)), bytes);
}

const unit = (name: string, symbol: string, decimals: number) =>
  encodeBcs((writer) => writer.string(name).string(symbol).u8(decimals));

function assetWrite(metadata: string, balance: bigint): StateWrite {
  const data = fungibleStoreCodec.encode({ metadata, balance, frozen: false });
  const key = resourceGroupStateKey(primaryStoreAddress(OWNER, metadata), OBJECT_GROUP_TAG);
  const core = encodeBcs((writer) =>
    writer.u64(0n).address(OWNER).bool(false).fixed(Buffer.alloc(48)),
  );
  const members = [
    { tag: FUNGIBLE_STORE_TAG, data },
    { tag: OBJECT_CORE_TAG, data: core },
  ];
  return write(key, encodeResourceGroup(members));
}

/** Gold, a coin without fungible asset, exists from version 1 on; many assets from version 2 on. */
const WRITES: readonly (readonly StateWrite[])[] = [
  [
    write(resourceStateKey(MAKER, coinInfoTag(GOLD)), unit('Gold', 'AU', 3)),
    write(
      resourceGroupStateKey(ASSETS[0]!, OBJECT_GROUP_TAG),
      encodeResourceGroup([{ tag: FUNGIBLE_METADATA_TAG, data: unit('First', 'ONE', 1) }]),
    ),
  ],
  [
    goldWrite(5n),
    // Listed before the coin store, because their names are shorter.
    ...['A', 'B'].map((name) => write(resourceStateKey(OWNER, { ...GOLD, name }), Buffer.of(1))),
  ],
  [goldWrite(7n), ...ASSETS.map((asset, at) => assetWrite(asset, BigInt(at + 1)))],
  [goldWrite(0n), assetWrite(ASSETS[1]!, 0n)],
];

function handMade(): Chunk {
  return {
    firstVersion: 0n,
    transactions: WRITES.map((writes, at) => ({
      writes,
      events: [],
      info: Buffer.from(`info ${at}`),
    })),
    blocks: [0n, 2n].map((firstVersion, index) => ({
      ...{ height: BigInt(index), firstVersion, epoch: 0n, round: 0n, timestampUsecs: 1n },
      id: Buffer.alloc(32),
    })),
    epochEnds: [],
    frozenRoots: [Buffer.alloc(32, 1)],
    identity: { chainId: 42, genesisWaypointHash: Buffer.alloc(32), keepsTransactions: false },
  };
}

describe('the list of balances of a ledger made by hand', () => {
  let ledger: Opened;
  const account = formatAddress(OWNER);
  const gold = {
    asset_type: '0x7::gold::Gold',
    metadata: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    ...{ name: 'Gold', symbol: 'AU', decimals: 3 },
  };

  beforeAll(async () => {
    ledger = await openChunks([handMade()]);
  });
  afterAll(() => ledger.close());

  it('names a coin that is paired with nothing, also where a newer version has changed it', async () => {
    const at = async (version: number) =>
      (await ledger.list(account, `ledger_version=${version}`)).held;
    expect(await at(0)).toEqual([]);
    expect(await at(1)).toEqual([{ ...gold, amount: '5' }]);
    expect(await at(2)).toContainEqual({ ...gold, amount: '7' });
    expect(await at(2)).toHaveLength(ASSETS.length + 1);
    expect((await at(3)).map(({ asset_type }) => asset_type)).not.toContain(gold.asset_type);
    expect(await at(3)).toHaveLength(ASSETS.length - 1);
  });

  it.each([
    [2, 'internal_error'],
    [3, 'Gold'],
    [4, 'Gold'],
  ])('looks at %i state keys for the types of coins: %s', async (maxKeys, found) => {
    const source = storedSource(ledger.store, await openHead(ledger.store));
    const guard = new PruningGuard(ledger.store, source, new Map(), performance.now());
    const start = pairedMetadataAddress(GOLD);
    const request = { address: OWNER, version: 1n, start, limit: 1 };
    const page = listBalances({ source: source.state, guard }, request, maxKeys);
    if (found === 'internal_error') await expect(page).rejects.toMatchObject({ code: found });
    else expect((await page).balances[0]!.unit!.name).toBe(found);
  });

  it('says units where the ledger does, in JSON as the document has it', async () => {
    const { held } = await ledger.list(account);
    const spec = new DocumentSchemas((await ledger.app.request('/v1/spec.json')).json<Json>());
    for (const one of held) {
      const reference = { $ref: '#/components/schemas/HeldBalance' };
      expect(spec.problems(reference, one as unknown as Json)).toEqual([]);
    }
    expect(held[0]).toEqual({
      ...{ asset_type: '0x1000', metadata: '0x1000', amount: '1' },
      ...{ name: 'First', symbol: 'ONE', decimals: 1 },
    });
    expect(held[1]).toEqual({ asset_type: '0x1002', metadata: '0x1002', amount: '3' });
  });

  it.each([
    ['limit=1', ASSETS.length + 1],
    [`limit=${MAX_BALANCES_PER_PAGE - 1}`, 2],
    [`limit=${MAX_BALANCES_PER_PAGE}`, 2],
    [`limit=${MAX_BALANCES_PER_PAGE + 1}`, 2],
    ['', 2],
  ])('goes on at the cursor: %s', async (query, pages) => {
    const walk = await ledger.list(account, query);
    expect(walk.pages).toBe(pages);
    expect(walk.held).toEqual((await ledger.list(account)).held);
  });

  it('is the same in BCS', async () => {
    const url = `/v1/accounts/${account}/balances?ledger_version=2`;
    const { bytes } = await ledger.app.request({ url, headers: BCS });
    const reader = new BcsReader(bytes);
    const read = reader.vector(1, (from) => {
      const metadata = formatAddress(from.address());
      const coin = from.bool() ? formatStructTag(readStructTag(from)) : undefined;
      const amount = String(from.u64());
      const hasUnit = from.bool();
      const shown = hasUnit
        ? { name: from.string(), symbol: from.string(), decimals: from.u8() }
        : {};
      return { asset_type: coin ?? metadata, metadata, amount, ...shown };
    });
    reader.finish();
    expect(read).toEqual((await ledger.app.request(url)).json());
  });

  it('is 410 below the oldest version', async () => {
    await ledger.writer.advanceOldest({ firstVersion: 2n, height: 1n });
    const url = `/v1/accounts/${account}/balances?ledger_version=1`;
    const message = 'Ledger version(1) has been pruned';
    expectError(await ledger.app.request(url), 410, 'version_pruned', message);
    expect((await ledger.list(account, 'ledger_version=2')).held).toContainEqual({
      ...gold,
      amount: '7',
    });
  });
});
