/** `daybook serve` as a process: when it answers, what it refuses, how it stops. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SMALL_CHAIN_ID, smallGenesisFile } from '../api/genesis-small.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');

beforeAll(async () => {
  const genesis = join(folder, 'small.blob');
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
});
afterEach(killLeftNodes);

/** A connection that has sent only the beginning of a POST. */
async function halfPost(node: ServedNode): Promise<Socket> {
  const socket = connect(node.port, '127.0.0.1');
  const head =
    'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\n' +
    'Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n';
  socket.on('error', () => undefined).write(head);
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString('latin1')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  return socket;
}

/** Everything received until the other side closes. */
async function rest(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}

describe('a node that answers', () => {
  it('says so in one line of JSON with these members in this order', async () => {
    const node = await ServedNode.start(data);
    expect(node.stdout).toBe(
      `{"event":"ready","url":"http://127.0.0.1:${node.port}/v1","pid":${node.process.pid},` +
        `"chain_id":${SMALL_CHAIN_ID},"ledger_version":"0"}\n`,
    );
    expect(node.port).toBeGreaterThan(0);
    const response = await node.get('');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ chain_id: SMALL_CHAIN_ID, ledger_version: '0' });
    const { code, stdout } = await node.stop();
    expect([code, stdout]).toEqual([0, node.stdout]);
  });

  it('logs lines of JSON on stderr, and none when told so', async () => {
    const node = await ServedNode.start(data);
    const quiet = await ServedNode.start(data, ['--log-level', 'silent']);
    expect(node.log).toEqual([
      expect.objectContaining({ msg: 'answering', url: node.ready.url, pid: node.ready.pid }),
    ]);
    await node.get('/nowhere');
    expect((await quiet.stop()).stderr).toBe('');
    await node.stop();
    expect(node.log.at(-1)).toMatchObject({ msg: 'stopping', signal: 'SIGTERM' });
    expect(node.complaints).toEqual([]);
  });

  it.each(['[::1]:0', 'localhost:0', '0.0.0.0:0'])('listens on %s', async (listen) => {
    const node = await ServedNode.start(data, ['--listen', listen]);
    expect((await node.get('/-/healthy')).status).toBe(200);
    expect((await node.stop()).code).toBe(0);
  });

  it('shares its ledger with others', async () => {
    const nodes = await Promise.all([ServedNode.start(data), ServedNode.start(data)]);
    const urls = nodes.map(({ ready }) => ready.url);
    expect(new Set(urls).size).toBe(2);
    const genesis = join(folder, 'small.blob');
    const again = await runCommand(['init', '--data', data, '--genesis', genesis]);
    expect(expectFailure(again, 1)).toContain('holds a ledger already');
    expect((await runCommand(['status', '--data', data])).code).toBe(0);
    await nodes[0]!.stop('SIGKILL');
    expect(
      await (await nodes[1]!.get('/accounts/0xb0b/balance/0x1::aptos_coin::AptosCoin')).text(),
    ).toBe('18446744073709551615');
    expect((await nodes[1]!.stop()).code).toBe(0);
  });

  it('makes a small sample ledger where it is asked for, and says that it is one', async () => {
    const empty = join(folder, 'empty');
    const node = await ServedNode.start(empty, ['--sample']);
    expect(Number(node.ready.ledger_version)).toBeGreaterThan(100);
    expect(node.log[0]).toMatchObject({ msg: 'no ledger: making a sample', data: empty });
    expect((await node.get('/accounts/0x1/module/coin')).status).toBe(200);
    expect(node.ready).toMatchObject({ sample: true });
    for (const document of ['/', '/v1/spec']) {
      const page = await fetch(new URL(document, node.ready.url));
      expect(await page.text()).toContain('This is a sample ledger.');
    }
    expect((await node.stop()).code).toBe(0);
    const genesis = await ServedNode.start(data);
    expect(genesis.ready).not.toHaveProperty('sample');
    const page = await fetch(new URL('/', genesis.ready.url));
    expect(await page.text()).not.toMatch(/sample/);
    await genesis.stop();
  });

  it('makes none in a folder that a flag, a variable or a file names', async () => {
    const absent = join(folder, 'mistyped');
    const config = join(folder, 'mistyped.yaml');
    writeFileSync(config, `data: ${absent}`);
    for (const [args, environment] of [
      [['--data', absent], {}],
      [['--config', config], {}],
      [[], { DAYBOOK_DATA: absent }],
      [['--data', absent, '--produce', '5'], {}],
    ] as const) {
      const listening = ['--listen', '127.0.0.1:0'];
      const result = await runCommand(['serve', ...listening, ...args], { environment });
      expect(expectFailure(result, 1)).toBe(
        `there is no ledger in ${absent}; make one: daybook init --data ${absent} --genesis FILE ` +
          `--waypoint FILE, or of a sample: daybook sample --data ${absent}`,
      );
      expect(existsSync(absent)).toBe(false);
    }
  });

  it('makes one without any setting of data, unless told not to', async () => {
    const workingFolder = join(folder, 'working');
    mkdirSync(workingFolder);
    const listening = ['serve', '--listen', '127.0.0.1:0'];
    const refused = await runCommand([...listening, '--sample', 'false'], { workingFolder });
    expect(expectFailure(refused, 1)).toContain('there is no ledger in ./daybook-data');
    const child = startCommand(listening, { workingFolder });
    const end = endOf(child);
    const [line] = (await once(child.stdout!, 'data')) as [Buffer];
    expect(JSON.parse(String(line))).toMatchObject({ event: 'ready', sample: true });
    child.kill('SIGTERM');
    expect((await end).code).toBe(0);
    expect(existsSync(join(workingFolder, 'daybook-data/ledger.db'))).toBe(true);
  });

  it('reads while another process writes, and never goes back', async () => {
    const written = join(folder, 'written');
    await makeSample(written, 600);
    const writer = await ServedNode.start(written, ['--produce', '500', '--sample']);
    const reader = await ServedNode.start(written);
    const versions: bigint[] = [];
    while (versions.length < 150 || versions.at(-1) === versions[0]) {
      const response = await reader.get('');
      const body = (await response.json()) as { ledger_version: string };
      expect(response.headers.get('x-node-ledger-version')).toBe(body.ledger_version);
      versions.push(BigInt(body.ledger_version));
    }
    expect(versions).toEqual(versions.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    const second = await runCommand(['serve', '--data', written, '--produce', '1']);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`is being written by process ${writer.ready.pid}`);
    await writer.stop('SIGKILL');
    expect((await reader.get('')).status).toBe(200);
    const status = await runCommand(['status', '--data', written, '--json']);
    const { ledger_version } = JSON.parse(status.stdout) as { ledger_version: string };
    expect(BigInt(ledger_version)).toBeGreaterThanOrEqual(versions.at(-1)!);
    expect((await reader.stop()).code).toBe(0);
    expect([...reader.complaints, ...writer.complaints]).toEqual([]);
  });
});

describe('a node that cannot start says why in one line', () => {
  it('a busy port', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const listen = `127.0.0.1:${port}`;
    const reason = `listen EADDRINUSE: address already in use ${listen}`;
    const absent = join(folder, 'not-made');
    for (const args of [
      ['--data', data],
      ['--data', data, '--workers', '2'],
      ['--data', absent, '--sample'],
    ]) {
      const result = await runCommand(['serve', ...args, '--listen', listen]);
      expect(expectFailure(result, 1)).toBe(`cannot listen on ${listen}: ${reason}`);
    }
    expect(existsSync(absent)).toBe(false);
    other.close();
  });

  it.each([
    ['a host that is none', ['--listen', 'host.invalid:0'], 1, /^cannot listen on host\.invalid:0/],
    [
      'a host that is none, workers',
      ['--listen', 'host.invalid:0', '--workers', '2'],
      1,
      /^cannot listen on host\.invalid:0/,
    ],
    ['no port', ['--listen', '127.0.0.1'], 2, /^listen: "127\.0\.0\.1" is not a HOST:PORT/],
    ['a port too high', ['--listen', '127.0.0.1:65536'], 2, /is not a HOST:PORT/],
    ['an unknown flag', ['--port', '80'], 2, /unknown option '--port'/],
    ['a flag without its value', ['--listen'], 2, /argument missing/],
    ['an argument too many', ['ledger'], 2, /too many arguments/],
    ['fewer workers than none', ['--workers', '-1'], 2, /at least 0, at most 256/],
    ['too many workers', ['--workers', '257'], 2, /at least 0, at most 256/],
    ['a limit too low', ['--max-page-size', '0'], 2, /at least 1, at most 10000/],
    ['a limit too high', ['--max-page-size', '10001'], 2, /at least 1, at most 10000/],
    ['no number', ['--max-lag-seconds', '5s'], 2, /"5s" is not a valid max_lag_seconds/],
    [
      'no address',
      ['--trusted-proxies', '10.0.0.0/8, nginx'],
      2,
      /trusted_proxies: neither an address nor a network: "nginx"/,
    ],
    ['no boolean', ['--compression-enabled', 'maybe'], 2, /boolean/],
    ['none of the choices', ['--log-level', 'observer'], 2, /one of fatal, error/],
    ['a bad prefix', ['--header-prefix', 'X Y'], 2, /a valid header_prefix/],
  ] as const)('%s', async (_, flags, code, text) => {
    const result = await runCommand(['serve', '--data', data, ...flags]);
    expect(expectFailure(result, code)).toMatch(text);
  });

  it('a folder that is none of ours, which stays as it is', async () => {
    const foreign = join(folder, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'notes.txt'), 'mine');
    const flags = ['--data', foreign, '--sample', '--log-level', 'silent'];
    const result = await runCommand(['serve', ...flags, '--listen', '127.0.0.1:0']);
    expect(expectFailure(result, 1)).toContain('is not empty (it holds notes.txt)');
    expect(readdirSync(foreign)).toEqual(['notes.txt']);
  });
});

/** Gives requests the maximum time to finish. */
const LONG_SHUTDOWN = ['--shutdown-timeout-ms', '10000'];

describe('a node that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s: finishes what is in flight', async (signal) => {
    const node = await ServedNode.start(data, LONG_SHUTDOWN);
    const idle = connect(node.port, '127.0.0.1');
    idle.write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const socket = await halfPost(node);
    node.process.kill(signal);
    await expect.poll(() => node.log.at(-1)).toMatchObject({ msg: 'stopping', signal });
    const refused = connect(node.port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    const answer = rest(socket);
    socket.write('{}');
    expect(await answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*"parse request payload error/s);
    expect(await node.end()).toMatchObject({ code: 0, signal: null });
  });

  it('waits no longer than it was told to', async () => {
    const node = await ServedNode.start(data, ['--shutdown-timeout-ms', '300']);
    const socket = await halfPost(node);
    const isCut = once(socket, 'close');
    expect(await node.stop()).toMatchObject({ code: 0, signal: null });
    await isCut;
  });

  it('leaves what it cannot cut', async () => {
    const waitMs = ['--min-version-wait-ms', '60000', '--shutdown-timeout-ms', '100'];
    const node = await ServedNode.start(data, waitMs);
    const socket = connect(node.port, '127.0.0.1');
    // After a CONNECT the server no longer manages the connection, and the refusal comes after the response.
    socket
      .on('error', () => undefined)
      .write(
        'GET /v1 HTTP/1.1\r\nHost: x\r\nX-Node-Min-Ledger-Version: 9999999\r\n\r\n' +
          'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      );
    await node.get('/-/healthy');
    const answers = rest(socket);
    expect(await node.stop()).toMatchObject({ code: 0, signal: null });
    expect(await answers).toBe('');
  });

  it('goes at once when told twice', async () => {
    const node = await ServedNode.start(data, LONG_SHUTDOWN);
    const socket = await halfPost(node);
    node.process.kill('SIGTERM');
    await expect.poll(() => node.log.at(-1)).toMatchObject({ msg: 'stopping' });
    expect(await node.stop('SIGINT')).toMatchObject({ code: null, signal: 'SIGINT' });
    socket.destroy();
  });
});
