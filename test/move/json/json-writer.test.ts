/** Parts of JSON as written, compared with the runtime's output for the same values. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { JsonWriter } from '../../../src/move/json/json-writer.ts';
import { addressFromBytes, formatAddress } from '../../../src/move/types/address.ts';
import { propertySeed } from '../../random.ts';

function written(write: (out: JsonWriter) => void): string {
  const out = new JsonWriter();
  write(out);
  return out.finish().toString();
}

describe('a writer of JSON', () => {
  it('whole numbers', () => {
    const number = fc.oneof(
      fc.nat(),
      fc.maxSafeNat(),
      fc.nat({ max: 15 }).chain((power) => fc.constantFrom(10 ** power - 1, 10 ** power)),
    );
    fc.assert(
      fc.property(number, (value) => {
        expect(written((out) => out.number(value))).toBe(String(value));
      }),
      { ...propertySeed(), numRuns: 5_000 },
    );
  });

  it('u64', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const bytes = encodeBcs((writer) => writer.u64(value));
        expect(written((out) => out.quotedU64(bytes, 0))).toBe(`"${value}"`);
        expect(written((out) => out.quotedNumber(value))).toBe(`"${value}"`);
      }),
      { ...propertySeed(), numRuns: 2_000 },
    );
  });

  it('addresses in their short form', () => {
    const bytes = fc.tuple(fc.nat({ max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }));
    fc.assert(
      fc.property(bytes, ([zeros, some]) => {
        const address = Buffer.from(some.fill(0, 0, zeros));
        const text = formatAddress(addressFromBytes(address));
        expect(written((out) => out.quotedAddress(address, 0))).toBe(`"${text}"`);
      }),
      { ...propertySeed(), numRuns: 2_000 },
    );
  });

  it('bytes as hex', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(written((out) => out.hex(all, 0, 256))).toBe(`"0x${all.toString('hex')}"`);
    expect(written((out) => out.hex(all, 9, 9))).toBe('"0x"');
  });

  it('an object of values that come in another order', () => {
    const values = fc.array(fc.string({ maxLength: 60 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(values, fc.nat(), fc.boolean(), (texts, by, leavesOut) => {
        const shift = by % texts.length;
        const rotated = texts.map((_, index) => (index + shift) % texts.length);
        const order = leavesOut ? rotated.slice(1) : rotated;
        const pieces = [...order.map((index) => `piece ${index} `), '}'];
        const shown = order.map((index, place) => pieces[place]! + texts[index]!).join('');
        const made = written((out) => {
          out.units('before');
          const start = out.length;
          const ends = texts.map((text) => {
            out.text(text);
            return out.length;
          });
          const parts = pieces.map((piece) => Buffer.from(piece));
          out.arrange(start, ends, parts, order);
          out.units('after');
        });
        expect(made).toBe(`before${shown}}after`);
      }),
      { ...propertySeed(), numRuns: 1_000 },
    );
  });

  it('a text of any length, whatever is written before it', () => {
    const text = 'é"0123456789';
    for (const count of [1, 4_000, 5_500, 70_000]) {
      const made = written((out) => {
        for (let index = 0; index < count; index += 1) out.text(text);
      });
      expect(made).toBe(text.repeat(count));
    }
  });

  it('two texts at once', () => {
    const [first, second] = [new JsonWriter(), new JsonWriter()];
    for (let index = 0; index < 1_000; index += 1) {
      first.units('first');
      second.units('second');
    }
    const text = second.finish();
    const third = new JsonWriter();
    third.units('third'.repeat(1_000));
    expect(first.finish().toString()).toBe('first'.repeat(1_000));
    expect(text.toString()).toBe('second'.repeat(1_000));
    expect(third.finishText()).toBe('third'.repeat(1_000));
  });

  it('parts, of which the last is taken back', () => {
    const out = new JsonWriter();
    out.units('one');
    expect(out.take().toString()).toBe('one');
    out.units('two');
    const { length } = out;
    out.units('three');
    out.cut(length);
    out.units('four');
    expect(out.finish().toString()).toBe('twofour');
  });
});
