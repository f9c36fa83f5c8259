/** GraphQL over HTTP, as SDKs and pages of a browser ask: with every document of the TypeScript SDK, unchanged. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import {
  graphqlListener,
  MAX_GRAPHQL_BODY_BYTES,
  MAX_GRAPHQL_REQUESTS,
} from '../../src/node/graphql-listener.ts';

import { Random, testSeed } from '../random.ts';
import { openTables, randomRows } from './dialect/random-rows.ts';

const SDK = dirname(dirname(createRequire(import.meta.url).resolve('@aptos-labs/ts-sdk')));

/** Documents of the SDK's source; fragments are put in where it puts them. */
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
/** Queries wait for it. */
let gate: Promise<void> = Promise.resolve();
const failures: unknown[] = [];

beforeAll(async () => {
  database = await openTables(randomRows(new Random(testSeed())));
  const listener = graphqlListener(
    async () => {
      await gate;
      return database;
    },
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

it('requests at a time', async () => {
  let open = (): void => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const received = (count: number): Promise<void> =>
    new Promise((resolve) => {
      let left = count;
      const onRequest = (): void => {
        left -= 1;
        if (left > 0) return;
        server.off('request', onRequest);
        resolve();
      };
      server.on('request', onRequest);
    });
  const all = received(MAX_GRAPHQL_REQUESTS);
  const waiting = Array.from({ length: MAX_GRAPHQL_REQUESTS }, () =>
    post('{"query":"{__typename}"}'),
  );
  await all;
  expect((await post('{"query":"{__typename}"}')).status).toBe(503);
  open();
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
  expect((await post('{"query":"{__typename}"}')).status).toBe(200);
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
