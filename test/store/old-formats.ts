/** Stores of older formats: some that the programs of their time made, and any other as it would have been. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { withStoreToUpgrade } from '../../src/node/open-store.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_TRANSACTIONS,
  type Column,
  EVENT_TYPES,
  TRANSACTION_HASHES,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import { type Store, scanPages } from '../../src/store/store.ts';
import { OLD_TRANSACTIONS } from '../../src/store/upgrade/from-format-3.ts';

export type OldFormat = 3 | 4 | 5 | 6;

/**
 * Puts the store that `daybook sample` of a format made into a folder: of format 3 with `--transactions 60 --accounts 10
 * --seed 3`, of format 4 with `--transactions 150 --accounts 10 --seed 4`, of formats 5 and 6 with `--transactions 60
 * --accounts 10 --seed 5` and `6`.
 */
export function unpackOldStore(format: OldFormat, directory: string): void {
  const fixture = readFileSync(new URL(`format-${format}.mdb.br`, import.meta.url));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'data.mdb'), brotliDecompressSync(fixture));
}

/** What a format did not have. */
const MISSING: Readonly<Record<OldFormat, readonly Column[]>> = {
  3: [TRANSACTIONS, TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS, EVENT_TYPES],
  4: [EVENT_TYPES],
  5: [],
  6: [],
};

/** Turns a store of the present format into one of an older. @param data a folder, or `postgres://…` */
export async function downgrade(data: string, format: OldFormat): Promise<void> {
  await withStoreToUpgrade(data, (store) => setFormat(store, format));
}

/** Turns a store of the present format into one of an older. */
export async function setFormat(store: Store, format: OldFormat): Promise<void> {
  for (const column of MISSING[format]) {
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
  FORMAT.put(batch, undefined, format);
  await store.commit(batch);
}
