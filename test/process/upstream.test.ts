/** `--upstream`: the setting, and the logs, counters and shutdown of a node with an upstream. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_CHAIN_ID } from '../../src/chain/genesis/default-genesis.ts';
import { startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { ScriptedNode } from '../api/scripted-node.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { until } from './worker-processes.ts';

const data = join(temporaryFolder(), 'sample');
let upstream: ScriptedNode;

beforeAll(async () => {
  await makeSample(data, 300);
  upstream = await ScriptedNode.start(DEFAULT_CHAIN_ID, (response) => {
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"hash":"0x1"}');
  });
});
afterEach(killLeftNodes);
afterAll(() => upstream.stop());

const submit = (url: string): Promise<Response> =>
  fetch(`${url}/transactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/x.aptos.signed_transaction+bcs' },
    body: 'x',
  });

describe('the setting', () => {
  it.each([
    [['--upstream', 'http://me:secret@node.example/v1'], {}],
    [['--upstream', 'node.example?key=secret'], {}],
    [[], { DAYBOOK_UPSTREAM: 'ftp://me:secret@node.example' }],
    [['--follow', 'http://me:secret@node.example'], {}],
  ])('%j %j is refused without its secrets', async (args, environment) => {
    const result = await runCommand(['serve', '--data', data, ...args], { environment });
    const line = expectFailure(result, 2);
    expect(line).toMatch(/^(upstream|follow): ".*node\.example.*" is not the URL of a node: /);
    expect(line).not.toContain('secret');
  });

  it('is none where nothing is followed', async () => {
    const node = await ServedNode.start(data);
    expect((await submit(node.ready.url)).status).toBe(403);
    expect((await node.stop()).code).toBe(0);
  });

  it('may be given to a node inside another program', async () => {
    const node = await startEmbeddedNode({ data, settings: { upstream: upstream.url.origin } });
    const response = await submit(node.url);
    expect([response.status, await response.text()]).toEqual([202, '{"hash":"0x1"}']);
    await node.stop();
  });
});

describe('a node with an upstream', () => {
  it('logs and counts what it passes on, in every worker', async () => {
    const args = ['--upstream', upstream.url.href, '--metrics-listen', '127.0.0.1:0'];
    const node = await ServedNode.start(data, [...args, '--workers', '2']);
    const answering = node.log.find(({ msg }) => msg === 'answering');
    expect(answering).toMatchObject({ upstream: upstream.url.origin });
    for (let count = 0; count < 4; count += 1) {
      const response = await submit(node.ready.url);
      expect(response.status).toBe(202);
      expect(response.headers.get('x-node-upstream')).toBe(upstream.url.origin);
      expect(response.headers.get('x-node-chain-id')).toBe(String(DEFAULT_CHAIN_ID));
    }
    const metrics = await fetch(String(node.log.find(({ msg }) => msg === 'metrics')?.['url']));
    const series = 'daybook_upstream_requests_total';
    const labels = 'operation="submit_transaction",outcome="answered"';
    expect(await metrics.text()).toContain(`${series}{${labels}} 4\n`);
    const lines = () => node.log.filter(({ msg }) => msg === 'the upstream answered');
    await until('all is logged', () => Promise.resolve(lines().length === 4));
    expect(lines()[0]).toMatchObject({
      level: 30,
      operation: 'submit_transaction',
      upstream: upstream.url.origin,
      outcome: 'answered',
      status: 202,
      request_bytes: 1,
      answer_bytes: 14,
    });
    expect((await node.stop()).code).toBe(0);
    expect(node.complaints).toEqual([]);
  });

  it('stops while requests wait for the upstream', async () => {
    const silent = await ScriptedNode.start(DEFAULT_CHAIN_ID, () => undefined);
    const args = ['--upstream', silent.url.href, '--shutdown-timeout-ms', '200'];
    const node = await ServedNode.start(data, args);
    const waiting = submit(node.ready.url).catch(() => 'cut');
    await until('it was passed on', () => Promise.resolve(silent.got.length === 1));
    expect((await node.stop()).code).toBe(0);
    expect(await waiting).toBe('cut');
    expect(node.complaints).toEqual([]);
    await silent.stop();
  });
});
