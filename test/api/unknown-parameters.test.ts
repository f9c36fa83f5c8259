/** Unknown query parameters: extensions refuse them, the reference's operations ignore them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnyEndpoint } from '../../src/api/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/api/http/endpoint-list.ts';
import { expectError } from './error-answers.ts';
import { openSmallLedger, type SmallLedger } from './small-ledger.ts';

let ledger: SmallLedger;
beforeAll(async () => {
  ledger = await openSmallLedger();
});
afterAll(() => ledger.close());

const VALUES: Readonly<Record<string, string>> = {
  address: '0xcafe',
  asset_type: '0xa',
  type: '0x1::transaction_fee::FeeStatement',
  timestamp_usecs: '0',
  transaction: '4',
};

function urlOf({ path }: AnyEndpoint): string {
  return `/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => VALUES[name]!)}`;
}

const ofExtensions = ENDPOINTS.filter(({ isExtension }) => isExtension);

it.each(ofExtensions.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s refuses them',
  async (_, endpoint) => {
    const { method } = endpoint;
    const headers = { 'content-type': 'application/json' };
    const body = method === 'POST' ? '{}' : undefined;
    const ask = (query: string) =>
      ledger.app.request({ method, url: `${urlOf(endpoint)}?${query}`, headers, body });
    for (const name of ['orders', 'from', '__proto__', ...Object.keys(endpoint.parameters)]) {
      if (endpoint.parameters[name]?.in === 'query') continue;
      expectError(
        await ask(`${name}=1`),
        400,
        'web_framework_error',
        `failed to parse parameter \`${name}\`: the operation has no such parameter`,
      );
    }
  },
);

it('the order of events by type is not chosen by a parameter', async () => {
  const url = '/v1/events/by_type/0x1::a::B?order=desc';
  for (const accept of ['application/json', 'application/x-bcs', 'text/event-stream']) {
    const answer = await ledger.app.request({ url, headers: { accept } });
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      'failed to parse parameter `order`: the operation has no such parameter',
    ]);
  }
});

it('operations of the reference ignore them', async () => {
  for (const url of ['/v1', '/v1/-/healthy', '/v1/accounts/0xcafe/balance/0xa']) {
    const { statusCode, body } = await ledger.app.request(`${url}?orders=1`);
    expect([statusCode, body]).toEqual([200, (await ledger.app.request(url)).body]);
  }
});
