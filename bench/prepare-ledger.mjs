// The ledger for the HTTP benchmarks: BENCH_DATA, or a new one imported from a real genesis beside the repository.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @param {'mainnet' | 'devnet'} network @returns {string} path of a real genesis file, which may exist beside the
 *   repository
 */
const genesisOf = (network) =>
  fileURLToPath(new URL(`../../shared/genesis/${network}.blob`, import.meta.url));

export const GENESIS = genesisOf('mainnet');
const PROGRAM = fileURLToPath(new URL('../bin/daybook', import.meta.url));

/**
 * @param {string} folder where a ledger may be created
 * @param {'mainnet' | 'devnet'} [network]
 * @returns {Promise<string>} the ledger's data folder
 */
export async function prepareLedger(folder, network = 'mainnet') {
  const given = process.env.BENCH_DATA;
  if (given !== undefined) return given;
  const genesis = genesisOf(network);
  if (!existsSync(genesis)) {
    throw new Error(
      'set BENCH_DATA to the data folder of a ledger: no genesis file beside the repository',
    );
  }
  const data = join(folder, 'ledger');
  const made = spawnSync(process.execPath, [PROGRAM, 'init', '--data', data, '--genesis', genesis]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return data;
}
