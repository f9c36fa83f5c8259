/** When reading ends early, the reported position is that of the value, not of a part of it. */
import { expect, test } from 'vitest';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';

test.each([
  ['u16', 2],
  ['u32', 4],
  ['u64', 8],
  ['u128', 16],
] as const)('%s that is cut anywhere', (kind, byteLength) => {
  for (let length = 0; length < byteLength; length += 1) {
    const reader = new BcsReader(new Uint8Array(1 + length));
    reader.u8();
    expect(() => reader[kind]()).toThrow(
      expect.objectContaining({ code: 'unexpected_end', offset: 1 }),
    );
  }
});

test('integers of every width', () => {
  const bytes = Uint8Array.from({ length: 63 }, (_, index) => 255 - index);
  const reader = new BcsReader(bytes);
  const little = (start: number, length: number) =>
    BigInt(
      `0x${Buffer.from(bytes.subarray(start, start + length))
        .reverse()
        .toString('hex')}`,
    );
  expect(reader.u8()).toBe(255);
  expect(BigInt(reader.u16())).toBe(little(1, 2));
  expect(BigInt(reader.u32())).toBe(little(3, 4));
  expect(reader.u64()).toBe(little(7, 8));
  expect(reader.u128()).toBe(little(15, 16));
  expect(reader.u256()).toBe(little(31, 32));
  reader.finish();
});
