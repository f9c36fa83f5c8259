/** `daybook upgrade`: turns the store of a folder into one of this program's format. */
import { STORE_FORMAT_VERSION } from '../store/columns/columns.ts';
import { type Head, readHead } from '../store/columns/head.ts';
import { upgradeStore } from '../store/upgrade/upgrade.ts';
import { emptyStoreError, withStoreToUpgrade } from './open-store.ts';

interface UpgradeReport {
  readonly head: Head;
  readonly fromFormat: number;
  readonly toFormat: number;
  readonly seconds: number;
}

interface UpgradeProgress {
  /** The format that is being left. */
  readonly from: number;
  /** Versions below are converted. */
  readonly below: bigint;
  readonly head: Head;
}

/**
 * Upgrades the store of a folder. A run that was cut off is continued.
 * @throws NodeError `no_ledger`, `data_not_usable`
 */
export function upgradeFolder(
  data: string,
  onProgress: (progress: UpgradeProgress) => void,
): Promise<UpgradeReport> {
  const startedMs = performance.now();
  return withStoreToUpgrade(data, async (store) => {
    const head = await readHead(store);
    if (head === undefined) throw emptyStoreError(data);
    const fromFormat = await upgradeStore(store, (from, below) =>
      onProgress({ from, below, head }),
    );
    const seconds = (performance.now() - startedMs) / 1000;
    return { head, fromFormat, toFormat: STORE_FORMAT_VERSION, seconds };
  });
}
