/** `--metrics-listen`: a node's counters, over one process and over several, and the gauges of its ledger. */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { ask, childrenOf, connectionsToAll, until } from './worker-processes.ts';

const folder = temporaryFolder();
const data = join(folder, 'sample');
const ANY_PORT = ['--metrics-listen', '127.0.0.1:0'];
const BALANCE = `/accounts/${CAFE_HEX}/balance/0x1::aptos_coin::AptosCoin`;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

/** The URL of the metrics, from the log. */
function metricsUrl(node: ServedNode): string {
  return String(node.log.find(({ msg }) => msg === 'metrics')?.['url']);
}

/** Values by the beginning of their line: name and labels as written. */
async function metricsOf(node: ServedNode): Promise<Map<string, number>> {
  const response = await fetch(metricsUrl(node));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const values = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    if (line === '' || line.startsWith('# ')) continue;
    const [, series, value] = /^([a-z\d_]+(?:\{[^}]*\})?) (\S+)$/.exec(line)!;
    expect(values.has(series!)).toBe(false);
    values.set(series!, Number(value));
  }
  return values;
}

function requests(operation: string, method: string, status: number): string {
  return `daybook_requests_total{operation="${operation}",method="${method}",status="${status}"}`;
}

describe('metrics of one process', () => {
  it('count every request by operation, method and status', async () => {
    const node = await ServedNode.start(data, ANY_PORT);
    const { url } = node.ready;
    for (let count = 0; count < 3; count += 1) expect((await node.get(BALANCE)).status).toBe(200);
    expect((await node.get('/accounts/0x1/module/none')).status).toBe(404);
    expect((await node.get('/accounts/zz/module/coin')).status).toBe(400);
    await fetch(`${url}/accounts/0x1/module/coin`, { method: 'HEAD' });
    await fetch(`${url}/transactions/encode_submission`, { method: 'POST', body: '{}' });
    await fetch(url, { method: 'OPTIONS', headers: { origin: 'http://a' } });
    await fetch(url, { method: 'PROPFIND' });
    await node.get('/none');
    const metrics = await metricsOf(node);
    const counted = [...metrics].filter(([series]) => series.startsWith('daybook_requests_total'));
    expect(new Map(counted)).toEqual(
      new Map([
        [requests('get_account_balance', 'GET', 200), 3],
        [requests('get_account_module', 'GET', 404), 1],
        [requests('get_account_module', 'GET', 400), 1],
        [requests('get_account_module', 'HEAD', 200), 1],
        [requests('encode_submission', 'POST', 415), 1],
        [requests('none', 'OPTIONS', 403), 1],
        [requests('none', 'other', 405), 1],
        [requests('none', 'GET', 404), 1],
      ]),
    );
    const ofBalance = (part: string) =>
      metrics.get(`daybook_request_duration_seconds_${part}`) ?? Number.NaN;
    expect(ofBalance('count{operation="get_account_balance"}')).toBe(3);
    expect(ofBalance('bucket{le="+Inf",operation="get_account_balance"}')).toBe(3);
    expect(ofBalance('sum{operation="get_account_balance"}')).toBeGreaterThan(0);
    expect((await node.stop()).code).toBe(0);
  });

  it('tell of the ledger, the store, the caches and the process', async () => {
    const node = await ServedNode.start(data, ANY_PORT);
    await node.get('/accounts/0x1/module/coin');
    const state = (await (await node.get('')).json()) as Record<string, string>;
    const status = await runCommand(['status', '--data', data, '--json']);
    const { columns } = JSON.parse(status.stdout) as {
      columns: Record<string, { rows: number; bytes: number }>;
    };
    const askedSecs = Date.now() / 1_000;
    const metrics = await metricsOf(node);
    const answeredSecs = Date.now() / 1_000;
    expect(metrics.get('daybook_ledger_version')).toBe(Number(state['ledger_version']));
    expect(metrics.get('daybook_ledger_oldest_version')).toBe(0);
    expect(metrics.get('daybook_block_height')).toBe(Number(state['block_height']));
    const seconds = Number(state['ledger_timestamp']) / 1e6;
    expect(metrics.get('daybook_ledger_timestamp_seconds')).toBeCloseTo(seconds, 3);
    const ageSecs = metrics.get('daybook_ledger_age_seconds');
    expect(ageSecs).toBeGreaterThanOrEqual(askedSecs - seconds);
    expect(ageSecs).toBeLessThanOrEqual(answeredSecs - seconds);
    for (const [column, { rows, bytes }] of Object.entries(columns)) {
      expect(metrics.get(`daybook_store_column_rows{column="${column}"}`)).toBe(rows);
      expect(metrics.get(`daybook_store_column_bytes{column="${column}"}`)).toBe(bytes);
    }
    const own = (name: string, more = '') => metrics.get(`${name}{process="primary"${more}}`);
    expect(own('daybook_cache_entries', ',cache="modules"')).toBe(1);
    expect(own('daybook_cache_bytes', ',cache="modules"')).toBeGreaterThan(1_000);
    expect(own('process_resident_memory_bytes')).toBeGreaterThan(2 ** 24);
    if (process.platform === 'linux') {
      const memory = own('daybook_own_memory_bytes')!;
      expect(memory).toBeGreaterThan(2 ** 23);
      expect(memory).toBeLessThan(own('process_resident_memory_bytes')!);
    }
    expect(own('nodejs_heap_size_used_bytes')).toBeGreaterThan(2 ** 20);
    expect(own('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(own('process_start_time_seconds')).toBeGreaterThan(askedSecs - 3_600);
    expect(own('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect((await node.stop()).code).toBe(0);
  });

  it('are not there unless asked for, and nowhere else', async () => {
    const quiet = await ServedNode.start(data);
    expect(quiet.log.some(({ msg }) => msg === 'metrics')).toBe(false);
    expect((await fetch(new URL('/metrics', quiet.ready.url))).status).toBe(404);
    await quiet.stop();
    const node = await ServedNode.start(data, ANY_PORT);
    const other = await fetch(metricsUrl(node).replace('/metrics', '/v1'));
    expect([other.status, await other.text()]).toEqual([404, 'see /metrics\n']);
    expect((await fetch(metricsUrl(node), { method: 'POST' })).status).toBe(404);
    expect((await fetch(metricsUrl(node), { method: 'HEAD' })).status).toBe(200);
    await node.stop();
  });

  it('need an address that can be listened on', async () => {
    const none = await runCommand([
      ...['serve', '--data', data, '--metrics-listen', '9464'],
      ...['--listen', '127.0.0.1:0'],
    ]);
    expect(expectFailure(none, 2)).toMatch(/^metrics_listen: "9464" is not a HOST:PORT/);
    const node = await ServedNode.start(data);
    const taken = `127.0.0.1:${node.port}`;
    const busy = await runCommand([
      ...['serve', '--data', data, '--metrics-listen', taken],
      ...['--log-level', 'silent', '--listen', '127.0.0.1:0'],
    ]);
    expect(expectFailure(busy, 1)).toMatch(/^cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
    await node.stop();
  });
});

describe.runIf(process.platform === 'linux')('metrics of several processes', () => {
  it('are added up, and never fall when a worker is killed', async () => {
    const node = await ServedNode.start(data, [...ANY_PORT, '--workers', '2']);
    const agents = await connectionsToAll(node);
    const url = node.ready.url + BALANCE;
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(agents.map((agent) => ask(url, agent)));
    }
    const before = await metricsOf(node);
    const series = requests('get_account_balance', 'GET', 200);
    expect(before.get(series)).toBe(3 * agents.length);
    expect(before.get('daybook_workers')).toBe(2);
    for (const name of ['primary', '1', '2']) {
      expect(before.get(`process_resident_memory_bytes{process="${name}"}`)).toBeGreaterThan(0);
    }
    process.kill(childrenOf(node.process.pid!)[0]!, 'SIGKILL');
    const restarts = 'daybook_worker_restarts_total';
    await until('its end', async () => (await metricsOf(node)).get(restarts) === 1);
    expect((await metricsOf(node)).get(series)).toBe(3 * agents.length);
    await until('the new one', async () => (await metricsOf(node)).get('daybook_workers') === 2);
    expect((await ask(url, new Agent())).status).toBe(200);
    const after = await metricsOf(node);
    expect(after.get(restarts)).toBe(1);
    expect(after.get(series)).toBe(3 * agents.length + 1);
    for (const [name, value] of before) {
      // The standard names of two gauges end in `_total`.
      const isGauge = /^nodejs_active_(?:handles|requests|resources)_total\{/.test(name);
      const lasts = !isGauge && /_(?:total|count|sum|bucket)(?:\{|$)/.test(name);
      if (lasts) expect(after.get(name), name).toBeGreaterThanOrEqual(value);
    }
    expect((await node.stop()).code).toBe(0);
  });

  it('come without those of a worker that hangs', async () => {
    const node = await ServedNode.start(data, [...ANY_PORT, '--workers', '2']);
    await metricsOf(node);
    const [first] = childrenOf(node.process.pid!);
    process.kill(first!, 'SIGSTOP');
    const [one, other] = await Promise.all([metricsOf(node), metricsOf(node)]);
    expect(one.get('daybook_workers')).toBe(2);
    expect([...other.keys()]).toEqual([...one.keys()]);
    process.kill(first!, 'SIGCONT');
    expect((await node.stop()).code).toBe(0);
  });

  it('show how following another node goes', async () => {
    const upstream = await ServedNode.start(data);
    const flags = [...ANY_PORT, '--workers', '2', '--follow', upstream.ready.url];
    const node = await ServedNode.start(join(folder, 'follower'), flags);
    const newest = Number(upstream.ready.ledger_version);
    await until('all of it', async () => {
      return (await metricsOf(node)).get('daybook_ledger_version') === newest;
    });
    const metrics = await metricsOf(node);
    expect(metrics.get('daybook_follower_upstream_version')).toBe(newest);
    expect(metrics.get('daybook_follower_transactions_total')).toBe(newest + 1);
    expect(metrics.get('daybook_follower_faults_total')).toBe(0);
    expect(metrics.get('daybook_follower_running')).toBe(1);
    expect((await upstream.stop()).code).toBe(0);
    await until('faults', async () => {
      return (await metricsOf(node)).get('daybook_follower_faults_total')! > 0;
    });
    expect((await metricsOf(node)).get('daybook_follower_running')).toBe(1);
    expect((await node.stop()).code).toBe(0);
    const other = join(folder, 'other-history');
    await runCommand(['sample', '--data', other, '--transactions', '100', '--seed', '99']);
    const contradicting = await ServedNode.start(other);
    const again = [...ANY_PORT, '--workers', '2', '--follow', contradicting.ready.url];
    const stopped = await ServedNode.start(join(folder, 'follower'), again);
    await until('it stops following', async () => {
      return (await metricsOf(stopped)).get('daybook_follower_running') === 0;
    });
    expect((await stopped.get('/')).status).toBe(200);
    expect((await stopped.stop()).code).toBe(0);
    expect((await contradicting.stop()).code).toBe(0);
  });

  it('show what the primary writes', async () => {
    const written = join(folder, 'written');
    await makeSample(written, 300);
    const flags = [...ANY_PORT, '--workers', '2', '--produce', '200', '--keep-versions', '50'];
    const node = await ServedNode.start(written, flags);
    const version = async () => (await metricsOf(node)).get('daybook_ledger_version')!;
    const first = await version();
    await until('new versions', async () => (await version()) > first);
    await until(
      'pruning',
      async () => (await metricsOf(node)).get('daybook_ledger_oldest_version')! > 0,
    );
    expect((await node.stop()).code).toBe(0);
  });
});
