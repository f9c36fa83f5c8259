/** Module events by type as server-sent events (docs/extensions.md). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import type { TestApi } from './client.ts';
import { EventClient } from './event-client.ts';
import { openChunks, type TypedEvent } from './typed-events.ts';

const TYPE = '0x1::transaction_fee::FeeStatement';
const PATH = `/v1/events/by_type/${encodeURIComponent(TYPE)}`;
/** Number of times that a listener is killed and resumed. */
const KILLS = roundsOf('KILLS', 10, 300);

function idOf({ version, index }: TypedEvent): string {
  return `${version}:${index}`;
}

async function listenTo(app: TestApi, query: string, headers = {}): Promise<EventClient> {
  return await new EventClient(`http://127.0.0.1:${await app.port()}${PATH}?${query}`, headers)
    .opened;
}

test('as a stream: history, then what comes; resumed after any event; at every turn what the pages are', async () => {
  const chunks = [
    ...bulkChunks({
      ...{ seed: 5, transactions: 900, accounts: 30 },
      chunkTransactions: 60,
    }),
  ];
  const { app, ask, walk, writer, close } = await openChunks(chunks.slice(0, 4));
  const clients: EventClient[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await close();
  });
  const listen = async (query: string, headers = {}): Promise<EventClient> => {
    const client = await listenTo(app, query, headers);
    clients.push(client);
    return client;
  };
  const whole = await listen('');
  const from = Number(writer.head!.version) + 200;
  const late = await listen(`start=${from}`);
  const none = await listen('start=18446744073709551615:4294967295');
  for (const next of chunks.slice(4)) await writer.append(next);
  const expected = await walk(TYPE, '0', 'limit=100');
  expect(expected.length).toBeGreaterThan(200);
  await whole.until(expected.length);
  expect(whole.records).toEqual(expected);
  expect(whole.events.map(({ id }) => id)).toEqual(expected.map(idOf));
  await late.until(1);
  expect(late.records).toEqual(
    expected.filter(({ version }) => Number(version) >= from).slice(0, late.records.length),
  );
  const random = new Random(testSeed('resuming'));
  for (let turn = 0; turn < 10; turn += 1) {
    const at = random.below(expected.length - 1);
    const resumed = await listen('start=0', { 'Last-Event-ID': idOf(expected[at]!) });
    await resumed.until(expected.length - at - 1);
    expect(resumed.records).toEqual(expected.slice(at + 1));
  }
  expect([none.status, none.events]).toEqual([200, []]);
  for (const [query, headers] of [
    ['', { 'Last-Event-ID': 'x' }],
    ['', { 'Last-Event-ID': '1:4294967296' }],
    ['limit=0', {}],
    ['ledger_version=5', {}],
  ] as const) {
    expect((await listen(query, headers)).status).toBe(400);
  }
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 100 });
  while ((await ask(TYPE, 'start=0')).statusCode !== 410) await nextTurn();
  expect((await listen('start=0')).status).toBe(410);
  expect((await listen('', { 'Last-Event-ID': '0:0' })).status).toBe(410);
});

test(`killed and resumed ${KILLS} times while the ledger grows, is pruned and served anew, a listener gets each event once, or 410`, async () => {
  const random = new Random(testSeed('kills'));
  const settings = { seed: 6, transactions: 3_000, accounts: 30, chunkTransactions: 20 };
  const chunks = [...bulkChunks(settings)];
  const ledger = await openChunks(chunks);
  const all = await ledger.walk(TYPE, '0', 'limit=100');
  await ledger.close();
  const { writer, serve, close } = await openChunks(chunks.slice(0, 1));
  const perTurn = chunks.length / KILLS;
  let app = serve();
  onTestFinished(async () => {
    await app.close();
    await close();
  });
  let appended = 1;
  const growTo = async (count: number): Promise<void> => {
    for (; appended < Math.min(count, chunks.length); appended += 1) {
      await writer.append(chunks[appended]!);
    }
  };
  let last: string | undefined;
  let expected = 0;
  const happened = { received: 0, prunes: 0, restarts: 0, refusals: 0 };
  for (let kill = 0; kill < KILLS || expected < all.length; kill += 1) {
    const listener =
      last === undefined
        ? await listenTo(app, 'start=0')
        : await listenTo(app, 'start=0', { 'Last-Event-ID': last });
    if (listener.status === 410) {
      const oldest = writer.head!.oldestVersion;
      const first = all.findIndex(({ version }) => BigInt(version) >= oldest);
      expect(first).toBeGreaterThanOrEqual(expected);
      happened.refusals += 1;
      expected = first;
      last = `${oldest - 1n}:4294967295`;
      continue;
    }
    expect(listener.status).toBe(200);
    await growTo((kill + 2) * perTurn);
    const { version } = writer.head!;
    const there = all.filter((event) => BigInt(event.version) <= version).length - expected;
    await listener.until(random.below(Math.max(there, 0) + 1));
    listener.close();
    const got = listener.events.filter(({ type }) => type === 'message').map(({ id }) => id!);
    expect(got).toEqual(all.slice(expected, expected + got.length).map(idOf));
    expected += got.length;
    happened.received += got.length;
    last = got.at(-1) ?? last;
    if (random.below(12) === 0) {
      happened.restarts += 1;
      await app.close();
      app = serve();
    }
    if (random.below(8) > 0) continue;
    // The ledger grows while the listener is away.
    await growTo(appended + random.below(10));
    happened.prunes += 1;
    const versions = 1 + random.below(100);
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions });
  }
  console.info(`seed ${random.seed}:`, happened);
  for (const [what, times] of Object.entries(happened)) expect(times, what).toBeGreaterThan(0);
});
