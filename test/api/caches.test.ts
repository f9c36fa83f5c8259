/** Responses that are cached for one view, and bodies that are cached for longer. */
import { expect, it } from 'vitest';
import { AnswerCache, MAX_CACHED_ANSWER_BYTES } from '../../src/api/http/caches.ts';
import { CACHE_BUDGETS } from '../../src/cache.ts';
import type { LedgerView } from '../../src/ledger/ledger-view.ts';
import { contentDigest } from '../../src/move/crypto/hash.ts';

/** Views are compared by identity; apart from that only their version is read. */
const view = (version = 0n): LedgerView => ({ state: { version } }) as LedgerView;
const answer = (body: string) => ({ body, tagCore: '' });

it('gives an answer for its view, format and URL only', () => {
  const cache = new AnswerCache();
  const [first, second] = [view(), view()];
  expect(cache.find(first, 'json', '/a')).toBeUndefined();
  const cached = cache.add(first, 'json', '/a', answer('1'));
  expect(cache.find(first, 'json', '/a')).toBe(cached);
  expect(cache.find(first, 'bcs', '/a')).toBeUndefined();
  expect(cache.find(first, 'json', '/b')).toBeUndefined();
  expect(cache.find(second, 'json', '/a')).toBeUndefined();
});

it('knows what was asked for before', () => {
  const cache = new AnswerCache();
  expect(['/a', '/b', '/a', '/b', '/c'].map((url) => cache.wasRequestedBefore(url))).toEqual([
    ...[false, false, true, true, false],
  ]);
});

it('drops what it has when another view comes', () => {
  const cache = new AnswerCache();
  const [first, second] = [view(), view()];
  cache.add(first, 'json', '/a', answer('1'));
  cache.add(second, 'json', '/b', answer('2'));
  expect(cache.find(first, 'json', '/a')).toBeUndefined();
  expect(cache.find(second, 'json', '/a')).toBeUndefined();
  expect(cache.find(second, 'json', '/b')?.body).toBe('2');
});

it.each([
  [MAX_CACHED_ANSWER_BYTES - 1, true],
  [MAX_CACHED_ANSWER_BYTES, true],
  [MAX_CACHED_ANSWER_BYTES + 1, false],
])('an answer of %i bytes: cached is %s', (length, isCached) => {
  const cache = new AnswerCache();
  const at = view();
  cache.add(at, 'json', '/a', answer('x'.repeat(length)));
  expect(cache.find(at, 'json', '/a') !== undefined).toBe(isCached);
});

it('keeps what is asked again, drops what is not, and stays within its budget', () => {
  const cache = new AnswerCache();
  const at = view();
  const body = 'x'.repeat(MAX_CACHED_ANSWER_BYTES - 300);
  const places = CACHE_BUDGETS.answers.bytes / MAX_CACHED_ANSWER_BYTES;
  cache.add(at, 'json', '/hot', answer(body));
  for (let index = 0; index < 3 * places; index += 1) {
    cache.add(at, 'json', `/${index}`, answer(body));
    expect(cache.find(at, 'json', '/hot')).toBeDefined();
  }
  const left = Array.from({ length: 3 * places }, (_, index) => index).filter(
    (index) => cache.find(at, 'json', `/${index}`) !== undefined,
  );
  expect(left.length).toBeLessThanOrEqual(places);
  expect(left.length).toBeGreaterThanOrEqual(places / 2 - 1);
  expect(left.at(-1)).toBe(3 * places - 1);
});

it('does not go back to an older view for an answer that was long in the making', () => {
  const cache = new AnswerCache();
  const [older, newer] = [view(1n), view(2n)];
  cache.add(newer, 'json', '/a', answer('2'));
  expect(cache.add(older, 'json', '/a', answer('1')).body).toBe('1');
  expect(cache.find(newer, 'json', '/a')?.body).toBe('2');
  expect(cache.find(older, 'json', '/a')).toBeUndefined();
});

it('keeps bytes of its own, not the buffer that they are a window on', () => {
  const cache = new AnswerCache();
  const at = view();
  cache.add(at, 'bcs', '/a', { body: Buffer.alloc(1_000_000, 7).subarray(0, 8) });
  const body = cache.find(at, 'bcs', '/a')?.body as Uint8Array;
  expect([...body]).toEqual(Array.from({ length: 8 }, () => 7));
  expect(body.buffer.byteLength).toBe(8);
});

it('keeps a long text as its bytes, with the same tag', () => {
  const cache = new AnswerCache();
  const body = 'é'.repeat(1_000);
  const cached = cache.add(view(), 'json', '/a', { body });
  expect(Buffer.from(cached.body as Uint8Array).toString('utf8')).toBe(body);
  expect(cached.tagCore).toBe(contentDigest(body));
});
