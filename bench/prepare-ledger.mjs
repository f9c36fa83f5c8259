// The ledger that the HTTP benchmarks ask: BENCH_DATA, or a real genesis beside the repository, made new.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A real genesis file, where one lies beside the repository. */
export const GENESIS = fileURLToPath(new URL('../../shared/genesis/mainnet.blob', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bin/daybook', import.meta.url));

/** @param {string} folder where a ledger may be made @returns {Promise<string>} the ledger's data folder */
export async function prepareLedger(folder) {
  const given = process.env.BENCH_DATA;
  if (given !== undefined) return given;
  if (!existsSync(GENESIS)) {
    throw new Error(
      'set BENCH_DATA to the data folder of a ledger: no genesis file beside the repository',
    );
  }
  const data = join(folder, 'ledger');
  const made = spawnSync(process.execPath, [PROGRAM, 'init', '--data', data, '--genesis', GENESIS]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  return data;
}
