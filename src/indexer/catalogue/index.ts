import { ASSET_TABLES } from './asset-tables.ts';
import { STAKING_TABLES } from './staking-tables.ts';
import { STATE_TABLES } from './state-tables.ts';
import type { Table } from './table.ts';
import { TOKEN_TABLES } from './token-tables.ts';
import { TRANSACTION_TABLES } from './transaction-tables.ts';

/** Every table and view, sorted by name. Tables must be created before the views. */
export const CATALOGUE: readonly Table[] = [
  ...TRANSACTION_TABLES,
  ...ASSET_TABLES,
  ...TOKEN_TABLES,
  ...STATE_TABLES,
  ...STAKING_TABLES,
].sort((a, b) => (a.name < b.name ? -1 : 1));

const BY_NAME = new Map(CATALOGUE.map((table) => [table.name, table]));

/** @throws RangeError if the catalogue has no such table. */
export function tableOf(name: string): Table {
  const table = BY_NAME.get(name);
  if (table === undefined) {
    throw new RangeError(`The catalogue has no table ${name}`);
  }
  return table;
}
