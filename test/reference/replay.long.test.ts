/**
 * Recorded ledgers of the reference, executed again from genesis: every transaction of every kind has the recorded
 * info.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/read/view.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { Replay } from '../../src/verify/execution/replay.ts';
import { compareRoots } from '../../src/verify/execution/state-roots.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import { IS_LONG } from '../random.ts';
import { type RecordedChain, SIMULATIONS_CHAIN, storeReferenceChain } from './reference-chain.ts';

/** Executes a ledger again. @returns how many versions have the recorded info, and the differences of the others */
async function replayed(newestVersion: number, chain?: RecordedChain) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-replay-'));
  await storeReferenceChain(folder, newestVersion, chain);
  const store = await openTestedReader({ directory: folder });
  try {
    expect(await partCount(store, 10)).toBe(1);
    expect(await partCount(store, 10, 1n)).toBe(0);
    expect(await partCount(store, 1_000_000, 300n)).toBeGreaterThan(1);
    const replay = await Replay.open(store, await openHead(store));
    const others: Record<number, string> = {};
    let equal = 0;
    for (let version = 0; version <= newestVersion; version += 1) {
      const difference = await replay.run(BigInt(version));
      if (difference === undefined) equal += 1;
      else others[version] = difference.detail;
    }
    // Also in another order, with other modules in between.
    for (let version = newestVersion; version >= 0; version -= 61) {
      expect(await replay.run(BigInt(version)), `${version}`).toBeUndefined();
    }
    return { equal, others, ...(await comparedRoots(store)) };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** Compares the roots of all checkpoints. */
async function comparedRoots(store: StoreReader) {
  let roots = 0;
  for await (const part of compareRoots(store, await openView(store), 0n)) {
    expect(part.difference).toBeUndefined();
    roots += part.compared;
  }
  return { roots };
}

/** Number of parts of a walk that keeps up to `maxValues` values. */
async function partCount(store: StoreReader, maxValues: number, first = 0n): Promise<number> {
  let parts = 0;
  const view = await openView(store);
  for await (const _ of compareRoots(store, view, first, maxValues)) parts += 1;
  return parts;
}

/** Newest version to execute: the whole chain takes a minute on a busy machine. */
const [NEWEST, ROOTS] = IS_LONG ? [1_532, 151] : [400, 32];

describe('a recorded ledger that is run again', () => {
  it(`has the recorded infos and roots: ${NEWEST + 1} versions`, async () => {
    const { equal, others, roots } = await replayed(NEWEST);
    expect(others).toEqual({});
    expect(equal).toBe(NEWEST + 1);
    expect(roots).toBe(ROOTS);
  });

  it('has the recorded infos and roots: 400 versions of the ledger of the simulations', async () => {
    const { equal, others, roots } = await replayed(399, SIMULATIONS_CHAIN);
    expect(others).toEqual({});
    expect(equal).toBe(400);
    expect(roots).toBe(73);
  });
});
