/** Builds the default genesis of a local network with the program's sources: dist/genesis/default.br. */
import './run-typescript.mjs';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { frameworkFolder, frameworkNotice, readFrameworkModules } from './framework-modules.mjs';

const DIST = new URL('../dist/', import.meta.url);
export const DEFAULT_GENESIS = new URL('genesis/default.br', DIST);
const GAS_SCHEDULE = new URL('../src/chain/genesis/gas-schedule.txt', import.meta.url);

export async function buildDefaultGenesis() {
  const folder = frameworkFolder();
  if (folder === undefined) {
    console.warn('@typemove/aptos is not installed, so no default genesis is built: run npm ci');
    return;
  }
  const { buildGenesis } = await import('../src/chain/genesis/build-genesis.ts');
  const { DEFAULT_CHAIN_ID } = await import('../src/chain/genesis/default-genesis.ts');
  const { DEFAULT_SEED, mintKey } = await import('../src/chain/genesis/genesis-keys.ts');
  const { transaction } = await buildGenesis({
    modules: readFrameworkModules(folder),
    gasSchedule: readFileSync(GAS_SCHEDULE, 'utf8'),
    chainId: DEFAULT_CHAIN_ID,
    mintPublicKey: mintKey().publicKey,
    seed: DEFAULT_SEED,
  });
  const params = { [constants.BROTLI_PARAM_LGWIN]: 22, [constants.BROTLI_PARAM_QUALITY]: 9 };
  mkdirSync(new URL('genesis/', DIST), { recursive: true });
  writeFileSync(new URL('genesis/NOTICE', DIST), frameworkNotice(folder));
  writeFileSync(DEFAULT_GENESIS, brotliCompressSync(transaction, { params }));
}
