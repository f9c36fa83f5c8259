/** Tokens of the older standard (`0x3`), which are stored as items of tables. */
import { createHash } from 'node:crypto';
import type { RowSink } from '../rows/row-buffer.ts';
import { propertiesOf } from './property-map.ts';
import {
  type DecodedItem,
  type Fields,
  fullAddress,
  type TableWrite,
  type TransactionFacts,
} from './transaction-facts.ts';

const TOKEN_STORE = '0x3::token::TokenStore';
const MAX_NAME_CHARACTERS = 128;
const MAX_URI_CHARACTERS = 512;

interface TokenName {
  readonly creator: string;
  readonly collection: string;
  readonly name: string;
}

/** Keyed by the type of a table's values. */
const ITEMS: Readonly<Record<string, (item: ItemWrite) => void>> = {
  '0x3::token::CollectionData': putCollection,
  '0x3::token::TokenData': putToken,
  '0x3::token::Token': putTokenItem,
};

interface ItemWrite {
  readonly facts: TransactionFacts;
  readonly write: TableWrite;
  readonly item: DecodedItem;
  readonly rows: RowSink;
  /** Columns that all rows have. */
  readonly shared: Fields;
}

export function legacyTokens(facts: TransactionFacts, rows: RowSink): void {
  const shared = {
    last_transaction_version: facts.version,
    last_transaction_timestamp: facts.timestamp,
  };
  for (const write of facts.tableWrites) {
    const { decoded: item } = write;
    if (item !== undefined) ITEMS[item.valueType]?.({ facts, write, item, rows, shared });
  }
}

function putCollection({ write, item, rows, shared }: ItemWrite): void {
  // A collection is never removed.
  if (item.value === undefined) return;
  const data = item.value as Fields;
  const creator = item.owner;
  rows.put('current_collections_v2', {
    ...shared,
    collection_id: collectionId(creator, data.name),
    creator_address: creator,
    collection_name: truncated(data.name),
    description: data.description,
    uri: data.uri.slice(0, MAX_URI_CHARACTERS),
    current_supply: data.supply,
    max_supply: data.maximum,
    total_minted_v2: null,
    mutable_description: data.mutability_config.description,
    mutable_uri: data.mutability_config.uri,
    collection_properties: null,
    table_handle_v1: write.handle,
    token_standard: 'v1',
  });
}

function putToken({ item, rows, shared }: ItemWrite): void {
  const id = tokenName(item.key as Fields);
  const tokenId = tokenDataId(id);
  if (item.value === undefined) {
    rows.change('current_token_datas_v2', { token_data_id: tokenId }, { ...shared, supply: '0' });
    return;
  }
  const data = item.value as Fields;
  rows.put('current_token_datas_v2', {
    ...shared,
    token_data_id: tokenId,
    collection_id: collectionId(id.creator, id.collection),
    token_name: truncated(id.name),
    token_uri: data.uri.slice(0, MAX_URI_CHARACTERS),
    description: data.description,
    token_properties: legacyProperties(data.default_properties),
    token_standard: 'v1',
    is_fungible_v2: null,
    is_deleted_v2: null,
    maximum: data.maximum,
    supply: data.supply,
    decimals: '0',
    largest_property_version_v1: data.largest_property_version,
  });
  const { royalty } = data;
  rows.put('current_token_royalty_v1', {
    ...shared,
    token_data_id: tokenId,
    payee_address: fullAddress(royalty.payee_address),
    royalty_points_numerator: royalty.royalty_points_numerator,
    royalty_points_denominator: royalty.royalty_points_denominator,
  });
}

/** Puts a token that is in the store of an account, or in an offer to another account. */
function putTokenItem(written: ItemWrite): void {
  const { item } = written;
  if (item.keyType === '0x3::token::TokenId') putOwnership(written);
  if (item.keyType === '0x3::token_transfers::TokenOfferId') putPendingClaim(written);
}

function putOwnership({ write, item, rows, shared }: ItemWrite): void {
  const { token_data_id: id, property_version: version } = item.key as Fields;
  const token = item.value as Fields | undefined;
  rows.put('current_token_ownerships_v2', {
    ...shared,
    token_data_id: tokenDataId(tokenName(id)),
    property_version_v1: version,
    owner_address: item.owner,
    storage_id: write.handle,
    amount: token?.amount ?? '0',
    table_type_v1: TOKEN_STORE,
    token_properties_mutated_v1:
      token === undefined ? {} : legacyProperties(token.token_properties),
    token_standard: 'v1',
    is_soulbound_v2: null,
    is_fungible_v2: null,
    non_transferrable_by_owner: null,
  });
}

function putPendingClaim({ write, item, rows, shared }: ItemWrite): void {
  const { to_addr: to, token_id: tokenId } = item.key as Fields;
  const id = tokenName(tokenId.token_data_id);
  const token = item.value as Fields | undefined;
  const dataId = tokenDataId(id);
  const collection = collectionId(id.creator, id.collection);
  rows.put('current_token_pending_claims', {
    ...shared,
    token_data_id_hash: dataId.slice(2),
    property_version: tokenId.property_version,
    from_address: item.owner,
    to_address: fullAddress(to),
    collection_data_id_hash: collection.slice(2),
    creator_address: id.creator,
    collection_name: truncated(id.collection),
    name: truncated(id.name),
    amount: token?.amount ?? '0',
    table_handle: write.handle,
    token_data_id: dataId,
    collection_id: collection,
  });
}

export function tokenName({ creator, collection, name }: Fields): TokenName {
  return { creator: fullAddress(creator), collection, name };
}

export function tokenDataId({ creator, collection, name }: TokenName): string {
  return idOf(`${creator}::${collection}::${name}`);
}

function collectionId(creator: string, name: string): string {
  return idOf(`${creator}::${name}`);
}

function idOf(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}

function truncated(name: string): string {
  return name.slice(0, MAX_NAME_CHARACTERS);
}

/** Numbers of the types of values, by name (see property-map.ts). */
const TYPES: Readonly<Record<string, number>> = {
  ...{ bool: 0, u8: 1, u64: 4, u128: 5, address: 7, 'vector<u8>': 8, '0x1::string::String': 9 },
};

function legacyProperties({ map }: Fields): Record<string, string> {
  const data = (map.data as readonly Fields[]).map(({ key, value }) => ({
    key,
    value: { type: TYPES[value.type] ?? -1, value: value.value },
  }));
  return propertiesOf({ inner: { data } });
}
