/** Transactions as JSON where the reference drops parts or responds with 500 (docs/differences.md). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import { resourceGroupStateKey } from '../../src/move/types/state-key.ts';
import {
  BLOCK_USECS,
  checkpoint,
  type EvolvingLedger,
  HOLDER,
  openEvolvingLedger,
  type,
  userTransaction,
} from './evolving-ledger.ts';

interface Shown {
  readonly type: string;
  readonly timestamp?: string;
  readonly payload?: unknown;
  readonly txn_limits_request?: unknown;
  readonly changes: readonly { readonly state_key_hash?: string }[];
  readonly events?: readonly { readonly type: string; readonly data: unknown }[];
}

let ledger: EvolvingLedger;
beforeAll(async () => {
  ledger = await openEvolvingLedger();
});
afterAll(async () => {
  expect(ledger.log.errors).toEqual([]);
  await ledger.close();
});

async function ask(version: number) {
  const reply = await ledger.app.request(`/v1/transactions/by_version/${version}`);
  expect(reply.statusCode).toBe(200);
  return { reply, shown: JSON.parse(reply.body) as Shown };
}

async function changes(version: number): Promise<unknown[]> {
  const { shown } = await ask(version);
  return shown.changes.map(({ state_key_hash: hash, ...rest }) => {
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    return rest;
  });
}

const IMMUTABLE = 'public, max-age=31536000, immutable';
const holder = { address: '0xbeef' };
const wrote = (type: string, data: unknown) => ({
  ...holder,
  data: { type, data },
  type: 'write_resource',
});

describe('values are read with the layouts of their version', () => {
  it('also when the newest have other ones', async () => {
    const note = wrote('0x7::m::Note', { value: '1' });
    expect(await changes(0)).toContainEqual(note);
    expect((await ask(0)).shown.events![0]).toMatchObject({ data: { value: '10' } });
    expect(await changes(3)).toContainEqual(wrote('0x7::m::Note', { more: 9, value: '5' }));
  });

  it('else with the newest', async () => {
    const { shown } = await ask(1);
    expect(shown.events![0]).toMatchObject({ type: '0x7::late::Ping', data: { value: '7' } });
    expect(shown.timestamp).toBe(String(BLOCK_USECS));
  });

  it('and only what the newest do not decide lasts', async () => {
    for (const [version, lasts] of [
      [0, true],
      [1, false],
      [2, true],
      [3, true],
      [4, false],
      [5, true],
    ] as const) {
      const { reply } = await ask(version);
      expect([version, reply.headers['cache-control']]).toEqual([
        version,
        lasts ? IMMUTABLE : undefined,
      ]);
      const url = `/v1/transactions/by_version/${version}`;
      const { etag } = reply.headers as { etag: string };
      const again = await ledger.app.request({ url, headers: { 'if-none-match': etag } });
      expect(again.statusCode).toBe(304);
      const bcs = await ledger.app.request({ url, headers: { accept: 'application/x-bcs' } });
      expect(bcs.headers['cache-control']).toBe(IMMUTABLE);
      expect(bcs.headers['etag']).not.toBe(etag);
    }
  });
});

describe('what cannot be decoded is shown as bytes', () => {
  it('in changes, each in its place', async () => {
    expect(await changes(4)).toEqual([
      { ...holder, data: { bytecode: '0x6e6f206d6f64756c65', abi: null }, type: 'write_module' },
      wrote('0x7::m::Note', '0x03'),
      wrote('0x7::m::Missing', '0x0102'),
      wrote('0x7::m::Missing', '0x03'),
      wrote('0x7::m::Note', { more: 1, value: '2' }),
      wrote('0x7::m::Tong', '0x6e6f2067726f7570'),
      wrote('0x0909', '0x04'),
    ]);
  });

  it('in events, with their types', async () => {
    const { shown } = await ask(4);
    expect(shown.events!.map(({ type, data }) => [type, data])).toEqual([
      ['0x7::m::Missing', '0x07'],
      ['0x7::m::Note', '0x0800000000000000'],
    ]);
  });

  it('and deletions with the types of their keys', async () => {
    expect(await changes(5)).toEqual([
      { ...holder, module: '0xbeef::junk', type: 'delete_module' },
      { ...holder, resource: '0x7::m::Note', type: 'delete_resource' },
      { ...holder, resource: '0x7::m::Ring', type: 'delete_resource' },
      { ...holder, resource: '0x0909', type: 'delete_resource' },
    ]);
  });
});

/** Key, identity, curve points, the other fields of fixed size, an empty body and no data, signature. */
const CIPHERTEXT = encodeBcs((writer) => {
  for (const size of [32, 32, 288]) writer.bytes(Buffer.alloc(size));
  writer.fixed(Buffer.alloc(28)).bytes(Buffer.of()).bytes(Buffer.of()).fixed(Buffer.alloc(64));
});

describe('payloads without a form', () => {
  const multisig = padAddress('ab');
  const config = {
    kind: 'v1',
    multisigAddress: undefined,
    replayProtectionNonce: undefined,
  } as const;
  const content = {
    ciphertext: CIPHERTEXT,
    extraConfig: config,
    payloadHash: Buffer.alloc(32, 1),
    encryptionEpoch: 5n,
    claimedEntryFunction: { module: { address: HOLDER, name: 'm' }, function: undefined },
  };
  const raw = (bcs: string) => ({ bcs, type: 'daybook_raw_payload' });

  it.each<[string, TransactionPayload, unknown]>([
    ['a module bundle', { kind: 'moduleBundle', dummy: 3n }, { type: 'module_bundle_payload' }],
    [
      'nothing to run',
      { kind: 'payload', executable: { kind: 'empty' }, extraConfig: config },
      raw('0x040002000000'),
    ],
    [
      'something encrypted, outside of an encrypted payload',
      { kind: 'payload', executable: { kind: 'encrypted' }, extraConfig: config },
      raw('0x040003000000'),
    ],
    [
      'something encrypted for a multisig account',
      {
        kind: 'payload',
        executable: { kind: 'encrypted' },
        extraConfig: { ...config, multisigAddress: multisig },
      },
      { multisig_address: '0xab', transaction_payload: raw('0x03'), type: 'multisig_payload' },
    ],
  ])('%s', async (_, payload, expected) => {
    const version = await ledger.append(userTransaction(payload));
    const { reply, shown } = await ask(version);
    expect(shown.payload).toEqual(expected);
    expect(reply.headers['cache-control']).toBe(IMMUTABLE);
  });

  it('a decrypted payload that runs nothing', async () => {
    const version = await ledger.append(
      userTransaction({
        kind: 'encrypted',
        payload: {
          state: 'decrypted',
          content,
          evalProof: Buffer.of(1),
          executable: { kind: 'empty' },
          decryptionNonce: Buffer.alloc(16, 2),
        },
      }),
    );
    const { shown } = await ask(version);
    expect(JSON.stringify(shown.payload)).toBe(
      JSON.stringify({
        payload_hash: `0x${'01'.repeat(32)}`,
        ciphertext: `0x${CIPHERTEXT.toString('hex')}`,
        encryption_epoch: '5',
        claimed_entry_fun: { module: '0xbeef::m', name: null },
        decrypted_payload: raw('0x02'),
        decryption_nonce: `0x${'02'.repeat(16)}`,
        encrypted_state: 'decrypted',
        type: 'encrypted_transaction_payload',
      }),
    );
  });
});

it('members of a group come in the order of their types', async () => {
  // Ordered by address, module, name, then arguments; not by bytes, in which lengths come first.
  const members = ['Zz', 'Aaa', 'B', 'Aa'].map((name) => ({ tag: type(name), data: Buffer.of(1) }));
  const version = await ledger.append(checkpoint(), [
    [resourceGroupStateKey(HOLDER, type('G')), encodeResourceGroup(members)],
  ]);
  const { shown } = await ask(version);
  const types = shown.changes.map((change) => (change as { data: { type: string } }).data.type);
  expect(types).toEqual(['Aa', 'Aaa', 'B', 'Zz'].map((name) => `0x7::m::${name}`));
});
