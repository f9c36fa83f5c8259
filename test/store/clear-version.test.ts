/** `Batch.clearVersion`, which every engine must implement, tested on each of them (src/store/batch.ts). */
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  MODULE_EVENTS,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { decodeBucketKey, encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { ENGINES } from './engines.ts';

const text = (value: string): Buffer => Buffer.from(value, 'ascii');

describe.each(ENGINES)('%s', (_name, open) => {
  test('clearVersion: all columns by version, only its version, before the rows of its batch', async () => {
    const store = await open();
    const columns = [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES, MODULE_EVENTS];
    const place = (index: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(index);
      return bytes;
    };
    const putAll = (batch: Batch, version: bigint, value: string): Batch => {
      const { partition, order } = encodeBucketKey(version);
      for (const column of columns.slice(0, 3)) batch.put(column, partition, order, text(value));
      for (const index of [0, 7, 0xffff_ffff]) {
        batch.put(MODULE_EVENTS, partition, Buffer.concat([order, place(index)]), text(value));
      }
      return batch;
    };
    const rows = async () => {
      const found: string[] = [];
      for (const column of columns) {
        for (const row of await store.scan(column, { maxRows: 100, maxBytes: 1000 })) {
          found.push(`${column.name} ${decodeBucketKey(row.partition, row.order)} ${row.value}`);
        }
      }
      return found;
    };
    // The last of one partition, and the first of the next.
    const versions = [65_534n, 65_535n, 65_536n];
    const batch = new Batch();
    for (const version of versions) putAll(batch, version, 'old');
    await store.commit(batch);
    const all = await rows();
    expect(all.length).toBe(18);
    await store.commit(new Batch().clearVersion(encodeBucketKey(70_000n)));
    expect(await rows()).toEqual(all);
    await store.commit(new Batch().clearVersion(encodeBucketKey(65_535n)));
    const left = all.filter((row) => !row.includes(' 65535 '));
    expect(await rows()).toEqual(left);
    const { partition, order } = encodeBucketKey(65_536n);
    const replaced = new Batch()
      .put(TRANSACTIONS, partition, order, text('new'))
      .clearVersion({ partition, order })
      .put(MODULE_EVENTS, partition, Buffer.concat([order, place(3)]), text('new'))
      .delete(TRANSACTION_INFOS, partition, order);
    await store.commit(replaced);
    const others = left.filter((row) => !row.includes(' 65536 '));
    expect(new Set(await rows())).toEqual(
      new Set([...others, 'transactions 65536 new', 'module_events 65536 new']),
    );
  });
});
