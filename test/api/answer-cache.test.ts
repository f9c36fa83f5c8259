/** Answers that are kept for a view. */
import { expect, it } from 'vitest';
import {
  ANSWER_CACHE_BYTES,
  AnswerCache,
  MAX_KEPT_ANSWER_BYTES,
} from '../../src/api/http/answer-cache.ts';
import type { LedgerView } from '../../src/ledger/api-contract.ts';
import { contentTag } from '../../src/ledger/content-tag.ts';

/** Views are told apart by what object they are; besides, only their version is looked at. */
const view = (version = 0n): LedgerView => ({ state: { version } }) as LedgerView;
const answer = (body: string) => ({ body, tagCore: '' });

it('gives an answer for its view, format and URL only', () => {
  const cache = new AnswerCache();
  const [first, second] = [view(), view()];
  expect(cache.find(first, 'json', '/a')).toBeUndefined();
  const kept = cache.keep(first, 'json', '/a', answer('1'));
  expect(cache.find(first, 'json', '/a')).toBe(kept);
  expect(cache.find(first, 'bcs', '/a')).toBeUndefined();
  expect(cache.find(first, 'json', '/b')).toBeUndefined();
  expect(cache.find(second, 'json', '/a')).toBeUndefined();
});

it('drops what it has when another view comes', () => {
  const cache = new AnswerCache();
  const [first, second] = [view(), view()];
  cache.keep(first, 'json', '/a', answer('1'));
  cache.keep(second, 'json', '/b', answer('2'));
  expect(cache.find(first, 'json', '/a')).toBeUndefined();
  expect(cache.find(second, 'json', '/a')).toBeUndefined();
  expect(cache.find(second, 'json', '/b')?.body).toBe('2');
});

it.each([
  [MAX_KEPT_ANSWER_BYTES - 1, true],
  [MAX_KEPT_ANSWER_BYTES, true],
  [MAX_KEPT_ANSWER_BYTES + 1, false],
])('an answer of %i bytes: kept is %s', (length, isKept) => {
  const cache = new AnswerCache();
  const at = view();
  cache.keep(at, 'json', '/a', answer('x'.repeat(length)));
  expect(cache.find(at, 'json', '/a') !== undefined).toBe(isKept);
});

it('keeps what is asked again, drops what is not, and stays within its room', () => {
  const cache = new AnswerCache();
  const at = view();
  const body = 'x'.repeat(MAX_KEPT_ANSWER_BYTES - 300);
  const room = ANSWER_CACHE_BYTES / MAX_KEPT_ANSWER_BYTES;
  cache.keep(at, 'json', '/hot', answer(body));
  for (let index = 0; index < 3 * room; index += 1) {
    cache.keep(at, 'json', `/${index}`, answer(body));
    expect(cache.find(at, 'json', '/hot')).toBeDefined();
  }
  const left = Array.from({ length: 3 * room }, (_, index) => index).filter(
    (index) => cache.find(at, 'json', `/${index}`) !== undefined,
  );
  expect(left.length).toBeLessThanOrEqual(room);
  expect(left.length).toBeGreaterThanOrEqual(room / 2 - 1);
  expect(left.at(-1)).toBe(3 * room - 1);
});

it('does not go back to an older view for an answer that was long in the making', () => {
  const cache = new AnswerCache();
  const [older, newer] = [view(1n), view(2n)];
  cache.keep(newer, 'json', '/a', answer('2'));
  expect(cache.keep(older, 'json', '/a', answer('1')).body).toBe('1');
  expect(cache.find(newer, 'json', '/a')?.body).toBe('2');
  expect(cache.find(older, 'json', '/a')).toBeUndefined();
});

it('keeps bytes of its own, not the buffer that they are a window on', () => {
  const cache = new AnswerCache();
  const at = view();
  cache.keep(at, 'bcs', '/a', { body: Buffer.alloc(1_000_000, 7).subarray(0, 8) });
  const body = cache.find(at, 'bcs', '/a')?.body as Uint8Array;
  expect([...body]).toEqual(Array.from({ length: 8 }, () => 7));
  expect(body.buffer.byteLength).toBe(8);
});

it('keeps a long text as its bytes, with the same tag', () => {
  const cache = new AnswerCache();
  const body = 'é'.repeat(1_000);
  const kept = cache.keep(view(), 'json', '/a', { body });
  expect(Buffer.from(kept.body as Uint8Array).toString('utf8')).toBe(body);
  expect(kept.tagCore).toBe(contentTag(body));
});

it('of a body that is kept elsewhere keeps the way to it, as long as it is there', () => {
  const cache = new AnswerCache();
  const at = view();
  const body = Buffer.alloc(4 * MAX_KEPT_ANSWER_BYTES, 7);
  let stored: Buffer | undefined = body;
  const kept = { read: () => stored, lend: () => stored, leave: () => undefined };
  const sent = cache.keep(at, 'json', '/a', { body, tagCore: 'tag', kept });
  expect(sent.body).toBe(body);
  expect(cache.find(at, 'json', '/a')).toEqual({ body, tagCore: 'tag', kept, isLent: true });
  expect(cache.find(view(), 'json', '/a')).toBeUndefined();
  stored = undefined;
  expect(cache.find(at, 'json', '/a')).toBeUndefined();
  // It is made anew then.
  cache.keep(at, 'json', '/a', answer('again'));
  expect(cache.find(at, 'json', '/a')?.body).toBe('again');
});

it('has room for far more ways to bodies than for bodies, and counts what is made anew once', () => {
  const cache = new AnswerCache();
  const at = view();
  const body = Buffer.alloc(8_000);
  const kept = { read: () => body, lend: () => body, leave: () => undefined };
  const count = 20_000;
  const url = (index: number) =>
    `/v1/accounts/0x${String(index).padStart(64, '0')}/events/2?limit=25`;
  for (let index = 0; index < count; index += 1) {
    cache.keep(at, 'json', url(index), { body, tagCore: 'x'.repeat(22), kept });
    for (let again = 0; again < 5; again += 1)
      cache.keep(at, 'json', url(0), { body, tagCore: '', kept });
  }
  for (let index = 0; index < count; index += 1) {
    expect(cache.find(at, 'json', url(index))?.body).toBe(body);
  }
});
