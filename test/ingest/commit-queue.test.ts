/** Commits of a follower when a store that was full for one of them takes the next again. */
import { describe, expect, it } from 'vitest';
import { CommitQueue } from '../../src/ingest/feed/commit-queue.ts';
import { newFollowCounters } from '../../src/ingest/feed/follow-counters.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import type { Batch } from '../../src/store/batch.ts';
import type { Chunk } from '../../src/store/chunk.ts';
import type { Head } from '../../src/store/columns/head.ts';
import { StoreFullError } from '../../src/store/store-error.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';

/** Has no room for chosen commits, counted from 0. */
class SmallStore extends MemoryStore {
  readonly #refused: ReadonlySet<number>;
  #commits = 0;

  constructor(refused: readonly number[]) {
    super({ answers: 'later' });
    this.#refused = new Set(refused);
  }

  override async commit(batch: Batch): Promise<void> {
    const commit = this.#commits;
    this.#commits += 1;
    if (this.#refused.has(commit)) throw new StoreFullError('here', batch.byteLength, 0);
    await super.commit(batch);
  }
}

const CHUNKS: readonly Chunk[] = [
  ...sampleChunks({ seed: 3, transactions: 300, accounts: 20, chunkTransactions: 30 }),
].slice(0, 8);

/** Pushes all chunks, whatever happens. @returns what each push and the drain ended with */
async function pushAll(queue: CommitQueue): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const chunk of CHUNKS) outcomes.push(await queue.push(chunk).catch((error) => error));
  outcomes.push(await queue.drain().catch((error) => error));
  return outcomes;
}

describe('commits of a follower', () => {
  it.each(CHUNKS.map((_, index) => index))('no room for commit %i', async (refused) => {
    const store = new SmallStore([refused]);
    const writer = await LedgerWriter.open(store);
    const heads: Head[] = [];
    const queue = new CommitQueue(writer, newFollowCounters(), (head) => heads.push(head));
    const outcomes = await pushAll(queue);
    // Chunks behind it do not continue the ledger; what is told is that there was no room.
    const failures = outcomes.filter((outcome) => outcome !== undefined);
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(failures).size).toBe(1);
    expect(failures[0]).toMatchObject({ code: 'store_full' });
    expect(outcomes.at(-1)).toBe(failures[0]);
    expect(heads).toHaveLength(refused);
    expect(writer.head?.version).toBe(heads.at(-1)?.version);
    // With room a new queue goes on where the ledger ends.
    const again = new CommitQueue(writer, newFollowCounters(), (head) => heads.push(head));
    for (const chunk of CHUNKS.slice(refused)) await again.push(chunk);
    await again.drain();
    expect(heads).toHaveLength(CHUNKS.length);
    const last = CHUNKS.at(-1)!;
    expect(writer.head?.version).toBe(last.firstVersion + BigInt(last.transactions.length) - 1n);
  });
});
