/** Invalid requests get a response of the API, and never cause an unexpected failure (docs/spec/decisions.md D7). */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { propertySeed } from '../random.ts';
import { TestApi } from './client.ts';
import { ENCODE, postEncode, REQUEST } from './encode-request.ts';
import { expectError, LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

let ledger: SmallLedger;
beforeAll(async () => {
  ledger = await openSmallLedger();
});
afterAll(() => ledger.close());

const word = fc.oneof(
  fc.constantFrom('v1', 'accounts', '0x1', '0xcafe', 'module', 'm', 'events', 'balance', '2', ''),
  fc.string({ unit: 'binary', maxLength: 12 }).map(encodeURIComponent),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => [...bytes].map(percentByte).join('')),
  fc.constantFrom('%', '%zz', '%25', '0x1::a::B<u8>', '..', '.', '__proto__', 'constructor'),
);
const query = fc.array(
  fc.tuple(fc.constantFrom('start', 'limit', 'ledger_version', '__proto__', ''), word),
  { maxLength: 3 },
);

function percentByte(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

describe('any request', () => {
  it('gets a status of the interface and, when it fails, the error body', async () => {
    const request = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'DELETE'),
      words: fc.array(word, { maxLength: 6 }),
      query,
      headers: fc.record(
        {
          accept: fc.constantFrom('application/x-bcs', 'x/y', ',,;q', '*/*;q=0'),
          'accept-encoding': fc.constantFrom('br', 'gzip;q=0', '*', ';q=,'),
          'content-encoding': fc.constantFrom('gzip', 'br', 'x'),
          'content-type': fc.constantFrom('application/json', 'x'),
          'if-none-match': fc.constantFrom('*', '"', 'W/'),
          origin: fc.constantFrom('null', 'https://a.example'),
        },
        { requiredKeys: [] },
      ),
      body: fc.string({ maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, words, query: pairs, headers, body }) => {
        const search = pairs.map(([name, value]) => `${name}=${value}`).join('&');
        const response = await ledger.app.request({
          method,
          url: `/v1/${words.join('/')}?${search}`,
          headers,
          body,
        });
        expect([200, 304, 400, 403, 404, 405, 413, 415]).toContain(response.statusCode);
        expect(response.headers['x-node-chain-id']).toBe('42');
        if (response.statusCode >= 400 && method !== 'HEAD') {
          expect(Object.keys(response.json())).toEqual(['message', 'error_code', 'vm_error_code']);
        }
      }),
      { ...propertySeed(), numRuns: 1000 },
    );
    expect(ledger.log.errors).toEqual([]);
  });

  it('to encode gets a message or a refusal', async () => {
    const names = Object.keys(REQUEST);
    const change = fc.tuple(fc.constantFrom(...names, '__proto__'), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 3 }), async (changes) => {
        const body = { ...REQUEST, ...Object.fromEntries(changes) };
        const response = await postEncode(ledger.app, body);
        expect([200, 400]).toContain(response.statusCode);
      }),
      { ...propertySeed(), numRuns: 500 },
    );
    expect(ledger.log.errors).toEqual([]);
  });

  it('that is deep or wide is refused in good time', async () => {
    const half = 4 * 1024 * 1024;
    for (const body of [
      '['.repeat(2 * half),
      `{"payload":${'{"a":'.repeat(half / 5)}`,
      `[${'0,'.repeat(half - 2)}0]`,
      `{"sender":"${'\\u0000'.repeat(half / 6)}"}`,
      `{"sequence_number":"${'9'.repeat(half)}"}`,
    ]) {
      const response = await postEncode(ledger.app, body);
      expect(response.statusCode).toBe(400);
    }
  }, 20_000);
});

describe('a failure that nobody foresaw', () => {
  it('is logged, and told without its text (docs/spec/decisions.md D7)', async () => {
    const log = new LogLines();
    const broken = {
      view() {
        throw new TypeError('secret path /home/somebody');
      },
    };
    const app = new TestApi(buildApi(broken, apiSettings(NO_LOAD_BOUNDS), log));
    for (const url of ['/v1', '/v1/accounts/1/balance/0xa']) {
      expectError(await app.request(url), 500, 'internal_error', 'internal error');
    }
    const encoded = await app.request({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(REQUEST),
    });
    expectError(encoded, 500, 'internal_error', 'internal error');
    expectError(await app.request('/v1/nowhere'), 404, 'web_framework_error', 'not found');
    expect(log.errors).toHaveLength(3);
    await app.close();
  });
});
