/** An API over a ledger with growing streams, and listeners that end with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import type { LedgerReader } from '../../src/ledger/open.ts';
import { randomSource, testSeed } from '../random.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { EventClient } from './event-client.ts';
import { GrowingStreams, STREAM_ACCOUNTS } from './growing-streams.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** The stream that grows most. */
export const STREAM = `/v1/accounts/0x${STREAM_ACCOUNTS[0]}/events/2`;

export async function growing(
  changes: Partial<ApiSettings> = {},
  log = new LogLines(),
  around: (ledger: LedgerReader) => LedgerReader = (ledger) => ledger,
) {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-push-'));
  const store = await openTestedStore({ directory });
  const streams = await GrowingStreams.open(store, randomSource(testSeed('push')));
  const settings = apiSettings({ ...NO_LOAD_BOUNDS, ...changes });
  const app = new TestApi(buildApi(around(openTestedLedger(store)), settings, log));
  const base = `http://127.0.0.1:${await app.port()}`;
  const clients: EventClient[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    ...{ app, streams },
    listen(path: string, headers?: Record<string, string>): Promise<EventClient> {
      const client = new EventClient(base + path, headers);
      clients.push(client);
      return client.opened;
    },
    async growTo(length: number): Promise<void> {
      while (streams.lengths[0]! < length) await streams.grow();
    },
  };
}
