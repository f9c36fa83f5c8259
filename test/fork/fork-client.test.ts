/** Requests to an upstream: limits of their number, rate, size and time. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { FORK_LIMITS, ForkClient } from '../../src/state/fork/fork-client.ts';
import { answer, NodeBetween } from './node-between.ts';

const HEADERS = {
  'content-type': 'application/x-bcs',
  ...{ 'x-node-chain-id': '204', 'x-node-ledger-version': '9' },
};
const ANSWER = Buffer.alloc(100);

/** A client of a node that sends the same bytes in every response. */
async function clientOf(limits: Partial<typeof FORK_LIMITS>) {
  const node = await NodeBetween.before('http://127.0.0.1:1/v1');
  node.interfere = () => answer(200, HEADERS, ANSWER);
  const client = new ForkClient(new URL(node.url), { ...FORK_LIMITS, ...limits });
  onTestFinished(() => client.close());
  return { node, client };
}

const askAll = (client: ForkClient, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => client.request({ path: '/x' })));

describe('a client of an upstream', () => {
  it.each([
    [9, 0],
    [10, 0],
    [11, 1],
  ])('lets ten questions wait: of %i it refuses %i', async (count, refused) => {
    const { client } = await clientOf({ maxWaiting: 10 });
    const outcomes = await askAll(client, count);
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failures.map(({ reason }) => reason)).toEqual(Array(refused).fill('busy'));
  });

  it.each([2, 3, 4])('has three requests under way at once: of %i', async (count) => {
    const { node, client } = await clientOf({ maxConcurrent: 3 });
    let running = 0;
    let most = 0;
    node.interfere = () => (response, request) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        answer(200, HEADERS, ANSWER)(response, request);
      }, 50);
    };
    const outcomes = await askAll(client, count);
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(most).toBe(Math.min(count, 3));
  });

  it.each([
    [99, 'page_too_large'],
    [100, undefined],
    [101, undefined],
  ])('takes an answer of 100 bytes under a bound of %i: %s', async (maxAnswerBytes, reason) => {
    const { client } = await clientOf({ maxAnswerBytes });
    const failure = await client.request({ path: '/x' }).then(
      () => undefined,
      (error: { reason: string }) => error.reason,
    );
    expect(failure).toBe(reason);
  });

  it('spreads requests over time, after as many at once as a second allows', async () => {
    const { node, client } = await clientOf({ requestsPerSecond: 20 });
    const startedMs = performance.now();
    await askAll(client, 31);
    // The last ten have to wait for their turns, 50 ms each.
    expect(performance.now() - startedMs).toBeGreaterThan(450);
    expect(node.got).toHaveLength(31);
  });

  it('does not wait for ever, nor for a turn that comes too late', async () => {
    const { node, client } = await clientOf({ requestTimeoutMs: 100 });
    node.interfere = () => () => undefined;
    await expect(client.request({ path: '/x' })).rejects.toMatchObject({
      reason: 'upstream_timeout',
    });
    const slow = await clientOf({ requestsPerSecond: 1, lookupTimeoutMs: 500 });
    const outcomes = await askAll(slow.client, 4);
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failures.length).toBeGreaterThan(0);
    expect(failures[0]).toMatchObject({ reason: 'busy', code: 'fork_upstream_failed' });
  });

  it('sends nothing for questions whose time is over before their turns come', async () => {
    const { node, client } = await clientOf({ maxConcurrent: 1, lookupTimeoutMs: 200 });
    node.interfere = () => () => undefined;
    const outcomes = await askAll(client, 6);
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    // A timer may fire a millisecond early, and then the second request has time left.
    expect(failures.slice(2).map(({ reason }) => reason)).toEqual(Array(4).fill('busy'));
    expect(node.got.length).toBeLessThan(3);
  });

  it.each([
    ['resource_not_found', 'upstream_not_a_node'],
    ['version_not_found', 'upstream_not_a_node'],
    ['web_framework_error', undefined],
  ])('that gets %s without ledger headers', async (code, reason) => {
    const { node, client } = await clientOf({});
    client.expect({ chainId: 204, version: 5n });
    const body = JSON.stringify({ message: 'no', error_code: code });
    const refusal = answer(404, { 'content-type': 'application/json' }, body);
    node.interfere = () => refusal;
    const failure = await client.request({ path: '/x' }).then(
      () => undefined,
      (error: { reason: string }) => error.reason,
    );
    expect(failure).toBe(reason);
  });
});
