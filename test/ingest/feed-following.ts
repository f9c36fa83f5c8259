/** Follows in this process: stores, samples and followers for tests of the feed. */
import { onTestFinished } from 'vitest';
import { type BulkOptions, bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import {
  Follower,
  type FollowObserver,
  type FollowOptions,
} from '../../src/ingest/feed/follower.ts';
import { localVerifier } from '../../src/ingest/feed/verifier.ts';
import { interfaceBase } from '../../src/remote/node-url.ts';
import { RemoteError } from '../../src/remote/remote-error.ts';
import { COLUMNS } from '../../src/store/columns/columns.ts';
import { columnDigest } from '../../src/store/read/digest.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TestUpstream } from './feed-upstream.ts';

/** A sample ledger in memory. */
export async function sampleStore(
  transactions: number,
  more: Partial<BulkOptions> = {},
): Promise<Store> {
  const store = new MemoryStore();
  const writer = await LedgerWriter.open(store);
  await new Committer(writer).pushAll(bulkChunks({ seed: 5, accounts: 80, ...more, transactions }));
  return store;
}

/** An upstream over a store, stopped when the test has finished. */
export async function upstreamOver(store: StoreReader): Promise<TestUpstream> {
  const upstream = await TestUpstream.start(store);
  onTestFinished(() => upstream.stop());
  return upstream;
}

/** Rows and digest of every column, by name. */
export async function digests(store: StoreReader): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const column of COLUMNS) {
    const { rows, digest } = await columnDigest(store, column);
    found[column.name] = `${rows} rows ${digest.toString('hex')}`;
  }
  return found;
}

/** Messages of a follower to its observer. */
export interface Told {
  readonly troubles: Error[];
  readonly incomparable: bigint[];
}

/** A follower of an upstream into a store, with short waits. */
export async function followerOf(
  upstream: string,
  store: Store,
  options: Partial<FollowOptions> = {},
  observer: Partial<FollowObserver> = {},
): Promise<{ readonly follower: Follower; readonly writer: LedgerWriter; readonly told: Told }> {
  const writer = await LedgerWriter.open(store);
  const told: Told = { troubles: [], incomparable: [] };
  const follower = new Follower(
    writer,
    localVerifier(),
    {
      upstream: interfaceBase(upstream),
      until: undefined,
      trustedRoots: [],
      waypoint: undefined,
      keepsTransactions: true,
      pageTransactions: 1_000,
      pollIntervalMs: 20,
      timeouts: { silenceTimeoutMs: 10_000, totalTimeoutMs: 60_000 },
      ...options,
    },
    {
      progress: () => undefined,
      retrying: (error) => told.troubles.push(error),
      incomparable: ({ version }) => told.incomparable.push(version),
      ...observer,
    },
  );
  return { follower, writer, told };
}

/** The error that ends following. */
export async function followError(following: Promise<unknown>): Promise<RemoteError> {
  const outcome = await following.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof RemoteError) return outcome;
  throw outcome ?? new Error('following ended without an error');
}

/** A signal that is never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;
