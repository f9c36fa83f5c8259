/** `daybook serve` of a ledger that a local network made: it goes on with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { type EmbeddedNode, startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { Client, proveLedger, transfer, withNet } from './localnet-client.ts';

describe('a node that serves the ledger of a local network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-served-test-'));
  const data = join(folder, 'ledger');
  let accounts: readonly LocalAccount[];
  let node: EmbeddedNode;
  let client: Client;

  const refusedBy = async (other: EmbeddedNode) => {
    const signed = transfer(accounts[1]!, { sequenceNumber: 0n });
    const { status, body } = await new Client(other).submit(signed);
    expect({ status, code: body.error_code }).toEqual({ status: 403, code: 'api_disabled' });
  };

  beforeAll(async () => {
    const net = await startLocalnet({ data, accounts: 2 });
    ({ accounts } = net);
    await net.stop();
    node = await startEmbeddedNode({ data });
    client = new Client(node);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('takes transactions, and makes blocks of them', async () => {
    const [sender] = accounts;
    const later = await client.submit(transfer(sender!, { sequenceNumber: 1n }));
    expect(later.status).toBe(202);
    const pending = await client.get(`/transactions/by_hash/${later.body.hash}`);
    expect(pending).toMatchObject({ status: 200, body: { type: 'pending_transaction' } });
    const waiting = client.wait(later.body.hash);
    const first = [transfer(sender!, { sequenceNumber: 0n })];
    const batch = encodeBcs((writer) => writer.vector(first, (to, one) => to.fixed(one)));
    expect((await client.post('/transactions/batch', batch)).status).toBe(202);
    expect((await waiting).body).toMatchObject({ type: 'user_transaction', success: true });
    expect(await client.balance('0xbeef')).toBe(2_000n);
  });

  it('answers nothing as immutable: the network may go back', async () => {
    const { headers } = await fetch(`${node.url}/transactions/by_version/1`);
    expect(headers.get('cache-control')).toBeNull();
  });

  it('is not controlled', async () => {
    const answer = await client.post('/-/mine', '{}');
    expect(answer.status).toBe(404);
  });

  it('is the only one that does: another reads', async () => {
    const other = await startEmbeddedNode({ data });
    await refusedBy(other);
    expect(await new Client(other).balance('0xbeef')).toBe(2_000n);
    await other.stop();
  });

  it('reads where it is told to pass on nothing', async () => {
    await node.stop();
    const other = await startEmbeddedNode({ data, settings: { upstream: 'none' } });
    await refusedBy(other);
    await other.stop();
  });

  it('leaves a ledger with which the network goes on', async () => {
    await withNet({ data, accounts: 2 }, async (again, net) => {
      expect(await again.balance('0xbeef')).toBe(2_000n);
      const { body } = await again.submit(transfer(accounts[0]!, { sequenceNumber: 2n }));
      expect((await again.wait(body.hash)).body).toMatchObject({ success: true });
      expect(await proveLedger(net, data)).toBeGreaterThan(0);
    });
  });

  it('prunes as it goes on', async () => {
    node = await startEmbeddedNode({ data, settings: { keepVersions: 1, pruneGraceSeconds: 1 } });
    client = new Client(node);
    let oldest: unknown = '0';
    while (oldest === '0') oldest = (await client.get('')).body['oldest_ledger_version'];
    const { body } = await client.submit(transfer(accounts[0]!, { sequenceNumber: 3n }));
    expect((await client.wait(body.hash)).body).toMatchObject({ success: true });
    await node.stop();
  });
});
