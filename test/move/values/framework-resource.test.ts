/** Framework resources, events and groups: bytes handwritten by docs/spec/ledger.md §2.3, §5.10, both directions. */
import { describe, expect, test } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import type { Codec } from '../../../src/move/bcs/codec.ts';
import { epochStateOf, validatorSetCodec } from '../../../src/move/transactions/waypoint.ts';
import { ADDRESS_ONE, padAddress } from '../../../src/move/types/address.ts';
import { frameworkTag } from '../../../src/move/types/framework-tag.ts';
import {
  decodeResourceGroup,
  encodeResourceGroup,
  findGroupMember,
} from '../../../src/move/types/resource-group.ts';
import {
  accountCodec,
  chainIdCodec,
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  eventHandleCodec,
  featuresCodec,
  fungibleStoreCodec,
  isFeatureEnabled,
  newBlockEventCodec,
  newEpochEventCodec,
  objectCoreCodec,
} from '../../../src/move/values/framework-resource.ts';
import { blockResourceCodec, configurationCodec } from './framework-codecs.ts';

const hex = (...parts: readonly string[]): Buffer =>
  Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');
const A1 = ADDRESS_ONE;
const A2 = padAddress('2');
const u64 = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.toString('hex');
};
const handle = (counter: number, creationNumber: number) => ({
  counter: BigInt(counter),
  key: { creationNumber: BigInt(creationNumber), address: A1 },
});
const handleHex = (counter: number, creationNumber: number) =>
  `${u64(counter)}${u64(creationNumber)}${A1}`;

const validator = {
  address: A2,
  votingPower: 5n,
  consensusKey: Buffer.alloc(48, 3),
  networkAddresses: Buffer.of(1),
  fullnodeAddresses: Buffer.alloc(0),
  validatorIndex: 7n,
};
const validatorHex = `${A2}${u64(5)} 30 ${'03'.repeat(48)} 0101 00 ${u64(7)}`;

function row<T>(name: string, codec: Codec<T>, bytes: Buffer, value: T) {
  return [name, codec as Codec<unknown>, bytes, value as unknown] as const;
}

describe('both directions, and nothing but all bytes', () => {
  test.each([
    row('event handle', eventHandleCodec, hex(handleHex(1, 2)), handle(1, 2)),
    row('CoinStore', coinStoreCodec, hex(u64(9), '01', handleHex(1, 2), handleHex(3, 4)), {
      amount: 9n,
      frozen: true,
      depositEvents: handle(1, 2),
      withdrawEvents: handle(3, 4),
    }),
    row(
      'Account',
      accountCodec,
      hex('02aabb', u64(1), u64(2), handleHex(1, 0), handleHex(2, 1), '00', '01', A2),
      {
        authenticationKey: hex('aabb'),
        sequenceNumber: 1n,
        guidCreationNumber: 2n,
        coinRegisterEvents: handle(1, 0),
        keyRotationEvents: handle(2, 1),
        rotationCapabilityOffer: undefined,
        signerCapabilityOffer: A2,
      },
    ),
    row('ObjectCore', objectCoreCodec, hex(u64(1), A2, '01', handleHex(0, 5)), {
      guidCreationNumber: 1n,
      owner: A2,
      allowUngatedTransfer: true,
      transferEvents: handle(0, 5),
    }),
    row('FungibleStore', fungibleStoreCodec, hex(A2, 'ff'.repeat(8), '00'), {
      metadata: A2,
      balance: 2n ** 64n - 1n,
      frozen: false,
    }),
    row('ConcurrentFungibleBalance', concurrentFungibleBalanceCodec, hex(u64(1), u64(2)), {
      value: 1n,
      maxValue: 2n,
    }),
    row('ChainId', chainIdCodec, hex('f3'), 243),
    row('Features', featuresCodec, hex('020180'), hex('0180')),
    row('Configuration', configurationCodec, hex(u64(2), u64(3), handleHex(2, 2)), {
      epoch: 2n,
      lastReconfigurationUsecs: 3n,
      events: handle(2, 2),
    }),
    row(
      'BlockResource',
      blockResourceCodec,
      hex(u64(2), u64(3), handleHex(2, 3), handleHex(0, 4)),
      {
        height: 2n,
        epochIntervalUsecs: 3n,
        newBlockEvents: handle(2, 3),
        updateEpochIntervalEvents: handle(0, 4),
      },
    ),
    row(
      'NewBlockEvent',
      newBlockEventCodec,
      hex(A2, u64(1), u64(2), u64(3), '0180', A1, '01', u64(9), u64(4)),
      {
        hash: A2,
        epoch: 1n,
        round: 2n,
        height: 3n,
        previousBlockVotesBitvec: hex('80'),
        proposer: A1,
        failedProposerIndices: [9n],
        timestampUsecs: 4n,
      },
    ),
    row('NewEpochEvent', newEpochEventCodec, hex(u64(5)), 5n),
    row(
      'ValidatorSet',
      validatorSetCodec,
      hex('00 01', validatorHex, '00 00', u64(5), u64(0), u64(0), u64(1)),
      {
        consensusScheme: 0,
        active: [validator],
        pendingInactive: [],
        pendingActive: [],
        totalVotingPower: 5n,
        totalJoiningPower: 1n << 64n,
      },
    ),
  ])('%s', (_, codec, bytes, value) => {
    expect(codec.encode(value).toString('hex')).toBe(bytes.toString('hex'));
    expect(codec.decode(bytes)).toEqual(value);
    expect(() => codec.decode(bytes.subarray(0, bytes.length - 1))).toThrow(BcsError);
    expect(() => codec.decode(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(BcsError);
  });

  test('a consensus key of another size', () => {
    const bytes = hex('00 01', validatorHex.replace('30', '2f'), '00 00', u64(5), u64(0));
    expect(() => validatorSetCodec.decode(bytes)).toThrow(BcsError);
  });
});

test('feature bits: from the least of each byte, off beyond the end', () => {
  const features = hex('0180');
  const enabled = Array.from({ length: 24 }, (_, flag) => flag).filter((flag) =>
    isFeatureEnabled(features, flag),
  );
  expect(enabled).toEqual([0, 15]);
});

test('validators of an epoch: active and leaving by index, none that is joining', () => {
  const at = (validatorIndex: bigint) => ({
    ...validator,
    validatorIndex,
    votingPower: validatorIndex,
  });
  const state = epochStateOf(3n, {
    consensusScheme: 0,
    active: [at(4n), at(0n)],
    pendingInactive: [at(2n)],
    pendingActive: [at(1n)],
    totalVotingPower: 0n,
    totalJoiningPower: 0n,
  });
  expect(state.epoch).toBe(3n);
  expect(state.validators.map(({ votingPower }) => votingPower)).toEqual([0n, 2n, 4n]);
});

describe('resource groups', () => {
  const members = [
    { tag: frameworkTag('coin', 'B'), data: hex('01') },
    { tag: frameworkTag('object', 'A'), data: hex('') },
    { tag: frameworkTag('aaaaaaa', 'A', [{ kind: 'u8' }]), data: hex('0203') },
  ];
  const bytes = hex(
    '03',
    `${A1} 04636f696e 0142 00 0101`,
    `${A1} 066f626a656374 0141 00 00`,
    `${A1} 0761616161616161 0141 01 01 020203`,
  );

  test('encoded in the order of serialized tags, whatever order they come in', () => {
    expect(encodeResourceGroup([...members].reverse()).toString('hex')).toBe(bytes.toString('hex'));
    const decoded = decodeResourceGroup(bytes);
    expect(decoded.map(({ tag, data }) => ({ tag, data }))).toEqual(members);
    for (const { tag, data } of members) expect(findGroupMember(decoded, tag)).toEqual(data);
    expect(findGroupMember(decoded, frameworkTag('coin', 'A'))).toBeUndefined();
    expect(decodeResourceGroup(hex('00'))).toEqual([]);
  });

  test('another order, a repetition, a cut or surplus bytes do not decode', () => {
    const [first, second] = [`${A1} 04636f696e 0142 00 0101`, `${A1} 066f626a656374 0141 00 00`];
    const bad = [
      hex('02', second, first),
      hex('02', first, first),
      hex('02', first),
      hex('01', first, second),
      hex(''),
      bytes.subarray(0, bytes.length - 1),
    ];
    for (const group of bad) expect(() => decodeResourceGroup(group)).toThrow(BcsError);
    expect(() => encodeResourceGroup([members[0]!, members[0]!])).toThrow(RangeError);
  });
});
