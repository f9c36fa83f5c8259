/** Requests that a process refuses when overloaded, and requests that it never refuses. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  MAX_WAITING_READS,
  OVERLOAD_END_MS,
  OVERLOAD_ONSET_MS,
  overloadError,
  WORK_KINDS,
} from '../../src/api/load/admission.ts';
import { BOUNDS, GET, MAX_MS, Process, unreadAnswer } from './loaded-process.ts';
import { apiSettings } from './settings.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

/** Number of requests of one millisecond that one client may have in a turn of lasting overload. */
const ONE_CLIENT = MAX_MS / 2;

describe('admission', () => {
  it('refuses nothing in one long turn', async () => {
    const one = new Process();
    expect(await one.turn('read', 10_000, 1)).toBe(10_000);
  });

  it.each(WORK_KINDS)('of %s in lasting overload takes what fits into its time', async (kind) => {
    const one = new Process();
    await one.overload(kind);
    for (const [requests, admitted] of [
      [ONE_CLIENT - 1, ONE_CLIENT - 1],
      [ONE_CLIENT, ONE_CLIENT],
      [ONE_CLIENT + 1, ONE_CLIENT],
      [ONE_CLIENT * 4, ONE_CLIENT],
    ] as const) {
      expect(await one.turn(kind, requests, 1)).toBe(admitted);
    }
    expect(one.admission.refusedCount(kind)).toBe(1 + ONE_CLIENT * 3);
  });

  it('refuses while too many reads of the store wait, if that lasts', () => {
    const one = new Process();
    for (const [waiting, isAdmitted] of [
      [MAX_WAITING_READS - 1, true],
      [MAX_WAITING_READS, true],
      [MAX_WAITING_READS + 1, false],
    ] as const) {
      one.waitingReads = waiting;
      expect(one.ask('read', OVERLOAD_ONSET_MS - 1)).toBe(true);
      expect(one.ask('read', 1)).toBe(true);
      expect(one.ask('read', 0)).toBe(isAdmitted);
    }
    one.waitingReads = MAX_WAITING_READS;
    expect(one.ask('read', 0)).toBe(true);
  });

  it('begins to refuse when turns have gone over for so long, not before', async () => {
    const one = new Process();
    for (let passedMs = 0; passedMs + MAX_MS < OVERLOAD_ONSET_MS; passedMs += MAX_MS) {
      expect(await one.turn('read', MAX_MS, 1)).toBe(MAX_MS);
    }
    // The overload began with the first of these turns, and becomes lasting within this one.
    expect(await one.turn('read', MAX_MS, 1)).toBe(MAX_MS);
    expect(await one.turn('read', MAX_MS + 1, 1)).toBe(ONE_CLIENT);
  });

  it('has one limit for all kinds', async () => {
    const one = new Process();
    await one.overload('listing');
    for (let index = 0; index < ONE_CLIENT; index += 1) {
      expect(one.ask(WORK_KINDS[index % WORK_KINDS.length]!, 1)).toBe(true);
    }
    for (const kind of WORK_KINDS) {
      expect(one.ask(kind, 1)).toBe(false);
      expect(one.admission.refusedCount(kind)).toBe(1);
    }
  });

  it.each([
    [OVERLOAD_END_MS - 1, ONE_CLIENT],
    [OVERLOAD_END_MS, 4 * MAX_MS],
    [OVERLOAD_END_MS + 1, 4 * MAX_MS],
  ])('after %i ms of calm takes %i requests again', async (calmMs, admitted) => {
    const idle = new Process();
    await idle.overload('read');
    idle.nowMs += calmMs;
    expect(await idle.turn('read', 4 * MAX_MS, 1)).toBe(admitted);
    const quiet = new Process();
    await quiet.overload('read');
    expect(await quiet.turn('read', 1, 50)).toBe(1);
    expect(await quiet.turn('read', 1, calmMs - 50)).toBe(1);
    expect(await quiet.turn('read', 4 * MAX_MS, 1)).toBe(admitted);
  });

  it('sees an overload that comes in every other turn', async () => {
    const one = new Process();
    for (let passedMs = 0; passedMs < OVERLOAD_ONSET_MS; passedMs += MAX_MS) {
      await one.turn('read', MAX_MS, 1);
      await one.turn('read', 1, 1);
    }
    expect(await one.turn('read', 4 * MAX_MS, 1)).toBe(ONE_CLIENT);
  });

  it('always takes the first of a turn, however long it takes', async () => {
    const one = new Process();
    await one.overload('listing');
    for (let turn = 0; turn < 10; turn += 1) expect(await one.turn('listing', 3, 500)).toBe(1);
  });

  it('refuses nothing with bounds of 0', async () => {
    const one = new Process({ maxBacklogMs: 0, maxUnsentBytes: 0 });
    one.admission.holdUnsent(unreadAnswer('10.0.0.1', Number.MAX_SAFE_INTEGER));
    for (const kind of WORK_KINDS) {
      for (let turn = 0; turn < 10; turn += 1) expect(await one.turn(kind, 500, 1)).toBe(500);
    }
  });
});

describe('an overloaded interface', () => {
  let ledger: SmallLedger;
  beforeAll(async () => {
    ledger = await openSmallLedger({
      ...BOUNDS,
      ...{ maxBacklogMs: 1, maxUnsentBytes: 0 },
    });
    await ledger.app.port();
  });
  afterAll(() => ledger.close());

  function open(): Socket {
    const { port } = ledger.app.server.address() as AddressInfo;
    return connect(port, '127.0.0.1').on('error', () => undefined);
  }

  /**
   * Sends many concurrent requests over some connections, again and again, for a time, or until one is refused if
   * `untilRefused`. @returns all responses as text
   */
  async function flood(request: string, untilRefused: boolean): Promise<string> {
    const sockets = Array.from({ length: 20 }, open);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    let text = '';
    let isOver = false;
    for (const socket of sockets) {
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
        // One new request per response keeps the number of waiting requests constant.
        const answers = bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
        if (!isOver) socket.write(request.repeat(answers));
      });
      socket.write(request.repeat(50));
    }
    const startedMs = performance.now();
    const isDone = () =>
      performance.now() - startedMs > (untilRefused ? 20_000 : OVERLOAD_ONSET_MS * 2) ||
      (untilRefused && text.includes('HTTP/1.1 503 '));
    while (!isDone()) await delay(50);
    isOver = true;
    await delay(100);
    for (const socket of sockets) socket.destroy();
    return text;
  }

  const POST =
    'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\n' +
    'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

  it.each([
    ['read', GET, '200 OK'],
    ['body', POST, '400 Bad Request'],
  ] as const)('refuses a %s in the interface’s own words', async (kind, request, usual) => {
    const text = await flood(request, true);
    const [refusal] = text.split('HTTP/1.1 ').filter((answer) => answer.startsWith('503 '));
    const [head, body] = refusal!.split('\r\n\r\n');
    expect(JSON.parse(body!)).toEqual({
      message: overloadError(kind).message,
      error_code: 'internal_error',
      vm_error_code: null,
    });
    const lines = head!.split('\r\n');
    expect(lines[0]).toBe('503 Service Unavailable');
    expect(lines).toContain('retry-after: 1');
    expect(lines).toContain('content-type: application/json; charset=utf-8');
    expect(lines).toContain('x-node-chain-id: 42');
    expect(lines).toContain('x-node-ledger-version: 4');
    expect(lines.filter((line) => line.startsWith('x-node-'))).toHaveLength(7);
    expect(text).toContain(`HTTP/1.1 ${usual}`);
    expect(ledger.log.warnings).toEqual([]);
    // After the overload everything is answered again.
    let answer: string;
    do {
      await delay(50);
      const socket = open();
      socket.write(request);
      const [first] = (await once(socket, 'data')) as [Buffer];
      answer = first.toString('latin1');
      socket.destroy();
    } while (answer.startsWith('HTTP/1.1 503'));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${usual}`));
  });

  it('never refuses health checks', async () => {
    const text = await flood('GET /v1/-/healthy HTTP/1.1\r\nHost: x\r\n\r\n', false);
    expect(text).toContain('HTTP/1.1 200 OK');
    expect(text).not.toContain('HTTP/1.1 503');
  });
});

/** A response as received on a connection. */
interface RawAnswer {
  readonly head: string;
  readonly bytes: Buffer;
}

/**
 * Sends `count` GETs that accept Brotli in one piece over one connection, so that one turn of the event loop sees all
 * of them.
 */
async function pipelined(port: number, url: string, count: number): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${url} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\n\r\n`.repeat(count));
  const answers: RawAnswer[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let end = rest.indexOf('\r\n\r\n'); end !== -1; end = rest.indexOf('\r\n\r\n')) {
      const head = rest.toString('latin1', 0, end);
      const bodyEnd = end + 4 + Number(/content-length: (\d+)/.exec(head)![1]);
      if (rest.length < bodyEnd) break;
      answers.push({ head, bytes: rest.subarray(end + 4, bodyEnd) });
      rest = rest.subarray(bodyEnd);
    }
    if (answers.length === count) break;
  }
  return answers;
}

describe('answers', () => {
  it('go out as they are while too many are being compressed', async () => {
    const ledger = await openSmallLedger({ maxCompressions: 1 });
    const url = '/v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin';
    const answers = await pipelined(await ledger.app.port(), url, 10);
    const plain = (await ledger.app.request(url)).body;
    const codings = answers.map(({ head }) => /content-encoding: (\w+)/.exec(head)?.[1]);
    expect(codings.filter((coding) => coding === 'br')).toHaveLength(1);
    expect(codings.filter((coding) => coding === undefined)).toHaveLength(9);
    for (const [index, { bytes, head }] of answers.entries()) {
      const decoded = codings[index] === 'br' ? brotliDecompressSync(bytes) : bytes;
      expect(decoded.toString()).toBe(plain);
      expect(head).toMatch(/vary: .*Accept-Encoding/);
    }
    // The entity tag belongs to the encoding that was sent.
    const tags = new Set(answers.map(({ head }) => /etag: (.*)/.exec(head)?.[1]));
    expect(tags.size).toBe(2);
    await ledger.close();
  });

  it('have bounds by default', () => {
    expect(apiSettings().maxBacklogMs).toBe(100);
    expect(() => apiSettings({ maxBacklogMs: -1 })).toThrow(TypeError);
  });
});
