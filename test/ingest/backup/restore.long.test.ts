/** Restored backups of the reference’s chain, and the contents of their ledgers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS_ONE } from '../../../src/move/types/address.ts';
import { openHead } from '../../../src/store/columns/head.ts';
import { Pruner } from '../../../src/store/pruning/prune.ts';
import { EventStreamView } from '../../../src/store/read/event-pages.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { LedgerWriter } from '../../../src/store/write/writer.ts';
import { verifyLedger } from '../../../src/verify/ledger.ts';
import {
  NEWEST_VERSION,
  startReferenceFeed,
  storeReferenceChain,
} from '../../reference/reference-chain.ts';
import { followerOf, NEVER } from '../feed-following.ts';
import { backupChain, newBackup, newFolder } from './backup-chain.ts';
import { restored } from './restoring.ts';
import { rowsSince } from './snapshots.ts';

const { epochEnds } = backupChain();
const SHAPE = { snapshotEpochs: [1, 2], transactionsPerBackup: 1_000 };

async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ directory: newFolder() });
  return await work(store).finally(() => store.close());
}

/** The version in the row of an event, as `rowsSince` writes it. */
function versionOfEvent(row: string): bigint {
  return Buffer.from(row.split(' ')[2]!, 'hex').readBigUInt64LE();
}

describe('a backup', () => {
  let original: Store;
  let feed: Awaited<ReturnType<typeof startReferenceFeed>>;
  beforeAll(async () => {
    const folder = newFolder();
    await storeReferenceChain(folder);
    original = await openSqliteStore({ directory: folder });
    feed = await startReferenceFeed();
  });
  afterAll(async () => {
    feed.close();
    feed.closeAllConnections();
    await original.close();
  });

  it('makes a ledger that follows on, and then has every row of one from genesis', async () => {
    const backup = newBackup(SHAPE);
    await withStore(async (store) => {
      const loaded = await restored(backup, store);
      const version = BigInt(epochEnds[2]!);
      expect(loaded).toMatchObject({ chainId: 4, stateVersion: version, isGenesisCovered: true });
      expect(loaded.epochs).toBe(epochEnds.length);
      expect(loaded.genesisWaypoint).toBe(backup.waypoints[0]);
      expect(loaded.head.version).toBeGreaterThan(version);
      expect(await verifyLedger(store)).toMatchObject({ damages: [] });
      const head = await openHead(store);
      // The streams of epochs and of blocks: the backup has no event of the former, and some of the latter.
      for (const creationNumber of [2n, 3n]) {
        const stream = { address: ADDRESS_ONE, creationNumber };
        const ofOriginal = new EventStreamView(original, { ...head, version }, stream);
        const last = await ofOriginal.lastSequenceNumber();
        const page = await new EventStreamView(store, head, stream).page({ start: 0n, limit: 1 });
        expect(page).toEqual({ events: [], pruned: { start: 0n, firstRetained: last! + 1n } });
      }
      const { follower, told } = await followerOf(feed.url, store, {
        until: BigInt(NEWEST_VERSION),
        timeouts: { silenceTimeoutMs: 50_000, totalTimeoutMs: 50_000 },
      });
      await follower.run(NEVER);
      expect(told.troubles).toEqual([]);
      expect(await verifyLedger(store)).toMatchObject({ damages: [] });
      expect((await openHead(store)).version).toBe(BigInt(NEWEST_VERSION));
      for (const one of [original, store]) {
        const pruner = new Pruner(await LedgerWriter.open(one), { graceMs: 0, restFactor: 0 });
        await pruner.run({ versions: 300 });
      }
      const since = async (one: Store) => await rowsSince(one, version);
      const [whole, ours] = [await since(original), await since(store)];
      // No backup has the events of streams that ended before its state, only their numbers.
      for (const rows of [whole, ours]) {
        rows['events'] = rows['events']!.filter((row) => versionOfEvent(row) > version);
      }
      // The genesis waypoint names our own validators.
      for (const column of Object.keys(whole).filter((name) => name !== 'identity')) {
        expect(ours[column], column).toEqual(whole[column]);
      }
    });
  });
});
