/** Answers of many pieces. Large ones are joined in turns: copying and digesting 64 MiB takes a tenth of a second. */

import type { MaybePromise } from '../../maybe-promise.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { YieldBudget } from '../../yield-budget.ts';
import type { Answer } from './endpoint.ts';

export const JOINED_BYTES_PER_TURN = 1024 * 1024;

/** @param isTagged whether the answer needs a digest, as for a GET */
export function joinedAnswer(
  pieces: readonly Buffer[],
  pace = new YieldBudget(),
  isTagged = true,
): MaybePromise<Answer> {
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (sizeBytes > JOINED_BYTES_PER_TURN) return joinedInTurns(pieces, sizeBytes, pace, isTagged);
  return { body: Buffer.concat(pieces, sizeBytes) };
}

async function joinedInTurns(
  pieces: readonly Buffer[],
  sizeBytes: number,
  pace: YieldBudget,
  isTagged: boolean,
): Promise<Answer> {
  pace.hold(sizeBytes);
  const body = Buffer.allocUnsafe(sizeBytes);
  let end = 0;
  for (const piece of pieces) {
    const before = Math.floor(end / JOINED_BYTES_PER_TURN);
    body.set(piece, end);
    end += piece.length;
    if (Math.floor(end / JOINED_BYTES_PER_TURN) > before) await pace.nextTurn();
  }
  if (!isTagged) return { body };
  let digests = '';
  for (let from = 0; from < sizeBytes; from += JOINED_BYTES_PER_TURN) {
    digests += contentDigest(body.subarray(from, from + JOINED_BYTES_PER_TURN));
    await pace.nextTurn();
  }
  return { body, tagCore: contentDigest(digests) };
}
