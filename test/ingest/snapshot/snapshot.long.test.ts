/**
 * Snapshots of samples: made at many versions, loaded, damaged in every way, cut off. SEED repeats a run, FLIPS (300)
 * says how many random bits are flipped.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Committer } from '../../../src/ingest/committer.ts';
import { PageError } from '../../../src/ingest/feed/feed-error.ts';
import { checkpointUpTo, stateRootAt } from '../../../src/ingest/snapshot/checkpoint.ts';
import {
  ChunkContent,
  MAX_CHUNK_BYTES,
  PART_RECORDS,
} from '../../../src/ingest/snapshot/chunk-file.ts';
import { SnapshotLoad, type SnapshotSource } from '../../../src/ingest/snapshot/load-snapshot.ts';
import { makeSnapshot } from '../../../src/ingest/snapshot/make-snapshot.ts';
import {
  encodeManifest,
  MAX_MANIFEST_BYTES,
  parseManifest,
} from '../../../src/ingest/snapshot/manifest.ts';
import { SnapshotError } from '../../../src/ingest/snapshot/snapshot-error.ts';
import { openSnapshotFiles, packSnapshot } from '../../../src/ingest/snapshot/snapshot-files.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { StateRootBuilder } from '../../../src/move/crypto/sparse-merkle.ts';
import { encodeTransactionInfo } from '../../../src/move/transactions/transaction-info.ts';
import { ADDRESS_ONE } from '../../../src/move/types/address.ts';
import { CHAIN_ID_TAG } from '../../../src/move/types/framework-tag.ts';
import {
  physicalStateKey,
  resourceStateKey,
  stateKeyHash,
} from '../../../src/move/types/state-key.ts';
import { stateValueHash } from '../../../src/move/types/state-value.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import { sampleChunks } from '../../../src/sample/sample.ts';
import { EVENTS } from '../../../src/store/columns/columns.ts';
import type { EventPlace } from '../../../src/store/columns/event-column.ts';
import { openHead } from '../../../src/store/columns/head.ts';
import { Pruner } from '../../../src/store/pruning/prune.ts';
import type { Store } from '../../../src/store/store.ts';
import { openView } from '../../../src/store/view.ts';
import { LedgerWriter } from '../../../src/store/writer.ts';
import { verifyLedger } from '../../../src/verify/ledger.ts';
import { Random, testSeed } from '../../random.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { digests, followerOf, NEVER, sampleStore, upstreamOver } from '../feed-following.ts';
import { ledgerOf, loadFrom, rowsSince, snapshotOf, temporaryFolder } from './snapshots.ts';

const FLIPS = Number(process.env['FLIPS'] ?? 300);

const TYPE = parseStructTag('0x1::transaction_fee::FeeStatement');

/** The first module event of a type that a ledger has, at a place or anywhere. */
async function firstOfType(store: Store, start?: EventPlace): Promise<readonly EventPlace[]> {
  const view = await openLedger(store).view();
  const { version } = view.state;
  const { events } = await view.typedEvents.page({ type: TYPE, start, version, limit: 1 });
  return events.map(({ version: at, index }) => ({ version: at, index }));
}

/** The versions of a ledger that state a root, the newest first. */
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
  it('states the root of its state at 20 versions, and at the end of every block', async () => {
    const store = await sampleStore(2_500);
    const head = await openHead(store);
    const versions = await checkpointsOf(store, 1_000);
    expect(versions).toHaveLength(Number(head.blockHeight) + 1);
    const random = new Random(testSeed());
    const view = await openView(store);
    for (let index = 0; index < 20; index += 1) {
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
      // Until it follows on, the newest version has no block that it could be compared by.
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

  it('with transactions has the history after its version, in a folder and in one file', async () => {
    const version = versions[6]!;
    const { folder, made } = await snapshotOf(store, { version, withTransactions: true });
    const head = await openHead(store);
    expect(made.newestVersion).toBe(head.version);
    const { store: replica, loaded } = await ledgerOf(folder);
    expect(loaded).toMatchObject({ stateVersion: version, isTrustCompared: false });
    expect(loaded.head).toMatchObject({ version: head.version, oldestVersion: version + 1n });
    const file = join(temporaryFolder(), 'snapshot.tar');
    await packSnapshot(folder, file);
    const { store: packed } = await ledgerOf(file);
    expect(await digests(packed)).toEqual(await digests(replica));
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
      ledgerOf(folder, { trustedRoots: [{ version: at, root }] });
    expect((await trusting(version, made.accumulatorRoot)).loaded.isTrustCompared).toBe(true);
    const other = Buffer.alloc(32, 1);
    await expect(trusting(version, other)).rejects.toMatchObject({ code: 'trust_contradicts' });
    await expect(trusting(version + 1n, other)).rejects.toBeInstanceOf(PageError);
    for (const at of [version - 1n, made.newestVersion + 1n]) {
      await expect(trusting(at, other)).rejects.toMatchObject({ code: 'trust_elsewhere' });
    }
  });

  it('is compared with trusted roots where an earlier attempt had none', async () => {
    const version = versions[6]!;
    const { folder, made } = await snapshotOf(store, { version, withTransactions: true });
    const source = await openSnapshotFiles(folder);
    const replica = new MemoryStore();
    const onProgress = (chunks: number): void => {
      if (chunks === made.chunks.length) throw new Error('cut');
    };
    await expect(loadFrom(source, replica, { onProgress })).rejects.toThrow('cut');
    await expect.poll(async () => (await openHead(replica)).version).toBe(made.newestVersion);
    const trustedRoots = [{ version: version + 1n, root: Buffer.alloc(32, 1) }];
    await expect(loadFrom(source, replica, { trustedRoots })).rejects.toBeInstanceOf(PageError);
  });

  it(`is refused with one bit flipped, ${FLIPS} times`, async () => {
    const random = new Random(testSeed());
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const file = join(temporaryFolder(), 'snapshot.tar');
    await packSnapshot(folder, file);
    const names = readdirSync(folder);
    const bytes = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
    const packed = readFileSync(file);
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const isPacked = flip % 2 === 0;
      const name = isPacked ? file : join(folder, random.pick(names));
      const whole = isPacked ? packed : bytes.get(name.slice(folder.length + 1))!;
      const changed = Buffer.from(whole);
      const at = random.below(changed.length);
      changed[at]! ^= 1 << random.below(8);
      writeFileSync(name, changed);
      const path = isPacked ? file : folder;
      await expect(ledgerOf(path), `byte ${at} of ${name}`).rejects.toBeInstanceOf(SnapshotError);
      writeFileSync(name, whole);
    }
    expect((await ledgerOf(folder)).loaded.keys).toBeGreaterThan(100);
  });

  it('is refused with a file cut, missing or exchanged', async () => {
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const file = join(temporaryFolder(), 'snapshot.tar');
    await packSnapshot(folder, file);
    const packed = readFileSync(file);
    for (const length of [0, 511, 512, packed.length - 1_024, packed.length - 1]) {
      writeFileSync(file, packed.subarray(0, length));
      await expect(ledgerOf(file), `${length} bytes`).rejects.toMatchObject({ code: 'damaged' });
    }
    const other = await snapshotOf(store, { version: versions[4]!, withTransactions: true });
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.zst'))) {
      const own = readFileSync(join(folder, name));
      writeFileSync(join(folder, name), readFileSync(join(other.folder, name)));
      await expect(ledgerOf(folder), name).rejects.toMatchObject({ code: 'damaged' });
      writeFileSync(join(folder, name), own);
    }
  });

  it('goes on where loading was cut off, and takes no other one for it', async () => {
    const { folder } = await snapshotOf(store, { version: versions[3]!, withTransactions: true });
    const source = await openSnapshotFiles(folder);
    let asked = 0;
    const cutting: SnapshotSource = {
      manifest: () => source.manifest(),
      // Of each attempt only the first file arrives.
      chunk: async (entry) => {
        asked += 1;
        if (asked > 1) throw new Error('cut');
        return source.chunk(entry);
      },
      close: async () => undefined,
    };
    const replica = new MemoryStore();
    const other = await openSnapshotFiles((await snapshotOf(store)).folder);
    let cuts = 0;
    for (;;) {
      asked = 0;
      const failure = await loadFrom(cutting, replica).then(
        () => undefined,
        (error: Error) => error,
      );
      if (failure === undefined) break;
      expect(failure.message).toBe('cut');
      await expect(loadFrom(other, replica)).rejects.toMatchObject({ code: 'import_of_other' });
      cuts += 1;
    }
    expect(cuts).toBe(readdirSync(folder).length - 2);
    expect(await digests(replica)).toEqual(await digests((await ledgerOf(folder)).store));
  });
});

describe('a chunk of more records than are read together', () => {
  const CHAIN_ID = 4;

  /** A snapshot of one chunk, of that many values. */
  async function snapshotOfValues(count: number): Promise<SnapshotSource> {
    const ofChain = physicalStateKey(resourceStateKey(ADDRESS_ONE, CHAIN_ID_TAG));
    const values = Array.from({ length: count }, (_, index) => {
      const raw = Buffer.alloc(5, 0xff);
      raw.writeUInt32BE(index, 1);
      const key = index === 0 ? ofChain : raw;
      return { key, hash: stateKeyHash(key), bytes: Buffer.of(CHAIN_ID), metadata: undefined };
    }).sort((left, right) => Buffer.compare(left.hash, right.hash));
    const content = new ChunkContent();
    const root = new StateRootBuilder();
    for (const value of values) {
      content.addValue(value.key, value);
      root.add(value.hash, stateValueHash(value));
    }
    const { entry, file } = await content.take('state', 0);
    const none = Buffer.alloc(32);
    const info = encodeTransactionInfo({
      ...{ kind: 'v0', gasUsed: 0n, status: { kind: 'success' }, transactionHash: none },
      ...{ eventRootHash: none, stateChangeHash: none, auxiliaryInfoHash: undefined },
      stateCheckpointHash: root.rootHash(),
    });
    const manifest = encodeManifest({
      ...{ chainId: CHAIN_ID, genesisWaypointHash: none, version: 0n, newestVersion: 0n, info },
      ...{ timestampUsecs: 0n, epoch: 0n, blockHeight: 0n, rootsBefore: [], chunks: [entry] },
    });
    return {
      manifest: async () => manifest,
      chunk: async () => file,
      close: async () => undefined,
    };
  }

  it.each([
    [PART_RECORDS - 1, 1],
    [PART_RECORDS, 1],
    [PART_RECORDS + 1, 2],
    [2 * PART_RECORDS + 1, 3],
  ])('%i: stored in %i parts, and continued after each', async (count, parts) => {
    const source = await snapshotOfValues(count);
    const whole = new MemoryStore();
    const commit = vi.spyOn(whole, 'commit');
    expect((await loadFrom(source, whole)).keys).toBe(count);
    // The head, and the end of the import.
    expect(commit).toHaveBeenCalledTimes(parts + 2);
    const resumed = new MemoryStore();
    const commitTo = resumed.commit.bind(resumed);
    for (let part = 1; part <= parts + 1; part += 1) {
      let commits = 0;
      resumed.commit = async (batch) => {
        commits += 1;
        if (commits > 1) throw new Error('cut');
        return await commitTo(batch);
      };
      await expect(loadFrom(source, resumed)).rejects.toThrow('cut');
    }
    resumed.commit = commitTo;
    expect((await loadFrom(source, resumed)).keys).toBe(count);
    expect(await digests(resumed)).toEqual(await digests(whole));
  });
});

describe('making a snapshot', () => {
  const ignore = (): void => undefined;

  it('goes on after everything but the packing was done', async () => {
    const store = await sampleStore(100);
    const folder = join(temporaryFolder(), 'snapshot');
    const request = { withTransactions: true };
    const made = await makeSnapshot(store, folder, request, ignore);
    const manifest = readFileSync(join(folder, 'manifest.json'));
    const done: string[] = [];
    expect(await makeSnapshot(store, folder, request, ({ what }) => done.push(what))).toEqual(made);
    expect(readFileSync(join(folder, 'manifest.json'))).toEqual(manifest);
    expect(done.filter((what) => what !== 'transaction infos')).toEqual([]);
  });

  it('ends when its version is pruned meanwhile, and takes another one the next time', async () => {
    const store = await sampleStore(300);
    const [, , version] = await checkpointsOf(store, 3);
    const pruner = new Pruner(await LedgerWriter.open(store), { graceMs: 0, restFactor: 0 });
    let isPruned = false;
    // Between the state and the streams.
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
    const folder = join(temporaryFolder(), 'snapshot');
    const request = { version: version!, withTransactions: false };
    await expect(makeSnapshot(pruned, folder, request, ignore)).rejects.toMatchObject({
      code: 'pruned',
      message: expect.stringContaining('pruned meanwhile'),
    });
    const again = await makeSnapshot(store, folder, { withTransactions: false }, ignore);
    expect(again.version).toBe((await openHead(store)).version);
  });
});

describe('what has no snapshot', () => {
  it('an empty ledger, a version above the newest, a pruned one, one without a root', async () => {
    const folder = join(temporaryFolder(), 'snapshot');
    const make = (store: Store, version?: bigint) =>
      makeSnapshot(store, folder, { version, withTransactions: false }, () => undefined);
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
    const [first] = sampleChunks({ seed: 5, accounts: 80, transactions: 1 });
    await new Committer(await LedgerWriter.open(genesis)).pushAll([first!]);
    const { store: begun } = await ledgerOf((await snapshotOf(genesis)).folder);
    expect(await openHead(begun)).toMatchObject({ version: 0n, oldestBlockHeight: 1n });
    // There is no info of its only version.
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

  it.each([
    [MAX_CHUNK_BYTES - 1, true],
    [MAX_CHUNK_BYTES, true],
    [MAX_CHUNK_BYTES + 1, false],
  ])('whose manifest names a chunk of %i bytes: taken is %s', async (size, isTaken) => {
    const source = await openSnapshotFiles((await snapshotOf(await sampleStore(50))).folder);
    const manifest = parseManifest(await source.manifest());
    const [first, ...others] = manifest.chunks;
    for (const part of ['bytes', 'contentBytes'] as const) {
      const chunks = [{ ...first!, [part]: size }, ...others];
      const opened = SnapshotLoad.open(
        {
          manifest: async () => encodeManifest({ ...manifest, chunks }),
          chunk: async () => expect.unreachable('no chunk is asked for'),
          close: async () => undefined,
        },
        { trustedRoots: [], verifier: undefined as never, onProgress: () => undefined },
      );
      if (isTaken) await expect(opened).resolves.toBeDefined();
      else await expect(opened).rejects.toMatchObject({ code: 'too_large' });
    }
  });

  it('whose manifest is of another format or too long', async () => {
    const source = await openSnapshotFiles((await snapshotOf(await sampleStore(50))).folder);
    const text = (await source.manifest()).toString();
    const open = (manifest: string | Buffer) =>
      SnapshotLoad.open(
        {
          ...source,
          manifest: async () => Buffer.from(manifest),
          chunk: source.chunk.bind(source),
          close: async () => undefined,
        },
        { trustedRoots: [], verifier: undefined as never, onProgress: () => undefined },
      );
    await expect(open(text)).resolves.toBeDefined();
    await expect(open(text.replace('snapshot-1', 'snapshot-2'))).rejects.toMatchObject({
      code: 'unknown_format',
    });
    await expect(open(Buffer.alloc(MAX_MANIFEST_BYTES + 1))).rejects.toMatchObject({
      code: 'too_large',
    });
    // One that is not too long is read.
    await expect(open(Buffer.alloc(MAX_MANIFEST_BYTES))).rejects.toMatchObject({ code: 'damaged' });
    for (const malformed of ['', '[]', 'null', '{}', text.trim(), ` ${text}`, text.toUpperCase()]) {
      await expect(open(malformed)).rejects.toBeInstanceOf(SnapshotError);
    }
  });
});
