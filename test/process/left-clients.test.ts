/** Clients that request many pages and disconnect: nothing is rendered for them afterwards. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openStoreReader } from '../../src/node/open-store.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';

const data = join(temporaryFolder(), 'sample');
/** This page includes genesis, so rendering it takes many turns. */
const PAGE = '/v1/transactions?start=0&limit=100';
const REQUEST = `GET ${PAGE} HTTP/1.1\r\nHost: x\r\n\r\n`;
const MB = 1024 * 1024;

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

async function asking(port: number, connections: number, pages: number): Promise<Socket[]> {
  const sockets = Array.from({ length: connections }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(REQUEST.repeat(pages));
  return sockets;
}

it('a connection that has closed gets no further page', async () => {
  const connections = 10;
  const pages = 20;
  const store = await openStoreReader(data);
  const ledger = openLedger(store);
  let begun = 0;
  const counted = {
    view: () => {
      begun += 1;
      return ledger.view();
    },
  };
  const log = new LogLines();
  const app = new TestApi(buildApi(counted, apiSettings({ maxBacklogMs: 0 }), log));
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  let asked = 0;
  const open = new Set<Socket>();
  app.server.on('request', () => {
    asked += 1;
  });
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const sockets = await asking(await app.port(), connections, pages);
  while (asked < connections * pages) await delay(1);
  // A connection renders one page at a time, and none while its client does not read.
  expect(begun).toBeLessThanOrEqual(2 * connections);
  for (const socket of sockets) socket.resetAndDestroy();
  while (open.size > 0) await delay(1);
  const begunBefore = begun;
  // Its turns come after those of pages that have begun earlier.
  const last = await app.request(PAGE);
  expect(last.statusCode).toBe(200);
  expect(begun).toBe(begunBefore + 1);
  expect(log).toEqual(new LogLines());
});

it.runIf(process.platform === 'linux')('the memory of a node is bounded', async () => {
  const node = await ServedNode.start(data, ['--workers', '1']);
  for (let round = 0; round < 40; round += 1) {
    const sockets = await asking(node.port, 20, 20);
    await delay(100);
    for (const socket of sockets) socket.resetAndDestroy();
  }
  expect((await fetch(new URL(PAGE, node.ready.url))).status).toBe(200);
  expect(node.peakBytes()).toBeLessThan(600 * MB);
  expect(node.complaints).toEqual([]);
  expect(await node.stop()).toMatchObject({ code: 0, signal: null });
});
