/** Clients of an overloaded API, over real connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BOUNDS, GET } from './loaded-process.ts';
import { openSmallLedger } from './small-ledger.ts';

/** Number of requests of the client with one connection. */
const REQUESTS = 8;

/** Sends another request after each response. @returns counts of responses */
function closedLoop(socket: Socket, counts: { answers: number; refused: number }): void {
  socket
    .on('error', () => undefined)
    .on('data', (bytes: Buffer) => {
      const heads = bytes.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? [];
      counts.answers += heads.length;
      counts.refused += heads.filter((head) => head.endsWith('503')).length;
      socket.write(GET.repeat(heads.length));
    });
  socket.write(GET);
}

it.runIf(process.platform === 'linux')(
  'an overloaded interface lets in a client with one connection beside one with 500',
  async () => {
    const ledger = await openSmallLedger({ ...BOUNDS, maxBacklogMs: 5, maxUnsentBytes: 0 });
    const port = await ledger.app.port();
    const open = async (localAddress: string): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      await once(socket, 'connect');
      return socket;
    };
    const many = await Promise.all(Array.from({ length: 500 }, () => open('127.0.0.1')));
    const ofMany = { answers: 0, refused: 0 };
    for (const socket of many) closedLoop(socket, ofMany);
    while (ofMany.refused === 0) await delay(20);
    const before = { ...ofMany };
    const one = await open('127.0.0.2');
    const ofOne = { answers: 0, refused: 0 };
    closedLoop(one, ofOne);
    while (ofOne.answers < REQUESTS) await delay(5);
    for (const socket of [...many, one]) socket.destroy();
    const refusedOfMany = (ofMany.refused - before.refused) / (ofMany.answers - before.answers);
    expect(refusedOfMany).toBeGreaterThan(0.2);
    expect(ofOne.refused / ofOne.answers).toBeLessThan(refusedOfMany / 4);
    await ledger.close();
  },
  120_000,
);
