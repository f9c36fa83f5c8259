/** Behaviour of the PostgreSQL store beyond the contract of all engines. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EPOCHS, HEAD, STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key, NO_ORDER } from '../../src/store/columns/order-key.ts';
import { MAX_WAITING_STATEMENTS } from '../../src/store/postgres/hosts.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import {
  hasPostgresStore,
  openPostgresReader,
  openPostgresStore,
} from '../../src/store/postgres/postgres-store.ts';
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
    await (await openPostgresStore(location)).close();
    expect(await hasPostgresStore(location)).toBe(true);
    await (await openPostgresReader(location)).close();
    const catalog = { ...location, schema: 'information_schema' };
    await expect(openPostgresStore(catalog)).rejects.toThrow(withCode('store_foreign'));
  });

  test('one writer at a time; the next continues', async () => {
    const location = await newLocation();
    const first = await openPostgresStore(location);
    await expect(openPostgresStore(location)).rejects.toThrow(withCode('store_locked'));
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
});
