/** The snapshots that a node offers (docs/extensions.md): the list, the files, and the limits. */
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { encodeLedgerFacts } from '../../src/ingest/backup/ledger-facts.ts';
import {
  MAX_OFFERED_BYTES,
  MAX_OFFERED_SNAPSHOTS,
  MAX_SNAPSHOT_READS,
  SnapshotFolder,
} from '../../src/node/serve/snapshot-offer.ts';

const folder = mkdtempSync(join(tmpdir(), 'daybook-offer-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FACTS = {
  chainId: 4,
  genesis: { version: 0n, hash: Buffer.alloc(32, 7) },
  timestampUsecs: 1n,
};

/** Creates the files of a snapshot that the list needs. */
function addSnapshot(name: string, version: bigint, newestVersion = version): void {
  const stateFolder = `state_epoch_1_ver_${version}.0c3d`;
  for (const part of ['metadata', stateFolder]) {
    mkdirSync(join(folder, name, part), { recursive: true });
  }
  const save = (file: string, text: string | Buffer) =>
    writeFileSync(join(folder, name, file), text);
  const state = { epoch: 1, version: Number(version), manifest: `${stateFolder}/state.manifest` };
  const line = (tag: string, fields: object) => `${JSON.stringify({ [tag]: fields })}\n`;
  save(`metadata/state_snapshot_ver_${version}.meta`, line('StateSnapshotBackup', state));
  save(`${stateFolder}/ledger.json`, encodeLedgerFacts({ ...FACTS, newestVersion }, []));
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

  it('says what they are, and of which files they are made', async () => {
    addSnapshot('one', 5n, 9n);
    addSnapshot('two', 6n);
    const offer = new SnapshotFolder(folder);
    expect(await offer.list()).toEqual([
      { name: 'one', chainId: 4, version: 5n, newestVersion: 9n, timestampUsecs: 1n },
      { name: 'two', chainId: 4, version: 6n, newestVersion: 6n, timestampUsecs: 1n },
    ]);
    writeFileSync(join(folder, 'one/metadata/other'), '');
    expect(await offer.metadataNames('one')).toEqual(['state_snapshot_ver_5.meta']);
    for (const name of ['none', '..', '']) expect(await offer.metadataNames(name)).toBeUndefined();
  });

  it.each([
    [MAX_OFFERED_BYTES - 1, true],
    [MAX_OFFERED_BYTES, true],
    [MAX_OFFERED_BYTES + 1, false],
  ])('a file of %i bytes: sent is %s', async (size, isSent) => {
    addSnapshot('one', 5n);
    writeFileSync(join(folder, 'one/metadata/large.meta'), '');
    truncateSync(join(folder, 'one/metadata/large.meta'), size);
    const file = await new SnapshotFolder(folder).file('one', 'metadata', 'large.meta');
    expect(file?.bytes.length).toBe(isSent ? size : undefined);
  });

  it('has none that is being made', async () => {
    addSnapshot('one.unfinished', 5n);
    const offer = new SnapshotFolder(folder);
    expect(await offer.list()).toEqual([]);
    expect(await offer.metadataNames('one.unfinished')).toBeUndefined();
    const file = offer.file('one.unfinished', 'metadata', 'state_snapshot_ver_5.meta');
    expect(await file).toBeUndefined();
  });

  it.each([MAX_SNAPSHOT_READS - 1, MAX_SNAPSHOT_READS, MAX_SNAPSHOT_READS + 1])(
    'of %i files at once: more than the bound are refused for a while',
    async (count) => {
      addSnapshot('one', 5n);
      const offer = new SnapshotFolder(folder);
      const reads = Array.from({ length: count }, () =>
        offer.file('one', 'metadata', 'state_snapshot_ver_5.meta'),
      );
      const ends = await Promise.allSettled(reads);
      const refused = ends.filter(({ status }) => status === 'rejected');
      expect(refused).toHaveLength(Math.max(0, count - MAX_SNAPSHOT_READS));
      for (const { reason } of refused as PromiseRejectedResult[]) {
        expect(reason).toMatchObject({ status: 503, retryAfterSecs: 1 });
      }
      expect(await offer.file('one', 'metadata', 'state_snapshot_ver_5.meta')).toBeDefined();
    },
  );
});
