/** How tests control a local network: its state, its clock, its accounts, and reverting. */
import { createPublicKey, verify } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingKey } from '../../src/chain/genesis/genesis-keys.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  addressBytes,
  addressFromBytes,
  formatAddress,
  padAddress,
} from '../../src/move/types/address.ts';
import { primaryStoreOf } from '../../src/move/types/derived-address.ts';
import { coinStoreCodec } from '../../src/move/values/framework-resource.ts';
import type { LocalAccount } from '../../src/node/localnet/branch.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { startEmbeddedNode } from '../../src/node/serve/embedded.ts';
import { Client, proveLedger, transfer, withNet } from './localnet-client.ts';

const RICH = '0xbeef';
const COIN_STORE = '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>';

function coinStoreOf(amount: bigint): Buffer {
  const handle = (creationNumber: bigint) => ({
    counter: 0n,
    key: { creationNumber, address: padAddress('cafe') },
  });
  const frozen = false;
  return coinStoreCodec.encode({
    ...{ amount, frozen, depositEvents: handle(2n), withdrawEvents: handle(3n) },
  });
}

async function transactionAt(client: Client, version: bigint) {
  return (await client.get(`/transactions/by_version/${version}`)).body;
}

describe('edits of the state', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-control-test-'));
  const data = join(folder, 'ledger');
  let net: Localnet;
  let client: Client;

  beforeAll(async () => {
    net = await startLocalnet({ data, accounts: 2, mining: { kind: 'manual' } });
    client = new Client(net);
  });

  afterAll(async () => {
    await net.stop();
    rmSync(folder, { recursive: true });
  });

  it('set balances, by transactions that say what they are', async () => {
    const { timestampUsecs } = net;
    const version = await net.setBalance(RICH, 12_345n);
    expect(await client.balance(RICH)).toBe(12_345n);
    const shown = await transactionAt(client, version);
    expect(shown).toMatchObject({
      type: 'genesis_transaction',
      success: true,
      vm_status: 'Executed successfully',
      events: [],
      payload: { type: 'write_set_payload', write_set: { type: 'direct_write_set' } },
    });
    expect(net.timestampUsecs).toBe(timestampUsecs + 1n);
    await net.setBalance(RICH, 5n);
    expect(await client.balance(RICH)).toBe(5n);
  });

  it('set and delete resources', async () => {
    await net.setResource('0xcafe', COIN_STORE, coinStoreOf(77n));
    expect(await client.balance('0xcafe')).toBe(77n);
    await net.deleteResource('0xcafe', COIN_STORE);
    const { status } = await client.get(`/accounts/0xcafe/resource/${COIN_STORE}`);
    expect(status).toBe(404);
  });

  it('set members of resource groups, and leave the others', async () => {
    const { body } = await client.get(`/accounts/${RICH}/balance/0xa`);
    expect(body).toBe(5);
    const store = '0x1::fungible_asset::FungibleStore';
    const at = addressFromBytes(
      primaryStoreOf(addressBytes(padAddress('beef')), addressBytes(padAddress('a'))),
    );
    const value = encodeBcs((to) => {
      to.address(padAddress('a')).u64(9n).bool(false);
    });
    await net.setResource(`0x${at}`, store, value);
    expect(await client.balance(RICH)).toBe(9n);
    const { status } = await client.get(`/accounts/0x${at}/resource/0x1::object::ObjectCore`);
    expect(status).toBe(200);
  });

  it('refuse what no ledger could have, and change nothing', async () => {
    const { version } = net;
    const cases = [
      () => net.setBalance(RICH, 2n ** 64n),
      () => net.setBalance('nobody', 1n),
      () => net.setResource(RICH, COIN_STORE, Buffer.of(1)),
      () => net.setResource(RICH, '0x1::nothing::Here', Buffer.of(1)),
      () => net.setModule(Buffer.of(1, 2, 3)),
      () => net.setFeatures({ enable: [256] }),
      () => net.setGas('txn.min_price_per_gas_unit', -1n),
    ];
    for (const edit of cases) {
      await expect((async () => edit())()).rejects.toMatchObject({ code: 'bad_override' });
    }
    expect(net.version).toBe(version);
  });

  it('change the gas schedule and feature flags for the next transaction', async () => {
    const [sender] = net.accounts;
    const signed = transfer(sender!, { sequenceNumber: 0n, price: 100n });
    await net.setGas('txn.min_price_per_gas_unit', 150n);
    const { body } = await client.submit(signed);
    expect(body).toMatchObject({ vm_error_code: 15 });
    await net.setGas('txn.min_price_per_gas_unit', 100n);
    const { body: sent } = await client.submit(signed);
    await net.mine();
    expect((await client.wait(sent.hash)).body).toMatchObject({ success: true });
    const isEnabled = async (flag: number) => {
      const call = { function: '0x1::features::is_enabled', type_arguments: [] };
      return (await client.post('/view', JSON.stringify({ ...call, arguments: [`${flag}`] }))).body;
    };
    expect([await isEnabled(26), await isEnabled(200)]).toEqual([[true], [false]]);
    await net.setFeatures({ disable: [26], enable: [200] });
    expect([await isEnabled(26), await isEnabled(200)]).toEqual([[false], [true]]);
    await net.setFeatures({ enable: [26] });
  });

  it('set and delete items of tables', async () => {
    const key = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    await net.setTableItem('0x7ab1e', key, Buffer.from('0700000000000000', 'hex'));
    const item = () =>
      client.post(
        '/tables/0x7ab1e/item',
        JSON.stringify({ key_type: 'u64', value_type: 'u64', key: '1' }),
      );
    expect((await item()).body).toBe('7');
    await net.setTableItem('0x7ab1e', key);
    expect((await item()).status).toBe(404);
  });

  it('publish modules', async () => {
    const { body } = await client.get('/accounts/0x1/module/signer');
    const bytecode = Buffer.from(String(body['bytecode']).slice(2), 'hex');
    await net.setModule(bytecode);
    expect(await transactionAt(client, net.version - 1n)).toMatchObject({
      type: 'genesis_transaction',
      changes: [],
    });
  });

  it('leave a ledger that followers verify and whose execution is proved', async () => {
    expect(await proveLedger(net, data)).toBeGreaterThan(8);
  });
});

describe('impersonation', () => {
  it('takes transactions that the account has not signed, and says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-control-test-'));
    const data = join(folder, 'ledger');
    await withNet({ data, accounts: 2 }, async (client, net) => {
      const [stranger] = net.accounts;
      const from = { address: padAddress('beef'), key: stranger!.key };
      await net.setBalance(RICH, 10n ** 9n);
      const send = (sequenceNumber: bigint, isForged = false) => {
        const signed = transfer(from, { sequenceNumber, to: padAddress('77'), octas: 5n });
        if (isForged) signed.fill(0, signed.length - 64);
        return client.submit(signed);
      };
      expect((await send(0n)).body).toMatchObject({ vm_error_code: 2 });
      expect((await send(0n, true)).body).toMatchObject({ vm_error_code: 1 });
      await net.impersonate(RICH);
      for (const [at, isForged] of [false, true].entries()) {
        const { status, body } = await send(BigInt(at), isForged);
        expect(status).toBe(202);
        const waited = await client.wait(body.hash);
        expect(waited.body).toMatchObject({ success: true });
        // Signed without a key.
        expect(waited.body['signature']).toEqual({ type: 'single_sender' });
      }
      expect(await client.balance('0x77')).toBe(10n);
      await net.stopImpersonating(RICH);
      expect((await send(2n)).body).toMatchObject({ vm_error_code: 2 });
      await net.impersonate();
      expect((await send(2n)).status).toBe(202);
      // An account that signs normally keeps its signature.
      const own = await client.submit(transfer(stranger!, { sequenceNumber: 0n }));
      const { body } = await client.wait(own.body.hash);
      expect(body).toMatchObject({ signature: { type: 'ed25519_signature' } });
      await net.stopImpersonating();
      expect((await send(3n)).status).toBe(400);
      expect(await proveLedger(net, data)).toBeGreaterThan(3);
    });
    rmSync(folder, { recursive: true });
  });
});

describe('a dump', () => {
  it('is loaded by another network, and gives the same bytes there', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 1, mining }, async (client, net) => {
      await net.setBalance(RICH, 8n);
      const dump = await net.dump();
      const { version } = net;
      await withNet({ accounts: 1, mining, load: dump }, async (other, loaded) => {
        expect(loaded.version).toBe(version);
        expect(await other.balance(RICH)).toBe(8n);
        expect((await loaded.dump()).equals(dump)).toBe(true);
        await loaded.fund('0x99', 3n);
        await loaded.mine();
        expect(await other.balance('0x99')).toBe(3n);
        await loaded.reset();
        expect(await other.balance('0x99')).toBe(0n);
        expect(loaded.version).toBe(version);
      });
      await net.setBalance(RICH, 9n);
      await net.load(dump);
      expect(await client.balance(RICH)).toBe(8n);
      await net.reset();
      expect(await client.balance(RICH)).toBe(0n);
      expect(await client.balance(net.accounts[0]!.address)).toBe(1_000_000_000_000n);
      const broken = Buffer.from(dump);
      broken[100]! ^= 1;
      await expect(net.load(broken)).rejects.toMatchObject({ code: 'damaged' });
      expect(await client.balance(RICH)).toBe(0n);
    });
  });
});

describe('control over HTTP', () => {
  const control = async (net: Localnet, name: string, body: object = {}, more: object = {}) => {
    const response = await fetch(`${net.url}/-/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      ...more,
    });
    const answered = (await response.json()) as Record<string, unknown>;
    return { status: response.status, body: answered };
  };

  it('does what the library does', async () => {
    const mining = { kind: 'manual' } as const;
    await withNet({ accounts: 1, mining }, async (client, net) => {
      const { version } = net;
      const done = async (name: string, body?: object) => {
        const answer = await control(net, name, body);
        expect(answer).toMatchObject({ status: 200 });
        return answer.body;
      };
      const { id } = await done('snapshot');
      await done('set_time', { usecs: String(net.timestampUsecs + 7_000_000n) });
      const time = net.timestampUsecs + 7_000_000n;
      expect(await done('mine', { blocks: 1 })).toEqual({
        version: String(version + 2n),
        timestamp: String(time),
      });
      await done('move_time', { usecs: 1_000_000 });
      expect(await done('set_balance', { account: RICH, amount: '5' })).toEqual({
        version: String(version + 4n),
      });
      await done('set_resource', {
        account: '0xcafe',
        type: COIN_STORE,
        value: `0x${coinStoreOf(6n).toString('hex')}`,
      });
      expect(await client.balance('0xcafe')).toBe(6n);
      await done('delete_resource', { account: '0xcafe', type: COIN_STORE });
      await done('set_table_item', { handle: '0x9', key: '0x01', value: '0x02' });
      await done('set_table_item', { handle: '0x9', key: '0x01' });
      await done('set_features', { enable: [200], disable: [201] });
      await done('set_gas', { name: 'txn.min_price_per_gas_unit', value: 99 });
      const { body: signer } = await client.get('/accounts/0x1/module/signer');
      await done('set_module', { bytecode: signer['bytecode'] });
      await done('impersonate', { account: RICH });
      await done('stop_impersonating');
      const [{ address, key }] = net.accounts as [LocalAccount];
      expect(await done('accounts')).toEqual([{ address: formatAddress(address) }]);
      const signed = await done('sign', { account: formatAddress(address), message: '0x0102' });
      expect(signed['public_key']).toBe(`0x${key.publicKey.toString('hex')}`);
      const signature = Buffer.from(String(signed['signature']).slice(2), 'hex');
      const message = Buffer.of(1, 2);
      expect(verify(null, message, createPublicKey(signingKey(key)), signature)).toBe(true);
      const other = await control(net, 'sign', { account: RICH, message: '0x0102' });
      expect(other).toMatchObject({ status: 400, body: { error_code: 'invalid_input' } });
      const { hash } = await done('fund', { account: '0x5', amount: 3 });
      expect(await done('pending')).toMatchObject([{ hash, sender: `0x${net.mint.address}` }]);
      expect(await done('drop', { hash })).toEqual({ dropped: 1 });
      expect(await done('drop')).toEqual({ dropped: 0 });
      await done('set_mining', { mode: 'interval', interval_ms: 3_600_000 });
      await done('set_mining', { mode: 'manual' });
      const dump = await fetch(`${net.url}/-/dump`, { method: 'POST' });
      const bytes = Buffer.from(await dump.arrayBuffer());
      await done('revert', { id });
      expect(net.version).toBe(version);
      expect((await control(net, 'load', {}, { body: bytes })).status).toBe(200);
      expect(await client.balance(RICH)).toBe(5n);
      await done('reset');
      expect(await client.balance(RICH)).toBe(0n);
    });
  });

  it('refuses bad input, what comes from elsewhere, and what it does not have', async () => {
    await withNet({ accounts: 0 }, async (client, net) => {
      const bad: [string, object][] = [
        ['mine', { blocks: 10_001 }],
        ['mine', { blocks: -1 }],
        ['set_time', { usecs: 1 }],
        ['set_time', {}],
        ['set_mining', { mode: 'never' }],
        ['set_balance', { account: 'x', amount: 1 }],
        ['set_resource', { account: RICH, type: COIN_STORE, value: '0x01' }],
        ['set_resource', { account: RICH, type: COIN_STORE, value: 'zz' }],
        ['set_features', { enable: 'all' }],
        ['drop', { hash: '0x1' }],
        ['revert', { id: 77 }],
        ['load', {}],
      ];
      for (const [name, body] of bad) {
        expect(await control(net, name, body)).toMatchObject({
          status: 400,
          body: { error_code: 'invalid_input' },
        });
      }
      expect((await control(net, 'mine', {}, { body: '[]' })).status).toBe(400);
      const { version } = net;
      const elsewhere = { headers: { origin: 'https://example.com' } };
      expect(await control(net, 'mine', {}, elsewhere)).toMatchObject({ status: 403 });
      const { port } = new URL(net.url);
      const status = await new Promise((resolve) => {
        const headers = { host: `example.com:${port}` };
        request({ port, method: 'POST', path: '/v1/-/mine', headers }, (answer) => {
          resolve(answer.resume().statusCode);
        }).end();
      });
      expect(status).toBe(403);
      expect(net.version).toBe(version);
      expect((await control(net, 'fly')).status).toBe(404);
      expect((await client.get('/-/mine')).status).toBe(404);
    });
  });

  it('is not there on other nodes', async () => {
    const node = await startEmbeddedNode();
    for (const name of ['mine', 'snapshot', 'set_balance']) {
      const response = await fetch(`${node.url}/-/${name}`, { method: 'POST', body: '{}' });
      expect(response.status).toBe(404);
    }
    await node.stop();
  });
});

describe('a genesis of another chain', () => {
  for (const name of ['devnet', 'mainnet', 'testnet']) {
    const file = fileURLToPath(new URL(`../../../shared/genesis/${name}.blob`, import.meta.url));
    it.skipIf(!existsSync(file))(`has a faucet, that of ${name} (skipped without it)`, async () => {
      await withNet({ genesis: file, accounts: 1 }, async (client, net) => {
        expect(await client.balance(net.accounts[0]!.address)).toBe(1_000_000_000_000n);
        const hash = await net.fund(RICH, 12n);
        expect((await client.wait(hash)).body).toMatchObject({ success: true });
        expect(await client.balance(RICH)).toBe(12n);
      });
    });
  }
});

describe('a network on top of another one', () => {
  it('has a faucet, is edited, goes back, and begins again at the fork', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-control-test-'));
    await withNet({ accounts: 2 }, async (_, upstream) => {
      await upstream.setBalance(RICH, 7n);
      const mining = { kind: 'manual' } as const;
      const fork = { fork: upstream.url, data: join(folder, 'fork'), seed: 'another', mining };
      await withNet({ ...fork, accounts: 1 }, async (client, net) => {
        expect(await client.balance(net.accounts[0]!.address)).toBe(1_000_000_000_000n);
        expect(await client.balance(RICH)).toBe(7n);
        const { version } = net;
        const id = await net.snapshot();
        await net.setBalance(RICH, 8n);
        const hash = await net.fund('0x77', 3n);
        await net.mine();
        expect((await client.wait(hash)).body).toMatchObject({ success: true });
        await net.revert(id);
        expect(net.version).toBe(version);
        expect([await client.balance(RICH), await client.balance('0x77')]).toEqual([7n, 0n]);
        await net.setBalance(RICH, 9n);
        expect(await client.balance(RICH)).toBe(9n);
        await net.reset();
        expect(net.version).toBe(version);
        expect(await client.balance(RICH)).toBe(7n);
      });
    });
    rmSync(folder, { recursive: true });
  });
});
