/** Digital assets (`0x4`): tokens, their collections and their owners. Their activities are in token-activities.ts. */
import type { RowSink } from '../rows/row-buffer.ts';
import { METADATA } from './fungible-assets.ts';
import { propertiesOf } from './property-map.ts';
import {
  type Fields,
  fullAddress,
  OBJECT_CORE,
  OBJECT_GROUP,
  type ResourceWrite,
  type TransactionFacts,
} from './transaction-facts.ts';

export const TOKEN = '0x4::token::Token';
const IDENTIFIERS = '0x4::token::TokenIdentifiers';
const PROPERTY_MAP = '0x4::property_map::PropertyMap';
const COLLECTION = '0x4::collection::Collection';
const FIXED_SUPPLY = '0x4::collection::FixedSupply';
const UNLIMITED_SUPPLY = '0x4::collection::UnlimitedSupply';
const CONCURRENT_SUPPLY = '0x4::collection::ConcurrentSupply';
const APTOS_COLLECTION = '0x4::aptos_token::AptosCollection';
const UNTRANSFERABLE = '0x1::object::Untransferable';
const TRANSFERS = new Set(['0x1::object::Transfer', '0x1::object::TransferEvent']);
const BURN = '0x4::collection::Burn';
/** The maximum of an unlimited collection. */
const NO_MAXIMUM = '18446744073709551615';
/** Only tokens of the older standard have other versions. */
const PROPERTY_VERSION = '0';

export function tokens(facts: TransactionFacts, rows: RowSink): void {
  for (const write of facts.writes) {
    if (write.type === COLLECTION) putCollection(facts, write, rows);
    if (write.type !== TOKEN) continue;
    putToken(facts, write, rows);
    putOwners(facts, write.address, rows);
  }
  for (const { address, type } of facts.deletions) {
    if (type === OBJECT_GROUP) endToken(facts, address, rows);
  }
}

function putCollection(
  facts: TransactionFacts,
  { address, data }: ResourceWrite,
  rows: RowSink,
): void {
  const mutability = facts.resource(address, APTOS_COLLECTION);
  const properties = facts.resource(address, PROPERTY_MAP);
  rows.put('current_collections_v2', {
    collection_id: address,
    creator_address: fullAddress(data.creator),
    collection_name: data.name,
    description: data.description,
    uri: data.uri,
    ...collectionSupply(facts, address),
    mutable_description: mutability?.mutable_description ?? null,
    mutable_uri: mutability?.mutable_uri ?? null,
    collection_properties: properties === undefined ? null : propertiesOf(properties),
    table_handle_v1: null,
    token_standard: 'v2',
    last_transaction_version: facts.version,
    last_transaction_timestamp: facts.timestamp,
  });
}

function collectionSupply(facts: TransactionFacts, address: string): Fields {
  const concurrent = facts.resource(address, CONCURRENT_SUPPLY);
  if (concurrent !== undefined) {
    const { current_supply: current, total_minted: minted } = concurrent;
    return {
      current_supply: current.value,
      max_supply: current.max_value === NO_MAXIMUM ? null : current.max_value,
      total_minted_v2: minted.value,
    };
  }
  const supply = facts.resource(address, FIXED_SUPPLY) ?? facts.resource(address, UNLIMITED_SUPPLY);
  return {
    current_supply: supply?.current_supply ?? '0',
    max_supply: supply?.max_supply ?? null,
    total_minted_v2: supply?.total_minted ?? null,
  };
}

function putToken(facts: TransactionFacts, { address, data }: ResourceWrite, rows: RowSink): void {
  const identifiers = facts.resource(address, IDENTIFIERS);
  const properties = facts.resource(address, PROPERTY_MAP);
  const isFungible = isFungibleToken(facts, address);
  rows.put('current_token_datas_v2', {
    token_data_id: address,
    collection_id: fullAddress(data.collection.inner),
    token_name: identifiers?.name.value ?? data.name,
    token_uri: data.uri,
    description: data.description,
    token_properties: properties === undefined ? {} : propertiesOf(properties),
    token_standard: 'v2',
    is_fungible_v2: isFungible,
    is_deleted_v2: false,
    maximum: null,
    supply: null,
    decimals: null,
    largest_property_version_v1: null,
    last_transaction_version: facts.version,
    last_transaction_timestamp: facts.timestamp,
  });
}

function isFungibleToken(facts: TransactionFacts, token: string): boolean {
  return facts.resource(token, METADATA) !== undefined;
}

/** Puts one row for the owner, and one for each previous owner. Fungible tokens have balances instead. */
function putOwners(facts: TransactionFacts, token: string, rows: RowSink): void {
  const core = facts.resource(token, OBJECT_CORE);
  if (core === undefined || isFungibleToken(facts, token)) return;
  const owner = fullAddress(core.owner);
  const isSoulbound =
    facts.resource(token, UNTRANSFERABLE) !== undefined || !core.allow_ungated_transfer;
  const shared = { ...ownership(facts, token), is_soulbound_v2: isSoulbound };
  for (const before of ownersBefore(facts, token)) {
    if (before !== owner) rows.put(OWNERSHIPS, { ...shared, owner_address: before, amount: '0' });
  }
  rows.put(OWNERSHIPS, { ...shared, owner_address: owner, amount: '1' });
}

const OWNERSHIPS = 'current_token_ownerships_v2';

function ownership({ version, timestamp }: TransactionFacts, token: string): Fields {
  return {
    token_data_id: token,
    property_version_v1: PROPERTY_VERSION,
    storage_id: token,
    token_standard: 'v2',
    is_fungible_v2: false,
    table_type_v1: null,
    token_properties_mutated_v1: null,
    non_transferrable_by_owner: null,
    last_transaction_version: version,
    last_transaction_timestamp: timestamp,
  };
}

/** The accounts that have transferred an object in this transaction. */
export function ownersBefore({ events }: TransactionFacts, object: string): Set<string> {
  const found = new Set<string>();
  for (const { type, data } of events) {
    if (TRANSFERS.has(type) && fullAddress(data.object) === object) {
      found.add(fullAddress(data.from));
    }
  }
  return found;
}

/** Ends the ownership of a deleted object, if it was a token. */
function endToken(facts: TransactionFacts, address: string, rows: RowSink): void {
  const { version, timestamp } = facts;
  const at = { last_transaction_version: version, last_transaction_timestamp: timestamp };
  rows.change('current_token_datas_v2', { token_data_id: address }, { is_deleted_v2: true, ...at });
  rows.change(OWNERSHIPS, { token_data_id: address }, { amount: '0', ...at });
  // A token that was transferred and burned in the same transaction also needs a row for its last owner.
  const owner = burnedFrom(facts, address);
  if (owner === undefined) return;
  const row = { ...ownership(facts, address), amount: '0' };
  rows.put(OWNERSHIPS, { ...row, owner_address: owner });
}

/** The owner of a burned token, if its event names the owner. */
export function burnedFrom({ events }: TransactionFacts, token: string): string | undefined {
  const burn = events.find(({ type, data }) => type === BURN && fullAddress(data.token) === token);
  return burn && fullAddress(burn.data.previous_owner);
}
