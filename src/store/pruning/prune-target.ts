/**
 * The block that retained history begins with. The oldest version is always the first of a block: the first block that
 * begins at or after the bound, as in the reference (docs/spec/ledger.md §5.6).
 */
import type { Block } from '../columns/block-column.ts';
import { BLOCKS_BY_HEIGHT } from '../columns/columns.ts';
import { encodeBucketKey } from '../columns/order-key.ts';
import { RowDamagedError } from '../store-error.ts';
import type { StoreView } from '../view.ts';

/** How much history is retained: what one of the two bounds retains stays, whatever the other is. */
export interface PrunePolicy {
  /** The newest so many versions; 1 or more. */
  readonly versions?: number | undefined;
  /** So many seconds before the newest block, by the time of the ledger; 1 or more. */
  readonly seconds?: number | undefined;
}

const USECS_PER_SECOND = 1_000_000n;

/**
 * The block that retained history would begin with; one that begins at the oldest version when there is nothing to
 * prune. The newest block always stays.
 * @throws RangeError for a policy that retains nothing or everything; RowDamagedError
 */
export async function pruneTarget(view: StoreView, policy: PrunePolicy): Promise<Block> {
  const { versions, seconds } = policy;
  if (versions === undefined && seconds === undefined) {
    throw new RangeError('a pruning policy without a bound prunes nothing');
  }
  for (const bound of [versions, seconds]) {
    if (bound !== undefined && !(Number.isSafeInteger(bound) && bound >= 1)) {
      throw new RangeError(`a bound of ${bound}: it must be a whole number of at least 1`);
    }
  }
  const targets: Block[] = [];
  if (versions !== undefined) targets.push(await blockForVersions(view, BigInt(versions)));
  if (seconds !== undefined) targets.push(await blockForSeconds(view, BigInt(seconds)));
  return targets.reduce((low, block) => (block.height < low.height ? block : low));
}

async function blockForVersions(view: StoreView, versions: bigint): Promise<Block> {
  const first = view.head.version - versions + 1n;
  const block = await view.blockFromVersion(first < 0n ? 0n : first);
  // A newest block that is longer than the bound stays whole.
  return block ?? blockAt(view, view.head.blockHeight);
}

/** Times of blocks never fall (§2.3), so the first one late enough is found by halves. */
async function blockForSeconds(view: StoreView, seconds: bigint): Promise<Block> {
  const { timestampUsecs, oldestBlockHeight, blockHeight } = view.head;
  const leastUsecs = timestampUsecs - seconds * USECS_PER_SECOND;
  let low = oldestBlockHeight;
  let high = blockHeight;
  while (low < high) {
    const middle = (low + high) >> 1n;
    const block = await blockAt(view, middle);
    if (block.timestampUsecs < leastUsecs) low = middle + 1n;
    else high = middle;
  }
  return blockAt(view, low);
}

async function blockAt(view: StoreView, height: bigint): Promise<Block> {
  const block = await view.blockByHeight(height);
  if (block !== undefined) return block;
  throw new RowDamagedError(BLOCKS_BY_HEIGHT, encodeBucketKey(height), 'it is missing');
}
