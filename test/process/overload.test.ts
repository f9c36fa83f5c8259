/** A node with more work than it can do: refusals are sent at once, and cheap requests continue. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const data = join(temporaryFolder(), 'sample');
const BALANCE = `/accounts/${CAFE_HEX}/balance/0x1::aptos_coin::AptosCoin`;
const LISTING =
  'GET /v1/accounts/0x1/modules HTTP/1.1\r\nHost: x\r\nAccept: application/x-bcs\r\n\r\n';
const CONNECTIONS = 40;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

interface Flood {
  readonly statuses: Map<number, number>;
  end(): Promise<void>;
}

/** Requests a listing over many connections, and again after each response. */
async function flood(node: ServedNode): Promise<Flood> {
  const statuses = new Map<number, number>();
  let isOver = false;
  const clients = Array.from({ length: CONNECTIONS }, async () => {
    const socket = connect(node.port, '127.0.0.1');
    await once(socket, 'connect');
    while (!isOver) {
      socket.write(LISTING);
      const status = await answerOf(socket);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    socket.destroy();
  });
  return {
    statuses,
    end: async () => {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

/** Reads one response to its end. @returns its status */
async function answerOf(socket: ReturnType<typeof connect>): Promise<number> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    bytes = Buffer.concat([bytes, chunk]);
    const headEnd = bytes.indexOf('\r\n\r\n');
    if (headEnd === -1) continue;
    const head = bytes.subarray(0, headEnd).toString('latin1');
    const length = Number(/content-length: (\d+)/.exec(head)![1]);
    if (bytes.length >= headEnd + 4 + length) return Number(head.slice(9, 12));
  }
}

/** The status of a GET from another client than the flood's. */
function statusForOther(node: ServedNode, path: string): Promise<number> {
  const options = { port: node.port, host: '127.0.0.1', localAddress: '127.0.0.2' };
  return new Promise((resolve, reject) => {
    request({ ...options, path: `/v1${path}`, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
  });
}

describe.runIf(process.platform === 'linux')('too many listings', () => {
  it('are refused, while other clients and health checks are answered', async () => {
    const flags = ['--max-backlog-ms', '1', '--metrics-listen', '127.0.0.1:0'];
    const node = await ServedNode.start(data, flags);
    const { statuses, end } = await flood(node);
    const startedMs = performance.now();
    let probes = 0;
    while (performance.now() - startedMs < 2_500) {
      expect(await statusForOther(node, BALANCE)).toBe(200);
      expect((await node.get('/-/healthy')).status).toBe(200);
      probes += 1;
      await delay(20);
    }
    await end();
    expect(probes).toBeGreaterThan(0);
    expect([...statuses.keys()].toSorted()).toEqual([200, 503]);
    const metricsUrl = String(node.log.find(({ msg }) => msg === 'metrics')?.['url']);
    const metrics = await (await fetch(metricsUrl)).text();
    const refused = (work: string) =>
      Number(
        new RegExp(`^daybook_refused_requests_total\\{work="${work}"\\} (\\d+)$`, 'm').exec(
          metrics,
        )?.[1],
      );
    expect(refused('listing')).toBe(statuses.get(503));
    expect(refused('read')).toBe(0);
    expect((await node.stop()).code).toBe(0);
    const told = node.log.filter(({ msg }) => msg === 'overloaded: requests were refused');
    const counts = told.map((line) => (line['refused'] as Record<string, number>)['listing']!);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(statuses.get(503));
    expect(told.length).toBeLessThan(5);
  });

  it('are all answered when there is no bound', async () => {
    const node = await ServedNode.start(data, ['--max-backlog-ms', '0']);
    const { statuses, end } = await flood(node);
    await delay(1_500);
    await end();
    expect([...statuses.keys()]).toEqual([200]);
    expect((await node.stop()).code).toBe(0);
  });
});
