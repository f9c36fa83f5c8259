/** `daybook serve` of a local network's ledger, which it continues. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Impersonation } from '../../src/chain/impersonation.ts';
import { LocalChain } from '../../src/chain/local-chain.ts';
import { pinnedPrimaryStores } from '../../src/ledger/balances/pinned-stores.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { openStoreWriter } from '../../src/node/open-store.ts';
import { type EmbeddedNode, startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
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

  it('counts its state before it is pruned, so that an epoch can end', async () => {
    const store = await openStoreWriter(data);
    const writer = await LedgerWriter.open(store);
    const chain = await LocalChain.open(writer, {
      ...{ mining: { kind: 'manual' }, impersonation: new Impersonation(), isPruned: true },
      onFault: (error) => {
        throw error;
      },
    });
    const bounds = { graceMs: 0, restFactor: 0, objectsOf: pinnedPrimaryStores };
    // The second epoch begins with a complete count, and ends after the counted state was pruned.
    for (let epoch = 0; epoch < 2; epoch += 1) {
      chain.moveTime(3_600_000_000n);
      await chain.mine(3);
      await new Pruner(writer, bounds).run({ versions: 1, seconds: undefined });
      await chain.mine();
    }
    expect(writer.head!.oldestVersion).toBeGreaterThan(chain.version - 8n);
    await chain.stop();
    await store.close();
  });

  it('prunes as it goes on', async () => {
    node = await startEmbeddedNode({ data, settings: { keepVersions: 1, pruneGraceSeconds: 1 } });
    client = new Client(node);
    const { body: before } = await client.get('');
    // The clock is hours ahead.
    const signed = transfer(accounts[0]!, { sequenceNumber: 3n, expiration: 20_000_000_000n });
    const { body } = await client.submit(signed);
    expect((await client.wait(body.hash)).body).toMatchObject({ success: true });
    let now = before;
    while (now['oldest_ledger_version'] === before['oldest_ledger_version']) {
      now = (await client.get('')).body;
    }
    await node.stop();
  });
});
