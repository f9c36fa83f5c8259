/** Coins and fungible assets: their metadata and balances. Transfers are in asset-activities.ts. */
import type { RowSink } from '../rows/row-buffer.ts';
import { type CoinPairs, deletedMetadata, MAX_TYPE_CHARACTERS } from './coin-pairs.ts';
import {
  type Fields,
  FUNGIBLE_STORE,
  fullAddress,
  OBJECT_CORE,
  OBJECT_GROUP,
  optional,
  primaryStore,
  type ResourceWrite,
  STORE_DELETION,
  type TransactionFacts,
  typeArgument,
} from './transaction-facts.ts';

export const METADATA = '0x1::fungible_asset::Metadata';
const CONCURRENT_BALANCE = '0x1::fungible_asset::ConcurrentFungibleBalance';
const SUPPLY = '0x1::fungible_asset::Supply';
const CONCURRENT_SUPPLY = '0x1::fungible_asset::ConcurrentSupply';
const COIN_INFO = '0x1::coin::CoinInfo';
export const COIN_STORE = '0x1::coin::CoinStore';
const MAX_NAME_CHARACTERS = 32;
const MAX_SYMBOL_CHARACTERS = 10;

export function fungibleAssets(facts: TransactionFacts, rows: RowSink, pairs: CoinPairs): void {
  for (const write of facts.writes) {
    if (write.type === METADATA) putMetadata(facts, write, rows);
    const coin = typeArgument(write.type, COIN_INFO);
    if (coin !== undefined && coin.length <= MAX_TYPE_CHARACTERS) {
      putCoin(facts, coin, write, rows);
    }
  }
  for (const write of facts.writes) {
    if (write.type === FUNGIBLE_STORE) putStore(facts, write, rows, pairs);
    else putCoinStore(facts, write.address, write.type, write.data, rows, pairs);
  }
  for (const { address, type } of facts.deletions) {
    if (type === OBJECT_GROUP) endStore(facts, address, rows, pairs);
    // A coin store was migrated to a store of the asset that its coin is paired with.
    else putCoinStore(facts, address, type, undefined, rows, pairs);
  }
}

function putMetadata(
  facts: TransactionFacts,
  { address, data }: ResourceWrite,
  rows: RowSink,
): void {
  const creator = facts.ownerOf(address);
  if (creator === undefined) return;
  rows.put('fungible_asset_metadata', {
    asset_type: address,
    creator_address: creator,
    name: data.name,
    symbol: data.symbol,
    decimals: data.decimals,
    icon_uri: data.icon_uri,
    project_uri: data.project_uri,
    last_transaction_version: facts.version,
    last_transaction_timestamp: facts.timestamp,
    supply_aggregator_table_handle_v1: null,
    supply_aggregator_table_key_v1: null,
    token_standard: 'v2',
    ...supplyOf(facts, address),
  });
}

/** The columns of the supply; null for an asset without a supply. */
function supplyOf(facts: TransactionFacts, address: string): Fields {
  const concurrent = facts.resource(address, CONCURRENT_SUPPLY);
  if (concurrent !== undefined) {
    const { value, max_value: maximum } = concurrent.current;
    return { supply_v2: value, maximum_v2: maximum };
  }
  const supply = facts.resource(address, SUPPLY);
  return {
    supply_v2: supply?.current ?? null,
    maximum_v2: optional<string>(supply?.maximum) ?? null,
  };
}

function putCoin(
  { version, timestamp }: TransactionFacts,
  coin: string,
  { address, data }: ResourceWrite,
  rows: RowSink,
): void {
  const aggregator = optional<Fields>(optional<Fields>(data.supply)?.aggregator);
  rows.put('fungible_asset_metadata', {
    asset_type: coin,
    creator_address: address,
    name: data.name.slice(0, MAX_NAME_CHARACTERS),
    symbol: data.symbol.slice(0, MAX_SYMBOL_CHARACTERS),
    decimals: data.decimals,
    icon_uri: null,
    project_uri: null,
    last_transaction_version: version,
    last_transaction_timestamp: timestamp,
    supply_aggregator_table_handle_v1: aggregator ? fullAddress(aggregator.handle) : null,
    supply_aggregator_table_key_v1: aggregator ? fullAddress(aggregator.key) : null,
    token_standard: 'v1',
    supply_v2: null,
    maximum_v2: null,
  });
}

function putStore(
  facts: TransactionFacts,
  { address, data }: ResourceWrite,
  rows: RowSink,
  pairs: CoinPairs,
): void {
  const owner = facts.ownerOf(address);
  if (owner === undefined) return;
  const metadata = fullAddress(data.metadata.inner);
  const concurrent = facts.resource(address, CONCURRENT_BALANCE);
  rows.put('current_fungible_asset_balances', {
    storage_id: address,
    owner_address: owner,
    is_primary: primaryStore(owner, metadata) === address,
    is_frozen: data.frozen,
    asset_type_v1: pairs.coinOf(metadata) ?? null,
    ...amountV2(facts, metadata, concurrent?.balance.value ?? data.balance),
  });
}

function amountV2({ version, timestamp }: TransactionFacts, metadata: string, amount: string) {
  return {
    asset_type_v2: metadata,
    amount_v2: amount,
    last_transaction_version_v2: version,
    last_transaction_timestamp_v2: timestamp,
  };
}

/** Ends the store of a deleted object. An event names the asset of the store. */
function endStore(facts: TransactionFacts, address: string, rows: RowSink, pairs: CoinPairs): void {
  const deletion = deletedStore(facts, address);
  if (deletion === undefined) return;
  const { owner, metadata } = deletion;
  rows.put('current_fungible_asset_balances', {
    storage_id: address,
    owner_address: owner,
    is_primary: false,
    is_frozen: false,
    asset_type_v1: pairs.coinOf(metadata) ?? null,
    ...amountV2(facts, metadata, '0'),
  });
}

/** Facts about a deleted store, from an event. */
function deletedStore(
  { events }: TransactionFacts,
  address: string,
): { readonly owner: string; readonly metadata: string } | undefined {
  for (const { type, data } of events) {
    if (type !== STORE_DELETION || fullAddress(data.store) !== address) continue;
    return { owner: fullAddress(data.owner), metadata: deletedMetadata(data) };
  }
  return undefined;
}

/** @param data absent if the store is deleted */
function putCoinStore(
  { version, timestamp }: TransactionFacts,
  owner: string,
  type: string,
  data: Fields | undefined,
  rows: RowSink,
  pairs: CoinPairs,
): void {
  const coin = typeArgument(type, COIN_STORE);
  if (coin === undefined || coin.length > MAX_TYPE_CHARACTERS) return;
  rows.put('current_fungible_asset_balances', {
    storage_id: primaryStore(owner, pairs.metadataOf(coin)),
    owner_address: owner,
    is_primary: true,
    is_frozen: data?.frozen ?? false,
    asset_type_v1: coin,
    amount_v1: data?.coin.value ?? '0',
    last_transaction_version_v1: version,
    last_transaction_timestamp_v1: timestamp,
  });
}

/** The asset and the owner of a store, as far as the transaction contains them. */
export function storeFacts(facts: TransactionFacts, address: string) {
  const store = facts.resource(address, FUNGIBLE_STORE);
  if (store === undefined) return deletedStore(facts, address);
  const core = facts.resource(address, OBJECT_CORE);
  return {
    metadata: fullAddress(store.metadata.inner),
    owner: core && fullAddress(core.owner),
  };
}
