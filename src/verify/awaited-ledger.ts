/** A store that another reader found newer: two readers of a replicated ledger may read from different servers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Head, readHead } from '../store/columns/head.ts';
import { readPruneProgress } from '../store/columns/pruning-column.ts';
import type { StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';

/** How long a reader waits until its server has what another reader has seen, in milliseconds. */
const CATCH_UP_LIMIT_MS = 30_000;
const POLL_INTERVAL_MS = 50;

interface LedgerPosition {
  readonly head: Pick<Head, 'version' | 'oldestVersion'>;
  readonly clearedBelow: bigint;
}

/**
 * Waits until a store has what another reader of the same ledger has seen. Its reader then never goes back behind it.
 * @param limitMs how long, for tests
 * @throws StoreError `store_behind` when it takes longer
 */
export async function awaitLedger(
  store: StoreReader,
  position: LedgerPosition,
  limitMs = CATCH_UP_LIMIT_MS,
): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (await isBehind(store, position)) {
    if (performance.now() >= endMs) {
      const { version } = position.head;
      const message = `the server lacks what another one has up to version ${version}: wait until it has caught up`;
      throw new StoreError('store_behind', message);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

async function isBehind(
  store: StoreReader,
  { head, clearedBelow }: LedgerPosition,
): Promise<boolean> {
  const found = await readHead(store);
  if (found === undefined) return true;
  if (found.version < head.version || found.oldestVersion < head.oldestVersion) return true;
  return (await readPruneProgress(store)).clearedBelow < clearedBelow;
}
