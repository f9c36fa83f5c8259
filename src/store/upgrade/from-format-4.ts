/** Format 4 had no index of module events by type: it is made of the events. */
import { Batch } from '../batch.ts';
import { MODULE_EVENTS } from '../columns/columns.ts';
import { decodeModuleEventRow } from '../columns/event-column.ts';
import { UPGRADE_PROGRESS } from '../columns/identity-column.ts';
import { decodeBucketKey } from '../columns/order-key.ts';
import { putTypeWindows, TypeWindows } from '../type-windows.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** Bounds of one commit. */
const PART = { maxRows: 10_000, maxBytes: 8 * 1024 * 1024 };

export function fromFormat4(part = PART): UpgradeStep {
  return {
    from: 4,
    oldColumns: [],
    async next(store) {
      const after = await UPGRADE_PROGRESS.get(store);
      const rows = await store.scan(MODULE_EVENTS, { ...part, after });
      const first = rows[0];
      const last = rows[rows.length - 1];
      if (first === undefined || last === undefined) return undefined;
      const types = new TypeWindows();
      for (const row of rows) {
        const { version, typeTag } = decodeModuleEventRow(row);
        types.add(version, typeTag);
      }
      const batch = new Batch();
      const firstVersion = decodeBucketKey(first.partition, first.order);
      await putTypeWindows(batch, store, types.windows, firstVersion);
      UPGRADE_PROGRESS.publish(batch, undefined, last);
      return { batch, below: decodeBucketKey(last.partition, last.order) };
    },
  };
}
