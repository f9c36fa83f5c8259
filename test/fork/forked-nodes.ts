/** A ledger served on loopback, and forks of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { newCaches, openLedger } from '../../src/ledger/open.ts';
import { openForkStore } from '../../src/node/fork-store.ts';
import { type NodeSettings, nodeSettingsWith } from '../../src/node/settings/settings.ts';
import { StopList } from '../../src/node/shutdown.ts';
import type { OpenSource } from '../../src/state/source.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';

/** A served ledger. */
export interface ServedLedger {
  readonly app: TestApi;
  readonly url: string;
  /** Received requests. */
  readonly got: string[];
  stop(): Promise<void>;
}

/** Serves a store until it is stopped, or until the test has finished. */
export async function serveStore(
  store: StoreReader,
  openSource?: OpenSource,
): Promise<ServedLedger> {
  const ledger = openLedger(store, newCaches(), openSource);
  const app = new TestApi(buildApi(ledger, apiSettings(NO_LOAD_BOUNDS), new LogLines()));
  const got: string[] = [];
  app.server.prependListener('request', ({ method, url }) => got.push(`${method} ${url}`));
  const url = `http://127.0.0.1:${await app.port()}/v1`;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    app.server.closeAllConnections();
    stopping ??= app.close();
    return stopping;
  };
  onTestFinished(stop);
  return { app, url, got, stop };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-fork-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens and serves a fork as a node does. */
export async function serveFork(
  settings: Partial<NodeSettings> & { readonly data: string },
): Promise<ServedLedger & { readonly store: StoreReader }> {
  const stopList = new StopList();
  onTestFinished(() => stopList.stop());
  const all = await nodeSettingsWith({ forkRequestsPerSecond: 100_000, ...settings });
  const { store, openSource } = await openForkStore(all, stopList, pino({ level: 'silent' })).catch(
    async (error: unknown) => {
      await stopList.stop();
      throw error;
    },
  );
  const served = await serveStore(store, openSource);
  const stop = async (): Promise<void> => {
    await served.stop();
    await stopList.stop();
  };
  return { ...served, store, stop };
}
