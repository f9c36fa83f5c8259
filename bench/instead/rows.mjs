// The rows that a team's own indexer would compute from a node, transaction by transaction: four tables, from the JSON
// of the transactions. They are written to files, so that only loading them into a database is timed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';

/** Columns of the tables and their types; the key comes first. */
export const TABLES = {
  balances: {
    columns: { owner: 'bytes', asset: 'number', version: 'number', amount: 'decimal' },
    key: ['owner', 'asset', 'version'],
  },
  events: {
    columns: {
      ...{ account: 'bytes', creation_number: 'number', sequence_number: 'number' },
      ...{ version: 'number', type: 'text', data: 'text' },
    },
    key: ['account', 'creation_number', 'sequence_number'],
  },
  modules: {
    columns: { account: 'bytes', name: 'text', version: 'number', answer: 'text' },
    key: ['account', 'name', 'version'],
  },
  transactions: { columns: { version: 'number', answer: 'text' }, key: ['version'] },
  assets: { columns: { id: 'number', name: 'text' }, key: ['id'] },
};

/** Versions in a file: the maximum of a page of transactions. */
export const FILE_VERSIONS = 100;

const digits = (address) => address.slice(2).padStart(64, '0');
const textOf = (hex) => Buffer.from(hex.slice(2), 'hex').toString();

/** Reads transactions in order and remembers earlier changes. */
export class Indexer {
  #assets = new Map();
  /** Coin types of paired fungible assets, by the asset's metadata. */
  #paired = new Map();
  /** Owner and asset of each primary store, by the store's address. */
  #stores = new Map();
  /** Amounts of an owner's asset, in its coin store and in its primary store. */
  #amounts = new Map();
  /** Event streams that can be requested. */
  streams = new Map();
  modules = new Map();
  owners = new Map();

  /** @returns {Record<string, unknown[][]>} rows of each table */
  rowsOf(transactions) {
    const rows = { balances: [], events: [], modules: [], transactions: [], assets: [] };
    for (const transaction of transactions) {
      const version = Number(transaction.version);
      rows.transactions.push([version, JSON.stringify(transaction)]);
      for (const event of transaction.events ?? []) this.#addEvent(event, version, rows);
      const amounts = new Map();
      for (const change of transaction.changes ?? []) this.#pair(change);
      for (const group of changesByKey(transaction.changes ?? [])) {
        for (const change of group)
          if (change.type === 'write_module') this.#addModule(change, version, rows);
        const changed = this.#changedAmount(group);
        if (changed === undefined) continue;
        const { owner, asset, ...part } = changed;
        const key = `${owner} ${asset}`;
        const amount = { coin: 0n, fungible: 0n, ...this.#amounts.get(key), ...part };
        this.#amounts.set(key, amount);
        const id = this.#assetId(asset, rows);
        if (!this.owners.has(owner)) this.owners.set(owner, version);
        amounts.set(key, [owner, id, version, String(amount.coin + amount.fungible)]);
      }
      rows.balances.push(...amounts.values());
    }
    return rows;
  }

  #addEvent({ guid, sequence_number: sequenceNumber, type, data }, version, rows) {
    // Module events belong to no stream.
    if (guid.account_address === '0x0' && guid.creation_number === '0') return;
    const account = digits(guid.account_address);
    const stream = `${account} ${guid.creation_number}`;
    this.streams.set(stream, { address: account, creationNumber: guid.creation_number });
    const place = [account, Number(guid.creation_number), Number(sequenceNumber)];
    rows.events.push([...place, version, type, JSON.stringify(data)]);
  }

  #addModule({ address, data }, version, rows) {
    const account = digits(address);
    const { name } = data.abi;
    this.modules.set(`${account} ${name}`, { address: account, name });
    rows.modules.push([account, name, version, JSON.stringify(data)]);
  }

  #pair({ address, data }) {
    if (data?.type !== '0x1::coin::PairedCoinType') return;
    const { account_address: account, module_name: module, struct_name: name } = data.data.type;
    this.#paired.set(digits(address), `${account}::${textOf(module)}::${textOf(name)}`);
  }

  /** The amount after the changes of one state key; `undefined` if they do not change an amount. */
  #changedAmount(group) {
    const [{ address, type, resource }] = group;
    const coin = /^0x1::coin::CoinStore<(.*)>$/;
    if (type === 'delete_resource') {
      const store = this.#stores.get(address);
      if (store !== undefined) return { ...store, fungible: 0n };
      const deleted = coin.exec(resource)?.[1];
      return deleted === undefined
        ? undefined
        : { owner: digits(address), asset: deleted, coin: 0n };
    }
    if (type !== 'write_resource') return undefined;
    const held = new Map(group.map(({ data }) => [data.type, data.data]));
    const [[name, value]] = held;
    const asset = coin.exec(name)?.[1];
    if (asset !== undefined) {
      return { owner: digits(address), asset, coin: BigInt(value.coin.value) };
    }
    const store = held.get('0x1::fungible_asset::FungibleStore');
    const core = held.get('0x1::object::ObjectCore');
    if (store === undefined || core === undefined) return undefined;
    const [owner, metadata] = [core.owner, store.metadata.inner].map(digits);
    if (primaryStoreAddress(owner, metadata) !== digits(address)) return undefined;
    const place = { owner, asset: this.#paired.get(metadata) ?? store.metadata.inner };
    this.#stores.set(address, place);
    const concurrent = held.get('0x1::fungible_asset::ConcurrentFungibleBalance');
    return { ...place, fungible: BigInt(concurrent?.balance.value ?? store.balance) };
  }

  #assetId(asset, rows) {
    const known = this.#assets.get(asset);
    if (known !== undefined) return known;
    const id = this.#assets.size + 1;
    this.#assets.set(asset, id);
    rows.assets.push([id, asset]);
    return id;
  }
}

/** Members of a resource group are changes with the same key. */
function changesByKey(changes) {
  const groups = new Map();
  for (const change of changes) {
    const group = groups.get(change.state_key_hash) ?? [];
    group.push(change);
    groups.set(change.state_key_hash, group);
  }
  return groups.values();
}

/** Rows in loading order: first genesis, then groups of `FILE_VERSIONS` versions. */
export class RowFiles {
  #folder;
  #count = 0;

  /** @param {string} folder an empty one */
  constructor(folder) {
    this.#folder = folder;
  }

  add(rows) {
    writeFileSync(this.#path(this.#count), JSON.stringify(rows));
    this.#count += 1;
  }

  /** @returns {Record<string, unknown[][]>} rows of genesis */
  genesis() {
    return this.#read(0);
  }

  /** Rows of all later versions up to `mostVersions`, for commits of `versions` versions. */
  *groups(versions, mostVersions = Number.POSITIVE_INFINITY) {
    const files = versions / FILE_VERSIONS;
    const end = Math.min(this.#count, 1 + mostVersions / FILE_VERSIONS);
    for (let first = 1; first < end; first += files) {
      const rows = {};
      for (let at = first; at < Math.min(first + files, end); at += 1) {
        for (const [table, more] of Object.entries(this.#read(at))) {
          rows[table] = [...(rows[table] ?? []), ...more];
        }
      }
      yield rows;
    }
  }

  #path(index) {
    return join(this.#folder, `${index}.json`);
  }

  #read(index) {
    return JSON.parse(readFileSync(this.#path(index), 'utf8'));
  }
}

/**
 * Reads all transactions of a node.
 * @param {string} origin of the node
 * @param {string} folder an empty one for the rows
 */
export async function indexLedger(origin, folder) {
  const indexer = new Indexer();
  const files = new RowFiles(folder);
  const newest = Number((await (await fetch(`${origin}/v1`)).json()).ledger_version);
  for (let start = 0; start <= newest; start += start === 0 ? 1 : FILE_VERSIONS) {
    const limit = start === 0 ? 1 : FILE_VERSIONS;
    const response = await fetch(`${origin}/v1/transactions?start=${start}&limit=${limit}`);
    files.add(indexer.rowsOf(await response.json()));
  }
  return { files, newest, indexer };
}
