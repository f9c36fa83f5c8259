/**
 * Models an engine of many machines: a commit becomes visible part by part, in an order decided by a seed, and its
 * published rows last. Readers in between see only some of its changes.
 */
import { Batch, type BatchOperation, type DeletedRange } from '../../src/store/batch.ts';
import type { Store } from '../../src/store/store.ts';
import { keyText } from '../../src/store/store-error.ts';
import type { Below } from './prune-history.ts';

/** One change of a commit. */
export type Part = BatchOperation | DeletedRange;

interface Options {
  readonly below: Below;
  /** Called between the parts of a commit, with those that become visible next. */
  readonly between: (next: readonly Part[]) => Promise<void>;
  /** Number of parts that become visible together between two calls. */
  readonly partsAtOnce: () => number;
}

export function partByPart(store: Store, { below, between, partsAtOnce }: Options): Store {
  const apply = async (parts: readonly Part[]) => {
    const batch = new Batch();
    for (const part of parts) {
      const { column, partition } = part;
      if (!('order' in part)) batch.deleteRange(column, partition, part);
      else if (part.value === undefined) batch.delete(column, partition, part.order);
      else batch.put(column, partition, part.order, part.value);
    }
    await store.commit(batch);
  };
  return {
    get: (...asked) => store.get(...asked),
    getMany: (...asked) => store.getMany(...asked),
    seekLast: (...asked) => store.seekLast(...asked),
    seekLastMany: (...asked) => store.seekLastMany(...asked),
    range: (...asked) => store.range(...asked),
    rangeMany: (...asked) => store.rangeMany(...asked),
    scan: (...asked) => store.scan(...asked),
    statistics: () => store.statistics(),
    close: () => store.close(),
    async commit(batch) {
      // A later change of a row replaces an earlier one, and ranges spare rows that the batch puts.
      const byKey = new Map(batch.rows.map((row) => [`${row.column.number} ${keyText(row)}`, row]));
      const parts: Part[] = [...batch.ranges, ...byKey.values()];
      for (let index = parts.length - 1; index > 0; index -= 1) {
        const other = below(index + 1);
        [parts[index], parts[other]] = [parts[other]!, parts[index]!];
      }
      while (parts.length > 0) {
        const next = parts.splice(0, partsAtOnce());
        await between(next);
        await apply(next);
      }
      await between(batch.published);
      for (const published of batch.published) await apply([published]);
    },
  };
}
