/**
 * `POST /v1/transactions/simulate` on the recorded chain (docs/spec/transactions.md §9.4, docs/spec/vm.md §8), with
 * real accounts whose keys are not available.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_SIMULATED_JSON_BYTES } from '../../src/api/endpoints/execution.ts';
import {
  MAX_SIMULATED_BYTES,
  MAX_SIMULATED_ITEMS,
} from '../../src/execution/simulated-transaction.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { domainSeed } from '../../src/move/crypto/hash.ts';
import { readOnChainData } from '../../src/move/transactions/transaction.ts';
import type { RawTransaction } from '../../src/move/transactions/user-transaction.ts';
import {
  ADDRESS_ONE,
  type Address,
  formatAddress,
  padAddress,
} from '../../src/move/types/address.ts';
import type { TestReply } from '../api/client.ts';
import { expectError } from '../api/error-answers.ts';
import { serveStore } from '../fork/forked-nodes.ts';
import { sampleStore } from '../ingest/feed-following.ts';
import { NEWEST_VERSION, type ReferenceLedger, serveReferenceChain } from './reference-chain.ts';
import {
  findAccounts,
  type KnownAccount,
  LATER,
  RECEIVER,
  rawBytes,
  rawOf,
  transferTo,
  zeroSigned,
} from './simulation-requests.ts';
import { transferScript } from './transfer-script.ts';

const PATH = '/v1/transactions/simulate';
const SIGNED_TRANSACTION = 'application/x.aptos.signed_transaction+bcs';
const INVALID = 'invalid_input';
const NO_KEY = Buffer.of(4, 4);

let ledger: ReferenceLedger;
beforeAll(async () => {
  ledger = await serveReferenceChain();
});
afterAll(() => ledger.close());

let known: Promise<KnownAccount[]> | undefined;

function accounts(): Promise<KnownAccount[]> {
  known ??= findAccounts(ledger.api);
  return known;
}

function post(body: Buffer | object, query = '', accept = 'application/json'): Promise<TestReply> {
  const isBcs = Buffer.isBuffer(body);
  const type = isBcs ? SIGNED_TRANSACTION : 'application/json';
  return ledger.api.request({
    method: 'POST',
    url: PATH + query,
    headers: { 'content-type': type, accept },
    body: isBcs ? body : JSON.stringify(body),
  });
}

/** The only transaction in a response. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it
async function simulated(raw: RawTransaction, signature: Buffer, query = ''): Promise<any> {
  const reply = await post(Buffer.concat([rawBytes(raw), signature]), query);
  expect(reply.statusCode, reply.body).toBe(200);
  const list = reply.json();
  expect(list.length).toBe(1);
  return list[0];
}

describe('a transfer', () => {
  it('is shown as it would be committed, from BCS and from JSON, as JSON and as BCS', async () => {
    const [sender] = await accounts();
    const raw = rawOf(sender!);
    const body = Buffer.concat([rawBytes(raw), zeroSigned(sender!)]);
    const reply = await post(body);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.headers['x-aptos-ledger-version']).toBe(String(NEWEST_VERSION));
    const [shown] = reply.json();
    expect(reply.headers['x-aptos-gas-used']).toBe(shown.gas_used);
    // Like the reference's simulations, and unlike its transactions.
    expect(shown).not.toHaveProperty('type');
    const zeros = `0x${'0'.repeat(64)}`;
    expect(shown).toMatchObject({
      version: String(NEWEST_VERSION),
      state_change_hash: zeros,
      event_root_hash: zeros,
      accumulator_root_hash: zeros,
      state_checkpoint_hash: null,
      success: true,
      vm_status: 'Executed successfully',
      sender: formatAddress(sender!.address),
      sequence_number: String(sender!.nextSequenceNumber),
    });
    const types = shown.events.map(({ type }: { type: string }) => type);
    expect(types).toEqual([
      '0x1::fungible_asset::Withdraw',
      '0x1::fungible_asset::Deposit',
      '0x1::transaction_fee::FeeStatement',
    ]);
    // A new account: one slot of 400,000 octas, and its bytes.
    expect(Number(shown.gas_used)).toBeGreaterThan(5_000);
    const account = shown.changes.find(
      ({ data }: { data?: { type: string } }) => data?.type === '0x1::account::Account',
    );
    expect(account.data.data.sequence_number).toBe(String(sender!.nextSequenceNumber + 1n));

    const json = await post({
      sender: formatAddress(raw.sender),
      sequence_number: String(raw.sequenceNumber),
      max_gas_amount: String(raw.maxGasAmount),
      gas_unit_price: String(raw.gasUnitPrice),
      expiration_timestamp_secs: String(raw.expirationTimestampSecs),
      payload: {
        type: 'entry_function_payload',
        function: '0x1::aptos_account::transfer',
        type_arguments: [],
        arguments: [formatAddress(RECEIVER), '1000'],
      },
      signature: {
        type: 'ed25519_signature',
        public_key: formatHex(sender!.publicKey),
        signature: formatHex(Buffer.alloc(64)),
      },
    });
    expect(json.body).toBe(reply.body);

    const bcs = await post(body, '', 'application/x-bcs');
    const reader = new BcsReader(bcs.bytes);
    const { data } = readOnChainData(reader);
    reader.finish();
    expect(data.version).toBe(BigInt(NEWEST_VERSION));
    expect(data.info.status).toEqual({ kind: 'success' });
    expect(String(data.info.gasUsed)).toBe(shown.gas_used);
    expect(data.events.length).toBe(3);
    const keys = shown.changes.map(({ state_key_hash: hash }: { state_key_hash: string }) => hash);
    expect(data.changes.writes.length).toBe(new Set(keys).size);
    expect(formatHex(data.info.transactionHash)).toBe(shown.hash);
  });

  it('may be of an account that nobody signs for', async () => {
    const [sender] = await accounts();
    const shown = await simulated(rawOf(sender!), NO_KEY);
    expect(shown.vm_status).toBe('Executed successfully');
    expect(shown.signature).toEqual({ type: 'single_sender' });
  });

  it('of too much aborts, and pays', async () => {
    const [sender] = await accounts();
    const payload = transferTo(RECEIVER, 1n << 63n);
    const shown = await simulated(rawOf(sender!, { payload }), zeroSigned(sender!));
    expect(shown.success).toBe(false);
    expect(shown.vm_status).toMatch(/^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE/);
    expect(shown.events.map(({ type }: { type: string }) => type)).toEqual([
      '0x1::transaction_fee::FeeStatement',
    ]);
    expect(Number(shown.gas_used)).toBeGreaterThan(0);
  });

  it('of all that there is leaves nothing for the fee', async () => {
    const [sender] = await accounts();
    const payload = transferTo(RECEIVER, sender!.balance);
    const shown = await simulated(rawOf(sender!, { payload }), zeroSigned(sender!));
    expect(shown.success).toBe(false);
    expect(shown.vm_status).toMatch(/^Move abort in 0x1::transaction_validation: 0x203ed$/);
  });
});

describe('a transaction that would not be committed', () => {
  const failing: readonly (readonly [string, Partial<RawTransaction>])[] = [
    ['BAD_CHAIN_ID', { chainId: 5 }],
    ['TRANSACTION_EXPIRED', { expirationTimestampSecs: 1_771_249_440n }],
    ['SEQUENCE_NUMBER_TOO_OLD', { sequenceNumber: 0n }],
    ['SEQUENCE_NUMBER_TOO_NEW', { sequenceNumber: 1_000_000n }],
    ['MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND', { maxGasAmount: 20_000_001n }],
    ['MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS', { maxGasAmount: 27n }],
    ['GAS_UNIT_PRICE_BELOW_MIN_BOUND', { gasUnitPrice: 99n }],
    ['GAS_UNIT_PRICE_ABOVE_MAX_BOUND', { gasUnitPrice: 10_000_000_001n }],
    ['INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE', { gasUnitPrice: 10_000_000_000n }],
  ];
  it.each(failing)('%s', async (status, changes) => {
    const [sender] = await accounts();
    const shown = await simulated(rawOf(sender!, changes), zeroSigned(sender!));
    const { success, vm_status: text, gas_used: gas, events, changes: writes } = shown;
    expect([success, text, gas, events, writes]).toEqual([false, status, '0', [], []]);
  });

  const fitting: readonly (readonly [string, Partial<RawTransaction>])[] = [
    ['gas units', { maxGasAmount: 20_000_000n }],
    ['gas units at least', { maxGasAmount: 28n }],
    ['gas price', { gasUnitPrice: 101n }],
    ['expiration', { expirationTimestampSecs: 1_771_249_441n }],
  ];
  it.each(fitting)('is not one at a limit: %s', async (_, changes) => {
    const [sender] = await accounts();
    const shown = await simulated(rawOf(sender!, changes), NO_KEY);
    const after = [
      'Executed successfully',
      'INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE',
      'Out of gas',
    ];
    expect(after).toContain(shown.vm_status);
  });

  it('with the key of somebody else', async () => {
    const [sender, other] = await accounts();
    const shown = await simulated(rawOf(sender!), zeroSigned(other!));
    expect(shown.vm_status).toBe('INVALID_AUTH_KEY');
  });

  it('of a size above the limit of the chain', async () => {
    const [sender] = await accounts();
    const code = (bytes: number): RawTransaction['payload'] => ({
      kind: 'script',
      code: Buffer.alloc(bytes, 1),
      typeArguments: [],
      args: [],
    });
    // The bytes of signatures count, too.
    const raw = rawBytes(rawOf(sender!, { payload: code(65_000) }));
    const overhead = raw.length + NO_KEY.length - 65_000;
    const statusAt = async (size: number) => {
      const sized = { payload: code(size - overhead), maxGasAmount: 2_000_000n };
      return (await simulated(rawOf(sender!, sized), NO_KEY)).vm_status;
    };
    expect(await statusAt(65_535)).toBe('CODE_DESERIALIZATION_ERROR');
    expect(await statusAt(65_536)).toBe('CODE_DESERIALIZATION_ERROR');
    expect(await statusAt(65_537)).toBe('EXCEEDED_MAX_TRANSACTION_SIZE');
  });
});

describe('gas parameters that the node chooses', () => {
  it('are those that the transaction is shown with', async () => {
    const [sender] = await accounts();
    const price = await simulated(
      rawOf(sender!, { gasUnitPrice: 1n }),
      NO_KEY,
      '?estimate_gas_unit_price=true',
    );
    expect([price.gas_unit_price, price.success]).toEqual(['100', true]);
    const both = '?estimate_prioritized_gas_unit_price=true&estimate_gas_unit_price=true';
    const prioritized = await simulated(rawOf(sender!), NO_KEY, both);
    expect(prioritized.gas_unit_price).toBe('150');
    const most = await simulated(
      rawOf(sender!, { maxGasAmount: 1n }),
      NO_KEY,
      '?estimate_max_gas_amount=true',
    );
    expect([most.max_gas_amount, most.success]).toEqual(['20000000', true]);
    const paid = '?estimate_max_gas_amount=true';
    const dear = await simulated(rawOf(sender!, { gasUnitPrice: 1_000_000n }), NO_KEY, paid);
    expect(BigInt(dear.max_gas_amount)).toBe(sender!.balance / 1_000_000n);
  });
});

describe('other signers', () => {
  it('pay the fee, and nobody does where none is named', async () => {
    const [sender, payer] = await accounts();
    const raw = rawOf(sender!);
    const feePaid = (address: Address) =>
      encodeBcs((writer) => {
        writer.uleb32(3).uleb32(4).uleb32(0).uleb32(0).address(address).uleb32(4);
      });
    const changed = async (address: Address): Promise<string[]> => {
      const shown = await simulated(raw, feePaid(address));
      expect(shown.vm_status).toBe('Executed successfully');
      return shown.changes.map(({ address: at }: { address: string }) => at);
    };
    // Two resources of the payer's store, and six of the supply.
    const unpaid = await changed(padAddress('0'));
    const paid = await changed(payer!.address);
    expect(paid.length).toBe(unpaid.length + 2 + 6);
  });

  it('are asked for as the function wants them, and sign once', async () => {
    const [sender, other] = await accounts();
    const withOthers = (addresses: readonly Address[]) =>
      encodeBcs((writer) => {
        writer
          .uleb32(2)
          .uleb32(4)
          .vector(addresses, (to, address) => to.address(address));
        writer.vector(addresses, (to) => to.uleb32(4));
      });
    const statusOf = async (addresses: readonly Address[]) =>
      (await simulated(rawOf(sender!), withOthers(addresses))).vm_status;
    expect(await statusOf([other!.address])).toBe('NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH');
    expect(await statusOf([sender!.address])).toBe('SIGNERS_CONTAIN_DUPLICATES');
    expect(await statusOf([padAddress('123456')])).toBe('NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH');
  });
});

describe('an orderless transaction', () => {
  const orderless = (sender: KnownAccount, nonce: bigint, expires = 1_771_249_490n) =>
    rawOf(sender, {
      sequenceNumber: 0xffff_ffff_ffff_ffffn,
      expirationTimestampSecs: expires,
      payload: {
        kind: 'payload',
        executable: transferTo(RECEIVER, 5n) as never,
        extraConfig: { kind: 'v1', multisigAddress: undefined, replayProtectionNonce: nonce },
      },
    });

  it('leaves its nonce in a table', async () => {
    const [sender] = await accounts();
    const shown = await simulated(orderless(sender!, 77n), NO_KEY);
    expect(shown.vm_status).toBe('Executed successfully');
    const items = shown.changes.filter(({ type }: { type: string }) => type === 'write_table_item');
    expect(items.length).toBe(1);
    expect(shown.replay_protection_nonce).toBe('77');
  });

  it('expires soon', async () => {
    const [sender] = await accounts();
    const shown = await simulated(orderless(sender!, 77n, LATER), NO_KEY);
    expect(shown.vm_status).toBe('TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE');
  });
});

describe('a script', () => {
  const scriptOf = (sender: KnownAccount, amount: bigint) =>
    rawOf(sender, {
      payload: {
        kind: 'script',
        code: transferScript(),
        typeArguments: [],
        args: [
          { kind: 'address', value: RECEIVER },
          { kind: 'u64', value: amount },
        ],
      },
    });

  it('runs to its end', async () => {
    const [sender] = await accounts();
    const byScript = await simulated(scriptOf(sender!, 1_000n), NO_KEY);
    const byFunction = await simulated(rawOf(sender!), NO_KEY);
    expect(byScript.vm_status).toBe('Executed successfully');
    expect(byScript.payload.type).toBe('script_payload');
    const withoutFee = ({ events }: { events: { type: string }[] }) => events.slice(0, 2);
    expect(withoutFee(byScript)).toEqual(withoutFee(byFunction));
    const keys = ({ changes }: { changes: { state_key_hash: string }[] }) =>
      changes.map(({ state_key_hash: key }) => key);
    expect(keys(byScript)).toEqual(keys(byFunction));
  });

  it('fails as what it calls does', async () => {
    const [sender] = await accounts();
    const shown = await simulated(scriptOf(sender!, 1n << 63n), NO_KEY);
    expect(shown.vm_status).toMatch(/^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE/);
  });
});

describe('a package', () => {
  it('without modules is published', async () => {
    const [sender] = await accounts();
    const payload = {
      kind: 'entryFunction',
      module: { address: ADDRESS_ONE, name: 'code' },
      function: 'publish_package_txn',
      typeArguments: [],
      args: [
        // A package without modules: name, policy, upgrade number, digest, manifest, modules, dependencies, extension.
        encodeBcs((writer) => {
          const metadata = encodeBcs((to) =>
            to.string('p').u8(1).u64(0).string('').bytes(Buffer.alloc(0)).uleb32(0).uleb32(0).u8(0),
          );
          writer.bytes(metadata);
        }),
        encodeBcs((writer) => writer.uleb32(0)),
      ],
    } as const;
    const shown = await simulated(rawOf(sender!, { payload }), zeroSigned(sender!));
    expect(shown.vm_status).toBe('Executed successfully');
    const types = shown.events.map(({ type }: { type: string }) => type);
    expect(types).toContain('0x1::code::PublishPackage');
  });
});

describe('what is refused', () => {
  it('is BCS that is no transaction', async () => {
    const reply = await post(Buffer.alloc(0));
    const text = 'Failed to deserialize input into SignedTransaction: unexpected end of input';
    expectError(reply, 400, INVALID, text);
  });

  it.each([-1, 0, 1])('is more than is read: %i bytes or items', async (more) => {
    const [sender] = await accounts();
    const ask = (payload: RawTransaction['payload']) =>
      post(Buffer.concat([rawBytes(rawOf(sender!, { payload })), NO_KEY]));
    // The rest of the transaction has 73 bytes.
    const code = Buffer.alloc(MAX_SIMULATED_BYTES + more - 73, 1);
    const large = await ask({ kind: 'script', code, typeArguments: [], args: [] });
    const args = Array.from({ length: MAX_SIMULATED_ITEMS + more }, () => NO_KEY);
    const long = await ask({ ...transferTo(RECEIVER, 1n), args } as RawTransaction['payload']);
    if (more <= 0) {
      expect(large.json()[0].vm_status).toBe('EXCEEDED_MAX_TRANSACTION_SIZE');
      expect(long.json()[0].vm_status).toBe('NUMBER_OF_ARGUMENTS_MISMATCH');
    } else {
      expectError(large, 400, INVALID, 'Transactions of more than 262144 bytes are not simulated');
      expect(long.json().message).toMatch(/ more than 1024 items in one message$/);
    }
  });

  it.each([-1, 0, 1])('is longer JSON than is read: %i bytes', async (more) => {
    const body = Buffer.alloc(MAX_SIMULATED_JSON_BYTES + more, ' ');
    body.write('{}');
    const reply = await ledger.api.request({
      method: 'POST',
      url: PATH,
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (more <= 0) expect(reply.json().message).toMatch(/: failed to parse "string\(Address\)"/);
    else expectError(reply, 413, 'web_framework_error', 'payload too large');
  });

  it('is a valid signature', async () => {
    const [sender] = await accounts();
    const raw = rawOf(sender!);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const message = Buffer.concat([domainSeed('RawTransaction'), rawBytes(raw)]);
    const { x } = publicKey.export({ format: 'jwk' });
    const signed = (signature: Buffer) =>
      encodeBcs((writer) => {
        writer.uleb32(0).bytes(Buffer.from(x!, 'base64url')).bytes(signature);
      });
    const valid = sign(null, message, privateKey);
    const text = 'Simulated transactions must not have a valid signature';
    expectError(await post(Buffer.concat([rawBytes(raw), signed(valid)])), 400, INVALID, text);
    valid[40]! ^= 1;
    const shown = await simulated(raw, signed(valid));
    expect(shown.vm_status).toBe('INVALID_AUTH_KEY');
  });

  it('is a payload of an account that is no multisig account', async () => {
    const [sender] = await accounts();
    const payload = { kind: 'multisig', multisigAddress: RECEIVER, payload: undefined } as const;
    const { vm_status } = await simulated(rawOf(sender!, { payload }), zeroSigned(sender!));
    expect(vm_status).toBe('ACCOUNT_NOT_MULTISIG');
  });

  it('are arguments that do not fit the function', async () => {
    const request = {
      sender: '0x1',
      sequence_number: '0',
      max_gas_amount: '1000',
      gas_unit_price: '100',
      expiration_timestamp_secs: '1',
      payload: {
        type: 'entry_function_payload',
        function: '0x1::aptos_account::transfer',
        type_arguments: [],
        arguments: ['0x1'],
      },
      signature: { type: 'no_account_signature' },
    };
    const reply = await post(request);
    expect(reply.statusCode).toBe(400);
    expect(reply.json().message).toMatch(
      /^Failed to create SignedTransaction from SubmitTransactionRequest: Failed to parse transaction payload: expected 2 arguments/,
    );
  });
});

describe('a ledger without the functions that check transactions', () => {
  it('says so', async () => {
    const sample = await serveStore(await sampleStore(30));
    const [sender] = await accounts();
    const reply = await sample.app.request({
      method: 'POST',
      url: PATH,
      headers: { 'content-type': SIGNED_TRANSACTION },
      body: Buffer.concat([rawBytes(rawOf(sender!)), NO_KEY]),
    });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().message).toMatch(
      /^Transactions of this ledger are not simulated: its 0x1::transaction_validation has no function/,
    );
  });
});
