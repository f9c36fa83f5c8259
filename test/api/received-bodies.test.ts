/** Bodies being received use up the limit of held bytes: the newest is refused, and the others continue. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { Admission, overloadError } from '../../src/api/load/admission.ts';
import { LedgerError } from '../../src/state/ledger-error.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const MIB = 1024 * 1024;
const settings = apiSettings({ ...NO_LOAD_BOUNDS, maxUnsentBytes: 8 * MIB });
const BODY_BYTES = 2 * MIB;
/** One client may hold half of the limit. */
const BODIES = 2;

const admission = new Admission(settings);
const ledger = {
  view: () => {
    throw new LedgerError('ledger_unavailable', 'of this test');
  },
};
const app = new TestApi(buildApi(ledger, settings, new LogLines(), { admission }));
let port: number;
beforeAll(async () => {
  port = await app.port();
});
afterAll(() => app.close());

function post(bytes: number, framing = `Content-Length: ${bytes}`) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(
    'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
      `Content-Type: application/json\r\n${framing}\r\n\r\n`,
  );
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  const answer = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(text));
  });
  return { socket, answer, text: () => text };
}

async function heldBytesAre(bytes: number): Promise<void> {
  while (admission.held.bytes !== bytes) await delay(1);
}

/** Sends the first byte of a body that is not finished. */
async function holder(largestBytes = BODY_BYTES, framing?: string) {
  const before = admission.held.bytes;
  const posted = post(BODY_BYTES, framing);
  posted.socket.write(framing === undefined ? ' ' : '1\r\n ');
  await heldBytesAre(before + largestBytes);
  return posted;
}

it('the youngest body is refused when a client holds as much as is free, the others go on', async () => {
  const holders = [];
  for (let index = 0; index < BODIES; index += 1) holders.push(await holder());
  const refused = post(BODY_BYTES);
  refused.socket.write(' ');
  while (refused.text() === '') await delay(1);
  expect(refused.text()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/s);
  expect(refused.text()).toContain(overloadError('body').message);
  await heldBytesAre(BODIES * BODY_BYTES);
  expect(admission.refusedCount('body')).toBe(1);
  // A small body does not count.
  const small = post(2);
  small.socket.write('[');
  await delay(10);
  small.socket.write(']');
  expect(await small.answer).toMatch(/^HTTP\/1\.1 400 /);
  holders[1]!.socket.write(' '.repeat(BODY_BYTES - 1));
  expect(await holders[1]!.answer).toMatch(/^HTTP\/1\.1 400 /);
  await heldBytesAre((BODIES - 1) * BODY_BYTES);
  for (const { socket } of holders) socket.destroy();
  await heldBytesAre(0);
  const last = post(BODY_BYTES);
  last.socket.write(' '.repeat(BODY_BYTES));
  expect(await last.answer).toMatch(/^HTTP\/1\.1 400 /);
  await heldBytesAre(0);
});

it('a chunked body may become as large as any', async () => {
  const { socket } = await holder(settings.contentLengthLimitBytes, 'Transfer-Encoding: chunked');
  socket.destroy();
  await heldBytesAre(0);
});
