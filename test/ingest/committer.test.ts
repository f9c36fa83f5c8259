/** The commit pipeline: order, failures, and a store that is full during some commits. */
import { describe, expect, it, vi } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { type Commit, Committer } from '../../src/ingest/committer.ts';
import type { Batch } from '../../src/store/batch.ts';
import type { Head } from '../../src/store/columns/head.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';

/** Refuses chosen commits, counted from 0. */
class SmallStore extends MemoryStore {
  readonly #refused: ReadonlySet<number>;
  readonly #code: StoreError['code'];
  #commits = 0;

  constructor(refused: readonly number[], code: StoreError['code'] = 'store_full') {
    super({ answers: 'later' });
    this.#refused = new Set(refused);
    this.#code = code;
  }

  override async commit(batch: Batch): Promise<void> {
    const commit = this.#commits;
    this.#commits += 1;
    if (this.#refused.has(commit)) throw new StoreError(this.#code, 'not now');
    await super.commit(batch);
  }
}

const CHUNKS: readonly Chunk[] = [
  ...bulkChunks({ seed: 3, transactions: 300, accounts: 20, chunkTransactions: 30 }),
].slice(0, 8);

const LAST = CHUNKS.at(-1)!;
const LAST_VERSION = LAST.firstVersion + BigInt(LAST.transactions.length) - 1n;

/** Pushes all chunks, even after failures. @returns the outcome of each push and of the drain */
async function pushAll(committer: Committer): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const chunk of CHUNKS) outcomes.push(await committer.push(chunk).catch((error) => error));
  outcomes.push(await committer.drain().catch((error) => error));
  return outcomes;
}

describe('commits', () => {
  it.each(CHUNKS.map((_, index) => index))(
    'fail when commit %i finds the disk full',
    async (refused) => {
      const store = new SmallStore([refused]);
      const writer = await LedgerWriter.open(store);
      const heads: Head[] = [];
      const onCommit = ({ head }: Commit) => heads.push(head);
      const outcomes = await pushAll(new Committer(writer, { onCommit }));
      // Later chunks do not continue the ledger either, but the full disk is the reported failure.
      const failures = outcomes.filter((outcome) => outcome !== undefined);
      expect(failures.length).toBeGreaterThan(0);
      expect(new Set(failures).size).toBe(1);
      expect(failures[0]).toMatchObject({ code: 'store_full' });
      expect(outcomes.at(-1)).toBe(failures[0]);
      expect(heads).toHaveLength(refused);
      expect(writer.head?.version).toBe(heads.at(-1)?.version);
      // When there is space, a new committer continues at the end of the ledger.
      await new Committer(writer, { onCommit }).pushAll(CHUNKS.slice(refused));
      expect(heads).toHaveLength(CHUNKS.length);
      expect(writer.head?.version).toBe(LAST_VERSION);
    },
  );

  const trouble = (['store_full', 'store_unreachable'] as const).flatMap((code) =>
    CHUNKS.map((_, index) => [index, code] as const),
  );
  it.each(trouble)('wait when commit %i fails with %s', async (refused, code) => {
    // The next chunk fails before it reaches the store, so the next two commits are attempts of the same chunk.
    const store = new SmallStore([refused, refused + 1, refused + 2], code);
    const writer = await LedgerWriter.open(store);
    const heads: Head[] = [];
    const waits: StoreError[] = [];
    const committer = new Committer(writer, {
      onCommit: ({ head }) => heads.push(head),
      onTransientError: async (error) => void waits.push(error),
    });
    expect((await committer.pushAll(CHUNKS))?.version).toBe(LAST_VERSION);
    expect(waits).toHaveLength(3);
    expect(heads).toHaveLength(CHUNKS.length);
  });

  it('wait for a store that cannot be read when a chunk is translated', async () => {
    const writer = await LedgerWriter.open(new MemoryStore({ answers: 'later' }));
    const failure = new StoreError('store_unreachable', 'not now');
    const read = vi.spyOn(writer.reader, 'seekLastMany').mockRejectedValueOnce(failure);
    const waits: StoreError[] = [];
    const committer = new Committer(writer, {
      onTransientError: async (error) => void waits.push(error),
    });
    expect((await committer.pushAll(CHUNKS))?.version).toBe(LAST_VERSION);
    expect(read).toHaveBeenCalled();
    expect(waits).toEqual([failure]);
  });

  it.each(['store_lock_lost', 'store_io'] as const)('do not wait after %s', async (code) => {
    const writer = await LedgerWriter.open(new SmallStore([2], code));
    const committer = new Committer(writer, {
      onTransientError: async () => expect.fail('it waits'),
    });
    await expect(committer.pushAll(CHUNKS)).rejects.toMatchObject({ code });
  });

  it('end with the reason when nobody waits any more', async () => {
    const writer = await LedgerWriter.open(new SmallStore([2]));
    const reason = new Error('stopped');
    const committer = new Committer(writer, { onTransientError: () => Promise.reject(reason) });
    await expect(committer.pushAll(CHUNKS)).rejects.toBe(reason);
    await expect(committer.drain()).rejects.toBe(reason);
    expect(writer.head?.version).toBe(CHUNKS[2]!.firstVersion - 1n);
  });

  it('of chunks that end in a failure are on disk before it is thrown', async () => {
    const writer = await LedgerWriter.open(new SmallStore([]));
    const failure = new Error('no more chunks');
    function* failing() {
      yield* CHUNKS.slice(0, 3);
      throw failure;
    }
    await expect(new Committer(writer).pushAll(failing())).rejects.toBe(failure);
    expect(writer.head?.version).toBe(CHUNKS[3]!.firstVersion - 1n);
  });
});
