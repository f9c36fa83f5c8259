/**
 * Bytes written out by hand from the layouts of spec/ledger.md and spec/http.md, for the types of which no real bytes
 * are at hand; both directions, and bytes that must be refused.
 */
import { describe, expect, test } from 'vitest';
import {
  readAggregateSignature,
  writeAggregateSignature,
} from '../../src/move/aggregate-signature.ts';
import { readAnyPublicKey, readAnySignature, writeAnyPublicKey } from '../../src/move/any-key.ts';
import { readAccountAuthenticator } from '../../src/move/authenticator.ts';
import {
  BcsError,
  type BcsErrorCode,
  type BcsReader,
  decodeBcs,
} from '../../src/move/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../src/move/bcs-writer.ts';
import { readEncryptedPayload, writeEncryptedPayload } from '../../src/move/encrypted-payload.ts';
import { readVersionedEvents, writeVersionedEvents } from '../../src/move/event.ts';
import { NEW_EPOCH_EVENT_TAG } from '../../src/move/framework-tag.ts';
import { domainHash } from '../../src/move/hash.ts';
import { ledgerInfoHash, readLedgerInfo, writeLedgerInfo } from '../../src/move/ledger-info.ts';
import {
  MAX_MULTI_ED25519_KEYS,
  readMultiEd25519PublicKey,
  readMultiEd25519Signature,
  writeMultiEd25519PublicKey,
  writeMultiEd25519Signature,
} from '../../src/move/multi-ed25519.ts';
import { readTransaction, writeTransaction } from '../../src/move/transaction.ts';
import {
  auxiliaryInfoHash,
  readPersistedAuxiliaryInfo,
  readTransactionInfo,
  writePersistedAuxiliaryInfo,
  writeTransactionInfo,
} from '../../src/move/transaction-info.ts';
import {
  readTransactionPayload,
  writeTransactionPayload,
} from '../../src/move/transaction-payload.ts';
import { readWriteSet, writeWriteSet } from '../../src/move/write-set.ts';

const hex = (...parts: readonly string[]): Buffer =>
  Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');
const A1 = '1'.padStart(64, '0');
const A2 = '2'.padStart(64, '0');
const hash = (byte: string): string => byte.repeat(32);
const u64 = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.toString('hex');
};

/** Asserts that `value` has exactly these bytes, and these bytes this value. */
function both<T>(
  bytes: Buffer,
  value: T,
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => unknown,
): void {
  expect(encodeBcs((writer) => write(writer, value)).toString('hex')).toBe(bytes.toString('hex'));
  expect(decodeBcs(bytes, read)).toEqual(value);
}

function refused(bytes: Buffer, read: (reader: BcsReader) => unknown, code: BcsErrorCode): void {
  let error: unknown;
  try {
    decodeBcs(bytes, read);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(BcsError);
  expect((error as BcsError).code).toBe(code);
}

test('events of a stream: the example of spec/http.md §7.5', () => {
  both(
    hex(
      '01 0000000000000000 00 0200000000000000',
      A1,
      '0000000000000000 07',
      A1,
      '0f7265636f6e66696775726174696f6e 0d4e657745706f63684576656e74 00',
      '08 0100000000000000',
    ),
    [
      {
        version: 0n,
        event: {
          kind: 'v1' as const,
          key: { creationNumber: 2n, address: A1 },
          sequenceNumber: 0n,
          typeTag: { kind: 'struct' as const, struct: NEW_EPOCH_EVENT_TAG },
          data: hex('0100000000000000'),
        },
      },
    ],
    readVersionedEvents,
    writeVersionedEvents,
  );
});

describe('write sets', () => {
  const key = (byte: string) => ({ kind: 'raw' as const, bytes: hex(byte) });
  const v0 = { kind: 'v0' as const, deposit: 5n, creationTimeUsecs: 6n };
  const v1 = { kind: 'v1' as const, slotDeposit: 7n, bytesDeposit: 8n, creationTimeUsecs: 9n };
  const writes = [
    { key: key('a0'), op: { kind: 'creation' as const, bytes: hex('aa'), metadata: undefined } },
    { key: key('a1'), op: { kind: 'modification' as const, bytes: hex(''), metadata: undefined } },
    { key: key('a2'), op: { kind: 'deletion' as const, metadata: undefined } },
    { key: key('a3'), op: { kind: 'creation' as const, bytes: hex('bb'), metadata: v0 } },
    { key: key('a4'), op: { kind: 'modification' as const, bytes: hex('cc'), metadata: v1 } },
    { key: key('a5'), op: { kind: 'deletion' as const, metadata: v1 } },
  ];
  const bytes = [
    '06',
    '0201a0 00 01aa',
    '0201a1 01 00',
    '0201a2 02',
    `0201a3 03 01bb 00 ${u64(5)} ${u64(6)}`,
    `0201a4 04 01cc 01 ${u64(7)} ${u64(8)} ${u64(9)}`,
    `0201a5 05 01 ${u64(7)} ${u64(8)} ${u64(9)}`,
  ].join('');

  test('V0 with every operation', () => {
    both(hex('00', bytes), { kind: 'v0' as const, writes }, readWriteSet, writeWriteSet);
    const shuffled = { kind: 'v0' as const, writes: [...writes].reverse() };
    const encoded = encodeBcs((writer) => writeWriteSet(writer, shuffled));
    expect(encoded.equals(hex('00', bytes))).toBe(true);
  });

  test('V1 with hot keys in their own order and an extension', () => {
    both(
      hex('01', bytes, '02 0201ff 0201aa', '01 00 01 0201b0 02'),
      {
        kind: 'v1' as const,
        writes,
        hotness: [key('ff'), key('aa')],
        extensions: [
          {
            kind: 'nativePosition' as const,
            writes: [{ key: key('b0'), op: { kind: 'deletion' as const, metadata: undefined } }],
          },
        ],
      },
      readWriteSet,
      writeWriteSet,
    );
  });

  test('refused', () => {
    refused(hex('00 02 0201a1 02 0201a0 02'), readWriteSet, 'map_not_sorted');
    refused(hex('00 02 0201a1 02 0201a1 02'), readWriteSet, 'map_not_sorted');
    refused(hex('00 01 0201a1 06'), readWriteSet, 'bad_variant');
    refused(hex('00 01 0201a1 05 02'), readWriteSet, 'bad_variant');
    refused(hex('02 00'), readWriteSet, 'bad_variant');
    refused(hex('01 00 00 01 01 00'), readWriteSet, 'bad_variant');
    refused(hex('00 ff ff ff ff 07'), readWriteSet, 'unexpected_end');
    refused(hex('00 80 00'), readWriteSet, 'uleb_not_minimal');
    const twice = { kind: 'v0' as const, writes: [writes[0]!, writes[0]!] };
    expect(() => encodeBcs((writer) => writeWriteSet(writer, twice))).toThrow(RangeError);
  });
});

describe('block transactions', () => {
  const metadata = {
    id: hex(hash('ab')),
    epoch: 1n,
    round: 2n,
    proposer: A2,
    previousBlockVotesBitvec: hex('80'),
    failedProposerIndices: [3, 0xffff_ffff],
    timestampUsecs: 4n,
  };
  const metadataHex = [hash('ab'), u64(1), u64(2), A2, '0180', '02 03000000 ffffffff', u64(4)].join(
    '',
  );
  const randomness = { epoch: 1n, round: 2n, bytes: hex('0102') };
  const randomnessHex = `${u64(1)}${u64(2)}020102`;
  const endInfo = {
    blockGasLimitReached: true,
    blockOutputLimitReached: false,
    effectiveBlockGasUnits: 5n,
    approxOutputSize: 6n,
  };
  const end = { blockId: hex(hash('cd')), endInfo };
  const endHex = `${hash('cd')} 00 01 00 ${u64(5)} ${u64(6)}`;
  const fees = [
    { validatorIndex: 256n, octas: 1n },
    { validatorIndex: 1n, octas: 2n },
  ];
  const feesHex = `00 02 ${u64(256)}${u64(1)} ${u64(1)}${u64(2)}`;

  test.each([
    ['metadata', hex('02', metadataHex), { kind: 'blockMetadata' as const, metadata }],
    [
      'metadata V0',
      hex('05 00', metadataHex),
      { kind: 'blockMetadataExt' as const, metadata: { kind: 'v0' as const, metadata } },
    ],
    [
      'metadata V1',
      hex('05 01', metadataHex, '01', randomnessHex),
      {
        kind: 'blockMetadataExt' as const,
        metadata: { kind: 'v1' as const, metadata, randomness },
      },
    ],
    [
      'metadata V2',
      hex('05 02', metadataHex, '00', '01', randomnessHex),
      {
        kind: 'blockMetadataExt' as const,
        metadata: {
          kind: 'v2' as const,
          metadata,
          randomness: undefined,
          decryptionKey: randomness,
        },
      },
    ],
    [
      'checkpoint',
      hex('03', hash('cd')),
      { kind: 'stateCheckpoint' as const, blockId: hex(hash('cd')) },
    ],
    [
      'epilogue V0',
      hex('06 00', endHex),
      { kind: 'blockEpilogue' as const, epilogue: { kind: 'v0' as const, ...end } },
    ],
    [
      'epilogue V1, fees in the order of little-endian bytes',
      hex('06 01', endHex, feesHex),
      {
        kind: 'blockEpilogue' as const,
        epilogue: { kind: 'v1' as const, ...end, feeDistribution: fees },
      },
    ],
    [
      'epilogue V2',
      hex('06 02', endHex, '00 00', '01 020109'),
      {
        kind: 'blockEpilogue' as const,
        epilogue: {
          kind: 'v2' as const,
          ...end,
          feeDistribution: [],
          toMakeHot: [{ kind: 'raw' as const, bytes: hex('09') }],
        },
      },
    ],
  ])('%s', (_, bytes, value) => {
    both(bytes, value, readTransaction, writeTransaction);
  });

  test('refused', () => {
    refused(hex('07'), readTransaction, 'bad_variant');
    refused(hex('03', '00'.repeat(31)), readTransaction, 'unexpected_end');
    refused(hex('03 20', hash('cd')), readTransaction, 'remaining_input');
    refused(hex('06 03', endHex), readTransaction, 'bad_variant');
    refused(hex('06 00', endHex.replace(' 01 00 ', ' 02 00 ')), readTransaction, 'bad_bool');
    refused(
      hex('06 01', endHex, `00 02 ${u64(1)}${u64(2)} ${u64(256)}${u64(1)}`),
      readTransaction,
      'map_not_sorted',
    );
    const twice = [fees[0]!, fees[0]!];
    const epilogue = { kind: 'v1' as const, ...end, feeDistribution: twice };
    expect(() =>
      encodeBcs((writer) => writeTransaction(writer, { kind: 'blockEpilogue', epilogue })),
    ).toThrow(RangeError);
  });
});

describe('validator transactions', () => {
  const signature = { validatorBitmask: hex('80'), signature: hex('bb'.repeat(96)) };
  const signatureHex = `0180 01 60 ${'bb'.repeat(96)}`;
  test.each([
    [
      'DKG result',
      hex('04 00', u64(1), A1, '020102'),
      { kind: 'dkgResult' as const, epoch: 1n, author: A1, transcript: hex('0102') },
    ],
    [
      'JWK update',
      hex('04 01', '0178', u64(9), '01 0161 0102', signatureHex),
      {
        kind: 'observedJwkUpdate' as const,
        issuer: hex('78'),
        version: 9n,
        jwks: [{ typeName: 'a', data: hex('02') }],
        signature,
      },
    ],
    [
      'chunky DKG result',
      hex('04 02', u64(1), A1, '00', '00 00', '0155'),
      {
        kind: 'chunkyDkgResult' as const,
        epoch: 1n,
        author: A1,
        transcript: hex(''),
        signature: { validatorBitmask: hex(''), signature: undefined },
        encryptionKey: hex('55'),
      },
    ],
  ])('%s', (_, bytes, transaction) => {
    both(bytes, { kind: 'validator' as const, transaction }, readTransaction, writeTransaction);
  });

  test('refused', () => {
    refused(hex('04 03'), readTransaction, 'bad_variant');
    refused(hex('00 01 5f', 'bb'.repeat(95)), readAggregateSignature, 'bad_value');
    refused(hex('00 02'), readAggregateSignature, 'bad_option');
    const short = { validatorBitmask: hex(''), signature: hex('bb') };
    expect(() => encodeBcs((writer) => writeAggregateSignature(writer, short))).toThrow(RangeError);
  });
});

describe('transaction infos', () => {
  const content = {
    gasUsed: 1n,
    transactionHash: hex(hash('01')),
    eventRootHash: hex(hash('02')),
    stateChangeHash: hex(hash('03')),
    stateCheckpointHash: hex(hash('04')),
    auxiliaryInfoHash: undefined,
  };
  const hashes = hash('01') + hash('02') + hash('03');
  const coin = { kind: 'module' as const, module: { address: A1, name: 'coin' } };

  test.each([
    ['00', { kind: 'success' as const }],
    ['01', { kind: 'outOfGas' as const }],
    [
      `02 00 ${A1} 04636f696e ${u64(7)} 01 0152 0144`,
      {
        kind: 'moveAbort' as const,
        location: coin,
        code: 7n,
        info: { reasonName: 'R', description: 'D' },
      },
    ],
    [
      `02 01 ${u64(7)} 00`,
      {
        kind: 'moveAbort' as const,
        location: { kind: 'script' as const },
        code: 7n,
        info: undefined,
      },
    ],
    [
      `03 00 ${A1} 04636f696e 0100 0200`,
      { kind: 'executionFailure' as const, location: coin, function: 1, codeOffset: 2 },
    ],
    [`04 01 ${u64(2)}`, { kind: 'miscellaneousError' as const, statusCode: 2n }],
    ['04 00', { kind: 'miscellaneousError' as const, statusCode: undefined }],
  ])('V0 with status %s', (statusHex, status) => {
    both(
      hex('00', u64(1), statusHex, hashes, '01', hash('04'), '00'),
      { kind: 'v0' as const, ...content, status },
      readTransactionInfo,
      writeTransactionInfo,
    );
  });

  test('V1: the hot state hash stands before the auxiliary one, then eight more', () => {
    const status = { kind: 'success' as const };
    const reserved = [...Array.from({ length: 7 }, () => undefined), hex(hash('07'))];
    const v1 = {
      kind: 'v1' as const,
      ...content,
      status,
      hotStateCheckpointHash: hex(hash('05')),
      auxiliaryInfoHash: hex(hash('06')),
      reserved,
    };
    both(
      hex(
        ...['01', u64(1), '00', hashes],
        ...['01', hash('04'), '01', hash('05'), '01', hash('06')],
        ...['00'.repeat(7), '01', hash('07')],
      ),
      v1,
      readTransactionInfo,
      writeTransactionInfo,
    );
    const short = { ...v1, reserved: reserved.slice(1) };
    expect(() => encodeBcs((writer) => writeTransactionInfo(writer, short))).toThrow(RangeError);
  });

  test('refused', () => {
    refused(hex('02'), readTransactionInfo, 'bad_variant');
    refused(hex('00', u64(1), '05', hashes, '00 00'), readTransactionInfo, 'bad_variant');
    refused(hex('00', u64(1), '00', hashes, '02 00'), readTransactionInfo, 'bad_option');
  });

  test('auxiliary infos', () => {
    const read = readPersistedAuxiliaryInfo;
    const write = writePersistedAuxiliaryInfo;
    both(hex('00'), { kind: 'none' as const }, read, write);
    const v1 = { kind: 'v1' as const, transactionIndex: 258 };
    both(hex('01 02010000'), v1, read, write);
    const later = { kind: 'timestampNotYetAssignedV1' as const, transactionIndex: 1 };
    both(hex('02 01000000'), later, read, write);
    expect(auxiliaryInfoHash(v1)).toEqual(domainHash('PersistedAuxiliaryInfo', hex('01 02010000')));
    expect(auxiliaryInfoHash(later)).toBeUndefined();
    expect(auxiliaryInfoHash({ kind: 'none' })).toBeUndefined();
  });
});

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
    both(bytes, payload, readTransactionPayload, writeTransactionPayload);
  });

  const contentHex = [
    `20 ${'01'.repeat(32)} 20 ${'02'.repeat(32)} a002 ${'03'.repeat(288)}`,
    `${'04'.repeat(16)} ${'05'.repeat(12)} 0106 00 ${'07'.repeat(64)}`,
    `00 00 00 ${hash('08')} ${u64(9)} 01 ${A1} 016d 01 0166`,
  ].join('');
  const content = {
    ciphertext: {
      verificationKey: Buffer.alloc(32, 1),
      identity: Buffer.alloc(32, 2),
      groupElements: Buffer.alloc(288, 3),
      paddedKey: Buffer.alloc(16, 4),
      nonce: Buffer.alloc(12, 5),
      body: hex('06'),
      associatedData: hex(''),
      signature: Buffer.alloc(64, 7),
    },
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
    both(bytes, payload, readEncryptedPayload, writeEncryptedPayload);
  });

  test('refused', () => {
    refused(hex('06'), readTransactionPayload, 'bad_variant');
    refused(hex('04 01 02 00 00 00'), readTransactionPayload, 'bad_variant');
    refused(hex('01', contentHex, '00 0a'), readEncryptedPayload, 'bad_variant');
    refused(hex('00 1f', '00'.repeat(31)), readEncryptedPayload, 'bad_value');
    const reason = {
      state: 'failedDecryption' as const,
      content,
      evalProof: undefined,
      reason: 10,
    };
    expect(() => encodeBcs((writer) => writeEncryptedPayload(writer, reason))).toThrow(RangeError);
  });
});

describe('keys and signatures', () => {
  test.each([
    ['00 1f', 31, readAnyPublicKey],
    ['00 21', 33, readAnyPublicKey],
    ['01 40', 64, readAnyPublicKey],
    ['02 42', 66, readAnyPublicKey],
    ['05 21', 33, readAnyPublicKey],
    ['00 3f', 63, readAnySignature],
    ['01 41', 65, readAnySignature],
    ['04 af3d', 7855, readAnySignature],
    ['04 b13d', 7857, readAnySignature],
  ] as const)('%s: %i bytes are refused', (head, byteLength, read) => {
    refused(hex(head, '00'.repeat(byteLength)), read, 'bad_value');
  });

  test('SLH-DSA sizes are accepted', () => {
    const key = decodeBcs(hex('05 20', '01'.repeat(32)), readAnyPublicKey);
    expect(key).toEqual({ kind: 'slhDsa', bytes: Buffer.alloc(32, 1) });
    const signature = decodeBcs(hex('04 b03d', '01'.repeat(7856)), readAnySignature);
    expect(signature).toEqual({ kind: 'slhDsa', bytes: Buffer.alloc(7856, 1) });
    const short = { kind: 'slhDsa' as const, bytes: Buffer.alloc(31) };
    expect(() => encodeBcs((writer) => writeAnyPublicKey(writer, short))).toThrow(RangeError);
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
    expect(decodeBcs(bytes, readAnySignature)).toEqual({
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
    refused(hex('06'), readAnyPublicKey, 'bad_variant');
    refused(hex('05'), readAnySignature, 'bad_variant');
    refused(hex('06'), readAccountAuthenticator, 'bad_variant');
    refused(hex('02 01'), (reader) => readAnySignature(reader), 'bad_variant');
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
      both(bytes, value, readMultiEd25519PublicKey, writeMultiEd25519PublicKey);
    } else {
      refused(bytes, readMultiEd25519PublicKey, 'bad_value');
      expect(() => encodeBcs((writer) => writeMultiEd25519PublicKey(writer, value))).toThrow(
        RangeError,
      );
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
      both(bytes, value, readMultiEd25519Signature, writeMultiEd25519Signature);
    } else {
      refused(bytes, readMultiEd25519Signature, 'bad_value');
      expect(() => encodeBcs((writer) => writeMultiEd25519Signature(writer, value))).toThrow(
        RangeError,
      );
    }
  });

  test('parts of another size are a mistake', () => {
    const key = { keys: [Buffer.alloc(31)], threshold: 1 };
    expect(() => encodeBcs((writer) => writeMultiEd25519PublicKey(writer, key))).toThrow(
      RangeError,
    );
  });
});

test('ledger info and its hash', () => {
  const bytes = hex(
    ...[u64(1), u64(2), hash('01'), hash('02'), u64(3), u64(4)],
    `01 ${u64(2)} 01 ${A1} 30 ${'09'.repeat(48)} ${u64(10)}`,
    hash('03'),
  );
  const info = {
    commitInfo: {
      epoch: 1n,
      round: 2n,
      id: hex(hash('01')),
      executedStateId: hex(hash('02')),
      version: 3n,
      timestampUsecs: 4n,
      nextEpochState: {
        epoch: 2n,
        validators: [{ address: A1, consensusKey: Buffer.alloc(48, 9), votingPower: 10n }],
      },
    },
    consensusDataHash: hex(hash('03')),
  };
  both(bytes, info, readLedgerInfo, writeLedgerInfo);
  expect(ledgerInfoHash(info)).toEqual(domainHash('LedgerInfo', bytes));
});
