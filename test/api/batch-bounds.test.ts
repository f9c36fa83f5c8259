/** Limits of a batch: its size, its duration, and the number of its concurrent reads. */
import { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { BatchAnswer } from '../../src/api/endpoints/endpoint.ts';
import {
  BatchRun,
  LARGE_BATCH_BYTES,
  MAX_BATCH_BYTES,
  MAX_BATCH_CONCURRENCY,
  MAX_BATCH_MS,
} from '../../src/api/endpoints/extensions/batch-run.ts';
import { Admission } from '../../src/api/load/admission.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import { from } from './loaded-process.ts';
import { apiSettings } from './settings.ts';

const JSON_TYPE = 'application/json';
const BCS = 'application/x-bcs';

/** Reads whose responses have the given bodies. */
function runOf(
  bodies: readonly (string | Uint8Array)[],
  {
    format = 'json',
    contentType = JSON_TYPE,
    clock = (): number => 0,
    isAwaited = false,
    maxUnsentBytes = 0,
  } = {},
) {
  const client = new ServerResponse(from('10.0.0.1'));
  let waiting = 0;
  const facts = { mostWaiting: 0, asked: 0 };
  const admission = new Admission(apiSettings({ maxUnsentBytes }));
  const { held } = admission;
  const batchReads = {
    held,
    isRemote: () => isAwaited,
    answer: ({ target }: { target: string }) => {
      facts.asked += 1;
      const answer: BatchAnswer = { status: 200, contentType, body: bodies[Number(target)]! };
      if (!isAwaited) return answer;
      waiting += 1;
      facts.mostWaiting = Math.max(facts.mostWaiting, waiting);
      return new Promise<BatchAnswer>((resolve) => {
        setImmediate(() => {
          waiting -= 1;
          resolve(answer);
        });
      });
    },
  };
  const reads = bodies.map((_, index) => ({
    target: String(index),
    ...{ accept: JSON_TYPE, body: undefined, version: undefined },
  }));
  const view = undefined as unknown as LedgerView;
  const call = { view, client, batchReads, format: format as 'json' | 'bcs' };
  return { run: new BatchRun(reads, call, clock), client, facts, held, admission };
}

describe('the bounds of a batch', () => {
  it.each([
    [JSON_TYPE, 'json', 1, 0],
    [BCS, 'json', 2, '"0x"'.length],
    [BCS, 'bcs', 1, 0],
  ])('count the bytes of %s in %s', async (contentType, format, times, more) => {
    const half = (MAX_BATCH_BYTES / 2 - more) / times;
    for (const [more, statuses] of [
      [-1, [200, 200, 413]],
      [0, [200, 200, 413]],
      [1, [200, 413, 413]],
    ] as const) {
      const bodies = [Buffer.alloc(half), Buffer.alloc(half + more), Buffer.alloc(2)];
      const { run, facts } = runOf(bodies, { contentType, format });
      const answers = await run.run();
      expect([more, answers.map(({ status }) => status)]).toEqual([more, statuses]);
      expect(facts.asked).toBe(more < 0 ? 3 : 2);
    }
  });

  it.each([
    [MAX_BATCH_MS - 1, 200],
    [MAX_BATCH_MS, 503],
    [MAX_BATCH_MS + 1, 503],
  ])('after %i ms answer with %i', async (elapsedMs, status) => {
    let nowMs = 0;
    const { run } = runOf(['1', '2'], { clock: () => nowMs });
    nowMs = elapsedMs;
    expect((await run.run()).map((answer) => answer.status)).toEqual([status, status]);
  });

  it.each([
    [false, 1, 0],
    [true, MAX_BATCH_CONCURRENCY - 1, MAX_BATCH_CONCURRENCY - 1],
    [true, MAX_BATCH_CONCURRENCY, MAX_BATCH_CONCURRENCY],
    [true, MAX_BATCH_CONCURRENCY + 1, MAX_BATCH_CONCURRENCY],
  ])('awaited: %s, of %i reads %i wait at once', async (isAwaited, count, most) => {
    const { run, facts } = runOf(new Array<string>(count).fill('1'), { isAwaited });
    expect(await run.run()).toHaveLength(count);
    expect(facts.mostWaiting).toBe(most);
  });

  it.each([
    [-1, [200, 200, 200]],
    [0, [200, 200, 503]],
    [1, [200, 503, 503]],
  ])(
    'let a large batch go on while less is unsent than may be; %i bytes more',
    async (more, expected) => {
      const maxUnsentBytes = 4 * LARGE_BATCH_BYTES;
      const bodies = [LARGE_BATCH_BYTES, 1, 1].map((bytes) => Buffer.alloc(bytes));
      const { run, held } = runOf(bodies, { maxUnsentBytes });
      held.hold(from('10.0.0.2'), maxUnsentBytes - LARGE_BATCH_BYTES - 1 + more);
      const before = held.bytes;
      const answers = await run.run();
      expect(answers.map(({ status }) => status)).toEqual(expected);
      expect(held.bytes).toBeGreaterThan(before + LARGE_BATCH_BYTES);
      run.end();
      expect(held.bytes).toBe(before);
    },
  );

  it('leave less to its client, not to others, until it is sent or the client has gone', async () => {
    const bodies = [Buffer.alloc(LARGE_BATCH_BYTES)];
    const one = runOf(bodies, { maxUnsentBytes: 2 * LARGE_BATCH_BYTES });
    await one.run.run();
    expect(one.admission.admits('listing', one.client.req)).toBe(false);
    expect(one.admission.admits('listing', from('10.0.0.2'))).toBe(true);
    one.client.req.socket.emit('close');
    expect(one.held.bytes).toBe(0);
    one.run.end();
    expect(one.held.bytes).toBe(0);
  });

  it('leave a small batch alone, whatever is unsent', async () => {
    const bodies = [LARGE_BATCH_BYTES - 1, 1, 1].map((bytes) => Buffer.alloc(bytes));
    const { run, held } = runOf(bodies, { maxUnsentBytes: 1 });
    held.hold(from('10.0.0.2'), 1);
    expect((await run.run()).map(({ status }) => status)).toEqual([200, 200, 503]);
  });

  it('stop the work when the client has gone', async () => {
    const { run, client, facts } = runOf(new Array<string>(256).fill('1'), { isAwaited: true });
    const answers = run.run();
    client.req.socket.destroy();
    expect(await answers).toEqual([]);
    expect(facts.asked).toBe(MAX_BATCH_CONCURRENCY);
  });
});
