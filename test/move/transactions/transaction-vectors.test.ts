/**
 * Payloads, keys and signatures of user transactions as handwritten bytes, by the layouts of docs/spec/ledger.md §3.4;
 * both directions, and bytes that must be refused.
 */
import { describe, expect, test } from 'vitest';
import { decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import {
  AccountAuthenticator,
  MAX_MULTI_ED25519_KEYS,
  MultiEd25519PublicKey,
  MultiEd25519Signature,
} from '../../../src/move/crypto/authenticator.ts';
import { AnyPublicKey, AnySignature } from '../../../src/move/crypto/public-key.ts';
import { EncryptedPayload, TransactionPayload } from '../../../src/move/transactions/payload.ts';

import { A1, A2, both, ciphertextBytes, hash, hex, refused, u64 } from './wire-bytes.ts';

describe('payloads', () => {
  test.each([
    ['module bundle', hex('01', u64(3)), { kind: 'moduleBundle' as const, dummy: 3n }],
    [
      'multisig with a script: inner index 1 (the SDK 6.3.1 writes 0)',
      hex('03', A1, '01 01 01aa 00 01 0501'),
      {
        kind: 'multisig' as const,
        multisigAddress: A1,
        payload: {
          kind: 'script' as const,
          code: hex('aa'),
          typeArguments: [],
          args: [{ kind: 'bool' as const, value: true }],
        },
      },
    ],
    [
      'executable 3, configuration V2 with a limits request',
      hex('04 00 03', '01', '00', '01', u64(9), '01 01', A2, '00', u64(150), u64(200)),
      {
        kind: 'payload' as const,
        executable: { kind: 'encrypted' as const },
        extraConfig: {
          kind: 'v2' as const,
          multisigAddress: undefined,
          replayProtectionNonce: 9n,
          limitsRequest: {
            kind: 'delegatedVoter' as const,
            poolAddress: A2,
            multipliers: { executionPercent: 150n, ioPercent: 200n },
          },
        },
      },
    ],
    [
      'limits of a stake pool owner',
      hex('04 00 02', '01', '00 00', '01 00', '00', u64(1), u64(2)),
      {
        kind: 'payload' as const,
        executable: { kind: 'empty' as const },
        extraConfig: {
          kind: 'v2' as const,
          multisigAddress: undefined,
          replayProtectionNonce: undefined,
          limitsRequest: {
            kind: 'stakePoolOwner' as const,
            multipliers: { executionPercent: 1n, ioPercent: 2n },
          },
        },
      },
    ],
  ])('%s', (_, bytes, payload) => {
    both(bytes, payload, TransactionPayload.read, TransactionPayload.write);
  });

  const contentHex = [
    `20 ${'01'.repeat(32)} 20 ${'02'.repeat(32)} a002 ${'03'.repeat(288)}`,
    `${'04'.repeat(16)} ${'05'.repeat(12)} 0106 00 ${'07'.repeat(64)}`,
    `00 00 00 ${hash('08')} ${u64(9)} 01 ${A1} 016d 01 0166`,
  ].join('');
  const content = {
    ciphertext: ciphertextBytes({
      verificationKey: Buffer.alloc(32, 1),
      identity: Buffer.alloc(32, 2),
      groupElements: Buffer.alloc(288, 3),
      paddedKey: Buffer.alloc(16, 4),
      nonce: Buffer.alloc(12, 5),
      body: hex('06'),
      associatedData: hex(''),
      signature: Buffer.alloc(64, 7),
    }),
    extraConfig: {
      kind: 'v1' as const,
      multisigAddress: undefined,
      replayProtectionNonce: undefined,
    },
    payloadHash: Buffer.alloc(32, 8),
    encryptionEpoch: 9n,
    claimedEntryFunction: { module: { address: A1, name: 'm' }, function: 'f' },
  };

  test.each([
    ['encrypted', hex('00', contentHex), { state: 'encrypted' as const, content }],
    [
      'failed',
      hex('01', contentHex, '01 01ee 09'),
      { state: 'failedDecryption' as const, content, evalProof: hex('ee'), reason: 9 },
    ],
    [
      'decrypted',
      hex('02', contentHex, '01ee 02', '0a'.repeat(16)),
      {
        state: 'decrypted' as const,
        content,
        evalProof: hex('ee'),
        executable: { kind: 'empty' as const },
        decryptionNonce: Buffer.alloc(16, 10),
      },
    ],
  ])('encrypted payload: %s', (_, bytes, payload) => {
    both(bytes, payload, EncryptedPayload.read, EncryptedPayload.write);
  });

  test('refused', () => {
    refused(hex('06'), TransactionPayload.read, 'bad_variant');
    refused(hex('04 01 02 00 00 00'), TransactionPayload.read, 'bad_variant');
    refused(hex('01', contentHex, '00 0a'), EncryptedPayload.read, 'bad_variant');
    refused(hex('00 1f', '00'.repeat(31)), EncryptedPayload.read, 'bad_value');
    const reason = {
      state: 'failedDecryption' as const,
      content,
      evalProof: undefined,
      reason: 10,
    };
    expect(() => EncryptedPayload.encode(reason)).toThrow(RangeError);
  });
});

describe('keys and signatures', () => {
  test.each([
    ['00 1f', 31, AnyPublicKey.read],
    ['00 21', 33, AnyPublicKey.read],
    ['01 40', 64, AnyPublicKey.read],
    ['02 42', 66, AnyPublicKey.read],
    ['05 21', 33, AnyPublicKey.read],
    ['00 3f', 63, AnySignature.read],
    ['01 41', 65, AnySignature.read],
    ['04 af3d', 7855, AnySignature.read],
    ['04 b13d', 7857, AnySignature.read],
  ] as const)('%s: %i bytes are refused', (head, byteLength, read) => {
    refused(hex(head, '00'.repeat(byteLength)), read, 'bad_value');
  });

  test('SLH-DSA sizes are accepted', () => {
    const key = decodeBcs(hex('05 20', '01'.repeat(32)), AnyPublicKey.read);
    expect(key).toEqual({ kind: 'slhDsa', bytes: Buffer.alloc(32, 1) });
    const signature = decodeBcs(hex('04 b03d', '01'.repeat(7856)), AnySignature.read);
    expect(signature).toEqual({ kind: 'slhDsa', bytes: Buffer.alloc(7856, 1) });
  });

  test('a keyless signature with an OpenID certificate', () => {
    const bytes = hex(
      '03 01',
      '0102 017b 0375 6964 0103',
      '1f'.repeat(31),
      '01 0161',
      '0168',
      u64(5),
      `01 41 ${'04'.repeat(65)}`,
      `01 00 40 ${'05'.repeat(64)} 0106 0107`,
    );
    expect(AnySignature.decode(bytes)).toEqual({
      kind: 'keyless',
      signature: {
        certificate: {
          kind: 'openId',
          jwtSignature: hex('02'),
          jwtPayloadJson: '{',
          uidKey: 'uid',
          ephemeralKeyBlinder: hex('03'),
          pepper: Buffer.alloc(31, 0x1f),
          identityAudience: 'a',
        },
        jwtHeaderJson: 'h',
        expirationSecs: 5n,
        ephemeralPublicKey: { kind: 'secp256r1', bytes: Buffer.alloc(65, 4) },
        ephemeralSignature: {
          kind: 'webAuthn',
          assertion: {
            signature: Buffer.alloc(64, 5),
            authenticatorData: hex('06'),
            clientDataJson: hex('07'),
          },
        },
      },
    });
  });

  test('unknown variants are refused', () => {
    refused(hex('06'), AnyPublicKey.read, 'bad_variant');
    refused(hex('05'), AnySignature.read, 'bad_variant');
    refused(hex('06'), AccountAuthenticator.read, 'bad_variant');
    refused(hex('02 01'), (reader) => AnySignature.read(reader), 'bad_variant');
  });
});

describe('MultiEd25519', () => {
  const keysOf = (count: number, threshold: number) => ({
    keys: Array.from({ length: count }, (_, index) => Buffer.alloc(32, index)),
    threshold,
  });
  const encodeKeys = (count: number, threshold: number) => {
    const { keys } = keysOf(count, threshold);
    const body = Buffer.concat([...keys, Buffer.of(threshold)]);
    return encodeBcs((writer) => writer.bytes(body));
  };
  const encodeSignatures = (count: number, bitmap: string) => {
    const body = Buffer.concat([Buffer.alloc(64 * count), hex(bitmap)]);
    return encodeBcs((writer) => writer.bytes(body));
  };

  test.each([
    [1, 1, true],
    [1, 0, false],
    [1, 2, false],
    [0, 0, false],
    [MAX_MULTI_ED25519_KEYS - 1, 31, true],
    [MAX_MULTI_ED25519_KEYS, 32, true],
    [MAX_MULTI_ED25519_KEYS + 1, 32, false],
  ])('%i keys with threshold %i: %s', (count, threshold, isValid) => {
    const bytes = encodeKeys(count, threshold);
    const value = keysOf(count, threshold);
    if (isValid) {
      both(bytes, value, MultiEd25519PublicKey.read, MultiEd25519PublicKey.write);
    } else {
      refused(bytes, MultiEd25519PublicKey.read, 'bad_value');
    }
  });

  test.each([
    [1, '80000000', true],
    [1, 'c0000000', false],
    [2, '80000000', false],
    [2, '80000001', true],
    [0, '00000000', false],
    [32, 'ffffffff', true],
    [33, 'ffffffff', false],
    [1, '800000', false],
    [1, '8000000000', false],
  ])('%i signatures, bitmap %s: %s', (count, bitmap, isValid) => {
    const bytes = encodeSignatures(count, bitmap);
    const value = {
      signatures: Array.from({ length: count }, () => Buffer.alloc(64)),
      bitmap: hex(bitmap),
    };
    if (isValid) {
      both(bytes, value, MultiEd25519Signature.read, MultiEd25519Signature.write);
    } else {
      refused(bytes, MultiEd25519Signature.read, 'bad_value');
    }
  });
});
