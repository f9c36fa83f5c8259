/** The modules of the real genesis files in ../shared, if these exist. */
import { existsSync, readFileSync } from 'node:fs';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';

const GENESIS = new URL('../../../../shared/genesis/', import.meta.url);

/** Whether the real genesis files exist. */
export const genesisPresent = existsSync(GENESIS);

export const NETWORKS = ['mainnet', 'testnet', 'devnet'] as const;
export type Network = (typeof NETWORKS)[number];

/**
 * The bytecode of every module a genesis file writes, in file order (docs/spec/ledger.md §1.1, §1.2).
 */
export function genesisModules(network: Network): Buffer[] {
  const reader = new BcsReader(readFileSync(new URL(`${network}.blob`, GENESIS)));
  if (!reader.fixed(3).equals(Buffer.from([1, 0, 0]))) throw new Error('not a genesis file');
  const modules: Buffer[] = [];
  for (let left = reader.length(); left > 0; left -= 1) {
    const isTableItem = reader.variant(2, 'StateKey') === 1;
    reader.address();
    const path = reader.bytes();
    reader.variant(2, 'WriteOp');
    const value = reader.bytes();
    if (!isTableItem && path[0] === 0) modules.push(value);
  }
  return modules;
}
