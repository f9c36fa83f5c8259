/** A fault inside the push hub is logged, and streams that are not affected continue. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LedgerReader } from '../../src/ledger/open.ts';
import { LogLines } from './error-answers.ts';
import { growing, STREAM } from './push-ledger.ts';

test('a sweep that fails once is logged, and heartbeats go on', async () => {
  const log = new LogLines();
  const { app, listen, growTo } = await growing({ requestTimeoutMs: 200 }, log);
  await growTo(1);
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  const opening = listen(`${STREAM}?start=0`);
  const [socket] = await connected;
  const client = await opening;
  await client.until(1);
  const failure = new TypeError('of this test');
  let failures = 0;
  Object.defineProperty(socket, 'writableLength', {
    configurable: true,
    get() {
      failures += 1;
      Reflect.deleteProperty(socket, 'writableLength');
      throw failure;
    },
  });
  while (failures === 0) await sleep(5);
  const { text } = client;
  while (client.text.length < text.length + ':\n\n'.length * 3) await sleep(20);
  expect(log.errors).toEqual([{ err: failure }]);
});

/** A log that cannot write its first line. */
class BrokenLog extends LogLines {
  #isBroken = true;

  override error(facts: object): void {
    const isBroken = this.#isBroken;
    this.#isBroken = false;
    if (isBroken) throw new Error('the log is broken');
    super.error(facts);
  }
}

test('a pass over a new head that throws ends its streams, and later ones see new heads', async () => {
  const log = new BrokenLog();
  let failure: Error | undefined;
  const failing = (ledger: LedgerReader): LedgerReader => ({
    view() {
      if (failure === undefined) return ledger.view();
      const thrown = failure;
      failure = undefined;
      throw thrown;
    },
  });
  const { app, listen, growTo, streams } = await growing({}, log, failing);
  await growTo(1);
  const first = await listen(`${STREAM}?start=0`);
  await first.until(1);
  // The stream is live now, so only the hub looks at the head next.
  await growTo(2);
  await first.until(2);
  failure = new TypeError('of this test');
  while (failure !== undefined) await sleep(5);
  first.close();
  while (app.api.listeners.open > 0) await sleep(5);
  const second = await listen(`${STREAM}?start=0`);
  await second.until(streams.lengths[0]!);
  await growTo(streams.lengths[0]! + 1);
  await second.until(streams.lengths[0]!);
  expect(second.events).toHaveLength(streams.lengths[0]!);
});
