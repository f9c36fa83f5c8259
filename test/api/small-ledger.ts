/**
 * A ledger of five versions in a SQLite store of its own, written by the store's writer: enough for every response of
 * the API. It is not meant for tests of module events, blocks or hashes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import type { Upstream } from '../../src/api/upstream.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { type Address, padAddress } from '../../src/move/types/address.ts';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';
import {
  APTOS_COIN_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  moduleStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  type StateKey,
} from '../../src/move/types/state-key.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import { coinStoreCodec, fungibleStoreCodec } from '../../src/move/values/framework-resource.ts';
import type {
  ChunkStreamEvent,
  ChunkTransaction,
  StateWrite,
} from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { SMALL_MODULE } from '../move/modules/module-samples.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** Chain id of the ledger. */
export const CHAIN_ID = 42;
/** Its newest version. */
export const NEWEST = 4n;
/** Time of its newest block. */
export const NEWEST_USECS = 1_700_000_000_123_456n;
/** Has balances, and thirty events in stream 2: ten at each of versions 0, 2 and 3. */
export const HOLDER = padAddress('cafe');
/** Bytes that are not a module, published as `0x1::junk`. */
export const JUNK = Buffer.from('not a module');

const COIN_AMOUNT = 18_000_000_000_000_000_000n;
const ASSET = padAddress('a');
const ASSET_AMOUNT = 446_744_073_709_551_615n;
/** The holder's balance of the native coin, in the coin store and the paired asset together: 2^64 - 1. */
export const NATIVE_BALANCE = COIN_AMOUNT + ASSET_AMOUNT;

function write(key: StateKey, value: Uint8Array): StateWrite {
  return { key: physicalStateKey(key), value };
}

function coinStoreWrite(owner: Address, amount: bigint): StateWrite {
  const handle = (creationNumber: bigint) => ({
    counter: 0n,
    key: { creationNumber, address: owner },
  });
  const bytes = coinStoreCodec.encode({
    amount,
    frozen: false,
    depositEvents: handle(2n),
    withdrawEvents: handle(3n),
  });
  return write(resourceStateKey(owner, coinStoreTag(APTOS_COIN_TAG)), bytes);
}

function assetStoreWrite(owner: Address, balance: bigint): StateWrite {
  const data = fungibleStoreCodec.encode({ metadata: ASSET, balance, frozen: false });
  const store = primaryStoreAddress(owner, ASSET);
  return write(
    resourceGroupStateKey(store, OBJECT_GROUP_TAG),
    encodeResourceGroup([{ tag: FUNGIBLE_STORE_TAG, data }]),
  );
}

function event(sequenceNumber: number, creationNumber = 2n, module = 'm'): ChunkStreamEvent {
  const typeArguments = [{ kind: 'u64' }] as const;
  const struct = { address: padAddress('1'), module, name: 'S', typeArguments };
  const type: TypeTag = { kind: 'struct', struct };
  return {
    kind: 'stream',
    address: HOLDER,
    creationNumber,
    sequenceNumber: BigInt(sequenceNumber),
    typeTag: TypeTag.encode(type),
    data: encodeBcs((writer) => writer.bytes(Buffer.of(sequenceNumber))),
  };
}

function events(from: number, count: number): ChunkStreamEvent[] {
  return Array.from({ length: count }, (_, index) => event(from + index));
}

const TRANSACTIONS: readonly Omit<ChunkTransaction, 'info'>[] = [
  {
    writes: [
      write(moduleStateKey(padAddress('1'), 'm'), SMALL_MODULE),
      write(moduleStateKey(padAddress('1'), 'junk'), JUNK),
      coinStoreWrite(HOLDER, 1n),
      coinStoreWrite(padAddress('bad'), 1n),
      write(
        resourceStateKey(padAddress('bad1'), coinStoreTag(APTOS_COIN_TAG)),
        Buffer.from('broken'),
      ),
    ],
    events: events(0, 10),
  },
  {
    writes: [
      coinStoreWrite(HOLDER, COIN_AMOUNT),
      write(moduleStateKey(padAddress('1'), 'late'), SMALL_MODULE),
      coinStoreWrite(padAddress('f0'), 2n ** 64n - 1n),
      assetStoreWrite(padAddress('f0'), 1n),
    ],
    // The module of its type was never published, so it cannot be rendered.
    events: [event(0, 3n, 'missing')],
  },
  { writes: [assetStoreWrite(HOLDER, ASSET_AMOUNT)], events: events(10, 10) },
  { writes: [], events: events(20, 10) },
  { writes: [], events: [] },
];

/** An API over the ledger, and a function that prunes its oldest versions. */
export interface SmallLedger {
  readonly app: TestApi;
  readonly log: LogLines;
  /** Publishes that versions below the block that begins at version 2 are pruned. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

/** Writes the ledger and opens an API over it. */
export async function openSmallLedger(
  changes: Partial<ApiSettings> = {},
  upstream?: Upstream,
): Promise<SmallLedger> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-api-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  await writer.append({
    firstVersion: 0n,
    transactions: TRANSACTIONS.map((transaction, index) => ({
      ...transaction,
      info: Buffer.from(`info ${index}`),
    })),
    blocks: [0n, 2n, 4n].map((firstVersion, index) => ({
      height: BigInt(index),
      firstVersion,
      epoch: BigInt(index),
      round: 0n,
      timestampUsecs: index === 2 ? NEWEST_USECS : BigInt(index),
      id: Buffer.alloc(32),
    })),
    epochEnds: [0n, 1n].map((epoch) => ({ epoch, lastVersion: epoch })),
    frozenRoots: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    identity: {
      chainId: CHAIN_ID,
      genesisWaypointHash: Buffer.alloc(32),
      keepsTransactions: false,
    },
  });
  const log = new LogLines();
  const app = new TestApi(
    buildApi(openTestedLedger(store), apiSettings({ ...NO_LOAD_BOUNDS, ...changes }), log, {
      upstream,
    }),
  );
  return {
    app,
    log,
    prune: async () => {
      await writer.advanceOldest({ firstVersion: 2n, height: 1n });
    },
    close: async () => {
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
