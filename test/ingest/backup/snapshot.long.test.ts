/**
 * Snapshots of samples: created at many versions, loaded, damaged in every way, interrupted. SEED repeats a run, FLIPS
 * sets the number of random bit flips.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { bulkChunks } from '../../../bench/bulk-ledger/bulk-ledger.ts';
import { BackupError } from '../../../src/ingest/backup/backup-error.ts';
import { FolderSource } from '../../../src/ingest/backup/backup-source.ts';
import { verifyBackup } from '../../../src/ingest/backup/restore.ts';
import { checkpointUpTo, stateRootAt } from '../../../src/ingest/checkpoint.ts';
import { Committer } from '../../../src/ingest/committer.ts';
import { localVerifier } from '../../../src/ingest/feed/verifier.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import { EVENTS } from '../../../src/store/columns/columns.ts';
import type { EventPlace } from '../../../src/store/columns/event-column.ts';
import { openHead, readHead } from '../../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../../src/store/columns/identity-column.ts';
import { Pruner } from '../../../src/store/pruning/prune.ts';
import { openView } from '../../../src/store/read/view.ts';
import type { Store } from '../../../src/store/store.ts';
import { LedgerWriter } from '../../../src/store/write/writer.ts';
import { verifyLedger } from '../../../src/verify/ledger.ts';
import { Random, roundsOf, testSeed } from '../../random.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { digests, followerOf, NEVER, sampleStore, upstreamOver } from '../feed-following.ts';
import { filesOf, ledgerOf, loadFrom, rowsSince, snapshotOf } from './snapshots.ts';

const VERSIONS = roundsOf('VERSIONS', 5, 20);
const FLIPS = roundsOf('FLIPS', 15, 100);

const TYPE = parseStructTag('0x1::transaction_fee::FeeStatement');

/** A ledger's first module event of a type, from a position on or anywhere. */
async function firstOfType(store: Store, start?: EventPlace): Promise<readonly EventPlace[]> {
  const view = await openLedger(store).view();
  const { version } = view.state;
  const { events } = await view.typedEvents.page({ type: TYPE, start, version, limit: 1 });
  return events.map(({ version: at, index }) => ({ version: at, index }));
}

/** The versions of a ledger that state a root, newest first. */
async function checkpointsOf(store: Store, most: number): Promise<bigint[]> {
  const view = await openView(store);
  const found: bigint[] = [];
  for (let next = view.head.version; found.length < most; ) {
    const checkpoint = await checkpointUpTo(view, next);
    if (checkpoint === undefined) break;
    found.push(checkpoint.version);
    next = checkpoint.version - 1n;
    if (next < 0n) break;
  }
  return found;
}

describe('a sample', () => {
  it(`states the root of its state at ${VERSIONS} versions, and at the end of every block`, async () => {
    const store = await sampleStore(1_500);
    const head = await openHead(store);
    const versions = await checkpointsOf(store, 1_000);
    expect(versions).toHaveLength(Number(head.blockHeight) + 1);
    const random = new Random(testSeed());
    const view = await openView(store);
    for (let index = 0; index < VERSIONS; index += 1) {
      const version = index === 0 ? 0n : random.pick(versions);
      const checkpoint = await checkpointUpTo(view, version);
      expect(checkpoint?.version).toBe(version);
      expect(await stateRootAt(store, version)).toEqual(checkpoint?.stateRoot);
    }
    expect(await verifyLedger(store)).toMatchObject({
      damages: [],
      stateRootVersion: head.version,
    });
  });
});

describe('a snapshot', () => {
  let store: Store;
  let versions: bigint[];
  beforeAll(async () => {
    store = await sampleStore(1_500);
    versions = await checkpointsOf(store, 1_000);
  });

  it('makes a ledger that follows on to the columns of one from genesis', async () => {
    const upstream = await upstreamOver(store);
    const until = (await openHead(store)).version;
    for (const version of [versions[0]!, versions[5]!, versions.at(-1)!]) {
      const { folder } = await snapshotOf(store, { version });
      const { store: replica } = await ledgerOf(folder);
      expect(await firstOfType(replica)).toEqual([]);
      const below = firstOfType(replica, { version, index: 0 });
      await expect(below).rejects.toMatchObject({ code: 'version_pruned' });
      const whole = await sampleStore(1_500);
      const { follower, told } = await followerOf(upstream.url, replica, { until });
      await follower.run(NEVER);
      expect(told.troubles).toEqual([]);
      expect(await verifyLedger(replica)).toMatchObject({ damages: [] });
      // Before it has followed further, the newest version has no block to compare.
      if (version === until) continue;
      for (const one of [whole, replica]) {
        const pruner = new Pruner(await LedgerWriter.open(one), { graceMs: 0, restFactor: 0 });
        await pruner.run({ versions: version === 0n ? 700 : 1 });
      }
      expect(await rowsSince(replica, version)).toEqual(await rowsSince(whole, version));
      expect(await firstOfType(replica)).toHaveLength(1);
      expect(await firstOfType(replica)).toEqual(await firstOfType(whole));
    }
  });

  it('with transactions has the history after its version', async () => {
    const version = versions[6]!;
    const { folder, made } = await snapshotOf(store, { version, withTransactions: true });
    const head = await openHead(store);
    expect(made.newestVersion).toBe(head.version);
    const { store: replica, loaded } = await ledgerOf(folder);
    expect(loaded).toMatchObject({ stateVersion: version, isTrustCompared: false });
    expect(loaded.accumulatorRoot).toEqual(made.accumulatorRoot);
    expect(loaded.head).toMatchObject({ version: head.version, oldestVersion: version + 1n });
    const followed = await ledgerOf((await snapshotOf(store, { version })).folder);
    const upstream = await upstreamOver(store);
    const { follower } = await followerOf(upstream.url, followed.store, { until: head.version });
    await follower.run(NEVER);
    expect(await digests(replica)).toEqual(await digests(followed.store));
  });

  it('is compared with trusted roots, of its own versions only', async () => {
    const version = versions[6]!;
    const { folder, made } = await snapshotOf(store, { version, withTransactions: true });
    const trusting = (at: bigint, root: Buffer) =>
      ledgerOf(folder, { roots: [{ version: at, root }] });
    expect((await trusting(version, made.accumulatorRoot)).loaded.isTrustCompared).toBe(true);
    const other = Buffer.alloc(32, 1);
    for (const at of [version - 1n, version, version + 1n, made.newestVersion + 1n]) {
      await expect(trusting(at, other), `${at}`).rejects.toMatchObject({ code: 'backup_unproved' });
    }
  });

  it('is compared with the genesis that it states', async () => {
    const { folder } = await snapshotOf(store);
    const { genesisWaypointHash: hash } = (await LEDGER_IDENTITY.get(store))!;
    const { loaded } = await ledgerOf(folder, { genesis: { version: 0n, hash } });
    expect(loaded.genesisWaypoint).toBe(`0:${hash.toString('hex')}`);
    for (const genesis of [
      { version: 0n, hash: Buffer.alloc(32, 1) },
      { version: 1n, hash },
    ]) {
      const refused = ledgerOf(folder, { genesis });
      await expect(refused).rejects.toMatchObject({ code: 'waypoint_mismatch' });
    }
  });

  it('is compared with trusted roots where an earlier attempt had none', async () => {
    const version = versions[6]!;
    const { folder } = await snapshotOf(store, { version, withTransactions: true });
    const replica = new MemoryStore();
    const source = new FolderSource(folder);
    const commit = replica.commit.bind(replica);
    replica.commit = async (batch) => {
      await commit(batch);
      // The commit of the state has the head; the transactions come after it.
      if ((await readHead(replica))?.version !== version) return;
      throw new Error('cut');
    };
    await expect(loadFrom(source, replica)).rejects.toThrow('cut');
    replica.commit = commit;
    const roots = [{ version, root: Buffer.alloc(32, 1) }];
    await expect(loadFrom(source, replica, { roots })).rejects.toBeInstanceOf(BackupError);
    expect((await loadFrom(source, replica)).head.version).toBe((await openHead(store)).version);
  });

  it('needs no signatures, says so, and is refused where they are asked for', async () => {
    const { folder } = await snapshotOf(store);
    const name = filesOf(folder).find((file) => file.endsWith('state.manifest'))!;
    const manifest: unknown = JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString());
    expect(manifest).toMatchObject({ signed: false });
    const waypoint = { version: 0n, hash: Buffer.alloc(32) };
    const trust = { kind: 'signatures', waypoint } as const;
    const options = { trust, verifier: localVerifier(), onProgress: () => undefined };
    const opened = verifyBackup(new FolderSource(folder), options, NEVER);
    await expect(opened).rejects.toMatchObject({ code: 'backup_incomplete' });
  });

  it(`is refused with one bit flipped, ${FLIPS} times, or gives the same ledger`, async () => {
    const random = new Random(testSeed());
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const whole = await digests((await ledgerOf(folder)).store);
    const names = filesOf(folder);
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const path = join(folder, random.pick(names));
      const stored = readFileSync(path);
      // Half of the flips are before compression, because decompression would notice most of the others.
      const isPacked = flip % 2 === 0;
      const changed = isPacked ? Buffer.from(stored) : gunzipSync(stored);
      const at = random.below(changed.length);
      changed[at]! ^= 1 << random.below(8);
      writeFileSync(path, isPacked ? changed : gzipSync(changed));
      const end = await ledgerOf(folder).then(
        async ({ store: replica }) => await digests(replica),
        (error: unknown) => error,
      );
      // Names of ignored fields, and gzip's own fields, may change.
      if (!(end instanceof BackupError)) expect(end, `byte ${at} of ${path}`).toEqual(whole);
      writeFileSync(path, stored);
    }
  });

  it('is refused with a file cut, missing or exchanged', async () => {
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const other = await snapshotOf(store, { version: versions[4]!, withTransactions: true });
    const kinds = ['0-.chunk', 'streams-0-.chunk', 'state.proof', 'ledger.json'];
    for (const kind of kinds) {
      const [path, otherPath] = [folder, other.folder].map((at) =>
        join(at, filesOf(at).find((name) => name.endsWith(`/${kind}`))!),
      );
      const own = readFileSync(path!);
      const rest = gunzipSync(own);
      for (const bytes of [
        readFileSync(otherPath!),
        own.subarray(0, -1),
        own.subarray(0, 0),
        gzipSync(rest.subarray(0, -1)),
      ]) {
        writeFileSync(path!, bytes);
        await expect(ledgerOf(folder), kind).rejects.toBeInstanceOf(BackupError);
      }
      rmSync(path!);
      await expect(ledgerOf(folder), kind).rejects.toMatchObject({ code: 'backup_incomplete' });
      writeFileSync(path!, own);
    }
  });

  it('goes on where loading was cut off, and takes no other one for it', async () => {
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const other = new FolderSource((await snapshotOf(store)).folder);
    const replica = new MemoryStore();
    const commit = replica.commit.bind(replica);
    let cuts = 0;
    let left = 0;
    // Each attempt stores one more batch than the previous attempts' batches that it has to repeat.
    replica.commit = async (batch) => {
      left -= 1;
      if (left < 0) throw new Error('cut');
      return await commit(batch);
    };
    for (;;) {
      left = 2;
      const failure = await loadFrom(new FolderSource(folder), replica).then(
        () => undefined,
        (error: Error) => error,
      );
      if (failure === undefined) break;
      expect(failure.message).toBe('cut');
      await expect(loadFrom(other, replica)).rejects.toMatchObject({ code: 'import_of_other' });
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(2);
    expect(await digests(replica)).toEqual(await digests((await ledgerOf(folder)).store));
  });
});

describe('making a snapshot', () => {
  it('makes the same files every time', async () => {
    const store = await sampleStore(100);
    const [one, other] = [
      await snapshotOf(store, { withTransactions: true }),
      await snapshotOf(store, { withTransactions: true }),
    ];
    expect(other.made).toEqual(one.made);
    const files = ({ folder }: typeof one) =>
      filesOf(folder).map((name) => [name, readFileSync(join(folder, name))]);
    expect(files(other)).toEqual(files(one));
  });

  it('ends when its version is pruned meanwhile, and takes another one the next time', async () => {
    const store = await sampleStore(300);
    const [, , version] = await checkpointsOf(store, 3);
    const pruner = new Pruner(await LedgerWriter.open(store), { graceMs: 0, restFactor: 0 });
    let isPruned = false;
    // Pruned between the reads of the state and of the streams.
    const pruned = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'scan') return value.bind(target) as unknown;
        return async (...args: Parameters<Store['scan']>) => {
          if (args[0] === EVENTS && !isPruned) {
            isPruned = true;
            await pruner.run({ versions: 1 });
          }
          return target.scan(...args);
        };
      },
    });
    await expect(snapshotOf(pruned, { version: version! })).rejects.toMatchObject({
      code: 'pruned',
      message: expect.stringContaining('pruned meanwhile'),
    });
    const { made } = await snapshotOf(store);
    expect(made.version).toBe((await openHead(store)).version);
  });
});

describe('what has no snapshot', () => {
  it('an empty ledger, a version above the newest, a pruned one, one without a root', async () => {
    const make = (store: Store, version?: bigint) => snapshotOf(store, { version });
    await expect(make(new MemoryStore())).rejects.toMatchObject({ code: 'ledger_empty' });
    const store = await sampleStore(300);
    const versions = await checkpointsOf(store, 5);
    const head = await openHead(store);
    await expect(make(store, head.version + 1n)).rejects.toMatchObject({ code: 'no_checkpoint' });
    await expect(make(store, versions[1]! + 1n)).rejects.toMatchObject({
      code: 'no_checkpoint',
      message: expect.stringContaining(`the nearest one before it that does is ${versions[1]}`),
    });
    const pruner = new Pruner(await LedgerWriter.open(store), { graceMs: 0, restFactor: 0 });
    await pruner.run({ versions: 50 });
    await expect(make(store, 1n)).rejects.toMatchObject({ code: 'pruned' });
  });

  it('but genesis alone has one, and a pruned ledger, and a ledger of a snapshot when it goes on', async () => {
    const genesis = new MemoryStore();
    const [first] = bulkChunks({ seed: 5, accounts: 80, transactions: 1 });
    await new Committer(await LedgerWriter.open(genesis)).pushAll([first!]);
    const { store: begun } = await ledgerOf((await snapshotOf(genesis)).folder);
    expect(await openHead(begun)).toMatchObject({ version: 0n, oldestBlockHeight: 1n });
    // Its only version has no info.
    await expect(snapshotOf(begun)).rejects.toMatchObject({ code: 'no_checkpoint' });

    const store = await sampleStore(600);
    const pruner = new Pruner(await LedgerWriter.open(store), { graceMs: 0, restFactor: 0 });
    await pruner.run({ versions: 100 });
    const { folder, made } = await snapshotOf(store);
    const { loaded } = await ledgerOf(folder);
    expect(loaded.stateRoot).toEqual(made.stateRoot);
    const upstream = await upstreamOver(await sampleStore(600));
    const { follower } = await followerOf(upstream.url, begun, { until: made.version });
    await follower.run(NEVER);
    expect((await snapshotOf(begun)).made.stateRoot).toEqual(made.stateRoot);
  });
});
