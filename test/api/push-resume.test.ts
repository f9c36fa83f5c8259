/**
 * A listener that is interrupted again and again, while the ledger grows, is pruned and restarted, receives every event
 * exactly once and in order, or is told that it has been pruned. RESUMES sets the number of interruptions.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { EventClient } from './event-client.ts';
import { GrowingStreams, STREAM_ACCOUNTS } from './growing-streams.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const RESUMES = roundsOf('RESUMES', 8, 1_000);
const TIMEOUT_MS = 60_000 + RESUMES * 500;
const STREAM = `/v1/accounts/0x${STREAM_ACCOUNTS[0]}/events/2`;
/** Number of listeners of idle streams: more than versions come at once, so that the hub distinguishes the others. */
const OTHERS = 12;
const OTHER = `/v1/accounts/0x${STREAM_ACCOUNTS[0]}/events`;

type IsPruned = (start: number) => Promise<boolean>;

/** The first sequence number that pruning has left in the stream. */
async function firstRetained(isPruned: IsPruned, from: number, end: number): Promise<number> {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await isPruned(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

test(
  `every event comes once and in order, with ${RESUMES} interruptions`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-resume-'));
    const store = await openTestedStore({ directory });
    const random = new Random(testSeed('resume'));
    const streams = await GrowingStreams.open(store, random.fraction);
    const start = async (): Promise<TestApi> => {
      const made = buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), new LogLines());
      const started = new TestApi(made);
      const origin = `http://127.0.0.1:${await started.port()}`;
      const streamsOfOthers = Array.from({ length: OTHERS }, (_, at) => `${OTHER}/${at + 100}`);
      await Promise.all(streamsOfOthers.map((path) => new EventClient(origin + path).opened));
      return started;
    };
    let app = await start();
    let isOver = false;
    const restart = async (): Promise<void> => {
      const before = app;
      app = await start();
      await before.close();
    };
    const isPrunedAt: IsPruned = async (at) => {
      for (;;) {
        // A node that is stopped meanwhile does not respond.
        const page = app.request(`${STREAM}?start=${at}&limit=1`).catch(() => undefined);
        const status = (await page)?.statusCode;
        if (status !== undefined) return status === 410;
      }
    };
    const change = async (): Promise<void> => {
      while (!isOver) {
        await streams.change();
        if (random.fraction() < 0.05) await restart();
        await sleep(random.below(12));
      }
    };
    const changing = change();
    const seen = { events: 0, pruned: 0 };
    let next = 0;
    try {
      for (let resumes = 0; resumes < RESUMES; resumes += 1) {
        // Long enough to be overtaken by pruning.
        if (random.fraction() < 0.1) await sleep(200);
        const url = `http://127.0.0.1:${await app.port()}${STREAM}`;
        const isById = next > 0 && random.fraction() < 0.7;
        const client = isById
          ? new EventClient(`${url}?start=${random.below(next)}`, {
              'last-event-id': String(next - 1),
            })
          : new EventClient(`${url}?start=${next}`);
        const opened = await client.opened.catch(() => undefined);
        // The node was stopped meanwhile.
        if (opened === undefined) continue;
        if (client.status === 200) {
          await Promise.race([client.until(1 + random.below(40)), sleep(random.below(100))]);
          client.close();
        } else {
          await client.closed;
          expect([410, 500, 503]).toContain(client.status);
        }
        await client.closed;
        let isPruned = client.status === 410;
        for (const event of client.events) {
          if (event.type === 'error') {
            const { error_code: code } = JSON.parse(event.data);
            expect(['version_pruned', 'internal_error']).toContain(code);
            isPruned = code === 'version_pruned';
            continue;
          }
          expect(event.id).toBe(String(next));
          expect(JSON.parse(event.data).sequence_number).toBe(event.id);
          next += 1;
          seen.events += 1;
        }
        if (!isPruned) continue;
        seen.pruned += 1;
        expect(await isPrunedAt(next)).toBe(true);
        next = await firstRetained(isPrunedAt, next, streams.lengths[0]!);
      }
    } finally {
      isOver = true;
      await changing;
      await app.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    }
    expect(seen.events).toBeGreaterThan(RESUMES);
    if (RESUMES >= 100) expect(seen.pruned).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
