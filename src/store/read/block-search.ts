/** Finds blocks by time. The timestamps of blocks never decrease (docs/spec/ledger.md §2.3). */
import type { Block } from '../columns/block-column.ts';
import type { Head } from '../columns/head.ts';

/**
 * The first retained block whose timestamp is after a time, which must be before that of the head.
 * @param blockAt reads a block by its height
 */
export async function firstBlockAfter(
  { oldestBlockHeight, blockHeight }: Head,
  timeUsecs: bigint,
  blockAt: (height: bigint) => Promise<Block>,
): Promise<Block> {
  let before = await blockAt(oldestBlockHeight);
  if (before.timestampUsecs > timeUsecs) return before;
  let after = await blockAt(blockHeight);
  for (let isGuess = true; after.height - before.height > 1n; isGuess = !isGuess) {
    const height = isGuess
      ? guessedHeight(before, after, timeUsecs)
      : (before.height + after.height) / 2n;
    const block = await blockAt(height);
    if (block.timestampUsecs > timeUsecs) after = block;
    else before = block;
  }
  return after;
}

/**
 * Interpolates the height, as if blocks were evenly spaced in time. That takes a few reads instead of dozens, and in a
 * fork each read is a request. Every second step of the search halves the rest, so that uneven times cost little.
 */
function guessedHeight(before: Block, after: Block, timeUsecs: bigint): bigint {
  const heights = after.height - before.height;
  const passedUsecs = timeUsecs - before.timestampUsecs;
  const allUsecs = after.timestampUsecs - before.timestampUsecs;
  const height = before.height + (heights * passedUsecs) / allUsecs;
  return height === before.height ? height + 1n : height;
}
