/** Nodes that write to PostgreSQL, and failures of their servers: the nodes wait, report it, and resume. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { openPostgresReader } from '../../src/store/postgres/postgres-store.ts';
import { giveToServers, NO_POSTGRES, PostgresServer } from '../postgres/cluster.ts';
import { killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';
import { digestsOf, digestsOfStore, makeBulkLedger } from './ledger-contents.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './worker-processes.ts';

const SMALL = ['--transactions', '300', '--accounts', '60'];

async function versionOf(node: ServedNode): Promise<bigint> {
  const { headers } = await node.get('/');
  return BigInt(headers.get('x-node-ledger-version') ?? -1);
}

/** The log line with a message, once it has been written. */
async function lineOf(node: ServedNode, msg: string) {
  const found = () => node.log.findLast((line) => line['msg'] === msg);
  await until(`${msg}: ${JSON.stringify(node.log)}`, () => found() !== undefined);
  return found()!;
}

async function untilBeyond(node: ServedNode, version: bigint): Promise<void> {
  await until(`beyond ${version}`, async () => (await versionOf(node)) > version);
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a node that writes into PostgreSQL`, () => {
  let folder: string;
  let server: PostgresServer;
  beforeAll(async () => {
    folder = temporaryFolder();
    chmodSync(folder, 0o711);
    server = await PostgresServer.create(join(folder, 'server'), ['fsync=off']);
  });
  afterEach(killLeftNodes);
  afterAll(() => server.stop());

  it('produces, waits for a server that ends, and goes on when it is back', async () => {
    const data = server.url('?schema=produced');
    expect((await runCommand(['sample', '--data', data, ...SMALL])).code).toBe(0);
    const node = await ServedNode.start(data, ['--produce', '40']);
    await untilBeyond(node, BigInt(node.ready.ledger_version));
    await server.stop('SIGQUIT');
    const waits = await lineOf(node, 'producing waits: the store cannot be reached');
    expect(waits).toMatchObject({ level: 50, err: { code: 'store_unreachable' } });
    await server.start();
    await lineOf(node, 'producing continues: the store is reached again');
    await untilBeyond(node, await versionOf(node));
    await server.query('update produced.writer set term = term + 1');
    const ended = await node.end();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/daybook: another process has taken over writing/);
    expect((await runCommand(['verify', '--data', data])).code).toBe(0);
  });

  it('says that no standby confirms its commits', async () => {
    const data = server.url('?schema=alone');
    expect((await runCommand(['sample', '--data', data, ...SMALL])).code).toBe(0);
    const node = await ServedNode.start(data, [
      ...['--produce', '40', '--metrics-listen', '127.0.0.1:0'],
    ]);
    const { url } = await lineOf(node, 'metrics');
    const waitSecs = async () => {
      const text = await (await fetch(String(url))).text();
      return Number(/^daybook_store_standby_wait_seconds (\S+)$/m.exec(text)![1]);
    };
    expect(await waitSecs()).toBe(0);
    await server.query("alter system set synchronous_standby_names = 'ANY 1 (*)'");
    await server.query('select pg_reload_conf()');
    const waits = await lineOf(node, 'commits wait: no standby server confirms them');
    expect(waits).toMatchObject({ level: 40, remedy: expect.stringContaining('start a standby') });
    expect(await waitSecs()).toBeGreaterThan(0);
    await server.query('alter system reset synchronous_standby_names');
    await server.query('select pg_reload_conf()');
    await lineOf(node, 'commits go on: a standby server confirms them');
    await untilBeyond(node, await versionOf(node));
    expect((await node.stop()).code).toBe(0);
  });

  it.skipIf(!canMount)('waits while the disk of its server is full (needs a mount)', async () => {
    const source = join(folder, 'source');
    await makeBulkLedger(source, 5_000);
    const upstream = await ServedNode.start(source);
    const newest = BigInt(upstream.ready.ledger_version);
    const disk = new SmallDisk(join(folder, 'disk'), '16m');
    try {
      chmodSync(disk.folder, 0o711);
      const tables = join(disk.folder, 'tables');
      mkdirSync(tables);
      giveToServers(tables);
      await server.query(`create tablespace small location '${tables}'`);
      await server.query('create database ledger tablespace small');
      const data = server.url().replace(/postgres$/, 'ledger');
      const node = await ServedNode.start(data, ['--follow', upstream.ready.url]);
      const full = await lineOf(node, 'following continues after a fault');
      expect(full).toMatchObject({ level: 40, err: { code: 'store_full' } });
      const stuck = await versionOf(node);
      expect((await node.get('/accounts/0x1/module/coin')).status).toBe(200);
      expect(stuck).toBeLessThan(newest);
      disk.resize('400m');
      await untilBeyond(node, newest - 1n);
      expect((await node.stop()).code).toBe(0);
      const reader = await openPostgresReader(parsePostgresUrl(data));
      expect(await digestsOfStore(reader)).toEqual(await digestsOf(source));
      await server.stop();
    } finally {
      await upstream.stop();
      disk.unmount();
    }
  });
});
