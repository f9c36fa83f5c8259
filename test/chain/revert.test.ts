/** A local network that is reverted to a snapshot: its history, its clients, its streams. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MAX_SNAPSHOTS } from '../../src/node/localnet/localnet.ts';
import { type Client, transfer, withNet } from './localnet-client.ts';

const RICH = '0xbeef';

async function transactionAt(client: Client, version: bigint) {
  return (await client.get(`/transactions/by_version/${version}`)).body;
}

describe('a revert', () => {
  it('brings back the state, the history, what waits and the clock', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 2, mining }, async (client, net) => {
      const [sender] = net.accounts;
      const send = async (sequenceNumber: bigint, octas: bigint) =>
        (await client.submit(transfer(sender!, { sequenceNumber, octas }))).body.hash as string;
      await send(0n, 1n);
      await net.mine();
      const waiting = await send(1n, 10n);
      const { version, timestampUsecs } = net;
      const transaction = await transactionAt(client, version);
      const id = await net.snapshot();
      await net.moveTime(20_000_000n);
      await net.mine(3);
      const gone = await send(2n, 100n);
      await net.mine();
      expect(await client.balance(RICH)).toBe(111n);
      const later = await net.snapshot();
      await net.revert(id);
      expect(net).toMatchObject({ version, timestampUsecs });
      expect(await client.balance(RICH)).toBe(1n);
      expect(await transactionAt(client, version)).toEqual(transaction);
      expect((await client.get(`/transactions/by_version/${version + 1n}`)).status).toBe(404);
      expect((await client.get(`/transactions/by_hash/${gone}`)).status).toBe(404);
      expect((await net.pending()).map(({ hash }) => hash)).toEqual([waiting]);
      for (const used of [id, later, 99]) {
        await expect(net.revert(used)).rejects.toMatchObject({ code: 'bad_input' });
      }
      await net.mine();
      expect(await client.balance(RICH)).toBe(11n);
      expect(net.timestampUsecs).toBeLessThan(timestampUsecs + 20_000_000n);
      const next = await net.snapshot();
      await net.revert(next);
      expect(await client.balance(RICH)).toBe(11n);
    });
  });

  it('is possible to as many snapshots as the limit says', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 0, mining }, async (_, net) => {
      for (let at = 1; at <= MAX_SNAPSHOTS; at += 1) expect(await net.snapshot()).toBe(at);
      await expect(net.snapshot()).rejects.toMatchObject({ code: 'bad_input' });
      await net.revert(MAX_SNAPSHOTS);
      expect(await net.snapshot()).toBe(MAX_SNAPSHOTS + 1);
    });
  });

  it('answers requests that come meanwhile, and no cached answer of the other branch', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 1, mining }, async (client, net) => {
      const id = await net.snapshot();
      await net.setBalance(RICH, 1n);
      const path = `${net.url}/transactions/by_version/${net.version - 1n}`;
      const first = await fetch(path);
      expect(first.headers.get('cache-control')).toBeNull();
      const tag = first.headers.get('etag')!;
      const [, ...meanwhile] = await Promise.all([
        net.revert(id),
        ...Array.from({ length: 5 }, () => client.get('')),
      ]);
      for (const { status } of meanwhile) expect(status).toBe(200);
      await net.setBalance(RICH, 2n);
      const other = await fetch(path, { headers: { 'if-none-match': tag } });
      expect(other.status).toBe(200);
      expect(await client.balance(RICH)).toBe(2n);
      expect((await fetch(path, { headers: { 'if-none-match': tag } })).status).toBe(200);
    });
  });

  it('is not held up by clients that left during the one before', async () => {
    await withNet({ accounts: 1 }, async (_, net) => {
      const snapshots = [await net.snapshot(), await net.snapshot()];
      let isReverted = false;
      const first = net.revert(snapshots[1]!).finally(() => {
        isReverted = true;
      });
      let left = 0;
      while (!isReverted) {
        const asked = request(net.url).on('error', () => undefined);
        asked.end();
        await new Promise((resolve) => setTimeout(resolve, 2));
        asked.destroy();
        left += 1;
      }
      await first;
      expect(left).toBeGreaterThan(0);
      await net.revert(snapshots[0]!);
      expect((await fetch(net.url)).status).toBe(200);
    });
  }, 60_000);

  it('ends event streams, whose clients come again without a place', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 1, mining }, async (_, net) => {
      const id = await net.snapshot();
      const stream = await fetch(`${net.url}/-/heads`, {
        headers: { accept: 'text/event-stream' },
      });
      await net.mine();
      const text = stream.text();
      await net.revert(id);
      expect(await text).toMatch(/id:\nretry: 10\nevent: reverted\ndata: \{\}\n\n$/);
    });
  });
});
