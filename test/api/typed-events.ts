/** A ledger of any chunks, and queries of its module events by type. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

export interface TypedEvent {
  readonly version: string;
  readonly index: number;
  readonly type: string;
}

const CURSOR = 'x-node-cursor';

export async function openChunks(chunks: Iterable<Chunk>) {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-events-by-type-'));
  const store = await openTestedStore({ directory });
  const writer = await LedgerWriter.open(store);
  for (const one of chunks) await writer.append(one);
  const log = new LogLines();
  const serve = () =>
    new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  const app = serve();
  const close = async () => {
    await app.close();
    await store.close();
    rmSync(directory, { recursive: true });
    expect(log).toEqual(new LogLines());
  };
  const ask = (type: string, query = '', headers = {}) =>
    app.request({ url: `/v1/events/by_type/${encodeURIComponent(type)}?${query}`, headers });
  /** All pages from a start on. */
  const walk = async (type: string, start: string, query: string): Promise<TypedEvent[]> => {
    const found: TypedEvent[] = [];
    let next: string | undefined = start;
    while (next !== undefined) {
      const reply = await ask(type, `start=${next}&${query}`);
      expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)]);
      found.push(...reply.json<TypedEvent[]>());
      next = reply.headers[CURSOR] as string | undefined;
    }
    return found;
  };
  return { app, store, writer, ask, walk, serve, close };
}

export type ServedChunks = Awaited<ReturnType<typeof openChunks>>;
