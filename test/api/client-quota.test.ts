/** A quota of requests for each client, and the headers that say what is left of it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/http/error-table.ts';
import {
  ClientQuota,
  MAX_COUNTED_CLIENTS,
  QUOTA_WINDOW_SECS,
} from '../../src/api/load/client-quota.ts';
import { from, GET } from './loaded-process.ts';
import { apiSettings } from './settings.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

const MAX = 5;
const POLICY = `"client";q=${MAX};w=${QUOTA_WINDOW_SECS}`;

/** A quota whose clock stands still unless it is set. */
class Counted {
  nowMs = 0;
  readonly quota = new ClientQuota(
    { maxClientRequests: MAX, trustedProxies: '10.9.9.9' },
    () => this.nowMs,
  );

  /** @returns the seconds of `Retry-After`, or 0 when it was let in */
  ask(client: string, forwarded?: string): number {
    try {
      this.quota.count(from(client, forwarded));
      return 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      expect([error.status, error.code]).toEqual([429, 'rate_limited']);
      return error.retryAfterSecs!;
    }
  }

  left(client: string): string {
    const [policyName, policy, name, limit] = this.quota.headers(from(client));
    expect([policyName, policy, name]).toEqual(['ratelimit-policy', POLICY, 'ratelimit']);
    return limit!;
  }
}

describe('a quota', () => {
  it('is for each client', () => {
    const one = new Counted();
    expect(one.left('10.0.0.1')).toBe(`"client";r=5;t=${QUOTA_WINDOW_SECS}`);
    const asked = Array.from({ length: MAX + 1 }, () => one.ask('10.0.0.1'));
    expect(asked).toEqual([0, 0, 0, 0, 0, QUOTA_WINDOW_SECS]);
    expect(one.left('10.0.0.1')).toBe(`"client";r=0;t=${QUOTA_WINDOW_SECS}`);
    expect(one.ask('10.0.0.2')).toBe(0);
    expect(one.left('10.0.0.2')).toBe(`"client";r=4;t=${QUOTA_WINDOW_SECS}`);
  });

  it.each([
    [-1, 1],
    [0, 0],
    [1, 0],
  ])('is there again %i ms after its window', (laterMs, retryAfterSecs) => {
    const one = new Counted();
    one.nowMs = 77;
    for (let asked = 0; asked < MAX; asked += 1) one.ask('10.0.0.1');
    one.nowMs += 1_500;
    expect(one.ask('10.0.0.1')).toBe(QUOTA_WINDOW_SECS - 1);
    expect(one.left('10.0.0.1')).toBe(`"client";r=0;t=${QUOTA_WINDOW_SECS - 1}`);
    one.nowMs = 77 + QUOTA_WINDOW_SECS * 1_000 + laterMs;
    expect(one.ask('10.0.0.1')).toBe(retryAfterSecs);
    const secs = retryAfterSecs || QUOTA_WINDOW_SECS;
    expect(one.left('10.0.0.1')).toBe(`"client";r=${retryAfterSecs === 0 ? 4 : 0};t=${secs}`);
  });

  it('is one for what says that it comes from many clients, unless a proxy says so', () => {
    const one = new Counted();
    const spoofed = Array.from({ length: MAX + 1 }, (_, n) =>
      one.ask('10.0.0.1', `for=6.6.6.${n}`),
    );
    expect(spoofed.at(-1)).toBeGreaterThan(0);
    const proxied = Array.from({ length: MAX + 1 }, (_, n) =>
      one.ask('10.9.9.9', `for=6.6.6.${n}`),
    );
    expect(proxied.at(-1)).toBe(0);
    const ofNetwork = Array.from({ length: MAX + 1 }, (_, n) => one.ask(`2001:db8::${n}`));
    expect(ofNetwork.at(-1)).toBeGreaterThan(0);
  });

  it.each([
    [MAX_COUNTED_CLIENTS - 1, 0],
    [MAX_COUNTED_CLIENTS, 0],
    [MAX_COUNTED_CLIENTS + 1, 1],
    [100_000, 1],
  ])('is remembered of %i clients: %i is forgotten', (clients, forgotten) => {
    const one = new Counted();
    one.ask('10.0.0.1');
    for (let n = 2; n < clients; n += 1) {
      one.ask(`11.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
      // One that goes on asking is not forgotten.
      if (n % 1_000 === 2) one.ask('10.0.0.2');
    }
    expect(one.left('10.0.0.1')).toContain(forgotten === 0 ? 'r=4' : 'r=5');
    expect(one.left('10.0.0.2')).not.toContain('r=5');
  });
});

describe('an interface with a quota', () => {
  let ledger: SmallLedger;
  beforeAll(async () => {
    ledger = await openSmallLedger({ maxClientRequests: MAX, trustedProxies: '127.0.0.1' });
  });
  afterAll(() => ledger.close());

  /** A request of a client that no other test has. */
  async function ask(client: string, url: string, more: object = {}) {
    const headers = { forwarded: `for=${client}`, origin: 'https://x.example' };
    return await ledger.app.request({ url, headers, ...more });
  }

  it('says on every answer what is left, and answers 429 when nothing is', async () => {
    const urls = ['/v1', '/v1/accounts/0xcafe', '/v1/nowhere', '/v1/blocks/x', '/v1'];
    for (const [index, url] of urls.entries()) {
      const { headers } = await ask('192.0.2.1', url);
      expect(headers['ratelimit-policy']).toBe(POLICY);
      expect(headers['ratelimit']).toMatch(new RegExp(`^"client";r=${MAX - 1 - index};t=\\d+$`));
    }
    const refused = await ask('192.0.2.1', '/v1');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      message: `A client may make ${MAX} requests in ${QUOTA_WINDOW_SECS} seconds`,
      error_code: 'rate_limited',
      vm_error_code: null,
    });
    const { headers } = refused;
    expect(headers['ratelimit']).toBe(`"client";r=0;t=${headers['retry-after']}`);
    expect(headers['x-node-chain-id']).toBe('42');
    const exposed = headers['access-control-expose-headers'];
    expect(exposed).toMatch(/, ratelimit-policy, ratelimit, retry-after$/);
    expect((await ask('192.0.2.2', '/v1')).statusCode).toBe(200);
    expect(ledger.log.warnings).toEqual([]);
  });

  it('counts a body once, reads of a batch one by one, and health checks not at all', async () => {
    const headers = { 'content-type': 'application/json', forwarded: 'for=192.0.2.3' };
    const post = { method: 'POST', headers, body: '{}' };
    const encode = await ask('', '/v1/transactions/encode_submission', post);
    expect(encode.headers['ratelimit']).toContain('r=4;');
    const body = JSON.stringify({ requests: Array.from({ length: 5 }, () => ({ path: '/v1' })) });
    const batch = await ask('', '/v1/batch', { ...post, body });
    const statuses = batch.json().responses.map(({ status }: { status: number }) => status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await ask('192.0.2.3', '/v1/-/healthy')).statusCode).toBe(200);
    }
    expect((await ask('192.0.2.3', '/v1')).statusCode).toBe(429);
  });

  it('describes 429 in its document', async () => {
    const document = (await ask('192.0.2.4', '/v1/spec.json')).json();
    expect(document.components.responses.Error429.description).toMatch(/^Extension/);
    const { responses } = document.paths['/accounts/{address}'].get;
    expect(responses['429']).toEqual({ $ref: '#/components/responses/Error429' });
    expect(document.paths['/-/healthy'].get.responses['429']).toBeUndefined();
  });
});

it('there is no quota by default, and no header of one', async () => {
  expect(apiSettings().maxClientRequests).toBe(0);
  const ledger = await openSmallLedger();
  const { headers, body } = await ledger.app.request({ url: '/v1', headers: { origin: 'x' } });
  expect(JSON.stringify(headers).toLowerCase()).not.toContain('ratelimit');
  expect(body).toContain('chain_id');
  const document = (await ledger.app.request('/v1/spec.json')).body;
  expect(document.includes('Error429')).toBe(false);
  await ledger.close();
});

it.runIf(process.platform === 'linux')('two addresses have two quotas', async () => {
  const ledger = await openSmallLedger({ maxClientRequests: MAX });
  const port = await ledger.app.port();
  const statuses: string[] = [];
  for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
    for (let asked = 0; asked <= MAX; asked += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.write(GET);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      statuses.push(answer.toString('latin1', 9, 12));
      socket.destroy();
    }
  }
  const ofOne = ['200', '200', '200', '200', '200', '429'];
  expect(statuses).toEqual([...ofOne, ...ofOne]);
  await ledger.close();
});
