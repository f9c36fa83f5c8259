/**
 * `--access-log`: the contents of a line, which requests get one, and what clients can inject (docs/spec/http.md
 * §10.5).
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestOutcome } from '../../src/api/http/observers.ts';
import { MAX_LOGGED_CHARACTERS, sampled } from '../../src/node/serve/metrics/access-log.ts';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const data = join(temporaryFolder(), 'sample');
const BALANCE = `/accounts/${CAFE_HEX}/balance/0x1::aptos_coin::AptosCoin`;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

/** Stops a node and returns the lines of its access log. */
async function linesOf(node: ServedNode): Promise<Record<string, unknown>[]> {
  expect((await node.stop()).code).toBe(0);
  return node.log.filter(({ msg }) => msg === 'request');
}

describe('the access log', () => {
  it('is off by default', async () => {
    const node = await ServedNode.start(data, ['--log-level', 'trace']);
    await node.get(BALANCE);
    expect(await linesOf(node)).toEqual([]);
  });

  it('has for every request where it came from, what it asked and how it ended', async () => {
    const node = await ServedNode.start(data, ['--access-log', 'all', '--log-level', 'warn']);
    const trace = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await node.get(`${BALANCE}?ledger_version=3`, {
      referer: 'http://from/here',
      'user-agent': 'wallet/1',
      'x-node-client': 'aptos-ts-sdk/6.3.1',
      forwarded: 'for=192.0.2.60',
      traceparent: `00-${trace[0]}-${trace[1]}-01`,
    });
    await fetch(`${node.ready.url}/transactions/encode_submission`, {
      method: 'POST',
      body: '{}',
      headers: { traceparent: '00-none-at-all' },
    });
    const [first, second, ...others] = await linesOf(node);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      level: 30,
      remote: '127.0.0.1',
      method: 'GET',
      path: `/v1${BALANCE}`,
      operation: 'get_account_balance',
      status: 200,
      referer: 'http://from/here',
      user_agent: 'wallet/1',
      client: 'aptos-ts-sdk/6.3.1',
      forwarded: 'for=192.0.2.60',
      trace_id: trace[0],
      span_id: trace[1],
    });
    expect(first!['elapsed_ms']).toBeGreaterThan(0);
    expect(second).toMatchObject({ method: 'POST', status: 415, content_length: '2' });
    expect(second!['trace_id']).toMatch(/^[0-9a-f]{32}$/);
    expect(second!['span_id']).toMatch(/^[0-9a-f]{16}$/);
  });

  it('takes no more of a client’s words than so many, on one line', async () => {
    const node = await ServedNode.start(data, ['--access-log', 'all']);
    const socket = connect(node.port, '127.0.0.1');
    for (const length of [MAX_LOGGED_CHARACTERS, MAX_LOGGED_CHARACTERS + 1]) {
      const agent = 'é'.repeat(length - 1);
      const head = `GET /v1 HTTP/1.1\r\nHost: x\r\nUser-Agent: \t"${agent}\r\n\r\n`;
      socket.write(head, 'latin1');
      await once(socket, 'data');
    }
    socket.destroy();
    const lines = await linesOf(node);
    expect(lines.map((line) => String(line['user_agent']).length)).toEqual([
      MAX_LOGGED_CHARACTERS,
      MAX_LOGGED_CHARACTERS,
    ]);
  });

  it('has a line for a client that goes away before its answer', async () => {
    const node = await ServedNode.start(data, ['--access-log', 'all']);
    const socket = connect(node.port, '127.0.0.1');
    socket.write(
      'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n',
    );
    await delay(200);
    socket.destroy();
    await delay(200);
    expect(await linesOf(node)).toHaveLength(1);
  });

  it('sampled has one of each sort in its time', async () => {
    const node = await ServedNode.start(data, ['--access-log', 'sampled', '--log-level', 'debug']);
    for (let count = 0; count < 20; count += 1) {
      expect((await node.get(BALANCE)).status).toBe(200);
      expect((await node.get('/accounts/zz/module/coin')).status).toBe(400);
    }
    const lines = await linesOf(node);
    const good = lines.filter(({ status }) => status === 200);
    expect(good.length).toBeGreaterThanOrEqual(1);
    expect(good.length).toBeLessThan(20);
    expect(new Set(good.map(({ level }) => level))).toEqual(new Set([20]));
    // Sampled to one per minute.
    const bad = lines.filter(({ status }) => status === 400);
    expect(bad.map(({ level }) => level)).toEqual([30]);
  });

  it('sampled waits a second or a minute, by the kind of outcome', () => {
    const statuses: number[] = [];
    vi.useFakeTimers({ toFake: ['performance'], now: 1_000_000 });
    try {
      const observe = sampled(pino({ level: 'debug' }), ({ status }) => statuses.push(status));
      const request = { headers: {}, socket: {}, url: '/' } as RequestOutcome['request'];
      const ask = () => {
        for (const status of [200, 404, 500]) {
          observe({ request, operationId: '', status, elapsedMs: 1 });
        }
        return statuses.splice(0);
      };
      expect(ask()).toEqual([200, 404, 500]);
      expect(ask()).toEqual([]);
      vi.advanceTimersByTime(999);
      expect(ask()).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(ask()).toEqual([200, 500]);
      vi.advanceTimersByTime(58_999);
      expect(ask()).toEqual([200, 500]);
      vi.advanceTimersByTime(1);
      expect(ask()).toEqual([404]);
    } finally {
      vi.useRealTimers();
    }
  });
});
