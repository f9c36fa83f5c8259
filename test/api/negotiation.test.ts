import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseCoding,
  chooseFormat,
  parseMediaType,
  splitList,
} from '../../src/api/negotiation.ts';
import { propertySeed } from '../random.ts';

const JSON_ACCEPTS: readonly (string | undefined)[] = [
  undefined,
  '',
  '*/*',
  'application/*',
  'text/html',
  'garbage',
  ';;;,,,"',
  'application/json',
  'Application/JSON',
  'application/json, application/x-bcs',
  'application/json; charset=utf-8',
  'application/json, application/x-bcs;q=0.1',
  // Decision D3: qualities and wildcards count.
  'application/x-bcs;q=0',
  'application/x-bcs;q=0.5, */*',
  'application/x-bcs;q=0.5, application/*;q=0.6',
  'application/x-bcs;q=0.5, application/json;q=0.5001, application/json;q=0.7',
  '*/*;q=0',
  'application/json;q=0',
  'text/json, text/x-bcs',
  'application/x-bcs2',
  '*/json',
  'application/x-bcs q=1',
];

const BCS_ACCEPTS: readonly string[] = [
  'application/x-bcs',
  'APPLICATION/X-BCS',
  'application/x-bcs, application/json',
  'application/json;q=0.5, application/x-bcs',
  'application/x-bcs;',
  'text/html, application/x-bcs, */*',
  // Decision D3: a parameter does not make the type unknown.
  'application/x-bcs;q=0.9',
  'application/x-bcs; q=0.9',
  'application/x-bcs;version=1',
  'application/x-bcs;note="a,b;c\\"d"',
  'application/x-bcs;q=nonsense',
  'application/x-bcs;q=2, application/json',
  'application/json;q=0.8, application/x-bcs;q=0.9',
  'application/x-bcs, */*;q=0.1',
  'application/json;q=0, */*',
  'application/*, application/x-bcs',
  ' application/x-bcs , application/json ',
];

describe('the format of an answer, docs/spec/http.md §2.1 under docs/spec/decisions.md D3', () => {
  it.each(JSON_ACCEPTS)('is JSON for Accept: %s', (accept) => {
    expect(chooseFormat(accept)).toBe('json');
  });

  it.each(BCS_ACCEPTS)('is BCS for Accept: %s', (accept) => {
    expect(chooseFormat(accept)).toBe('bcs');
  });

  it('is the one with the higher quality, whatever stands around', () => {
    const quality = fc.integer({ min: 1, max: 1000 });
    const noise = fc.constantFrom('', 'text/html,', '*/*;q=0.0001,', 'a/b;c="d,e",');
    fc.assert(
      fc.property(quality, quality, noise, (json, bcs, before) => {
        const accept = `${before}application/json;q=${json / 1000},application/x-bcs;q=${bcs / 1000}`;
        expect(chooseFormat(accept)).toBe(bcs > json ? 'bcs' : 'json');
      }),
      propertySeed(),
    );
  });

  it('is found without fail for any header that fits a request, and for longer ones', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (accept) => {
        expect(['json', 'bcs']).toContain(chooseFormat(accept));
      }),
      propertySeed(),
    );
    for (const unit of ['"', ',', ';', 'a/b;', ' ', '\\"', 'a/b;c="\\', 'q=', '; ']) {
      expect(chooseFormat(unit.repeat(800_000 / unit.length))).toBe('json');
    }
  });
});

describe('media types', () => {
  it.each([
    ['application/json', 'application', 'json', {}],
    ['Text/HTML; Charset="utf-8"', 'text', 'html', { charset: 'utf-8' }],
    ['a/b+c;x=1 ; y="q\\"r"', 'a', 'b+c', { x: '1', y: 'q"r' }],
    ['a/b;;', 'a', 'b', {}],
    [' a/b ', 'a', 'b', {}],
  ])('reads %s', (text, type, subtype, parameters) => {
    const media = parseMediaType(text)!;
    expect([media.type, media.subtype]).toEqual([type, subtype]);
    expect(Object.fromEntries(media.parameters)).toEqual(parameters);
  });

  it.each(['', 'a', 'a/', '/b', 'a/b c', 'a/b; charset', 'a/b;=x', 'a/b;x="', 'ä/b'])(
    'refuses %s',
    (text) => {
      expect(parseMediaType(text)).toBeUndefined();
    },
  );

  it('splits lists at commas outside quotes', () => {
    expect(splitList('a, b;c="d,\\"e",f')).toEqual(['a', ' b;c="d,\\"e"', 'f']);
  });
});

describe('the content coding of an answer, docs/spec/http.md §10.2', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['zstd', undefined],
    ['gzip', 'gzip'],
    ['deflate', 'deflate'],
    ['br', 'br'],
    ['*', 'br'],
    ['gzip, deflate, br', 'br'],
    ['deflate, gzip', 'gzip'],
    ['gzip;q=1.0,br;q=0.5', 'gzip'],
    ['*;q=0.5,gzip;q=0.4', 'br'],
    ['*,gzip', 'gzip'],
    // The reference only understands quality in one spelling, and drops items with any other.
    ['gzip; q=0.5', undefined],
    ['gzip ;q=0.5', undefined],
    ['gzip; q=1, deflate;q=0.1', 'deflate'],
    // Quality 0 does not exclude.
    ['gzip;q=0', 'gzip'],
    ['gzip;q=0, deflate;q=0.1', 'deflate'],
    ['GZIP', undefined],
  ])('for Accept-Encoding %s is %s', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding);
  });
});
