/** Text from gzip, up to its limit. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { MAX_TEXT_BYTES, unzipped } from '../../web/src/parts/gzip-text.ts';

const zipped = (text: string | Buffer): string => `0x${gzipSync(text).toString('hex')}`;

it('is the text, whatever its letters', async () => {
  const text = 'Größe 😀 '.repeat(10_000);
  expect(await unzipped(zipped(text))).toBe(text);
  expect(await unzipped(zipped(''))).toBe('');
});

it.each([
  [-1, true],
  [0, true],
  [1, false],
])('of the limit and %i bytes is there: %s', async (more, isThere) => {
  const length = MAX_TEXT_BYTES + more;
  const text = await unzipped(zipped(Buffer.alloc(length, 'a')));
  expect(text?.length).toBe(isThere ? length : undefined);
});

it('of far more is not unpacked', async () => {
  expect(await unzipped(zipped(Buffer.alloc(64 * 1024 * 1024, 'a')))).toBeUndefined();
});

it.each(['0x1234', zipped('a text').slice(0, -10)])('of %s is not there', async (hex) => {
  expect(await unzipped(hex)).toBeUndefined();
});
