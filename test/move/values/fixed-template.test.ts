/** Templates of values of fixed length: what they may contain, and what counts for their size. */
import { expect, it } from 'vitest';
import {
  type Layout,
  layoutBytes,
  MAX_FIXED_TEXT_BYTES,
  MAX_FIXED_VALUES,
  type ObjectTemplate,
  objectTemplate,
  type StructLayout,
} from '../../../src/move/values/layout.ts';
import { renderValue } from '../../../src/move/values/value-json.ts';

const LIMITS = [-1, 0, 1] as const;

function struct(fields: readonly (readonly [string, Layout])[]): StructLayout {
  const named = fields.map(([name, layout]) => ({ name, layout }));
  return {
    ...{ kind: 'struct', fields: named, tagBytes: 1 },
    template: objectTemplate(named, undefined, 1),
  };
}

const U8: Layout = { kind: 'u8' };
const INNER = struct([['value', U8]]);
/** `{"…":{"value":255}}` without the name. */
const AROUND_NAME_BYTES = '{"":{"value":255}}'.length;

it.each(LIMITS)('at most 64 values and %i', (beyond) => {
  expect(MAX_FIXED_VALUES).toBe(64);
  const count = MAX_FIXED_VALUES + beyond;
  const names = Array.from({ length: count }, (_, index) => String(index).padStart(2, '0'));
  const layout = struct(names.map((name, index) => [name, index === 0 ? INNER : U8]));
  expect(layout.template!.fixed !== undefined).toBe(beyond <= 0);
  const members = names.map((name, index) => `"${name}":${index === 0 ? '{"value":7}' : 7}`);
  expect(renderValue(layout, Buffer.alloc(count, 7))).toBe(`{${members.join(',')}}`);
});

it.each(LIMITS)('texts of at most 8 KiB and %i', (beyond) => {
  expect(MAX_FIXED_TEXT_BYTES).toBe(8_192);
  const name = 'n'.repeat(MAX_FIXED_TEXT_BYTES + beyond - AROUND_NAME_BYTES);
  const layout = struct([[name, INNER]]);
  expect(layout.template!.fixed !== undefined).toBe(beyond <= 0);
  expect(renderValue(layout, Buffer.of(255))).toBe(`{"${name}":{"value":255}}`);
});

/** The bytes of all distinct pieces of some templates. */
function pieceBytes(templates: readonly ObjectTemplate[]): number {
  const all = templates.flatMap(({ pieces, fixed }) => [...pieces, ...(fixed?.pieces ?? [])]);
  return [...new Set(all)].reduce((sum, { length }) => sum + length, 0);
}

it('count with all that they repeat, and what they share counts once', () => {
  const names = Array.from({ length: 60 }, (_, index) => `${'f'.repeat(30)}${index}`);
  const levels = [struct(names.map((name) => [name, U8]))];
  for (let depth = 0; depth < 50; depth += 1)
    levels.push(struct([['g'.repeat(40), levels.at(-1)!]]));
  const templates = levels.map(({ template }) => template!);
  expect(templates.every(({ fixed }) => fixed !== undefined)).toBe(true);
  const outermost = levels.at(-1)!;
  const bytes = layoutBytes([outermost]);
  expect(bytes).toBeGreaterThan(pieceBytes(templates));
  expect(bytes).toBeLessThan(3 * pieceBytes(templates));
  expect(layoutBytes([outermost, ...levels])).toBe(bytes);
  const separate = levels.slice(0, -1).reduce((sum, level) => sum + layoutBytes([level]), bytes);
  expect(separate).toBeGreaterThan(10 * bytes);
});
