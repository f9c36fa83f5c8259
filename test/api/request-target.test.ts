import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodePathParameter,
  isWellEncoded,
  Query,
  splitTarget,
} from '../../src/api/request-target.ts';
import { propertySeed } from '../random.ts';

describe('request targets, docs/spec/http.md §1.7', () => {
  it.each([
    ['/v1/accounts/0x1', '/v1/accounts/0x1', ''],
    ['/v1/a%2Fb?start=%31', '/v1/a%2Fb', 'start=%31'],
    ['/v1/a#b?c', '/v1/a', ''],
    ['/v1/a?b#c', '/v1/a', 'b'],
    ['/v1/a?b?c', '/v1/a', 'b?c'],
    ['http://host:1/v1/a?b', '/v1/a', 'b'],
    ['http://host', '/', ''],
    ['http://host?q', '/', 'q'],
    ['*', '/*', ''],
    ['', '/', ''],
    ['//v1//x', '//v1//x', ''],
  ])('%s has the path %s and the query %s', (target, path, query) => {
    expect(splitTarget(target)).toEqual({ path, query });
  });

  it('decode parameters once', () => {
    expect(decodePathParameter('%2530x1')).toBe('%30x1');
    expect(decodePathParameter('%30x1')).toBe('0x1');
    expect(decodePathParameter('a%2Fb')).toBe('a/b');
    expect(decodePathParameter('%C3%A9+%')).toBe('é+%');
    expect(decodePathParameter('%zz%4')).toBe('%zz%4');
  });

  it('decode what encodeURIComponent encodes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodePathParameter(encodeURIComponent(text))).toBe(text);
      }),
      propertySeed(),
    );
  });

  it.each(['/v1/%FF', '/v1/accounts/%C3/x', '/v1/%ED%A0%80', '/v1/%C0%80'])(
    'bytes that are not UTF-8: %s',
    (path) => {
      expect(isWellEncoded(path)).toBe(false);
    },
  );

  it.each(['/v1/%C3%A9', '/elsewhere/%FF', '/v1/%zz', '/v1'])('well encoded: %s', (path) => {
    expect(isWellEncoded(path)).toBe(true);
  });
});

describe('queries, docs/spec/http.md §1.7', () => {
  it.each([
    ['', 'start', undefined],
    ['start=5', 'start', '5'],
    ['start=5&start=6', 'start', '5'],
    ['start=', 'start', ''],
    ['start', 'start', ''],
    ['&&start=1&', 'start', '1'],
    ['Start=5', 'start', undefined],
    ['start=+5', 'start', ' 5'],
    ['start=%2B5', 'start', '+5'],
    ['st%61rt=7', 'start', '7'],
    ['start=a=b', 'start', 'a=b'],
    ['start=%FF', 'start', '�'],
    ['start=%', 'start', '%'],
    ['__proto__=1', 'start', undefined],
    ['__proto__=1', '__proto__', '1'],
    ['toString=1', 'valueOf', undefined],
  ])('of %s have for %s the value %s', (text, name, value) => {
    expect(new Query(text).first(name)).toBe(value);
  });
});
