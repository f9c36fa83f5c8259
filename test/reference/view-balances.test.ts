/** Balances by view functions equal those of the node's own operation, for random accounts and versions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CoinAsset, FungibleAsset } from '../../src/ledger/balances/balance.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  ADDRESS_ONE,
  type Address,
  addressFromBytes,
  padAddress,
} from '../../src/move/types/address.ts';
import { APTOS_COIN_TAG } from '../../src/move/types/framework-tag.ts';
import { writeTypeTag } from '../../src/move/types/type-tag.ts';
import { ACCOUNT_KEYS } from '../../src/store/columns/columns.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { openTestedLedger, openTestedReader } from '../api/tested-ledger.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { NEWEST_VERSION, storeReferenceChain } from './reference-chain.ts';

const SEED = testSeed('view-balances');
const QUESTIONS = roundsOf('VIEW_BALANCES', 60, 10_000);
const COIN = new CoinAsset(APTOS_COIN_TAG);
const METADATA_TAG = {
  address: ADDRESS_ONE,
  module: 'fungible_asset',
  name: 'Metadata',
  typeArguments: [],
};

/** Every address with any state, including objects. */
async function addressesIn(store: StoreReader): Promise<Address[]> {
  const found = new Set<Address>();
  let after: Awaited<ReturnType<StoreReader['scan']>>[number] | undefined;
  for (;;) {
    const page = await store.scan(ACCOUNT_KEYS, { maxRows: 1_000, maxBytes: 1 << 20, after });
    if (page.length === 0) return [...found];
    for (const { partition } of page) found.add(addressFromBytes(partition));
    after = page.at(-1);
  }
}

function balanceCall(module: string, tag: typeof APTOS_COIN_TAG, args: readonly Address[]): Buffer {
  return encodeBcs((writer) => {
    writer.address(ADDRESS_ONE).string(module).string('balance');
    writer.vector([tag], (to, struct) => writeTypeTag(to, { kind: 'struct', struct }));
    writer.vector(args, (to, address) => to.bytes(encodeBcs((inner) => inner.address(address))));
  });
}

async function viewed(view: LedgerView, call: Buffer, version: bigint): Promise<bigint> {
  const bcs = Buffer.concat((await view.callView(call, version)).bcs());
  expect(bcs.length).toBe(9);
  return bcs.readBigUInt64LE(1);
}

describe(`balances by view functions (SEED=${SEED})`, () => {
  let folder: string;
  let store: StoreReader;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'daybook-view-balances-'));
    await storeReferenceChain(folder);
    store = await openTestedReader({ directory: folder });
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('are those of the balance operation', async () => {
    const view = await openTestedLedger(store).view();
    const random = new Random(SEED);
    const addresses = await addressesIn(store);
    let held = 0;
    for (let question = 0; question < QUESTIONS; question += 1) {
      const owner = random.pick(addresses);
      const version = BigInt(random.below(NEWEST_VERSION + 1));
      const coins = await viewed(view, balanceCall('coin', APTOS_COIN_TAG, [owner]), version);
      expect(coins, `${owner} ${version}`).toBe(await view.balance(owner, COIN, version));
      const metadata = random.below(2) === 0 ? padAddress('a') : random.pick(addresses);
      const call = balanceCall('primary_fungible_store', METADATA_TAG, [owner, metadata]);
      const asset = new FungibleAsset(metadata);
      let units: bigint | undefined;
      try {
        units = await viewed(view, call, version);
      } catch {
        // Not the address of an asset, so the argument is refused.
        units = undefined;
      }
      const wanted = await view.balance(owner, asset, version);
      expect(units ?? 0n, `${owner} ${metadata} ${version}`).toBe(wanted);
      if (coins > 0n || wanted > 0n) held += 1;
    }
    expect(held).toBeGreaterThan(QUESTIONS / 50);
  }, 3_600_000);
});
