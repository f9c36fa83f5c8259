/** Ledgers in which balances change in every way, and the histories that single reads give. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { type Asset, CoinAsset, FungibleAsset } from '../../src/ledger/balances/balance.ts';
import { pinnedPrimaryStores } from '../../src/ledger/balances/pinned-stores.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import type { LedgerReader } from '../../src/ledger/open.ts';
import { type Address, formatAddress, padAddress } from '../../src/move/types/address.ts';
import {
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
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
import { formatStructTag, type StructTag } from '../../src/move/types/type-tag.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
} from '../../src/move/values/framework-resource.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Chunk, StateWrite } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import type { Random } from '../random.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

export const GOLD: StructTag = {
  ...{ address: padAddress('7'), module: 'gold', name: 'Gold', typeArguments: [] },
};
export const PAIRED = pairedMetadataAddress(GOLD);
export const HOLDERS: readonly Address[] = ['a1', 'a2', 'a3'].map(padAddress);

/** The assets of the ledgers: as a coin, and as its paired fungible asset. */
export const ASSETS: readonly (readonly [name: string, asset: Asset])[] = [
  [formatStructTag(GOLD), new CoinAsset(GOLD)],
  [formatAddress(PAIRED), new FungibleAsset(PAIRED)],
];

export interface Change {
  readonly version: string;
  readonly amount: string;
  readonly timestamp: string;
}

export function coinWrite(owner: Address, amount: bigint | undefined, counter = 0n): StateWrite {
  const handle = { counter, key: { creationNumber: 2n, address: owner } };
  const handles = { depositEvents: handle, withdrawEvents: handle };
  const key = physicalStateKey(resourceStateKey(owner, coinStoreTag(GOLD)));
  if (amount === undefined) return { key, value: undefined };
  return { key, value: coinStoreCodec.encode({ amount, frozen: false, ...handles }) };
}

/** @param concurrent the concurrent amount, used when the store's own is 0 */
export function storeWrite(
  owner: Address,
  balance: bigint | undefined,
  concurrent?: bigint,
): StateWrite {
  const at = primaryStoreAddress(owner, PAIRED);
  const key = physicalStateKey(resourceGroupStateKey(at, OBJECT_GROUP_TAG));
  if (balance === undefined) return { key, value: undefined };
  const data = fungibleStoreCodec.encode({ metadata: PAIRED, balance, frozen: false });
  const value = concurrent ?? 0n;
  const members = [
    {
      tag: CONCURRENT_FUNGIBLE_BALANCE_TAG,
      data: concurrentFungibleBalanceCodec.encode({ value, maxValue: 1_000n }),
    },
    { tag: FUNGIBLE_STORE_TAG, data },
  ];
  return { key, value: encodeResourceGroup(concurrent === undefined ? members.slice(1) : members) };
}

/**
 * A chunk of random writes to the stores of HOLDERS. Each version begins a block, and some blocks have the same time.
 */
export function randomChunk(
  random: Random,
  first: number,
  count: number,
  before: Block | undefined,
): Chunk {
  const blocks: Block[] = [];
  let last = before;
  const transactions = Array.from({ length: count }, (_, index) => {
    const version = first + index;
    if (index === 0 || random.below(5) === 0) {
      const height = last === undefined ? 0 : Number(last.height) + 1;
      const timestampUsecs =
        last === undefined ? 0n : last.timestampUsecs + BigInt(random.pick([0, 0, 1, 1_000_000]));
      last = { ...block(height, version), timestampUsecs };
      blocks.push(last);
    }
    return transaction(version, { writes: randomWrites(random) });
  });
  return { ...chunk(first, transactions), blocks };
}

function randomWrites(random: Random): StateWrite[] {
  return HOLDERS.flatMap((owner) => {
    const amount = (): bigint => BigInt(random.below(3));
    const gone = (): boolean => random.below(6) === 0;
    const writes: StateWrite[] = [];
    if (random.below(2) === 0) {
      writes.push(coinWrite(owner, gone() ? undefined : amount(), BigInt(random.below(9))));
    }
    if (random.below(3) === 0) {
      writes.push(
        storeWrite(owner, gone() ? undefined : amount(), random.below(2) === 0 ? undefined : 5n),
      );
    }
    return writes;
  });
}

export async function openBalances(chunks: Iterable<Chunk>) {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-history-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  for (const one of chunks) await writer.append(one);
  const log = new LogLines();
  const ledger: LedgerReader = openTestedLedger(store);
  const app = new TestApi(buildApi(ledger, apiSettings(NO_LOAD_BOUNDS), log));
  const close = async (): Promise<void> => {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(log).toEqual(new LogLines());
  };
  const prune = async (versions: number, pinned: readonly Address[] = []): Promise<void> => {
    const pruner = new Pruner(writer, {
      ...{ graceMs: 0, restFactor: 0, objectsOf: pinnedPrimaryStores },
    });
    if (pinned.length > 0) await pruner.pinAccounts(pinned);
    await pruner.run({ versions });
  };
  /** All pages of a history, with the number of entries on each. */
  const history = async (
    account: Address,
    asset: string,
    query = '',
  ): Promise<{ changes: Change[]; pages: number[] }> => {
    const changes: Change[] = [];
    const pages: number[] = [];
    let start = '';
    for (;;) {
      const url = `/v1/accounts/${account}/balance/${asset}/history?${query}${start}`;
      const reply = await app.request(url);
      expect([url, reply.statusCode, reply.body]).toEqual([url, 200, expect.any(String)]);
      const page = reply.json<Change[]>();
      changes.push(...page);
      pages.push(page.length);
      const cursor = reply.headers['x-node-cursor'];
      if (cursor === undefined) return { changes, pages };
      start = `&start=${String(cursor)}`;
    }
  };
  return { app, log, writer, ledger, history, prune, close };
}

export type OpenedBalances = Awaited<ReturnType<typeof openBalances>>;

/** Results of reads of every version from the oldest on. */
export interface SingleReads {
  readonly oldest: bigint;
  readonly amounts: readonly bigint[];
  readonly timestamps: readonly bigint[];
}

/** Concurrent reads. */
const READS_AT_ONCE = 100;

/** @param oldest the account's oldest version in the ledger */
export async function readSingly(
  view: LedgerView,
  account: Address,
  asset: Asset,
  oldest = 0n,
): Promise<SingleReads> {
  const { version: newest, oldestVersion } = view.state;
  const amounts: bigint[] = [];
  const timestamps: bigint[] = [];
  const timestampOf = async (version: bigint): Promise<bigint> =>
    version < oldestVersion ? 0n : (await view.history.blockByVersion(version)).timestampUsecs;
  for (let first = oldest; first <= newest; first += BigInt(READS_AT_ONCE)) {
    const count = Math.min(READS_AT_ONCE, Number(newest - first) + 1);
    const versions = Array.from({ length: count }, (_, at) => first + BigInt(at));
    amounts.push(...(await Promise.all(versions.map((at) => view.balance(account, asset, at)))));
    timestamps.push(...(await Promise.all(versions.map(timestampOf))));
  }
  return { oldest, amounts, timestamps };
}

/** The versions that changed the balance, ascending. */
export function changesOf(
  { oldest, amounts, timestamps }: SingleReads,
  from = oldest,
  to = oldest + BigInt(amounts.length) - 1n,
): Change[] {
  return amounts.flatMap((amount, at) => {
    const version = oldest + BigInt(at);
    if (version < from || version > to || amount === (amounts[at - 1] ?? 0n)) return [];
    return { version: `${version}`, amount: `${amount}`, timestamp: `${timestamps[at]}` };
  });
}
