/**
 * Views that outlive a pruning: rows of the head that they took are deleted, and they report it. The pruner gives no
 * grace here, and the clock is advanced instead: whatever is trusted for seconds is trusted only by the clock.
 */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CoinAsset, FungibleAsset } from '../../src/ledger/balances/balance.ts';
import { pinnedPrimaryStores } from '../../src/ledger/balances/pinned-stores.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';
import {
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { TRUSTED_MS } from '../../src/state/pruning-guard.ts';
import { READER_GRACE_MS } from '../../src/store/columns/pruning-column.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { address, block, chunk, streamEvent, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';

const COIN = parseStructTag('0x7::coin::Coin');
const METADATA = address(0x99);
const [PLAIN, KEPT] = [address(5), address(6)];
const OLDEST = 6;

function coinStore(owner: string, amount: number | undefined): StateWrite {
  const key = physicalStateKey(resourceStateKey(owner, coinStoreTag(COIN)));
  const handle = (writer: Parameters<Parameters<typeof encodeBcs>[0]>[0]) =>
    writer.u64(0n).u64(2n).address(owner);
  const value = encodeBcs((writer) => {
    writer.u64(BigInt(amount ?? 0)).bool(false);
    handle(writer);
    handle(writer);
  });
  return { key, value: amount === undefined ? undefined : value };
}

function primaryStore(owner: string, amount: number): StateWrite {
  const at = primaryStoreAddress(owner, METADATA);
  const data = encodeBcs((writer) => writer.address(METADATA).u64(BigInt(amount)).bool(false));
  return {
    key: physicalStateKey(resourceGroupStateKey(at, OBJECT_GROUP_TAG)),
    value: encodeResourceGroup([{ tag: FUNGIBLE_STORE_TAG, data }]),
  };
}

/**
 * Versions 0 to 9 with a block every two. Both accounts are written at each version, but only one of them at 4 to 7.
 */
async function ledger() {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  for (let version = 0; version < 10; version += 1) {
    const owners = version >= 4 && version < 8 ? [KEPT] : [PLAIN, KEPT];
    const writes = owners.flatMap((owner) => [
      coinStore(owner, version === 8 ? undefined : version),
      primaryStore(owner, 100 + version),
    ]);
    const events = [5, 6].map((account) => streamEvent(account, 2, version));
    const blocks =
      version === 0 || version % 2 === 1 ? {} : { blocks: [block(version / 2, version)] };
    await writer.append(chunk(version, [transaction(version, { writes, events })], blocks));
  }
  const reader = openLedger(writer.reader);
  const prune = async (versions: number) => {
    const options = { graceMs: 0, restFactor: 0, objectsOf: pinnedPrimaryStores };
    const pruner = new Pruner(writer, options);
    await pruner.pinAccounts([KEPT]);
    await pruner.run({ versions });
  };
  return { reader, prune, store };
}

const GONE = expect.objectContaining({ code: 'version_pruned' });
const coin = new CoinAsset(COIN);
const asset = new FungibleAsset(METADATA);
const page = (owner: string, start: number) => ({
  ...{ address: owner, creationNumber: 2n, start: BigInt(start), limit: 3 },
});

async function versionsOf(view: LedgerView, owner: string, start: number): Promise<number> {
  return (await view.pages.page(page(owner, start), 'bcs')).body[0] as number;
}

describe('a view that was taken before a pruning', () => {
  afterEach(() => vi.restoreAllMocks());

  async function oldView(): Promise<LedgerView> {
    const { reader, prune } = await ledger();
    const view = await reader.view();
    expect(view.state.oldestVersion).toBe(0n);
    await prune(10 - OLDEST);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + TRUSTED_MS);
    return view;
  }

  test('says of absent state that it is gone, and finds what is there', async () => {
    const view = await oldView();
    for (const version of [0n, 1n, 2n]) {
      await expect(view.balance(PLAIN, coin, version)).rejects.toThrow(GONE);
      await expect(view.balance(PLAIN, asset, version)).rejects.toThrow(GONE);
    }
    // Written at 3 and then not before 8: the newest row at the oldest version is retained.
    for (const version of [3n, 5n, 6n, 7n]) {
      expect(await view.balance(PLAIN, asset, version)).toBe(103n);
    }
    // A coin has a second store that may be pruned, so half of the sum is no result.
    await expect(view.balance(PLAIN, coin, 5n)).rejects.toThrow(GONE);
    for (const version of [6n, 7n]) expect(await view.balance(PLAIN, coin, version)).toBe(3n);
    expect(await view.balance(PLAIN, coin, 8n)).toBe(0n);
    expect(await view.balance(PLAIN, coin, 9n)).toBe(9n);
  });

  test('says so of histories of balances and of times', async () => {
    const view = await oldView();
    const bounds = { to: undefined, start: undefined, limit: 100 };
    for (const isDescending of [false, true]) {
      const ask = (from: bigint | undefined) =>
        view.balanceHistory({ address: PLAIN, asset: coin, ...bounds, from, isDescending });
      for (const from of [undefined, 0n, BigInt(OLDEST)])
        await expect(ask(from)).rejects.toThrow(GONE);
      const { changes } = await ask(BigInt(OLDEST) + 1n);
      const amounts = changes.map(({ version, amount }) => [version, amount]);
      const expected = [
        [8n, await view.balance(PLAIN, coin, 8n)],
        [9n, await view.balance(PLAIN, coin, 9n)],
      ];
      expect(isDescending ? amounts.reverse() : amounts).toEqual(expected);
    }
    await expect(view.versionAtTime(1_000_000n)).rejects.toThrow(GONE);
    expect(await view.versionAtTime(4_000_000n)).toMatchObject({ version: 9n });
  });

  test('says so of events, listings and blocks', async () => {
    const view = await oldView();
    await expect(view.pages.page(page(PLAIN, 0), 'json')).rejects.toThrow(GONE);
    await expect(view.pages.page(page(PLAIN, OLDEST - 2), 'bcs')).rejects.toThrow(GONE);
    // The newest event below the oldest version is retained, so this view may still return it.
    expect(await versionsOf(view, PLAIN, OLDEST - 1)).toBe(3);
    expect(await versionsOf(view, PLAIN, OLDEST)).toBe(3);
    const listing = (version: bigint) =>
      view.accounts.resources({ address: PLAIN, version, limit: 10 });
    await expect(listing(5n)).rejects.toThrow(GONE);
    expect((await listing(6n)).cursor).toBeUndefined();
    await expect(view.history.blockByHeight(1n)).rejects.toThrow(
      expect.objectContaining({ code: 'block_pruned' }),
    );
    await expect(view.history.transactions(2n, 5, 'x')).rejects.toThrow(GONE);
    expect((await view.history.transactions(6n, 5, 'x')).length).toBe(4);
  });

  test('loses nothing of an account whose history is kept', async () => {
    const view = await oldView();
    for (let version = 0; version < 10; version += 1) {
      const expected = version === 8 ? 0n : BigInt(version);
      expect(await view.balance(KEPT, coin, BigInt(version))).toBe(expected);
      expect(await view.balance(KEPT, asset, BigInt(version))).toBe(BigInt(100 + version));
    }
    expect(await versionsOf(view, KEPT, 0)).toBe(3);
  });
});

describe('a view that reads from a server which may lack what the one before had', () => {
  const current = { behindVersions: 0n, behindMs: 0, moves: 1, standbyWaitMs: 0 };
  test.each([
    [{ unconfirmedMs: Infinity, doubtfulMoveAgeMs: 29_000 }, 'store_behind'],
    [{ unconfirmedMs: Infinity, doubtfulMoveAgeMs: 31_000 }, undefined],
    [{ unconfirmedMs: TRUSTED_MS - 1, doubtfulMoveAgeMs: 0 }, undefined],
  ])('%o: what is missing is %s', async (server, code) => {
    const { reader, store } = await ledger();
    Object.assign(store, { server: { ...current, ...server } });
    const view = await reader.view();
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + TRUSTED_MS);
    onTestFinished(() => void vi.restoreAllMocks());
    const asked = (async () => view.balance(address(77), coin, 3n))();
    if (code === undefined) expect(await asked).toBe(0n);
    else await expect(asked).rejects.toMatchObject({ code });
    // Existing rows are never in doubt.
    expect(await view.balance(PLAIN, asset, 3n)).toBe(103n);
  });
});

describe('a view that was taken after it', () => {
  test.each([
    [PLAIN, OLDEST],
    [KEPT, 0],
  ])('of %s begins at %d', async (owner, oldest) => {
    const { reader, prune } = await ledger();
    await prune(10 - OLDEST);
    const view = await reader.view();
    expect(view.state.oldestVersion).toBe(BigInt(OLDEST));
    if (oldest > 0) {
      const below = BigInt(oldest) - 1n;
      expect(() => view.resolveVersion(below, owner)).toThrow(GONE);
      await expect(view.pages.page(page(owner, oldest - 1), 'json')).rejects.toThrow(GONE);
    }
    for (const version of [BigInt(oldest), BigInt(oldest) + 1n]) {
      expect(view.resolveVersion(version, owner)).toBe(version);
      expect(await versionsOf(view, owner, Number(version))).toBe(3);
    }
    // History without an owner is never retained below the oldest version.
    expect(() => view.resolveVersion(BigInt(OLDEST) - 1n)).toThrow(GONE);
    expect(() => view.resolveVersion(10n, owner)).toThrow(
      expect.objectContaining({ code: 'version_not_found' }),
    );
  });

  test('an account that was never seen has nothing, from the oldest version on', async () => {
    const { reader, prune } = await ledger();
    await prune(10 - OLDEST);
    const view = await reader.view();
    expect(await view.balance(address(77), coin, BigInt(OLDEST))).toBe(0n);
  });
});

test('a view is trusted for less time than the pruner waits', () => {
  expect(TRUSTED_MS).toBeLessThanOrEqual(READER_GRACE_MS / 2);
});
