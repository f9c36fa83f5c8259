/**
 * Handwritten bytes by the layouts of docs/spec/ledger.md and docs/spec/http.md, for the types without available real
 * bytes; both directions, and bytes that must be refused.
 */

import { describe, expect, test } from 'vitest';
import { decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { Transaction } from '../../../src/move/transactions/transaction.ts';
import { TransactionInfo } from '../../../src/move/transactions/transaction-info.ts';
import { AggregateSignature } from '../../../src/move/transactions/validator-transaction.ts';
import { WriteSet } from '../../../src/move/transactions/write-set.ts';
import { NEW_EPOCH_EVENT_TAG } from '../values/framework-codecs.ts';
import { readVersionedEvents } from './wire-answers.ts';
import { A1, A2, both, hash, hex, refused, u64 } from './wire-bytes.ts';

test('events of a stream: the example of docs/spec/http.md §7.5', () => {
  const events = decodeBcs(
    hex(
      '01 0000000000000000 00 0200000000000000',
      A1,
      '0000000000000000 07',
      A1,
      '0f7265636f6e66696775726174696f6e 0d4e657745706f63684576656e74 00',
      '08 0100000000000000',
    ),
    readVersionedEvents,
  );
  expect(events).toEqual([
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
  ]);
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
    both(hex('00', bytes), { kind: 'v0' as const, writes }, WriteSet.read, WriteSet.write);
    const shuffled = { kind: 'v0' as const, writes: [...writes].reverse() };
    const encoded = WriteSet.encode(shuffled);
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
      WriteSet.read,
      WriteSet.write,
    );
  });

  test('refused', () => {
    refused(hex('00 02 0201a1 02 0201a0 02'), WriteSet.read, 'map_not_sorted');
    refused(hex('00 02 0201a1 02 0201a1 02'), WriteSet.read, 'map_not_sorted');
    refused(hex('00 01 0201a1 06'), WriteSet.read, 'bad_variant');
    refused(hex('00 01 0201a1 05 02'), WriteSet.read, 'bad_variant');
    refused(hex('02 00'), WriteSet.read, 'bad_variant');
    refused(hex('01 00 00 01 01 00'), WriteSet.read, 'bad_variant');
    refused(hex('00 ff ff ff ff 07'), WriteSet.read, 'unexpected_end');
    refused(hex('00 80 00'), WriteSet.read, 'uleb_not_minimal');
    const twice = { kind: 'v0' as const, writes: [writes[0]!, writes[0]!] };
    expect(() => WriteSet.encode(twice)).toThrow(RangeError);
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
    both(bytes, value, Transaction.read, Transaction.write);
  });

  test('refused', () => {
    refused(hex('07'), Transaction.read, 'bad_variant');
    refused(hex('03', '00'.repeat(31)), Transaction.read, 'unexpected_end');
    refused(hex('03 20', hash('cd')), Transaction.read, 'remaining_input');
    refused(hex('06 03', endHex), Transaction.read, 'bad_variant');
    refused(hex('06 00', endHex.replace(' 01 00 ', ' 02 00 ')), Transaction.read, 'bad_bool');
    refused(
      hex('06 01', endHex, `00 02 ${u64(1)}${u64(2)} ${u64(256)}${u64(1)}`),
      Transaction.read,
      'map_not_sorted',
    );
    const twice = [fees[0]!, fees[0]!];
    const epilogue = { kind: 'v1' as const, ...end, feeDistribution: twice };
    expect(() => Transaction.encode({ kind: 'blockEpilogue', epilogue })).toThrow(RangeError);
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
    both(bytes, { kind: 'validator' as const, transaction }, Transaction.read, Transaction.write);
  });

  test('refused', () => {
    refused(hex('04 03'), Transaction.read, 'bad_variant');
    refused(hex('00 01 5f', 'bb'.repeat(95)), AggregateSignature.read, 'bad_value');
    refused(hex('00 02'), AggregateSignature.read, 'bad_option');
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
      TransactionInfo.read,
      TransactionInfo.write,
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
      TransactionInfo.read,
      TransactionInfo.write,
    );
    const short = { ...v1, reserved: reserved.slice(1) };
    expect(() => TransactionInfo.encode(short)).toThrow(RangeError);
  });

  test('refused', () => {
    refused(hex('02'), TransactionInfo.read, 'bad_variant');
    refused(hex('00', u64(1), '05', hashes, '00 00'), TransactionInfo.read, 'bad_variant');
    refused(hex('00', u64(1), '00', hashes, '02 00'), TransactionInfo.read, 'bad_option');
  });
});
