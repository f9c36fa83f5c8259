/** One process that has a store open more than once, or in several threads: its locks hold as long as needed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { Attacker, killLeftAttackers } from './attackers.ts';

const folder = mkdtempSync(join(tmpdir(), 'daybook-twice-'));

afterEach(killLeftAttackers);
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['a store and readers, in a process that has opened it', 'store'],
  ['a store and readers, in the process that has created it', 'created'],
  ['two readers and a snapshot, in the process that has made the ledger', 'readers'],
  ['a store and readers in threads', 'threads'],
])('%s', async (_, what) => {
  const args = [join(folder, what), join(folder, `${what}-acknowledged`)];
  const process = new Attacker('twice', what, args, ['--expose-gc']);
  await process.end();
  expect(process.faults).toEqual([]);
});
