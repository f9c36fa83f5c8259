/** Notes of decoding beside the request: warnings, raw forms, refusals, limits. */
import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { padAddress } from '../../src/move/types/address.ts';
import {
  DecodeError,
  type DecodeErrorCode,
  decodeSubmission,
  MAX_MESSAGE_CONTAINERS,
  MAX_MESSAGE_ITEMS,
  MAX_SIGNING_MESSAGE_BYTES,
  parseMessageText,
} from '../../src/submission/decode/index.ts';
import { expirationDate, MAX_WARNING_LENGTH } from '../../src/submission/decode/rendering.ts';
import { call, context, lookupModule, payloadOf, script } from './decode-ledger.ts';
import { decodeAndEncode, messageOf, rawTransaction, warningCodes } from './signing-bytes.ts';

describe('a call that is understood', () => {
  it('is shown whole, in the order of the fields', async () => {
    const again = await decodeAndEncode(messageOf(rawTransaction(call('f', '05'))), {
      ...context,
      timestampUsecs: 1_600_000_000_000_000n,
    });
    expect(again.text).toBe(
      '{"sender":"0xdd","sequence_number":"7","max_gas_amount":"1000","gas_unit_price":"100",' +
        '"expiration_timestamp_secs":"1700000000","payload":{"type":"entry_function_payload",' +
        '"function":"0x2::m::f","type_arguments":[],"arguments":[5]},"daybook_notes":{' +
        '"encodes_back":true,"signing_scheme":"single_signer","replay_protection":"sequence_number",' +
        '"chain_id":4,"max_fee_octas":"100000","expires_at":"2023-11-14T22:13:20.000Z",' +
        '"parameter_types":["u8"],"warnings":[]}}',
    );
  });

  it('parameter types stand as declared', async () => {
    const typeArguments = [{ kind: 'bool' }, { kind: 'u64' }] as const;
    const { notes } = await payloadOf({ ...call('of', '01', '00'), typeArguments });
    expect(notes.parameterTypes).toEqual(['T0', 'vector<T1>']);
  });

  it.each([
    [[], 'multi_agent'],
    [[padAddress('1'), padAddress('1')], 'multi_agent'],
    [undefined, 'single_signer'],
  ])('signers %j', async (secondarySigners, scheme) => {
    const message = messageOf(rawTransaction(call('f', '05')), { secondarySigners });
    const { decoded, encoded } = await decodeAndEncode(message, context);
    expect([decoded.notes.scheme, decoded.notes.encodesBack]).toEqual([scheme, true]);
    expect(encoded).toEqual(message);
    expect(decoded.request.has('secondary_signers')).toBe(secondarySigners !== undefined);
  });
});

describe('what a person should know', () => {
  const message = (changes = {}) => messageOf(rawTransaction(call('f', '05'), changes));

  it('another chain', async () => {
    const { decoded, encoded } = await decodeAndEncode(message({ chainId: 5 }), context);
    expect(warningCodes(decoded)).toEqual(['other_chain']);
    expect(decoded.notes).toMatchObject({ chainId: 5, encodesBack: false });
    // Only the chain id keeps this ledger from encoding the same bytes.
    expect(encoded).toEqual(message({ chainId: 5 }));
    const { notes } = await decodeSubmission(message({ chainId: 5 }), { lookupModule });
    expect([notes.encodesBack, notes.warnings]).toEqual([true, []]);
  });

  it.each([
    [1_699_999_999_999_999n, []],
    [1_700_000_000_000_000n, ['expired']],
  ])('expired at %d', async (timestampUsecs, codes) => {
    const { decoded } = await decodeAndEncode(message(), { ...context, timestampUsecs });
    expect(warningCodes(decoded)).toEqual(codes);
  });

  it.each([
    [0n, '1970-01-01T00:00:00.000Z'],
    [8_640_000_000_000n, '+275760-09-13T00:00:00.000Z'],
    [8_640_000_000_001n, undefined],
    [2n ** 64n - 1n, undefined],
  ])('expiration %d as a date', (seconds, date) => {
    expect(expirationDate(seconds)).toBe(date);
  });

  it('the most that gas can cost does not overflow', async () => {
    const most = 2n ** 64n - 1n;
    const { notes } = await payloadOf(call('f', '05'), { maxGasAmount: most, gasUnitPrice: most });
    expect(notes.maxFeeOctas).toBe(most * most);
  });

  it.each([
    [padAddress('fee'), '0xfee'],
    [padAddress('0'), '0x0'],
  ])('a fee payer, who is in no request: %s', async (feePayer, shown) => {
    const raw = rawTransaction(call('f', '05'));
    const again = await decodeAndEncode(messageOf(raw, { feePayer }), context);
    expect(warningCodes(again.decoded)).toEqual(['fee_payer', 'encodes_differently']);
    const { daybook_notes: notes } = JSON.parse(again.text);
    expect(notes).toMatchObject({
      signing_scheme: 'fee_payer',
      fee_payer_address: shown,
      encodes_back: false,
    });
  });

  it.each([
    [2n ** 64n - 1n, [], true],
    [3n, ['orderless_sequence_number', 'encodes_differently'], false],
  ])('a nonce with sequence number %d', async (sequenceNumber, codes, encodesBack) => {
    const extraConfig = {
      kind: 'v1',
      multisigAddress: undefined,
      replayProtectionNonce: 0n,
    } as const;
    const payload = { kind: 'payload', executable: call('f', '05'), extraConfig } as const;
    const result = await payloadOf(payload, { sequenceNumber });
    expect(result.codes).toEqual(codes);
    expect(result.notes).toMatchObject({ encodesBack, replayProtection: 'nonce' });
    expect(result.rest).toMatchObject({ replay_protection_nonce: '0' });
  });
});

describe('calls that are not understood are shown by their bytes', () => {
  const raw = (hex: string) => ({ daybook_raw: `0x${hex}` });
  const module = (name: string) => ({
    ...call('f', '05'),
    module: { address: padAddress('2'), name },
  });

  it.each([
    ['no such module', module('none'), [raw('05')], 'module_not_found'],
    ['a module that does not load', module('broken'), [raw('05')], 'module_not_loadable'],
    ['no such function', call('none', '05'), [raw('05')], 'function_not_found'],
    ['a function that is no entry', call('hidden'), [], 'function_not_found'],
    ['too few arguments', call('f'), [], 'argument_count'],
    ['too many arguments', call('f', '05', ''), [raw('05'), raw('')], 'argument_count'],
    ['no type arguments', call('of', '01'), [raw('01')], 'type_argument_count'],
    ['text that is no text', call('text', '01ff', '01'), [raw('01ff'), true], 'argument_not_shown'],
    ['bytes too many', call('f', '0500'), [raw('0500')], 'argument_not_shown'],
    ['bytes too few', call('f', ''), [raw('')], 'argument_not_shown'],
    ['a bool of 2', call('text', '0161', '02'), ['a', raw('02')], 'argument_not_shown'],
  ])('%s', async (_what, payload, args, code) => {
    const { shown, codes, notes } = await payloadOf(payload);
    expect(shown).toMatchObject({ arguments: args });
    expect(codes).toEqual([code, 'not_encodable']);
    expect(notes.encodesBack).toBe(false);
  });

  it('a type that is not there, a reference, and one that is', async () => {
    const { shown, codes } = await payloadOf(call('unknown', '01', '02', '03'));
    expect(shown).toMatchObject({ arguments: [raw('01'), raw('02'), 3] });
    expect(codes).toEqual(['argument_not_shown', 'argument_not_shown', 'not_encodable']);
  });

  it.each(['', 'a b', 'm::f', 'é', 'm\u202e'])('a module named %j', async (name) => {
    const { shown, codes } = await payloadOf(module(name));
    expect(shown).toMatchObject({
      type: 'daybook_raw_payload',
      bcs: expect.stringMatching(/^0x02/),
    });
    expect(codes).toEqual(['bad_identifier', 'not_encodable']);
  });

  it('a type argument whose name makes it look like another', async () => {
    const struct = {
      address: padAddress('1'),
      module: 'm',
      name: 'A<u8>, 0x1::m::B',
      typeArguments: [],
    };
    const typed = { ...call('f', '05'), typeArguments: [{ kind: 'struct', struct }] } as const;
    const { shown, codes } = await payloadOf(typed);
    const [text] = (shown as { type_arguments: string[] }).type_arguments;
    expect(text).toMatch(/^daybook_raw:0x07/);
    expect(codes).toContain('bad_identifier');
  });

  it('a long warning is cut', async () => {
    const { notes } = await payloadOf(module('m'.repeat(5_000)));
    for (const { message } of notes.warnings) {
      expect(message.length).toBeLessThanOrEqual(MAX_WARNING_LENGTH);
    }
  });
});

describe('bytes that are no signing message', () => {
  const good = messageOf(rawTransaction(call('f', '05')));
  const withData = messageOf(rawTransaction(call('f', '05')), { secondarySigners: [] });
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(good);
    bytes[at] = value;
    return bytes;
  };

  it.each<[string, Buffer, DecodeErrorCode, number | undefined]>([
    ['nothing', Buffer.alloc(0), 'no_domain', undefined],
    ['31 bytes', good.subarray(0, 31), 'no_domain', undefined],
    ['another domain', changed(0, 0), 'unknown_domain', 0],
    ['the domain alone', good.subarray(0, 32), 'unexpected_end', 32],
    ['an end too soon', good.subarray(0, -1), 'unexpected_end', good.length - 1],
    ['a byte too many', Buffer.concat([good, Buffer.of(0)]), 'remaining_input', good.length],
    ['an unknown payload', changed(72, 6), 'bad_variant', 72],
    ['a third kind of data', Buffer.from(withData).fill(2, 32, 33), 'bad_variant', 32],
  ])('%s', async (_what, bytes, code, offset) => {
    const refused = await decodeSubmission(bytes, context).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(DecodeError);
    expect(refused).toMatchObject({ code, offset });
    expect((refused as DecodeError).message).toMatch(/^The given signing message is invalid: ./);
  });

  it('text that is no hex', () => {
    expect(parseMessageText('0xAb').toString('hex')).toBe('ab');
    for (const text of ['0xabc', 'xx', '0Xab', ' ab']) {
      expect(() => parseMessageText(text)).toThrow(DecodeError);
    }
  });
});

describe('limits', () => {
  it.each([-1, 0, 1])('MAX_SIGNING_MESSAGE_BYTES %i', async (more) => {
    const around = messageOf(rawTransaction(script(''))).length;
    // The length takes three bytes instead of one.
    const code = '00'.repeat(MAX_SIGNING_MESSAGE_BYTES + more - around - 2);
    const message = messageOf(rawTransaction(script(code)));
    expect(message.length).toBe(MAX_SIGNING_MESSAGE_BYTES + more);
    const decoding = decodeSubmission(message, context);
    if (more > 0) await expect(decoding).rejects.toMatchObject({ code: 'too_large' });
    else expect((await decoding).notes.encodesBack).toBe(true);
  });

  it.each([-1, 0, 1])('MAX_MESSAGE_ITEMS %i', async (more) => {
    const count = MAX_MESSAGE_ITEMS + more - 1;
    const args = Array.from({ length: count }, () => '');
    const message = messageOf(rawTransaction(call('f', ...args)), {
      secondarySigners: [padAddress('1')],
    });
    const decoding = decodeSubmission(message, context);
    if (more > 0) await expect(decoding).rejects.toMatchObject({ code: 'length_too_large' });
    else expect(warningCodes(await decoding)).toEqual(['argument_count', 'not_encodable']);
  });

  it.each([-1, 0, 1])('MAX_MESSAGE_CONTAINERS %i, over all arguments', async (more) => {
    // Each vector is a container too.
    const count = MAX_MESSAGE_CONTAINERS + more - 2;
    const vector = (length: number) => encodeBcs((writer) => writer.uleb32(length)).toString('hex');
    const half = count >> 1;
    const empties = call('empties', vector(half), vector(count - half));
    const { codes, notes } = await payloadOf(empties);
    expect(codes).toEqual(more > 0 ? ['argument_not_shown', 'not_encodable'] : []);
    expect(notes.encodesBack).toBe(more <= 0);
  });
});
