/** A local network as its clients see it: submissions, their results, and the verdict of a verifier. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { padAddress } from '../../src/move/types/address.ts';
import type { Localnet } from '../../src/node/localnet/localnet.ts';
import { startLocalnet } from '../../src/node/localnet/start-localnet.ts';
import { Client, nowSecs, proveLedger, transfer, withNet } from './localnet-client.ts';

const BCS = 'application/x-bcs';

const invalid = (name: string, code: number) => ({
  status: 400,
  body: {
    message: `Invalid transaction: Type: Validation Code: ${name}`,
    error_code: 'vm_error',
    vm_error_code: code,
  },
});

describe('a local network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-chain-test-'));
  const data = join(folder, 'ledger');
  let net: Localnet;
  let client: Client;

  beforeAll(async () => {
    net = await startLocalnet({ data, accounts: 4 });
    client = new Client(net);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('has accounts with coins', async () => {
    expect(net.chainId).toBe(4);
    for (const { address } of net.accounts) {
      expect(await client.balance(address)).toBe(1_000_000_000_000n);
    }
  });

  it('commits a transfer at once', async () => {
    const [sender] = net.accounts;
    const { status, body } = await client.submit(transfer(sender!, { sequenceNumber: 0n }));
    expect(status).toBe(202);
    expect(body).toMatchObject({ sender: `0x${sender!.address}`, sequence_number: '0' });
    expect(body).not.toHaveProperty('type');
    const waited = await client.wait(body.hash);
    expect(waited.body['vm_status']).toBe('Executed successfully');
    expect(waited.body).toMatchObject({ type: 'user_transaction', success: true });
    expect(await client.balance('0xbeef')).toBe(1_000n);
    const { body: found } = await client.get(`/transactions/by_hash/${body.hash}`);
    expect(found).toEqual(waited.body);
  });

  it('answers a submission in BCS with nothing', async () => {
    const signed = transfer(net.accounts[0]!, { sequenceNumber: 1n });
    const { status, bytes } = await client.post('/transactions', signed, { accept: BCS });
    expect({ status, length: bytes.length }).toEqual({ status: 202, length: 0 });
  });

  it('takes JSON that is signed by what encode_submission gives', async () => {
    const { address, key } = net.accounts[1]!;
    const request = {
      sender: `0x${address}`,
      sequence_number: '0',
      max_gas_amount: '200000',
      gas_unit_price: '100',
      expiration_timestamp_secs: String(nowSecs() + 60n),
      payload: {
        type: 'entry_function_payload',
        function: '0x1::aptos_account::transfer',
        type_arguments: [],
        arguments: ['0xcafe', '77'],
      },
    };
    const encoded = await client.post('/transactions/encode_submission', JSON.stringify(request));
    const { sign } = await import('node:crypto');
    const { signingKey } = await import('../../src/chain/genesis/genesis-keys.ts');
    const message = Buffer.from(String(encoded.body).slice(2), 'hex');
    const signature = {
      type: 'ed25519_signature',
      public_key: `0x${key.publicKey.toString('hex')}`,
      signature: `0x${sign(null, message, signingKey(key)).toString('hex')}`,
    };
    const { status, body } = await client.post(
      '/transactions',
      JSON.stringify({ ...request, signature }),
    );
    expect(status).toBe(202);
    expect((await client.wait(body.hash)).body['success']).toBe(true);
    expect(await client.balance('0xcafe')).toBe(77n);
  });

  it('refuses as the reference does what cannot be valid', async () => {
    const [, , sender] = net.accounts;
    const good = transfer(sender!, { sequenceNumber: 0n });
    const forged = Buffer.from(good);
    forged[forged.length - 1]! ^= 1;
    const stranger = { address: padAddress('57'), key: sender!.key };
    const cases = [
      [forged, 'INVALID_SIGNATURE', 1],
      [transfer(stranger, { sequenceNumber: 0n }), 'INVALID_AUTH_KEY', 2],
      [transfer(net.accounts[0]!, { sequenceNumber: 0n }), 'SEQUENCE_NUMBER_TOO_OLD', 3],
      [transfer(sender!, { sequenceNumber: 0n, chainId: 5 }), 'BAD_CHAIN_ID', 23],
      [transfer(sender!, { sequenceNumber: 0n, expiration: 1n }), 'TRANSACTION_EXPIRED', 6],
      [transfer(sender!, { sequenceNumber: 0n, price: 99n }), 'GAS_UNIT_PRICE_BELOW_MIN_BOUND', 15],
      [
        transfer(sender!, { sequenceNumber: 0n, maxGas: 0n }),
        'MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS',
        14,
      ],
    ] as const;
    for (const [signed, name, code] of cases) {
      expect(await client.submit(signed)).toMatchObject(invalid(name, code));
    }
    const { status, body } = await client.submit(Buffer.from('nonsense'));
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 'invalid_input' });
    expect(body.message).toMatch(/^Failed to deserialize input into SignedTransaction: /);
  });

  it('waits for what closes a gap, and then executes all', async () => {
    const [, , , sender] = net.accounts;
    const later = await client.submit(transfer(sender!, { sequenceNumber: 1n }));
    expect(later.status).toBe(202);
    const pending = await client.get(`/transactions/by_hash/${later.body.hash}`);
    expect(pending).toMatchObject({ status: 200, body: { type: 'pending_transaction' } });
    await client.submit(transfer(sender!, { sequenceNumber: 0n }));
    const { body } = await client.wait(later.body.hash);
    expect(body).toMatchObject({ type: 'user_transaction', success: true });
  });

  it('commits a transaction that fails', async () => {
    const [, , sender] = net.accounts;
    const octas = 10n ** 15n;
    const { body } = await client.submit(transfer(sender!, { sequenceNumber: 0n, octas }));
    const waited = await client.wait(body.hash);
    expect(waited.body).toMatchObject({ success: false });
    expect(waited.body['vm_status']).toMatch(/^Move abort in 0x1::/);
  });

  it('takes a batch, and says what of it is refused', async () => {
    const [sender] = net.accounts;
    const good = [2n, 3n].map((sequenceNumber) => transfer(sender!, { sequenceNumber }));
    const bad = transfer(sender!, { sequenceNumber: 0n });
    const batch = (items: readonly Buffer[]) =>
      client.post(
        '/transactions/batch',
        encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item))),
      );
    expect(await batch(good)).toMatchObject({ status: 202, body: { transaction_failures: [] } });
    const failure = { ...invalid('SEQUENCE_NUMBER_TOO_OLD', 3).body };
    expect(await batch([transfer(sender!, { sequenceNumber: 4n }), bad])).toMatchObject({
      status: 206,
      body: { transaction_failures: [{ error: failure, transaction_index: 1 }] },
    });
    expect(await batch([bad])).toMatchObject({
      status: 400,
      body: { message: 'All transactions submitted were invalid.', error_code: 'invalid_input' },
    });
    expect(await batch([])).toMatchObject({ status: 202, body: { transaction_failures: [] } });
    const eleven = await batch(Array.from({ length: 11 }, () => bad));
    expect(eleven.body.message).toBe('Submitted too many transactions: 11, while limit is 10');
  });

  it('funds accounts', async () => {
    const response = await fetch(`${net.faucetUrl}/fund`, {
      method: 'POST',
      body: JSON.stringify({ address: '0x5', amount: 12 }),
    });
    const { txn_hashes: hashes } = (await response.json()) as { txn_hashes: string[] };
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    const { body } = await client.wait(`0x${hashes[0]}`);
    expect(body).toMatchObject({ type: 'user_transaction', success: true });
    expect(await client.balance('0x5')).toBe(12n);
  });

  it('makes no account that exists', async () => {
    const body = JSON.stringify({ address: '0x5', amount: 0 });
    for (const path of ['/fund', '/is_eligible']) {
      const response = await fetch(net.faucetUrl + path, { method: 'POST', body });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        message: 'Account 0x5 already exists and amount asked for is 0',
        error_code: 'InvalidRequest',
        rejection_reasons: [],
        txn_hashes: [],
      });
    }
  });

  it('gives a ledger that another node follows and verifies, and whose execution is proved', async () => {
    expect(await proveLedger(net, data)).toBeGreaterThan(8);
    await net.stop();
  });

  it('goes on where it was', async () => {
    await withNet({ data, accounts: 4 }, async (again, { accounts }) => {
      expect(await again.balance('0xcafe')).toBe(77n);
      const [, sender] = accounts;
      const { body } = await again.submit(transfer(sender!, { sequenceNumber: 1n }));
      expect((await again.wait(body.hash)).body['success']).toBe(true);
    });
  });
});

describe('blocks of a local network', () => {
  it('are made on request', async () => {
    await withNet(
      { accounts: 1, mining: { kind: 'manual' } },
      async (client, { accounts, chain }) => {
        const { version } = chain;
        const { body } = await client.submit(transfer(accounts[0]!, { sequenceNumber: 0n }));
        expect((await client.wait(body.hash)).body['type']).toBe('pending_transaction');
        expect(chain.version).toBe(version);
        await chain.mine();
        expect((await client.wait(body.hash)).body['type']).toBe('user_transaction');
        // The start of the block, the transfer, the end of the block.
        expect(chain.version).toBe(version + 3n);
      },
    );
  });

  it('are shared by transactions that come together', async () => {
    await withNet({ accounts: 1 }, async (client, { accounts, chain }) => {
      const { version } = chain;
      const count = 40;
      const all = Array.from({ length: count }, (_, at) =>
        client.submit(transfer(accounts[0]!, { sequenceNumber: BigInt(at) })),
      );
      const [last] = (await Promise.all(all)).slice(-1);
      expect((await client.wait(last!.body.hash)).body['success']).toBe(true);
      // Separate blocks would have three versions each.
      expect(chain.version - version).toBeLessThan(3n * BigInt(count));
    });
  });

  it('come at intervals', async () => {
    const mining = { kind: 'interval', intervalMs: 20 } as const;
    await withNet({ accounts: 0, mining }, async (_, { chain }) => {
      const { version } = chain;
      while (chain.version < version + 4n) await new Promise((resolve) => setTimeout(resolve, 10));
    });
  });

  it('have the time that was set, and end the epoch when it is over', async () => {
    await withNet({ accounts: 0, mining: { kind: 'manual' } }, async (client, { chain }) => {
      await chain.mine();
      const epochOf = async () => Number((await client.get('')).body['epoch']);
      const epoch = await epochOf();
      const next = chain.timestampUsecs + 5_000_000n;
      chain.setNextTime(next);
      await chain.mine();
      expect(chain.timestampUsecs).toBe(next);
      expect(await epochOf()).toBe(epoch);
      chain.moveTime(3_600_000_000n);
      await chain.mine(2);
      expect(chain.timestampUsecs).toBeGreaterThan(next + 3_500_000_000n);
      expect(await epochOf()).toBe(epoch + 1);
    });
  });
});
