/** JSON values to plain JavaScript and back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jsonOfPlain,
  type PlainJson,
  PlainJsonError,
  plainJson,
} from '../../../src/move/json/json-plain.ts';
import { JSON_MAX_DEPTH, parseJson } from '../../../src/move/json/json-text.ts';
import { formatJson } from '../../../src/move/json/json-text-print.ts';
import { testSeed } from '../../random.ts';

const seed = testSeed('json-plain');

function refusal(value: unknown): Pick<PlainJsonError, 'code' | 'path'> {
  try {
    jsonOfPlain(value);
  } catch (error) {
    if (error instanceof PlainJsonError) return { code: error.code, path: error.path };
    throw error;
  }
  throw new Error('not refused');
}

describe('plain values', () => {
  it(`give the JSON that JSON.stringify gives, and come back, SEED=${seed}`, () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const json = jsonOfPlain(JSON.parse(text));
        expect(json).toEqual(parseJson(Buffer.from(text)));
        expect(plainJson(json)).toEqual(JSON.parse(text));
      }),
      { seed },
    );
  });

  it('have members of any name', () => {
    const value = JSON.parse('{"__proto__":{"constructor":1},"toString":2}') as PlainJson;
    const json = jsonOfPlain(value);
    expect(formatJson(json)).toBe('{"__proto__":{"constructor":1},"toString":2}');
    const again = plainJson(json) as Record<string, unknown>;
    expect(Object.keys(again)).toEqual(['__proto__', 'toString']);
    expect(Object.getPrototypeOf(again)).toBe(Object.prototype);
  });

  it('leave out what is undefined, and write bigints as decimal text', () => {
    expect(formatJson(jsonOfPlain({ a: undefined, b: 2n ** 64n, c: null }))).toBe(
      '{"b":"18446744073709551616","c":null}',
    );
  });

  it.each([
    [undefined, 'not_json', []],
    [{ a: [1, Number.NaN] }, 'not_json', ['a', 1]],
    [{ a: () => 1 }, 'not_json', ['a']],
    [[Symbol('x')], 'not_json', [0]],
    [{ b: new Date(0) }, 'not_json', ['b']],
    [{ b: Buffer.of(1) }, 'not_json', ['b']],
    [{ b: new Map() }, 'not_json', ['b']],
    [['\ud800'], 'not_json', [0]],
    [[undefined], 'not_json', [0]],
  ])('refuse %j', (value, code, path) => {
    expect(refusal(value)).toEqual({ code, path });
  });

  it('refuse circles', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const path = Array.from({ length: JSON_MAX_DEPTH }, () => 'self');
    expect(refusal(circle)).toEqual({ code: 'too_deep', path });
  });

  it.each([-1, 0, 1])('JSON_MAX_DEPTH %i', (more) => {
    const nest = (levels: number): unknown => (levels === 0 ? 1 : [nest(levels - 1)]);
    const value = nest(JSON_MAX_DEPTH + more);
    if (more > 0) expect(refusal(value).code).toBe('too_deep');
    else expect(formatJson(jsonOfPlain(value))).toBe(JSON.stringify(value));
  });
});
