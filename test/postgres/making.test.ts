/**
 * Creating a ledger in PostgreSQL: one creator at a time, published in one step, and nothing that belongs to others is
 * removed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { withNewLedger } from '../../src/node/open-store.ts';
import { Batch } from '../../src/store/batch.ts';
import { EPOCHS, HEAD } from '../../src/store/columns/columns.ts';
import { readHead } from '../../src/store/columns/head.ts';
import { encodeU64Key, NO_ORDER } from '../../src/store/columns/order-key.ts';
import { type PostgresLocation, parsePostgresUrl } from '../../src/store/postgres/location.ts';
import {
  hasPostgresStore,
  isPostgresUnfinished,
  makePostgresStore,
  openPostgresReader,
  openPostgresStore,
  removePostgresUnfinished,
} from '../../src/store/postgres/postgres-store.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { until } from '../process/worker-processes.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { NO_POSTGRES } from './cluster.ts';
import { endWriter, newPostgresLocation, sharedPostgres } from './shared.ts';

const MAKERS = 4;
const ROUNDS = 12;
const ROW = [EPOCHS, Buffer.of(0), encodeU64Key(1n)] as const;
const withCode = (code: string) => expect.objectContaining({ code });

function put(text: string): Batch {
  const value = Buffer.from(text);
  return new Batch().put(...ROW, value).publish(HEAD, Buffer.of(0), NO_ORDER, value);
}

async function newLocation(): Promise<PostgresLocation> {
  return parsePostgresUrl(await newPostgresLocation());
}

async function make(location: PostgresLocation, text: string): Promise<void> {
  await makePostgresStore(location, (store) => store.commit(put(text)));
}

/** The value that was put into the existing store. */
async function found(location: PostgresLocation): Promise<string | undefined> {
  if (!(await hasPostgresStore(location))) return undefined;
  const reader = await openPostgresReader(location);
  onTestFinished(() => reader.close());
  return textIn(reader);
}

async function textIn(store: StoreReader): Promise<string | undefined> {
  return (await store.get(...ROW))?.toString();
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a ledger in the making`, () => {
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: await sharedPostgres() });
    await client.connect();
  });
  afterAll(() => client?.end());

  /** Schemas whose names begin with that of a location. */
  async function schemasOf({ schema }: PostgresLocation): Promise<readonly string[]> {
    const { rows } = await client.query(
      'select nspname from pg_namespace where starts_with(nspname, $1) order by 1',
      [schema],
    );
    return rows.map(({ nspname }) => nspname);
  }

  /** The schema of the only unfinished ledger at a location. */
  async function unfinishedOf(location: PostgresLocation): Promise<PostgresLocation> {
    const [schema, ...more] = (await schemasOf(location)).filter((name) => /_new_/.test(name));
    expect(more).toEqual([]);
    return { ...location, schema: schema! };
  }

  /** Creates a part of a ledger, and leaves it as a killed process does. */
  async function leavePart(location: PostgresLocation, text: string): Promise<void> {
    const making = makePostgresStore(
      location,
      async (store) => {
        await store.commit(put(text));
        throw new Error('cut off');
      },
      { resumes: true },
    );
    await expect(making).rejects.toThrow('cut off');
  }

  test('is there when it is complete, not before', async () => {
    const location = await newLocation();
    await makePostgresStore(location, async (store) => {
      await store.commit(put('made'));
      expect(await hasPostgresStore(location)).toBe(false);
      expect(await isPostgresUnfinished(location)).toBe(true);
      await expect(make(location, 'other')).rejects.toThrow(withCode('store_locked'));
      await expect(openPostgresStore(location)).rejects.toThrow(withCode('store_locked'));
      await expect(removePostgresUnfinished(location)).rejects.toThrow(withCode('store_locked'));
    });
    expect(await found(location)).toBe('made');
    expect(await isPostgresUnfinished(location)).toBe(false);
    await expect(make(location, 'second')).rejects.toThrow(withCode('store_exists'));
    expect(await schemasOf(location)).toEqual([location.schema]);
  });

  test('is no ledger of its own name', async () => {
    const location = await newLocation();
    await leavePart(location, 'part');
    const part = await unfinishedOf(location);
    expect(await hasPostgresStore(part)).toBe(false);
    await expect(openPostgresReader(part)).rejects.toThrow(withCode('store_not_found'));
    await expect(openPostgresStore(part)).rejects.toThrow(withCode('store_foreign'));
    await expect(make(part, 'over it')).rejects.toThrow(withCode('store_foreign'));
    await removePostgresUnfinished(location);
    expect(await schemasOf(location)).toEqual([]);
  });

  test('whose work fails is gone', async () => {
    const location = await newLocation();
    const failing = makePostgresStore(location, async (store) => {
      await store.commit(put('unfinished'));
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(await schemasOf(location)).toEqual([]);
  });

  test('is gone on with by whoever resumes, and removed by everybody else', async () => {
    for (const resumes of [true, false]) {
      const location = await newLocation();
      const neighbour = { ...location, schema: `${location.schema}_2` };
      await leavePart(neighbour, 'neighbour');
      await leavePart(location, 'part');
      const work = async (store: Store) => {
        expect(await textIn(store)).toBe(resumes ? 'part' : undefined);
        await store.commit(put('whole'));
      };
      await makePostgresStore(location, work, { resumes });
      expect(await found(location)).toBe('whole');
      expect(await isPostgresUnfinished(location)).toBe(false);
      expect(await isPostgresUnfinished(neighbour)).toBe(true);
    }
  });

  test('that this program cannot read is removed', async () => {
    const location = await newLocation();
    await leavePart(location, 'part');
    const { schema } = await unfinishedOf(location);
    await client.query(`update "${schema}".c01_identity set v = '\\x000000ff'`);
    const work = async (store: Store) => expect(await textIn(store)).toBeUndefined();
    await makePostgresStore(location, work, { resumes: true });
    expect(await schemasOf(location)).toEqual([location.schema]);
  });

  test('takes the place of an empty schema, and of a store without a head', async () => {
    const empty = await newLocation();
    await client.query(`create schema "${empty.schema}"`);
    await make(empty, 'made');
    expect(await found(empty)).toBe('made');
    const headless = await newLocation();
    await (await openPostgresStore(headless)).close();
    await make(headless, 'made');
    expect(await found(headless)).toBe('made');
  });

  test.each([
    ['nothing', 'table', 'table %.kept ()'],
    ['nothing', 'function', "function %.kept() returns int language sql as 'select 1'"],
    ['nothing', 'type', "type %.kept as enum ('one')"],
    ['a store without a head', 'table', 'table %.kept ()'],
  ])('is not begun where there is %s and a foreign %s', async (what, _, definition) => {
    const location = await newLocation();
    const name = location.schema;
    if (what === 'nothing') await client.query(`create schema ${name}`);
    else await (await openPostgresStore(location)).close();
    await client.query(`create ${definition.replace('%', name)}`);
    let isWorking = false;
    const making = makePostgresStore(location, async () => {
      isWorking = true;
    });
    await expect(making).rejects.toThrow(withCode('store_foreign'));
    expect(isWorking).toBe(false);
    expect(await schemasOf(location)).toEqual([name]);
    await expect(client.query(`create ${definition.replace('%', name)}`)).rejects.toThrow('exists');
  });

  test('leaves complete ledgers alone, whatever they are named', async () => {
    const location = await newLocation();
    const names = ['_unfinished', '_new_0123456789abcdef', '_new_'];
    const others = names.map((name) => ({ ...location, schema: location.schema + name }));
    for (const other of others) await make(other, other.schema);
    await leavePart(location, 'part');
    await removePostgresUnfinished(location);
    await leavePart(location, 'part');
    await make(location, 'made');
    for (const other of others) expect(await found(other)).toBe(other.schema);
    expect(await found(location)).toBe('made');
  });

  test.each([42, 43, 63])('may be for a name of %d characters', async (length) => {
    const location = await newLocation();
    const schema = location.schema.padEnd(length, '_');
    await leavePart({ ...location, schema }, 'part');
    await make({ ...location, schema }, 'made');
    expect(await found({ ...location, schema })).toBe('made');
    expect(await schemasOf(location)).toEqual([schema]);
  });

  test('whose maker loses its connection goes on, and is published', async () => {
    const location = await newLocation();
    await makePostgresStore(location, async (store) => {
      await endWriter(client, location.schema);
      const commit = () => store.commit(put('made')).then(() => true);
      await until('it is connected again', () => commit().catch(() => false));
      await expect(make(location, 'other')).rejects.toThrow(withCode('store_locked'));
    });
    expect(await found(location)).toBe('made');
  });

  test.each([
    ['makes another', (location: PostgresLocation) => make(location, 'other'), 'other'],
    ['goes on with it', (location: PostgresLocation) => leavePart(location, 'other'), undefined],
  ] as const)('whose maker loses its connection, and another one %s', async (_, replace, there) => {
    const location = await newLocation();
    const making = makePostgresStore(location, async (store) => {
      await endWriter(client, location.schema);
      await replace(location);
      await store.commit(put('late'));
    });
    await expect(making).rejects.toThrow(withCode('store_lock_lost'));
    expect(await found(location)).toBe(there);
  });

  test('is not published over a ledger that has come meanwhile', async () => {
    const location = await newLocation();
    const making = makePostgresStore(location, async (store) => {
      await store.commit(put('late'));
      await endWriter(client, location.schema);
      const other = await openPostgresStore(location);
      await other.commit(put('other'));
      await other.close();
    });
    await expect(making).rejects.toThrow(withCode('store_exists'));
    expect(await found(location)).toBe('other');
    expect(await schemasOf(location)).toEqual([location.schema]);
  });

  test('has one winner of several makers, and its ledger is what is there', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const data = await newPostgresLocation();
      const location = parsePostgresUrl(data);
      if (round % 2 === 1) await (await openPostgresStore(location)).close();
      const outcomes = await Promise.allSettled(
        Array.from({ length: MAKERS }, async (_, maker) => {
          // Some start when the first has just begun, others when it is about to end.
          await sleep(maker * 25);
          await withNewLedger(data, async (writer) => {
            for (let version = 0; version <= maker; version += 1) {
              const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
              await writer.append(chunk(version, [transaction(version)], blocks));
            }
          });
          return BigInt(maker);
        }),
      );
      const refused = outcomes.filter(({ status }) => status === 'rejected');
      for (const { reason } of refused as PromiseRejectedResult[]) {
        expect(['ledger_exists', 'data_not_usable']).toContain(reason.code);
        if (reason.code === 'data_not_usable') {
          expect(reason.cause).toMatchObject({ code: 'store_locked' });
        }
      }
      const winners = outcomes.filter(({ status }) => status === 'fulfilled');
      expect(winners).toHaveLength(1);
      const reader = await openPostgresReader(location);
      const head = await readHead(reader);
      await reader.close();
      expect(winners).toMatchObject([{ value: head!.version }]);
      expect(await schemasOf(location)).toEqual([location.schema]);
    }
  });
});
