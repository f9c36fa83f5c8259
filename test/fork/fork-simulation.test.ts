/** Simulations on forks: code's reads are requested once, recorded, and available without the upstream. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestApi } from '../api/client.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import { storeReferenceChain } from '../reference/reference-chain.ts';
import {
  findAccounts,
  type KnownAccount,
  RECEIVER,
  rawBytes,
  rawOf,
  transferTo,
  zeroSigned,
} from '../reference/simulation-requests.ts';
import { serveFork, serveStore, temporaryFolder } from './forked-nodes.ts';

async function simulate(app: TestApi, sender: KnownAccount, amount: bigint, accept: string) {
  const raw = rawOf(sender, { payload: transferTo(RECEIVER, amount) });
  const reply = await app.request({
    method: 'POST',
    url: '/v1/transactions/simulate',
    headers: { 'content-type': 'application/x.aptos.signed_transaction+bcs', accept },
    body: Buffer.concat([rawBytes(raw), zeroSigned(sender)]),
  });
  return { status: reply.statusCode, body: reply.bytes };
}

it('a fork simulates, and offline what it has simulated before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-forked-'));
  await storeReferenceChain(folder);
  const store = await openTestedReader({ directory: folder });
  const upstream = await serveStore(store);
  const [sender] = await findAccounts(upstream.app);
  const data = join(temporaryFolder(), 'fork');
  const fork = await serveFork({ data, fork: upstream.url });
  const calls = [1_000n, 1n << 63n].flatMap((amount) =>
    ['application/json', 'application/x-bcs'].map((accept) => [amount, accept] as const),
  );
  const expected: unknown[] = [];
  for (const call of calls) {
    const wanted = await simulate(upstream.app, sender!, ...call);
    expect(wanted.status).toBe(200);
    expect(await simulate(fork.app, sender!, ...call)).toEqual(wanted);
    expected.push(wanted);
  }
  await fork.stop();
  await upstream.stop();
  const offline = await serveFork({ data, offline: true });
  for (const [index, call] of calls.entries()) {
    expect(await simulate(offline.app, sender!, ...call)).toEqual(expected[index]);
  }
  await offline.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});
