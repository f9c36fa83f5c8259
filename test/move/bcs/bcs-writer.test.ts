/** The writer's fast paths for texts and small integers, compared with its plain methods. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { parseAddress } from '../../../src/move/types/address.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('bcs-writer');

describe('exactU64', () => {
  it(`writes what u64 writes, SEED=${seed}`, () => {
    const edges = [0, 1, 255, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
    const value = fc.oneof(fc.maxSafeNat(), fc.constantFrom(...edges));
    fc.assert(
      fc.property(value, (number) => {
        const quick = encodeBcs((writer) => writer.exactU64(number));
        expect(quick).toEqual(encodeBcs((writer) => writer.u64(BigInt(number))));
      }),
      { seed },
    );
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN])('refuses %d', (value) => {
    expect(() => new BcsWriter().exactU64(value)).toThrow(RangeError);
  });
});

describe('addressText', () => {
  const digits = '0123456789abcdefABCDEF'.repeat(3).slice(0, 64);

  it('writes what parsing and writing gives', () => {
    const writer = new BcsWriter(1);
    expect(writer.u8(7).addressText(`0x${digits}`)).toBe(true);
    const plain = encodeBcs((inner) => inner.u8(7).address(parseAddress(digits)));
    expect(writer.toBytes()).toEqual(plain);
  });

  it.each([
    '',
    digits,
    `0X${digits}`,
    `0x${digits.slice(1)}`,
    `0x${digits}0`,
    `0x${digits.slice(1)}g`,
    `0x${digits.slice(1)}\u0130`,
    `0xg${digits.slice(1)}`,
    `0x ${digits.slice(1)}`,
  ])('gives false for %j and writes nothing', (text) => {
    const writer = new BcsWriter();
    expect(writer.u8(7).addressText(text)).toBe(false);
    expect(writer.u8(8).toBytes()).toEqual(Buffer.of(7, 8));
  });
});
