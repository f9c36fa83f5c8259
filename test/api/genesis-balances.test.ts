/** Every balance in a genesis is returned exactly: coin stores and fungible stores. */
import { expect, it } from 'vitest';
import { FileCursor, type FileResource, shortAddress, typeName } from './genesis-file.ts';
import {
  ALL_NETWORKS,
  describeServed,
  expectBytes,
  type LedgerName,
  type Served,
} from './genesis-served.ts';

const COIN_STORE = '0x1::coin::CoinStore';
const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';
const NATIVE_METADATA = 'a'.padStart(64, '0');
const U64_MAX = 2n ** 64n - 1n;

/** Number of coin stores of the native coin, and their sum (docs/spec/ledger.md §1.4; the small genesis is ours). */
const COINS: Readonly<Record<LedgerName, readonly [stores: number, sum: bigint]>> = {
  small: [2, U64_MAX + 7n],
  mainnet: [424, 18_062_791_321_240_000n],
  testnet: [5, U64_MAX],
  devnet: [0, 0n],
};
const FUNGIBLE_STORES: Readonly<Record<LedgerName, number>> = {
  small: 2,
  mainnet: 0,
  testnet: 0,
  devnet: 6,
};

function littleEndian(amount: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(amount);
  return bytes;
}

function path(account: string, asset: string): string {
  return `/v1/accounts/${account}/balance/${asset}`;
}

/** Compares a balance with its amount, in both formats and for each spelling of the asset. */
async function expectBalance(
  served: Served,
  account: string,
  assets: readonly string[],
  amount: bigint,
): Promise<void> {
  for (const asset of assets) {
    expect(await served.json(path(account, asset))).toBe(String(amount));
    expectBytes(await served.bcs(path(account, asset)), littleEndian(amount));
  }
}

function coinStores({ file }: Served): FileResource[] {
  return file.resources.filter(
    ({ type }) => typeName({ ...type, typeArguments: [] }) === COIN_STORE,
  );
}

describeServed('coin stores', ALL_NETWORKS, (served) => {
  it('of the native coin are answered exactly', async () => {
    const native = coinStores(served).filter(({ type }) => type.typeArguments[0] === NATIVE_COIN);
    let sum = 0n;
    for (const { address, bytes } of native) {
      // docs/spec/ledger.md §5.10: the amount comes first, 105 bytes in all.
      expect(bytes.length).toBe(105);
      const amount = bytes.readBigUInt64LE();
      sum += amount;
      await expectBalance(served, shortAddress(address), [NATIVE_COIN], amount);
    }
    expect([native.length, sum]).toEqual(COINS[served.name]);
  });

  it('of any coin are answered, the type in any spelling', async () => {
    for (const { address, type, bytes } of coinStores(served).slice(0, 40)) {
      const coin = type.typeArguments[0]!;
      const spellings = [
        encodeURIComponent(coin),
        coin.replace('0x', '0x000'),
        `%20${coin.replace('::', '%20::%09')}`,
      ];
      await expectBalance(served, address, spellings, bytes.readBigUInt64LE());
      expect(await served.json(`${path(address, coin)}?ledger_version=0`)).toBe(
        String(bytes.readBigUInt64LE()),
      );
    }
  });

  it('do not count for other coins, nor for the fungible asset by its address', async () => {
    const owners = new Set(fungibleStores(served).map(({ owner }) => owner));
    for (const { address } of coinStores(served).slice(0, 40)) {
      if (owners.has(address)) continue;
      await expectBalance(served, address, ['0xa', 'a', '0x1::aptos_coin::Aptoscoin'], 0n);
    }
  });
});

interface FungibleStoreOfFile {
  readonly owner: string;
  readonly metadata: string;
  readonly amount: bigint;
}

/** Stores in object groups of the file, decoded by hand (docs/spec/ledger.md §5.5, §5.10). */
function fungibleStores({ file }: Served): FungibleStoreOfFile[] {
  const stores: FungibleStoreOfFile[] = [];
  for (const { bytes } of file.groups) {
    const members = groupMembers(bytes);
    const store = members.get('0x1::fungible_asset::FungibleStore');
    const core = members.get('0x1::object::ObjectCore');
    if (store === undefined || core === undefined) continue;
    const cursor = new FileCursor(store);
    const metadata = cursor.address();
    const plain = cursor.u64();
    const concurrent = members.get('0x1::fungible_asset::ConcurrentFungibleBalance');
    const amount = plain === 0n ? (concurrent?.readBigUInt64LE() ?? 0n) : plain;
    stores.push({ owner: core.subarray(8, 40).toString('hex'), metadata, amount });
  }
  return stores;
}

function groupMembers(bytes: Buffer): Map<string, Buffer> {
  const cursor = new FileCursor(bytes);
  const members = new Map<string, Buffer>();
  for (let left = cursor.uleb(); left > 0; left -= 1) {
    members.set(typeName(cursor.namedType()), cursor.bytes());
  }
  expect(cursor.isAtEnd).toBe(true);
  return members;
}

describeServed('fungible stores', ALL_NETWORKS, (served) => {
  it('are answered by owner, by the metadata’s address and by the paired coin', async () => {
    const stores = fungibleStores(served);
    expect(stores.length).toBe(FUNGIBLE_STORES[served.name]);
    for (const { owner, metadata, amount } of stores) {
      expect(metadata).toBe(NATIVE_METADATA);
      const assets = ['0xa', 'a', `0x${metadata}`, metadata, NATIVE_COIN];
      await expectBalance(served, shortAddress(owner), assets, amount);
      await expectBalance(served, shortAddress(owner), ['0xb', '0x1::other::Coin'], 0n);
    }
    if (stores.length > 0) expect(stores.map(({ amount }) => amount)).toContain(U64_MAX);
  });
});

describeServed('unknown accounts', ['mainnet'], (served) => {
  it('have 0 of everything', async () => {
    await expectBalance(served, '0xdeadbeef', [NATIVE_COIN, '0xa', '0x5a::usd::USD'], 0n);
  });
});
