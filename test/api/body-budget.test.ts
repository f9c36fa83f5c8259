/** Room for bodies being received: given in order, bounded, and passed by small ones. */
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BodyBudget, SMALL_BODY_BYTES } from '../../src/api/http/request-body.ts';
import { withoutLedger } from './error-answers.ts';
import { apiSettings } from './settings.ts';

const { maxReceivingBytes: MAX_RECEIVING_BYTES } = apiSettings();

/** Whether a promise is kept within a few turns. */
async function isKept(promise: Promise<void>): Promise<boolean> {
  let kept = false;
  void promise.then(() => {
    kept = true;
  });
  await delay(1);
  return kept;
}

describe('the budget', () => {
  it.each([
    [MAX_RECEIVING_BYTES - 1, true],
    [MAX_RECEIVING_BYTES, true],
    [MAX_RECEIVING_BYTES + 1, false],
  ])('%i bytes in two halves fit: %s', async (bytes, fits) => {
    const budget = new BodyBudget(apiSettings());
    const first = Math.floor(bytes / 2);
    await budget.reserve(first);
    const second = budget.reserve(bytes - first);
    expect(await isKept(second)).toBe(fits);
    budget.release(first);
    await second;
  });

  it('is given in the order of asking, also to one that would fit earlier', async () => {
    const budget = new BodyBudget(apiSettings());
    await budget.reserve(MAX_RECEIVING_BYTES - 1);
    const large = budget.reserve(2);
    const small = budget.reserve(1);
    expect([await isKept(large), await isKept(small)]).toEqual([false, false]);
    budget.release(1);
    expect([await isKept(large), await isKept(small)]).toEqual([true, false]);
    budget.release(MAX_RECEIVING_BYTES);
    await small;
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
  ])('%i want to wait where two may: %i do', async (wanting, waiting) => {
    const budget = new BodyBudget({ maxReceivingBytes: 10, maxWaitingBodies: 2 });
    await budget.reserve(10);
    const refused: unknown[] = [];
    const entered = Array.from({ length: wanting }, () =>
      budget.reserve(1).catch((error: unknown) => refused.push(error)),
    );
    await delay(1);
    expect([budget.waiting, refused.length]).toEqual([waiting, wanting - waiting]);
    for (const error of refused) {
      expect(error).toMatchObject({ status: 503, code: 'internal_error', retryAfterSecs: 1 });
    }
    budget.release(10);
    await Promise.all(entered);
  });

  it('has no bounds at 0', async () => {
    const budget = new BodyBudget({ maxReceivingBytes: 0, maxWaitingBodies: 0 });
    for (let index = 0; index < 100; index += 1) await budget.reserve(2 ** 40);
    expect(budget.waiting).toBe(0);
  });
});

describe('bodies over connections', () => {
  const app = withoutLedger();
  beforeAll(() => app.port());
  afterAll(() => app.close());

  function open() {
    const { port } = app.server.address() as AddressInfo;
    return connect(port, '127.0.0.1').on('error', () => undefined);
  }

  function post(bytes: number, framing = `Content-Length: ${bytes}`) {
    const socket = open();
    socket.write(
      'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
        `Content-Type: application/json\r\n${framing}\r\n\r\n`,
    );
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(text));
    });
    return { socket, answer };
  }

  it('wait while others hold the budget, unless they are small; then go on', async () => {
    const half = 8 * 1024 * 1024;
    const holders = Array.from({ length: MAX_RECEIVING_BYTES / half }, () => post(half));
    for (const { socket } of holders) socket.write(' ');
    await delay(200);
    const small = post(SMALL_BODY_BYTES);
    small.socket.write(' '.repeat(SMALL_BODY_BYTES));
    expect(await small.answer).toMatch(/^HTTP\/1\.1 400 /);
    let isAnswered = false;
    const large = [post(SMALL_BODY_BYTES + 1), post(0, 'Transfer-Encoding: chunked')];
    large[0]!.socket.write(' '.repeat(SMALL_BODY_BYTES + 1));
    large[1]!.socket.write('2\r\n{}\r\n0\r\n\r\n');
    for (const { answer } of large)
      void answer.then(() => {
        isAnswered = true;
      });
    await delay(300);
    expect(isAnswered).toBe(false);
    // One gives up while it waits: its place must not be lost to the others.
    const leaver = post(half);
    await delay(50);
    leaver.socket.destroy();
    for (const { socket } of holders) socket.destroy();
    for (const { answer } of large) expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
    const last = post(half);
    last.socket.write(' '.repeat(half));
    expect(await last.answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});
