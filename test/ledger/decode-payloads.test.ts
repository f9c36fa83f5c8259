/** Decoding scripts, encrypted payloads and payloads without a request form. */

import { describe, expect, it } from 'vitest';
import type { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { CIPHERTEXT_POINTS, ciphertextBytes } from '../move/transactions/wire-bytes.ts';
import { call, payloadOf, script } from './decode-ledger.ts';

/** A script of version 6 with the given parameter tokens, in hex. */
function scriptCode(...parameters: readonly string[]): string {
  const tokens = parameters.join('');
  const signatures = `${hexByte(parameters.length)}${tokens}00`;
  return `a11ceb0b06000000010500${hexByte(signatures.length / 2)}${signatures}0000010102`;
}

function hexByte(value: number): string {
  return Buffer.from([value]).toString('hex');
}

describe('payloads the request has no form for', () => {
  const noNonce = { kind: 'v1', multisigAddress: undefined, replayProtectionNonce: undefined };
  const configured = (executable: object, extraConfig: object) =>
    ({ kind: 'payload', executable, extraConfig }) as unknown as TransactionPayload;
  const limits = {
    kind: 'delegatedVoter',
    poolAddress: padAddress('b0'),
    multipliers: { executionPercent: 200n, ioPercent: 300n },
  };

  it.each([
    [
      'a module bundle',
      { kind: 'moduleBundle', dummy: 0n } as TransactionPayload,
      'module_bundle_payload',
      ['module_bundle', 'not_encodable'],
    ],
    [
      'the newer form without nonce',
      configured(call('f', '05'), noNonce),
      'entry_function_payload',
      ['unusual_payload', 'encodes_differently'],
    ],
    [
      'running nothing',
      configured({ kind: 'empty' }, { ...noNonce, replayProtectionNonce: 1n }),
      'daybook_raw_payload',
      ['unusual_payload', 'not_encodable'],
    ],
    [
      'running what is encrypted elsewhere',
      configured({ kind: 'encrypted' }, { ...noNonce, replayProtectionNonce: 1n }),
      'daybook_raw_payload',
      ['unusual_payload', 'not_encodable'],
    ],
    [
      'asking for higher limits',
      configured(call('f', '05'), {
        ...noNonce,
        kind: 'v2',
        replayProtectionNonce: 1n,
        limitsRequest: limits,
      }),
      'entry_function_payload',
      ['limits_request', 'encodes_differently'],
    ],
  ])('%s', async (_what, payload, type, codes) => {
    const result = await payloadOf(payload, { sequenceNumber: 2n ** 64n - 1n });
    expect(result.shown).toMatchObject({ type });
    expect(result.codes).toEqual(codes);
    expect(result.notes.encodesBack).toBe(false);
  });

  it('higher limits are said in words', async () => {
    const extraConfig = { ...noNonce, kind: 'v2', limitsRequest: limits };
    const { notes } = await payloadOf(configured(call('f', '05'), extraConfig));
    expect(notes.warnings[0]!.message).toContain('200 % of the execution limit');
    expect(notes.warnings[0]!.message).toContain('stake pool 0xb0');
  });

  it('a multisig account that runs what is stored', async () => {
    const payload = {
      kind: 'multisig',
      multisigAddress: padAddress('a'),
      payload: undefined,
    } as const;
    const { shown, codes, notes } = await payloadOf(payload);
    expect(shown).toEqual({ type: 'multisig_payload', multisig_address: '0xa' });
    expect([codes, notes.encodesBack]).toEqual([['multisig_payload_on_chain'], true]);
  });
});

describe('encrypted payloads', () => {
  const ciphertext = ciphertextBytes({
    ...CIPHERTEXT_POINTS,
    paddedKey: Buffer.alloc(16, 4),
    nonce: Buffer.alloc(12, 5),
    body: Buffer.from('body'),
    associatedData: Buffer.alloc(0),
    signature: Buffer.alloc(64, 6),
  });
  const content = {
    ciphertext,
    extraConfig: { kind: 'v1', multisigAddress: undefined, replayProtectionNonce: undefined },
    payloadHash: Buffer.alloc(32, 7),
    encryptionEpoch: 8n,
    claimedEntryFunction: undefined,
  } as const;
  const encrypted = (changes: object): TransactionPayload => ({
    kind: 'encrypted',
    payload: { state: 'encrypted', content: { ...content, ...changes } },
  });
  const claimed = (name: string, fn?: string) => ({
    claimedEntryFunction: { module: { address: padAddress('1'), name }, function: fn },
  });

  it.each([
    ['plain', {}, undefined],
    ['with a claim', claimed('coin', 'transfer'), { module: '0x1::coin', name: 'transfer' }],
    ['with a claim of a module', claimed('coin'), { module: '0x1::coin' }],
  ])('%s comes back', async (_what, changes, claim) => {
    const { shown, codes, notes } = await payloadOf(encrypted(changes));
    expect(shown).toMatchObject({
      encrypted_state: 'encrypted',
      payload_hash: `0x${'07'.repeat(32)}`,
      encryption_epoch: '8',
    });
    expect((shown as Record<string, unknown>)['claimed_entry_fun']).toEqual(claim);
    expect([codes, notes.encodesBack]).toEqual([['encrypted'], true]);
  });

  it('with a nonce comes back', async () => {
    const extraConfig = { ...content.extraConfig, replayProtectionNonce: 9n };
    const result = await payloadOf(encrypted({ extraConfig }), { sequenceNumber: 2n ** 64n - 1n });
    expect(result.rest).toMatchObject({ replay_protection_nonce: '9' });
    expect(result.notes.encodesBack).toBe(true);
  });

  it.each([
    ['a claim that is no name', encrypted(claimed('a::b')), 'bad_identifier', 'not_encodable'],
    [
      'a multisig account',
      encrypted({ extraConfig: { ...content.extraConfig, multisigAddress: padAddress('a') } }),
      'unusual_payload',
      'encodes_differently',
    ],
    [
      'one that a node could not decrypt',
      {
        kind: 'encrypted',
        payload: { state: 'failedDecryption', content, evalProof: undefined, reason: 0 },
      } as const,
      'unusual_payload',
      'not_encodable',
    ],
  ])('%s does not', async (_what, payload, code, outcome) => {
    const { codes, notes } = await payloadOf(payload);
    expect(codes).toEqual(['encrypted', code, outcome]);
    expect(notes.encodesBack).toBe(false);
  });
});

describe('scripts', () => {
  const u64 = { kind: 'u64', value: 5n } as const;
  const empty = { kind: 'u8Vector', value: Buffer.alloc(0) } as const;

  it.each([
    ['by their tags', scriptCode('03'), [u64], ['5'], []],
    ['an empty vector of anything', scriptCode('0a03'), [empty], [[]], []],
    ['empty bytes', scriptCode('0a02'), [empty], ['0x'], []],
    ['code that is none', '64', [u64, empty], ['5', '0x'], ['script_not_readable']],
    ['arguments of other types', scriptCode('01'), [u64], ['5'], ['script_arguments']],
    ['too few arguments', scriptCode('01', '01'), [], [], ['script_arguments']],
  ] as const)('%s', async (_what, code, args, shownArguments, codes) => {
    const result = await payloadOf(script(code, ...args));
    expect(result.shown).toMatchObject({ arguments: shownArguments });
    expect(result.codes).toEqual(['script', ...codes]);
    expect(result.notes.encodesBack).toBe(true);
    const { code: shownCode } = result.shown as { code: object };
    expect('abi' in shownCode).toBe(codes.length > 0);
  });

  it('values in BCS are shown with what they mean', async () => {
    const value = Buffer.from('020500000000000000060000000000000000', 'hex').subarray(0, 17);
    const result = await payloadOf(script(scriptCode('0a03'), { kind: 'serialized', value }));
    expect(result.shown).toMatchObject({
      arguments: [
        { daybook_raw: '0x0205000000000000000600000000000000', daybook_value: ['5', '6'] },
      ],
    });
    expect(result.codes).toEqual(['script', 'argument_not_shown', 'not_encodable']);
  });

  it('signed integers have no type in a request', async () => {
    const result = await payloadOf(script('64', { kind: 'i8', value: -5 }));
    expect(result.shown).toMatchObject({ arguments: [-5], code: { bytecode: '0x64' } });
    expect(result.codes).toEqual(['script', 'script_not_readable', 'not_encodable']);
  });
});
