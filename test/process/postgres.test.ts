/** Every command with a ledger in PostgreSQL instead of a folder; and its password is printed nowhere. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveToServers, NO_POSTGRES, PostgresServer } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { expectFailure, runCommand, ServedNode, temporaryFolder } from './command.ts';

const SMALL = ['--transactions', '120', '--accounts', '20'];

async function done(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a ledger in PostgreSQL`, () => {
  // A dozen commands one after the other take 90 s on an idle machine.
  const timeout = 600_000;
  it('is made, verified, followed, served, pruned and described as one', { timeout }, async () => {
    const [data, copy, folder] = [
      await newPostgresLocation(),
      await newPostgresLocation(),
      join(temporaryFolder(), 'ledger'),
    ];
    await done('sample', '--data', data, ...SMALL);
    await done('sample', '--data', folder, ...SMALL);
    const columns = async (at: string) => (await done('verify', '--data', at))['columns'];
    expect(await columns(data)).toEqual(await columns(folder));
    const again = await runCommand(['sample', '--data', data, ...SMALL]);
    expect(expectFailure(again, 1)).toMatch(/holds a ledger already: give another database/);

    const node = await ServedNode.start(data, [
      '--workers',
      '2',
      '--metrics-listen',
      '127.0.0.1:0',
    ]);
    await done('follow', '--data', copy, '--from', node.ready.url, '--until', '60');
    const following = await ServedNode.start(copy, ['--follow', node.ready.url]);
    await expect
      .poll(async () => (await following.get('/')).headers.get('x-node-ledger-version'), {
        timeout: 60_000,
      })
      .toBe(node.ready.ledger_version);
    for (const { get } of [node, following].map((one) => ({ get: one.get.bind(one) }))) {
      const answer = await get('/accounts/0x1/module/coin');
      expect(answer.status).toBe(200);
    }
    const locked = await runCommand(['prune', '--data', copy, '--keep', '10']);
    expect(expectFailure(locked, 1)).toMatch(/is being written by session \d+ of /);
    const { url } = node.log.find(({ msg }) => msg === 'metrics') as { url: string };
    expect(await (await fetch(url)).text()).toMatch(/^daybook_store_file_bytes [1-9]\d*$/m);
    expect((await following.stop()).code).toBe(0);
    expect((await node.stop()).code).toBe(0);
    expect(await columns(copy)).toEqual(await columns(folder));

    await done('prune', '--data', copy, '--keep', '10');
    expect(Number((await done('status', '--data', copy))['oldest_ledger_version'])).toBeGreaterThan(
      0,
    );
  });

  it('that cannot be reached is an error that says so', async () => {
    const result = await runCommand(['status', '--data', 'postgres://me:secret@127.0.0.1:1/db']);
    expect(expectFailure(result, 1)).toMatch(
      /^connecting to postgres:\/\/127\.0\.0\.1:1\/db failed \(.*ECONNREFUSED.*\)/,
    );
    const malformed = await runCommand(['status', '--data', 'postgres://me:sec/ret@host/db']);
    expect(expectFailure(malformed, 2)).not.toMatch(/sec|ret@/);
  });
});

const SECRET = 'p4ss:w0rd';
const hasOpenssl = existsSync('/usr/bin/openssl');

describe.skipIf(NO_POSTGRES !== '' || !hasOpenssl)(
  `${NO_POSTGRES}a server that wants TLS and a password`,
  () => {
    let server: PostgresServer;
    let certificate: string;
    let folder: string;
    const url = (user: string, more = ''): string =>
      `postgres://${user}@127.0.0.1:${server.port}/postgres?sslmode=verify-full&sslrootcert=${certificate}${more}`;

    beforeAll(async () => {
      folder = temporaryFolder();
      chmodSync(folder, 0o711);
      const data = join(folder, 'data');
      server = await PostgresServer.create(data, ['fsync=off']);
      await server.query(`create role me login superuser password '${SECRET}'`);
      await server.stop('SIGINT');
      certificate = join(folder, 'server.crt');
      const key = join(data, 'server.key');
      execFileSync(
        'openssl',
        [
          ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
          ...['-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=daybook'],
          ...['-addext', 'subjectAltName=IP:127.0.0.1'],
        ],
        { stdio: 'ignore' },
      );
      writeFileSync(join(data, 'server.crt'), readFileSync(certificate));
      chmodSync(key, 0o600);
      giveToServers(key);
      writeFileSync(
        join(data, 'pg_hba.conf'),
        'hostssl all me all scram-sha-256\nhost all daybook all trust\n',
      );
      appendFileSync(join(data, 'postgresql.conf'), 'ssl = on\n');
      await server.start();
    });
    afterAll(() => server.stop());

    it('takes it from the location, the environment or a file, and shows it nowhere', async () => {
      const encoded = encodeURIComponent(SECRET);
      const file = join(folder, 'passwords');
      writeFileSync(file, `127.0.0.1:*:postgres:me:${SECRET.replace(':', '\\:')}\n`, {
        mode: 0o600,
      });
      const outputs: string[] = [];
      const run = async (at: string, environment: Record<string, string> = {}) => {
        const result = await runCommand(['status', '--data', at], { environment });
        outputs.push(result.stdout, result.stderr);
        return result;
      };
      const inUrl = url(`me:${encoded}`);
      const made = await runCommand(['sample', '--data', inUrl, ...SMALL]);
      outputs.push(made.stdout, made.stderr);
      expect(made.code).toBe(0);
      expect(await run(inUrl)).toMatchObject({ code: 0, stderr: '' });
      const inEnvironment = { PGPASSWORD: SECRET };
      expect(await run(url('me'), inEnvironment)).toMatchObject({ code: 0, stderr: '' });
      expect(await run(url('me'), { PGPASSFILE: file })).toMatchObject({ code: 0, stderr: '' });
      const wrong = await run(url(`me:${encoded}x`));
      expect(expectFailure(wrong, 1)).toMatch(/password authentication failed/);
      expect(expectFailure(await run(url('me')), 1)).toMatch(/set PGPASSWORD/);
      const plain = `postgres://me:${encoded}@127.0.0.1:${server.port}/postgres`;
      expect(expectFailure(await run(plain), 1)).toMatch(/no encryption/);
      const stranger = `${plain}?sslmode=verify-full`;
      expect(expectFailure(await run(stranger), 1)).toMatch(/self-signed certificate/);

      const node = await ServedNode.start(inUrl, [
        ...['--workers', '2', '--metrics-listen', '127.0.0.1:0', '--log-level', 'trace'],
      ]);
      const { url: metrics } = node.log.find(({ msg }) => msg === 'metrics') as { url: string };
      outputs.push(await (await fetch(metrics)).text());
      outputs.push(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }));
      expect(outputs.at(-1)).toContain('daybook serve --data postgres://127.0.0.1:');
      const { stdout, stderr } = await node.stop();
      outputs.push(stdout, stderr);
      for (const secret of [SECRET, encoded]) {
        const showing = outputs
          .flatMap((text) => text.split('\n'))
          .filter((line) => line.includes(secret));
        expect(showing).toEqual([]);
      }
    });
  },
);
