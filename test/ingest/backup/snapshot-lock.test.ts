/** Only one run of `daybook snapshot` at a time works on a snapshot. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { snapshotLedger } from '../../../src/node/commands/snapshot.ts';
import { initLedger } from '../../../src/node/init.ts';
import { WriterLock } from '../../../src/store/sqlite/writer-lock.ts';
import { writeSmallGenesis } from '../../api/genesis-small.ts';
import { temporaryFolder } from './snapshots.ts';

it('a second run into the same --out is refused while the first one works', async () => {
  const parent = temporaryFolder();
  const [data, out] = [join(parent, 'ledger'), join(parent, 'out')];
  await initLedger(data, writeSmallGenesis().path);
  const run = (to: string, version?: bigint) =>
    snapshotLedger(data, to, { version, withTransactions: false }, () => undefined);
  mkdirSync(`${out}.unfinished`);
  const lock = new WriterLock(`${out}.unfinished`);
  await expect(run(out)).rejects.toMatchObject({
    ...{ code: 'snapshot_locked', exitCode: 1 },
    message: expect.stringContaining(`process ${process.pid} makes the snapshot`),
  });
  // A different --out is not locked.
  await run(`${out}-2`);
  lock.release();
  // A run that fails before it has begun leaves nothing.
  await expect(run(out, 9n)).rejects.toMatchObject({ code: 'snapshot_refused' });
  expect(readdirSync(parent).sort()).toEqual(['ledger', 'out-2']);
  await run(out);
  expect(readdirSync(parent).sort()).toEqual(['ledger', 'out', 'out-2']);
  expect(readdirSync(out).sort()).toEqual(['metadata', expect.stringMatching(/^state_epoch_0_/)]);
  await expect(run(out)).rejects.toMatchObject({ code: 'snapshot_exists' });
});
