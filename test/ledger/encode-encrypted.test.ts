/**
 * Encrypted payloads (docs/spec/encode.md §A2): 122 recorded responses of a running reference node on a chain with id
 * 4, and ciphertexts whose curve points another library creates.
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { canonicalCiphertext } from '../../src/submission/encode/ciphertext.ts';
import { EncodeError, encodeSubmission } from '../../src/submission/encode/index.ts';
import { Random, testSeed } from '../random.ts';
import { type Recorded, recordedLines } from '../reference/reference-chain.ts';

const recorded = recordedLines<Recorded & { readonly name: string; readonly body: string }>(
  'vectors/encrypted.jsonl',
);

/** The response's body. */
async function answer(body: string): Promise<string> {
  try {
    const context = { chainId: 4, lookupModule: () => undefined };
    return JSON.stringify(formatHex(await encodeSubmission(Buffer.from(body), context)));
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    const code = error.stage === 'parse' ? 'web_framework_error' : 'invalid_input';
    return JSON.stringify({ message: error.message, error_code: code, vm_error_code: null });
  }
}

describe('recorded answers', () => {
  it('are all there', () => {
    expect(recorded.length).toBe(122);
  });

  it.each(recorded.map((one) => [one.name, one] as const))(
    '%s',
    async (_, { body, answer: own }) => {
      expect(await answer(body)).toBe(own.body);
    },
  );
});

const { Point } = bls12_381.G2;
const PREFIX = 'Failed to BCS-deserialize ciphertext: ';
const NO_KEY = `${PREFIX}signature error: Cannot decompress Edwards point`;
const INVALID = `${PREFIX}the input buffer contained invalid data`;
const UNEXPECTED_FLAGS = `${PREFIX}the call expects empty flags`;

interface Parts {
  readonly key?: Uint8Array;
  readonly id?: Uint8Array;
  readonly points?: Uint8Array;
}

const GENERATOR = Buffer.from(Point.BASE.toBytes(true));
const KEY = Buffer.from(ed25519.Point.BASE.toBytes());

function ciphertext({ key = KEY, id = Buffer.alloc(32), points }: Parts): Buffer {
  return encodeBcs((writer) => {
    writer.bytes(key).bytes(id);
    writer.bytes(points ?? Buffer.concat([GENERATOR, GENERATOR, GENERATOR]));
    writer.fixed(Buffer.alloc(28, 1)).bytes(Buffer.of(2)).bytes(Buffer.of(3));
    writer.fixed(Buffer.alloc(64, 4));
  });
}

function expectRefused(parts: Parts, detail: string): void {
  expect(() => canonicalCiphertext(ciphertext(parts))).toThrowError(
    expect.objectContaining({ code: 'bad_ciphertext', detail }) as Error,
  );
}

/** Whether the other library accepts the bytes. */
function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

describe('verification keys', () => {
  it('are points of edwards25519, as the other library reads them', () => {
    const random = new Random(testSeed('keys'));
    let points = 0;
    for (let round = 0; round < 200; round += 1) {
      const key = random.bytes(32);
      const isPoint = isRead(() => ed25519.Point.fromBytes(key, true));
      if (isPoint) {
        points += 1;
        expect(canonicalCiphertext(ciphertext({ key }))).toEqual(ciphertext({ key }));
      } else expectRefused({ key }, NO_KEY);
    }
    expect(points).toBeGreaterThan(60);
    expect(points).toBeLessThan(140);
  });

  /** Bytes of y, with the bit that selects x. */
  const keyOf = (y: bigint, sign: number): Buffer => {
    const bytes = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
    bytes[31]! |= sign << 7;
    return bytes;
  };
  const MODULUS = 2n ** 255n - 19n;

  it.each([
    ['y = 1, of which x is 0, with the other x', keyOf(1n, 1)],
    ['y = 0', keyOf(0n, 0)],
    ['the modulus as y', keyOf(MODULUS, 0)],
    ['the modulus + 1', keyOf(MODULUS + 1n, 1)],
    ['the largest y', keyOf(2n ** 255n - 1n, 0)],
  ])('%s is a point', (_, key) => {
    expect(isRead(() => ed25519.Point.fromBytes(key, true))).toBe(true);
    expect(canonicalCiphertext(ciphertext({ key }))).toEqual(ciphertext({ key }));
  });

  it('y = 2 is not on the curve, nor the modulus + 2', () => {
    expectRefused({ key: keyOf(2n, 0) }, NO_KEY);
    expectRefused({ key: keyOf(MODULUS + 2n, 1) }, NO_KEY);
  });
});

describe('group elements', () => {
  it('may be any points of the group', () => {
    const random = new Random(testSeed('points'));
    for (let round = 0; round < 5; round += 1) {
      const scalars = [1, 2, 3].map(() => BigInt(formatHex(random.bytes(31))) + 1n);
      const points = Buffer.concat(scalars.map((one) => Point.BASE.multiply(one).toBytes(true)));
      expect(canonicalCiphertext(ciphertext({ points }))).toEqual(ciphertext({ points }));
    }
  });

  it('are on the curve if the other library finds a y', () => {
    const { Fp2 } = bls12_381.fields;
    let found = 0;
    for (let x = 1; x <= 40; x += 1) {
      const value = Fp2.create({ c0: BigInt(x), c1: 7n });
      const square = Fp2.add(Fp2.pow(value, 3n), Point.CURVE().b);
      const point = Buffer.alloc(96);
      point[0] = 0x80;
      point[47] = 7;
      point[95] = x;
      const points = Buffer.concat([GENERATOR, point, GENERATOR]);
      if (isRead(() => Fp2.sqrt(square))) {
        found += 1;
        expect(canonicalCiphertext(ciphertext({ points }))).toEqual(ciphertext({ points }));
      } else expectRefused({ points }, INVALID);
    }
    expect(found).toBeGreaterThan(8);
    expect(found).toBeLessThan(32);
  });

  const MODULUS = bls12_381.fields.Fp.ORDER;
  const half = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(96, '0'), 'hex');
  /** A valid or invalid point: flags, then the two parts of x. */
  const pointOf = (flags: number, imaginary: bigint, real: bigint): Buffer => {
    const point = Buffer.concat([half(imaginary), half(real)]);
    point[0]! |= flags;
    return point;
  };

  it.each([
    ['0x20, not compressed', pointOf(0x20, 0n, 0n), INVALID],
    ['0x60', pointOf(0x60, 0n, 0n), INVALID],
    ['0x00', pointOf(0x00, 0n, 0n), UNEXPECTED_FLAGS],
    ['0x40', pointOf(0x40, 0n, 0n), UNEXPECTED_FLAGS],
    ['an imaginary part that is the modulus', pointOf(0x80, MODULUS, 5n), INVALID],
    ['a real part that is the modulus', pointOf(0x80, 0n, MODULUS), INVALID],
    ['infinity with an imaginary part', pointOf(0xc0, 1n, 0n), INVALID],
  ])('%s', (_, point, detail) => {
    const points = Buffer.concat([GENERATOR, GENERATOR, point]);
    expectRefused({ points }, detail);
  });
});

describe('what follows in the same byte vector', () => {
  it.each([0, 1, 1_000_000])('is left out: %i bytes', (count) => {
    const more = Buffer.alloc(count, 9);
    const points = Buffer.concat([GENERATOR, GENERATOR, GENERATOR, more]);
    const id = Buffer.concat([Buffer.alloc(32), more]);
    expect(canonicalCiphertext(ciphertext({ id, points }))).toEqual(ciphertext({}));
  });
});
