/** Failures of PostgreSQL and of the connection to it: their error codes, and that stores recover from them. */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { asLedgerFailure } from '../../src/state/ledger-error.ts';
import { Batch } from '../../src/store/batch.ts';
import { EPOCHS, HEAD } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { PostgresConnection } from '../../src/store/postgres/connection.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { asStoreError } from '../../src/store/postgres/postgres-error.ts';
import {
  hasPostgresStore,
  openPostgresReader,
  openPostgresStore,
} from '../../src/store/postgres/postgres-store.ts';
import { statementsOf } from '../../src/store/postgres/statements.ts';
import { WriterSession } from '../../src/store/postgres/writer-session.ts';
import { EventGapError, isStoreError } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { until } from '../process/worker-processes.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { NO_POSTGRES, PostgresServer } from './cluster.ts';
import { endWriter, newPostgresLocation, sharedPostgres } from './shared.ts';

/** Longer than a search waits for one server. */
const SLOW_OPENING_MS = 1_000;
const EPOCH = Buffer.of(0);
const withCode = (code: string) => expect.objectContaining({ code });
const key = (number: bigint) => [EPOCHS, EPOCH, encodeU64Key(number)] as const;

test.each([
  ['53100', 'store_full'],
  ['25006', 'store_read_only'],
  ['57014', 'store_timeout'],
  ['40001', 'store_interrupted'],
  ['57P01', 'store_unreachable'],
  ['57P03', 'store_unreachable'],
  ['08006', 'store_unreachable'],
  ['53300', 'store_unreachable'],
  ['28P01', 'store_refused'],
  ['3D000', 'store_refused'],
  ['42501', 'store_refused'],
  ['42P01', 'store_not_found'],
  ['XX001', 'store_damaged'],
  ['22012', 'store_io'],
  [undefined, 'store_io'],
])('SQLSTATE %s is %s', (state, code) => {
  const cause = Object.assign(new Error('no'), { code: state });
  expect(asStoreError(cause, 'a read', true)).toMatchObject({ code, cause });
});

test('any other failure of a connection that is lost is store_unreachable', () => {
  for (const code of ['ECONNREFUSED', undefined]) {
    const cause = Object.assign(new Error('no'), { code });
    expect(asStoreError(cause, 'a read', false)).toMatchObject({ code: 'store_unreachable' });
  }
});

test('damage is of the column that the failure names, else of an unknown one', () => {
  const cause = Object.assign(new Error('no'), { code: 'XX001' });
  const failure = asStoreError(cause, 'a read', true);
  expect(asLedgerFailure(failure)).toMatchObject({ code: 'ledger_damaged', column: 'unknown' });
  const gap = asLedgerFailure(new EventGapError('0x1/0', 1n, 3n));
  expect(gap).toMatchObject({ code: 'ledger_damaged', column: 'events' });
});

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a store in PostgreSQL`, () => {
  test('whose writer was replaced never commits again', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    const store = await openPostgresStore(location);
    onTestFinished(() => store.close());
    await store.commit(new Batch().put(...key(1n), Buffer.from('own')));
    const other = new pg.Client({ connectionString: await sharedPostgres() });
    await other.connect();
    await other.query(`update "${location.schema}".writer set term = term + 1`);
    await other.end();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const late = store.commit(new Batch().put(...key(1n), Buffer.from('late')));
      await expect(late).rejects.toThrow(withCode('store_lock_lost'));
    }
    expect(await store.get(...key(1n))).toEqual(Buffer.from('own'));
  });

  test('whose writer was replaced never commits again, also if its term was lost', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    const store = await openPostgresStore(location);
    onTestFinished(() => store.close());
    const other = new pg.Client({ connectionString: await sharedPostgres() });
    await other.connect();
    onTestFinished(() => other.end());
    // As on a standby that became the primary before it received the term.
    await other.query(`update "${location.schema}".writer set term = 0`);
    await endWriter(other, location.schema);
    const next = await openPostgresStore(location);
    await next.close();
    await until('it is known', async () => {
      const commit = store.commit(new Batch().put(...key(1n), Buffer.from('late')));
      const error = await commit.catch((reason: unknown) => reason);
      return error === undefined || isStoreError(error, 'store_lock_lost');
    });
    expect(await store.get(...key(1n))).toBeUndefined();
  });

  test('that lacks acknowledged commits takes none until they are there again', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    const store = await openPostgresStore(location);
    onTestFinished(() => store.close());
    const writer = await LedgerWriter.open(store);
    await writer.append(chunk(0, [transaction(0)]));
    const other = new pg.Client({ connectionString: await sharedPostgres() });
    await other.connect();
    onTestFinished(() => other.end());
    const { name } = statementsOf(location.schema, HEAD);
    const headBytes = async () => (await other.query(`select v from ${name}`)).rows[0].v;
    const older = await headBytes();
    await writer.append(chunk(1, [transaction(1)], { blocks: [block(1, 1)] }));
    const newer = await headBytes();
    await other.query(`update ${name} set v = $1`, [older]);
    await endWriter(other, location.schema);
    const next = () => writer.append(chunk(2, [transaction(2)], { blocks: [block(2, 2)] }));
    // The first attempt may only report the interrupted session.
    await until('it is known', async () => {
      const error = await next().catch((reason: unknown) => reason);
      return isStoreError(error, 'store_commits_lost');
    });
    const lost = withCode('store_commits_lost');
    await expect(next()).rejects.toThrow(lost);
    const between = writer.commitBetween(async () => ({
      batch: new Batch().put(...key(1n), Buffer.from('late')),
    }));
    await expect(between).rejects.toThrow(lost);
    await other.query(`update ${name} set v = $1`, [newer]);
    await next();
    expect(writer.head).toMatchObject({ version: 2n });
    expect(await store.get(...key(1n))).toBeUndefined();
  });

  test('leaves no connection to a server that answers after it was closed', async () => {
    const { host, port } = new URL(await sharedPostgres());
    const slow = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void slow.close());
    await once(slow, 'listening');
    const late = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const url = (await newPostgresLocation()).replace(host, `${host},${late}`);
    const connected = once(slow, 'connection');
    expect(await hasPostgresStore(parsePostgresUrl(url))).toBe(false);
    const [socket] = await connected;
    socket.pipe(connect(Number(port), '127.0.0.1')).pipe(socket);
    await once(socket, 'close');
  });

  test('whose server takes long to open connections is waited for', async () => {
    const location = await newPostgresLocation();
    await (await openPostgresStore(parsePostgresUrl(location))).close();
    const { host, port } = new URL(location);
    let opened = 0;
    // The first connection is not delayed: it only asks what the server is.
    const slow = createServer(async (socket) => {
      socket.on('error', () => undefined);
      opened += 1;
      if (opened > 1) await sleep(SLOW_OPENING_MS);
      const server = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.pipe(server).pipe(socket);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void slow.close());
    await once(slow, 'listening');
    const through = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const reader = await openPostgresReader(parsePostgresUrl(location.replace(host, through)));
    expect(await reader.get(...key(1n))).toBeUndefined();
    await reader.close();
  });

  test('reads again what the server interrupts, through the same connections', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    const store = await openPostgresStore(location);
    await store.commit(new Batch().put(...key(1n), Buffer.from('one')));
    await store.close();
    const other = new pg.Client({ connectionString: await sharedPostgres() });
    await other.connect();
    onTestFinished(() => other.end());
    // Readers of earlier tests may still be disconnecting.
    const earlier: unknown[] = [];
    const sessions = async () => {
      // Tests in other files also read from the server. Processes of this ledger have sessions that query it.
      const { rows } = await other.query(
        `with readers as (select * from pg_stat_activity
          where application_name like 'daybook reader %' and pid <> all($1))
        select pid from readers where application_name in
          (select application_name from readers where strpos(query, $2) > 0) order by pid`,
        [earlier, location.schema],
      );
      return rows.map(({ pid }) => pid);
    };
    earlier.push(...(await sessions()));
    const reader = await openPostgresReader(location);
    onTestFinished(() => reader.close());
    expect(await reader.get(...key(1n))).toEqual(Buffer.from('one'));
    const before = await sessions();
    expect(before.length).toBeGreaterThan(0);
    // Like a standby that cancels a read in conflict with its replay: `times` times, then no more.
    const { table } = statementsOf(location.schema, EPOCHS);
    await other.query(`
      set search_path to "${location.schema}";
      create sequence reads;
      create function interrupted(times int) returns boolean volatile language plpgsql as $$ begin
        if nextval('"${location.schema}".reads') <= times then
          raise exception 'canceling statement due to conflict with recovery' using errcode = '40001';
        end if;
        return true;
      end $$;
      alter table ${table} rename to kept;`);
    const interrupt = (times: number) =>
      other.query(`
        drop view if exists ${table};
        alter sequence reads restart;
        create view ${table} as select p, o, v from kept where interrupted(${times})`);
    await interrupt(1);
    expect(await reader.get(...key(1n))).toEqual(Buffer.from('one'));
    await interrupt(2);
    await expect(reader.get(...key(1n))).rejects.toThrow(withCode('store_interrupted'));
    expect(await reader.get(...key(1n))).toEqual(Buffer.from('one'));
    expect(await sessions()).toEqual(before);
    expect(reader.server).toMatchObject({ moves: 0 });
  });

  test('a writer that has lost its right says so with the next commit, and reads meanwhile', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    await (await openPostgresStore(location)).close();
    const session = await WriterSession.acquire(location);
    await session.beginTerm();
    const other = new pg.Client({ connectionString: await sharedPostgres() });
    await other.connect();
    await endWriter(other, location.schema);
    await other.end();
    const second = await openPostgresStore(location);
    // It has noticed: from then on attempts to write do not end reads.
    await sleep(2_500);
    const slow = { name: '', text: 'select pg_sleep(2.5)' };
    expect((await session.hosts.query('long', slow, [])).rows).toHaveLength(1);
    await expect(session.reconnected()).rejects.toThrow(withCode('store_lock_lost'));
    await Promise.all([session.release(), second.close()]);
  });

  test('a process that waits ends with its signal', async () => {
    const location = parsePostgresUrl(await newPostgresLocation());
    const first = await openPostgresStore(location);
    const abort = new AbortController();
    const { signal } = abort;
    const onWait = () => abort.abort();
    const standby = { onWait, signal };
    await expect(openPostgresStore(location, { standby })).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    );
    await first.close();
  });

  describe('on a server that ends', () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-server-'));
    let server: PostgresServer;
    beforeAll(async () => {
      chmodSync(folder, 0o711);
      server = await PostgresServer.create(join(folder, 'data'), ['fsync=off']);
    });
    afterAll(async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    });

    test('fails while it is gone, and goes on when it is back', async () => {
      const location = parsePostgresUrl(server.url());
      const store = await openPostgresStore(location);
      const reader = await openPostgresReader(location);
      await store.commit(new Batch().put(...key(1n), Buffer.from('first')));
      expect(await reader.get(...key(1n))).toEqual(Buffer.from('first'));
      await server.stop('SIGQUIT');
      const unreachable = withCode('store_unreachable');
      await expect(reader.get(...key(1n))).rejects.toThrow(unreachable);
      const commit = () => store.commit(new Batch().put(...key(2n), Buffer.from('second')));
      await expect(commit()).rejects.toThrow(unreachable);
      await expect(commit()).rejects.toThrow(unreachable);
      await server.start();
      expect(await reader.get(...key(1n))).toEqual(Buffer.from('first'));
      await commit();
      expect(await reader.get(...key(2n))).toEqual(Buffer.from('second'));
      await expect(openPostgresStore(location)).rejects.toThrow(withCode('store_locked'));
      await Promise.all([store.close(), reader.close()]);
    });

    test('and whose standbys are away: the commit that waits is known', async () => {
      const waits: boolean[] = [];
      const onCommitsWait = (isWaiting: boolean) => void waits.push(isWaiting);
      const location = parsePostgresUrl(server.url('?schema=waiting'));
      const store = await openPostgresStore(location, { onCommitsWait });
      onTestFinished(() => store.close());
      await store.commit(new Batch().put(...key(1n), Buffer.from('first')));
      expect(store.server).toMatchObject({ standbyWaitMs: 0 });
      await confirmedBy('ANY 1 (*)');
      const late = store.commit(new Batch().put(...key(2n), Buffer.from('second')));
      await until('it is known', () => store.server!.standbyWaitMs > 0);
      expect(waits).toEqual([true]);
      await confirmedBy('');
      await late;
      expect(waits).toEqual([true, false]);
      expect(store.server).toMatchObject({ standbyWaitMs: 0 });
    });

    test('and a commit that no standby has confirmed is not acknowledged in the end', async () => {
      const target = { url: server.url(), displayName: 'there', owner: '00000000' };
      const connection = await PostgresConnection.open(target, 'writer', 500);
      await connection.run('create table unconfirmed (number int)');
      await confirmedBy('ANY 1 (*)');
      onTestFinished(() => confirmedBy(''));
      const late = connection.run('insert into unconfirmed values (1)');
      await expect(late).rejects.toThrow(withCode('store_unreachable'));
    });

    test('and a commit that no longer waits for standbys is not acknowledged', async () => {
      const location = parsePostgresUrl(server.url('?schema=cancelled'));
      const store = await openPostgresStore(location);
      onTestFinished(() => store.close());
      const writer = await LedgerWriter.open(store);
      await writer.append(chunk(0, [transaction(0)]));
      await confirmedBy('ANY 1 (*)');
      onTestFinished(() => confirmedBy(''));
      const next = () => writer.append(chunk(1, [transaction(1)], { blocks: [block(1, 1)] }));
      const unreachable = withCode('store_unreachable');
      const late = expect(next()).rejects.toThrow(unreachable);
      await until('it is cancelled', async () => {
        const rows = await server.query(
          "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
        );
        return rows.length > 0;
      });
      await late;
      await confirmedBy('');
      // It was stored, and the next attempt reports that.
      await expect(next()).rejects.toThrow(unreachable);
      const { head } = await LedgerWriter.open(store);
      expect(head).toMatchObject({ version: 1n });
    });

    async function confirmedBy(names: string): Promise<void> {
      await server.query(`alter system set synchronous_standby_names = '${names}'`);
      await server.query('select pg_reload_conf()');
      await until('the setting holds', async () => {
        const [row] = await server.query('show synchronous_standby_names');
        return row![0] === names;
      });
    }
  });
});
