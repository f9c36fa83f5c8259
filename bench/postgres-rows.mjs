// What a ledger's balances, events, modules and transactions are as rows of SQL tables, read from Daybook's store. All
// but the transactions is held in memory: this is for ledgers of some hundred thousand transactions.

import { TypeCache } from '../dist/ledger/modules/module-view.js';
import { openLedger } from '../dist/ledger/open.js';
import { pairedMetadataAddress, primaryStoreAddress } from '../dist/move/types/derived-address.js';
import { FUNGIBLE_STORE_TAG, OBJECT_CORE_TAG } from '../dist/move/types/framework-tag.js';
import { decodeResourceGroup, findGroupMember } from '../dist/move/types/resource-group.js';
import { parsePhysicalStateKey, stateKeyHash } from '../dist/move/types/state-key.js';
import { formatStructTag } from '../dist/move/types/type-tag.js';
import { coinStoreAmount, fungibleGroupBalance } from '../dist/move/values/balance-values.js';
import { fungibleStoreCodec, objectCoreCodec } from '../dist/move/values/framework-resource.js';
import { renderValue } from '../dist/move/values/value-json.js';
import { ACCOUNT_KEYS, EVENTS, STATE, TRANSACTIONS } from '../dist/store/columns/columns.js';
import { decodeEventRow } from '../dist/store/columns/event-column.js';
import { encodeBucketKey, encodeU64Key } from '../dist/store/columns/order-key.js';
import { decodeStateRow } from '../dist/store/columns/state-column.js';
import { columnRows } from './ledger-contents.mjs';

/** Versions of a key that are read at once. */
const PAGE_VERSIONS = 1_000;

export const SCHEMA = `
CREATE TABLE assets (id int PRIMARY KEY, metadata text NOT NULL, coin text);
CREATE TABLE balances (owner bytea, asset int, version bigint, coin numeric(20) NOT NULL,
  fungible numeric(20) NOT NULL, PRIMARY KEY (owner, asset, version));
CREATE TABLE events (account bytea, creation_number bigint, sequence_number bigint,
  version bigint NOT NULL, type text NOT NULL, data text NOT NULL,
  PRIMARY KEY (account, creation_number, sequence_number));
CREATE TABLE modules (account bytea, name text, version bigint, answer text NOT NULL,
  PRIMARY KEY (account, name, version));
CREATE TABLE transactions (version bigint PRIMARY KEY, data bytea NOT NULL);
`;

export const COLUMNS_OF = {
  assets: 'id, metadata, coin',
  balances: 'owner, asset, version, coin, fungible',
  events: 'account, creation_number, sequence_number, version, type, data',
  modules: 'account, name, version, answer',
  transactions: 'version, data',
};

/** A value as COPY's text format wants it. */
function copyText(value) {
  if (value === undefined) return '\\N';
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  const text = String(value);
  if (!/[\\\n\r\t]/.test(text)) return text;
  const escapes = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return text.replace(/[\\\n\r\t]/g, (character) => escapes[character]);
}

function line(...values) {
  return values.map(copyText).join('\t');
}

/** All versions of a key: the version and the value's bytes, which are absent where it was deleted. */
async function historyOf(store, physicalKey) {
  const keyHash = stateKeyHash(physicalKey);
  const history = [];
  let from = encodeU64Key(0n);
  for (;;) {
    const rows = await store.range(STATE, keyHash, { from, limit: PAGE_VERSIONS });
    for (const row of rows) history.push(decodeStateRow(keyHash, row));
    if (rows.length < PAGE_VERSIONS) return history;
    from = encodeU64Key(history.at(-1).version + 1n);
  }
}

/** What changes an amount: of a coin store, or of a primary store of a fungible asset. */
async function changesOfKey(store, physicalKey, { address, parsed }) {
  const isCoinStore =
    parsed.kind === 'resource' && parsed.tag.module === 'coin' && parsed.tag.name === 'CoinStore';
  if (isCoinStore) {
    const coin = parsed.tag.typeArguments[0].struct;
    const asset = { metadata: pairedMetadataAddress(coin), coin: formatStructTag(coin) };
    const history = await historyOf(store, physicalKey);
    return history.map(({ version, bytes }) => {
      const amount = bytes === undefined ? 0n : coinStoreAmount(bytes);
      return { version, owner: address, asset, coin: amount };
    });
  }
  if (parsed.kind !== 'resourceGroup') return [];
  const history = await historyOf(store, physicalKey);
  let place;
  const changes = [];
  for (const { version, bytes } of history) {
    place = bytes === undefined ? place : (primaryStoreOf(bytes, address) ?? place);
    if (place === undefined) continue;
    const amount = bytes === undefined ? 0n : fungibleGroupBalance(bytes);
    changes.push({ version, ...place, fungible: amount });
  }
  return changes;
}

/** Whose primary store of which asset the object is; nothing when it is none. */
function primaryStoreOf(groupBytes, address) {
  const members = decodeResourceGroup(groupBytes);
  const [core, fungible] = [OBJECT_CORE_TAG, FUNGIBLE_STORE_TAG].map((tag) =>
    findGroupMember(members, tag),
  );
  if (core === undefined || fungible === undefined) return undefined;
  const { owner } = objectCoreCodec.decode(core);
  const { metadata } = fungibleStoreCodec.decode(fungible);
  const isPrimary = primaryStoreAddress(owner, metadata) === address;
  return isPrimary ? { owner, asset: { metadata } } : undefined;
}

/** A balance row for each version at which one changed, by version; and the assets. */
function balanceRows(changes) {
  const assets = new Map();
  const amounts = new Map();
  const rows = new Map();
  changes.sort((a, b) => (a.version < b.version ? -1 : Number(a.version > b.version)));
  for (const { version, owner, asset, ...changed } of changes) {
    const known = assets.get(asset.metadata) ?? { id: assets.size + 1, metadata: asset.metadata };
    if (asset.coin !== undefined) known.coin = asset.coin;
    assets.set(asset.metadata, known);
    const key = `${owner}${known.id}`;
    const amount = { coin: 0n, fungible: 0n, ...amounts.get(key), ...changed };
    amounts.set(key, amount);
    const row = line(Buffer.from(owner, 'hex'), known.id, version, amount.coin, amount.fungible);
    // A later change at the same version is the one that counts.
    rows.set(`${key}@${version}`, { version, row });
  }
  const assetLines = [...assets.values()].map(({ id, metadata, coin }) => line(id, metadata, coin));
  return { assetLines, balances: [...rows.values()] };
}

async function eventRows(store) {
  const { lookupModule } = await openLedger(store).view();
  const types = new TypeCache();
  const rows = [];
  for await (const scanned of columnRows(store, EVENTS)) {
    const { partition } = scanned;
    const { version, sequenceNumber, typeTag, data } = decodeEventRow(partition, scanned);
    const { jsonText, layout } = (await types.resolve(typeTag, lookupModule)).value;
    const stream = [partition.subarray(0, 32), partition.readBigUInt64BE(32)];
    const row = line(
      ...stream,
      sequenceNumber,
      version,
      JSON.parse(jsonText),
      renderValue(layout, data),
    );
    rows.push({ version, row });
  }
  return rows;
}

/**
 * @param {(address: string, name: string, version: bigint) => Promise<string>} moduleAnswer the answer of a module
 * @returns all rows but those of transactions, grouped by how the ledger grew: `versions` versions to a group
 */
export async function readRows(store, moduleAnswer) {
  const changes = [];
  const modules = [];
  for await (const { partition, order } of columnRows(store, ACCOUNT_KEYS)) {
    const physicalKey = Buffer.concat([Buffer.of(0), partition, order]);
    const key = parsePhysicalStateKey(physicalKey);
    if (key.parsed?.kind !== 'code') {
      if (key.parsed !== undefined) changes.push(...(await changesOfKey(store, physicalKey, key)));
      continue;
    }
    const { name } = key.parsed.module;
    for (const { version, bytes } of await historyOf(store, physicalKey)) {
      if (bytes === undefined) continue;
      const answer = await moduleAnswer(key.address, name, version);
      modules.push({ version, row: line(partition, name, version, answer) });
    }
  }
  return { ...balanceRows(changes), events: await eventRows(store), modules };
}

/** The rows of tables by groups of versions. */
export function grouped(tables, versions) {
  const groups = new Map();
  for (const [table, rows] of Object.entries(tables)) {
    for (const { version, row } of rows) {
      const group = Number(version / BigInt(versions));
      if (!groups.has(group)) groups.set(group, {});
      const ofGroup = groups.get(group);
      ofGroup[table] ??= [];
      ofGroup[table].push(row);
    }
  }
  return groups;
}

/** Rows of the transactions `first` to `last`. */
export async function transactionRows(store, first, last) {
  const keys = [];
  for (let version = first; version <= last; version += 1n) keys.push(encodeBucketKey(version));
  const values = await store.getMany(TRANSACTIONS, keys);
  return values.map((value, index) => line(first + BigInt(index), value));
}
