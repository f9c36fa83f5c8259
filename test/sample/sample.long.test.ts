/** Sample ledgers come out again: from a seed, as the beginning of longer ones, and when they are continued. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Commit, Committer } from '../../src/ingest/committer.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  parsePhysicalStateKey,
  physicalStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { MAX_GENESIS_ACCOUNTS } from '../../src/sample/genesis.ts';
import { MAX_BLOCK_USERS } from '../../src/sample/history/sample-ledger.ts';
import { FIRST_ORDINARY_ACCOUNT } from '../../src/sample/model/accounts.ts';
import { CAFE } from '../../src/sample/model/publishers.ts';
import {
  continueSample,
  MAX_SAMPLE_CHUNK_TRANSACTIONS,
  MAX_SAMPLE_TRANSACTIONS,
  readSampleSettings,
  SAMPLE_RESOURCE,
  SampleError,
  type SampleOptions,
  sampleChunks,
} from '../../src/sample/sample.ts';
import {
  GENERATOR_VERSION,
  MAX_SAMPLE_ACCOUNTS,
  MAX_SAMPLE_SEED,
} from '../../src/sample/settings.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';

/** A digest per version over all that the store is given. */
function digests(chunks: Iterable<Chunk>): string[] {
  const found: string[] = [];
  for (const { transactions, blocks, epochEnds } of chunks) {
    for (const transaction of transactions) {
      const hash = createHash('sha256').update(transaction.info);
      if (transaction.transaction !== undefined) hash.update(transaction.transaction);
      for (const { key, value } of transaction.writes) hash.update(key).update(value ?? 'deleted');
      for (const event of transaction.events) hash.update(event.typeTag).update(event.data);
      found.push(hash.digest('hex'));
    }
    const framing = JSON.stringify([blocks, epochEnds], (_, part) =>
      typeof part === 'bigint' ? String(part) : part,
    );
    found[found.length - 1] += createHash('sha256').update(framing).digest('hex');
  }
  return found;
}

/** SHA-256 over the versions of SMALL. */
const PINNED_DIGEST = '4c395606f5abac60e99ad5f98cb38c8cb2b4ef0a86f589e4a828e92972109c14';

const SMALL: SampleOptions = { seed: 3, transactions: 450, accounts: 60, chunkTransactions: 1 };

function small(more: Partial<SampleOptions> = {}): string[] {
  return digests(sampleChunks({ ...SMALL, ...more }));
}

describe('a sample ledger', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(small()).toEqual(small());
    expect(small({ seed: 4 })[0]).not.toBe(small()[0]);
    expect(small({ accounts: 61 })[0]).not.toBe(small()[0]);
    expect(small({ seed: MAX_SAMPLE_SEED, transactions: 10 }).length).toBeGreaterThanOrEqual(10);
  });

  it('is the one that GENERATOR_VERSION stands for', () => {
    const hash = createHash('sha256');
    for (const digest of small()) hash.update(digest);
    // When this changes on purpose, GENERATOR_VERSION goes up: stores of old samples cannot go on.
    expect([GENERATOR_VERSION, hash.digest('hex')]).toEqual([6, PINNED_DIGEST]);
  });

  it('is the beginning of every longer one', () => {
    const short = small({ transactions: 200 });
    expect(small().slice(0, short.length)).toEqual(short);
  });

  it.each([1, 2, 10, 11, 100, 1_000])('of %i transactions has them and ends a block', (asked) => {
    const made = small({ transactions: asked }).length;
    expect(made).toBeGreaterThanOrEqual(asked);
    expect(made).toBeLessThan(asked + MAX_BLOCK_USERS + 2);
  });

  it.each([-1, 0, 1])('creates at most so many accounts at genesis: %i more', (more) => {
    const [genesis] = sampleChunks({
      ...SMALL,
      transactions: 1,
      accounts: MAX_GENESIS_ACCOUNTS + more,
    });
    const created = genesis!.transactions[0]!.writes.filter(({ key }) => {
      const parsed = parsePhysicalStateKey(key);
      if (parsed.kind !== 'accessPath' || parsed.parsed?.kind !== 'resource') return false;
      return formatStructTag(parsed.parsed.tag) === '0x1::account::Account';
    });
    const framework = 3;
    const ordinary = MAX_GENESIS_ACCOUNTS + Math.min(more, 0);
    expect(created.length).toBe(framework + FIRST_ORDINARY_ACCOUNT + ordinary);
  });

  it('can do with one account', () => {
    expect(small({ accounts: 1 }).length).toBeGreaterThanOrEqual(450);
  });

  it('is the same in chunks of every size, with or without the feed’s bytes', () => {
    const bySize = [1, 7, 250, 5_000].map((chunkTransactions) =>
      [...sampleChunks({ ...SMALL, chunkTransactions })].flatMap(({ transactions }) =>
        transactions.map(({ info }) => Buffer.from(info).toString('hex')),
      ),
    );
    for (const infos of bySize) expect(infos).toEqual(bySize[0]);
    const lean = [...sampleChunks({ ...SMALL, keepsTransactions: false })];
    const transactions = lean.flatMap((chunk) => chunk.transactions);
    expect(transactions.every(({ transaction }) => transaction === undefined)).toBe(true);
    expect(transactions.map(({ info }) => Buffer.from(info).toString('hex'))).toEqual(bySize[0]);
  });
});

describe('a sample ledger in a store', () => {
  it('goes on after its head as if it had never stopped', async () => {
    const store = new MemoryStore();
    const writer = await LedgerWriter.open(store);
    const progress: number[] = [];
    const onCommit = ({ transactions }: Commit) => progress.push(transactions);
    const chunks = sampleChunks({ ...SMALL, transactions: 200 });
    await new Committer(writer, { onCommit }).pushAll(chunks);
    const stopped = Number(writer.head!.version) + 1;
    expect(progress.reduce((sum, transactions) => sum + transactions)).toBe(stopped);
    const settings = { seed: 3n, accounts: 60 };
    const more: Chunk[] = [];
    const options = { store, transactions: 450 - stopped, chunkTransactions: 1 };
    for await (const chunk of continueSample(settings, writer.head!, options)) {
      more.push(chunk);
    }
    expect(digests(more)).toEqual(small().slice(stopped));
    await new Committer(writer).pushAll(more);
    const whole = await LedgerWriter.open(new MemoryStore());
    await new Committer(whole).pushAll(sampleChunks(SMALL));
    expect(writer.head).toEqual(whole.head);
  });

  it('tells its settings', () => {
    const key = resourceStateKey(CAFE, parseStructTag(SAMPLE_RESOURCE));
    const physical = physicalStateKey(key);
    const [genesis] = sampleChunks({ ...SMALL, transactions: 1 });
    const write = genesis!.transactions[0]!.writes.find((w) => w.key.equals(physical))!;
    expect(readSampleSettings(write.value!)).toEqual({ seed: 3n, accounts: 60 });
    const other = encodeBcs((writer) => writer.u64(99n).u64(3n).u64(60n));
    expect(() => readSampleSettings(other)).toThrow(SampleError);
  });

  it('is refused as another one when its head does not fit', async () => {
    const writer = await LedgerWriter.open(new MemoryStore());
    await new Committer(writer).pushAll(sampleChunks({ ...SMALL, transactions: 100 }));
    const head = writer.head!;
    const settings = { seed: 3n, accounts: 60 };
    const heads = [
      [settings, { ...head, version: head.version - 1n }],
      [settings, { ...head, blockHeight: head.blockHeight + 1n }],
      [settings, { ...head, timestampUsecs: head.timestampUsecs + 1n }],
      [{ ...settings, seed: 4n }, head],
    ] as const;
    for (const [tried, at] of heads) {
      const chunks = continueSample(tried, at, { store: writer.reader, transactions: 1 });
      await expect(chunks.next()).rejects.toMatchObject({ code: 'not_this_sample' });
    }
  });

  it('reports a failed commit and keeps what was committed', async () => {
    const writer = await LedgerWriter.open(new MemoryStore());
    const chunks = [...sampleChunks({ ...SMALL, transactions: 50 })];
    const broken = [...chunks.slice(0, 3), ...chunks.slice(4)];
    await expect(new Committer(writer).pushAll(broken)).rejects.toMatchObject({
      code: 'chunk_not_continuous',
    });
    expect(writer.head!.version + 1n).toBe(chunks[3]!.firstVersion);
  });
});

describe('settings of a sample ledger', () => {
  const limits = [
    ['accounts', MAX_SAMPLE_ACCOUNTS],
    ['transactions', MAX_SAMPLE_TRANSACTIONS],
    ['chunkTransactions', MAX_SAMPLE_CHUNK_TRANSACTIONS],
  ] as const;

  it.each(limits)('bound %s', (name, most) => {
    for (const value of [0, -1, 1.5, Number.NaN, most + 1]) {
      expect(() => sampleChunks({ ...SMALL, [name]: value }).next()).toThrow(
        expect.objectContaining({ code: 'bad_sample_settings' }),
      );
    }
  });

  it.each(limits.slice(1))('allow the most of %s', (name, most) => {
    for (const value of [1, most - 1, most]) {
      const first = sampleChunks({ ...SMALL, [name]: value }).next();
      expect(first.value?.firstVersion).toBe(0n);
    }
  });

  it('want a seed of 64 bits', () => {
    for (const seed of [-1, 0.5, 2 ** 60, -1n, MAX_SAMPLE_SEED + 1n]) {
      expect(() => sampleChunks({ ...SMALL, seed }).next()).toThrow(SampleError);
    }
    expect(sampleChunks({ ...SMALL, seed: MAX_SAMPLE_SEED }).next().done).toBe(false);
  });
});
