/** Stores of format 3: one that the program of that time made, and any other as it would have been. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { withStoreToUpgrade } from '../../src/node/open-store.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_TRANSACTIONS,
  TRANSACTION_HASHES,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import { scanPages } from '../../src/store/store.ts';
import { OLD_TRANSACTIONS } from '../../src/store/upgrade/from-format-3.ts';

const FIXTURE = new URL('format-3.mdb.br', import.meta.url);

/** Puts the store that `daybook sample --transactions 60 --accounts 10 --seed 3` of format 3 made into a folder. */
export function unpackFormat3(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'data.mdb'), brotliDecompressSync(readFileSync(FIXTURE)));
}

/** Turns a store of the present format into one of format 3. @param data a folder, or `postgres://…` */
export async function downgradeToFormat3(data: string): Promise<void> {
  await withStoreToUpgrade(data, async (store) => {
    for (const column of [TRANSACTIONS, TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS]) {
      for await (const page of scanPages(store, column)) {
        const batch = new Batch();
        for (const { partition, order, value } of page) {
          batch.delete(column, partition, order);
          if (column === TRANSACTIONS) batch.put(OLD_TRANSACTIONS, partition, order, value);
        }
        await store.commit(batch);
      }
    }
    const batch = new Batch();
    FORMAT.put(batch, undefined, 3);
    await store.commit(batch);
  });
}
