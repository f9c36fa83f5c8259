/** Texts inside values: JSON escapes, and invalid UTF-8. */

import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import type { Layout } from '../../../src/move/values/layout.ts';
import { renderInTurns, renderValue } from '../../../src/move/values/value-json.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('value-utf8');

const TEXT: Layout = { kind: 'string', fields: [], tagBytes: 1 };
const TEXTS: Layout = { kind: 'vector', element: TEXT, tagBytes: 1 };

function expected(text: Buffer): string {
  return isUtf8(text)
    ? JSON.stringify(text.toString())
    : `"Unparsable utf-8 0x${text.toString('hex')}"`;
}

function inTurns(layout: Layout, bytes: Uint8Array): string {
  const pieces: Buffer[] = [];
  const steps = renderInTurns(layout, bytes, '');
  for (let step = steps.next(); ; step = steps.next()) {
    pieces.push(step.value);
    if (step.done) return Buffer.concat(pieces).toString();
  }
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
      const json = `[${texts.map(expected).join(',')}]`;
      expect(renderValue(TEXTS, value)).toBe(json);
      expect(inTurns(TEXTS, value)).toBe(json);
    }),
    { seed, numRuns: 2_000 },
  );
});

it('names of functions and types', () => {
  const value = encodeBcs((writer) => {
    writer.length32(5).u16(1).fixed(Buffer.alloc(32, 1)).string('modül').string('fön"');
    writer.vector([], () => undefined).u64(0n);
  });
  expect(renderValue({ kind: 'function' }, value)).toBe(
    `{"__fun_name__":"0x${'01'.repeat(32).slice(1)}::modül::fön\\"","__mask__":"0"}`,
  );
});

it.each([
  0n,
  9n,
  10n,
  99n,
  100n,
  999_999_999n,
  1_000_000_000n,
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
