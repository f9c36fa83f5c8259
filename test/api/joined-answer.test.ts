/** Responses made of many pieces: complete, tagged by their content, and written in turns if they are large. */
import { describe, expect, it } from 'vitest';
import { JOINED_BYTES_PER_TURN, joinedAnswer } from '../../src/api/endpoints/joined-answer.ts';
import { randomSource } from '../random.ts';

const KIB = 1024;

function contentOf(sizeBytes: number): Buffer {
  const next = randomSource(31);
  const words = new Uint32Array(Math.ceil(sizeBytes / 4)).map(() => next() * 2 ** 32);
  return Buffer.from(words.buffer, 0, sizeBytes);
}

function piecesOf(bytes: Buffer, pieceBytes: number): Buffer[] {
  const count = Math.ceil(bytes.length / pieceBytes);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
}

describe('a joined answer', () => {
  it.each([
    0,
    1,
    JOINED_BYTES_PER_TURN - 1,
    JOINED_BYTES_PER_TURN,
    JOINED_BYTES_PER_TURN + 1,
    3 * JOINED_BYTES_PER_TURN,
  ])('is all of its pieces: %i bytes', async (sizeBytes) => {
    const content = contentOf(sizeBytes);
    for (const pieceBytes of [100 * KIB - 1, 2 * JOINED_BYTES_PER_TURN]) {
      const { body } = await joinedAnswer(piecesOf(content, pieceBytes));
      expect(content.equals(body as Buffer)).toBe(true);
    }
  });

  it('is made at once up to its limit, then in turns', async () => {
    const pieces = piecesOf(contentOf(JOINED_BYTES_PER_TURN + 1), 64 * KIB);
    expect(joinedAnswer(pieces)).toBeInstanceOf(Promise);
    expect(joinedAnswer(pieces.slice(0, -1))).not.toBeInstanceOf(Promise);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await joinedAnswer(piecesOf(contentOf(8 * JOINED_BYTES_PER_TURN), 64 * KIB));
    isDone = true;
    expect(turns).toBeGreaterThan(8);
  });

  it('has a tag of its content, wherever it was cut', async () => {
    const content = contentOf(2 * JOINED_BYTES_PER_TURN + 5);
    const tagOf = async (bytes: Buffer, pieceBytes: number) =>
      (await joinedAnswer(piecesOf(bytes, pieceBytes))).tagCore;
    const tag = await tagOf(content, 64 * KIB);
    expect(tag).toMatch(/^[\w-]{22}$/);
    expect(await tagOf(content, 3 * JOINED_BYTES_PER_TURN)).toBe(tag);
    for (const at of [0, JOINED_BYTES_PER_TURN, content.length - 1]) {
      const other = Buffer.from(content);
      other[at]! ^= 1;
      expect(await tagOf(other, 64 * KIB)).not.toBe(tag);
    }
  });
});
