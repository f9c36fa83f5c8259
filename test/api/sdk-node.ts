/**
 * The official TypeScript SDK, unchanged, as a client of the program with `--header-prefix X-Aptos`. It caches ledger
 * info and ABIs by the name of the network, so a test file can only have one ledger.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Account,
  Aptos,
  AptosApiError,
  AptosConfig,
  Deserializer,
  Ed25519PrivateKey,
  generateSigningMessageForTransaction,
  Network,
  RawTransaction,
} from '@aptos-labs/ts-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand, ServedNode } from '../process/command.ts';

/** The native coin. */
export const COIN = '0x1::aptos_coin::AptosCoin';
/** The SDK requires full addresses for users. */
const TO = `0x${'b0b'.padStart(64, '0')}`;
/** Any key will do: nothing is submitted. */
const PRIVATE_KEY = new Ed25519PrivateKey(`ed25519-priv-0x${'11'.repeat(32)}`);

/** An SDK and its node. */
export interface Client {
  readonly aptos: Aptos;
  readonly node: ServedNode;
}

/** A served genesis with an SDK, for the duration of a `describe`. */
export function sdkClient(genesis: () => string): { readonly client: Client } {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-sdk-'));
  let client: Client;
  beforeAll(async () => {
    const made = await runCommand(['init', '--data', folder, '--genesis', genesis()]);
    expect(made).toMatchObject({ code: 0 });
    const node = await ServedNode.start(folder, ['--header-prefix', 'X-Aptos']);
    const config = new AptosConfig({ network: Network.CUSTOM, fullnode: node.ready.url });
    client = { node, aptos: new Aptos(config) };
  });
  afterAll(async () => {
    const { code } = await client.node.stop();
    expect(code).toBe(0);
    expect(client.node.complaints).toEqual([]);
    rmSync(folder, { recursive: true });
  });
  return {
    get client() {
      return client;
    },
  };
}

/** Requirements for the SDK on any ledger with the module `0x1::aptos_account`. */
export function itServes(served: { readonly client: Client }, chainId: number): void {
  it('reads ledger info and the chain id', async () => {
    const { aptos } = served.client;
    expect(await aptos.getLedgerInfo()).toEqual({
      chain_id: chainId,
      epoch: '0',
      ledger_version: '0',
      oldest_ledger_version: '0',
      ledger_timestamp: '0',
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: '0',
      git_hash: '',
      encryption_key: null,
    });
    expect(await aptos.getChainId()).toBe(chainId);
  });

  it('finds the headers under the prefix it knows', async () => {
    const { headers } = await served.client.node.get('');
    expect(headers.get('x-aptos-chain-id')).toBe(String(chainId));
    expect(headers.get('x-aptos-ledger-version')).toBe('0');
  });

  it('builds the bytes to sign from our interface as our own operation does', async () => {
    const { aptos, node } = served.client;
    const sender = Account.fromPrivateKey({ privateKey: PRIVATE_KEY }).accountAddress;
    const transaction = await aptos.transaction.build.simple({
      sender,
      data: { function: '0x1::aptos_account::transfer', functionArguments: [TO, 5] },
      options: {
        accountSequenceNumber: 3n,
        gasUnitPrice: 100,
        maxGasAmount: 2000,
        expireTimestamp: 1_700_000_000,
      },
    });
    const raw = RawTransaction.deserialize(
      new Deserializer(transaction.rawTransaction.bcsToBytes()),
    );
    expect(raw.chain_id.chainId).toBe(chainId);
    const response = await fetch(`${node.ready.url}/transactions/encode_submission`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        sender: sender.toString(),
        sequence_number: '3',
        max_gas_amount: '2000',
        gas_unit_price: '100',
        expiration_timestamp_secs: '1700000000',
        payload: {
          type: 'entry_function_payload',
          function: '0x1::aptos_account::transfer',
          type_arguments: [],
          arguments: [TO, '5'],
        },
      }),
    });
    expect(response.status).toBe(200);
    const message = Buffer.from(((await response.json()) as string).slice(2), 'hex');
    expect(message).toEqual(Buffer.from(generateSigningMessageForTransaction(transaction)));
    const signature = PRIVATE_KEY.sign(message);
    expect(PRIVATE_KEY.publicKey().verifySignature({ message, signature })).toBe(true);
  });

  it('understands our errors', async () => {
    const asked = served.client.aptos.getAccountModule({
      accountAddress: '0x1',
      moduleName: 'NoNoNo',
    });
    const error = await asked.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AptosApiError);
    expect(error).toMatchObject({
      status: 404,
      data: {
        message: 'Module not found by Address(0x1), Module name(NoNoNo) and Ledger version(0)',
        error_code: 'module_not_found',
        vm_error_code: null,
      },
    });
  });
}
