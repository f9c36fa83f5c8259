/** The snapshots that a node offers (docs/extensions.md): what is listed, what is served, and the bounds. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { encodeManifest, MANIFEST_HEAD_BYTES } from '../../src/ingest/snapshot/manifest.ts';
import {
  MAX_OFFERED_SNAPSHOTS,
  MAX_SNAPSHOT_READS,
  SnapshotFolder,
} from '../../src/node/snapshot-offer.ts';

const folder = mkdtempSync(join(tmpdir(), 'daybook-offer-'));
afterAll(() => rmSync(folder, { recursive: true }));

function addSnapshot(name: string, version: bigint, chunks = 0): void {
  const hash = Buffer.alloc(32, 7);
  const chunk = { kind: 'state', records: 1, contentBytes: 1, bytes: 1 } as const;
  const manifest = encodeManifest({
    ...{ chainId: 4, genesisWaypointHash: hash, version, timestampUsecs: 1n, epoch: 1n },
    ...{ blockHeight: 1n, info: Buffer.alloc(200), newestVersion: version },
    rootsBefore: Array.from({ length: 64 }, () => hash),
    chunks: Array.from({ length: chunks }, (_, index) => ({
      ...{ ...chunk, name: `state-${String(index).padStart(6, '0')}.zst` },
      sha256: hash.toString('hex'),
    })),
  });
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'manifest.json'), manifest);
  onTestFinished(() => rmSync(join(folder, name), { recursive: true }));
}

describe('the folder of offered snapshots', () => {
  it.each([MAX_OFFERED_SNAPSHOTS - 1, MAX_OFFERED_SNAPSHOTS, MAX_OFFERED_SNAPSHOTS + 1])(
    'of %i: the newest are listed',
    async (count) => {
      for (let nth = 0; nth < count; nth += 1) addSnapshot(`s${nth}`, BigInt(nth));
      const listed = await new SnapshotFolder(folder).list();
      expect(listed).toHaveLength(Math.min(count, MAX_OFFERED_SNAPSHOTS));
      expect(listed[0]).toMatchObject({ name: `s${count - 1}`, version: BigInt(count - 1) });
    },
  );

  it('is known by the beginnings of manifests, however many chunks they name', async () => {
    addSnapshot('large', 5n, 2_000);
    const { bytes } = (await new SnapshotFolder(folder).file('large', 'manifest.json'))!;
    expect(bytes.length).toBeGreaterThan(MANIFEST_HEAD_BYTES);
    expect(await new SnapshotFolder(folder).list()).toMatchObject([{ name: 'large', version: 5n }]);
  });

  it('has none that is being made', async () => {
    addSnapshot('one.tar.unfinished', 5n);
    const offer = new SnapshotFolder(folder);
    expect(await offer.list()).toEqual([]);
    expect(await offer.file('one.tar.unfinished', 'manifest.json')).toBeUndefined();
  });

  it.each([MAX_SNAPSHOT_READS - 1, MAX_SNAPSHOT_READS, MAX_SNAPSHOT_READS + 1])(
    'of %i files at once: more than the bound are refused for a while',
    async (count) => {
      addSnapshot('one', 5n);
      const offer = new SnapshotFolder(folder);
      const reads = Array.from({ length: count }, () => offer.file('one', 'manifest.json'));
      const ends = await Promise.allSettled(reads);
      const refused = ends.filter(({ status }) => status === 'rejected');
      expect(refused).toHaveLength(Math.max(0, count - MAX_SNAPSHOT_READS));
      for (const { reason } of refused as PromiseRejectedResult[]) {
        expect(reason).toMatchObject({ status: 503, retryAfterSecs: 1 });
      }
      expect(await offer.file('one', 'manifest.json')).toBeDefined();
    },
  );
});
