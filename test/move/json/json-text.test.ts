import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  JSON_COST_BYTES,
  JSON_MAX_DEPTH,
  JSON_MAX_VALUE_BYTES,
  JsonNumber,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
} from '../../../src/move/json/json-text.ts';
import {
  debugJson,
  debugJsonList,
  describeJsonKind,
  formatJson,
  JSON_MAX_DEBUG_LENGTH,
} from '../../../src/move/json/json-text-print.ts';
import { roundsOf, testSeed } from '../../random.ts';

const MIB = 1024 * 1024;
const seed = testSeed('json-text');

function failure(bytes: Uint8Array | string): JsonSyntaxError {
  try {
    parseJson(Buffer.from(bytes as Uint8Array));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`parsed: ${String(bytes).slice(0, 80)}`);
}

/** The same value as JSON.parse returns, for texts that both read alike. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    const members = [...(value as JsonObject)].map(([name, member]) => [name, plain(member)]);
    return new Map(members as [string, unknown][]);
  }
  return value;
}

function fromPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, member]) => [name, fromPlain(member)]));
  }
  return value;
}

/** Body, text, column; line 1 (docs/spec/encode.md §A1, docs/spec/http.md §5.9). */
const SYNTAX_ERRORS: readonly (readonly [string, string, number])[] = [
  ['invalid json', 'expected value', 1],
  ["'a'", 'expected value', 1],
  ['+1', 'expected value', 1],
  ['.5', 'expected value', 1],
  ['NaN', 'expected value', 1],
  ['\ufeff{}', 'expected value', 1],
  ['', 'EOF while parsing a value', 0],
  ['  ', 'EOF while parsing a value', 2],
  ['{"a":', 'EOF while parsing a value', 5],
  ['[1,', 'EOF while parsing a value', 3],
  ['{"a":1,', 'EOF while parsing a value', 7],
  ['tru', 'EOF while parsing a value', 3],
  ['-', 'EOF while parsing a value', 1],
  ['1.', 'EOF while parsing a value', 2],
  ['1e', 'EOF while parsing a value', 2],
  ['1e+', 'EOF while parsing a value', 3],
  ['{', 'EOF while parsing an object', 1],
  ['{"a"', 'EOF while parsing an object', 4],
  ['{"a":1', 'EOF while parsing an object', 6],
  ['[1', 'EOF while parsing a list', 2],
  ['[', 'EOF while parsing a list', 1],
  ['"abc', 'EOF while parsing a string', 4],
  ['"\\', 'EOF while parsing a string', 2],
  ['"\\u12', 'EOF while parsing a string', 5],
  ['"\\ud800', 'EOF while parsing a string', 7],
  ['"\\ud800\\', 'EOF while parsing a string', 8],
  ['{} x', 'trailing characters', 4],
  ['{}x', 'trailing characters', 3],
  ['{"a":1}}', 'trailing characters', 8],
  ["{'a':1}", 'key must be a string', 2],
  ['{a:1}', 'key must be a string', 2],
  ['{1:2}', 'key must be a string', 2],
  ['{,}', 'key must be a string', 2],
  ['{"a":1,b', 'key must be a string', 8],
  ['{"a" 1}', 'expected `:`', 6],
  ['{"a":1 "b":2}', 'expected `,` or `}`', 8],
  ['[1 2]', 'expected `,` or `]`', 4],
  ['{"a":1,}', 'trailing comma', 8],
  ['[1,]', 'trailing comma', 4],
  ['{"a":tru}', 'expected ident', 9],
  ['nul1', 'expected ident', 4],
  ['falze', 'expected ident', 4],
  ['01', 'invalid number', 2],
  ['-x', 'invalid number', 2],
  ['1.x', 'invalid number', 3],
  ['1ex', 'invalid number', 3],
  ['1e+x', 'invalid number', 4],
  ['"\\x"', 'invalid escape', 3],
  ['"\\u12x4"', 'invalid escape', 7],
  ['"\\udc00"', 'lone leading surrogate in hex escape', 7],
  ['"\\ud800\\ud800"', 'lone leading surrogate in hex escape', 13],
  ['"\\ud800x"', 'unexpected end of hex escape', 8],
  ['"\\ud800\\n"', 'unexpected end of hex escape', 9],
  ['"\t"', 'control character (\\u0000-\\u001F) found while parsing a string', 2],
  ['"\n"', 'control character (\\u0000-\\u001F) found while parsing a string', 0],
  ['['.repeat(128), 'recursion limit exceeded', 128],
  ['{"":'.repeat(128), 'recursion limit exceeded', 127 * 4 + 1],
];

describe('syntax errors of JSON', () => {
  it.each(SYNTAX_ERRORS)('%j: %s, column %i', (body, detail, column) => {
    const line = body === '"\n"' ? 2 : 1;
    const error = failure(body);
    expect(error.message).toBe(`${detail} at line ${line} column ${column}`);
    expect([error.detail, error.line, error.column]).toEqual([detail, line, column]);
  });

  it('counts lines, and columns in bytes', () => {
    expect(failure('{\n"é": 1,\n  "b" 1}').message).toBe('expected `:` at line 3 column 7');
    expect(failure('{"éé€😀"x').message).toBe('expected `:` at line 1 column 15');
    expect(failure('["é"]😀').message).toBe('trailing characters at line 1 column 7');
    expect(failure('[1]\n\n x').message).toBe('trailing characters at line 3 column 2');
  });

  it('refuses bytes that are no UTF-8 at the end of their string, outside of strings at once', () => {
    expect(failure(Buffer.from([0x22, 0xff, 0x22])).message).toBe(
      'invalid unicode code point at line 1 column 3',
    );
    expect(failure(Buffer.from([0x5b, 0xff, 0x5d])).message).toBe(
      'expected value at line 1 column 2',
    );
    const late = Buffer.concat([Buffer.from('{"é":"'), Buffer.from([0xc3]), Buffer.from('\t"}')]);
    expect(failure(late).code).toBe('control_character');
    expect(failure(late).column).toBe(9);
    const escaped = Buffer.concat([Buffer.from('"\\n'), Buffer.from([0xc3]), Buffer.from('\\n"')]);
    expect(failure(escaped).message).toBe('invalid unicode code point at line 1 column 7');
  });

  it('reports no end of string inside four bytes of a hex escape', () => {
    expect(failure('"\\ué€').message).toBe('invalid escape at line 1 column 7');
    expect(failure('"\\ué').message).toBe('EOF while parsing a string at line 1 column 5');
  });
});

describe('values of JSON', () => {
  it('keeps number texts, order and odd names; the last of a repeated name counts', () => {
    const text = '{"b":1.0,"__proto__":{"x":-0},"a":1E5,"b":100000000000000000000}';
    const value = parseJson(Buffer.from(text)) as JsonObject;
    expect([...value.keys()]).toEqual(['b', '__proto__', 'a']);
    expect((value.get('b') as JsonNumber).text).toBe('100000000000000000000');
    expect(formatJson(value)).toBe('{"b":100000000000000000000,"__proto__":{"x":0},"a":1e+5}');
  });

  it.each([
    ['1E5', '1e+5'],
    ['1e999', '1e+999'],
    ['1e-5', '1e-5'],
    ['1.50e+05', '1.50e+05'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1.0', '1.0'],
  ])('prints the number %s as %s', (text, printed) => {
    expect(formatJson(parseJson(Buffer.from(text)))).toBe(printed);
  });

  it('prints values for debugging as the reference does', () => {
    const text = '["0x1",5,true,null,[1],{"a":1.5},[],{},"q\\"\\\\\\n\\r\\t\\u0001\\u0000é"]';
    expect(debugJson(parseJson(Buffer.from(text)))).toBe(
      'Array [String("0x1"), Number(5), Bool(true), Null, Array [Number(1)], ' +
        'Object {"a": Number(1.5)}, Array [], Object {}, ' +
        'String("q\\"\\\\\\n\\r\\t\\u{1}\\0é")]',
    );
  });

  it('names kinds', () => {
    const kinds = (parseJson(Buffer.from('[null,true,1,"a",[],{}]')) as JsonValue[]).map(
      describeJsonKind,
    );
    expect(kinds).toEqual(['null', 'boolean `true`', 'number', 'string "a"', 'sequence', 'map']);
  });

  it(`takes ${JSON_MAX_DEPTH} levels and no more`, () => {
    for (const depth of [JSON_MAX_DEPTH - 1, JSON_MAX_DEPTH]) {
      const text = '['.repeat(depth) + ']'.repeat(depth);
      expect(formatJson(parseJson(Buffer.from(text)))).toBe(text);
    }
    const tooDeep = JSON_MAX_DEPTH + 1;
    expect(failure('['.repeat(tooDeep) + ']'.repeat(tooDeep)).code).toBe('too_deep');
  });

  it('equals JSON.parse on whatever JSON.stringify writes, and prints it back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, pretty) => {
        const body = Buffer.from(JSON.stringify(value, null, pretty ? '\t' : ''));
        const parsed = parseJson(body);
        expect(plain(parsed)).toEqual(fromPlain(JSON.parse(body.toString())));
        expect(plain(parseJson(Buffer.from(formatJson(parsed))))).toEqual(plain(parsed));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('accepts and refuses what JSON.parse accepts and refuses', () => {
    const pieces = ['{', '}', '[', ']', ',', ':', '"a"', '"', '1', '-', '.', 'e', ' ', '\\', 'u'];
    const piece = fc.constantFrom(...pieces, '0', 'true', 'null', '\n', 'é', '\\ud83d', '\\ude00');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(failure(text).line).toBeGreaterThan(0);
          return;
        }
        // JSON.parse accepts lone surrogates.
        if (!JSON.stringify(expected).includes('\\ud')) {
          expect(plain(parseJson(Buffer.from(text)))).toEqual(fromPlain(expected));
        }
      }),
      { seed, numRuns: roundsOf('TEXTS', 4_000, 20_000) },
    );
  });

  it('throws nothing but JsonSyntaxError on random bytes, inside the body', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.constantFrom('', '"', '["'),
        (tail, head) => {
          const body = Buffer.concat([Buffer.from(head), tail]);
          try {
            parseJson(body);
          } catch (error) {
            expect(error).toBeInstanceOf(JsonSyntaxError);
            expect((error as JsonSyntaxError).column).toBeLessThanOrEqual(body.length);
          }
        },
      ),
      { seed, numRuns: roundsOf('TEXTS', 1_500, 5_000) },
    );
  });
});

describe('the memory of values', () => {
  const { place, list, object, number, string, member, escape: escaped } = JSON_COST_BYTES;
  const left = JSON_MAX_VALUE_BYTES - place - list;

  it.each([
    ['[0]', 2 * place + list],
    ['{"ab":0}', 2 * place + object + string + member],
    ['{"ab":0,"c":0}', 3 * place + object + string + 2 * member],
    ['"\\n\\u00e9"', place + string + 2 * escaped],
    ['12', place + number],
    ['[]', place],
  ])('of %s is bounded', (item, costBytes) => {
    const count = Math.floor(left / costBytes) - 1;
    // The remaining budget is filled with the cheapest values.
    const rest = Math.floor((left - count * costBytes) / place);
    const body = (extra: number) =>
      Buffer.from(
        `[${`${item},`.repeat(count)}${Array(rest + extra)
          .fill('0')
          .join(',')}]`,
      );
    expect((parseJson(body(0)) as JsonValue[]).length).toBe(count + rest);
    if (rest > 1) expect((parseJson(body(-1)) as JsonValue[]).length).toBe(count + rest - 1);
    const error = failure(body(1));
    expect(error.code).toBe('too_large');
    expect(error.detail).toBe('values of more than 8388608 bytes in memory');
  });

  it('of a debug print is bounded', () => {
    const print = (length: number) => debugJson('a'.repeat(length - 'String("")'.length));
    for (const length of [JSON_MAX_DEBUG_LENGTH - 1, JSON_MAX_DEBUG_LENGTH]) {
      expect(print(length).length).toBe(length);
    }
    expect(print(JSON_MAX_DEBUG_LENGTH + 1).endsWith('…')).toBe(true);
    const many = Array<JsonValue>(2_000_000).fill(null);
    expect(debugJsonList(many).length).toBeLessThan(JSON_MAX_DEBUG_LENGTH + 10);
    expect(debugJsonList(many).endsWith('…')).toBe(true);
    const names = new Map(Array.from({ length: 400_000 }, (_, index) => [`n${index}`, null]));
    expect(debugJson(names).length).toBeLessThan(JSON_MAX_DEBUG_LENGTH + 20);
  });
});

// A quadratic algorithm would take minutes for these and exceed the test's time limit.
describe('8 MiB of hostile JSON is read in linear time', () => {
  const size = 8 * MIB;
  const bodies: readonly (readonly [string, () => string])[] = [
    ['deep lists', () => '['.repeat(size)],
    ['lists of lists', () => `[${'[],'.repeat(size / 3 - 2)}[]]`],
    ['lists of one', () => `[${'[0],'.repeat(size / 4 - 2)}0]`],
    ['digits', () => `[${'0,'.repeat(size / 2 - 2)}0]`],
    ['one number', () => '9'.repeat(size)],
    ['one string', () => `"${'a'.repeat(size - 2)}"`],
    ['escapes', () => `"${'\\n'.repeat(size / 2 - 1)}"`],
    ['pairs of surrogates', () => `"${'\\ud83d\\ude00'.repeat(size / 12 - 1)}"`],
    ['one name again and again', () => `{${'"a":0,'.repeat(size / 6 - 2)}"a":0}`],
    ['many names', () => `{${Array.from({ length: 600_000 }, (_, i) => `"${i}":0`).join(',')}}`],
    ['small objects', () => `[${'{"":0},'.repeat(size / 7 - 2)}0]`],
    ['line feeds before an error', () => `${'\n'.repeat(size - 1)}x`],
    ['blanks', () => ' '.repeat(size)],
  ];
  it.each(bodies)('%s', (_name, make) => {
    const body = Buffer.from(make());
    try {
      parseJson(body);
    } catch (error) {
      expect(error).toBeInstanceOf(JsonSyntaxError);
    }
  });
});
