/** Cryptographic natives compared with test vectors of the standards and with other implementations. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, it } from 'vitest';
import { BLS_GROUPS, readPoint, writePoint } from '../../src/vm/natives/crypto/bls12381.ts';
import { isEd25519Key, isEd25519Signature } from '../../src/vm/natives/crypto/ed25519.ts';
import { productOfPairings } from '../../src/vm/natives/crypto/pairing.ts';
import { Transcript } from '../../src/vm/natives/crypto/range-proof.ts';
import {
  BASE,
  IDENTITY,
  inverse,
  isScalar,
  pointOfHash,
  readRistretto,
  readScalar,
  reduced,
  scalarBytes,
  scalarOfBytes,
} from '../../src/vm/natives/crypto/ristretto.ts';
import { recoverKey } from '../../src/vm/natives/crypto/secp256k1.ts';
import { SipHash } from '../../src/vm/natives/crypto/sip-hash.ts';
import type { ByteVector, Value } from '../../src/vm/value.ts';
import { Random, testSeed } from '../random.ts';
import { bytes, isPriced, NativeRun, reference } from './framework.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Created by the crate `bulletproofs` 5.0.0. */
interface RangeProofs {
  readonly domain: string;
  readonly proofs: readonly {
    readonly bits: number;
    readonly base: string;
    readonly blinding: string;
    readonly commitments: readonly string[];
    readonly proof: string;
  }[];
}

const turn = async (): Promise<void> => {};

/** The only result of a native of 0x1, and its charges, without the prefix of its prices. */
async function priced(prefix: string, name: string, ...args: Value[]) {
  const run = new NativeRun();
  const [result] = await run.call(`${name}_internal`, [], ...args);
  const charges = Object.entries(run.takeCharges());
  expect(charges.filter(([price]) => !isPriced(price))).toEqual([]);
  const start = `aptos_framework.${prefix}.`;
  return [
    result,
    Object.fromEntries(charges.map(([key, units]) => [key.replace(start, ''), units])),
  ];
}

describe('Ed25519', () => {
  it('verifies signatures of OpenSSL and refuses changed ones', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    for (const length of [0, 1, 200]) {
      const message = Buffer.alloc(length, 7);
      const signature = sign(null, message, privateKey);
      expect(isEd25519Signature(signature, key, message)).toBe(true);
      for (const at of [0, 31, 32, 63]) {
        const changed = Buffer.from(signature);
        changed[at]! ^= 1;
        expect(isEd25519Signature(changed, key, message)).toBe(false);
      }
      expect(isEd25519Signature(signature, key, Buffer.from('another'))).toBe(false);
      expect(isEd25519Signature(signature.subarray(1), key, message)).toBe(false);
      expect(isEd25519Signature(signature, key.subarray(1), message)).toBe(false);
    }
  });

  it('has the vectors of RFC 8032 §7.1', () => {
    const key = hex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
    const signature = hex(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    );
    expect(isEd25519Signature(signature, key, Buffer.alloc(0))).toBe(true);
  });

  it('refuses what only looser rules take: a larger scalar, keys and points of small order', () => {
    const secret = Buffer.alloc(32, 3);
    const key = ed25519.getPublicKey(secret);
    const message = Buffer.from('strict');
    const signature = ed25519.sign(message, secret);
    const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`);
    const larger = scalarBytes(scalar + ed25519.Point.Fn.ORDER);
    const malleable = Buffer.concat([signature.subarray(0, 32), larger]);
    expect(isEd25519Signature(malleable, key, message)).toBe(false);
    const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
    expect(isEd25519Key(identity)).toBe(false);
    const empty = Buffer.concat([identity, Buffer.alloc(32)]);
    expect(isEd25519Signature(empty, identity, message)).toBe(false);
    expect(isEd25519Key(Buffer.alloc(32, 2))).toBe(false);
    expect(isEd25519Key(key)).toBe(true);
  });

  it('counts and places signatures of several keys', async () => {
    const secrets = [1, 2, 3].map((fill) => Buffer.alloc(32, fill));
    const keys = secrets.map((secret) => ed25519.getPublicKey(secret));
    const message = Buffer.from('all of us');
    const [first, second, third] = secrets.map((secret) => ed25519.sign(message, secret));
    const multiKey = (threshold: number) => Buffer.concat([...keys, Buffer.of(threshold)]);
    const bitmap = (bits: number) => Buffer.of(bits, 0, 0, 0);
    const verify = (threshold: number, bits: number, ...signatures: (Uint8Array | undefined)[]) =>
      priced(
        'signature',
        'multi_ed25519::signature_verify_strict',
        bytes(Buffer.concat([...signatures.map((one) => one!), bitmap(bits)])),
        bytes(multiKey(threshold)),
        bytes(message),
      );
    const charges = (count: number) => ({
      base: 1,
      per_pubkey_deserialize: 3,
      per_sig_deserialize: count,
      per_sig_strict_verify: count,
      per_msg_hashing_base: count,
      per_msg_byte_hashing: count * message.length,
    });
    expect(await verify(2, 0b1010_0000, first, third)).toEqual([true, charges(2)]);
    expect(await verify(2, 0b1110_0000, first, second, third)).toEqual([true, charges(3)]);
    expect(await verify(3, 0b1010_0000, first, third)).toEqual([false, charges(2)]);
    expect(await verify(2, 0b1100_0000, first, third)).toEqual([false, charges(2)]);
    const misread = { base: 1, per_pubkey_deserialize: 3, per_sig_deserialize: 2 };
    expect(await verify(2, 0b1000_0000, first, third)).toEqual([false, misread]);
    expect(await verify(1, 0b0001_0000, first)).toEqual([false, charges(1)]);
    expect(await verify(4, 0b1000_0000, first)).toEqual([
      false,
      { base: 1, per_pubkey_deserialize: 3 },
    ]);
  });

  it('validates several keys, and charges for those up to the first wrong one', async () => {
    const key = ed25519.getPublicKey(Buffer.alloc(32, 1));
    const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
    const validate = (version: string, content: Buffer) =>
      priced('signature', `multi_ed25519::public_key_validate${version}`, bytes(content));
    const checked = (count: number) => ({
      base: 1,
      per_pubkey_deserialize: count,
      per_pubkey_small_order_check: count,
    });
    const three = Buffer.concat([key, key, key]);
    for (const [threshold, isValid] of [
      [0, false],
      [1, true],
      [3, true],
      [4, false],
    ] as const) {
      const multiKey = Buffer.concat([three, Buffer.of(threshold)]);
      const charges = isValid ? checked(3) : { base: 1 };
      expect(await validate('_v2', multiKey)).toEqual([isValid, charges]);
      expect(await validate('', multiKey)).toEqual([true, checked(3)]);
    }
    expect(await validate('_v2', three)).toEqual([false, { base: 1 }]);
    const weak = Buffer.concat([key, identity, key, Buffer.of(1)]);
    expect(await validate('_v2', weak)).toEqual([false, checked(2)]);
    expect(await validate('', Buffer.alloc(33 * 32))).toEqual([false, { base: 1 }]);
  });
});

describe('secp256k1', () => {
  it('recovers the key that signed', () => {
    const random = new Random(testSeed('secp256k1'));
    for (let count = 0; count < 8; count += 1) {
      const secret = random.bytes(32);
      const hash = random.bytes(32);
      const signed = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' });
      const expected = Buffer.from(secp256k1.getPublicKey(secret, false).subarray(1));
      const recovered = recoverKey(hash, signed[0]!, signed.subarray(1));
      expect(Buffer.from(recovered as Uint8Array)).toEqual(expected);
      const other = recoverKey(hash, signed[0]! ^ 1, signed.subarray(1));
      expect(Buffer.from(other as Uint8Array).equals(expected)).toBe(false);
    }
  });

  it('says what is not what it must be', () => {
    const order = secp256k1.Point.Fn.ORDER.toString(16).padStart(64, '0');
    const one = '1'.padStart(64, '0');
    const zero = '0'.repeat(64);
    const hash = Buffer.alloc(32, 1);
    const recovered = (id: number, text: string) => recoverKey(hash, id, hex(text));
    expect(recoverKey(hash.subarray(1), 0, hex(one + one))).toBe('message');
    expect(recovered(4, one + one)).toBe('recovery id');
    expect(recovered(0, one)).toBe('signature');
    expect(recovered(0, order + one)).toBe('signature');
    expect(recovered(0, one + order)).toBe('signature');
    expect(recovered(0, zero + one)).toBe('no key');
    expect(recovered(0, one + zero)).toBe('no key');
    expect(recovered(0, '5'.padStart(64, '0') + one)).toBe('no key');
  });
});

describe('BLS12-381', () => {
  const { longSignatures: scheme } = bls12_381;
  const DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';
  const secrets = [1, 2].map((fill) => Buffer.alloc(32, fill));
  const keys = secrets.map((secret) => scheme.getPublicKey(secret).toBytes());
  const signed = (text: string, secret: Buffer, DST = DOMAIN) =>
    scheme.sign(scheme.hash(Buffer.from(text), DST), secret).toBytes();
  const messages = ['one', 'two'].map((text) => Buffer.from(text));

  const call = (name: string, ...args: Value[]) => priced('bls12381', `bls12381::${name}`, ...args);
  /** Structs with the bytes of points. */
  const structures = (points: readonly Uint8Array[]): Value => points.map((one) => [bytes(one)]);
  const sum = async (name: string, points: readonly Uint8Array[]) => {
    const [added] = await call(`aggregate_${name}`, structures(points));
    return Buffer.from((added as ByteVector).bytes);
  };

  it('verifies a signature, and the sum of several', async () => {
    const [first, second] = [signed('one', secrets[0]!), signed('two', secrets[1]!)];
    const key = { base: 1, per_pubkey_deserialize: 2 };
    expect(await call('validate_pubkey', bytes(keys[0]!))).toEqual([true, key]);
    const checked = { base: 1, per_sig_deserialize: 1, per_sig_subgroup_check: 1 };
    expect(await call('signature_subgroup_check', bytes(first))).toEqual([true, checked]);
    const verify = (name: string, signature: Uint8Array, by: Uint8Array, message: Buffer) =>
      call(`verify_${name}`, bytes(signature), bytes(by), bytes(message));
    const cost = (keyReads: number) => ({
      base: 1,
      per_pubkey_deserialize: keyReads,
      per_sig_deserialize: 1,
      per_sig_verify: 1,
      per_msg_hashing: 1,
      per_byte_hashing: 3,
    });
    for (const [name, keyReads] of [
      ['normal_signature', 2],
      ['signature_share', 1],
      ['multisignature', 1],
    ] as const) {
      const is = (isRight: boolean) => [isRight, cost(keyReads)];
      expect(await verify(name, first, keys[0]!, messages[0]!)).toEqual(is(true));
      expect(await verify(name, first, keys[1]!, messages[0]!)).toEqual(is(false));
      expect(await verify(name, first, keys[0]!, messages[1]!)).toEqual(is(false));
      const noKey = { base: 1, per_pubkey_deserialize: 1 };
      expect(await verify(name, first, Buffer.alloc(48), messages[0]!)).toEqual([false, noKey]);
      expect(await verify(name, Buffer.alloc(96), keys[0]!, messages[0]!)).toEqual([
        false,
        { base: 1, per_pubkey_deserialize: keyReads, per_sig_deserialize: 1 },
      ]);
    }
    const added = await sum('signatures', [first, second]);
    const verifySum = (signature: Uint8Array, contents: readonly Buffer[]) =>
      call(
        'verify_aggregate_signature',
        bytes(signature),
        structures(keys),
        contents.map((content) => bytes(content)),
      );
    const both = {
      base: 1,
      per_pubkey_deserialize: 2,
      per_sig_deserialize: 1,
      per_pairing: 3,
      per_msg_hashing: 2,
      per_byte_hashing: 6,
    };
    expect(await verifySum(added, messages)).toEqual([true, both]);
    expect(await verifySum(added, messages.toReversed())).toEqual([false, both]);
    expect(await verifySum(added, messages.slice(1))).toEqual([false, { base: 1 }]);
    const same = await sum(
      'signatures',
      secrets.map((secret) => signed('one', secret)),
    );
    const allKeys = await sum('pubkeys', keys);
    expect((await verify('multisignature', same, allKeys, messages[0]!))[0]).toBe(true);
  });

  it('adds up points until one is none', async () => {
    const paid = (reads: number, added: object) => ({
      base: 1,
      ...(reads === 0 ? {} : { per_pubkey_deserialize: reads }),
      ...added,
    });
    const [, two] = await call('aggregate_pubkeys', structures(keys));
    expect(two).toEqual(paid(2, { per_pubkey_aggregate: 2 }));
    expect(await call('aggregate_pubkeys', structures([]))).toEqual([bytes(''), paid(0, {})]);
    const wrong = [keys[0]!, Buffer.alloc(48), keys[1]!];
    expect(await call('aggregate_pubkeys', structures(wrong))).toEqual([bytes(''), paid(2, {})]);
  });

  it('multiplies pairings one after the other, and lets others have their turn', async () => {
    const { fields } = bls12_381;
    for (const curve of [bls12_381, bn254]) {
      const pairs = [2n, 3n, 5n].map((factor) => ({
        g1: curve.G1.Point.BASE.multiply(factor),
        g2: curve.G2.Point.BASE.multiply(factor + 4n),
      }));
      let turns = 0;
      const product = await productOfPairings(curve, pairs, async () => {
        turns += 1;
      });
      const wanted = curve.pairingBatch(pairs as Parameters<typeof curve.pairingBatch>[0]);
      expect(curve.fields.Fp12.eql(product, wanted)).toBe(true);
      expect(turns).toBe(pairs.length + 1);
    }
    const none = await productOfPairings(bls12_381, [], turn);
    expect(fields.Fp12.eql(none, fields.Fp12.ONE)).toBe(true);
  });

  it('verifies proofs of possession', async () => {
    const domain = 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';
    const proof = scheme.sign(scheme.hash(keys[0]!, domain), secrets[0]!).toBytes();
    const verify = (key: Uint8Array) =>
      call('verify_proof_of_possession', bytes(key), bytes(proof));
    const paid = { base: 1, per_pubkey_deserialize: 1, per_sig_deserialize: 1, per_pop_verify: 1 };
    expect(await verify(keys[0]!)).toEqual([true, paid]);
    expect(await verify(keys[1]!)).toEqual([false, paid]);
  });

  it('reads and writes points as others do, and refuses what is none', async () => {
    for (const isCompressed of [true, false]) {
      const point = bls12_381.G1.Point.fromBytes(keys[0]!);
      const bytes = writePoint(BLS_GROUPS.G1, point, isCompressed);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(point.toBytes(isCompressed)));
      expect(readPoint(BLS_GROUPS.G1, bytes)!.equals(point)).toBe(true);
      const signature = bls12_381.G2.Point.fromBytes(signed('x', secrets[0]!));
      const written = writePoint(BLS_GROUPS.G2, signature, isCompressed);
      expect(Buffer.from(written)).toEqual(Buffer.from(signature.toBytes(isCompressed)));
      expect(readPoint(BLS_GROUPS.G2, written)!.equals(signature)).toBe(true);
      const infinity = writePoint(BLS_GROUPS.G1, BLS_GROUPS.G1.points.ZERO, isCompressed);
      expect(readPoint(BLS_GROUPS.G1, infinity)!.is0()).toBe(true);
      infinity[5] = 1;
      expect(readPoint(BLS_GROUPS.G1, infinity)).toBeUndefined();
    }
    const infinity = writePoint(BLS_GROUPS.G1, BLS_GROUPS.G1.points.ZERO, true);
    expect((await call('validate_pubkey', bytes(infinity)))[0]).toBe(false);
    const p = bls12_381.fields.Fp.ORDER.toString(16).padStart(96, '0');
    const larger = hex(p);
    larger[0]! |= 0x80;
    expect(readPoint(BLS_GROUPS.G1, larger)).toBeUndefined();
    expect(readPoint(BLS_GROUPS.G1, new Uint8Array(0))).toBeUndefined();
  });
});

describe('ristretto255', () => {
  // RFC 9496 §A.1.
  const MULTIPLES = [
    '0000000000000000000000000000000000000000000000000000000000000000',
    'e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76',
    '6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919',
    '94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259',
  ];
  // RFC 9496 §A.2.
  const BAD = [
    '00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371',
  ];

  it('has the vectors of RFC 9496', () => {
    for (const [factor, text] of MULTIPLES.entries()) {
      const point = BASE.multiplyUnsafe(BigInt(factor));
      expect(Buffer.from(point.toBytes()).toString('hex')).toBe(text);
      expect(readRistretto(hex(text))!.equals(point)).toBe(true);
    }
    for (const text of BAD) expect(readRistretto(hex(text))).toBeUndefined();
    const hashed = pointOfHash(
      Buffer.from('Ristretto is traditionally a short shot of espresso coffee'),
    );
    expect(Buffer.from(hashed.toBytes()).toString('hex')).toBe(
      '3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46',
    );
    expect(IDENTITY.equals(BASE.subtract(BASE))).toBe(true);
  });

  it('reduces scalars', () => {
    const order = reduced(-1n) + 1n;
    expect(isScalar(scalarBytes(order - 1n))).toBe(true);
    expect(isScalar(scalarBytes(order))).toBe(false);
    expect(readScalar(scalarBytes(order))).toBeUndefined();
    expect(scalarOfBytes(scalarBytes(order + 5n))).toBe(5n);
    expect(reduced(inverse(7n) * 7n)).toBe(1n);
    expect(inverse(0n)).toBe(0n);
    const high = scalarBytes(5n);
    high[31]! |= 0x80;
    expect(readScalar(high)).toBe(5n);
    expect(isScalar(high)).toBe(false);
  });
});

describe('SipHash', () => {
  it('is that of OpenSSL', () => {
    // `openssl mac -macopt size:8 -macopt hexkey:0… SIPHASH` of the bytes 0, 1, 2, …
    const expected: readonly [length: number, hash: string][] = [
      [0, 'd70077739d4b921e'],
      [1, '8dc5fb49aa0b5a8b'],
      [7, '0b48112caf7ed6b3'],
      [8, '38792ffc241c2bc7'],
      [9, '220ba6adb67a0e61'],
      [63, 'c655fb8cecb52588'],
      [200, 'ce4e9445a546ad02'],
    ];
    for (const [length, hash] of expected) {
      const bytes = Uint8Array.from({ length }, (_, index) => index);
      const hasher = new SipHash();
      hasher.update(bytes.subarray(0, 8));
      hasher.update(bytes.subarray(8));
      expect(hasher.digest()).toBe(hex(hash).readBigUInt64LE());
    }
  });
});

describe('range proofs', () => {
  it('draw challenges from a transcript as Merlin does', () => {
    const transcript = new Transcript(Buffer.from('daybook'));
    transcript.appendText('some label', 'some data');
    // Computed by the crate merlin 3.0.0.
    const challenge = '6ab3d87dad16867fa3ab7f485127a295623ae7febc4e4facfefb2d8a3332c319';
    expect(Buffer.from(transcript.challengeBytes('challenge', 32)).toString('hex')).toBe(challenge);
  });

  const { domain, proofs } = JSON.parse(
    readFileSync(new URL('../fixtures/range-proofs.json', import.meta.url), 'utf8'),
  ) as RangeProofs;

  it.each(proofs)('of the crate bulletproofs 5.0.0 are verified: $bits bits', async (vector) => {
    const commitments = vector.commitments.map(hex);
    const proof = hex(vector.proof);
    const verify = async (of: readonly Buffer[], given: Buffer, bits = vector.bits) => {
      const run = new NativeRun();
      const point = async (encoded: string): Promise<Value> => {
        const name = 'ristretto255::point_decompress_internal';
        const [handle] = await run.call(name, [], bytes(hex(encoded)));
        return reference([handle as bigint]);
      };
      const bases = [await point(vector.base), await point(vector.blinding)];
      const rest = [...bases, bytes(given), BigInt(bits), bytes(domain)];
      const all = of.map((commitment) => bytes(commitment));
      const name = of.length === 1 ? 'verify_range_proof' : 'verify_batch_range_proof';
      const path = `ristretto255_bulletproofs::${name}_internal`;
      const result = await run.call(path, [], of.length === 1 ? all[0] : all, ...rest);
      const charges = run.takeCharges();
      expect(Object.keys(charges).filter((price) => !isPriced(price))).toEqual([]);
      return [typeof result === 'string' ? result : result[0], charges];
    };
    const prefix = 'aptos_framework.bulletproofs.';
    const read = {
      [`${prefix}base`]: 1,
      [`${prefix}per_byte_rangeproof_deserialize`]: proof.length,
    };
    const batch = `${prefix}verify.base_batch_${commitments.length}_bits_${vector.bits}`;
    const isOne = commitments.length === 1;
    const verified = { ...read, [`${prefix}per_bit_rangeproof_verify`]: vector.bits };
    const charges = isOne ? verified : { [batch]: 1 };
    expect(await verify(commitments, proof)).toEqual([true, charges]);
    const random = new Random(testSeed('range proofs'));
    const items = proof.length / 32;
    // One of the first points and scalars, one of the rounds, the last scalar.
    for (const item of [random.below(7), 7 + random.below(items - 9), items - 1]) {
      const changed = Buffer.from(proof);
      changed[item * 32 + random.below(31)]! ^= 1 << random.below(8);
      expect((await verify(commitments, changed))[0]).toBe(false);
    }
    const others = commitments.with(-1, hex(vector.blinding));
    expect((await verify(others, proof))[0]).toBe(false);
    expect((await verify(commitments, proof.subarray(32)))[0]).toBe(false);
    const noProof = await verify(commitments, Buffer.alloc(7));
    expect(noProof).toEqual([false, isOne ? { ...read, ...lengthOf(7) } : charges]);
    expect((await verify(commitments, proof, vector.bits + 1))[0]).toBe('abort 0x10003');
    expect((await verify([...commitments, ...commitments, commitments[0]!], proof))[0]).toBe(
      'abort 0x10004',
    );
    function lengthOf(length: number) {
      return { [`${prefix}per_byte_rangeproof_deserialize`]: length };
    }
  });
});
