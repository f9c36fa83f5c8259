/** A ledger of one version with modules, in a SQLite store of its own, and an API over it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { moduleIdOf } from '../../src/move/modules/compiled.ts';
import { readModule } from '../../src/move/modules/read.ts';
import { moduleStateKey, physicalStateKey } from '../../src/move/types/state-key.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** Chain id of the ledger. */
export const CHAIN_ID = 4;

export interface ModuleLedger {
  readonly app: TestApi;
  readonly log: LogLines;
  close(): Promise<void>;
}

/** Writes the ledger to a folder; the caller must close the store. */
export async function writeModuleLedger(
  directory: string,
  modules: readonly Buffer[],
): Promise<Store> {
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  const writes = modules.map((bytes) => {
    const { address, name } = moduleIdOf(readModule(bytes));
    return { key: physicalStateKey(moduleStateKey(address, name)), value: bytes };
  });
  await writer.append({
    firstVersion: 0n,
    transactions: [{ writes, events: [], info: Buffer.from('info') }],
    blocks: [
      {
        height: 0n,
        firstVersion: 0n,
        epoch: 0n,
        round: 0n,
        timestampUsecs: 0n,
        id: Buffer.alloc(32),
      },
    ],
    epochEnds: [],
    frozenRoots: [Buffer.alloc(32)],
    identity: {
      chainId: CHAIN_ID,
      genesisWaypointHash: Buffer.alloc(32),
      keepsTransactions: false,
    },
  });
  return store;
}

/** Writes the ledger to a temporary folder and opens an API over it. */
export async function openModuleLedger(
  modules: readonly Buffer[],
  changes: Partial<ApiSettings> = {},
): Promise<ModuleLedger> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-modules-'));
  const store = await writeModuleLedger(directory, modules);
  const log = new LogLines();
  const app = new TestApi(
    buildApi(openTestedLedger(store), apiSettings({ ...NO_LOAD_BOUNDS, ...changes }), log),
  );
  return {
    app,
    log,
    close: async () => {
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
