/** Parts of the page that need no browser: exact JSON, shell commands, numbers, declarations, forms. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_MAX_DEPTH, JsonNumber, JsonSyntaxError } from '../../src/move/json/json-text.ts';
import { formatJson, parseJson } from '../../web/src/asking/exact-json.ts';
import {
  type ApiRequest,
  balanceRequest,
  curlCommand,
  shellWord,
  withQuery,
} from '../../web/src/asking/requests.ts';
import { balanceTicks } from '../../web/src/assets/balance-ticks.ts';
import {
  argumentText,
  argumentValue,
  callSkeleton,
  ENCODE_EXAMPLES,
  exampleText,
  placeholderValue,
  readForm,
  splitFunctionName,
  splitList,
  substituteTypes,
  writeForm,
} from '../../web/src/encoding/encode-request.ts';
import { csvText, jsonLines } from '../../web/src/events/event-file.ts';
import {
  agoText,
  amountText,
  greater,
  groupDigits,
  lesser,
  listedTimeText,
  parseAmount,
  readU64,
  sizeText,
  timeText,
} from '../../web/src/parts/number-text.ts';
import { pathSegment } from '../../web/src/route.ts';
import { propertySeed } from '../random.ts';

describe('exact JSON', () => {
  it('keeps every digit of numbers', () => {
    const text = '{"balance":18446744073709551615,"e":1e400,"f":-0.10,"list":[9007199254740993]}';
    expect(formatJson(parseJson(text))).toBe(text);
  });

  it('treats no key as special', () => {
    const text = '{"__proto__":{"a":1},"constructor":[],"toString":null}';
    expect(formatJson(parseJson(text))).toBe(text);
  });

  it('agrees with JSON.parse on any value, at any indentation', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.integer({ min: 0, max: 4 }),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          expect(formatJson(parseJson(text), indent)).toBe(text);
        },
      ),
      propertySeed(),
    );
  });

  it('refuses what JSON.parse refuses, and says where', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,01-.eE+tfn \n\\"ru') }), (text) => {
        const accepts = (parse: (text: string) => unknown): boolean => {
          try {
            parse(text);
            return true;
          } catch (error) {
            expect(error instanceof SyntaxError || error instanceof JsonSyntaxError).toBe(true);
            return false;
          }
        };
        expect(accepts(parseJson)).toBe(accepts(JSON.parse));
      }),
      propertySeed(),
    );
    expect(() => parseJson('{\n  "a": 1,\n}')).toThrow('at line 3 column 1');
  });

  it.each([
    [JSON_MAX_DEPTH - 1, true],
    [JSON_MAX_DEPTH, true],
    [JSON_MAX_DEPTH + 1, false],
  ])('reads %i nested levels: %s', (levels, accepted) => {
    const text = '['.repeat(levels) + ']'.repeat(levels);
    if (accepted) expect(formatJson(parseJson(text))).toBe(text);
    else expect(() => parseJson(text)).toThrow(JsonSyntaxError);
  });
});

/** The arguments that a POSIX shell parses from a command line, printed by the shell itself. */
function shellArguments(command: string): string[] {
  const script = `set -f; curl() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('curl commands', () => {
  const nasty = `it's $HOME \`id\` "q" \\ !x *?[a]{b} @file ;&|<>#~\n\ttab é`;

  it('survive a shell word by word', () => {
    const request: ApiRequest = { method: 'POST', path: '/v1/x', body: `@${nasty}` };
    expect(shellArguments(curlCommand(request, 'http://127.0.0.1:1'))).toEqual([
      '--silent',
      '--show-error',
      '--globoff',
      '--header',
      'Content-Type: application/json',
      '--data-raw',
      `@${nasty}`,
      'http://127.0.0.1:1/v1/x',
    ]);
  });

  it('survive a shell for any text', () => {
    const text = fc.string({ unit: fc.constantFrom(...`'"\\$\`!* \n;&|<>(){}[]~#@=%a0é`) });
    fc.assert(
      fc.property(text, (value) => {
        expect(shellArguments(`curl ${shellWord(value)}`)).toEqual([value]);
      }),
      { ...propertySeed(), numRuns: 40 },
    );
  });

  it('name the account and the asset so that the node reads them back', () => {
    const asset = "0x1::a::B<u8, 0x2::c::D<vector<u8>>>?#/'";
    const { path } = balanceRequest('0x1', asset, '7');
    const url = new URL(path, 'http://h');
    const [, , , account, , segment] = url.pathname.split('/');
    expect(account).toBe('0x1');
    expect(decodeURIComponent(segment!)).toBe(asset);
    expect(url.searchParams.get('ledger_version')).toBe('7');
    expect(path).toContain('0x1::a::B%3Cu8,%20');
  });

  it('encode any text as one path segment', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const segment = pathSegment(text);
        expect(segment).not.toMatch(/[/?#\s]/);
        expect(decodeURIComponent(segment)).toBe(text);
      }),
      propertySeed(),
    );
    expect(decodeURIComponent(pathSegment('\ud800'))).toBe('\ufffd');
    expect(withQuery('/p', { start: undefined, limit: 25 })).toBe('/p?limit=25');
  });
});

describe('numbers and times', () => {
  it('groups digits of any length exactly', () => {
    expect(groupDigits('18446744073709551615')).toBe('18,446,744,073,709,551,615');
    expect([0, 999, 1000].map(groupDigits)).toEqual(['0', '999', '1,000']);
  });

  it('reads U64 up to its edge and nothing else', () => {
    expect(readU64('18446744073709551615')).toBe(2n ** 64n - 1n);
    for (const text of ['18446744073709551616', '-1', '1.0', '0x1', '', ' 1', '9'.repeat(31)]) {
      expect(readU64(text)).toBeUndefined();
    }
  });

  it('writes microseconds without rounding', () => {
    expect(timeText(1_700_000_000_123_456n)).toBe('2023-11-14 22:13:20.123456 UTC');
    expect(timeText(8_640_000_000_000_000_000n)).toMatch(/^\+275760-09-13 00:00:00/);
    expect(timeText(8_640_000_000_000_000_001n)).toMatch(/after 1970$/);
    expect(agoText(0, 90_000)).toBe('1 minute ago');
    expect(agoText(7_200_000, 0)).toBe('in 2 hours');
    const [usecs, dayMs] = [1_771_249_440_000_000n, 86_400_000];
    const timeMs = Number(usecs / 1_000n);
    expect(listedTimeText(usecs, timeMs + dayMs - 1_000)).toBe('23 hours ago');
    expect(listedTimeText(usecs, timeMs + dayMs)).toBe('2026-02-16 13:44');
    expect([1, 1200, 3_400_000].map(sizeText)).toEqual(['1 byte', '1.2 kB', '3.4 MB']);
  });
});

describe('amounts and axes', () => {
  it.each([
    [999_995_525_500n, 8, '9,999.955255'],
    [5n, 6, '0.000005'],
    [0n, 8, '0'],
    [2n ** 64n - 1n, 0, '18,446,744,073,709,551,615'],
    [2n ** 64n - 1n, 19, '1.8446744073709551615'],
  ])('%s with %i decimals is %s', (value, decimals, text) => {
    expect(amountText(value, decimals)).toBe(text);
    expect(parseAmount(text, decimals)).toBe(value);
  });

  it.each(['', '-5', '1.', '.5', '1.123', '1e3', '0x1', 'all'])('%j is no amount', (text) => {
    expect(() => parseAmount(text, 2)).toThrow('is no amount');
  });

  it('the axis holds every balance, in at most seven ticks, and begins at zero unless all are near each other', () => {
    const balances = fc.bigInt(0n, 2n ** 64n - 1n);
    fc.assert(
      fc.property(balances, balances, (a, b) => {
        const [lowest, highest] = [lesser(a, b), greater(a, b)];
        const ticks = balanceTicks(lowest, highest);
        expect(ticks[0]! <= lowest && ticks.at(-1)! >= highest).toBe(true);
        expect(ticks.length).toBeLessThanOrEqual(7);
        if (lowest * 100n < highest * 80n) expect(ticks[0]).toBe(0n);
      }),
      propertySeed(),
    );
    expect(balanceTicks(0n, 0n)).toEqual([0n, 1n]);
    expect(balanceTicks(900n, 1000n)[0]).toBe(900n);
  });
});

describe('events as a file', () => {
  const event = {
    ...{ sequenceNumber: 7n, version: 12n, type: '0x1::a::B<u8, u8>' },
    data: parseJson('{"text":"say \\"so\\"\\n","n":18446744073709551615}'),
  };

  it('is CSV as RFC 4180 says, and JSON lines without loss', () => {
    expect(csvText([event])).toBe(
      'sequence_number,version,type,data\r\n7,12,"0x1::a::B<u8, u8>",' +
        '"{""text"":""say \\""so\\""\\n"",""n"":18446744073709551615}"\r\n',
    );
    expect(jsonLines([event, event]).split('\n')).toHaveLength(3);
    expect(jsonLines([event])).toContain('"n":18446744073709551615}}\n');
  });
});

describe('the encode form', () => {
  it('shows every entry function example and changes only what is typed', () => {
    for (const example of ENCODE_EXAMPLES) {
      const request = parseJson(exampleText(example, 0));
      const form = readForm(request);
      const isCall = JSON.stringify(example.changes).startsWith('{"payload":{"type":"entry_');
      expect(form !== undefined).toBe(isCall);
      if (form !== undefined)
        expect(formatJson(writeForm(request, form))).toBe(formatJson(request));
    }
  });

  it('keeps fields it does not know and drops emptied optional ones', () => {
    const request = parseJson(
      '{"note":[1e2],"replay_protection_nonce":"5","secondary_signers":["0x2"],' +
        '"payload":{"type":"entry_function_payload","extra":1,"arguments":[18446744073709551615]}}',
    );
    const form = readForm(request)!;
    const texts = new Map([...form.texts, ['replay_protection_nonce', ''] as const]);
    const changed = formatJson(writeForm(request, { ...form, texts, secondarySigners: [] }));
    expect(changed).toContain('"note":[1e2]');
    expect(changed).toContain('"extra":1');
    expect(changed).toContain('[18446744073709551615]');
    expect(changed).not.toMatch(/nonce|secondary/);
  });

  it.each([
    ['u64', '"7"', '7'],
    ['u8', '7', '7'],
    ['bool', 'true', 'true'],
    ['address', '"0x1"', '0x1'],
    ['0x1::string::String', '"7"', '7'],
    ['vector<u8>', '"0x07"', '0x07'],
    ['vector<u64>', '["1","2"]', '["1","2"]'],
    ['0x1::option::Option<u64>', '{"vec":["1"]}', '{"vec":["1"]}'],
    [undefined, '"7"', '"7"'],
  ])('types an argument of %s: %s as %s, and back', (type, json, typed) => {
    expect(argumentText(parseJson(json), type)).toBe(typed);
    expect(formatJson(argumentValue(typed, type))).toBe(json);
  });

  it('leaves what a type does not take to the node', () => {
    expect(argumentValue('lots', 'u8')).toBe('lots');
    expect(argumentValue('[1', 'vector<u64>')).toBe('[1');
    expect(argumentValue('300', 'u8')).toEqual(new JsonNumber('300'));
  });

  it('makes a skeleton of a generic call', () => {
    const declared = {
      ...{ name: 'f', visibility: 'public' as const, is_entry: true, is_view: false, return: [] },
      generic_type_params: [{ constraints: ['store'] }],
      params: ['&signer', 'T0', 'vector<T0>', 'signer', 'u16'],
    };
    const { typeArguments, arguments: values } = callSkeleton(declared);
    expect(typeArguments).toHaveLength(1);
    expect(values).toHaveLength(3);
    expect(placeholderValue('0x1::object::Object<T0>')).toBe('0x1');
    expect(substituteTypes('0x1::a::T0x<T0, T1>', ['u8'])).toBe('0x1::a::T0x<u8, T1>');
    expect(splitList('0x1::a::B<u8, u16>, u64,')).toEqual(['0x1::a::B<u8, u16>', 'u64']);
    expect(splitFunctionName('0x1::coin')).toBeUndefined();
  });
});
