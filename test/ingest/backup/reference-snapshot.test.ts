/** Snapshots of the reference's own chain, whose roots were not computed by this project. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointUpTo } from '../../../src/ingest/checkpoint.ts';
import { openHead } from '../../../src/store/columns/head.ts';
import { Pruner } from '../../../src/store/pruning/prune.ts';
import { openView } from '../../../src/store/read/view.ts';
import type { Store } from '../../../src/store/store.ts';
import { LedgerWriter } from '../../../src/store/write/writer.ts';
import { verifyLedger } from '../../../src/verify/ledger.ts';
import { openTestedStore } from '../../api/tested-ledger.ts';
import {
  NEWEST_VERSION,
  startReferenceFeed,
  storeReferenceChain,
} from '../../reference/reference-chain.ts';
import { digests, followerOf, NEVER } from '../feed-following.ts';
import { ledgerOf, rowsSince, snapshotOf } from './snapshots.ts';

describe('a snapshot of the reference’s chain', () => {
  let folder: string;
  let store: Store;
  let feed: Awaited<ReturnType<typeof startReferenceFeed>>;
  let version: bigint;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'daybook-reference-'));
    await storeReferenceChain(folder);
    store = await openTestedStore({ directory: folder });
    feed = await startReferenceFeed();
    const view = await openView(store);
    ({ version } = (await checkpointUpTo(view, 800n))!);
  });
  afterAll(async () => {
    feed.close();
    feed.closeAllConnections();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('with its transactions has every row of a ledger that followed', async () => {
    const { folder: made } = await snapshotOf(store, { version, withTransactions: true });
    const { store: replica, loaded } = await ledgerOf(made);
    expect(loaded.head.version).toBe(BigInt(NEWEST_VERSION));
    const { store: followed } = await ledgerOf((await snapshotOf(store, { version })).folder);
    const { follower } = await followerOf(feed.url, followed, {
      until: BigInt(NEWEST_VERSION),
      timeouts: { silenceTimeoutMs: 50_000, totalTimeoutMs: 50_000 },
    });
    await follower.run(NEVER);
    expect(await digests(replica)).toEqual(await digests(followed));
  });

  it('makes a ledger that follows on, and then has every row of one from genesis', async () => {
    const { folder: made } = await snapshotOf(store, { version });
    const { store: replica, loaded } = await ledgerOf(made);
    expect(loaded.head).toMatchObject({ version, oldestVersion: version });
    expect(loaded.chainId).toBe(4);
    expect(await verifyLedger(replica)).toMatchObject({ damages: [] });
    const { follower, told } = await followerOf(feed.url, replica, {
      until: BigInt(NEWEST_VERSION),
      timeouts: { silenceTimeoutMs: 50_000, totalTimeoutMs: 50_000 },
    });
    await follower.run(NEVER);
    expect(told.troubles).toEqual([]);
    const head = await openHead(replica);
    expect(head).toEqual({
      ...(await openHead(store)),
      oldestVersion: version + 1n,
      oldestBlockHeight: loaded.head.blockHeight + 1n,
    });
    expect(await verifyLedger(replica)).toMatchObject({
      damages: [],
      stateRootVersion: BigInt(NEWEST_VERSION),
    });
    for (const one of [store, replica]) {
      const pruner = new Pruner(await LedgerWriter.open(one), { graceMs: 0, restFactor: 0 });
      await pruner.run({ versions: 300 });
    }
    expect((await openHead(store)).oldestVersion).toBeGreaterThan(version);
    const [whole, since] = [await rowsSince(store, version), await rowsSince(replica, version)];
    for (const column of Object.keys(whole)) {
      expect(since[column], column).toEqual(whole[column]);
    }
    expect(await verifyLedger(replica)).toMatchObject({ damages: [] });
  });
});
