/** Values as the bytes that are sent: what `renderValueUtf8` gives is the UTF-8 of what `renderValue` gives. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import type { Layout } from '../../../src/move/values/layout.ts';
import { renderValue, renderValueUtf8, utf8Units } from '../../../src/move/values/value-json.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('value-utf8');

const TEXT: Layout = { kind: 'string', fields: [], tagBytes: 1 };
const TEXTS: Layout = { kind: 'vector', element: TEXT, tagBytes: 1 };

function outcome(render: () => string): string {
  try {
    return render();
  } catch (error) {
    if (error instanceof BcsError) return `${error.code} ${error.detail}`;
    throw error;
  }
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

it('texts, with what JSON escapes and what is no UTF-8', () => {
  const bytes = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
    fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 20 }).map((some) => Buffer.from(some)),
    fc
      .constantFrom(...['"', '\\', '\u007f', '\u2028', 'é', '東', '\u{1f600}', '\0', '\u001f', ' '])
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 5 }), (texts) => {
      const value = encodeBcs((writer) => writer.vector(texts, (to, text) => to.bytes(text)));
      expect(bytesOf(renderValueUtf8(TEXTS, value))).toBe(renderValue(TEXTS, value));
    }),
    { seed, numRuns: 2_000 },
  );
});

it('what is refused is refused in the same words', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (value) => {
      const plain = outcome(() => renderValue(TEXTS, value));
      expect(bytesOf(outcome(() => renderValueUtf8(TEXTS, value)))).toBe(plain);
    }),
    { seed, numRuns: 5_000 },
  );
});

it('names of functions and types', () => {
  const value = encodeBcs((writer) => {
    writer.length32(5).u16(1).fixed(Buffer.alloc(32, 1)).string('modül').string('fön"');
    writer.vector([], () => undefined).u64(0n);
  });
  const layout: Layout = { kind: 'function' };
  const text = outcome(() => renderValue(layout, value));
  expect(text).toContain('fön');
  expect(bytesOf(outcome(() => renderValueUtf8(layout, value)))).toBe(text);
});

it.each([
  0n,
  2n ** 32n - 1n,
  2n ** 32n,
  4_999_999_999n,
  5_000_000_000n,
  5_000_000_001n,
  999_999_999_999n,
  1_000_000_000_000n,
  1_767_227_822_189_646n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 64n - 1n,
])('the u64 %s', (value) => {
  const bytes = encodeBcs((writer) => writer.u64(value));
  expect(renderValue({ kind: 'u64' }, bytes)).toBe(`"${value}"`);
});

it('units are bytes', () => {
  expect(utf8Units('aé東')).toBe('aÃ©æ\u009d±');
});
