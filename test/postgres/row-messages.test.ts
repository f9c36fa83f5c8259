/** Rows are taken out of what a server sends, however it arrives in pieces. */
import { describe, expect, test } from 'vitest';
import { MessageSplitter } from '../../src/store/postgres/row-messages.ts';
import { Random, testSeed } from '../random.ts';

function message(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 'latin1');
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** Buffers as text: long ones are compared a thousand times as fast. */
function texts(buffers: readonly Buffer[]): string[] {
  return buffers.map((bytes) => bytes.toString('latin1'));
}

/** What a splitter gives for pieces: rows as they are, other messages joined. */
function split(pieces: readonly Buffer[]): string[] {
  const seen: { isRow: boolean; bytes: Buffer }[] = [];
  const splitter = new MessageSplitter(
    (bytes) => {
      const last = seen.at(-1);
      if (last?.isRow === false) last.bytes = Buffer.concat([last.bytes, bytes]);
      else seen.push({ isRow: false, bytes: Buffer.from(bytes) });
    },
    (row) => seen.push({ isRow: true, bytes: Buffer.from(row) }),
  );
  for (const piece of pieces) splitter.push(piece);
  return texts(seen.map(({ bytes }) => bytes));
}

describe('messages with rows', () => {
  const row = (fill: number, length: number) => Buffer.alloc(length, fill);
  const rows = [row(0x44, 2), row(0xff, 200), row(0, 5), row(0x44, 70_000)];
  const others = [message('Z', Buffer.from('I')), message('C', Buffer.from('SELECT 4\0'))];
  const stream = Buffer.concat([
    ...[message('T', row(0x44, 30)), message('D', rows[0]!), message('D', rows[1]!)],
    ...[others[0]!, others[1]!, message('D', rows[2]!), message('D', rows[3]!), others[0]!],
  ]);
  const expected = texts([
    ...[message('T', row(0x44, 30)), rows[0]!, rows[1]!],
    ...[Buffer.concat(others), rows[2]!, rows[3]!, others[0]!],
  ]);

  test('all at once, and cut at every place', () => {
    expect(split([stream])).toEqual(expected);
    for (let at = 1; at < stream.length; at += at < 400 ? 1 : 997) {
      expect(split([stream.subarray(0, at), stream.subarray(at)]), `cut at ${at}`).toEqual(
        expected,
      );
    }
  });

  test('in random pieces', () => {
    const random = new Random(testSeed());
    for (let round = 0; round < 50; round += 1) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < stream.length; ) {
        const length = 1 + random.below(round < 25 ? 7 : 9_000);
        pieces.push(stream.subarray(at, at + length));
        at += length;
      }
      expect(split(pieces)).toEqual(expected);
    }
  });
});
