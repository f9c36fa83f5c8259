/** SHA3-256 of short inputs compared with the standard's test values and with the runtime. */
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { domainHash, domainSeed, sha3 } from '../../../src/move/crypto/hash.ts';
import {
  keccakSha3 as keccakOfParts,
  MAX_KECCAK_INPUT_BYTES,
} from '../../../src/move/crypto/keccak.ts';

/** Bytes that differ at each position. */
function someBytes(length: number): Buffer {
  return Buffer.from(
    Array.from({ length }, (_, index) => (index * 167 + (index >> 8) + 13) & 0xff),
  );
}

function keccakSha3(bytes: Uint8Array): Buffer {
  return keccakOfParts([bytes], bytes.length);
}

function runtimeSha3(bytes: Uint8Array): string {
  return hash('sha3-256', bytes, 'hex');
}

describe('keccakSha3', () => {
  // NIST, examples with intermediate values: SHA3-256 of no bits and of 1600 bits.
  it.each([
    [Buffer.alloc(0), 'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a'],
    [Buffer.from('abc'), '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'],
    [Buffer.alloc(200, 0xa3), '79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787'],
  ])('gives the published digest of %#', (input, expected) => {
    expect(keccakSha3(input).toString('hex')).toBe(expected);
  });

  it('gives what the runtime gives, for every length it takes', () => {
    for (let length = 0; length <= MAX_KECCAK_INPUT_BYTES; length += 1) {
      const bytes = someBytes(length);
      expect(keccakSha3(bytes).toString('hex'), `${length} bytes`).toBe(runtimeSha3(bytes));
    }
  });

  it('leaves nothing of a long input behind for a shorter one', () => {
    keccakSha3(Buffer.alloc(MAX_KECCAK_INPUT_BYTES, 0xff));
    expect(keccakSha3(someBytes(5)).toString('hex')).toBe(runtimeSha3(someBytes(5)));
  });

  it('keeps digests apart', () => {
    const first = keccakSha3(someBytes(1));
    const before = Buffer.from(first);
    keccakSha3(someBytes(2));
    expect(first).toEqual(before);
  });

  it('reads a view from where it begins', () => {
    const whole = someBytes(300);
    const view = whole.subarray(7, 211);
    expect(keccakSha3(view).toString('hex')).toBe(runtimeSha3(Buffer.from(view)));
  });

  it('takes parts as one', () => {
    const whole = someBytes(400);
    const parts = [whole.subarray(0, 0), whole.subarray(0, 137), whole.subarray(137)];
    expect(keccakOfParts(parts, 400).toString('hex')).toBe(runtimeSha3(whole));
  });

  it('refuses more than it has room for', () => {
    expect(() => keccakSha3(Buffer.alloc(MAX_KECCAK_INPUT_BYTES + 1))).toThrow(RangeError);
  });

  it.each([-1, 1])('refuses a length that its parts have not: %d', (difference) => {
    const parts = [someBytes(10), someBytes(5)];
    expect(() => keccakOfParts(parts, 15 + difference)).toThrow(RangeError);
    expect(keccakOfParts(parts, 15).toString('hex')).toBe(runtimeSha3(Buffer.concat(parts)));
  });
});

describe('sha3', () => {
  it.each([-1, 0, 1])('is the same on both sides of the limit, at %d', (difference) => {
    const bytes = someBytes(MAX_KECCAK_INPUT_BYTES + difference);
    expect(sha3(bytes).toString('hex')).toBe(runtimeSha3(bytes));
  });

  it('hashes the parts of a domain hash as one', () => {
    const parts = [someBytes(40), someBytes(2000)];
    const expected = runtimeSha3(Buffer.concat([domainSeed('WriteSet'), ...parts]));
    expect(domainHash('WriteSet', ...parts).toString('hex')).toBe(expected);
  });
});
