/** Commands on a store with damaged files: they print one clear line and never crash. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { PAGE_BYTES } from '../store/stored-rows.ts';
import { type CommandResult, runCommand, temporaryFolder } from './command.ts';

const folder = temporaryFolder();
const genesis = join(folder, 'small.blob');
const data = join(folder, 'ledger');
let store: Buffer;

beforeAll(async () => {
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
  store = readFileSync(storeFileOf(data));
});

/** A folder with a store of these bytes. */
function damagedFolder(bytes: Buffer): string {
  const damaged = join(folder, 'damaged');
  rmSync(damaged, { recursive: true, force: true });
  mkdirSync(damaged);
  writeFileSync(storeFileOf(damaged), bytes);
  return damaged;
}

/** A SQLite file of another program. */
function otherDatabase(): Buffer {
  const path = join(folder, 'other.db');
  const database = new DatabaseSync(path);
  database.exec('create table versions (version integer primary key, v blob)');
  database.close();
  return readFileSync(path);
}

/** Expects exit code 1 and one line that says what is wrong. */
function expectRefused(result: CommandResult, text: RegExp): void {
  expect(result).toMatchObject({ code: 1, signal: null, stdout: '' });
  const lines = result.stderr.split('\n');
  expect(lines.length).toBe(2);
  expect(lines[0]).toMatch(text);
}

async function expectAllRefuse(damaged: string, text: RegExp): Promise<void> {
  const before = readFileSync(storeFileOf(damaged));
  expectRefused(await runCommand(['status', '--data', damaged]), text);
  expectRefused(await runCommand(['serve', '--data', damaged, '--listen', '127.0.0.1:0']), text);
  expectRefused(await runCommand(['init', '--data', damaged, '--genesis', genesis]), text);
  expectRefused(await runCommand(['prune', '--data', damaged, '--keep', '1']), text);
  expect(readFileSync(storeFileOf(damaged)).equals(before)).toBe(true);
}

describe('a data file', () => {
  it.each<[string, (whole: Buffer) => Buffer, RegExp]>([
    ['that is empty', () => Buffer.alloc(0), /is damaged/],
    ['of another program', otherDatabase, /not a Daybook store/],
    ['of one byte', (whole) => whole.subarray(0, 1), /not a Daybook store/],
    ['of text', () => Buffer.from('hello world\n'.repeat(1000)), /is damaged/],
    ['of zeros', (whole) => Buffer.alloc(whole.length), /is damaged/],
    ['cut within its first page', (whole) => whole.subarray(0, 2000), /is damaged/],
    ['of one page', (whole) => whole.subarray(0, PAGE_BYTES), /is damaged/],
    ['of two pages', (whole) => whole.subarray(0, 2 * PAGE_BYTES), /is damaged/],
    ['cut in half', (whole) => whole.subarray(0, whole.length / 2), /is damaged/],
    [
      'with nothing but zeros behind its two first pages',
      (whole) => Buffer.concat([whole.subarray(0, 2 * PAGE_BYTES)], whole.length),
      /is damaged/,
    ],
  ])('%s is refused by every command, which leaves it as it is', async (_, damage, text) => {
    await expectAllRefuse(damagedFolder(damage(store)), text);
  });
});

describe('files beside it', () => {
  const GARBAGE = [
    ['that is empty', Buffer.alloc(0)],
    ['of text', Buffer.from('hello world\n'.repeat(3000))],
    ['of zeros', Buffer.alloc(32_976)],
  ] as const;

  it.each(
    ['ledger.db-shm', 'ledger.db-wal', 'writer.lock', 'writer.pid'].flatMap((name) =>
      GARBAGE.map(([what, bytes]) => [name, what, bytes] as const),
    ),
  )('%s %s does no harm to readers', async (name, _, bytes) => {
    const damaged = damagedFolder(store);
    writeFileSync(join(damaged, name), bytes);
    const result = await runCommand(['status', '--data', damaged, '--json']);
    expect(result).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(JSON.parse(result.stdout)).toMatchObject({ ledger_version: '0' });
  });

  it.each(GARBAGE)('a lock %s: written, or refused with what to do', async (_, bytes) => {
    const damaged = damagedFolder(store);
    writeFileSync(join(damaged, 'writer.lock'), bytes);
    const result = await runCommand(['prune', '--data', damaged, '--keep', '1']);
    if (result.code !== 0) expectRefused(result, /writer\.lock .*: remove it/);
  });
});
