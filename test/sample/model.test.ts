/** The sample ledger as a model: nothing is made or lost but fees, and translated streams can go on. */
import { beforeAll, describe, expect, it } from 'vitest';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { namedObjectAddress, pairedMetadataAddress } from '../../src/move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
} from '../../src/move/types/framework-tag.ts';
import { decodeResourceGroup, findGroupMember } from '../../src/move/types/resource-group.ts';
import { type Path, parsePhysicalStateKey, type StateKey } from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag, formatTypeTag, TypeTag } from '../../src/move/types/type-tag.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
} from '../../src/move/values/framework-resource.ts';
import { Accounts } from '../../src/sample/model/accounts.ts';
import { MODULE_EVENT_EPOCH } from '../../src/sample/model/chain.ts';
import { Effects } from '../../src/sample/model/effects.ts';
import { BEEF, CAFE, CAFE_HEX } from '../../src/sample/model/publishers.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import type { Chunk, ChunkTransaction } from '../../src/store/write/chunk.ts';

const MOON = `${CAFE_HEX}::moon_coin::MoonCoin`;
const NATIVE = '0x1::aptos_coin::AptosCoin';
const NATIVE_METADATA = padAddress('a');
const GAS_UNIT_PRICE = 100n;

/** What a state value holds of an asset: as the balance rule counts it (docs/spec/http.md §9.3). */
interface Holding {
  readonly asset: string;
  readonly amount: bigint;
}

function holding(path: Path, value: Uint8Array): Holding | undefined {
  if (path.kind === 'resource' && path.tag.name === 'CoinStore') {
    const coin = path.tag.typeArguments[0]!;
    return { asset: formatTypeTag(coin), amount: coinStoreCodec.decode(value).amount };
  }
  if (path.kind !== 'resourceGroup') return undefined;
  const members = decodeResourceGroup(value);
  const store = findGroupMember(members, FUNGIBLE_STORE_TAG);
  if (store === undefined) return undefined;
  const { metadata, balance } = fungibleStoreCodec.decode(store);
  const concurrent = findGroupMember(members, CONCURRENT_FUNGIBLE_BALANCE_TAG);
  if (balance !== 0n || concurrent === undefined) return { asset: metadata, amount: balance };
  return { asset: metadata, amount: concurrentFungibleBalanceCodec.decode(concurrent).value };
}

/** The supply that a state value tells, if it tells one. */
function supply(key: StateKey, value: Buffer): Holding | undefined {
  if (key.kind === 'tableItem' && key.handle.startsWith('1b854694')) {
    return { asset: NATIVE, amount: u128(value, 0) };
  }
  if (key.kind !== 'accessPath') return undefined;
  const path = key.parsed!;
  if (path.kind === 'resource' && path.tag.name === 'CoinInfo') {
    const asset = formatTypeTag(path.tag.typeArguments[0]!);
    // …, Some(OptionalAggregator { aggregator: None, integer: Some { value u128, limit u128 } })
    return asset === MOON ? { asset, amount: u128(value, value.length - 32) } : undefined;
  }
  if (path.kind !== 'resourceGroup') return undefined;
  const member = decodeResourceGroup(value).find(({ tag }) =>
    /^0x1::fungible_asset::(Concurrent)?Supply$/.test(formatStructTag(tag)),
  );
  return member === undefined ? undefined : { asset: key.address, amount: u128(member.data, 0) };
}

function u128(bytes: Buffer, offset: number): bigint {
  return bytes.readBigUInt64LE(offset) | (bytes.readBigUInt64LE(offset + 8) << 64n);
}

/** Sums of what is held, and the supplies that are told, after each version. */
class Balances {
  readonly supplies = new Map<string, bigint>();
  readonly #totals = new Map<string, bigint>();
  readonly #held = new Map<string, Holding>();

  apply(transaction: ChunkTransaction): void {
    for (const { key, value } of transaction.writes) {
      const name = key.toString('latin1');
      const before = this.#held.get(name);
      if (before !== undefined) this.#add(before.asset, -before.amount);
      this.#held.delete(name);
      if (value === undefined) continue;
      const parsed = parsePhysicalStateKey(key);
      const told = supply(parsed, Buffer.from(value));
      if (told !== undefined) this.supplies.set(told.asset, told.amount);
      if (parsed.kind !== 'accessPath') continue;
      const now = holding(parsed.parsed!, value);
      if (now === undefined) continue;
      this.#held.set(name, now);
      this.#add(now.asset, now.amount);
    }
  }

  #add(asset: string, amount: bigint): void {
    this.#totals.set(asset, (this.#totals.get(asset) ?? 0n) + amount);
  }

  total(...assets: string[]): bigint {
    return assets.reduce((sum, asset) => sum + (this.#totals.get(asset) ?? 0n), 0n);
  }
}

const GOLD = namedObjectAddress(CAFE, 'gold');
const MOON_METADATA = pairedMetadataAddress(parseStructTag(MOON));
const chunks: Chunk[] = [];

beforeAll(() => {
  chunks.push(...sampleChunks({ seed: 7, transactions: 5_000, accounts: 400 }));
});

describe('balances of a sample ledger', () => {
  it('change by fees alone, and add up to the supplies when a block begins', () => {
    const starts = new Set(chunks.flatMap(({ blocks }) => blocks.map((b) => b.firstVersion)));
    const balances = new Balances();
    let version = 0n;
    for (const transaction of chunks.flatMap((chunk) => chunk.transactions)) {
      const native = balances.total(NATIVE, NATIVE_METADATA);
      const others = [balances.total(MOON, MOON_METADATA), balances.total(GOLD)];
      balances.apply(transaction);
      if (version > 0n) {
        const fee = TransactionInfo.decode(transaction.info).gasUsed * GAS_UNIT_PRICE;
        expect(native - balances.total(NATIVE, NATIVE_METADATA)).toBe(fee);
        expect([balances.total(MOON, MOON_METADATA), balances.total(GOLD)]).toEqual(others);
      }
      if (starts.has(version)) {
        const assets = [GOLD, MOON, MOON_METADATA, NATIVE, NATIVE_METADATA];
        expect([...balances.supplies.keys()].sort()).toEqual(assets.sort());
        for (const asset of assets) {
          expect(balances.supplies.get(asset), asset).toBe(balances.total(asset));
          expect(balances.total(asset)).toBeGreaterThan(0n);
        }
      }
      version += 1n;
    }
    expect(version).toBeGreaterThanOrEqual(5_000n);
  });
});

describe('module events of a sample ledger', () => {
  it('come in all kinds that translate, and only after the streams’ own events', () => {
    const firstOf = new Map<string, bigint>();
    const lastOf = new Map<string, bigint>();
    let version = 0n;
    let switched = 0n;
    for (const chunk of chunks) {
      for (const { events } of chunk.transactions) {
        for (const event of events) {
          const type = formatTypeTag(TypeTag.decode(event.typeTag));
          if (!firstOf.has(type)) firstOf.set(type, version);
          lastOf.set(type, version);
        }
        version += 1n;
      }
      const end = chunk.epochEnds.find(({ epoch }) => epoch === BigInt(MODULE_EVENT_EPOCH - 1));
      if (end !== undefined) switched = end.lastVersion;
    }
    expect(switched).toBeGreaterThan(0n);
    expect(TRANSLATED.filter(([moduleEvent]) => !firstOf.has(moduleEvent))).toEqual([]);
    const concurrentCollections = new Set(['0x4::collection::Mint', '0x4::collection::Burn']);
    for (const [moduleEvent, handleEvent] of TRANSLATED) {
      // A concurrent supply has no handles and gave out module events from the start.
      if (!concurrentCollections.has(moduleEvent)) {
        expect(firstOf.get(moduleEvent)!, moduleEvent).toBeGreaterThan(switched);
      }
      expect(lastOf.get(handleEvent) ?? 0n, handleEvent).toBeLessThan(switched);
    }
  });
});

describe('publishers', () => {
  it.each([1n, 2n])('have the addresses of their keys, with seed %d', (seed) => {
    const accounts = new Accounts(seed, new Effects(), 1);
    for (const address of [CAFE, BEEF]) {
      const index = accounts.create();
      expect(accounts.key(index).authenticationKey.toString('hex')).toBe(address);
      expect(accounts.address(index)).toBe(address);
    }
  });
});

const STORE = '0x3::token_event_store';
/** Module events and the handle events they translate to (docs/spec/http.md §7.6). */
const TRANSLATED: readonly (readonly [moduleEvent: string, handleEvent: string])[] = [
  ['0x1::coin::CoinDeposit', '0x1::coin::DepositEvent'],
  ['0x1::coin::CoinWithdraw', '0x1::coin::WithdrawEvent'],
  ['0x1::account::CoinRegister', '0x1::account::CoinRegisterEvent'],
  ['0x1::account::KeyRotation', '0x1::account::KeyRotationEvent'],
  ['0x1::object::Transfer', '0x1::object::TransferEvent'],
  ['0x4::token::Mutation', '0x4::token::MutationEvent'],
  ['0x4::collection::Mutation', '0x4::collection::MutationEvent'],
  ['0x4::collection::Mint', '0x4::collection::MintEvent'],
  ['0x4::collection::Burn', '0x4::collection::BurnEvent'],
  ['0x3::token::TokenDeposit', '0x3::token::DepositEvent'],
  ['0x3::token::TokenWithdraw', '0x3::token::WithdrawEvent'],
  ['0x3::token::Burn', '0x3::token::BurnTokenEvent'],
  ['0x3::token::MutatePropertyMap', '0x3::token::MutateTokenPropertyMapEvent'],
  ['0x3::token::Mint', '0x3::token::MintTokenEvent'],
  ['0x3::token::CreateCollection', '0x3::token::CreateCollectionEvent'],
  ['0x3::token::TokenDataCreation', '0x3::token::CreateTokenDataEvent'],
  ['0x3::token_transfers::Offer', '0x3::token_transfers::TokenOfferEvent'],
  ['0x3::token_transfers::CancelOffer', '0x3::token_transfers::TokenCancelOfferEvent'],
  ['0x3::token_transfers::Claim', '0x3::token_transfers::TokenClaimEvent'],
  [`${STORE}::CollectionDescriptionMutate`, `${STORE}::CollectionDescriptionMutateEvent`],
  [`${STORE}::CollectionUriMutate`, `${STORE}::CollectionUriMutateEvent`],
  [`${STORE}::CollectionMaximumMutate`, `${STORE}::CollectionMaxiumMutateEvent`],
  [`${STORE}::UriMutation`, `${STORE}::UriMutationEvent`],
  [`${STORE}::DefaultPropertyMutate`, `${STORE}::DefaultPropertyMutateEvent`],
  [`${STORE}::DescriptionMutate`, `${STORE}::DescriptionMutateEvent`],
  [`${STORE}::RoyaltyMutate`, `${STORE}::RoyaltyMutateEvent`],
  [`${STORE}::MaximumMutate`, `${STORE}::MaxiumMutateEvent`],
  [`${STORE}::OptInTransfer`, `${STORE}::OptInTransferEvent`],
];
