/** The stores that every contract test runs against, each fresh and gone after the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { MemoryStore } from './memory-store.ts';

/** A folder that is removed when the test has finished. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An LMDB store in a folder of its own, closed when the test has finished. */
export async function temporaryLmdbStore(directory = temporaryDirectory()): Promise<Store> {
  const store = await openLmdbStore({ directory });
  onTestFinished(() => store.close());
  return store;
}

/** Engines by name. */
export const ENGINES: readonly (readonly [name: string, open: () => Promise<Store>])[] = [
  ['memory', async () => new MemoryStore()],
  ['memory, answering later', async () => new MemoryStore({ answers: 'later' })],
  ['LMDB', () => temporaryLmdbStore()],
];
