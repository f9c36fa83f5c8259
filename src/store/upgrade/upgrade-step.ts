import type { Batch } from '../batch.ts';
import type { Column } from '../columns/columns.ts';
import type { Store } from '../store.ts';

interface UpgradedPart {
  readonly batch: Batch;
  /** Versions below are converted. */
  readonly below: bigint;
}

/** What one format change takes. */
export interface UpgradeStep {
  /** The format that it begins with; it ends with the next. */
  readonly from: number;
  /** Columns that only the older format has. */
  readonly oldColumns: readonly Column[];
  /** Converts some more; `undefined` when nothing is left. @throws RowDamagedError */
  next(store: Store): Promise<UpgradedPart | undefined>;
}
