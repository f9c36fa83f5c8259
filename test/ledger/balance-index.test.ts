/**
 * Compares the rows of balances (src/store/write/balance-index.ts) with state: whatever is written, in any order and
 * chunks of any size, both give the same balance of every owner, at every version.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Asset,
  balanceAt,
  CoinAsset,
  FungibleAsset,
} from '../../src/ledger/balances/balance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { type Address, addressBytes, padAddress } from '../../src/move/types/address.ts';
import {
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  type HashedStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
  objectCoreCodec,
} from '../../src/move/values/framework-resource.ts';
import { Batch } from '../../src/store/batch.ts';
import { BALANCE } from '../../src/store/columns/balance-column.ts';
import { ACCOUNT_KEYS, BALANCES, PRIMARY_STORES } from '../../src/store/columns/columns.ts';
import { NO_ORDER } from '../../src/store/columns/order-key.ts';
import { keyOfRow } from '../../src/store/columns/state-key-column.ts';
import { openView, type StoreView } from '../../src/store/read/view.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { BalanceKeys, verifyBalances, verifyPrimaryStores } from '../../src/verify/balances.ts';
import { DamageList, scanColumn, type VerifyContext } from '../../src/verify/context.ts';
import { randomSource as fractions, roundsOf, testSeed } from '../random.ts';
import { chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

const runs = roundsOf('RUNS', 3, 200);

/** Returns a whole number below another. */
type Random = (below: number) => number;

function randomSource(seed: number): Random {
  const next = fractions(seed);
  return (below) => Math.floor(next() * below);
}

const OWNERS = ['a11ce', 'b0b', 'ca401'].map(padAddress);
const COINS = [
  '0x1::aptos_coin::AptosCoin',
  '0x5a::usd::USD',
  '0x5a::lp::LP<0x5a::usd::USD, u8>',
].map(parseStructTag);
const COIN_ASSETS: readonly Asset[] = COINS.map((type) => new CoinAsset(type));
const METADATA = [...COINS.map(pairedMetadataAddress), padAddress('fa')];
const ASSETS: readonly Asset[] = [
  ...COIN_ASSETS,
  ...METADATA.map((metadata) => new FungibleAsset(metadata)),
];
const HANDLE = { counter: 0n, key: { creationNumber: 2n, address: padAddress('1') } };
const AMOUNTS = [0n, 1n, 7n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

function coinStoreWrite(random: Random): StateWrite {
  const key = physicalStateKey(
    resourceStateKey(pick(random, OWNERS), coinStoreTag(pick(random, COINS))),
  );
  const value = coinStoreCodec.encode({
    amount: pick(random, AMOUNTS),
    frozen: random(2) === 1,
    depositEvents: HANDLE,
    withdrawEvents: HANDLE,
  });
  return { key, value: damaged(random, value) };
}

/** Mostly unchanged; sometimes truncated, altered, or a deletion. */
function damaged(random: Random, value: Buffer): Buffer | undefined {
  switch (random(12)) {
    case 0:
      return undefined;
    case 1:
      return value.subarray(0, random(value.length));
    case 2:
      value[random(value.length)]! ^= 1 << random(8);
      return value;
    default:
      return value;
  }
}

/** An object at an owner's primary store address: usually a store, usually with the right owner. */
function objectWrite(random: Random): StateWrite {
  const [owner, metadata] = [pick(random, OWNERS), pick(random, METADATA)];
  const address = primaryStoreAddress(owner, metadata);
  const members = [
    {
      tag: OBJECT_CORE_TAG,
      data: objectCoreCodec.encode({
        guidCreationNumber: 1n,
        owner: random(4) === 0 ? pick(random, OWNERS) : owner,
        allowUngatedTransfer: false,
        transferEvents: HANDLE,
      }),
    },
    {
      tag: FUNGIBLE_STORE_TAG,
      data: fungibleStoreCodec.encode({
        metadata: random(6) === 0 ? pick(random, METADATA) : metadata,
        balance: pick(random, AMOUNTS),
        frozen: false,
      }),
    },
    {
      tag: CONCURRENT_FUNGIBLE_BALANCE_TAG,
      data: concurrentFungibleBalanceCodec.encode({ value: 77n, maxValue: 99n }),
    },
  ].filter((_, index) => random(index === 2 ? 2 : 10) > 0);
  const key = physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG));
  return { key, value: damaged(random, Buffer.from(encodeResourceGroup(members))) };
}

function randomWrites(random: Random): StateWrite[] {
  const byKey = new Map<string, StateWrite>();
  for (let count = random(5); count > 0; count -= 1) {
    const write = random(3) === 0 ? coinStoreWrite(random) : objectWrite(random);
    byKey.set(write.key.toString('hex'), write);
  }
  return [...byKey.values()];
}

/** A balance, or the error code of the failure. */
async function outcome(read: () => bigint | Promise<bigint>): Promise<string> {
  try {
    return String(await read());
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
}

/** How often rows answered, and the results. */
interface Tally {
  answered: number;
  passed: number;
  readonly outcomes: Set<string>;
}

async function compare(view: StoreView, versions: readonly bigint[], tally: Tally): Promise<void> {
  const state = (key: HashedStateKey, version: bigint) => view.state(key, version);
  const plainView = { balance: () => undefined };
  for (const owner of OWNERS) {
    for (const asset of ASSETS) {
      for (const version of versions) {
        const quick = () => balanceAt({ index: view, state }, owner, asset, version);
        const plain = () => balanceAt({ index: plainView, state }, owner, asset, version);
        const [found, wanted] = [await outcome(quick), await outcome(plain)];
        const where = `${owner.slice(-5)} ${JSON.stringify(asset)} at ${version}`;
        expect(`${where}: ${found}`).toBe(`${where}: ${wanted}`);
        tally.outcomes.add(found);
        // Results from rows are returned at once, those from state as promises.
        const isAtOnce = !(await isPromised(quick));
        if (isAtOnce) tally.answered += 1;
        else tally.passed += 1;
      }
    }
  }
}

async function isPromised(read: () => bigint | Promise<bigint>): Promise<boolean> {
  try {
    const found = read();
    if (!(found instanceof Promise)) return false;
    await found.catch(() => undefined);
    return true;
  } catch {
    return false;
  }
}

async function damagesOf(store: Store): Promise<string[]> {
  const view = await openView(store);
  const damages = new DamageList();
  const parts = {
    store,
    view,
    damages,
    above: damages,
    digests: new Map(),
    reads: new Map(),
    onRows: () => undefined,
  };
  const context = parts as unknown as VerifyContext;
  const keys: Buffer[] = [];
  for await (const row of scanColumn(context, ACCOUNT_KEYS)) {
    const known = keyOfRow(row);
    if (known !== undefined) keys.push(known.key);
  }
  await new BalanceKeys(context).check(keys);
  await verifyBalances(context);
  await verifyPrimaryStores(context);
  return damages.listed.map(({ column, detail }) => `${column}: ${detail}`);
}

async function history(store: Store, random: Random, tally: Tally): Promise<void> {
  const writer = await LedgerWriter.open(store);
  let next = 0;
  while (next < 40) {
    const count = 1 + random(4);
    const transactions = Array.from({ length: count }, (_, index) =>
      transaction(next + index, { writes: randomWrites(random) }),
    );
    await writer.append(chunk(next, transactions));
    next += count;
    const head = BigInt(next - 1);
    const older = Array.from({ length: 2 }, () => BigInt(random(next)));
    await compare(await openView(store), [head, ...older], tally);
  }
  expect(await damagesOf(store)).toEqual([]);
}

describe('rows of balances give what state gives', () => {
  it('in the model', async () => {
    const tally = { answered: 0, passed: 0, outcomes: new Set<string>() };
    const seed = testSeed();
    for (let run = 0; run < runs; run += 1) {
      await history(new MemoryStore(), randomSource(seed + run), tally);
    }
    // Both paths were taken, with amounts of every size and with values that do not decode.
    expect(tally.answered).toBeGreaterThan(100);
    expect(tally.passed).toBeGreaterThan(100);
    expect(tally.outcomes.size).toBeGreaterThan(8);
    expect(tally.outcomes).toContain('internal_error');
  });

  it('in SQLite', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-balances-'));
    const tally = { answered: 0, passed: 0, outcomes: new Set<string>() };
    try {
      const store = await openSqliteStore({ directory });
      await history(store, randomSource(testSeed()), tally);
      await store.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
    expect(tally.answered).toBeGreaterThan(20);
  }, 60_000);
});

const [ALICE, BOB] = OWNERS as [Address, Address];
const NATIVE = METADATA[0]!;
const STORE_OF_ALICE = primaryStoreAddress(ALICE, NATIVE);

function storeOf(address: Address, owner: Address, balance: bigint): StateWrite {
  const value = encodeResourceGroup([
    {
      tag: OBJECT_CORE_TAG,
      data: objectCoreCodec.encode({
        guidCreationNumber: 1n,
        owner,
        allowUngatedTransfer: false,
        transferEvents: HANDLE,
      }),
    },
    {
      tag: FUNGIBLE_STORE_TAG,
      data: fungibleStoreCodec.encode({ metadata: NATIVE, balance, frozen: false }),
    },
  ]);
  return { key: physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG)), value };
}

function coinsOf(owner: Address, amount: bigint): StateWrite {
  const value = coinStoreCodec.encode({
    amount,
    frozen: false,
    depositEvents: HANDLE,
    withdrawEvents: HANDLE,
  });
  return { key: physicalStateKey(resourceStateKey(owner, coinStoreTag(COINS[0]!))), value };
}

/** A ledger with these writes, one version and one commit each. */
async function ledgerOf(...writes: readonly StateWrite[][]): Promise<MemoryStore> {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  for (const [version, written] of writes.entries()) {
    await writer.append(chunk(version, [transaction(version, { writes: written })]));
  }
  return store;
}

async function rowOf(store: Store, owner: Address) {
  return (await openView(store)).balance(addressBytes(owner), addressBytes(NATIVE));
}

describe('what a row holds', () => {
  it('is both places, each as its last write left it', async () => {
    const store = await ledgerOf(
      [coinsOf(ALICE, 5n)],
      [storeOf(STORE_OF_ALICE, ALICE, 7n)],
      [coinsOf(ALICE, 6n)],
    );
    expect(await rowOf(store, ALICE)).toEqual({ version: 2n, coin: 6n, fungible: 7n });
    expect(await rowOf(store, BOB)).toBeUndefined();
    const view = await openLedger(store).view();
    expect(await view.balance(ALICE, COIN_ASSETS[0]!, 2n)).toBe(13n);
    expect(await view.balance(ALICE, COIN_ASSETS[0]!, 1n)).toBe(12n);
    expect(await view.balance(ALICE, new FungibleAsset(NATIVE), 2n)).toBe(7n);
  });

  it('follows a store that is given away, and one that was there before its first row', async () => {
    const given = await ledgerOf(
      [storeOf(STORE_OF_ALICE, ALICE, 7n)],
      [storeOf(STORE_OF_ALICE, BOB, 8n)],
    );
    expect(await rowOf(given, ALICE)).toEqual({ version: 1n, coin: 0n, fungible: 8n });
    const before = await ledgerOf([storeOf(STORE_OF_ALICE, BOB, 8n)], [coinsOf(ALICE, 1n)]);
    expect(await rowOf(before, ALICE)).toEqual({ version: 1n, coin: 1n, fungible: 8n });
    const together = await ledgerOf([storeOf(STORE_OF_ALICE, BOB, 8n), coinsOf(ALICE, 1n)]);
    expect(await rowOf(together, ALICE)).toEqual({ version: 0n, coin: 1n, fungible: 8n });
    for (const store of [given, before, together]) expect(await damagesOf(store)).toEqual([]);
  });
});

describe('the row of a balance', () => {
  const place = { partition: Buffer.alloc(32, 1), order: Buffer.alloc(32, 2) };
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
  const samples = [
    ['0500000000000000 00 0700000000000000 ffffffffffffffff', 5n, 7n, 2n ** 64n - 1n],
    ['0000000000000000 01 0000000000000000 0100000000000000', 0n, undefined, 1n],
    ['0000000000000000 02 0100000000000000 0000000000000000', 0n, 1n, undefined],
    ['0000000000000000 03 0000000000000000 0000000000000000', 0n, undefined, undefined],
  ] as const;

  it.each(samples)('%s', (bytes, version, coin, fungible) => {
    const balance = { version, coin, fungible };
    expect(BALANCE.encode(balance)).toEqual(hex(bytes));
    expect(BALANCE.decode(place, hex(bytes))).toEqual(balance);
  });

  it.each([
    ['cut', '0500000000000000 00 0700000000000000 ffffffffffffff'],
    ['too long', '0500000000000000 00 0700000000000000 ffffffffffffffff00'],
    ['an unknown flag', '0500000000000000 04 0700000000000000 ffffffffffffffff'],
    [
      'an amount that does not decode and is there',
      '0500000000000000 01 0700000000000000 0000000000000000',
    ],
    ['empty', ''],
  ])('refuses %s', (_, bytes) => {
    expect(() => BALANCE.decode(place, hex(bytes))).toThrow(/balances/);
  });
});

describe('verify finds', () => {
  const [owner, metadata] = [Buffer.from(addressBytes(ALICE)), Buffer.from(addressBytes(NATIVE))];
  const address = Buffer.from(addressBytes(STORE_OF_ALICE));
  const right = { version: 1n, coin: 5n, fungible: 7n };
  const cases: readonly (readonly [string, (batch: Batch) => void, RegExp])[] = [
    [
      'another amount in the coin store',
      (b) => put(b, { ...right, coin: 6n }),
      /it says 6, the coin store has 5/,
    ],
    [
      'another fungible amount',
      (b) => put(b, { ...right, fungible: 0n }),
      /it says 0, the primary store has 7/,
    ],
    [
      'an older version',
      (b) => put(b, { ...right, version: 0n }),
      /it is of version 0, state was written at 1/,
    ],
    ['a later version', (b) => put(b, { ...right, version: 2n }), /above the head/],
    ['a missing row', (b) => b.delete(BALANCES, owner, metadata), /missing/],
    [
      'a missing way back',
      (b) => b.delete(PRIMARY_STORES, address, NO_ORDER),
      /primary_stores: missing: nothing leads to/,
    ],
    [
      'a way back to somebody else',
      (b) => b.put(PRIMARY_STORES, address, NO_ORDER, Buffer.concat([metadata, owner])),
      /another owner or asset/,
    ],
    [
      'coins that are nowhere',
      (b) => b.put(BALANCES, metadata, owner, BALANCE.encode(right)),
      /it says 5, the coin store has 0/,
    ],
    [
      'a row that does not decode',
      (b) => b.put(BALANCES, owner, metadata, Buffer.of(1)),
      /unexpected end/,
    ],
  ];
  const put = (batch: Batch, balance: typeof right) =>
    batch.put(BALANCES, owner, metadata, BALANCE.encode(balance));

  it.each(cases)('%s', async (_, damage, expected) => {
    const store = await ledgerOf([coinsOf(ALICE, 5n)], [storeOf(STORE_OF_ALICE, ALICE, 7n)]);
    expect(await damagesOf(store)).toEqual([]);
    const batch = new Batch();
    damage(batch);
    await store.commit(batch);
    expect((await damagesOf(store)).join('\n')).toMatch(expected);
  });
});
