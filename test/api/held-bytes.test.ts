/** Clients that do not read their responses: how many bytes a process holds for them. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import {
  Admission,
  overloadError,
  WAITING_REQUEST_BYTES,
  WORK_KINDS,
} from '../../src/api/load/admission.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { moduleStateKey, physicalStateKey } from '../../src/move/types/state-key.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { from, Process, unreadAnswer } from './loaded-process.ts';
import { apiSettings } from './settings.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const MIB = 1024 * 1024;
/** A module of one MiB, on its own and in a listing. */
const MODULE = '/v1/accounts/0x1/module/large';
const MODULES = '/v1/accounts/0x1/modules';

describe('unread answers', () => {
  it.each([
    ['listing', 999, true],
    ['listing', 1_000, false],
    ['listing', 1_001, false],
    ['read', 1_999, true],
    ['read', 2_000, false],
    ['read', 2_001, false],
    ['body', 1_999, true],
    ['body', 2_000, false],
    ['body', 2_001, false],
  ] as const)('of 1,000 bytes that may be: a %s at %i is let in: %s', (kind, bytes, isAdmitted) => {
    const { admission } = new Process();
    const answers = [unreadAnswer('10.0.0.1', bytes - 1), unreadAnswer('10.0.0.1', 1)];
    for (const answer of answers) admission.holdUnsent(answer);
    expect(admission.admits(kind, from('10.0.0.2'))).toBe(isAdmitted);
    answers[0]!.emit('close');
    expect(admission.held.bytes).toBe(1);
    answers[1]!.req.socket.emit('close');
    answers[1]!.emit('close');
    expect(admission.held.bytes).toBe(0);
    expect(admission.admits(kind, from('10.0.0.2'))).toBe(true);
  });

  it.each([
    ['listing', 499, 499, true],
    ['listing', 500, 500, false],
    ['listing', 501, 501, false],
    ['listing', 250, 749, true],
    ['listing', 250, 750, false],
    ['listing', 250, 751, false],
    ['read', 999, 999, true],
    ['read', 1_000, 1_000, false],
    ['read', 1_001, 1_001, false],
  ] as const)('a %s of who holds %i, all holding %i: %s', (kind, own, all, isAdmitted) => {
    const { admission } = new Process();
    admission.holdUnsent(unreadAnswer('10.0.0.1', own));
    for (let left = all - own; left > 0; left -= 100) {
      admission.holdUnsent(unreadAnswer(`10.1.0.${left % 256}`, Math.min(left, 100)));
    }
    expect(admission.admits(kind, from('10.0.0.1'))).toBe(isAdmitted);
    expect(admission.admits(kind, from('10.0.0.2'))).toBe(true);
  });

  it('hold nothing for a client that went before its answer was there, or that reads', () => {
    const { admission } = new Process();
    const late = unreadAnswer('10.0.0.1', 1_000);
    late.req.socket.destroy();
    admission.holdUnsent(late);
    admission.holdUnsent(unreadAnswer('10.0.0.1', 0));
    expect(admission.held.bytes).toBe(0);
  });

  it('end a connection that asks on when too many are held, no other', () => {
    const { admission } = new Process();
    const held = unreadAnswer('10.0.0.1', 1_000);
    admission.holdUnsent(held);
    const other = from('10.0.0.1');
    expect(admission.admits('listing', other)).toBe(false);
    expect(other.socket.destroyed).toBe(false);
    expect(admission.admits('listing', held.req)).toBe(false);
    expect(held.req.socket.destroyed).toBe(true);
  });
});

async function withModule(changes: Partial<ApiSettings>) {
  const writer = await LedgerWriter.open(new MemoryStore());
  const key = physicalStateKey(moduleStateKey(padAddress('1'), 'large'));
  await writer.append(chunk(0, [transaction(0, { writes: [{ key, value: Buffer.alloc(MIB) }] })]));
  const settings = apiSettings({ ...NO_LOAD_BOUNDS, ...changes });
  const admission = new Admission(settings);
  const log = new LogLines();
  const app = new TestApi(buildApi(openLedger(writer.reader), settings, log, { admission }));
  return { app, admission, log };
}

describe('answers behind one that is not there yet', () => {
  const SLOW = 'GET /v1 HTTP/1.1\r\nX-Node-Min-Ledger-Version: 9\r\n\r\n';
  const LAST = 'GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n';

  /** A connection whose requests are answered after a slow response. */
  async function connected({ app }: Pick<Awaited<ReturnType<typeof withModule>>, 'app'>) {
    const socket = connect({ port: await app.port(), host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = once(socket, 'close');
    const responses: ServerResponse[] = [];
    let awaited = 0;
    app.server.on('request', (request, response) => {
      if (request.socket.remotePort === socket.localPort) responses.push(response);
    });
    return {
      /** Sends requests at once and waits until all but the slow one are answered, if they are. */
      ask: async (text: string): Promise<void> => {
        awaited += text.split('GET ').length - 1;
        socket.write(text);
        while (responses.length < awaited && !socket.destroyed) await delay(1);
        const isAnswered = () => responses.slice(1).every(({ writableEnded }) => writableEnded);
        while (!isAnswered() && !socket.destroyed) await delay(1);
        expect(responses[0]!.writableEnded).toBe(false);
      },
      statuses: async (): Promise<number[]> => {
        await ended;
        const text = Buffer.concat(chunks).toString('latin1');
        return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
      },
    };
  }

  const pages = (count: number, coding: string) =>
    `GET ${MODULES} HTTP/1.1\r\nAccept: application/x-bcs\r\nAccept-Encoding: ${coding}\r\n\r\n`.repeat(
      count,
    );

  it('do not end the connection when too many are held', async () => {
    const node = await withModule({ minVersionWaitMs: 2_000, maxUnsentBytes: 8 * MIB });
    const [first, second] = [await connected(node), await connected(node)];
    await first.ask(SLOW + pages(4, 'identity'));
    await second.ask(`${SLOW}GET /v1 HTTP/1.1\r\n\r\n`);
    await second.ask(pages(1, 'identity') + LAST);
    expect(await second.statuses()).toEqual([503, 200, 503, 200]);
    await node.app.close();
    expect(await first.statuses()).toEqual([503, 200, 200, 200, 200]);
    expect(node.log).toEqual(new LogLines());
  });

  it('count what they are once they are made', async () => {
    const node = await withModule({ minVersionWaitMs: 5_000, maxUnsentBytes: 100 * MIB });
    const connection = await connected(node);
    await connection.ask(SLOW + pages(12, 'gzip') + LAST);
    expect(node.admission.held.bytes).toBeGreaterThan(0);
    expect(node.admission.held.bytes).toBeLessThan(MIB);
    expect(await connection.statuses()).toEqual([503, ...Array<number>(13).fill(200)]);
    await node.app.close();
    expect(node.log).toEqual(new LogLines());
  });
});

describe('pages that are being made', () => {
  /** A page for a client that already holds `bytes`. */
  function page({ admission }: Process, client: string, bytes: number) {
    const response = unreadAnswer(client, 0);
    const pending = admission.pending(response.req, 'listing');
    pending.hold(bytes);
    return { response, pending };
  }

  it.each([
    ['another client holds', '10.0.0.2', 500, 499, true],
    ['another client holds', '10.0.0.2', 500, 500, false],
    ['another client holds', '10.0.0.2', 500, 501, false],
    ['its own client holds', '10.0.0.1', 250, 499, true],
    ['its own client holds', '10.0.0.1', 250, 500, false],
    ['its own client holds', '10.0.0.1', 250, 501, false],
    ['nobody holds', '10.0.0.1', 0, 1_001, true],
  ])('of 1,000 bytes, %s %s %i: a page may have %i: %s', (_, other, held, bytes, mayGrow) => {
    const one = new Process();
    const { admission } = one;
    admission.holdUnsent(unreadAnswer(other, held));
    const { response, pending } = page(one, '10.0.0.1', 1);
    const grow = () => pending.hold(bytes - 1);
    if (mayGrow) expect(grow).not.toThrow();
    else expect(grow).toThrow(overloadError('listing'));
    expect(admission.held.bytes).toBe(held + bytes);
    expect(admission.refusedCount('listing')).toBe(mayGrow ? 0 : 1);
    pending.end();
    response.emit('close');
    expect(admission.held.bytes).toBe(held);
  });

  it('go before younger ones', () => {
    const one = new Process();
    const [older, younger] = [page(one, '10.0.0.1', 400), page(one, '10.0.0.2', 400)];
    older.pending.hold(599);
    expect(one.admission.admits('listing', from('10.0.0.3'))).toBe(false);
    expect(() => younger.pending.check()).toThrow(overloadError('listing'));
    younger.pending.end();
    older.pending.check();
    expect(one.admission.held.bytes).toBe(999);
    expect(one.admission.admits('listing', from('10.0.0.3'))).toBe(true);
  });

  it('end when their client leaves, and nothing is made for it any more', () => {
    const one = new Process();
    const { response, pending } = page(one, '10.0.0.1', 100);
    pending.check();
    response.req.socket.destroy();
    for (const step of [() => pending.check(), () => pending.hold(1)]) expect(step).toThrow();
    pending.end();
    response.req.socket.emit('close');
    expect(one.admission.held.bytes).toBe(0);
    for (const kind of WORK_KINDS) expect(one.admission.admits(kind, response.req)).toBe(false);
    // No request was refused.
    expect(one.admission.refusedCount('listing')).toBe(0);
  });

  it.each([
    [-1, true],
    [0, false],
    [1, false],
  ])('let requests wait behind them while less than all is held; %i bytes more', (more, may) => {
    const waiting = unreadAnswer('10.0.0.1', 0);
    waiting.req.url = '/v1';
    waiting.req.rawHeaders = ['Host', 'x'];
    const bytes = WAITING_REQUEST_BYTES + '/v1Hostx'.length;
    const { admission } = new Process({ maxUnsentBytes: 4 * bytes });
    admission.holdUnsent(unreadAnswer('10.0.0.1', 2 * bytes + more));
    if (!may) {
      expect(() => admission.holdWaiting(waiting.req)).toThrow(overloadError('listing'));
      return;
    }
    const begin = admission.holdWaiting(waiting.req);
    expect(admission.held.bytes).toBe(3 * bytes + more);
    begin();
    expect(admission.held.bytes).toBe(2 * bytes + more);
  });
});

it.runIf(process.platform === 'linux')(
  'answers that many clients do not read are bounded, whatever is asked for',
  async () => {
    const maxUnsentBytes = 8 * MIB;
    const { app, admission, log } = await withModule({ maxUnsentBytes });
    const port = await app.port();
    const headers = { accept: 'application/x-bcs' };
    const statusOf = async (url: string) => (await app.request({ url, headers })).statusCode;
    const open = async (localAddress: string): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined).pause();
      await once(socket, 'connect');
      return socket;
    };
    const sockets: Socket[] = [];
    let latest: ServerResponse | undefined;
    app.server.on('request', (_request, response) => {
      latest = response;
    });
    /** @returns the maximum number of held bytes */
    const ask = async (path: string): Promise<number> => {
      const request = `GET ${path} HTTP/1.1\r\nAccept: ${headers.accept}\r\n\r\n`;
      let mostBytes = 0;
      for (let client = 1; client <= 30; client += 1) {
        const socket = await open(`127.0.1.${client}`);
        sockets.push(socket);
        // The operating system buffers some bytes; a client with a held response sends no more requests.
        const endBytes = admission.held.bytes + MIB;
        for (let asked = 0; asked < 20 && admission.held.bytes < endBytes; asked += 1) {
          const before = latest;
          socket.write(request);
          while (latest === before || latest?.writableEnded !== true) await delay(1);
          mostBytes = Math.max(mostBytes, admission.held.bytes);
        }
      }
      return mostBytes;
    };
    const ofListings = await ask(MODULES);
    expect(ofListings).toBeGreaterThanOrEqual(maxUnsentBytes);
    expect(ofListings).toBeLessThan(maxUnsentBytes + 2 * MIB);
    expect([await statusOf(MODULES), await statusOf(MODULE)]).toEqual([503, 200]);
    const withReads = await ask(MODULE);
    expect(withReads).toBeGreaterThanOrEqual(2 * maxUnsentBytes);
    expect(withReads).toBeLessThan(2 * maxUnsentBytes + 2 * MIB);
    expect([await statusOf(MODULES), await statusOf(MODULE)]).toEqual([503, 503]);
    for (const socket of sockets) socket.destroy();
    while (admission.held.bytes > 0) await delay(10);
    expect([await statusOf(MODULES), await statusOf(MODULE)]).toEqual([200, 200]);
    expect(log).toEqual(new LogLines());
    await app.close();
  },
);
