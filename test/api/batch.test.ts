/** Many reads at one version (docs/extensions.md): each response is the same as for a single request. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { MAX_BATCH_BODY_BYTES } from '../../src/api/endpoints/extensions/batch.ts';
import { buildApi } from '../../src/api/http/server.ts';
import {
  Admission,
  OVERLOAD_ONSET_MS,
  overloadError,
  WORK_KINDS,
} from '../../src/api/load/admission.ts';
import { MAX_BATCH_READS } from '../../src/api/schemas/extension-schemas.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { HttpUpstream } from '../../src/node/serve/upstream.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { RequestSource, subjectsOf } from '../fork/random-requests.ts';
import { Random, testSeed } from '../random.ts';
import { AnsweringLater } from '../store/answering-later.ts';
import { chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TestApi, type TestReply } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError, LogLines } from './error-answers.ts';
import { from } from './loaded-process.ts';
import { apiSettings } from './settings.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const JSON_TYPE = 'application/json';
const BCS = 'application/x-bcs';
const BALANCE = '/v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin';

interface Read {
  readonly path: string;
  readonly accept?: string | null;
  readonly body?: unknown;
}

interface Answered {
  readonly status: number;
  readonly content_type: string;
  readonly body: unknown;
  readonly cursor?: string;
}

interface BatchBody {
  readonly ledger_version: string;
  readonly responses: readonly Answered[];
}

function post(app: TestApi, body: string | Buffer, accept = JSON_TYPE, query = '') {
  const headers = { accept, 'content-type': JSON_TYPE };
  return app.request({ method: 'POST', url: `/v1/batch${query}`, headers, body });
}

async function batch(app: TestApi, requests: readonly Read[], query = ''): Promise<BatchBody> {
  const reply = await post(app, JSON.stringify({ requests }), JSON_TYPE, query);
  expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)]);
  return reply.json<BatchBody>();
}

/** The texts of the bodies, which `JSON.parse` would change. */
function bodyTexts(text: string): string[] {
  return text
    .slice(0, -2)
    .split('{"status":')
    .slice(1)
    .map((part) => /"body":([\s\S]*?)(?:,"cursor":"[^"]*")?\},?$/.exec(part)![1]!);
}

async function alone(app: TestApi, { path, accept, body }: Read): Promise<TestReply> {
  const headers: Record<string, string> = { accept: accept ?? JSON_TYPE };
  if (body === undefined) return await app.request({ url: path, headers });
  headers['content-type'] = JSON_TYPE;
  return await app.request({ method: 'POST', url: path, headers, body: JSON.stringify(body) });
}

describe('a batch over a sample ledger', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-batch-'));
  const log = new LogLines();
  let app: TestApi;
  let close: () => Promise<void>;
  let reads: readonly Read[];

  beforeAll(async () => {
    const store = await openTestedStore({ directory });
    const writer = await LedgerWriter.open(store);
    for (const chunk of bulkChunks({ seed: 3, transactions: 400, accounts: 20 })) {
      await writer.append(chunk);
    }
    const ledger = openTestedLedger(store);
    app = new TestApi(buildApi(ledger, apiSettings(NO_LOAD_BOUNDS), log));
    close = async () => {
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true });
    };
    const { state, history } = await ledger.view();
    const items: Buffer[] = [];
    for (let start = 0n; start <= state.version; start += 100n) {
      items.push(...(await history.transactions(start, 100, 'test')));
    }
    const random = new Random(testSeed());
    const source = new RequestSource(random, subjectsOf(items), state.version, state.blockHeight);
    reads = Array.from({ length: 3 * MAX_BATCH_READS }, () => {
      const { path, headers, body } = source.next();
      const { accept } = headers;
      return {
        path: `/v1${path}`,
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && { body: JSON.parse(body) as unknown }),
      };
    });
  });
  afterAll(async () => {
    await close();
    expect(log).toEqual(new LogLines());
  });

  it('says what single requests say, byte for byte, in both formats', async () => {
    const document = (await app.request('/v1/spec.json')).json<Json>();
    const schemas = new DocumentSchemas(document);
    for (let from = 0; from < reads.length; from += MAX_BATCH_READS) {
      const part = reads.slice(from, from + MAX_BATCH_READS);
      const reply = await post(app, JSON.stringify({ requests: part }));
      const found = reply.json<BatchBody>();
      const schema = { $ref: '#/components/schemas/BatchAnswers' };
      expect(schemas.problems(schema, found as unknown as Json)).toEqual([]);
      const texts = bodyTexts(reply.body);
      const inBcs = bcsAnswers(
        (await post(app, JSON.stringify({ requests: part.map(withAccept) }), BCS)).bytes,
      );
      expect(String(inBcs.version)).toBe(found.ledger_version);
      for (const [index, read] of part.entries()) {
        const single = await alone(app, read);
        const { statusCode: status, headers, bytes } = single;
        const contentType = headers['content-type'];
        const cursor = headers['x-node-cursor'];
        const { body: _, ...facts } = found.responses[index]!;
        expect([read, facts]).toEqual([
          read,
          { status, content_type: contentType, ...(cursor !== undefined && { cursor }) },
        ]);
        const text = contentType === BCS ? `"0x${bytes.toString('hex')}"` : single.body;
        expect([read, texts[index]]).toEqual([read, text]);
        expect([read, inBcs.answers[index]]).toEqual([
          read,
          { status, contentType, body: bytes.toString('hex'), cursor },
        ]);
      }
    }
  });

  it('has the format of the batch where a read names none', async () => {
    const requests = [{ path: BALANCE }, { path: BALANCE, accept: null }, { path: '/v1/nothing' }];
    const { answers } = bcsAnswers((await post(app, JSON.stringify({ requests }), BCS)).bytes);
    expect(answers.map(({ contentType }) => contentType)).toEqual([BCS, BCS, JSON_TYPE]);
  });

  it('reads at its own version where a read names none', async () => {
    const own = await alone(app, { path: '/v1/accounts/0x1/resources?limit=3&ledger_version=7' });
    const other = await alone(app, { path: `${BALANCE}?ledger_version=9` });
    const { ledger_version, responses } = await batch(
      app,
      [
        { path: '/v1/accounts/0x1/resources?limit=3' },
        { path: `${BALANCE}?ledger_version=9` },
        { path: '/v1/transactions/by_version/3' },
        { path: `${BALANCE}?` },
      ],
      '?ledger_version=7',
    );
    expect(ledger_version).toBe('7');
    expect(responses[0]!.body).toEqual(own.json());
    expect(responses[0]!.cursor).toBe(own.headers['x-node-cursor']);
    expect(responses[1]!.body).toEqual(other.json());
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('answers each of too late a version with its own 404', async () => {
    const { responses } = await batch(
      app,
      [{ path: BALANCE }, { path: '/v1' }],
      '?ledger_version=99999',
    );
    expect(responses.map(({ status }) => status)).toEqual([404, 200]);
  });

  it('of nothing is empty', async () => {
    const { responses } = await batch(app, []);
    expect(responses).toEqual([]);
  });
});

function withAccept(read: Read): Read {
  return { accept: JSON_TYPE, ...read };
}

function bcsAnswers(bytes: Buffer) {
  const reader = new BcsReader(bytes);
  const version = reader.u64();
  const answers = reader.vector(1, () => ({
    status: reader.u16(),
    contentType: reader.string(),
    body: reader.bytes().toString('hex'),
    cursor: reader.option((inner) => inner.string()),
  }));
  reader.finish();
  return { version, answers };
}

describe('a batch', () => {
  let ledger: SmallLedger;
  beforeAll(async () => {
    ledger = await openSmallLedger({ maxHeaderBytes: 4096 });
  });
  afterAll(async () => {
    await ledger.close();
    expect(ledger.log).toEqual(new LogLines());
  });

  it.each([
    [MAX_BATCH_READS - 1, 200],
    [MAX_BATCH_READS, 200],
    [MAX_BATCH_READS + 1, 400],
  ])('of %i reads is answered with %i', async (count, status) => {
    const requests = Array.from({ length: count }, () => ({ path: BALANCE }));
    const reply = await post(ledger.app, JSON.stringify({ requests }));
    expect(reply.statusCode).toBe(status);
    if (status === 200) expect(reply.json<BatchBody>().responses).toHaveLength(count);
    else {
      const message = `A batch has at most ${MAX_BATCH_READS} requests, this one has ${count}`;
      expectError(reply, 400, 'invalid_input', message);
    }
  });

  it.each([
    [MAX_BATCH_BODY_BYTES - 1, 200],
    [MAX_BATCH_BODY_BYTES, 200],
    [MAX_BATCH_BODY_BYTES + 1, 413],
    [10 * 1024 * 1024, 413],
  ])('in %i bytes is answered with %i', async (bytes, status) => {
    const body = '{"requests":[{"path":"/v1"}]}'.padEnd(bytes);
    const reply = await post(ledger.app, body);
    expect(reply.statusCode).toBe(status);
    if (status === 413) expectError(reply, 413, 'web_framework_error', 'payload too large');
  });

  it.each([
    ['{"requests":[', 400, 'web_framework_error'],
    ['', 400, 'web_framework_error'],
    ['[]', 400, 'web_framework_error'],
    ['{}', 400, 'web_framework_error'],
    ['{"requests":{}}', 400, 'web_framework_error'],
    ['{"requests":[1]}', 400, 'web_framework_error'],
    ['{"requests":[{}]}', 400, 'web_framework_error'],
    ['{"requests":[{"path":1}]}', 400, 'web_framework_error'],
    ['{"requests":[{"path":"/v1","accept":1}]}', 400, 'web_framework_error'],
    [`{"requests":[{"path":"/v1","body":${'['.repeat(200)}]}`, 400, 'web_framework_error'],
  ])('%s is refused as a whole', async (body, status, code) => {
    const reply = await post(ledger.app, body);
    expect([reply.statusCode, reply.json<{ error_code: string }>().error_code]).toEqual([
      status,
      code,
    ]);
  });

  it('that is not JSON is refused', async () => {
    const headers = { 'content-type': 'text/plain' };
    const asked = { method: 'POST', url: '/v1/batch', headers, body: '{"requests":[]}' };
    expect((await ledger.app.request(asked)).statusCode).toBe(415);
  });

  it('takes the last of repeated members', async () => {
    const body = `{"requests":[],"requests":[{"path":"/v1/no","path":"${BALANCE}"}]}`;
    const { responses } = (await post(ledger.app, body)).json<BatchBody>();
    expect(responses).toMatchObject([{ status: 200 }]);
  });

  it('answers strange paths each with a refusal', async () => {
    const fitting = `${BALANCE}?x=`.padEnd(4096, 'y');
    const asked: readonly (readonly [path: string, status: number])[] = [
      ['', 400],
      ['v1', 400],
      ['http://127.0.0.1/v1', 400],
      ['//v1', 404],
      ['//127.0.0.1/v1', 404],
      ['/v1//', 404],
      ['/v1/accounts//balance/0xa', 400],
      [`${BALANCE}#x`, 400],
      [`${BALANCE}\0`, 400],
      [`${BALANCE}%00`, 400],
      [`${BALANCE} HTTP/1.1\r\nHost: x`, 400],
      ['/v1/accounts/é', 400],
      ['/v1/accounts/%c3%28/resources', 400],
      ['/../v1', 404],
      ['/', 404],
      ['/v1/spec.json', 400],
      ['/v1/spec', 404],
      [fitting.slice(1), 400],
      [fitting, 200],
      [`${fitting}y`, 431],
      ['/v1/'.padEnd(100_000, 'a/'), 431],
    ];
    const { responses } = await batch(
      ledger.app,
      asked.map(([path]) => ({ path })),
    );
    const statuses = asked.map(([path], index) => [path.slice(0, 80), responses[index]!.status]);
    expect(statuses).toEqual(asked.map(([path, status]) => [path.slice(0, 80), status]));
  });

  it.each([
    ['/v1/-/healthy', undefined],
    ['/v1/-/ready', undefined],
    ['/v1/-/snapshots', undefined],
    ['/v1/-/heads', undefined],
    [`/v1/transactions/wait_by_hash/0x${'0'.repeat(64)}`, undefined],
    ['/v1/batch', { requests: [] }],
    ['/v1/transactions', {}],
    ['/v1/transactions/batch', []],
    ['/v1/transactions/simulate', {}],
  ])('cannot have %s', async (path, body) => {
    const { responses } = await batch(ledger.app, [{ path, ...(body && { body }) }]);
    expect(responses).toMatchObject([{ status: 400, body: { error_code: 'invalid_input' } }]);
  });

  it('answers a wrong method as alone', async () => {
    const { responses } = await batch(ledger.app, [
      { path: BALANCE, body: {} },
      { path: '/v1/view' },
    ]);
    expect(responses.map(({ status }) => status)).toEqual([405, 405]);
  });
});

it('a batch is answered from one state while the ledger grows', async () => {
  const writer = await LedgerWriter.open(new MemoryStore());
  await writer.append(chunk(0, [transaction(0)]));
  const log = new LogLines();
  const ledger = openLedger(new AnsweringLater(writer.reader));
  const app = new TestApi(buildApi(ledger, apiSettings(NO_LOAD_BOUNDS), log));
  const requests = Array.from({ length: MAX_BATCH_READS }, (_, index) => ({
    path: index % 2 === 0 ? '/v1' : `/v1/accounts/0x1/balance/0x${index}`,
  }));
  for (let next = 1; next < 20; next += 1) {
    const answered = batch(app, requests);
    await writer.append(chunk(next, [transaction(next)]));
    const { ledger_version, responses } = await answered;
    const infos = responses.filter((_, index) => index % 2 === 0);
    const versions = infos.map(({ body }) => (body as BatchBody).ledger_version);
    expect(new Set(versions)).toEqual(new Set([ledger_version]));
  }
  await app.close();
  expect(log).toEqual(new LogLines());
});

it('a batch whose client goes is not answered to the end', async () => {
  const writer = await LedgerWriter.open(new MemoryStore());
  await writer.append(chunk(0, [transaction(0)]));
  const store = new AnsweringLater(writer.reader);
  const api = buildApi(openLedger(store), apiSettings(NO_LOAD_BOUNDS), new LogLines());
  const app = new TestApi(api);
  const requests = Array.from({ length: MAX_BATCH_READS }, (_, index) => ({
    path: `/v1/accounts/0x${index}/balance/0x${index}`,
  }));
  const body = JSON.stringify({ requests });
  const readsOf = async (isLeaving: boolean): Promise<number> => {
    const before = store.reads.length;
    const socket = connect(await app.port(), '127.0.0.1');
    api.server.once('request', (_, response: ServerResponse) => {
      if (isLeaving) void nextRead().then(() => response.socket!.destroy());
    });
    const nextRead = async (): Promise<void> => {
      while (store.reads.length === before) await delay(0);
    };
    socket.write(
      'POST /v1/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.resume();
    await once(socket, 'close');
    await delay(50);
    return store.reads.length - before;
  };
  const all = await readsOf(false);
  expect(all).toBeGreaterThanOrEqual(MAX_BATCH_READS);
  expect(await readsOf(true)).toBeLessThan(all / 2);
  await app.close();
});

it('in overload refuses reads of a batch, each as what it is', async () => {
  const writer = await LedgerWriter.open(new MemoryStore());
  await writer.append(chunk(0, [transaction(0)]));
  let nowMs = 0;
  const settings = apiSettings({ ...NO_LOAD_BOUNDS, maxBacklogMs: 100 });
  let lookMs = 30;
  const tick = () => {
    nowMs += lookMs;
    return nowMs;
  };
  const admission = new Admission(settings, () => 0, tick);
  const log = new LogLines();
  const app = new TestApi(buildApi(openLedger(writer.reader), settings, log, { admission }));
  await app.request('/v1');
  while (nowMs < OVERLOAD_ONSET_MS + 10) {
    for (let index = 0; index < 110; index += 1) admission.admits('read', from('10.0.0.1'));
    await nextTurn();
  }
  // The client now uses up its share after a few clock reads, and the short turns before its request do not end the
  // overload.
  lookMs = 5;
  const before = WORK_KINDS.map((kind) => admission.refusedCount(kind));
  const reads = Array.from({ length: 100 }, () => ({ path: '/v1' }));
  // So many because on a busy machine the batch pauses often, and each of its turns admits ten.
  const listings = Array.from({ length: 150 }, () => ({ path: '/v1/accounts/0x1/modules' }));
  const { responses } = await batch(app, [...reads, ...listings]);
  const refused = { read: responses.slice(0, 100), listing: responses.slice(100), body: [] };
  for (const [index, kind] of WORK_KINDS.entries()) {
    const ofKind = refused[kind].filter(({ status }) => status === 503);
    expect(admission.refusedCount(kind) - before[index]!).toBe(ofKind.length);
    const { message } = overloadError(kind);
    for (const { body } of ofKind) expect(body).toMatchObject({ message });
  }
  expect(refused.read.map(({ status }) => status)).toContain(503);
  expect(refused.read.map(({ status }) => status)).toContain(200);
  expect(refused.listing.map(({ status }) => status)).toContain(503);
  await app.close();
  expect(log).toEqual(new LogLines());
});

it('a batch asks no upstream', async () => {
  const nobody = new HttpUpstream(new URL('http://127.0.0.1:1/v1'), pino({ level: 'silent' }));
  const ledger = await openSmallLedger({}, nobody);
  const hash = '0'.repeat(64);
  const view = { function: '0x1::m::f', type_arguments: [], arguments: [] };
  const reads = [{ path: `/v1/transactions/by_hash/${hash}` }, { path: '/v1/view', body: view }];
  const { responses } = await batch(ledger.app, reads);
  for (const { status } of responses) expect(status).toBeLessThan(500);
  expect(nobody.counts).toEqual([]);
  nobody.close();
  await ledger.close();
});

it('a batch has its own 410 for each read of what is pruned', async () => {
  const ledger = await openSmallLedger();
  await ledger.prune();
  const { responses } = await batch(ledger.app, [
    { path: `${BALANCE}?ledger_version=1` },
    { path: `${BALANCE}?ledger_version=2` },
    { path: '/v1/accounts/0xcafe/events/2?start=0' },
  ]);
  expect(responses.map(({ status }) => status)).toEqual([410, 200, 410]);
  await ledger.close();
});
