/**
 * Forks of real nodes, in processes of their own: random requests (FORK_REQUESTS sets the number), then the same
 * without the upstream.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreReader } from '../../src/node/open-store.ts';
import { openView } from '../../src/store/read/view.ts';
import { type AnyRequest, RequestSource, subjectsOf } from '../fork/random-requests.ts';
import { IS_LONG, Random, roundsOf, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';
import { until } from './worker-processes.ts';

const seed = testSeed('fork');
const folder = temporaryFolder();
const data = join(folder, 'sample');
const REQUESTS = roundsOf('FORK_REQUESTS', 150, 1_000);
/** Concurrent requests, because a fork mostly waits. */
const SENDERS = 8;
/** On a busy machine requests would be refused as overload, but every response is compared here. */
const NO_LOAD_BOUNDS = ['--max-backlog-ms', '0'];
const FAST = ['--fork-requests-per-second', '100000', ...NO_LOAD_BOUNDS];

let requests: readonly AnyRequest[];

beforeAll(async () => {
  const made = await runCommand(['sample', '--data', data, '--transactions', '1500']);
  expect(made.code).toBe(0);
  const store = await openStoreReader(data);
  const view = await openView(store);
  const { version, blockHeight } = view.head;
  const items = await view.transactions(0n, Number(version) + 1);
  const source = new RequestSource(new Random(seed), subjectsOf(items), version, blockHeight);
  requests = Array.from({ length: REQUESTS }, () => source.next());
  await store.close();
});
afterAll(killLeftNodes);

/** Status, headers and body of a response. */
async function answerOf(node: ServedNode, { method, path, headers, body }: AnyRequest) {
  // The node closes connections that wait for the other node's response.
  const request = { method, headers: { ...headers, connection: 'close' } };
  const response = await fetch(node.ready.url + path, { ...request, ...(body && { body }) });
  const shown = Object.fromEntries(response.headers);
  delete shown['date'];
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: shown, body: bytes.toString('latin1') };
}

/** Calls `check` for every request, some of them concurrently. */
async function withAll(check: (request: AnyRequest, index: number) => Promise<void>) {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (;;) {
      const index = next;
      next += 1;
      const request = requests[index];
      if (request === undefined) return;
      await check(request, index);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function compareWith(upstream: ServedNode, fork: string): Promise<void> {
  const recording = await ServedNode.start(fork, ['--fork', upstream.ready.url, ...FAST]);
  const expected: Awaited<ReturnType<typeof answerOf>>[] = [];
  await withAll(async (request, index) => {
    const wanted = await answerOf(upstream, request);
    expect([request, await answerOf(recording, request)]).toEqual([request, wanted]);
    expected[index] = wanted;
  });
  expect((await recording.stop()).code).toBe(0);
  await upstream.stop('SIGKILL');
  const offline = await ServedNode.start(fork, ['--offline', ...NO_LOAD_BOUNDS]);
  await withAll(async (request, index) => {
    expect([request, await answerOf(offline, request)]).toEqual([request, expected[index]]);
  });
  expect(new Set(expected.map(({ status }) => status))).toEqual(new Set([200, 400, 404]));
  const missed = await offline.get('/accounts/0x1234567/module/nothing');
  expect([missed.status, ((await missed.json()) as { message: string }).message]).toEqual([
    503,
    expect.stringMatching(/not recorded the module 0x1234567::nothing at version \d+.*--fork URL$/),
  ]);
  expect((await offline.stop()).code).toBe(0);
}

describe(`a fork (seed ${seed})`, () => {
  const patience = { timeout: 900_000 + REQUESTS * 200 };

  it('of a sample node answers as it does, then alone', patience, async () => {
    await compareWith(await ServedNode.start(data, NO_LOAD_BOUNDS), join(folder, 'of-sample'));
  });

  it.runIf(IS_LONG)('of a follower answers as it does, then alone', patience, async () => {
    const sample = await ServedNode.start(data);
    const args = ['--follow', sample.ready.url, ...NO_LOAD_BOUNDS];
    const follower = await ServedNode.start(join(folder, 'follower'), args);
    const versionOf = async (node: ServedNode) =>
      (await node.get('')).headers.get('x-node-ledger-version');
    const newest = await versionOf(sample);
    await until('the follower has it all', async () => (await versionOf(follower)) === newest);
    await compareWith(follower, join(folder, 'of-follower'));
    await sample.stop();
  });
});
