/**
 * Turns a store of an older format into one of the present format, in steps of one format each. Every step works in
 * commits of bounded size, so a run that was cut off is continued by the next one: a step takes what it has converted
 * out of the old columns, or records how far it is. From the first commit to the last the store has the new format
 * number, so that older programs refuse it, and a row that says from which format it comes, so that newer
 * ones do (identity-column.ts).
 */
import { Batch } from '../batch.ts';
import { type Column, STORE_FORMAT_VERSION } from '../columns/columns.ts';
import { FORMAT, formatOf, UPGRADE_PROGRESS, UPGRADED_FROM } from '../columns/identity-column.ts';
import type { Store } from '../store.ts';
import { fromFormat3 } from './from-format-3.ts';
import { fromFormat4 } from './from-format-4.ts';
import { putAgain } from './put-again.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** One after the other; the last ends with the present format. */
const STEPS: readonly UpgradeStep[] = [fromFormat3(), fromFormat4(), putAgain(5), putAgain(6)];

/** Columns of the formats that can be upgraded, besides the present ones. */
export const OLD_COLUMNS: readonly Column[] = STEPS.flatMap(({ oldColumns }) => oldColumns);

/**
 * Upgrades a store to the present format.
 * @param onProgress gets the step's format, and the version below which it has converted everything
 * @returns the format that the store had
 * @throws StoreError `store_format_mismatch`, RowDamagedError, and those of Store.commit
 */
export async function upgradeStore(
  store: Store,
  onProgress: (from: number, below: bigint) => void = () => undefined,
  steps = STEPS,
): Promise<number> {
  const format = await formatOf(store);
  if (format === STORE_FORMAT_VERSION) return format;
  await store.commit(marked(format));
  for (const step of steps.filter(({ from }) => from >= format)) {
    for (let part = await step.next(store); part !== undefined; part = await step.next(store)) {
      await store.commit(part.batch);
      onProgress(step.from, part.below);
    }
    const done = marked(step.from + 1);
    UPGRADE_PROGRESS.delete(done, undefined);
    await store.commit(done);
  }
  return format;
}

/** Records which format the contents have. */
function marked(format: number): Batch {
  const batch = new Batch();
  FORMAT.put(batch, undefined, STORE_FORMAT_VERSION);
  if (format !== STORE_FORMAT_VERSION) UPGRADED_FROM.put(batch, undefined, format);
  else UPGRADED_FROM.delete(batch, undefined);
  return batch;
}
