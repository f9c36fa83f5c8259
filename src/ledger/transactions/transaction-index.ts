/**
 * The index of transactions in their blocks (docs/spec/transactions.md §1.8). No feed contains it, but a
 * TransactionInfo contains its hash. Discarded transactions count too, so an index is the place in the block, or
 * slightly more.
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { auxiliaryInfoHash } from '../../move/transactions/auxiliary-info.ts';
import { TransactionInfo } from '../../move/transactions/transaction-info.ts';
import type { PruningGuard } from '../../state/pruning-guard.ts';
import type { LedgerSource } from '../../state/source.ts';
import { YieldBudget } from '../../yield-budget.ts';
import { requireStart } from '../history.ts';

/** Maximum number of indexes tried for one page: the reference's maximum number of transactions in a block. */
export const MAX_TRIED_INDEXES = 10_000;
/** Indexes that are tried before other requests get their turn; each takes about 10 µs. */
const TRIES_PER_TURN = 250;

/** As LedgerView.transactionIndexes. */
export async function transactionIndexes(
  { head, history }: LedgerSource,
  guard: PruningGuard,
  start: bigint,
  limit: number,
  pace = new YieldBudget(),
): Promise<readonly (number | undefined)[]> {
  requireStart(start, head);
  const infos = await history.transactionInfos(start, limit);
  const search = new IndexSearch();
  const indexes: (number | undefined)[] = [];
  let block = await history.blockOfVersion(start);
  let last = block && (await history.lastVersionOfBlock(block));
  await guard.assertRetained(start);
  let minIndex = block === undefined ? 0 : Number(start - block.firstVersion);
  for (const [place, info] of infos.entries()) {
    if (block !== undefined && last !== undefined && start + BigInt(place) > last) {
      block = await history.blockByHeight(block.height + 1n);
      last = block && (await history.lastVersionOfBlock(block));
      minIndex = 0;
    }
    const { auxiliaryInfoHash: hash } = TransactionInfo.read(new BcsReader(info));
    const index = hash && (await search.find(hash, minIndex, pace));
    indexes.push(index);
    minIndex = (index ?? minIndex) + 1;
  }
  return indexes;
}

/** Finds indexes by their hashes, as long as tries are left. */
class IndexSearch {
  #triesLeft = MAX_TRIED_INDEXES;

  async find(hash: Buffer, minIndex: number, pace: YieldBudget): Promise<number | undefined> {
    for (let index = minIndex; this.#triesLeft > 0; index += 1) {
      this.#triesLeft -= 1;
      if (auxiliaryInfoHash(index).equals(hash)) return index;
      if (this.#triesLeft % TRIES_PER_TURN === 0) await pace.nextTurn();
    }
    return undefined;
  }
}
