/** Reading from several servers: which one is used, and what happens when it is gone, hangs or lags. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readHead } from '../../src/store/columns/head.ts';
import { PostgresHosts } from '../../src/store/postgres/hosts.ts';
import { parsePostgresUrl, type SessionAttributes } from '../../src/store/postgres/location.ts';
import { openPostgresReader, openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { isStoreError } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporaryFolder } from '../process/command.ts';
import { until } from '../process/worker-processes.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { NO_POSTGRES, type PostgresServer } from './cluster.ts';
import { ReplicatedPostgres } from './replicated.ts';

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}reading from standbys`, () => {
  let cluster: ReplicatedPostgres;
  let writer: LedgerWriter;
  let closeWriter: () => Promise<void>;

  beforeAll(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    cluster = await ReplicatedPostgres.create(join(folder, 'servers'));
    const store = await openPostgresStore(locationOf('read-write'));
    closeWriter = () => store.close();
    writer = await LedgerWriter.open(store);
    await grow();
  });
  afterAll(async () => {
    await closeWriter();
    await cluster.stop();
  });

  function locationOf(attributes: SessionAttributes) {
    return parsePostgresUrl(cluster.url(`?target_session_attrs=${attributes}`));
  }

  /** The server with this port. */
  function serverOf(port: number): PostgresServer {
    return [cluster.primary, ...cluster.standbys].find((server) => server.port === port)!;
  }

  async function grow(): Promise<bigint> {
    const version = Number((writer.head?.version ?? -1n) + 1n);
    const blocks = version === 0 ? {} : { blocks: [block(version, version)] };
    const { head } = await writer.append(chunk(version, [transaction(version)], blocks));
    return head.version;
  }

  /** A reader, and its current server. */
  async function reading(attributes: SessionAttributes) {
    const hosts = new PostgresHosts(locationOf(attributes));
    const { url } = await hosts.find();
    await hosts.close();
    const reader = await openPostgresReader(locationOf(attributes));
    onTestFinished(() => reader.close());
    return { reader, server: serverOf(Number(new URL(url).port)) };
  }

  /** Reads the head again and again during `happening`. @returns what was seen, the failures, the longest gap */
  async function watching(reader: StoreReader, happening: () => Promise<unknown>) {
    const seen: bigint[] = [];
    const failures: unknown[] = [];
    let isOver = false;
    let answeredMs = performance.now();
    let gapMs = 0;
    const work = happening().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      try {
        seen.push((await readHead(reader))!.version);
        gapMs = Math.max(gapMs, performance.now() - answeredMs);
        answeredMs = performance.now();
      } catch (error) {
        failures.push(error);
      }
      await sleep(2);
    }
    await work;
    return { seen, failures, gapMs };
  }

  test('which server, by its attributes', async () => {
    const standbys = cluster.standbys.map(({ port }) => port);
    for (const attributes of ['read-write', 'primary'] as const) {
      expect((await reading(attributes)).server.port, attributes).toBe(cluster.primary.port);
    }
    for (const attributes of ['read-only', 'standby', 'prefer-standby'] as const) {
      expect(standbys, attributes).toContain((await reading(attributes)).server.port);
    }
    const first = Math.min(cluster.primary.port, ...standbys);
    expect((await reading('any')).server.port).toBe(first);
    const alone = parsePostgresUrl(cluster.primary.url('?target_session_attrs=standby'));
    await expect(openPostgresReader(alone)).rejects.toMatchObject({ code: 'store_unreachable' });
    await (
      await openPostgresReader(
        parsePostgresUrl(cluster.primary.url('?target_session_attrs=prefer-standby')),
      )
    ).close();
  });

  test('a standby is killed, another hangs: reads go on, and none fails', async () => {
    const { reader, server } = await reading('prefer-standby');
    // The primary is polled four times a second.
    await until('the primary was looked at', async () => {
      await readHead(reader);
      return reader.server!.unconfirmedMs < Infinity;
    });
    const killed = await watching(reader, async () => {
      for (let round = 0; round < 20; round += 1) await grow();
      await server.stop('SIGKILL');
      for (let round = 0; round < 20; round += 1) await grow();
    });
    expect(killed.failures).toEqual([]);
    expect(killed.seen).toEqual(killed.seen.toSorted((a, b) => Number(a - b)));
    // The primary could confirm that the next server is up to date.
    expect(reader.server).toMatchObject({ moves: 1, doubtfulMoveAgeMs: Infinity });
    await cluster.rejoin(server);

    const [next] = cluster.standbys.filter(({ port }) => port !== server.port);
    const hung = await watching(reader, async () => {
      await grow();
      next!.signalAll('SIGSTOP');
      for (let round = 0; round < 40; round += 1) {
        await grow();
        await sleep(50);
      }
      next!.signalAll('SIGCONT');
    });
    expect(hung.failures).toEqual([]);
    expect(hung.seen).toEqual(hung.seen.toSorted((a, b) => Number(a - b)));
    expect(reader.server!.moves).toBe(2);
    console.info({ killed_gap_ms: killed.gapMs, hung_gap_ms: hung.gapMs });
  });

  test('a server that lacks what was seen is not read from until it has it', async () => {
    const { reader, server } = await reading('standby');
    const [other] = cluster.standbys.filter(({ port }) => port !== server.port);
    await other!.query('select pg_wal_replay_pause()');
    const version = await grow();
    await until('it is seen', async () => (await readHead(reader))!.version === version);
    await server.stop('SIGKILL');
    await expect(readHead(reader)).rejects.toMatchObject({ code: 'store_behind' });
    await expect(reader.statistics()).rejects.toMatchObject({ code: 'store_behind' });
    await other!.query('select pg_wal_replay_resume()');
    await until('it reads again', async () => {
      try {
        return (await readHead(reader))!.version === version;
      } catch (error) {
        if (isStoreError(error, 'store_behind')) return false;
        throw error;
      }
    });
    await cluster.rejoin(server);
  });

  test('a server that falls far behind another is left', { timeout: 120_000 }, async () => {
    const { reader, server } = await reading('standby');
    await readHead(reader);
    await server.query('select pg_wal_replay_pause()');
    const version = await grow();
    await until('the process knows that it is behind', async () => {
      await readHead(reader);
      return reader.server!.behindVersions === 1n && reader.server!.behindMs > 0;
    });
    await until('it reads from the other', async () => {
      return (await readHead(reader))!.version === version;
    });
    expect(reader.server).toMatchObject({ behindVersions: 0n, behindMs: 0, moves: 1 });
    await server.query('select pg_wal_replay_resume()');
  });

  test('the primary is read while all standbys are far behind', { timeout: 120_000 }, async () => {
    const { reader } = await reading('prefer-standby');
    await readHead(reader);
    for (const standby of cluster.standbys) await standby.query('select pg_wal_replay_pause()');
    const version = await grow();
    const untilRead = (newest: bigint) =>
      until('it is read', async () => (await readHead(reader))!.version === newest);
    await untilRead(version);
    expect(reader.server).toMatchObject({ unconfirmedMs: 0, moves: 1 });
    for (const standby of cluster.standbys) await standby.query('select pg_wal_replay_resume()');
    await until('a standby is read', () => reader.server!.moves === 2);
    await untilRead(await grow());
  });

  /** Kills the primary and promotes a standby. @param restMs between two attempts to commit meanwhile */
  async function failOverUnderCommits(restMs: number): Promise<PostgresServer> {
    const former = cluster.primary;
    const before = await grow();
    await former.stop('SIGKILL');
    const promoted = cluster.failOver();
    await until('a commit is acknowledged', async () => {
      try {
        await writer.refresh();
        await grow();
        return true;
      } catch (error) {
        if (!isStoreError(error, 'store_unreachable')) throw error;
        await sleep(restMs);
        return false;
      }
    });
    await promoted;
    expect(writer.head!.version).toBeGreaterThan(before);
    return former;
  }

  test('the primary is killed under commits: the writer goes on with the next', async () => {
    const { reader } = await reading('prefer-standby');
    const former = await failOverUnderCommits(0);
    await until(
      'it is read',
      async () => (await readHead(reader))!.version === writer.head!.version,
    );
    await cluster.rejoin(former);
  });

  test('so it does while another writer stands by, which takes over when the first ends', async () => {
    let waits = 0;
    const standby = { onWait: () => (waits += 1) };
    const waiting = openPostgresStore(locationOf('read-write'), { standby });
    await until('it stands by', () => waits > 0);
    for (const restMs of [0, 2_000, 5_000]) {
      await cluster.rejoin(await failOverUnderCommits(restMs));
      await grow();
    }
    await closeWriter();
    const store = await waiting;
    closeWriter = () => store.close();
    writer = await LedgerWriter.open(store);
    await grow();
  });
});
