/** One run of `daybook snapshot` at a time works at a snapshot. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeProcessIdentity, ownIdentity } from '../../../src/node/process-identity.ts';
import { snapshotLedger } from '../../../src/node/snapshot.ts';
import { withSnapshotLock } from '../../../src/node/snapshot-lock.ts';
import { temporaryFolder } from './snapshots.ts';

const lockOf = (identity: ReturnType<typeof ownIdentity>) =>
  `out.unfinished.lock-${encodeProcessIdentity(identity).toString('base64url')}`;
/** A process that runs as long as this one does, and is another. */
const PARENT = { pid: process.ppid, bootId: '', startTicks: '' };

it('a second run into the same --out is refused while the first one works', async () => {
  const parent = temporaryFolder();
  const out = join(parent, 'out');
  const second = () =>
    snapshotLedger(join(parent, 'none'), out, { withTransactions: false }, () => undefined);
  await withSnapshotLock(`${out}.unfinished`, async () => {
    await expect(second()).rejects.toMatchObject({ code: 'snapshot_locked', exitCode: 1 });
    // Another --out is free.
    expect(await withSnapshotLock(`${out}-2.unfinished`, async () => 'done')).toBe('done');
  });
  await expect(second()).rejects.toMatchObject({ code: 'no_ledger' });
  expect(readdirSync(parent)).toEqual([]);
});

it('the lock of a process that runs holds, and one that a dead process left does not', async () => {
  const parent = temporaryFolder();
  const folder = join(parent, 'out.unfinished');
  const lock = () => withSnapshotLock(folder, async () => 'done');
  writeFileSync(join(parent, lockOf({ ...ownIdentity(), bootId: 'earlier' })), '');
  expect(await lock()).toBe('done');
  expect(readdirSync(parent)).toEqual([]);
  writeFileSync(join(parent, lockOf(PARENT)), '');
  await expect(lock()).rejects.toMatchObject({
    code: 'snapshot_locked',
    message: expect.stringContaining(`process ${PARENT.pid}`),
  });
  expect(readdirSync(parent)).toEqual([lockOf(PARENT)]);
});

it('a run that fails leaves no lock', async () => {
  const parent = temporaryFolder();
  const failing = withSnapshotLock(join(parent, 'out'), () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  expect(readdirSync(parent)).toEqual([]);
});
