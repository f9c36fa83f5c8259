/** When refusals are sent: a turn of the event loop ends although clients send new requests at once. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiCaches } from '../../src/api/http/caches.ts';
import { MAX_IMMEDIATE_REFUSALS, Responder } from '../../src/api/http/responder.ts';
import { Admission, overloadError } from '../../src/api/load/admission.ts';
import { BOUNDS, nextTurn } from './loaded-process.ts';
import { apiSettings } from './settings.ts';

const admission = new Admission(BOUNDS);
const responder = new Responder(apiSettings(), admission, new ApiCaches());
const responses: ServerResponse[] = [];
/** Receives requests without responding: a test refuses all of them in one turn. */
const server = createServer((_request, response) => responses.push(response));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Opens connections with several requests each, and waits until the server has received them. */
async function received(connections: number, requestsEach: number): Promise<Socket[]> {
  responses.length = 0;
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requestsEach));
  while (responses.length < connections * requestsEach) await nextTurn();
  return sockets;
}

function refuseAll(): void {
  for (const response of responses) {
    admission.admits('read', response.req);
    responder.sendRefusal(response, overloadError('read'));
  }
}

/** Resolves with the received status lines once there are `count` of them. */
async function answersOf(socket: Socket, count: number): Promise<string[]> {
  let text = '';
  const lines = () => text.match(/HTTP\/1\.1 \d+/g) ?? [];
  while (lines().length < count) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  return lines();
}

const sentCount = () => responses.filter(({ headersSent }) => headersSent).length;

describe('refusals of one turn', () => {
  it.each([
    [MAX_IMMEDIATE_REFUSALS - 1, MAX_IMMEDIATE_REFUSALS - 1],
    [MAX_IMMEDIATE_REFUSALS, MAX_IMMEDIATE_REFUSALS],
    [MAX_IMMEDIATE_REFUSALS + 1, MAX_IMMEDIATE_REFUSALS],
    [MAX_IMMEDIATE_REFUSALS * 2, MAX_IMMEDIATE_REFUSALS],
  ])('%i of them: %i go out at once, the others when the turn ends', async (count, atOnce) => {
    const sockets = await received(count, 1);
    refuseAll();
    expect(sentCount()).toBe(atOnce);
    await nextTurn();
    expect(sentCount()).toBe(count);
    for (const socket of sockets) expect(await answersOf(socket, 1)).toEqual(['HTTP/1.1 503']);
    for (const socket of sockets) socket.destroy();
  });

  it('those behind another answer of their connection do not wait in memory of ours, and all come in order', async () => {
    const count = MAX_IMMEDIATE_REFUSALS + 40;
    const [socket] = await received(1, count);
    refuseAll();
    expect(sentCount()).toBe(count);
    expect(await answersOf(socket!, count)).toHaveLength(count);
    socket!.destroy();
  });

  it('of a client that has left are not written', async () => {
    const sockets = await received(MAX_IMMEDIATE_REFUSALS + 1, 1);
    refuseAll();
    const last = responses.at(-1)!;
    last.req.socket.destroy();
    await nextTurn();
    expect(last.destroyed).toBe(true);
    for (const socket of sockets) socket.destroy();
    // The next turn refuses at once again.
    const [next] = await received(1, 1);
    refuseAll();
    expect(await answersOf(next!, 1)).toEqual(['HTTP/1.1 503']);
    next!.destroy();
  });
});
