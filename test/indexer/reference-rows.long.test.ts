/**
 * The rows of a recorded chain, compared with its state at the head and its events. These are decoded here, without the
 * processors.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Indexer } from '../../src/indexer/indexer.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { tryParse } from '../../src/move/errors.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import { decodeResourceGroup } from '../../src/move/types/resource-group.ts';
import { hashedStateKey, resourceStateKey } from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag, formatTypeTag } from '../../src/move/types/type-tag.ts';
import { liveState } from '../../src/store/read/live-state.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import {
  NEWEST_VERSION,
  referenceTransaction,
  storeReferenceChain,
} from '../reference/reference-chain.ts';
import { openTestedTables } from './tables.ts';

/** Members of an object, by type. */
type StoredObject = ReadonlyMap<string, Buffer>;

const folder = mkdtempSync(join(tmpdir(), 'daybook-indexer-'));
let store: StoreReader;
let database: Database;
let closeTables: () => Promise<void>;
/** Keyed by the hash of the state key, as text. */
const objects = new Map<string, StoredObject>();
/** Values by the hashes of their state keys. */
const keys = new Map<string, Buffer>();

beforeAll(async () => {
  await storeReferenceChain(folder);
  store = await openTestedReader({ directory: folder });
  const tables = await openTestedTables();
  database = tables.database;
  closeTables = tables.close;
  await new Indexer({ ledger: openLedger(store), database }).reachHead();
  for await (const page of liveState(store, BigInt(NEWEST_VERSION))) {
    for (const { keyHash, bytes } of page) {
      keys.set(keyHash.toString('hex'), bytes);
      const members = tryParse(() => decodeResourceGroup(bytes)) ?? [];
      const byType = new Map(members.map(({ tag, data }) => [formatStructTag(tag), data]));
      if (byType.has('0x1::object::ObjectCore'))
        objects.set(`0x${keyHash.toString('hex')}`, byType);
    }
  }
});

afterAll(async () => {
  await closeTables();
  await store.close();
  rmSync(folder, { recursive: true });
});

function ownerOf(object: StoredObject) {
  const reader = new BcsReader(object.get('0x1::object::ObjectCore')!);
  const [guid, owner, isUngated] = [reader.u64(), reader.address(), reader.bool()];
  return { guid: String(guid), owner: `0x${owner}`, isUngated };
}

async function textRows(sql: string): Promise<string[]> {
  const { rows } = await database.query(sql);
  return rows.map((row) => Object.values(row).join(' ')).sort();
}

describe('objects', () => {
  it('are those of the state', async () => {
    const expected = [...objects].map(([key, object]) => {
      const { guid, owner, isUngated } = ownerOf(object);
      return `${key} ${owner} ${guid} ${isUngated ? 't' : 'f'}`;
    });
    expect(expected.length).toBeGreaterThan(100);
    expect(
      await textRows(
        'SELECT state_key_hash, owner_address, last_guid_creation_num, allow_ungated_transfer ' +
          'FROM current_objects WHERE NOT is_deleted',
      ),
    ).toEqual(expected.sort());
  });
});

describe('balances of fungible assets', () => {
  it('are those of the stores in the state', async () => {
    const expected: string[] = [];
    for (const [key, object] of objects) {
      const stored = object.get('0x1::fungible_asset::FungibleStore');
      if (stored === undefined) continue;
      const reader = new BcsReader(stored);
      const [metadata, balance, isFrozen] = [reader.address(), reader.u64(), reader.bool()];
      const concurrent = object.get('0x1::fungible_asset::ConcurrentFungibleBalance');
      const amount = concurrent === undefined ? balance : new BcsReader(concurrent).u64();
      const shown = `0x${metadata} ${amount} ${isFrozen ? 't' : 'f'}`;
      expected.push(`${key} ${ownerOf(object).owner} ${shown}`);
    }
    expect(expected.length).toBeGreaterThan(100);
    expect(
      await textRows(
        'SELECT state_key_hash, balances.owner_address, asset_type_v2, amount_v2, is_frozen ' +
          'FROM current_fungible_asset_balances balances ' +
          'JOIN current_objects ON object_address = storage_id WHERE asset_type_v2 IS NOT NULL',
      ),
    ).toEqual(expected.sort());
  });

  it('of all owners are the supply', async () => {
    const supplies = [...objects.values()].flatMap((object) => {
      const supply = object.get('0x1::fungible_asset::ConcurrentSupply');
      return supply === undefined ? [] : [String(new BcsReader(supply).u128())];
    });
    expect(supplies).toHaveLength(2);
    expect(
      await textRows('SELECT sum(amount) FROM current_fungible_asset_balances GROUP BY asset_type'),
    ).toEqual(supplies.sort());
    expect(
      await textRows("SELECT supply_v2 FROM fungible_asset_metadata WHERE token_standard = 'v2'"),
    ).toEqual(supplies);
  });
});

describe('digital assets', () => {
  it('are the tokens of the state, with their owners', async () => {
    const expected = [...objects].flatMap(([key, object]) => {
      const token = object.get('0x4::token::Token');
      if (token === undefined) return [];
      const collection = new BcsReader(token).address();
      return [`${key} ${ownerOf(object).owner} 1 0x${collection}`];
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(
      await textRows(
        'SELECT state_key_hash, owned.owner_address, owned.amount, collection_id ' +
          'FROM current_token_ownerships_v2 owned JOIN current_token_datas_v2 USING (token_data_id) ' +
          "JOIN current_objects ON object_address = token_data_id WHERE owned.token_standard = 'v2' AND amount > 0",
      ),
    ).toEqual(expected.sort());
  });
});

describe('tokens of the older standard', () => {
  it('are owned as their deposits and withdrawals say', async () => {
    const types = ['0x3::token::TokenDeposit', '0x3::token::TokenWithdraw'];
    const held = new Map<string, bigint>();
    for (let version = 0; version <= NEWEST_VERSION; version += 1) {
      const { events } = readOnChainData(new BcsReader(referenceTransaction(version))).data;
      for (const { typeTag, data } of events) {
        const sign = types.indexOf(formatTypeTag(typeTag));
        if (sign < 0) continue;
        const reader = new BcsReader(data);
        const account = reader.address();
        const [creator, collection, name] = [reader.address(), reader.string(), reader.string()];
        const key = `0x${creator} ${collection} ${name} ${reader.u64()} 0x${account}`;
        const amount = reader.u64();
        held.set(key, (held.get(key) ?? 0n) + (sign === 0 ? amount : -amount));
      }
    }
    expect(held.size).toBeGreaterThan(3);
    expect(
      await textRows(
        'SELECT creator_address, collection_name, token_name, property_version_v1, owner_address, amount ' +
          'FROM current_token_ownerships_v2 owned JOIN current_token_datas_v2 USING (token_data_id) ' +
          "JOIN current_collections_v2 USING (collection_id) WHERE owned.token_standard = 'v1'",
      ),
    ).toEqual([...held].map(([key, amount]) => `${key} ${amount}`).sort());
  });

  it('of all owners and offers are the supply', async () => {
    expect(
      await textRows(
        "SELECT token_name FROM current_token_datas_v2 token WHERE token_standard = 'v1' AND supply <> " +
          '(SELECT sum(amount) FROM current_token_ownerships_v2 owned WHERE owned.token_data_id = token.token_data_id) + ' +
          '(SELECT coalesce(sum(amount), 0) FROM current_token_pending_claims claims WHERE claims.token_data_id = token.token_data_id)',
      ),
    ).toEqual([]);
  });
});

describe('items of tables', () => {
  it('are those of the state, and all are decoded', async () => {
    const { rows } = await database.query(
      'SELECT table_handle, key FROM current_table_items WHERE NOT is_deleted',
    );
    expect(rows.length).toBeGreaterThan(100);
    const missing = rows.filter(({ table_handle: handle, key }) => {
      const bytes = Buffer.from(key!.slice(2), 'hex');
      const itemKey = { kind: 'tableItem', handle: handle!.slice(2), key: bytes } as const;
      return !keys.has(hashedStateKey(itemKey).hash.toString('hex'));
    });
    expect(missing).toEqual([]);
    expect(
      await textRows(
        'SELECT table_handle FROM table_items LEFT JOIN table_metadatas ON handle = table_handle ' +
          'WHERE handle IS NULL OR decoded_key = to_jsonb(key)',
      ),
    ).toEqual([]);
  });
});

describe('keys of accounts', () => {
  it('are those of the state, of senders who have others than at first', async () => {
    const senders = await textRows('SELECT DISTINCT sender FROM user_transactions');
    const expected = senders.flatMap((sender) => {
      const tag = parseStructTag('0x1::account::Account');
      const key = hashedStateKey(resourceStateKey(sender.slice(2), tag));
      const account = keys.get(key.hash.toString('hex'));
      const authKey = account && `0x${new BcsReader(account).bytes().toString('hex')}`;
      return authKey === undefined || authKey === sender ? [] : [`${sender} ${authKey}`];
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(
      await textRows('SELECT account_address, auth_key FROM auth_key_account_addresses'),
    ).toEqual(expected.sort());
  });
});

describe('activities', () => {
  it('are the events of stores', async () => {
    const types = ['Deposit', 'Withdraw'].map((name) => `0x1::fungible_asset::${name}`);
    const expected: string[] = [];
    for (let version = 0; version <= NEWEST_VERSION; version += 1) {
      const { events } = readOnChainData(new BcsReader(referenceTransaction(version))).data;
      for (const [index, { typeTag, data }] of events.entries()) {
        const type = formatTypeTag(typeTag);
        if (!types.includes(type)) continue;
        const reader = new BcsReader(data);
        expected.push(`${version} ${index} ${type} 0x${reader.address()} ${reader.u64()}`);
      }
    }
    expect(expected.length).toBeGreaterThan(1_000);
    expect(
      await textRows(
        'SELECT transaction_version, event_index, type, storage_id, amount ' +
          "FROM fungible_asset_activities WHERE token_standard = 'v2'",
      ),
    ).toEqual(expected.sort());
  });

  it('have what gas has cost', async () => {
    const expected: string[] = [];
    for (let version = 0; version <= NEWEST_VERSION; version += 1) {
      const { transaction, info } = readOnChainData(
        new BcsReader(referenceTransaction(version)),
      ).data;
      if (transaction.kind !== 'user') continue;
      const { sender, gasUnitPrice } = transaction.transaction.raw;
      expected.push(`${version} 0x${sender} ${info.gasUsed * gasUnitPrice}`);
    }
    expect(
      await textRows(
        'SELECT transaction_version, owner_address, amount FROM fungible_asset_activities WHERE is_gas_fee',
      ),
    ).toEqual(expected.sort());
    expect(await textRows('SELECT version, sender FROM user_transactions')).toEqual(
      expected.map((row) => row.slice(0, row.lastIndexOf(' '))).sort(),
    );
  });

  it('of an owner add up to the balance, with the gas that was paid', async () => {
    // If an owner has paid for others, the gas row names the sender as owner.
    expect(
      await textRows(
        "WITH apt AS (SELECT * FROM fungible_asset_activities WHERE asset_type IN ('0x1::aptos_coin::AptosCoin', " +
          "'0x' || lpad('a', 64, '0'))), " +
          'moved AS (SELECT coalesce(gas_fee_payer_address, owner_address) AS owner, ' +
          "sum(CASE WHEN type LIKE '%Deposit' THEN amount ELSE -amount END + storage_refund_amount) AS total " +
          'FROM apt GROUP BY 1), ' +
          'held AS (SELECT owner_address AS owner, sum(amount) AS total ' +
          "FROM current_fungible_asset_balances WHERE asset_type = '0x1::aptos_coin::AptosCoin' GROUP BY 1) " +
          'SELECT owner, moved.total, held.total FROM moved FULL JOIN held USING (owner) ' +
          'WHERE coalesce(moved.total, 0) <> coalesce(held.total, 0)',
      ),
    ).toEqual([]);
  });
});
