/** View functions on forks: code's reads are requested once, recorded, and available without the upstream. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import { openView } from '../../src/store/read/view.ts';
import type { TestApi } from '../api/client.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';

const APT = '0x1::aptos_coin::AptosCoin';

async function view(app: TestApi, name: string, types: string[], args: unknown[], at = '') {
  const reply = await app.request({
    method: 'POST',
    url: `/v1/view${at}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ function: name, type_arguments: types, arguments: args }),
  });
  return { status: reply.statusCode, body: reply.body };
}

it('a fork runs view functions, also at old versions, and says what it has not recorded', async () => {
  const ledger = await sampleStore(300);
  const upstream = await serveStore(ledger);
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: upstream.url });
  const { version } = (await openView(ledger)).head;
  const calls = ['', `?ledger_version=${version / 2n}`].flatMap((at) =>
    [
      ['0x1::coin::balance', [APT], [CAFE_HEX]],
      ['0x1::coin::supply', [APT], []],
      ['0x1::coin::decimals', ['0x1::coin::Coin<u8>'], []],
      [`${CAFE_HEX}::ticker::latest`, [], ['11']],
      ['0x1::coin::nope', [], []],
    ].map((call) => [...(call as [string, string[], unknown[]]), at] as const),
  );
  const expected: unknown[] = [];
  for (const call of calls) {
    const wanted = await view(upstream.app, ...call);
    expect([call, await view(fork.app, ...call)]).toEqual([call, wanted]);
    expected.push(wanted);
  }
  await fork.stop();
  await upstream.stop();
  const offline = await serveFork({ data, offline: true });
  for (const [index, call] of calls.entries()) {
    expect([call, await view(offline.app, ...call)]).toEqual([call, expected[index]]);
  }
  const missed = await view(offline.app, '0x1::coin::balance', [APT], ['0x1234567']);
  expect(missed.status).toBe(503);
  expect(missed.body).toContain('0x1234567');
  expect(missed.body).toContain(`daybook serve --data ${data} --fork URL`);
});
