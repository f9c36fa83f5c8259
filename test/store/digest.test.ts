/** Digests of columns: the same for the same rows, however they are read, and different for any other rows. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type ScannedRow, STATE } from '../../src/store/columns/columns.ts';
import { RowsDigest } from '../../src/store/read/digest.ts';
import { randomSource, testSeed } from '../random.ts';

const LINK_BYTES = 65_536;
/** Lengths, partition and order of a row of the state. */
const HEAD_BYTES = 8 + 32 + 8;

const random = randomSource(testSeed());
const bytes = (length: number) => Buffer.alloc(length, Math.floor(random() * 256));

function rowOf(valueBytes: number): ScannedRow {
  return { partition: bytes(32), order: bytes(8), value: bytes(valueBytes) };
}

function encoded({ partition, order, value }: ScannedRow): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(order.length, 0);
  lengths.writeUInt32BE(value.length, 4);
  return Buffer.concat([lengths, partition, order, value]);
}

function digestOf(rows: readonly ScannedRow[]): Buffer {
  const digest = new RowsDigest(STATE);
  digest.add(rows);
  return digest.finish().digest;
}

/** The digest of given links. */
function chain(links: readonly (readonly ScannedRow[])[]): Buffer {
  let digest = Buffer.alloc(32);
  for (const link of links) {
    const content = Buffer.concat([digest, ...link.map(encoded)]);
    digest = createHash('sha256').update(content).digest();
  }
  return digest;
}

test('a column without rows has 32 zero bytes', () => {
  expect(digestOf([])).toEqual(Buffer.alloc(32));
});

test.each([
  [-1, 1],
  [0, 1],
  [1, 2],
])('two rows of 64 KiB and %i bytes are in %i links', (more, links) => {
  const [first, second] = [rowOf(100), rowOf(LINK_BYTES - 2 * HEAD_BYTES - 100 + more)];
  const expected = links === 1 ? [[first, second]] : [[first], [second]];
  expect(digestOf([first, second])).toEqual(chain(expected));
});

test.each([-1, 0, 1])('a row of 64 KiB and %i bytes is a link', (more) => {
  const rows = [rowOf(10), rowOf(LINK_BYTES - HEAD_BYTES + more), rowOf(10)];
  expect(digestOf(rows)).toEqual(chain(rows.map((row) => [row])));
});

test('it is the same in pages of any length, and continued after any of them', () => {
  const rows = Array.from({ length: 300 }, (_, index) =>
    rowOf(index % 50 === 7 ? 70_000 : Math.floor(random() * 3_000)),
  );
  const whole = digestOf(rows);
  for (let round = 0; round < 20; round += 1) {
    let digest = new RowsDigest(STATE);
    for (let at = 0; at < rows.length; ) {
      const end = at + 1 + Math.floor(random() * 40);
      digest.add(rows.slice(at, end));
      at = end;
      if (random() < 0.5) digest = new RowsDigest(STATE, structuredClone(digest.save()));
    }
    expect(digest.finish()).toMatchObject({ rows: rows.length, digest: whole });
  }
  expect(digestOf(rows.slice(1))).not.toEqual(whole);
  expect(digestOf(rows.toReversed())).not.toEqual(whole);
});
