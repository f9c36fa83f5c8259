/** Entity tags, long-lived responses and compression (docs/spec/http.md §10.2; docs/spec/decisions.md D11). */

import { brotliDecompressSync, gunzipSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from './client.ts';
import { postEncode, REQUEST } from './encode-request.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

const BALANCE = '/v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin';
const EVENTS = '/v1/accounts/0xcafe/events/2';
const MODULE = '/v1/accounts/0x1/module/m';

let ledger: SmallLedger;
let app: TestApi;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
});
afterAll(() => ledger.close());

describe('caching, docs/spec/decisions.md D11', () => {
  it.each([BALANCE, MODULE, EVENTS, '/v1', '/v1/spec.yaml'])('%s is tagged', async (url) => {
    const first = await app.request(url);
    const { etag } = first.headers as { etag: string };
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers['cache-control']).toBeUndefined();
    expect(first.headers.vary).toBe('Origin, Accept, Accept-Encoding');
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await app.request({ url, headers: { 'if-none-match': known } });
      expect([again.statusCode, again.body]).toEqual([304, '']);
      expect(again.headers).toMatchObject({ etag, vary: first.headers.vary });
      expect(again.headers).not.toHaveProperty('content-type');
    }
    for (const other of ['"x"', etag.slice(0, -2), '']) {
      const again = await app.request({ url, headers: { 'if-none-match': other } });
      expect([again.statusCode, again.body]).toEqual([200, first.body]);
    }
  });

  it.each([BALANCE, MODULE, EVENTS, '/v1'])('%s has a tag for each form', async (url) => {
    const tags = new Set<unknown>();
    for (const accept of ['application/json', 'application/x-bcs']) {
      for (const coding of ['', 'gzip', 'deflate', 'br']) {
        const headers = { accept, 'accept-encoding': coding };
        const { etag } = (await app.request({ url, headers })).headers as { etag: string };
        tags.add(etag);
        const again = await app.request({ url, headers: { ...headers, 'if-none-match': etag } });
        expect(again.statusCode).toBe(304);
      }
    }
    expect(tags.size).toBe(8);
  });

  it('an answer at a version is there for good', async () => {
    for (const url of [BALANCE, MODULE]) {
      const { headers } = await app.request(`${url}?ledger_version=4`);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers.etag).toBe((await app.request(url)).headers.etag);
      const old = await app.request({
        url: `${url}?ledger_version=4`,
        headers: { 'if-none-match': headers.etag as string },
      });
      expect(old.statusCode).toBe(304);
      expect(old.headers['cache-control']).toBe(headers['cache-control']);
    }
  });

  it('failures and encoded transactions are not', async () => {
    const missing = await app.request('/v1/accounts/0x1/module/no?ledger_version=1');
    const encoded = await postEncode(app, REQUEST, { 'if-none-match': '*' });
    expect(encoded.statusCode).toBe(200);
    for (const { headers } of [missing, encoded]) {
      expect(headers).not.toHaveProperty('etag');
      expect(headers).not.toHaveProperty('cache-control');
    }
  });

  it('different answers have different tags', async () => {
    const tag = async (url: string) => (await app.request(url)).headers.etag;
    expect(await tag(BALANCE)).not.toBe(await tag(`${BALANCE}?ledger_version=0`));
    expect(await tag(EVENTS)).not.toBe(await tag(`${EVENTS}?limit=24`));
  });
});

describe('compression, docs/spec/http.md §10.2', () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateRawSync };

  it.each(['br', 'gzip', 'deflate'] as const)('answers come in %s', async (coding) => {
    for (const url of [BALANCE, MODULE, EVENTS, '/v1', '/v1/spec.json']) {
      const plain = await app.request(url);
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (let again = 0; again < 2; again += 1) {
        const response = await app.request({ url, headers: { 'accept-encoding': coding } });
        expect(response.headers['content-encoding']).toBe(coding);
        expect(response.headers['content-length']).toBe(String(response.bytes.length));
        expect(decoders[coding](response.bytes).toString()).toBe(plain.body);
      }
    }
    const encoded = await postEncode(app, REQUEST, { 'accept-encoding': coding });
    expect(decoders[coding](encoded.bytes).toString()).toMatch(/^"0xb5e9/);
  });

  it('errors do not, with an origin or without', async () => {
    for (const url of ['/v1/nowhere', `${BALANCE}?ledger_version=9`]) {
      for (const origin of [{}, { origin: 'x' }]) {
        const headers = { 'accept-encoding': 'gzip', ...origin };
        const response = await app.request({ url, headers });
        expect(response.headers['content-encoding']).toBeUndefined();
        expect(response.json()).toHaveProperty('error_code');
      }
    }
  });

  it('can be switched off', async () => {
    const off = await openSmallLedger({ compressionEnabled: false });
    const { headers } = await off.app.request({
      url: EVENTS,
      headers: { 'accept-encoding': 'br' },
    });
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers.vary).toBe('Origin, Accept');
    await off.close();
  });
});
