/** The default genesis, built from the development dependency with the framework. */
import { readFileSync } from 'node:fs';
import { buildGenesis } from '../../src/chain/genesis/build-genesis.ts';
import { DEFAULT_CHAIN_ID } from '../../src/chain/genesis/default-genesis.ts';
import { DEFAULT_SEED, mintKey } from '../../src/chain/genesis/genesis-keys.ts';

interface FrameworkScript {
  frameworkFolder(): string | undefined;
  readFrameworkModules(folder: string): Buffer[];
}

const SCRIPT = new URL('../../scripts/framework-modules.mjs', import.meta.url).href;
const GAS_SCHEDULE = new URL('../../src/chain/genesis/gas-schedule.txt', import.meta.url);

/** The bytecode of the framework. */
export async function frameworkModules(): Promise<Buffer[]> {
  const script = (await import(SCRIPT)) as FrameworkScript;
  return script.readFrameworkModules(script.frameworkFolder()!);
}

/** The parts from which the build creates the default genesis. */
export async function genesisParts() {
  return {
    modules: await frameworkModules(),
    gasSchedule: readFileSync(GAS_SCHEDULE, 'utf8'),
    chainId: DEFAULT_CHAIN_ID,
    mintPublicKey: mintKey().publicKey,
    seed: DEFAULT_SEED,
  };
}

let made: ReturnType<typeof buildGenesis> | undefined;

/** The default genesis of the sources, created once per process. */
export async function madeGenesis(): ReturnType<typeof buildGenesis> {
  made ??= genesisParts().then(buildGenesis);
  return await made;
}
