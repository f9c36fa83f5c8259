/**
 * The setup of docs/scale-out.md: a primary and two standbys with the settings and roles of docs/deploy, one writer,
 * and three read-only processes behind nginx. Clients get the same responses as from the writer's upstream.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { outsideNames } from '../../../src/node/settings/setting-sources.ts';
import { NODE_SETTINGS } from '../../../src/node/settings/settings.ts';
import {
  findPostgres,
  freePort,
  makeServerFolder,
  NO_POSTGRES,
  runProgram,
} from '../../postgres/cluster.ts';
import { ReplicatedPostgres } from '../../postgres/replicated.ts';
import { ROOT } from '../../repo/source-tree.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from '../command.ts';
import { until } from '../worker-processes.ts';
import { hasProgram, unprivileged } from './installed.ts';
import { makeCertificate, Nginx, send } from './nginx.ts';

const isInstalled = NO_POSTGRES === '' && hasProgram('nginx', '-v');
const skipped = isInstalled ? '' : ' (skipped: there is no PostgreSQL or no nginx)';

const DEPLOY = join(ROOT, 'docs/deploy');
const COMPOSE = readFileSync(join(DEPLOY, 'compose-postgres.yaml'), 'utf8');
const PUBLISHER = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
const COIN = '0x1::aptos_coin::AptosCoin';
const READS = [
  `/v1/accounts/${PUBLISHER}/balance/${COIN}`,
  `/v1/accounts/${PUBLISHER}/balance/${COIN}?ledger_version=1000`,
  `/v1/accounts/${PUBLISHER}/events/2?start=0&limit=100`,
  `/v1/accounts/${PUBLISHER}/module/ticker`,
  `/v1/accounts/${PUBLISHER}/resources`,
  '/v1/transactions?start=900&limit=100',
  '/v1/blocks/by_height/30?with_transactions=true',
];

describe.skipIf(!isInstalled)(`PostgreSQL with standbys${skipped}`, () => {
  const folder = temporaryFolder();
  const access = join(folder, 'pg_hba.conf');
  const certificate = join(folder, 'fullchain.pem');
  const environment = { PGPASSFILE: join(folder, 'passwords') };
  let servers: ReplicatedPostgres;
  let chain: ServedNode;
  let writer: ServedNode;
  const readers: ServedNode[] = [];
  let nginx: Nginx;

  const location = (role: string, { port }: { readonly port: number }) =>
    `postgres://daybook_${role}@127.0.0.1:${port}/daybook?sslmode=verify-full&sslrootcert=${certificate}`;

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    // The first rule is for these tests.
    const rules = readFileSync(join(DEPLOY, 'pg_hba.conf'), 'utf8');
    writeFileSync(access, `host all,replication daybook 127.0.0.1/32 trust\n${rules}`);
    writeFileSync(
      environment.PGPASSFILE,
      '*:*:*:daybook_writer:writer-secret\n*:*:*:daybook_reader:reader-secret\n',
      { mode: 0o600 },
    );
    makeCertificate(folder);
    const tls = [
      'ssl=on',
      `ssl_cert_file=${certificate}`,
      `ssl_key_file=${join(folder, 'key.pem')}`,
    ];
    const settings = [`hba_file=${access}`, ...tls];
    servers = await ReplicatedPostgres.create(join(folder, 'servers'), { settings });
    const roles = join(folder, 'postgres-roles.sql');
    copyFileSync(join(DEPLOY, 'postgres-roles.sql'), roles);
    const administrator = ['-h', '127.0.0.1', '-p', String(servers.primary.port), '-U', 'daybook'];
    const script = ['-v', 'ON_ERROR_STOP=1', '--file', roles, 'postgres'];
    await runProgram('psql', [...administrator, ...script], folder);
    chain = await ServedNode.start(join(folder, 'chain'), ['--sample']);
    const options = { environment };
    const follow = ['--follow', chain.ready.url];
    writer = await ServedNode.start(location('writer', servers.primary), follow, options);
    for (const server of [servers.primary, ...servers.standbys]) {
      readers.push(await ServedNode.start(location('reader', server), [], options));
    }
    const addresses = readers.map(({ port }) => `127.0.0.1:${port}`);
    nginx = await Nginx.start(join(folder, 'nginx'), addresses);
  }, 180_000);
  afterAll(async () => {
    await nginx.stop();
    for (const node of [...readers, chain]) expect((await node.stop()).code).toBe(0);
    killLeftNodes();
    await servers.stop();
  });

  it('all readers come to the newest version of the upstream', async () => {
    for (const reader of readers) {
      await until('it is there', async () => {
        const { headers } = await reader.get('');
        return headers.get('x-node-ledger-version') === chain.ready.ledger_version;
      });
    }
  });

  it.each(['application/json', 'application/x-bcs'])('clients get the same: %s', async (accept) => {
    const own = new URL(chain.ready.url).origin;
    for (const from of Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 1}`)) {
      for (const path of READS) {
        const headers = { accept };
        const expected = await send(own, path, { headers });
        const through = await nginx.get(path, { headers, from });
        expect(expected.status).toBe(200);
        expect(through.headers).toEqual(expected.headers);
        expect(through.body.equals(expected.body)).toBe(true);
      }
    }
  });

  it('a standby starts as in compose-postgres.yaml', async () => {
    interface Standby {
      readonly command: readonly [string];
      readonly environment: Readonly<Record<string, string>>;
      readonly stop_signal: 'SIGINT';
    }
    const { 'x-standby': standby } = parse(COMPOSE, { merge: true }) as { 'x-standby': Standby };
    const data = join(folder, 'standby');
    makeServerFolder(data);
    const configuration = join(folder, 'postgresql.conf');
    copyFileSync(join(DEPLOY, 'postgresql.conf'), configuration);
    const port = await freePort();
    const command = standby.command[0]
      .replaceAll('$$', '$')
      .replace('host=postgres1', `host=127.0.0.1 port=${servers.primary.port}`)
      .replace('/etc/postgresql/daybook.conf', configuration)
      .replace('/etc/postgresql/pg_hba.conf', access)
      .replace('listen_addresses=*', `listen_addresses=127.0.0.1 -c port=${port}`);
    const path = `${findPostgres()}:${process.env['PATH']}`;
    const env = { ...standby.environment, PGDATA: data, PATH: path };
    const options = [`unix_socket_directories=''`, 'fsync=off'].map((option) => ` -c ${option}`);
    const [first, ...rest] = unprivileged(['bash', '-c', command.trim() + options.join('')]);
    const server = spawn(first, rest, { env, cwd: folder, stdio: 'ignore' });
    const ended = once(server, 'exit');
    const receiving = "select 1 from pg_stat_replication where application_name = 'walreceiver'";
    await until('it receives', async () => {
      expect(server.exitCode).toBeNull();
      return (await servers.primary.query(receiving)).length === 1;
    });
    server.kill(standby.stop_signal);
    expect(await ended).toEqual([0, null]);
  });

  it('compose-postgres.yaml names files and flags that there are', () => {
    interface Compose {
      readonly services: Readonly<Record<string, Readonly<Record<string, string[]>>>>;
    }
    const { services } = parse(COMPOSE, { merge: true }) as Compose;
    const known = Object.keys(NODE_SETTINGS).map((name) => outsideNames(name).flag);
    for (const { volumes = [], command = [] } of Object.values(services)) {
      const files = volumes
        .map((volume) => volume.split(':')[0]!)
        .filter((path) => /\./.test(path));
      for (const path of files)
        expect(path === './tls' || existsSync(join(DEPLOY, path))).toBe(true);
      const flags = command[0] === 'serve' ? command.filter((part) => part.startsWith('--')) : [];
      expect(known).toEqual(expect.arrayContaining(flags));
    }
    expect(Object.keys(services)).toHaveLength(8);
  });

  it('passwords are not shown', () => {
    const printed = JSON.stringify([writer, ...readers].map(({ log, stdout }) => [log, stdout]));
    expect(printed).not.toContain('secret');
  });

  it('connections are encrypted, and only to servers whose certificate is trusted', async () => {
    const query =
      'select distinct s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) ' +
      "where a.usename in ('daybook_reader', 'daybook_writer')";
    for (const server of [servers.primary, ...servers.standbys]) {
      expect(await server.query(query)).toEqual([['true']]);
    }
    const untrusted = location('reader', servers.primary).replace(/&sslrootcert=.*/, '');
    const result = await runCommand(['status', '--data', untrusted], { environment });
    expect(expectFailure(result, 1)).toContain('certificate');
  });

  it('nobody writes meanwhile; afterwards not with the role of readers, and not to a standby', async () => {
    const prune = async (role: string, server: { readonly port: number }) => {
      const args = ['prune', '--data', location(role, server), '--keep', '100'];
      return expectFailure(await runCommand(args, { environment }), 1);
    };
    expect(await prune('writer', servers.primary)).toContain('is being written by session');
    expect((await writer.stop()).code).toBe(0);
    expect(await prune('reader', servers.primary)).toContain('permission denied');
    expect(await prune('writer', servers.standbys[0]!)).toContain('name the primary server');
  });

  it('readers of a server that is gone are 503 until it is back; the others answer', async () => {
    const statuses = () => Promise.all(readers.map(async (node) => (await node.get('')).status));
    for (const [nth, server] of [servers.primary, ...servers.standbys].entries()) {
      const expected = readers.map((_, index) => (index === nth ? 503 : 200));
      await server.stop('SIGKILL');
      await until('it is gone', async () => (await statuses())[nth] === 503);
      expect(await statuses()).toEqual(expected);
      await server.start();
      await until('it is back', async () => (await statuses())[nth] === 200);
    }
  });
});
