/** What the store in PostgreSQL does beyond the contract of all engines. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EPOCHS, HEAD, STATE, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key, NO_ORDER } from '../../src/store/columns/order-key.ts';
import { MAX_WAITING_STATEMENTS } from '../../src/store/postgres/hosts.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import {
  hasPostgresStore,
  makePostgresStore,
  openPostgresReader,
  openPostgresStore,
  openPostgresUpgrade,
  removePostgresStore,
} from '../../src/store/postgres/postgres-store.ts';
import { fromFormat3, OLD_TRANSACTIONS } from '../../src/store/upgrade/from-format-3.ts';
import { NO_POSTGRES } from './cluster.ts';
import { newPostgresLocation } from './shared.ts';

const EPOCH = Buffer.of(0);
const withCode = (code: string) => expect.objectContaining({ code });

function put(text: string): Batch {
  return new Batch()
    .put(EPOCHS, EPOCH, encodeU64Key(1n), Buffer.from(text))
    .publish(HEAD, Buffer.of(0), NO_ORDER, Buffer.from(text));
}

async function newLocation() {
  return parsePostgresUrl(await newPostgresLocation());
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}the store in PostgreSQL`, () => {
  test('a place without a store, with one, with something else', async () => {
    const location = await newLocation();
    expect(await hasPostgresStore(location)).toBe(false);
    await expect(openPostgresReader(location)).rejects.toThrow(withCode('store_not_found'));
    await expect(openPostgresUpgrade(location, [])).rejects.toThrow(withCode('store_not_found'));
    await (await openPostgresStore(location)).close();
    expect(await hasPostgresStore(location)).toBe(true);
    await (await openPostgresReader(location)).close();
    await removePostgresStore(location);
    expect(await hasPostgresStore(location)).toBe(false);
    const catalog = { ...location, schema: 'information_schema' };
    await expect(openPostgresStore(catalog)).rejects.toThrow(withCode('store_foreign'));
  });

  test('one writer at a time; the next continues', async () => {
    const location = await newLocation();
    const first = await openPostgresStore(location);
    await expect(openPostgresStore(location)).rejects.toThrow(withCode('store_locked'));
    await expect(removePostgresStore(location)).rejects.toThrow(withCode('store_locked'));
    await first.commit(put('first'));
    await first.close();
    const second = await openPostgresStore(location);
    expect(await second.get(EPOCHS, EPOCH, encodeU64Key(1n))).toEqual(Buffer.from('first'));
    await second.close();
  });

  test('a writer that starts waits for no reader', async () => {
    const location = await newLocation();
    await (await openPostgresStore(location)).close();
    const reader = new pg.Client({ connectionString: location.urls[0] });
    await reader.connect();
    await reader.query('begin');
    await reader.query(`select from "${location.schema}"."c03_state"`);
    await (await openPostgresStore(location)).close();
    await reader.end();
  });

  test('a writer reads its own commits at once, others within milliseconds', async () => {
    const location = await newLocation();
    const store = await openPostgresStore(location);
    const reader = await openPostgresReader(location);
    for (let round = 0; round < 20; round += 1) {
      const before = store.get(HEAD, Buffer.of(0), NO_ORDER);
      await store.commit(put(`round ${round}`));
      expect(await store.get(HEAD, Buffer.of(0), NO_ORDER)).toEqual(Buffer.from(`round ${round}`));
      await before;
      expect(await store.get(HEAD, Buffer.of(0), NO_ORDER)).toEqual(Buffer.from(`round ${round}`));
      await expect
        .poll(() => reader.get(HEAD, Buffer.of(0), NO_ORDER), { interval: 1 })
        .toEqual(Buffer.from(`round ${round}`));
    }
    await Promise.all([store.close(), reader.close()]);
  });

  test('more reads at once than may wait are refused', async () => {
    const store = await openPostgresStore(await newLocation());
    await store.get(STATE, Buffer.alloc(32), encodeU64Key(1n));
    const reads = Array.from({ length: 2 * MAX_WAITING_STATEMENTS + 1 }, () =>
      Promise.resolve(store.get(STATE, Buffer.alloc(32), encodeU64Key(1n))),
    );
    const outcomes = await Promise.allSettled(reads);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { code: 'store_busy' } });
    await store.close();
  });

  test('a new ledger is there when it is complete, not before', async () => {
    const location = await newLocation();
    await makePostgresStore(location, async (store) => {
      await store.commit(put('made'));
      expect(await hasPostgresStore(location)).toBe(false);
      const other = makePostgresStore(location, async () => undefined);
      await expect(other).rejects.toThrow(withCode('store_locked'));
    });
    const reader = await openPostgresReader(location);
    expect(await reader.get(EPOCHS, EPOCH, encodeU64Key(1n))).toEqual(Buffer.from('made'));
    await reader.close();
    const second = makePostgresStore(location, async () => undefined);
    await expect(second).rejects.toThrow(withCode('store_foreign'));
  });

  test('work that fails leaves no ledger', async () => {
    const location = await newLocation();
    const failing = makePostgresStore(location, async (store) => {
      await store.commit(put('unfinished'));
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(await hasPostgresStore(location)).toBe(false);
    await makePostgresStore(location, async (store) => {
      expect(await store.get(EPOCHS, EPOCH, encodeU64Key(1n))).toBeUndefined();
    });
    expect(await hasPostgresStore(location)).toBe(true);
  });

  test.each([
    ['', 'table', 'table %.kept ()'],
    ['', 'function', "function %.kept() returns int language sql as 'select 1'"],
    ['', 'type', "type %.kept as enum ('one')"],
    ['_unfinished', 'table', 'table %.kept ()'],
  ])('a schema NAME%s with a foreign %s is refused before work', async (suffix, _, definition) => {
    const location = await newLocation();
    const name = location.schema + suffix;
    const client = new pg.Client({ connectionString: location.urls[0]! });
    await client.connect();
    await client.query(`create schema ${name}`);
    await client.query(`create ${definition.replace('%', name)}`);
    let isWorking = false;
    const making = makePostgresStore(location, async () => {
      isWorking = true;
    });
    await expect(making).rejects.toThrow(withCode('store_foreign'));
    expect(isWorking).toBe(false);
    const drop = client.query(`drop schema ${name} restrict`);
    await expect(drop).rejects.toThrow('other objects depend on it');
    await client.end();
  });

  test('an upgrade has the columns of older formats', async () => {
    const location = await newLocation();
    await (await openPostgresStore(location)).close();
    const store = await openPostgresUpgrade(location, fromFormat3().oldColumns);
    const { partition, order } = encodeBucketKey(7n);
    const value = Buffer.from('transaction');
    await store.commit(new Batch().put(OLD_TRANSACTIONS, partition, order, value));
    expect(await store.get(OLD_TRANSACTIONS, partition, order)).toEqual(value);
    expect(await store.get(TRANSACTIONS, partition, order)).toBeUndefined();
    await store.close();
  });
});
