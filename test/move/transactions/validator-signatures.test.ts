import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { describe, expect, it } from 'vitest';
import { decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { readHash } from '../../../src/move/bcs/fixed-bytes.ts';
import { MerkleAccumulator } from '../../../src/move/crypto/accumulator.ts';
import { domainHash, HASH_BYTES, sha3 } from '../../../src/move/crypto/hash.ts';
import { MoveError } from '../../../src/move/errors.ts';
import {
  readSignedLedgerInfo,
  type SignedLedgerInfo,
} from '../../../src/move/transactions/ledger-info.ts';
import {
  TransactionInfo,
  transactionInfoHash,
} from '../../../src/move/transactions/transaction-info.ts';
import { ValidatorSignatures } from '../../../src/move/transactions/validator-signatures.ts';
import {
  EpochState,
  formatWaypoint,
  type ValidatorPower,
  waypointOfParts,
} from '../../../src/move/transactions/waypoint.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/** docs/spec/backup.md §4.4 (b). */
const VALIDATORS: readonly ValidatorPower[] = [
  'acc0bbf4b17b406c35515c6060989e1361c2c4f2bd1a127f72668f4375e7128ff93d48e609c4a8e560d5a1c87d32362d',
  'ab2d63d57ec41b8512549e98f592ea25f449c69bef2ec518ab12a6e5cf1ec261f6748dd8ee55d7a8d1732e14fe1023c9',
  '8b5477f8c427ed4ecda4865fc5bfbfea3918a48e0ae8c1616147c51e869d66b817e8344fa1770013a1a609729ab4670f',
  '8e2c93365d3996699588703e625dfb4d97e56afd0db2f238e2c585b3b5ae1756409cc57a509b84dc80b3c2a1d46c09ed',
].map((key, index) => ({
  address: `a${index}`.repeat(32),
  consensusKey: hex(key),
  votingPower: BigInt(10 * (index + 1)),
}));
const SIGNED = hex(`
  0007000000000000000300000000000000111111111111111111111111111111111111111111111111111111111111111122222222222222222222222222222222
  22222222222222222222222222222222d20400000000000000401e18240a060000333333333333333333333333333333333333333333333333333333333333333301
  300160a9cefd90f5565dbd0dd4dcd8bf499694a31a1bdc86744fa27734c08e15226425da00c46c7f6b86d53480ff582a118af60709b9bfd24e3a80399c3771446a
  39fe50d851534b19b3e2c8f2b09d4d9b992309ea9294383d2d4707bb45d7ccb9cb0b`);
const BITMASK_AT = 1 + 129 + 1;

const read = (bytes: Buffer) => decodeBcs(bytes, readSignedLedgerInfo);

/** Why a signature is refused; `undefined` if it is accepted. */
function refusal(
  signed: SignedLedgerInfo,
  validators: readonly ValidatorPower[] = VALIDATORS,
): string | undefined {
  try {
    new ValidatorSignatures().check(validators, signed);
    return undefined;
  } catch (error) {
    if (error instanceof MoveError) return error.code;
    throw error;
  }
}

describe('a signed ledger info', () => {
  const signed = read(SIGNED);

  it('is read', () => {
    const { info, infoBytes, signers, signature } = signed;
    expect(info).toMatchObject({ epoch: 7n, round: 3n, version: 1234n });
    expect(info.timestampUsecs).toBe(1_700_000_000_000_000n);
    expect(info.nextEpochState).toBeUndefined();
    expect(infoBytes).toHaveLength(129);
    expect(domainHash('LedgerInfo', infoBytes).toString('hex')).toBe(
      '3fa3aa8126253afc7c22bc3a3cd65a5c4729843338beeed88fbc1894a5953de8',
    );
    expect(formatWaypoint(waypointOfParts(info))).toBe(
      '1234:13e888e6417f36e0424c7a3ecd375e6abf348ab58cd01bc21f26da1a11d8e693',
    );
    expect(signers).toEqual(Buffer.of(0x30));
    expect(signature).toHaveLength(96);
  });

  it('does not decode when it is cut, continued, or of another variant', () => {
    for (const length of [0, 1, 100, SIGNED.length - 1]) {
      expect(() => read(SIGNED.subarray(0, length))).toThrow(MoveError);
    }
    expect(() => read(Buffer.concat([SIGNED, Buffer.of(0)]))).toThrow(MoveError);
    expect(() => read(Buffer.concat([Buffer.of(1), SIGNED.subarray(1)]))).toThrow(MoveError);
  });

  it('is taken with a quorum of signatures', () => {
    expect(refusal(signed)).toBeUndefined();
  });

  it('is refused with other signers than those that signed', () => {
    const withBitmask = (...bytes: number[]) => ({ ...signed, signers: Buffer.from(bytes) });
    expect(refusal(withBitmask(0x38))).toBe('signers_malformed');
    expect(refusal(withBitmask(0x30, 0))).toBe('signers_malformed');
    expect(refusal(withBitmask())).toBe('signers_malformed');
    expect(refusal(withBitmask(0xf0))).toBe('signature_wrong');
    expect(refusal(withBitmask(0xb0))).toBe('signature_wrong');
    expect(refusal(withBitmask(0x50))).toBe('no_quorum');
    expect(refusal({ ...signed, signature: undefined })).toBe('not_signed');
  });

  it('needs one more than two thirds of the power', () => {
    const withPowers = (...powers: bigint[]) =>
      refusal(
        signed,
        VALIDATORS.map((validator, index) => ({ ...validator, votingPower: powers[index]! })),
      );
    // 67 of 100 are required.
    expect(withPowers(17n, 16n, 27n, 40n)).toBeUndefined();
    expect(withPowers(17n, 17n, 26n, 40n)).toBe('no_quorum');
    expect(withPowers(18n, 17n, 26n, 39n)).toBe('no_quorum');
    // 67 of 99 are required too, and 69 of 102.
    expect(withPowers(16n, 16n, 27n, 40n)).toBeUndefined();
    expect(withPowers(17n, 16n, 26n, 40n)).toBe('no_quorum');
    expect(withPowers(17n, 16n, 29n, 40n)).toBeUndefined();
    expect(withPowers(17n, 17n, 28n, 40n)).toBe('no_quorum');
    const most = 2n ** 64n - 1n;
    expect(withPowers(most, 0n, most, most)).toBe('no_quorum');
    expect(withPowers(most, 2n, most, most)).toBe('no_quorum');
    expect(withPowers(most - 2n, 0n, most, most)).toBeUndefined();
  });

  it('is refused without validators', () => {
    expect(refusal({ ...signed, signers: Buffer.alloc(0) }, [])).toBe('no_quorum');
  });

  it('is refused with any bit changed', () => {
    const flipped = (at: number): Buffer => {
      const bytes = Buffer.from(SIGNED);
      bytes[at]! ^= 1 << (at % 8);
      return bytes;
    };
    for (const at of [1, 9, 17, 49, 81, 89, 98, 129, BITMASK_AT + 4, BITMASK_AT + 60, 229]) {
      expect(refusal(read(flipped(at))), `byte ${at}`).toBe('signature_wrong');
    }
  });

  it('is refused with keys that are no points of the group, or add up to nothing', () => {
    const withKey = (index: number, key: Buffer) =>
      VALIDATORS.map((validator, at) =>
        at === index ? { ...validator, consensusKey: key } : validator,
      );
    const infinity = Buffer.alloc(48);
    infinity[0] = 0xc0;
    expect(refusal(signed, withKey(2, infinity))).toBe('signature_wrong');
    // A point of the curve outside the group: the smallest x with a point.
    const outside = Buffer.alloc(48);
    outside[0] = 0x80;
    outside[47] = 0x04;
    expect(refusal(signed, withKey(2, outside))).toBe('signature_wrong');
    const opposite = Buffer.from(VALIDATORS[2]!.consensusKey);
    opposite[0]! ^= 0x20;
    expect(refusal(signed, withKey(3, opposite))).toBe('signature_wrong');
  });

  it('is checked with the keys of its own epoch, whatever was checked before', () => {
    const signatures = new ValidatorSignatures();
    signatures.check(VALIDATORS, signed);
    const swapped = [VALIDATORS[2]!, VALIDATORS[3]!, VALIDATORS[0]!, VALIDATORS[1]!].map(
      (validator) => ({ ...validator, votingPower: 25n }),
    );
    const strong = swapped.map((validator, index) => ({
      ...validator,
      votingPower: index < 2 ? 1n : 40n,
    }));
    expect(() => signatures.check(strong, signed)).toThrow(MoveError);
    signatures.check(VALIDATORS, signed);
  });
});

describe('a ledger info of mainnet', () => {
  // docs/spec/backup.md §8: the validators of epoch 7495, its end, and a proof in the next epoch.
  const bytes = brotliDecompressSync(
    readFileSync(new URL('../../fixtures/mainnet-epoch-7495.br', import.meta.url)),
  );
  const { state, signed, siblings, info, next } = decodeBcs(bytes, (reader) => {
    const [state, signed] = [EpochState.read(reader), readSignedLedgerInfo(reader)];
    const siblings = reader.vector(HASH_BYTES, readHash);
    const start = reader.offset;
    TransactionInfo.read(reader);
    const info = reader.buffer.subarray(start, reader.offset);
    return { state, signed, siblings, info, next: readSignedLedgerInfo(reader) };
  });

  it('is signed by the validators of its epoch', () => {
    expect(state.epoch).toBe(7495n);
    expect(signed.info.epoch).toBe(7495n);
    expect(signed.info.nextEpochState?.epoch).toBe(7496n);
    expect(refusal(signed, state.validators)).toBeUndefined();
  });

  it('names the validators that sign the next', () => {
    const { validators } = signed.info.nextEpochState!;
    expect(next.info).toMatchObject({ epoch: 7496n, version: 998_167_816n });
    expect(refusal(next, validators)).toBeUndefined();
    // The order of the keys counts: with two of them swapped the signature is wrong.
    const swapped = [validators[1]!, validators[0]!, ...validators.slice(2)];
    expect(next.signers[0]! & 0xc0).toBe(0x80);
    expect(refusal(next, swapped)).toBe('signature_wrong');
  });

  it('covers a transaction info by its accumulator', () => {
    const { version, rootHash } = next.info;
    const isLeft = (level: number) => ((version >> BigInt(level)) & 1n) === 1n;
    const left = siblings.filter((_, level) => isLeft(level)).reverse();
    const right = siblings.filter((_, level) => !isLeft(level));
    const accumulator = new MerkleAccumulator('TransactionAccumulator', version, left);
    accumulator.append(transactionInfoHash(info));
    expect(accumulator.rootWithin(siblings.length, right)).toEqual(rootHash);
    expect(accumulator.rootHash()).toEqual(rootHash);
  });
});

describe('the BLS12-381 library', () => {
  const scheme = bls12_381.longSignatures;
  const DOMAIN = Buffer.from('BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_');
  const verifies = (keys: readonly string[], message: string, signature: string) =>
    scheme.verify(
      hex(signature),
      scheme.hash(hex(message), DOMAIN),
      scheme.aggregatePublicKeys(keys.map(hex)),
    );
  const KEYS = [
    'a491d1b0ecd9bb917989f0e74f0dea0422eac4a873e5e2644f368dffb9a6e20fd6e10c1b77654d067c0618f6e5a7f79a',
    'b301803f8b5ac4a1133581fc676dfedc60d891dd5fa99028805e5ea5b08d3491af75d0707adab3b70c6a6a580217bf81',
    'b53d21a4cfd562c469cc81514d4ce5a6b577d8403d32a394dc265dd190b47fa9f829fdd7963afdf972e5e77854051f6f',
  ];

  // Ethereum's consensus-spec-tests, general/altair/bls, fast_aggregate_verify and eth_aggregate_pubkeys: the
  // same ciphersuite (draft-irtf-cfrg-bls-signature §4.2.3).
  it('agrees with the test vectors of Ethereum', () => {
    const zero = '00'.repeat(32);
    const one =
      'b6ed936746e01f8ecf281f020953fbf1f01debd5657c4a383940b020b26507f6076334f91e2366c96e9ab279fb515809' +
      '0352ea1c5b0c9274504f4f0e7053af24802e51e4568d164fe986834f41e55c8e850ce1f98458c0cfc9ab380b55285a55';
    const two =
      '912c3615f69575407db9392eb21fee18fff797eeb2fbe1816366ca2a08ae574d8824dbfafb4c9eaa1cf61b63c6f9b699' +
      '11f269b664c42947dd1b53ef1081926c1e82bb2a465f927124b08391a5249036146d6f3f1e17ff5f162f779746d830d1';
    expect(verifies(KEYS.slice(0, 1), zero, one)).toBe(true);
    expect(verifies(KEYS.slice(0, 2), '56'.repeat(32), two)).toBe(true);
    expect(verifies(KEYS.slice(0, 2), zero, one)).toBe(false);
    expect(() => verifies(KEYS.slice(0, 1), zero, `${one.slice(0, -8)}ffffffff`)).toThrow();
    const sum = scheme.aggregatePublicKeys(KEYS.map(hex));
    expect(Buffer.from(sum.toBytes(true)).toString('hex')).toBe(
      'a095608b35495ca05002b7b5966729dd1ed096568cf2ff24f3318468e0f3495361414a78ebc09574489bc79e48fca969',
    );
  });

  it('agrees with the documentation of the reference', () => {
    // docs/spec/backup.md §4.4 (a).
    const message = 'd45df707eca3ea421092b777a479acbceee64eaa8cebaade8514d5b1acfbc5240474657374';
    const secret = hex('65e0c364e0cc27ae4e90cb28059677c36fd11b47cbbab48a9cca3c34e92eefbb');
    const key =
      '99ad6adb0a8b9a8c44dbf643a3ad6d11ff1fe90138db857382a8fc202334e6f8842e04055a729e4a4ba5b08161e7abd6';
    const signature =
      'b266e156091c1d621304861654bae748cb3534bef86eb6ca1d482148ba7b1e3530eca47790a98971f421fe2d55f9d9af' +
      '047807b5698cf559441b81288a022812d58669fee2d30b4c7bd86706c6a2128fd5b0c44c4bc171ca6e9d4c89196cac85';
    expect(Buffer.from(scheme.getPublicKey(secret).toBytes(true)).toString('hex')).toBe(key);
    expect(verifies([key], message, signature)).toBe(true);
    expect(sha3(Buffer.from('APTOS::TestAptosCrypto')).toString('hex')).toBe(message.slice(0, 64));
  });
});
