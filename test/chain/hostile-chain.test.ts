/** Input that might crash a local network, block it or cause false responses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signedCall } from '../../src/chain/signed-call.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { EntryFunction, Script } from '../../src/move/transactions/executable.ts';
import { ADDRESS_ONE, addressBytes } from '../../src/move/types/address.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { openStoreWriter } from '../../src/node/open-store.ts';
import { roundsOf } from '../random.ts';
import { Client, nowSecs, transfer, withNet } from './localnet-client.ts';

function signed(from: LocalAccount, sequenceNumber: bigint, call: EntryFunction | Script): Buffer {
  return signedCall({
    ...{ sender: from.address, key: from.key, chainId: 4, replay: { sequenceNumber }, call },
    ...{ maxGasAmount: 200_000n, gasUnitPrice: 100n, expirationTimestampSecs: nowSecs() + 60n },
  });
}

/** A script that requests a resource with a nested type: `coin::is_coin_initialized<Option<…<u8>>>()`. */
function deepScript(depth: number): Buffer {
  const names = ['coin', 'is_coin_initialized', 'option', 'Option'];
  let type = Buffer.of(0x02);
  for (let level = 0; level < depth; level += 1)
    type = Buffer.concat([Buffer.of(0x0b, 0, 1), type]);
  const strings = names.map((name) => Buffer.from([name.length, ...Buffer.from(name)]));
  const tables: readonly (readonly [number, Buffer])[] = [
    [1, Buffer.of(0, 0, 0, 2)],
    [2, Buffer.of(1, 3, 7, 1, 0, 0)],
    [3, Buffer.of(0, 1, 0, 1, 1, 0)],
    [4, Buffer.of(0, 2)],
    [5, Buffer.concat([Buffer.of(0, 1, 1, 1), type])],
    [7, Buffer.concat(strings)],
    [8, Buffer.from(addressBytes(ADDRESS_ONE))],
  ];
  let offset = 0;
  const directory = tables.flatMap(([kind, { length }]) => {
    const entry = [kind, offset, length];
    offset += length;
    return entry;
  });
  const head = [0xa1, 0x1c, 0xeb, 0x0b, 6, 0, 0, 0, tables.length, ...directory];
  // No type parameters, parameters and locals; the call, Pop, Ret.
  const main = [0, 0, 0, 3, 0x38, 0, 0x01, 0x02];
  return Buffer.concat([Buffer.from(head), ...tables.map(([, bytes]) => bytes), Buffer.from(main)]);
}

describe('a local network', () => {
  it('goes on after types that are nested too deeply for a key of the state', async () => {
    await withNet({ accounts: 2 }, async (client, { accounts }) => {
      const run = async (depth: number, sequenceNumber: bigint) => {
        const call = {
          kind: 'script',
          code: deepScript(depth),
          typeArguments: [],
          args: [],
        } as const;
        const { body } = await client.submit(signed(accounts[0]!, sequenceNumber, call));
        return (await client.wait(body.hash)).body['vm_status'];
      };
      expect(await run(7, 0n)).toBe('Executed successfully');
      expect(await run(9, 1n)).toMatch(/VALUE_SERIALIZATION_ERROR|3022/);
      const { status } = await client.submit(transfer(accounts[1]!, { sequenceNumber: 0n }));
      expect(status).toBe(202);
    });
  });

  it('refuses bodies that are no transactions, and nothing comes of them', async () => {
    await withNet({ accounts: 1 }, async (client, { accounts, chain }) => {
      const { version } = chain;
      const good = transfer(accounts[0]!, { sequenceNumber: 0n });
      const unsigned = { sender: '0x1', sequence_number: '0', signature: null };
      const bodies = [
        ...['', '{}', '[]', '{', 'null', '"0x00"', JSON.stringify(unsigned)],
        ...[Buffer.alloc(0), Buffer.of(1), Buffer.alloc(70_000)],
        ...[good.subarray(0, -1), Buffer.concat([good, Buffer.of(0)])],
      ];
      for (const path of ['/transactions', '/transactions/batch', '/transactions/simulate']) {
        for (const body of bodies) {
          // An empty batch is valid.
          if (path.endsWith('batch') && body === '[]') continue;
          const { status, body: answered } = await client.post(path, body);
          const { error_code: code } = answered ?? {};
          expect({ path, body: String(body).slice(0, 80), status }).toMatchObject({ status: 400 });
          expect(['invalid_input', 'web_framework_error']).toContain(code);
        }
        const type = { 'content-type': 'text/plain' };
        expect((await client.post(path, good, type)).status).toBe(415);
      }
      const count = Buffer.from('ffffffff0f', 'hex');
      expect((await client.post('/transactions/batch', count)).status).toBe(400);
      expect(chain.version).toBe(version);
      expect((await client.submit(good)).status).toBe(202);
    });
  });

  it('takes 100 of the many that an account sends before there is a block', async () => {
    const count = roundsOf('LOCALNET_PENDING', 150, 4_000);
    await withNet({ accounts: 2, mining: { kind: 'manual' } }, async (client, net) => {
      const [eager, other] = net.accounts;
      const statuses = new Map<number, number>();
      for (let at = 0; at < count; at += 1) {
        const expiration = nowSecs() + 600n;
        const signed = transfer(eager!, { sequenceNumber: BigInt(at), expiration });
        const { status, body } = await client.submit(signed);
        if (status !== 202) expect(body).toMatchObject({ error_code: 'mempool_is_full' });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect(statuses).toEqual(
        new Map([
          [202, 100],
          [507, count - 100],
        ]),
      );
      const { status } = await client.submit(transfer(other!, { sequenceNumber: 0n }));
      expect(status).toBe(202);
      await net.mine();
      expect(await net.pending()).toEqual([]);
      expect(await client.balance('0xbeef')).toBe(101_000n);
    });
  });

  it('puts a batch into one block', async () => {
    await withNet({ accounts: 1 }, async (client, { accounts, chain }) => {
      const { version } = chain;
      const items = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n].map((sequenceNumber) =>
        transfer(accounts[0]!, { sequenceNumber }),
      );
      const body = encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item)));
      expect((await client.post('/transactions/batch', body)).status).toBe(202);
      while (chain.waiting.length > 0) await chain.changed();
      // A block that only advances the time may come first.
      expect(chain.version - version).toBeLessThanOrEqual(14n);
    });
  });

  it('ends a block with the transaction that ends the epoch', async () => {
    await withNet({ accounts: 1, mining: { kind: 'manual' } }, async (client, net) => {
      const call: EntryFunction = {
        kind: 'entryFunction',
        module: { address: ADDRESS_ONE, name: 'aptos_governance' },
        function: 'force_end_epoch_test_only',
        typeArguments: [],
        args: [],
      };
      const { body: mint } = await client.get(`/accounts/${net.mint.address}`);
      const next = BigInt(String(mint['sequence_number']));
      const first = await client.submit(signed(net.mint, next, call));
      const price = 100n;
      const second = await client.submit(transfer(net.accounts[0]!, { sequenceNumber: 0n, price }));
      await net.mine();
      const ended = await client.wait(first.body.hash);
      expect(ended.body).toMatchObject({ success: true });
      expect(BigInt(String(ended.body['version']))).toBe(net.version);
      expect((await client.wait(second.body.hash)).body['type']).toBe('pending_transaction');
      await net.mine();
      expect((await client.wait(second.body.hash)).body).toMatchObject({ success: true });
    });
  });

  it('generates keys where an epoch ends, so that what is configured for the next one holds', async () => {
    await withNet({ accounts: 0, mining: { kind: 'manual' } }, async (client, net) => {
      await net.mine();
      await net.moveTime(3_600_000_000n);
      await net.mine();
      const before = await client.get(`/transactions/by_version/${net.version}`);
      const kinds: unknown[] = [before.body['type']];
      for (let back = 1n; back < 8n; back += 1n) {
        const { body } = await client.get(`/transactions/by_version/${net.version - back}`);
        kinds.push(body['type']);
      }
      expect(kinds).toContain('validator_transaction');
    });
  });

  it('counts what it drops, and answers who waits for it', async () => {
    await withNet({ accounts: 1, mining: { kind: 'manual' } }, async (client, net) => {
      const [account] = net.accounts;
      const kept = await client.submit(transfer(account!, { sequenceNumber: 0n }));
      const mined = net.mine();
      const dropped = net.drop();
      await mined;
      expect(await dropped).toBe(0);
      expect((await client.wait(kept.body.hash)).body['type']).toBe('user_transaction');
      const gone = await client.submit(transfer(account!, { sequenceNumber: 1n }));
      const waiting = client.wait(gone.body.hash);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await net.drop()).toBe(1);
      expect((await waiting).status).toBe(404);
    });
  });

  it('refuses times that no clock has', async () => {
    await withNet({ accounts: 0, mining: { kind: 'manual' } }, async (_, { chain }) => {
      expect(() => chain.setNextTime(2n ** 64n - 1n)).toThrow(RangeError);
      expect(() => chain.moveTime(2n ** 63n)).toThrow(RangeError);
      await chain.mine();
    });
  });

  it('funds accounts when its clock is behind the ledger, and when nobody makes blocks', async () => {
    await withNet({ accounts: 0 }, async (client, net) => {
      await net.moveTime(3_600_000_000n);
      await net.mine();
      await net.moveTime(-3_600_000_000n);
      const hash = await net.fund('0x77', 5n);
      expect((await client.wait(hash)).body).toMatchObject({ success: true });
      await net.setMining({ kind: 'manual' });
      await net.moveTime(7_200_000_000n);
      const later = await net.fund('0x77', 5n);
      await net.mine(3);
      expect((await client.wait(later)).body).toMatchObject({ success: true });
      expect(await client.balance('0x77')).toBe(10n);
    });
  });

  it('gives all accounts coins, also those that are wanted later', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-accounts-'));
    const data = join(folder, 'ledger');
    for (const count of [0, 100]) {
      const net = await startLocalnet({ data, accounts: count });
      const client = new Client(net);
      for (const { address } of net.accounts) {
        expect(await client.balance(address)).toBe(1_000_000_000_000n);
      }
      await net.stop();
    }
    rmSync(folder, { recursive: true });
  });

  it('adds no blocks to the ledger of another network', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-foreign-'));
    const store = await openStoreWriter(folder);
    await store.close();
    await expect(startLocalnet({ data: folder })).rejects.toMatchObject({ code: 'bad_setting' });
    rmSync(folder, { recursive: true });
    await expect(startLocalnet({ data: 'postgres://localhost/x' })).rejects.toMatchObject({
      code: 'bad_setting',
    });
  });
});
