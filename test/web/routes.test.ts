/** Paths of the page, which are those of the public explorer, and the possible meanings of a search text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAGE_PATHS, pageRoutes, type ViewName } from '../../src/api/http/page-paths.ts';
import { readTime } from '../../web/src/parts/number-text.ts';
import { arriveAt, parseRoute, readSearch, routePath } from '../../web/src/route.ts';
import { propertySeed } from '../random.ts';

const HASH = 'ab'.repeat(32);

function read(target: string) {
  const route = parseRoute(target);
  return route && [route.view, Object.fromEntries(route.parameters)];
}

describe('paths', () => {
  it('come back, whatever the parameters are', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    const views = Object.keys(PAGE_PATHS) as ViewName[];
    fc.assert(
      fc.property(fc.constantFrom(...views), text, text, text, (view, first, second, third) => {
        const names = [...PAGE_PATHS[view][0].matchAll(/\{(\w+)\??\}/g)].map((match) => match[1]!);
        const values = [first, second, third];
        const given = Object.fromEntries(names.map((name, at) => [name, values[at % 3]!]));
        const path = routePath(view, { ...given, version: '', more: third });
        const route = parseRoute(path)!;
        expect(route.view, path).toBe(view);
        expect(Object.fromEntries(route.parameters), path).toEqual({ ...given, more: third });
      }),
      propertySeed(),
    );
  });

  it.each([
    ['/', ['overview', {}]],
    ['/txn/5', ['transaction', { id: '5' }]],
    [`/txn/0x${HASH}?network=mainnet`, ['transaction', { id: `0x${HASH}` }]],
    ['/txn/5/changes', ['transaction', { id: '5', show: 'changes' }]],
    ['/block/3?network=testnet', ['block', { height: '3' }]],
    ['/block/3/overview', ['block', { height: '3', show: 'overview' }]],
    ['/account/0x1', ['account', { address: '0x1' }]],
    ['/account/0x1/', ['account', { address: '0x1' }]],
    ['/object/0xa/resources', ['account', { address: '0xa', show: 'resources' }]],
    ['/account/0x1/modules', ['account', { address: '0x1', show: 'modules' }]],
    ['/account/0x1/modules/code/coin', ['module', { account: '0x1', name: 'coin' }]],
    [
      '/account/0x1/modules/view/coin/balance?network=local',
      ['module', { account: '0x1', name: 'coin', item: 'balance' }],
    ],
    ['/coin/0x1::aptos_coin::AptosCoin', ['asset', { asset: '0x1::aptos_coin::AptosCoin' }]],
    ['/fungible_asset/0xa/holders', ['asset', { asset: '0xa', show: 'holders' }]],
    ['/events?account=0x1&stream=2', ['events', { account: '0x1', stream: '2' }]],
    ['/nothing', undefined],
    ['/__proto__', undefined],
    ['/v1', undefined],
    ['/v1/transactions', undefined],
    ['/account/0x1/modules/code/coin/balance/more', undefined],
  ])('%s is %j', (path, found) => {
    expect(read(path)).toEqual(found);
  });

  it('an empty part, and dots, which browsers fold away, are in the query', () => {
    expect(routePath('account', { address: '..' })).toBe('/account?address=..');
    expect(routePath('account', {})).toBe('/account');
    expect(routePath('module', { account: '0x1' })).toBe('/module?account=0x1');
  });

  it('older links, with the view behind #, lead to the path', () => {
    const at = (hash: string) => arriveAt({ pathname: '/', search: '', hash });
    expect(at('#/transaction?id=5&version=9')).toBe('/txn/5?version=9');
    expect(at('#/')).toBe('/');
    expect(at('')).toBeUndefined();
    expect(at('#/nothing')).toBeUndefined();
  });

  it('none is one of the interface', () => {
    expect(
      pageRoutes().filter((path) => path.startsWith('/v1') || path.startsWith('/page')),
    ).toEqual([]);
    expect(pageRoutes()).toContain('/account/{account}/modules/code/{name}/{item}');
    expect(pageRoutes()).toContain('/account/{account}/modules/code/{name}');
  });
});

describe('a search', () => {
  const module = (parameters: object) => ({ kind: 'place', view: 'module', parameters });

  it.each([
    ['5044', { kind: 'number', digits: '5044' }],
    [' 5,044 ', { kind: 'number', digits: '5044' }],
    ['0x1', { kind: 'hex', hex: '0x1', isHash: false }],
    [' 0xA55 ', { kind: 'hex', hex: '0xa55', isHash: false }],
    [HASH, { kind: 'hex', hex: `0x${HASH}`, isHash: true }],
    [`0X${HASH.toUpperCase()}`, { kind: 'hex', hex: `0x${HASH}`, isHash: true }],
    ['0x1::coin', module({ account: '0x1', name: 'coin', item: undefined })],
    ['0x1::coin::transfer', module({ account: '0x1', name: 'coin', item: 'transfer' })],
    ['0x1::coin::Coin<u8>', module({ account: '0x1', name: 'coin', item: 'Coin' })],
    ['0x1/2', { kind: 'place', view: 'events', parameters: { account: '0x1', stream: '2' } }],
    ['coin::transfer', { kind: 'word', word: 'coin::transfer' }],
    ['Paper boats', { kind: 'word', word: 'Paper boats' }],
    ['nonsense!', undefined],
    [`0x${HASH}0`, undefined],
    ['', undefined],
  ])('for %j is read as %j', (text, term) => {
    expect(readSearch(text)).toEqual(term);
  });
});

describe('times', () => {
  const NOON = 1_769_860_800_000_000n;

  it.each([
    ['2026-01-31 12:00', NOON],
    ['2026-01-31T12:00:00Z', NOON],
    ['@2026-01-31T13:00+01:00', NOON],
    ['2026-01-31 12:00:00.000001 UTC', NOON + 1n],
    ['2026-01-31', NOON - 43_200_000_000n],
    ['2026-01-32', undefined],
    ['1969-12-31', undefined],
    ['noon', undefined],
    ['5044', undefined],
  ])('%j is %s', (text, usecs) => {
    expect(readTime(text)).toBe(usecs);
  });
});
