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

/** The seed of a random test: SEED from the environment, else new; always printed. */
export function testSeed(): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.info(`SEED=${seed}`);
  return seed;
}

/** A small generator of random numbers (mulberry32): uniform in [0, 1). */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
