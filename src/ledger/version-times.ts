/** Versions by time: all transactions of a block have the timestamp of the block. */

import { LedgerError } from '../state/ledger-error.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { LedgerSource } from '../state/source.ts';
import type { Block } from '../store/columns/block-column.ts';
import { isBareState } from '../store/columns/head.ts';
import { firstBlockAfter } from '../store/read/block-search.ts';

export interface VersionAtTime {
  readonly version: bigint;
  readonly timestampUsecs: bigint;
  readonly blockHeight: bigint;
  readonly epoch: bigint;
  /** Whether a newer version has a later timestamp, so that the answer never changes. */
  readonly isFinal: boolean;
}

/**
 * The last version whose timestamp is at or before a time.
 * @throws LedgerError `version_pruned`; `version_not_found` for a time before the first version
 */
export async function versionAtTime(
  { head, history }: LedgerSource,
  guard: PruningGuard,
  timeUsecs: bigint,
): Promise<VersionAtTime> {
  if (timeUsecs >= head.timestampUsecs) {
    const { version, timestampUsecs, blockHeight, epoch } = head;
    return { version, timestampUsecs, blockHeight, epoch, isFinal: false };
  }
  if (isBareState(head)) throw pruned(timeUsecs);
  const blockAt = async (height: bigint): Promise<Block> => {
    const block = await history.blockByHeight(height);
    if (block !== undefined) return block;
    if (await guard.isBlockPruned(height)) throw pruned(timeUsecs);
    const message = `Failed to find a version by timestamp: there is no block ${height}`;
    throw new LedgerError('internal_error', message);
  };
  const after = await firstBlockAfter(head, timeUsecs, blockAt);
  if (after.height === head.oldestBlockHeight) {
    if (head.oldestVersion > 0n) throw pruned(timeUsecs);
    const message = `Ledger version not found by Ledger timestamp(${timeUsecs})`;
    throw new LedgerError('version_not_found', message);
  }
  const { height: blockHeight, epoch, timestampUsecs } = await blockAt(after.height - 1n);
  return { version: after.firstVersion - 1n, timestampUsecs, blockHeight, epoch, isFinal: true };
}

function pruned(timeUsecs: bigint): LedgerError {
  const message = `Ledger versions at Ledger timestamp(${timeUsecs}) have been pruned`;
  return new LedgerError('version_pruned', message);
}
