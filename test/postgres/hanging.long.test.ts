/** Servers that hang or are out of space, and networks that drop packets: a store's errors, and its recovery. */
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { EPOCHS } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { WRITER_SILENCE_LIMIT_MS } from '../../src/store/postgres/connection.ts';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { openPostgresReader, openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { isStoreError, StoreError } from '../../src/store/store-error.ts';
import { canMount, SmallDisk } from '../process/small-disk.ts';
import { until } from '../process/worker-processes.ts';
import { NO_POSTGRES, PostgresServer } from './cluster.ts';
import { SwallowingProxy } from './proxy.ts';
import { newPostgresLocation, sharedPostgres } from './shared.ts';

const EPOCH = Buffer.of(0);
const withCode = (code: string) => expect.objectContaining({ code });
const key = (number: bigint) => [EPOCHS, EPOCH, encodeU64Key(number)] as const;

/** Uses up all space of a file system. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(64 * 1024));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a store in PostgreSQL`, () => {
  test('that hangs: reads end in time, and go on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-server-'));
    chmodSync(folder, 0o711);
    const server = await PostgresServer.create(join(folder, 'data'), ['fsync=off']);
    onTestFinished(async () => {
      server.signalAll('SIGCONT');
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    const location = parsePostgresUrl(server.url(''));
    const store = await openPostgresStore(location);
    const reader = await openPostgresReader(location);
    await store.commit(new Batch().put(...key(1n), Buffer.from('first')));
    server.signalAll('SIGSTOP');
    const late = store.commit(new Batch().put(...key(2n), Buffer.from('second')));
    await expect(reader.get(...key(1n))).rejects.toThrow(withCode('store_unreachable'));
    server.signalAll('SIGCONT');
    await late;
    await until('it is read', async () => {
      try {
        return (await reader.get(...key(2n)))?.toString() === 'second';
      } catch (error) {
        expect(error).toEqual(withCode('store_unreachable'));
        return false;
      }
    });
    await Promise.all([store.close(), reader.close()]);
  });

  test.skipIf(!canMount)(
    'whose disk is full: commits say so, reads go on (needs a mount)',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-server-'));
      chmodSync(folder, 0o711);
      const disk = new SmallDisk(join(folder, 'disk'), '120m');
      chmodSync(disk.folder, 0o711);
      const server = await PostgresServer.create(join(disk.folder, 'data'), ['fsync=off']);
      onTestFinished(async () => {
        await server.stop();
        disk.unmount();
        rmSync(folder, { recursive: true });
      });
      const location = parsePostgresUrl(server.url());
      const store = await openPostgresStore(location);
      await store.commit(new Batch().put(...key(1n), Buffer.from('first')));
      const filler = join(disk.folder, 'filler');
      fill(filler);
      const large = () => store.commit(new Batch().put(...key(2n), randomBytes(1024 * 1024)));
      await expect(large()).rejects.toThrow(withCode('store_full'));
      expect(await store.get(...key(1n))).toEqual(Buffer.from('first'));
      expect(await store.get(...key(2n))).toBeUndefined();
      // Without space for WAL the server exits.
      const write = "select pg_switch_wal(), pg_logical_emit_message(true, 'a', 'b')";
      const hasFailed = () =>
        server.query(write).then(
          () => false,
          () => true,
        );
      await until('it cannot write WAL', hasFailed);
      // It may have restarted, and be out of space again.
      const code = expect.stringMatching(/^store_(?:unreachable|full)$/);
      await expect(large()).rejects.toThrow(expect.objectContaining({ code }));
      rmSync(filler);
      await server.stop();
      await server.start();
      await large();
      expect(await store.get(...key(2n))).toHaveLength(1024 * 1024);
      await store.close();
    },
  );

  describe('behind a network that swallows bytes', () => {
    let proxy: SwallowingProxy;
    let server: URL;
    beforeAll(async () => {
      server = new URL(await sharedPostgres());
      proxy = await SwallowingProxy.to(Number(server.port));
    });
    afterAll(() => proxy.close());

    /** A new location, direct and through the proxy. */
    async function newPlace() {
      const url = await newPostgresLocation();
      const through = url.replace(server.host, `127.0.0.1:${proxy.port}`);
      return { location: parsePostgresUrl(url), through: parsePostgresUrl(through) };
    }

    /** The location of a schema for a role of its own, which may write to it and has no rights over sessions. */
    async function asOtherRole(schema: string) {
      const role = `of_${schema}`;
      const admin = new pg.Client({ connectionString: server.href });
      await admin.connect();
      await admin.query(`create role ${role} login;
        grant usage on schema ${schema} to ${role};
        grant all on all tables in schema ${schema} to ${role}`);
      await admin.end();
      const asOther = new URL(server);
      asOther.username = role;
      return parsePostgresUrl(`${asOther.href}?schema=${schema}`);
    }

    test('reads and a commit end, and go on through a new connection', {
      timeout: 60_000,
    }, async () => {
      const { through } = await newPlace();
      const store = await openPostgresStore(through);
      const reader = await openPostgresReader(through);
      await store.commit(new Batch().put(...key(1n), Buffer.from('first')));
      expect(await reader.get(...key(1n))).toEqual(Buffer.from('first'));
      proxy.swallow();
      const commit = () => store.commit(new Batch().put(...key(2n), Buffer.from('second')));
      const late = [commit(), reader.get(...key(1n)) as Promise<unknown>];
      const outcomes = Promise.allSettled(late);
      await sleep(1_000);
      proxy.restore();
      const unreachable = { status: 'rejected', reason: withCode('store_unreachable') };
      const [committed, read] = await outcomes;
      expect(committed).toEqual(unreachable);
      // The request may have been repeated through a new connection.
      expect([unreachable, { status: 'fulfilled', value: Buffer.from('first') }]).toContainEqual(
        read,
      );
      // Its former session still has the lock: the server has not noticed that the connection is gone.
      await commit();
      expect(await reader.get(...key(2n))).toEqual(Buffer.from('second'));
      await Promise.all([store.close(), reader.close()]);
    });

    test('a writer is silent, and is replaced by one of another role that stands by', async () => {
      const { location, through } = await newPlace();
      const first = await openPostgresStore(through);
      await first.commit(new Batch().put(...key(1n), Buffer.from('first')));
      const causes: StoreError[] = [];
      const standby = { onWait: (cause: StoreError) => void causes.push(cause) };
      let isOpen = false;
      const opening = openPostgresStore(await asOtherRole(location.schema), { standby });
      void opening.finally(() => {
        isOpen = true;
      });
      await until('it waits', () => causes.length > 0);
      // Without a commit, for longer than the limit of a writer's silence.
      await sleep(1.5 * WRITER_SILENCE_LIMIT_MS);
      expect(isOpen).toBe(false);
      proxy.swallow();
      const second = await opening;
      expect(causes).toEqual([withCode('store_locked')]);
      await second.commit(new Batch().put(...key(1n), Buffer.from('second')));
      proxy.restore();
      await until('the first knows', async () => {
        const late = first.commit(new Batch().put(...key(1n), Buffer.from('late')));
        const error = await late.catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(StoreError);
        return isStoreError(error, 'store_lock_lost');
      });
      expect(await second.get(...key(1n))).toEqual(Buffer.from('second'));
      await Promise.all([first.close(), second.close()]);
    });
  });
});
