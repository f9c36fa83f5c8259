/** Values rendered in turns: the same text as in one go, with memory of about its length. */
import { expect, it, vi } from 'vitest';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { byteTools } from '../../../src/move/bcs/bytes.ts';
import { type Layout, objectTemplate } from '../../../src/move/values/layout.ts';
import {
  JSON_PIECE_BYTES,
  renderInTurns,
  renderValue,
} from '../../../src/move/values/value-json.ts';
import { Random, testSeed } from '../../random.ts';

const BYTES: Layout = { kind: 'bytes' };

function struct(members: Readonly<Record<string, Layout>>): Layout {
  const fields = Object.entries(members).map(([name, layout]) => ({ name, layout }));
  return { kind: 'struct', fields, template: objectTemplate(fields, undefined, 1), tagBytes: 1 };
}

function vector(element: Layout): Layout {
  return { kind: 'vector', element, tagBytes: 1 };
}

function textInTurns(layout: Layout, bytes: Buffer): string {
  const pieces: Buffer[] = [];
  const steps = renderInTurns(layout, bytes, '[');
  for (let step = steps.next(); ; step = steps.next()) {
    pieces.push(step.value);
    if (step.done) break;
  }
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(3 * JSON_PIECE_BYTES);
  return Buffer.concat(pieces).toString();
}

/** A random type of structs with names in any order, some of them equal, and a value of it. */
class Values {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  layout(depth: number): Layout {
    const kind = depth === 0 ? 2 : this.#random.below(4);
    if (kind === 0) return vector(this.layout(depth - 1));
    if (kind === 3) return { kind: 'u64' };
    if (kind === 2) return BYTES;
    const fields = Array.from({ length: 1 + this.#random.below(4) }, () => ({
      name: this.#random.pick(['d', 'c', 'b', 'a', 'A']),
      layout: this.layout(depth - 1),
    }));
    return { kind: 'struct', fields, template: objectTemplate(fields, undefined, 1), tagBytes: 1 };
  }

  bytes(layout: Layout): Buffer {
    if (layout.kind === 'struct') {
      return Buffer.concat(layout.fields.map(({ layout: field }) => this.bytes(field)));
    }
    if (layout.kind === 'u64') return this.#random.bytes(8);
    if (layout.kind === 'vector') {
      const items = Array.from({ length: this.#random.below(4) }, () => this.bytes(layout.element));
      return encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item)));
    }
    const isLong = this.#random.below(3) === 0;
    const byteLength = this.#random.below(isLong ? 2 * JSON_PIECE_BYTES : 20);
    return encodeBcs((writer) => writer.bytes(Buffer.alloc(byteLength, this.#random.below(256))));
  }
}

it('long parts anywhere, in members of any order', () => {
  const random = new Random(testSeed('long parts'));
  const values = new Values(random);
  let long = 0;
  for (let round = 0; round < 150; round += 1) {
    const layout = values.layout(5);
    const bytes = values.bytes(layout);
    const text = renderValue(layout, bytes);
    if (text.length > 2 * JSON_PIECE_BYTES) long += 1;
    expect(textInTurns(layout, bytes) === `[${text}`).toBe(true);
  }
  expect(long).toBeGreaterThan(20);
});

it.each([
  ['fixed', struct({ amount: struct({ value: { kind: 'u64' } }), b: { kind: 'u64' } }), 16],
  ['in the order of their bytes', struct({ a: struct({ a: BYTES, b: BYTES }), b: BYTES }), 3],
  ['in another order', struct({ b: struct({ b: BYTES, a: BYTES }), a: BYTES }), 3],
])('structs inside structs, whose members are %s, share memory', (_, element, byteLength) => {
  const count = 20_000;
  const bytes = encodeBcs((writer) => {
    writer.length32(count).fixed(Buffer.alloc(count * byteLength));
  });
  const allocated = vi.spyOn(byteTools, 'allocate');
  const text = textInTurns(vector(element), bytes);
  const allocatedBytes = allocated.mock.calls.reduce((sum, [length]) => sum + length, 0);
  allocated.mockRestore();
  expect(text === `[${renderValue(vector(element), bytes)}`).toBe(true);
  expect(text.length).toBeGreaterThan(JSON_PIECE_BYTES);
  expect(allocatedBytes).toBeLessThan(6 * text.length);
});
