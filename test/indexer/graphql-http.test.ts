/** GraphQL over HTTP, as SDKs and web pages use it: with every document of the TypeScript SDK, unchanged. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { answerBody } from '../../src/indexer/graphql/answer.ts';
import {
  graphqlListener,
  MAX_GRAPHQL_BODY_BYTES,
  MAX_GRAPHQL_REQUESTS,
} from '../../src/node/indexer/graphql-listener.ts';
import { startIndexerServer } from '../../src/node/indexer/indexer-server.ts';
import { StopList } from '../../src/node/shutdown.ts';
import { Random, testSeed } from '../random.ts';
import { openTables, randomRows } from './dialect/random-rows.ts';

const SDK = dirname(dirname(createRequire(import.meta.url).resolve('@aptos-labs/ts-sdk')));

/** Documents in the SDK's source, with fragments inserted as the SDK does. */
function sdkDocuments(): Map<string, string> {
  const source = readFileSync(join(SDK, '..', 'src/types/generated/queries.ts'), 'utf8');
  const texts = new Map<string, string>();
  for (const [, name, text] of source.matchAll(/export const (\w+) = `([^`]*)`/g)) {
    texts.set(
      name!,
      text!.replace(/\$\{(\w+)\}/g, (_, fragment: string) => texts.get(fragment)!),
    );
  }
  return texts;
}

const DOCUMENTS = sdkDocuments();

let database: Database;
let server: Server;
let origin: string;
/** Awaited by queries. */
let gate: Promise<void> = Promise.resolve();
/** Number of queries that have requested the tables. */
let asked = 0;
const failures: unknown[] = [];

beforeAll(async () => {
  database = await openTables(randomRows(new Random(testSeed())));
  const tables = async (): Promise<Database> => {
    asked += 1;
    await gate;
    return database;
  };
  const listener = graphqlListener(
    (body) => answerBody(body, tables),
    (error) => failures.push(error),
  );
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.close();
});

const post = (body: string): Promise<Response> =>
  fetch(`${origin}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

interface Answer {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

describe('documents of the TypeScript SDK', () => {
  it.each([...DOCUMENTS].filter(([, text]) => text.includes('query ')))('%s', async (_, text) => {
    const variables = Object.fromEntries(
      [...text.matchAll(/\$where_condition: \w+!/g)].map(() => ['where_condition', {}]),
    );
    const response = await post(JSON.stringify({ query: text, variables }));
    const { data, errors } = (await response.json()) as Answer;
    expect(errors).toBeUndefined();
    for (const rows of Object.values(data!)) {
      if (Array.isArray(rows)) expect(rows.length).toBeGreaterThan(0);
      else expect(rows).toEqual({ aggregate: { count: expect.any(Number) } });
    }
  });

  it('are all there', () => {
    expect(DOCUMENTS.size).toBe(29);
  });
});

it('answers with JSON', async () => {
  const response = await post('{"query":"{__typename}"}');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await response.text()).toBe('{"data":{"__typename":"query_root"}}');
});

it.each([
  ['{"query":', 'invalid-json'],
  ['', 'invalid-json'],
  ['{"query":"{__typename}"} more', 'invalid-json'],
  ['[]', 'parse-failed'],
  ['{}', 'parse-failed'],
  ['{"query":1}', 'parse-failed'],
  ['{"query":"{__typename}","variables":[]}', 'parse-failed'],
  ['{"query":"{__typename}","operationName":{}}', 'parse-failed'],
  ['{"query":"{"}', 'validation-failed'],
  ['{"query":"{nothing}"}', 'validation-failed'],
  ['{"query":"{__typename}","variables":{"a":1}}', 'validation-failed'],
  ['{"query":"query a{__typename} query b{__typename}"}', 'validation-failed'],
  ['{"query":"query a{__typename}","operationName":"c"}', 'validation-failed'],
])('%s has status 200 and the code %s', async (body, code) => {
  const response = await post(body);
  expect(response.status).toBe(200);
  const { errors } = (await response.json()) as Answer;
  expect(errors?.[0]?.extensions.code).toBe(code);
});

it('a field that does not exist has the error of the public indexer', async () => {
  expect(await (await post('{"query":"{x}"}')).json()).toEqual({
    errors: [
      {
        message: "field 'x' not found in type: 'query_root'",
        extensions: { path: '$.selectionSet.x', code: 'validation-failed' },
      },
    ],
  });
});

it('pages of other origins may ask', async () => {
  const headers = {
    origin: 'https://wallet.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-aptos-client',
  };
  const preflight = await fetch(`${origin}/v1/graphql`, { method: 'OPTIONS', headers });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('https://wallet.example');
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,x-aptos-client');
  expect((await post('{}')).headers.get('access-control-allow-origin')).toBe('*');
});

it('other paths and methods', async () => {
  expect((await fetch(`${origin}/nothing`)).status).toBe(404);
  expect(await (await fetch(`${origin}/healthz`)).text()).toBe('OK');
  const read = await fetch(`${origin}/v1/graphql`);
  expect(read.status).toBe(405);
  expect(read.headers.get('allow')).toBe('POST, OPTIONS');
});

it('bodies at the limit', async () => {
  const body = (bytes: number): string => '{"query":"{__typename}"}'.padEnd(bytes);
  expect((await post(body(MAX_GRAPHQL_BODY_BYTES - 1))).status).toBe(200);
  expect((await post(body(MAX_GRAPHQL_BODY_BYTES))).status).toBe(200);
  expect((await post(body(MAX_GRAPHQL_BODY_BYTES + 1))).status).toBe(413);
});

describe('requests at a time', () => {
  const QUERY = '{"query":"{__typename}"}';

  /** Starts requests that wait until they are released. */
  async function waiting(count: number): Promise<{ finish(): Promise<Response[]> }> {
    let open = (): void => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    asked = 0;
    const responses = Array.from({ length: count }, () => post(QUERY));
    await expect.poll(() => asked).toBe(count);
    return {
      finish: () => {
        open();
        return Promise.all(responses);
      },
    };
  }

  async function connected(): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  const head = (length: number): string =>
    `POST /v1/graphql HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\n`;

  it('are limited', async () => {
    const all = await waiting(MAX_GRAPHQL_REQUESTS);
    expect((await post(QUERY)).status).toBe(503);
    for (const { status } of await all.finish()) expect(status).toBe(200);
    expect((await post(QUERY)).status).toBe(200);
  });

  it('are not those whose body is not there yet', async () => {
    let begun = 0;
    const onRequest = (): void => {
      begun += 1;
    };
    server.on('request', onRequest);
    const slow = await Promise.all(Array.from({ length: MAX_GRAPHQL_REQUESTS }, connected));
    for (const socket of slow) socket.write(`${head(100)}{`);
    await expect.poll(() => begun).toBe(MAX_GRAPHQL_REQUESTS);
    server.off('request', onRequest);
    expect((await post(QUERY)).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  it('have a place until their answer is taken', async () => {
    const fields = Array.from({ length: 5 }, (_, place) => `a${place}:events{...F}`);
    const long = `{${fields.join(' ')}} fragment F on events{${'a'.repeat(60_000)}:type}`;
    const body = JSON.stringify({ query: long });
    const begun = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const reader = (await connected()).pause();
    reader.write(head(Buffer.byteLength(body)) + body);
    const [, response] = await begun;
    await expect.poll(() => response.writableEnded).toBe(true);
    const others = await waiting(MAX_GRAPHQL_REQUESTS - 1);
    expect((await post(QUERY)).status).toBe(503);
    const ended = new Promise((resolve) => response.once('close', resolve));
    reader.destroy();
    await ended;
    const last = post(QUERY);
    await expect.poll(() => asked).toBe(MAX_GRAPHQL_REQUESTS);
    for (const { status } of [...(await others.finish()), await last]) expect(status).toBe(200);
  });
});

it('a request that does not come in time is ended', async () => {
  const stopList = new StopList();
  const { url } = await startIndexerServer(
    { indexer: 'memory', indexerListen: '127.0.0.1:0' },
    () => Promise.reject(new Error('nobody has asked')),
    pino({ enabled: false }),
    stopList,
    100,
  );
  try {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.write('POST /v1/graphql HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{');
    await once(socket, 'close');
    expect(Buffer.concat(parts).toString()).toContain('408');
  } finally {
    await stopList.stop();
  }
});

it('a failure that no request may cause is reported and not shown', async () => {
  await database.transaction([{ text: 'DROP TABLE ledger_infos', parameters: [] }]);
  const response = await post('{"query":"{ledger_infos{chain_id}}"}');
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({
    errors: [{ message: 'internal error', extensions: { path: '$', code: 'unexpected' } }],
  });
  expect(failures).toEqual([expect.objectContaining({ code: '42P01' })]);
});
